//! Predictions that lack a field, under the built-in metrics: the values of the reference documents.

use dsrs_metrics::Scored;
use dsrs_metrics::metrics::{
    AnswerExactMatch, AnswerPassageMatch, AnswerPresent, Bleu, Cer, Choice, Chrf, Combined,
    ContainsAll, ContainsAny, Diff, EditSimilarity, Em, EntityF1, EntityTypeAccuracy, F1,
    FileSource, Format, HeritageRag, HeritageRagStrict, HitRate, HotpotF1, Includes,
    IntentAccuracy, IntentAccuracyWithFallback, IsJson, JsonFieldAccuracy, Keyword, Length,
    Matches, Ndcg, NumericMatch, OneOf, OutcomeCoupled, Pattern, Precision, Recall, Regex, Rouge1,
    RougeL, Sandbox, SourcesUsed, SparqlSyntaxValid, SubtaskExecution, SubtaskPlanning, Syntax,
    Synthesis, ToolParamsSchema, ToolSchemas, ToolStepUtility, WasRepeated, Wer,
};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

fn score<M: Metric>(metric: &M, gold: &Example, pred: &Prediction) -> Scored {
    metric
        .answer(MetricCall::new(gold, pred))
        .ready()
        .unwrap()
        .unwrap()
}

/// The value and the missing fields.
fn found<M: Metric>(metric: &M, gold: &Example, pred: &Prediction) -> (f64, Vec<String>) {
    let scored = score(metric, gold, pred);
    let names = scored
        .missing_fields()
        .into_iter()
        .map(str::to_owned)
        .collect();
    (scored.score.value, names)
}

