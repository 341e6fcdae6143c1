//! A row for each built-in metric that it does not score best, with the details of the score. The file is long because it
//! is one table.

use std::num::NonZeroUsize;

use dsrs_metrics::judge::shipped as judges;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics as m;
use dsrs_metrics::metrics::{DiffStrictness, FileSource, ToolSchemas};
use dsrs_metrics::prelude::*;
use dsrs_metrics::retrieval::Cutoffs;
use dsrs_metrics::sparql::SparqlStore;
use serde_json::{Value, json};

use super::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    let families = [
        answers(),
        judged(),
        rag(),
        sparql(),
        rankings(),
        overlap(),
        format(),
        agents(),
        program(),
    ];
    families.into_iter().flatten().collect()
}

fn program() -> Vec<Case> {
    let run = || {
        prediction! { "latency_s" => 1.5, "input_tokens" => 120, "output_tokens" => 8, "cost_msats" => 40 }
    };
    vec![
        case(m::Latency, example! {}, run(), "1.5 s"),
        case(m::Tokens, example! {}, run(), "120 tokens of prompts and 8 of replies"),
        case(m::Cost, example! {}, run(), "40 msat"),
    ]
}

fn gold(answer: impl Into<Value>) -> Example {
    example! { "answer" => answer.into() }
}

fn pred(answer: impl Into<Value>) -> Prediction {
    prediction! { "answer" => answer.into() }
}

fn answers() -> Vec<Case> {
    let capitals = || gold(json!(["Paris", "Paris, France"]));
    vec![
        case(
            m::Em::default(),
            capitals(),
            pred("Parma"),
            "expected \"Paris\" or \"Paris, France\", found \"Parma\"; first difference at character 4: expected \"is\", found \"ma\"",
        ),
        case(
            m::AnswerExactMatch::builder().frac(0.9).build(),
            capitals(),
            pred("in Paris"),
            "the token F1 0.6667 is below 0.9; closest to \"Paris\": 1 word expected, 2 predicted, 1 in common; extra: \"in\"",
        ),
        case(
            m::AnswerPassageMatch::default(),
            capitals(),
            prediction! { "context" => ["The Louvre is a museum.", "Rome is in Italy."] },
            "none of 2 passages contains \"Paris\" or \"Paris, France\"",
        ),
        case(
            m::F1::default(),
            gold("the Eiffel Tower"),
            pred("Eiffel Tower in Paris"),
            "2 words expected, 4 predicted, 2 in common; extra: \"in\", \"paris\"",
        ),
        case(
            m::HotpotF1::default(),
            gold("yes it is"),
            pred("yes"),
            "3 words expected, 1 predicted, 1 in common; missing: \"it\", \"is\"; yes, no and noanswer only match the same answer",
        ),
        case(
            m::Precision::default(),
            gold("Eiffel Tower"),
            pred("Eiffel in Paris"),
            "2 words expected, 3 predicted, 1 in common; missing: \"tower\"; extra: \"in\", \"paris\"",
        ),
        case(
            m::Recall::default(),
            capitals(),
            pred("France"),
            "closest to \"Paris, France\": 2 words expected, 1 predicted, 1 in common; missing: \"paris\"",
        ),
        case(
            m::NumericMatch::default(),
            gold("1300"),
            pred("So she earns $1,200."),
            "expected 1300, found 1200",
        ),
    ]
}

