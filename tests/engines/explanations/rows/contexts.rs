//! Rows of the metrics of retrieved contexts and the answers from them.

use dsrs_metrics::judge::{Models, shipped as judges};
use dsrs_metrics::lm::{LmRequest, ScriptedEmbedder, ScriptedLm};
use dsrs_metrics::metrics as m;
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use crate::explanations::{Case, case};

/// A model with a list for each step by its name, and a reply for the last call.
pub(super) fn lm<const N: usize>(steps: [(&'static str, Value); N], last: Value) -> ScriptedLm {
    ScriptedLm::new().otherwise(move |request: &LmRequest| {
        let step = steps
            .iter()
            .find(|(name, _)| request.purpose.ends_with(name));
        step.map_or_else(
            || last.clone(),
            |(name, list)| json!({ name.trim_start_matches("step "): list.clone() }),
        )
    })
}

fn gold() -> Example {
    example! {
        "question" => "Where is the Louvre?", "answer" => "In Paris.", "context" => ["The Louvre is in Paris."],
        "context_ids" => ["louvre", "paris"],
    }
}

fn pred() -> Prediction {
    prediction! {
        "answer" => "In Lyon.", "context" => ["Bananas grow.", "The Louvre is in Paris!"], "context_ids" => ["bananas", "louvre"],
    }
}

fn support(contexts: &[u32]) -> Value {
    json!({ "item": 1, "reason": "r", "contexts": contexts })
}

fn case_of(metric: impl Metric + 'static, details: &'static str) -> Case {
    case(metric, gold(), pred(), details)
}

/// A model that finds no claim of either answer in the other one.
fn factual() -> ScriptedLm {
    let claim = json!([{ "item": 1, "reason": "r", "supported": false }]);
    let claims = [
        ("step reference_claims", json!(["It is in Paris."])),
        ("step claims", json!(["It is in Lyon."])),
    ];
    lm(
        claims,
        json!({ "verdicts": claim, "reference_verdicts": claim }),
    )
}

/// The models of composites.
pub(in crate::explanations) fn models() -> Models {
    Models::new(factual()).with_embedder(
        vectors()
            .when("In Lyon.", [3.0, 4.0])
            .when("In Paris.", [4.0, 3.0]),
    )
}

/// Vectors whose cosines with the question are 0.96 and 0.6.
fn vectors() -> ScriptedEmbedder {
    let model = ScriptedEmbedder::new().when("Where is the Louvre?", [3.0, 4.0]);
    model
        .when("a", [4.0, 3.0])
        .when("b", [5.0, 0.0])
        .when("c", [4.0, 3.0])
}

pub(super) fn cases() -> Vec<Case> {
    let useful = || {
        let verdict =
            |item: u32, useful: bool| json!({ "item": item, "reason": "r", "useful": useful });
        lm(
            [],
            json!({ "verdicts": [verdict(1, false), verdict(2, true)] }),
        )
    };
    let useful_details =
        "contexts 1 (reason: \"r\", useful: false)\ncontexts 2 (reason: \"r\", useful: true)";
    let lyon = || json!(["It is in Lyon."]);
    let paris = || json!(["It is in Paris."]);
    let unsupported = json!({ "verdicts": [support(&[])] });
    let noise = json!({
        "reference_verdicts": [support(&[2])],
        "verdicts": [{ "item": 1, "reason": "r", "contexts": [2], "in_reference": false }],
    });
    let noise = lm(
        [
            ("step reference_statements", paris()),
            ("step statements", lyon()),
        ],
        noise,
    );
    vec![
        case_of(
            judges::Faithfulness::default()
                .with_lm(lm([("step statements", lyon())], unsupported.clone())),
            "1. \"It is in Lyon.\" (contexts: [], reason: \"r\")",
        ),
        case_of(judges::ContextPrecision::default().with_lm(useful()), useful_details),
        case_of(judges::ContextUtilization::default().with_lm(useful()), useful_details),
        case_of(
            judges::ContextRecall::default()
                .with_lm(lm([("step statements", paris())], unsupported)),
            "1. \"It is in Paris.\" (contexts: [], reason: \"r\")",
        ),
        case_of(
            judges::ContextEntityRecall::default().with_lm(lm(
                [("step entities", json!(["Seine"]))],
                json!({ "mentions": [{ "item": 1, "contexts": [] }] }),
            )),
            "1. \"Seine\" (contexts: [])",
        ),
        case_of(
            judges::NoiseSensitivity::default().with_lm(noise),
            "reference_statements 1. \"It is in Paris.\" (contexts: [2], reason: \"r\")\nstatements 1. \"It is in Lyon.\" (contexts: [2], in_reference: false, reason: \"r\")",
        ),
        case_of(
            judges::FactualCorrectness::default().with_lm(factual()),
            "claims 1. \"It is in Lyon.\" (reason: \"r\", supported: false)\nreference_claims 1. \"It is in Paris.\" (reason: \"r\", supported: false)",
        ),
        case_of(
            judges::AnswerRelevancy::builder()
                .embedder(vectors())
                .with_lm(lm([], json!({ "question_1": "a", "question_2": "b", "question_3": "c", "noncommittal": false })))
                .build(),
            "\"a\" (0.9600)\n\"b\" (0.6000)\n\"c\" (0.9600)",
        ),
        case_of(
            judges::AnswerCorrectness,
            "factual_correctness (0): claims 1. \"It is in Lyon.\" (reason: \"r\", supported: false)\nreference_claims 1. \"It is in Paris.\" (reason: \"r\", supported: false)\nsemantic_similarity (0.96): cosine 0.96 with \"In Paris.\"",
        ),
        case_of(
            m::ContextPrecisionById,
            "1 of 2 relevant among 2 retrieved; not found: \"paris\"",
        ),
        case_of(
            m::ContextRecallById,
            "1 of 2 relevant among 2 retrieved; not found: \"paris\"",
        ),
        case_of(
            m::ContextPrecisionByDistance::default(),
            "not relevant: \"Bananas grow.\"",
        ),
        case_of(
            m::ContextRecallByDistance::builder().similarity(1.0).build(),
            "not found: \"The Louvre is in Paris.\"",
        ),
    ]
}
