//! `answer_present` and `sources_used`, and the heritage composites over rows with missing fields.

use dsrs_metrics::metrics::{AnswerPresent, HeritageRag, HeritageRagStrict, SourcesUsed};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{MetricError, Scored, contract::ScoreRange};
use serde_json::{Value, json};

fn scored(metric: &impl Metric, gold: &Example, pred: &Prediction) -> Result<Scored, MetricError> {
    metric
        .answer(MetricCall::new(gold, pred))
        .ready()
        .expect("nothing has to be awaited")
}

/// The verdicts of both metrics on the same value.
fn present(value: &Value) -> (f64, f64) {
    let pred = prediction! { "answer" => value, "sources_used" => value };
    let of = |metric: &dyn Metric| {
        metric
            .answer(MetricCall::new(&example! {}, &pred))
            .ready()
            .unwrap()
            .unwrap()
            .score
            .value
    };
    (of(&AnswerPresent), of(&SourcesUsed))
}

#[test]
fn any_word_is_an_answer_and_white_space_is_not() {
    for said in [
        json!("A"),
        json!("the"),
        json!("0"),
        json!("."),
        json!("東京"),
        json!(["", "A"]),
    ] {
        assert_eq!(present(&said), (1.0, 1.0), "{said}");
    }
    let spaces = "\u{a0}\u{3000}\t\n";
    for unsaid in [
        json!(""),
        json!(" "),
        json!(spaces),
        Value::Null,
        json!([]),
        json!(["", " "]),
    ] {
        assert_eq!(present(&unsaid), (0.0, 0.0), "{unsaid}");
    }
}

#[test]
fn missing_values_are_in_the_feedback_and_unreadable_values_are_errors() {
    let gold = example! {};
    let said = |metric: &dyn Metric, pred: Prediction| {
        let scored = metric
            .answer(MetricCall::new(&gold, &pred))
            .ready()
            .unwrap()
            .unwrap();
        (
            scored.passed,
            scored.feedback().map(std::borrow::Cow::into_owned),
        )
    };
    let told = |said: &str| (Some(false), Some(said.to_owned()));
    assert_eq!(
        said(&AnswerPresent, prediction! {}),
        told("`answer` is missing")
    );
    assert_eq!(
        said(&SourcesUsed, prediction! { "sources_used" => "" }),
        told("`sources_used` is empty")
    );
    assert_eq!(
        said(&AnswerPresent, prediction! { "answer" => "A" }),
        (Some(true), None)
    );
    let error = scored(&AnswerPresent, &gold, &prediction! { "answer" => 42 }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `answer_present`: field `pred.answer`: expected a string or list of strings, found the number 42"
    );
}

#[test]
fn rows_of_user_defined_types() {
    #[derive(Record)]
    struct Reply {
        answer: String,
        sources_used: Option<Vec<String>>,
    }

    let reply = |sources_used| Reply {
        answer: "A".to_owned(),
        sources_used,
    };
    assert_eq!(AnswerPresent.score(&(), &reply(None)).unwrap().value, 1.0);
    assert_eq!(SourcesUsed.score(&(), &reply(None)).unwrap().value, 0.0);
    assert_eq!(
        SourcesUsed
            .score(&(), &reply(Some(vec!["h:louvre".to_owned()])))
            .unwrap()
            .value,
        1.0
    );
}

fn gold() -> Example {
    example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"] }
}

fn reply() -> Prediction {
    prediction! {
        "intent" => "temporal", "entities" => ["Louvre"], "sparql_query" => "ASK { ?s ?p ?o }", "answer" => "1793",
        "sources_used" => ["h:louvre"],
    }
}

#[test]
fn each_component_has_its_weight_and_the_verdict_its_threshold() {
    let without = |field: &str, value: Value| {
        let mut pred = reply();
        pred.data.insert(field, value);
        let scored = scored(&HeritageRag, &gold(), &pred).unwrap();
        ((scored.score.value * 1e12).round() / 1e12, scored.passed)
    };
    assert_eq!(without("intent", json!("Temporal ")), (1.0, Some(true)));
    assert_eq!(without("intent", json!("relational")), (0.75, Some(false)));
    assert_eq!(without("entities", json!([])), (0.75, Some(false)));
    assert_eq!(without("sparql_query", json!("SELECT")), (0.8, Some(true)));
    assert_eq!(without("answer", json!("")), (0.85, Some(true)));
    assert_eq!(without("sources_used", json!([])), (0.85, Some(true)));
}

#[test]
fn strict_requires_everything_except_sources() {
    let passes = |field: &str, value: Value| {
        let mut pred = reply();
        pred.data.insert(field, value);
        scored(&HeritageRagStrict, &gold(), &pred).unwrap().passed
    };
    assert_eq!(passes("sources_used", json!([])), Some(true));
    for (field, value) in [
        ("intent", json!("relational")),
        ("entities", json!(["Louvre", "Prado"])),
        ("sparql_query", json!("???")),
        ("answer", json!(" ")),
    ] {
        assert_eq!(passes(field, value), Some(false), "{field}");
    }
}

#[test]
fn a_row_with_an_unreadable_field_has_no_score() {
    let mut pred = reply();
    pred.data.remove("entities");
    assert_eq!(
        scored(&HeritageRag, &gold(), &pred).unwrap().score.value,
        0.75
    );
    pred.data.insert("entities", 7);
    let error = scored(&HeritageRag, &gold(), &pred)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(
            "metric `heritage_rag`: its component `entity_f1` has no score: metric `entity_f1`: field `pred.entities`: expected"
        ),
        "{error}"
    );
}

#[test]
fn specs_of_the_composites() {
    let (rag, strict) = (HeritageRag::SPEC, HeritageRagStrict::SPEC);
    assert_eq!(
        (rag.name, rag.threshold, rag.range),
        ("heritage_rag", Some(0.8), Some(ScoreRange::UNIT))
    );
    assert_eq!(
        (rag.tier, rag.cost_msats, rag.is_async),
        (MetricTier::Proxy, 0, false)
    );
    assert_eq!(
        (strict.name, strict.tier),
        ("heritage_rag_strict", MetricTier::Proxy)
    );
    assert_eq!(strict.kind, dsrs_metrics::contract::ScoreKind::Bool);
}