fn judged() -> Vec<Case> {
    let question = || {
        example! {
            "question" => "Where is the Louvre?", "response" => "in Paris on the Seine", "answer" => "Paris",
        }
    };
    let reply = || {
        prediction! { "response" => "in Paris", "answer" => "in Lyon", "context" => ["The Louvre is in Paris."] }
    };
    let lm = |reply: Value| ScriptedLm::new().otherwise(reply);
    let ideas = json!({
        "reasoning": "half", "ground_truth_key_ideas": ["a", "b"], "system_response_key_ideas": ["a"],
        "discussion": "a", "recall": 0.5, "precision": 0.5,
    });
    let both = ScriptedLm::new()
        .when(
            "retrieved_context",
            json!({
                "reasoning": "all claims", "system_response_claims": ["a"], "discussion": "a",
                "groundedness": 1.0,
            }),
        )
        .otherwise(json!({
            "reasoning": "no river", "ground_truth_key_ideas": ["a", "b"],
            "system_response_key_ideas": ["a"], "discussion": "a", "completeness": 0.5,
        }));
    let half = json!({ "reasoning": "the river is missing", "recall": 0.5, "precision": 1.0 });
    let grade =
        json!({ "reasoning": "wrong city", "score": 0.25, "feedback": "name the right city" });
    vec![
        case(
            judges::SemanticF1::default().with_lm(lm(half)),
            question(),
            reply(),
            "the river is missing",
        ),
        case(
            judges::DecompositionalSemanticF1::default().with_lm(lm(ideas)),
            question(),
            reply(),
            "half",
        ),
        case(
            judges::CompleteAndGrounded::default().with_lm(both),
            question(),
            reply(),
            "completeness 0.5: no river\ngroundedness 1: all claims",
        ),
        case(judges::LlmJudge::default().with_lm(lm(grade)), question(), reply(), "wrong city"),
        case(
            judges::AnswerRelevance::default()
                .with_lm(lm(json!({ "reasoning": "off topic", "relevant": false }))),
            question(),
            reply(),
            "off topic",
        ),
        case(
            judges::AnswerGroundedness::default()
                .with_lm(lm(json!({ "reasoning": "no Lyon", "grounded": false }))),
            question(),
            reply(),
            "no Lyon",
        ),
        case(
            judges::GEvalCompleteness::default()
                .with_lm(lm(json!({ "reasoning": "the river is missing", "score": 3 }))),
            question(),
            reply(),
            "the river is missing",
        ),
        case(
            judges::PairwisePreference::default()
                .with_lm(lm(json!({ "reasoning": "both are short", "preferred": "tie" }))),
            question(),
            reply(),
            "scripted:lm (0.5): both are short\nscripted:lm (0.5): both are short",
        ),
        case(
            judges::SemanticEquivalence::default()
                .with_lm(lm(json!({ "reasoning": "another city", "equivalent": false }))),
            question(),
            reply(),
            "another city",
        ),
    ]
}

fn rag() -> Vec<Case> {
    let intent = || example! { "expected_intent" => "statistical" };
    vec![
        case(
            m::IntentAccuracy,
            intent(),
            prediction! { "intent" => "temporal" },
            "expected \"statistical\", found \"temporal\"",
        ),
        case(
            m::IntentAccuracyWithFallback::default(),
            intent(),
            prediction! { "intent" => "Exploration" },
            "expected \"statistical\", found \"Exploration\", a related intent: 0.5",
        ),
        case(
            m::EntityF1::default(),
            example! { "expected_entities" => ["Louvre", "Rijksmuseum"] },
            prediction! { "entities" => "rijksmuzeum, Prado" },
            "1 of 2 expected entities found; missing: \"louvre\"; unexpected: \"prado\"",
        ),
        case(
            m::EntityTypeAccuracy::default(),
            example! { "expected_entity_type" => "person" },
            prediction! {},
            "expected \"person\", found \"institution\" (no type)",
        ),
        case(m::AnswerPresent, example! {}, pred(" "), "`answer` is empty"),
        case(m::SourcesUsed, example! {}, prediction! {}, "`sources_used` is missing"),
    ]
}

fn sparql() -> Vec<Case> {
    let store = || SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris' .").unwrap();
    let query = |query: &str| prediction! { "sparql_query" => query };
    let gold = || example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"] };
    let reply = || {
        prediction! {
            "intent" => "temporal", "entities" => ["Prado"], "sparql_query" => "SELECT ?year {", "answer" => "1793",
            "sources_used" => ["h:louvre"],
        }
    };
    vec![
        case(
            m::SparqlSyntaxValid,
            example! {},
            query("SELECT ?year {"),
            "line 1, column 15: syntax error just before, or unexpected end of the query",
        ),
        case(
            m::SparqlExecutes::builder().data(store()).build(),
            example! {},
            query("DELETE WHERE { ?s ?p ?o }"),
            "expected a SPARQL query, found an update; use SELECT, ASK, CONSTRUCT or DESCRIBE",
        ),
        case(
            m::SparqlReturnsResults::builder().data(store()).build(),
            example! {},
            query("SELECT ?r WHERE { ?m <a:river> ?r }"),
            "the query returns no results",
        ),
        case(
            m::HeritageRag,
            gold(),
            reply(),
            "entity_f1 (0): 0 of 1 expected entity found; missing: \"louvre\"; unexpected: \"prado\"\nsparql_syntax_valid (0): line 1, column 15: syntax error just before, or unexpected end of the query\nintent_accuracy (1): expected \"temporal\", found \"temporal\"\nanswer_present (1): the answer has 4 characters\nsources_used (1): sources: \"h:louvre\"",
        ),
        case(
            m::HeritageRagStrict,
            gold(),
            reply(),
            "entity_f1 (0): 0 of 1 expected entity found; missing: \"louvre\"; unexpected: \"prado\"\nsparql_syntax_valid (0): line 1, column 15: syntax error just before, or unexpected end of the query\nintent_accuracy (1): expected \"temporal\", found \"temporal\"\nanswer_present (1): the answer has 4 characters",
        ),
    ]
}

