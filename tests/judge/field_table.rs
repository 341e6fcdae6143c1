//! The table of the shipped judges' fields in `docs/metrics.md`.

use dsrs_metrics::judge::shipped::{
    AnswerCompletenessJudge, AnswerGroundedness, AnswerRelevance, ArgumentCorrectness,
    ContextEntityRecall, ContextPrecision, ContextRecall, ContextUtilization,
    ConversationCompleteness, ConversationalFaithfulness, DecompositionalSemanticF1,
    FactualCorrectness, Faithfulness, GEvalCompleteness, GoalAccuracy, KnowledgeRetention,
    LlmJudge, NoiseSensitivity, PairwisePreference, QuestionsOfAnswerJudge,
    ResponseGroundednessJudge, RoleAdherence, SemanticEquivalence, SemanticF1, TaskCompletion,
    TopicAdherence, TurnRelevancy,
};
use dsrs_metrics::judge::{Judge, Signature};

const PAGE: &str = include_str!("../../dsrs-metrics/docs/metrics.md");

/// Inputs and outputs as in the table.
fn fields(signature: &Signature) -> [String; 2] {
    let inputs: Vec<String> = signature.inputs().map(|name| format!("`{name}`")).collect();
    let schema = signature.schema();
    let outputs = schema["required"].as_array().unwrap().iter();
    let outputs: Vec<String> = outputs
        .map(|name| format!("`{}`", name.as_str().unwrap()))
        .collect();
    [inputs.join(", "), outputs.join(", ")]
}

#[test]
fn the_guide_lists_every_shipped_judge_with_exactly_its_fields() {
    let judges: [(&str, &Signature); 27] = [
        ("SemanticF1", SemanticF1::signature()),
        (
            "DecompositionalSemanticF1",
            DecompositionalSemanticF1::signature(),
        ),
        (
            "AnswerCompletenessJudge",
            AnswerCompletenessJudge::signature(),
        ),
        (
            "ResponseGroundednessJudge",
            ResponseGroundednessJudge::signature(),
        ),
        ("AnswerRelevance", AnswerRelevance::signature()),
        ("AnswerGroundedness", AnswerGroundedness::signature()),
        ("LlmJudge", LlmJudge::signature()),
        ("GEvalCompleteness", GEvalCompleteness::signature()),
        ("PairwisePreference", PairwisePreference::signature()),
        ("SemanticEquivalence", SemanticEquivalence::signature()),
        ("Faithfulness", Faithfulness::signature()),
        ("ContextPrecision", ContextPrecision::signature()),
        ("ContextUtilization", ContextUtilization::signature()),
        ("ContextRecall", ContextRecall::signature()),
        ("ContextEntityRecall", ContextEntityRecall::signature()),
        ("NoiseSensitivity", NoiseSensitivity::signature()),
        ("FactualCorrectness", FactualCorrectness::signature()),
        (
            "QuestionsOfAnswerJudge",
            QuestionsOfAnswerJudge::signature(),
        ),
        ("KnowledgeRetention", KnowledgeRetention::signature()),
        ("RoleAdherence", RoleAdherence::signature()),
        ("TurnRelevancy", TurnRelevancy::signature()),
        (
            "ConversationalFaithfulness",
            ConversationalFaithfulness::signature(),
        ),
        (
            "ConversationCompleteness",
            ConversationCompleteness::signature(),
        ),
        ("TopicAdherence", TopicAdherence::signature()),
        ("TaskCompletion", TaskCompletion::signature()),
        ("GoalAccuracy", GoalAccuracy::signature()),
        ("ArgumentCorrectness", ArgumentCorrectness::signature()),
    ];
    let expected = judges.map(|(name, signature)| {
        let [inputs, outputs] = fields(signature);
        vec![format!("`{name}`"), inputs, outputs]
    });
    let (_, section) = PAGE
        .split_once("# The fields of the shipped judges\n")
        .unwrap();
    let rows = section
        .lines()
        .skip_while(|line| !line.starts_with("| ---"))
        .skip(1);
    let rows = rows.take_while(|line| line.starts_with("| "));
    let cells = rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 4, "{row}");
        cells[..3]
            .iter()
            .map(|cell| (*cell).to_owned())
            .collect::<Vec<_>>()
    });
    assert_eq!(cells.collect::<Vec<_>>(), expected);
}

/// The judges that the source declares.
#[test]
fn no_shipped_judge_is_left_out() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/builtin/src/shipped");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file());
    let sources = files.map(|file| std::fs::read_to_string(file).unwrap());
    let declared: usize = sources
        .map(|source| source.matches("\n#[judge(").count())
        .sum();
    assert_eq!(
        declared, 27,
        "add the judge to the test above and to the table"
    );
}
