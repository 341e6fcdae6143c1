//! `answer_exact_match` and `answer_passage_match` over rows, as DSPy documents them.

use dsrs_metrics::contract::ScoreKind;
use dsrs_metrics::metrics::{AnswerExactMatch, AnswerPassageMatch, Em};
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Profile;
use serde_json::{Value, json};

/// The score for a reference answer, a predicted one and `frac`.
fn score(answer: &Value, prediction: &str, frac: f64) -> f64 {
    let (gold, pred) = (
        example! { "answer" => answer },
        prediction! { "answer" => prediction },
    );
    AnswerExactMatch::builder()
        .frac(frac)
        .build()
        .score(&gold, &pred)
        .unwrap()
        .value
}

#[test]
fn the_examples_of_the_document_match() {
    let answers = json!(["Eiffel Tower", "Louvre"]);
    assert_eq!(score(&answers, "The Eiffel Tower", 1.0), 1.0);
    assert_eq!(score(&answers, "The Eiffel Tower", 0.5), 1.0);
    assert_eq!(AnswerExactMatch::default().frac, 1.0);
}

#[test]
fn an_answer_is_a_string_or_any_of_a_list() {
    for (answer, prediction, exact, half) in [
        (json!("Louvre"), "the louvre!", 1.0, 1.0),
        (json!("Louvre"), "Orsay", 0.0, 0.0),
        (json!("Louvre"), "Louvre in Paris", 0.0, 1.0),
        (json!(["Orsay", "Louvre"]), "Louvre", 1.0, 1.0),
        (json!(["Orsay", "Louvre"]), "Orsay Louvre", 0.0, 1.0),
        (json!(["Orsay", "Louvre"]), "Prado", 0.0, 0.0),
    ] {
        let found = [
            score(&answer, prediction, 1.0),
            score(&answer, prediction, 0.5),
        ];
        assert_eq!(found, [exact, half], "{answer} {prediction}");
    }
}

/// The alias `em` scores and explains every row as `answer_exact_match` with `frac = 1` does.
#[test]
fn the_alias_agrees_with_the_exact_match() {
    let answers = [json!("Louvre"), json!("Café"), json!(["Orsay", "Louvre"])];
    let predictions = [
        "the louvre!",
        "cafe",
        "CAFÉ",
        "Louvre in Paris",
        "Louvres",
        "Prado",
        "",
    ];
    for profile in [Profile::Dspy, Profile::Folded, Profile::FoldedSymbols] {
        let alias = Em { profile };
        let exact = AnswerExactMatch { frac: 1.0, profile };
        for (answer, prediction) in answers
            .iter()
            .flat_map(|answer| predictions.map(|it| (answer, it)))
        {
            let (gold, pred) = (
                example! { "answer" => answer },
                prediction! { "answer" => prediction },
            );
            let expected = exact.score(&gold, &pred).unwrap();
            assert_eq!(
                alias.score(&gold, &pred).unwrap(),
                expected,
                "{answer} {prediction}"
            );
        }
        assert!(
            alias
                .score(
                    &example! { "answer" => json!([]) },
                    &prediction! { "answer" => "" }
                )
                .is_err()
        );
    }
    assert_eq!(
        (Em::SPEC.name, Em::SPEC.kind),
        ("em", AnswerExactMatch::SPEC.kind)
    );
}

#[test]
fn an_answer_of_another_type_or_an_empty_list_is_an_error() {
    let error = |answer: Value| {
        let (gold, pred) = (
            example! { "answer" => answer },
            prediction! { "answer" => "3" },
        );
        AnswerExactMatch::default()
            .score(&gold, &pred)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(json!(3)),
        "metric `answer_exact_match`: field `gold.answer`: expected a string or list of strings, found the number 3"
    );
    assert!(
        error(json!([])).contains("at least one"),
        "{}",
        error(json!([]))
    );
}

#[tokio::test]
async fn the_result_is_a_bool_whether_there_is_a_trace_or_not() -> dsrs_metrics::Result<()> {
    assert_eq!(AnswerExactMatch::SPEC.kind, ScoreKind::Bool);
    let (metric, gold, trace) = (
        AnswerExactMatch::default(),
        example! { "answer" => "Louvre" },
        Trace::default(),
    );
    for (prediction, value, verdict) in [("Louvre", 1.0, true), ("Orsay", 0.0, false)] {
        let pred = prediction! { "answer" => prediction };
        let call = MetricCall::new(&gold, &pred);
        let Grade::Score(score) = metric.grade(call).await? else {
            panic!("a verdict")
        };
        assert_eq!(score.value, value);
        assert_eq!(
            metric.grade(call.with_trace(&trace)).await?,
            Grade::Verdict(verdict)
        );
    }
    Ok(())
}

#[test]
fn any_passage_may_contain_any_answer() {
    let score = |answer: Value, context: Value| {
        let (gold, pred) = (
            example! { "answer" => answer },
            prediction! { "context" => context },
        );
        AnswerPassageMatch::default()
            .score(&gold, &pred)
            .unwrap()
            .value
    };
    let passages = json!(["The Louvre is a museum.", "The Eiffel Tower is in Paris."]);
    assert_eq!(score(json!("Eiffel Tower"), passages.clone()), 1.0);
    assert_eq!(score(json!(["Prado", "Louvre"]), passages.clone()), 1.0);
    assert_eq!(score(json!(["Prado", "museum in Paris"]), passages), 0.0);
    assert_eq!(
        score(json!("Louvre"), json!("The Louvre is a museum.")),
        1.0
    );
}