fn rankings() -> Vec<Case> {
    let relevant = || example! { "relevant" => ["d1", "d2", "d3"] };
    let retrieved = || prediction! { "retrieved" => ["d7", "d2", "d5", "d1"] };
    let k = || Cutoffs::new([3, 1]).unwrap();
    let depth = NonZeroUsize::new(1).unwrap();
    vec![
        case(
            m::PrecisionAtK::builder().k(k()).build(),
            relevant(),
            retrieved(),
            "1 of 3 relevant documents among the first 3: \"d2\" at rank 2; not found: \"d1\", \"d3\"",
        ),
        case(
            m::RecallAtK::default(),
            relevant(),
            retrieved(),
            "2 of 3 relevant documents among the first 10: \"d2\" at rank 2, \"d1\" at rank 4; not found: \"d3\"",
        ),
        case(
            m::HitRate::builder().k(Cutoffs::new([1]).unwrap()).build(),
            relevant(),
            retrieved(),
            "0 of 3 relevant documents among the first 1; not found: \"d1\", \"d2\", \"d3\"",
        ),
        case(
            m::ReciprocalRank::builder().depth(depth).build(),
            relevant(),
            retrieved(),
            "0 of 3 relevant documents among the first 1; not found: \"d1\", \"d2\", \"d3\"",
        ),
        case(
            m::AveragePrecision::default(),
            relevant(),
            retrieved(),
            "2 of 3 relevant documents: \"d2\" at rank 2, \"d1\" at rank 4; not found: \"d3\"",
        ),
        case(
            m::Ndcg::default(),
            relevant(),
            retrieved(),
            "2 of 3 relevant documents among the first 10: \"d2\" at rank 2, \"d1\" at rank 4; not found: \"d3\"",
        ),
    ]
}

fn overlap() -> Vec<Case> {
    let cat = || gold("the cat was found under the bed");
    let short = || pred("the cat under the bed");
    let same = || pred("the bed was found under the cat");
    let gold_lines = || gold("the cat sat\nthe dog ran");
    vec![
        case(
            m::Bleu::default(),
            cat(),
            short(),
            "n-gram precisions 5/5, 3/4, 1/3, 0/2; brevity penalty 0.6703; 5 words predicted, 7 expected",
        ),
        case(
            m::Chrf::default(),
            gold("東京都"),
            pred("東京"),
            "mean n-gram precision 1, recall 0.5833; 2 characters predicted, 3 expected, 2 in common",
        ),
        case(
            m::Rouge1::default(),
            cat(),
            short(),
            "7 words expected, 5 predicted, 5 in common; missing: \"was\", \"found\"",
        ),
        case(
            m::Rouge2::default(),
            gold(json!(["a dog", "the cat sat"])),
            pred("the cat ran"),
            "closest to \"the cat sat\": 3 words expected, 3 predicted, 2 in common; missing: \"sat\"; extra: \"ran\"",
        ),
        case(
            m::RougeL::default(),
            cat(),
            same(),
            "7 words expected, 7 predicted, 7 in common; the same words in another order",
        ),
        case(
            m::RougeLsum::default(),
            gold_lines(),
            pred("the dog ran"),
            "6 words expected, 3 predicted, 3 in common; missing: \"cat\", \"sat\", \"the\"",
        ),
        case(
            m::Wer::default(),
            gold("the cat sat down"),
            pred("the cat sit"),
            "2 edits; 4 words expected, 3 predicted, 2 in common; missing: \"sat\", \"down\"; extra: \"sit\"",
        ),
        case(
            m::Cer::default(),
            gold("日本語"),
            pred("日本"),
            "1 edit in 3 characters; first difference at character 3: expected \"語\", found the end",
        ),
        case(
            m::EditSimilarity::default(),
            gold("sitting"),
            pred("sitten"),
            "7 characters expected, 6 predicted; first difference at character 5: expected \"ing\", found \"en\"",
        ),
    ]
}