fn lacks(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Asserts the value of a prediction that lacks the field, and of one with `null` there.
#[track_caller]
fn assert_without<M: Metric>(metric: &M, gold: &Example, field: &str, value: f64) {
    let other = prediction! { "other" => 1 };
    assert_eq!(
        found(metric, gold, &other),
        (value, lacks(&[field])),
        "{}",
        metric.name()
    );
    let null = Prediction::from_iter([(field, Value::Null)]);
    assert_eq!(
        found(metric, gold, &null),
        (value, lacks(&[field])),
        "{}",
        metric.name()
    );
    let scored = score(metric, gold, &other);
    let words = [
        format!("no field `{field}`"),
        format!("`{field}` is missing"),
    ];
    let feedback = scored.feedback().unwrap();
    let has = |feedback: &str| {
        words
            .iter()
            .filter(|words| feedback.contains(*words))
            .count()
    };
    assert_eq!(has(&feedback), 1, "{}: {feedback}", metric.name());
}

#[test]
fn string_metrics_score_a_missing_answer_0_even_where_an_empty_one_would_be_right() {
    // Under dspy's normalization both are empty.
    let gold = example! { "answer" => "the" };
    assert_eq!(
        Em::default()
            .score(&gold, &prediction! { "answer" => "" })
            .unwrap()
            .value,
        1.0
    );
    assert_without(&Em::default(), &gold, "answer", 0.0);
    assert_without(&AnswerExactMatch::default(), &gold, "answer", 0.0);
    assert_without(&AnswerPassageMatch::default(), &gold, "context", 0.0);
    assert_without(&F1::default(), &gold, "answer", 0.0);
    assert_without(&HotpotF1::default(), &gold, "answer", 0.0);
    assert_without(&Precision::default(), &gold, "answer", 0.0);
    assert_without(&Recall::default(), &gold, "answer", 0.0);
    assert_without(
        &EditSimilarity::default(),
        &example! { "answer" => "" },
        "answer",
        0.0,
    );
    assert_without(
        &NumericMatch::default(),
        &example! { "answer" => 4 },
        "answer",
        0.0,
    );
    assert_without(
        &Diff::default(),
        &example! { "answer" => "" },
        "answer",
        0.0,
    );
    // `null` is a JSON value.
    let gold = example! { "answer" => json!({ "a": 1 }) };
    let metric = JsonFieldAccuracy::default();
    assert_eq!(
        found(&metric, &gold, &prediction! {}),
        (0.0, lacks(&["answer"]))
    );
    assert_eq!(
        found(&metric, &gold, &prediction! { "answer" => () }),
        (0.0, lacks(&[]))
    );
}

#[test]
fn metrics_that_search_an_output_score_a_missing_one_0() {
    let gold = example! { "answer" => "A" };
    assert_without(&Includes::default(), &gold, "answer", 0.0);
    assert_without(&Matches::default(), &gold, "answer", 0.0);
    assert_without(
        &Pattern::builder().pattern("(.*)").build(),
        &gold,
        "answer",
        0.0,
    );
    assert_without(&Choice, &gold, "answer", 0.0);
    assert_without(
        &OneOf::builder().field("label").build(),
        &gold,
        "label",
        0.0,
    );
    assert_without(&ContainsAll::default(), &gold, "answer", 0.0);
    assert_without(&ContainsAny::default(), &gold, "answer", 0.0);
    assert_without(&IsJson::default(), &gold, "answer", 0.0);
    assert_without(&Regex::builder().pattern("").build(), &gold, "answer", 0.0);
}

#[test]
fn metrics_of_a_corpus_count_a_missing_answer_as_an_empty_string() {
    let gold = example! { "answer" => "the cat sat" };
    assert_without(&Wer::default(), &gold, "answer", 1.0);
    assert_without(&Cer::default(), &gold, "answer", 1.0);
    assert_without(&Bleu::default(), &gold, "answer", 0.0);
    assert_without(&Chrf::default(), &gold, "answer", 0.0);
    assert_without(&Rouge1::default(), &gold, "answer", 0.0);
    assert_without(&RougeL::default(), &gold, "answer", 0.0);
    let (lacking, empty) = (prediction! {}, prediction! { "answer" => "" });
    let corpus = |pred| score(&Wer::default(), &gold, pred).corpus().cloned();
    assert_eq!(
        (corpus(&lacking).is_some(), corpus(&lacking)),
        (true, corpus(&empty))
    );
}

#[test]
fn an_empty_ranking_takes_the_place_of_a_missing_one() {
    let gold = example! { "relevant" => ["d1"] };
    assert_without(&HitRate::default(), &gold, "retrieved", 0.0);
    assert_without(&Ndcg::default(), &gold, "retrieved", 0.0);
    let scored = score(&Ndcg::default(), &gold, &prediction! {});
    assert_eq!(scored.parts().len(), 4, "the named scores are kept");
}

#[test]
fn proxies_score_a_missing_output_0() {
    let gold = example! {};
    assert_without(&Format::default(), &gold, "answer", 0.0);
    assert_without(&Syntax::default(), &gold, "answer", 0.0);
    assert_without(
        &Keyword::builder().forbidden(["TODO"]).build(),
        &gold,
        "answer",
        0.0,
    );
    let length = Length::builder().max_chars(5).field("summary").build();
    assert_without(&length, &gold, "summary", 0.0);
}

#[test]
fn heritage_metrics_use_the_defaults_of_their_document() {
    let gold = example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"] };
    assert_without(&IntentAccuracy, &gold, "intent", 0.0);
    assert_without(&IntentAccuracyWithFallback::default(), &gold, "intent", 0.0);
    assert_without(&EntityF1::default(), &gold, "entities", 0.0);
    assert_without(&AnswerPresent, &gold, "answer", 0.0);
    assert_without(&SourcesUsed, &gold, "sources_used", 0.0);
    assert_without(&SparqlSyntaxValid, &gold, "sparql_query", 0.0);
    // getattr(pred, 'entities', []), where none are expected.
    let none = example! { "expected_entities" => [(); 0] };
    assert_without(&EntityF1::default(), &none, "entities", 1.0);
    // getattr(pred, 'entity_type', 'institution')
    let institution = example! { "expected_entity_type" => "institution" };
    assert_without(
        &EntityTypeAccuracy::default(),
        &institution,
        "entity_type",
        1.0,
    );
    let person = example! { "expected_entity_type" => "person" };
    assert_without(&EntityTypeAccuracy::default(), &person, "entity_type", 0.0);
}

#[tokio::test]
async fn a_reply_with_intent_and_answer_only_is_0_4_under_heritage_rag() {
    let gold = example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"] };
    let pred = prediction! { "intent" => "temporal", "answer" => "1793" };
    assert_eq!(HeritageRag.score(&gold, &pred).unwrap().value, 0.4);
    let missing = lacks(&["entities", "sparql_query", "sources_used"]);
    assert_eq!(found(&HeritageRag, &gold, &pred), (0.4, missing));
    let trace = Trace::default();
    assert_eq!(
        HeritageRagStrict.accepts(&gold, &pred, &trace).await,
        Ok(false)
    );
    assert_eq!(HeritageRagStrict.score(&gold, &pred).unwrap().value, 0.0);
    // A gold row without a label is an error of the data set.
    let error = HeritageRag
        .score(&example! {}, &pred)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no field `gold.expected_intent`"), "{error}");
}

#[test]
fn entity_f1_compares_sets_unless_lists_are_asked_for() {
    let gold = example! { "expected_entities" => ["louvre"] };
    let pred = prediction! { "entities" => ["Louvre", "louvre"] };
    assert_eq!(EntityF1::default().score(&gold, &pred).unwrap().value, 1.0);
    let lists = EntityF1::builder().distinct(false).build();
    assert_eq!(lists.score(&gold, &pred).unwrap().value, 2.0 / 3.0);
    assert_eq!(EntityF1::SPEC.version, "2");
}

#[test]
fn replies_of_agents_score_0_for_the_missing_share() {
    let gold = example! {};
    let plan = json!([
        { "id": 1, "action": "edit", "target": "src/lib.rs", "instruction": "Add a test" },
    ]);
    let planned = prediction! { "subtasks" => plan };
    assert_eq!(Combined.score(&gold, &planned).unwrap().value, 0.6);
    let synthesis = ["success", "summary", "modified_files", "confidence"];
    assert_eq!(found(&Combined, &gold, &planned), (0.6, lacks(&synthesis)));
    assert_eq!(
        found(&Synthesis::default(), &gold, &prediction! {}),
        (0.0, lacks(&synthesis))
    );
    let half = prediction! { "success" => true, "confidence" => 0.5, "summary" => () };
    assert_eq!(
        found(&Synthesis::default(), &gold, &half),
        (0.5, lacks(&["summary", "modified_files"]))
    );
    assert_without(&SubtaskPlanning::default(), &gold, "subtasks", 0.0);
    let parts = score(&SubtaskPlanning::default(), &gold, &prediction! {});
    assert_eq!(parts.parts().len(), 4, "the checks are kept");
    assert_eq!(
        found(&SubtaskExecution::default(), &gold, &prediction! {}),
        (0.0, lacks(&["result", "reasoning"]))
    );
    let hint = prediction! { "should_continue" => false, "next_action_hint" => "Read the test" };
    assert_eq!(
        found(&ToolStepUtility::default(), &gold, &hint),
        (0.5, lacks(&["step_utility", "confidence"]))
    );
}

#[test]
fn tool_metrics_use_the_defaults_of_their_document() {
    let schema = json!({ "type": "object" });
    let schemas = ToolSchemas::new([("read", &schema)]).unwrap();
    let metric = ToolParamsSchema::builder().schemas(schemas).build();
    assert_without(&metric, &example! {}, "tool", 0.0);
    // `params` is optional.
    let call = prediction! { "tool" => "read" };
    assert_eq!(found(&metric, &example! {}, &call), (0.0, lacks(&[])));

    assert_eq!(found(&WasRepeated, &example! {}, &call), (1.0, lacks(&[])));
    let history = example! { "execution_history" => [json!({ "tool": "read" })] };
    assert_eq!(found(&WasRepeated, &history, &call), (0.0, lacks(&[])));
    assert_without(&WasRepeated, &history, "tool", 1.0);
    assert_without(&WasRepeated, &example! {}, "tool", 1.0);
}

#[tokio::test]
async fn a_sandbox_is_not_started_without_a_field_of_its_files() {
    let metric = Sandbox::builder()
        .command("true")
        .file("a.py", FileSource::pred("program"));
    let (gold, pred) = (example! {}, prediction! { "progam" => "" });
    let scored = metric
        .build()
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap();
    assert_eq!((scored.score.value, scored.score.cost_msats), (0.0, 0));
    assert_eq!(scored.missing_fields(), ["program"]);
}

#[test]
fn the_labels_of_outcome_coupled_are_measured_so_a_missing_one_is_an_error() {
    let pred = prediction! { "step_utility" => 0.5, "was_repeated" => false };
    let error = OutcomeCoupled::default()
        .score(&example! {}, &pred)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no field `pred.params_valid`"), "{error}");
}
