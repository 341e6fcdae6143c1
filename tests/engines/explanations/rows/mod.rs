//! A row for each built-in metric that it does not score best, with the details of the score.

mod answers;
mod contexts;
mod conversations;
mod judges;
mod matching;
mod steps;
mod trajectories;

pub(super) use self::contexts::models;
pub(super) use self::steps::sandboxed;
use dsrs_metrics::metrics as m;
use dsrs_metrics::metrics::ToolSchemas;
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use super::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    let families = [
        answers::answers(),
        matching::cases(),
        judges::judged(),
        judges::rag(),
        contexts::cases(),
        conversations::cases(),
        judges::sparql(),
        answers::rankings(),
        answers::overlap(),
        steps::format(),
        steps::agents(),
        steps::program(),
        trajectories::cases(),
    ];
    families.into_iter().flatten().collect()
}

pub(super) fn over_all_rows() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(m::Accuracy::default()),
        Box::new(m::MacroF1::default()),
        Box::new(m::MicroF1::default()),
        Box::new(m::BalancedAccuracy::default()),
        Box::new(m::MatthewsCorrelation::default()),
        Box::new(m::CohenKappa::default()),
        Box::new(m::KrippendorffAlpha::default()),
        Box::new(m::SpearmanCorrelation),
        Box::new(m::Auroc),
        Box::new(m::ExpectedCalibrationError::default()),
        Box::new(m::BrierScore),
    ]
}

fn gold(answer: impl Into<Value>) -> Example {
    example! { "answer" => answer.into() }
}

fn pred(answer: impl Into<Value>) -> Prediction {
    prediction! { "answer" => answer.into() }
}

/// Rows with the best score or with feedback besides the details, and the feedback.
pub(super) fn passes() -> Vec<(Case, Option<&'static str>)> {
    let read = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let schemas = ToolSchemas::new([("read", &read)]).unwrap();
    let tool = || {
        m::ToolParamsSchema::builder()
            .schemas(schemas.clone())
            .build()
    };
    let call = |path: Value| prediction! { "tool" => "read", "params" => json!({ "path": path }) };
    let history = || {
        let earlier = json!({ "tool": "read", "params": { "path": "a.rs" } });
        example! { "execution_history" => [earlier] }
    };
    let again = Some("the same call was made before, as call 1");
    let invalid = Some("/path: 5 is not of type \"string\"");
    let valid = m::Format::builder().require_valid_json(true).build();
    let json = "the output has the required format";
    let balanced = "the syntax is valid";
    let query = prediction! { "sparql_query" => "ASK { ?s ?p ?o }" };
    let present = "there is an answer";
    let identical = "the answer is identical except for white space";
    let passage = prediction! { "context" => ["The Louvre.", "It is in Paris."] };
    vec![
        (
            case(
                m::WasRepeated,
                history(),
                call("b.rs".into()),
                "Was repeated: false",
            ),
            None,
        ),
        (
            case(
                m::WasRepeated,
                history(),
                call("a.rs".into()),
                "Was repeated: true",
            ),
            again,
        ),
        (
            case(
                tool(),
                example! {},
                call("a.rs".into()),
                "Tool: read, Params valid: true",
            ),
            None,
        ),
        (
            case(
                tool(),
                example! {},
                call(5.into()),
                "Tool: read, Params valid: false",
            ),
            invalid,
        ),
        (
            case(
                m::Em::default(),
                gold("Paris"),
                pred("paris!"),
                "exact match with \"Paris\"",
            ),
            None,
        ),
        (
            case(
                m::AnswerPassageMatch::default(),
                gold(json!(["Lyon", "Paris"])),
                passage,
                "passage 2 contains \"Lyon\" or \"Paris\"",
            ),
            None,
        ),
        (case(valid, example! {}, pred("[1]"), json), None),
        (
            case(m::Syntax::default(), example! {}, pred("f(a)"), balanced),
            None,
        ),
        (
            case(m::AnswerPresent, example! {}, pred("Paris"), present),
            None,
        ),
        (
            case(
                m::SparqlSyntaxValid,
                example! {},
                query,
                "the query is valid SPARQL",
            ),
            None,
        ),
        (
            case(m::Diff::default(), gold("a b"), pred("a  b"), identical),
            None,
        ),
        (
            case(
                m::IsJson::default(),
                example! {},
                pred("[1]"),
                "the output is valid JSON",
            ),
            None,
        ),
    ]
}

/// Metrics that quote values of their rows, on these values.
pub(super) fn with(text: &str, words: &str) -> Vec<Case> {
    let lists = || prediction! { "retrieved" => words.split(' ').collect::<Vec<_>>() };
    let many: Vec<&str> = words.split(' ').collect();
    let names = || example! { "expected_entities" => many.clone(), "expected_intent" => text };
    let found = || prediction! { "entities" => [text], "intent" => text };
    let intent = example! { "expected_intent" => "temporal" };
    let mut cases = vec![
        case(m::Em::default(), gold(words), pred(text), ""),
        case(m::Em::default(), gold(many.clone()), pred(text), ""),
        case(m::F1::default(), gold(words), pred(text), ""),
        case(m::F1::default(), gold(text), pred(words), ""),
        case(m::Matches::default(), gold(many.clone()), pred(text), ""),
        case(m::Includes::default(), gold(words), pred(text), ""),
        case(
            m::OneOf::builder().values(many.clone()).build(),
            gold(""),
            pred(text),
            "",
        ),
        case(
            m::Regex::builder().pattern("x").build(),
            gold(""),
            pred(text),
            "",
        ),
        case(
            m::NumericMatch::default(),
            gold("7".repeat(5000)),
            pred(text),
            "",
        ),
        case(m::Wer::default(), gold(words), pred(text), ""),
        case(
            m::EditSimilarity::default(),
            gold(words),
            pred(&text[..2000]),
            "",
        ),
        case(m::Rouge1::default(), gold(words), pred(text), ""),
        case(m::Bleu::default(), gold(words), pred(text), ""),
        case(
            m::RecallAtK::default(),
            example! { "relevant" => many.clone() },
            lists(),
            "",
        ),
        case(
            m::RecallAtK::default(),
            example! { "relevant" => [text] },
            lists(),
            "",
        ),
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
    ];
    cases.extend(trajectories::with(text, words));
    cases
}