fn format() -> Vec<Case> {
    let museum = json!({ "name": "Louvre", "address": { "city": "Paris" }, "floors": 3 });
    let answer = json!({ "name": "Louvre", "address": { "city": "Lyon" }, "river": "Rhône" });
    let tree = m::Diff::builder().strictness(DiffStrictness::Exact).build();
    vec![
        case(
            m::JsonFieldAccuracy::default(),
            gold(museum),
            pred(answer),
            "1 of 3 fields correct; wrong: `/address/city` (expected the string \"Paris\", found the string \"Lyon\"), `/floors` (expected the number 3, found nothing); 1 field not expected",
        ),
        case(
            m::Format::builder().required_fields(["name", "age"]).build(),
            example! {},
            pred(r#"{"name": "Ada"}"#),
            "the output lacks the fields `age`",
        ),
        case(
            m::Keyword::builder().required(["function", "return"]).forbidden(["TODO"]).build(),
            example! {},
            pred("function f() {} // TODO"),
            "forbidden: \"TODO\"; missing: \"return\"",
        ),
        case(
            m::Length::builder().min_chars(10).build(),
            example! {},
            pred("Paris"),
            "expected at least 10 characters, found 5",
        ),
        case(
            m::Syntax::default(),
            example! {},
            pred("f(a]"),
            "line 1, column 4: `]` does not match `(` in line 1",
        ),
        case(
            tree,
            gold("one\ntwo"),
            pred("one\nthree"),
            "--- expected\n+++ answer\n one\n-two\n+three",
        ),
    ]
}

fn agents() -> Vec<Case> {
    let read = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let schemas = ToolSchemas::new([("read", &read)]).unwrap();
    let call = |params: Value| prediction! { "tool" => "read", "params" => params };
    let history = [json!({ "tool": "read", "params": { "path": "a.rs" } })];
    let plan = || {
        let subtask = json!({ "id": 1, "action": "fly", "target": "src/lib.rs", "instruction": "Add a test" });
        prediction! {
            "subtasks" => [subtask], "success" => true, "summary" => "Added a test of the parser",
            "modified_files" => ["src/lib.rs"], "confidence" => 95,
        }
    };
    vec![
        case(
            m::ToolParamsSchema::builder().schemas(schemas).build(),
            example! {},
            call(json!({ "path": 5 })),
            "Tool: read, Params valid: false",
        ),
        case(
            m::WasRepeated,
            example! { "execution_history" => history },
            call(json!({ "path": "a.rs" })),
            "Was repeated: true",
        ),
        case(
            m::SubtaskPlanning::default(),
            example! {},
            plan(),
            "subtasks 1, weight 0.25; actions 0, weight 0.25: subtask 1: unknown action \"fly\"; expected one of read, edit, bash; targets 1, weight 0.25; instructions 1, weight 0.25",
        ),
        case(
            m::SubtaskExecution::default(),
            example! {},
            prediction! { "result" => r#"{"command": "ls"}"#, "reasoning" => "short" },
            "result 1, weight 0.33; edit_or_command 1, weight 0.33; reasoning 0, weight 0.34: `reasoning`: expected at least 20 characters, found 5",
        ),
        case(
            m::Synthesis::default(),
            example! {},
            plan(),
            "success 1, weight 0.25; summary 1, weight 0.25; modified_files 1, weight 0.25; confidence 0, weight 0.25: `confidence`: expected a number in 0..=1, found the number 95",
        ),
        case(
            m::ToolStepUtility::default(),
            example! {},
            prediction! {
                "step_utility" => -0.5, "should_continue" => true, "next_action_hint" => "Read the test", "confidence" => 0.7,
            },
            "step_utility 0, weight 0.25: `step_utility`: expected a number in 0..=1, found the number -0.5; should_continue 1, weight 0.25; next_action_hint 1, weight 0.25; confidence 1, weight 0.25",
        ),
        case(
            m::Combined,
            example! {},
            plan(),
            "subtask_planning (0.75): subtask 1: unknown action \"fly\"; expected one of read, edit, bash\nsynthesis (0.75): `confidence`: expected a number in 0..=1, found the number 95",
        ),
        case(
            m::OutcomeCoupled::default(),
            example! {},
            prediction! {
                "step_utility" => 0.5, "was_repeated" => true, "verification_delta" => 0, "params_valid" => true,
            },
            "step_utility 0.75, weight 0.4: the step's utility is 0.5; not_repeated 0, weight 0.3: the same call was made before; verification 0.5, weight 0.2: as many tests pass as before; params_valid 1, weight 0.1",
        ),
    ]
}

pub(super) fn sandboxed() -> Vec<Case> {
    let before = || example! { "tests_passing" => 3 };
    let unittest = "echo 'Ran 2 tests'; echo '1 passed, 1 failed'; exit 1";
    vec![
        case(
            m::Sandbox::builder().command("echo 'no file' >&2; exit 2").build(),
            example! {},
            prediction! {},
            "exit code 2, expected 0\nno file",
        ),
        case(
            m::TestPass::builder()
                .command(unittest)
                .file("it.py", FileSource::Text("pass".to_owned()))
                .build(),
            example! {},
            prediction! {},
            "1 passed, 1 failed, 0 skipped; exit code 1, expected 0\nRan 2 tests\n1 passed, 1 failed",
        ),
        case(
            m::VerificationDelta::builder().command(unittest).build(),
            before(),
            prediction! {},
            "Tests before: 3, after: 1, delta: -2",
        ),
    ]
}

/// Rows with the best score or with feedback besides the details, and the feedback.
pub(super) fn passes() -> Vec<(Case, Option<&'static str>)> {
    let read = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let schemas = ToolSchemas::new([("read", &read)]).unwrap();
    let tool = || m::ToolParamsSchema::builder().schemas(schemas.clone()).build();
    let call = |path: Value| prediction! { "tool" => "read", "params" => json!({ "path": path }) };
    let history = || {
        let earlier = json!({ "tool": "read", "params": { "path": "a.rs" } });
        example! { "execution_history" => [earlier] }
    };
    let again = Some("the same call was made before, as call 1");
    let invalid = Some("/path: 5 is not of type \"string\"");
    let valid = m::Format::builder().require_valid_json(true).build();
    let json = "the output is not empty and is valid JSON";
    let balanced = "brackets and quotes are balanced";
    let query = prediction! { "sparql_query" => "ASK { ?s ?p ?o }" };
    let present = "the answer has 5 characters";
    let identical = "the answer is identical except for white space";
    let passage = prediction! { "context" => ["The Louvre.", "It is in Paris."] };
    vec![
        (case(m::WasRepeated, history(), call("b.rs".into()), "Was repeated: false"), None),
        (case(m::WasRepeated, history(), call("a.rs".into()), "Was repeated: true"), again),
        (case(tool(), example! {}, call("a.rs".into()), "Tool: read, Params valid: true"), None),
        (case(tool(), example! {}, call(5.into()), "Tool: read, Params valid: false"), invalid),
        (case(m::Em::default(), gold("Paris"), pred("paris!"), "exact match with \"Paris\""), None),
        (
            case(
                m::AnswerPassageMatch::default(),
                gold(json!(["Lyon", "Paris"])),
                passage,
                "passage 2 contains \"Paris\"",
            ),
            None,
        ),
        (case(valid, example! {}, pred("[1]"), json), None),
        (case(m::Syntax::default(), example! {}, pred("f(a)"), balanced), None),
        (case(m::AnswerPresent, example! {}, pred("Paris"), present), None),
        (case(m::SparqlSyntaxValid, example! {}, query, "the query is valid SPARQL"), None),
        (case(m::Diff::default(), gold("a b"), pred("a  b"), identical), None),
    ]
}

/// Metrics that quote values of their rows, on these values.
pub(super) fn with(text: &str, words: &str) -> Vec<Case> {
    let lists = || prediction! { "retrieved" => words.split(' ').collect::<Vec<_>>() };
    let many: Vec<&str> = words.split(' ').collect();
    let names = || example! { "expected_entities" => many.clone(), "expected_intent" => text };
    let found = || prediction! { "entities" => [text], "intent" => text };
    let intent = example! { "expected_intent" => "temporal" };
    vec![
        case(m::Em::default(), gold(words), pred(text), ""),
        case(m::Em::default(), gold(many.clone()), pred(text), ""),
        case(m::F1::default(), gold(words), pred(text), ""),
        case(m::F1::default(), gold(text), pred(words), ""),
        case(m::NumericMatch::default(), gold("7".repeat(5000)), pred(text), ""),
        case(m::Wer::default(), gold(words), pred(text), ""),
        case(m::EditSimilarity::default(), gold(words), pred(&text[..2000]), ""),
        case(m::Rouge1::default(), gold(words), pred(text), ""),
        case(m::Bleu::default(), gold(words), pred(text), ""),
        case(m::RecallAtK::default(), example! { "relevant" => many.clone() }, lists(), ""),
        case(m::RecallAtK::default(), example! { "relevant" => [text] }, lists(), ""),
        case(m::IntentAccuracy, intent, found(), ""),
        case(m::EntityF1::default(), names(), found(), ""),
        case(
            m::JsonFieldAccuracy::default(),
            gold(json!({ "a": words })),
            pred(json!({ "a": text })),
            "",
        ),
        case(
            m::ToolParamsSchema::builder()
                .schemas(ToolSchemas::new([("t", &json!({}))]).unwrap())
                .build(),
            example! {},
            prediction! { "tool" => text },
            "",
        ),
    ]
}
