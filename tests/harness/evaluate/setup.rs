//! Invalid setups are rejected before any row is run, and the message names the correction.

use std::time::Duration;

use super::{saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    runs::{EvaluateBuilder, EvaluateErrorKind},
};

fn rejection(builder: EvaluateBuilder<Example, Prediction>) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn an_invalid_setup_is_rejected() {
    assert_eq!(
        rejection(scoring().metric(metric_fn("said", |_, _| true))),
        "duplicate metric name `said`; rename one with `#[metric(name = \"..\")]`, or wrap one in a composite"
    );
    assert_eq!(
        rejection(scoring().devset([])),
        "expected at least 1 row, found none; \
         check the source of the rows"
    );
    assert_eq!(
        rejection(scoring().concurrency(0)),
        "expected `concurrency` to be at least 1, found 0"
    );
    assert_eq!(
        rejection(scoring().timeout(Duration::ZERO)),
        "expected `timeout` to be above 0 s, found 0 s; use a longer timeout, or none"
    );
    for score in [f64::NAN, f64::INFINITY, 1e308, -1.1e300] {
        assert_eq!(
            rejection(scoring().failures(|failures| failures.score(score))),
            format!("expected `failure_score` between -1e300 and 1e300, found {score:?}")
        );
    }
    assert_eq!(
        rejection(scoring().files(|files| files.csv("a").json("b").jsonl("a"))),
        "duplicate output file `a`; write each format to a separate file"
    );
    let duplicates = scoring().devset([example! { "id" => "x" }, example! { "id" => "x" }]);
    assert_eq!(
        rejection(duplicates.row_id(|row| row.get("id").unwrap().to_string())),
        "duplicate row id `\"x\"` (rows 1 and 2); ids must be unique within a run"
    );
}

#[test]
fn a_name_that_would_collide_is_rejected() {
    let named = |name: &str| {
        Evaluate::builder()
            .metric(metric_fn(name, |_, _| true))
            .build()
    };
    let odd = [
        "id",
        "gold",
        "pred",
        "attributes",
        "traceback",
        "",
        "m.x",
        "m.passed",
        "a,b",
    ];
    for name in odd
        .into_iter()
        .chain(["a b", "a\u{a0}b", "a\nb", "a\u{1b}[1mb", ".", " "])
    {
        let error = named(name).expect_err(name).to_string();
        let start = format!("invalid metric name {name:?}: ");
        assert!(error.starts_with(&start), "{error}");
    }
    for name in ["f1", "ids", "größe", "a-b", "m:x", "pass@1"] {
        assert!(named(name).is_ok(), "{name}");
    }
    assert_eq!(
        named("m.passed").unwrap_err().to_string(),
        "invalid metric name \"m.passed\": it contains a dot, a comma, white space or a control \
         character; rename it with `#[metric(name = \"..\")]`"
    );
}

#[tokio::test]
async fn two_rows_with_the_same_id_are_an_input_error() {
    let mut pairs = saying(&["1", "0", "1"]);
    pairs[2].id = "row0".to_owned();
    let error = scoring().build().unwrap().score(pairs).await.unwrap_err();
    assert_eq!(error.kind(), EvaluateErrorKind::DuplicateId);
    let message = "duplicate row id `row0` (rows 1 and 3); ids must be unique within a run";
    assert_eq!(error.to_string(), message);
}

#[tokio::test]
async fn an_evaluation_needs_a_metric() {
    let message = "expected at least one metric, found none; add one with `.metric(..)`";
    assert_eq!(rejection(Evaluate::builder()), message);
    let error = Evaluate::builder()
        .score(saying(&["1"]))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, message);
}

#[tokio::test]
async fn a_run_needs_a_devset() {
    let error = scoring()
        .build()
        .unwrap()
        .run(|_: Example| async {
            prediction! {}
        })
        .await;
    let message = "expected a devset, found none; set one with `.devset(..)`, or score finished predictions with `.score(..)`";
    assert_eq!(error.unwrap_err().to_string(), message);
}

#[test]
fn a_missing_runtime_or_timer_is_an_error_and_not_a_panic() {
    let evaluate = scoring().timeout(Duration::from_secs(1)).build().unwrap();
    let run = || evaluate.score(saying(&["1"]));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut outside = std::pin::pin!(run());
    let std::task::Poll::Ready(error) = outside.as_mut().poll(&mut context) else {
        panic!("expected an error, found a pending future")
    };
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("no tokio runtime found; run this under"),
        "{error}"
    );

    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let error = runtime.block_on(run()).unwrap_err().to_string();
    assert!(
        error.starts_with("the tokio runtime has no timer; "),
        "{error}"
    );
}
