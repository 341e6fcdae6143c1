//! The `beta` of metrics with an F-beta is checked before the first row.

use std::sync::Arc;

use dsrs_metrics::Evaluate;
use dsrs_metrics::judge::shipped::FactualCorrectness;
use dsrs_metrics::lm::{LmRequest, ScriptedLm};
use dsrs_metrics::metrics::Chrf;
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use serde_json::json;

const INVALID: [f64; 4] = [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

fn message(beta: f64) -> String {
    format!(
        "expected a finite, non-negative `beta`, found {beta}; write 1 to weigh precision and recall equally, or 2 to weigh recall twice as much"
    )
}

fn rows() -> (Example, Prediction) {
    (
        example! { "answer" => "In Paris." },
        prediction! { "answer" => "Paris." },
    )
}

fn lm() -> Arc<ScriptedLm> {
    Arc::new(ScriptedLm::new().otherwise(|request: &LmRequest| {
        let verdict = |item: usize| json!({ "item": item, "reason": "", "supported": item == 1 });
        match request.purpose.split_once(", step ") {
            Some((_, "claims")) => json!({ "claims": ["a"] }),
            Some((_, step)) => json!({ step: ["a", "b", "c"] }),
            None => json!({
                "verdicts": [verdict(1)], "reference_verdicts": [verdict(1), verdict(2), verdict(3)],
            }),
        }
    }))
}

#[tokio::test]
async fn an_invalid_beta_is_an_error_before_the_first_row() {
    let (gold, pred) = rows();
    for beta in INVALID {
        let lm = lm();
        let judge = || {
            FactualCorrectness::builder()
                .beta(beta)
                .with_lm(Arc::clone(&lm))
                .build()
        };
        let error = judge()
            .evaluate(&gold, &pred)
            .await
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            format!("metric `factual_correctness`: {}", message(beta))
        );
        let evaluate = Evaluate::builder().metric(judge()).build().unwrap();
        let error = evaluate
            .score([Pair::new("a", gold.clone(), pred.clone())])
            .await
            .unwrap_err();
        assert!(error.to_string().contains(&message(beta)), "{error}");
        assert_eq!(lm.calls(), 0);

        let mut requirements = Vec::new();
        let chrf = Chrf::builder().beta(beta).build();
        Metric::<Example, Prediction>::requirements(&chrf, &mut requirements);
        assert_eq!(requirements[0].missing_reason(), Some(&*message(beta)));
    }
}

#[tokio::test]
async fn beta_weighs_recall() {
    let (gold, pred) = rows();
    // The precision is 1, the recall 1/3.
    for (beta, expected) in [(0.0, 1.0), (1.0, 0.5), (2.0, 5.0 / 13.0)] {
        let judge = FactualCorrectness::builder()
            .beta(beta)
            .with_lm(lm())
            .build();
        let value = judge.evaluate(&gold, &pred).await.unwrap().value;
        assert!((value - expected).abs() < 1e-12, "{beta}: {value}");
    }
}
