//! What is refused before any row is run, in sentences that say what to do.

use std::time::Duration;

use super::{saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, EvaluateBuilder, EvaluateError};

fn refused(builder: EvaluateBuilder<Example, Prediction>) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn a_setup_that_cannot_work_is_refused() {
    assert_eq!(refused(Evaluate::builder()), "no metric: add at least one with `.metric(..)`");
    assert_eq!(
        refused(scoring().metric(metric_fn("said", |_, _| true))),
        "two metrics are called `said`: rename one with `#[metric(name = \"..\")]`"
    );
    assert_eq!(
        refused(scoring().devset([])),
        "not enough rows: there are none, and an average over none is not 0; \
         check where the rows come from"
    );
    assert_eq!(
        refused(scoring().concurrency(0)),
        "a concurrency of 0 runs nothing: use at least 1"
    );
    assert_eq!(
        refused(scoring().timeout(Duration::ZERO)),
        "a timeout of 0 s fails every row: use a longer one, or none"
    );
    for score in [f64::NAN, f64::INFINITY] {
        assert!(refused(scoring().failure_score(score)).contains("use a finite number"));
    }
    assert_eq!(
        refused(scoring().save_as_csv("a").save_as_json("b").save_as_jsonl("a")),
        "`a` is to be written twice: save each format to a file of its own"
    );
    let twins = scoring().devset([example! { "id" => "x" }, example! { "id" => "x" }]);
    assert_eq!(
        refused(twins.row_id(|row| row.get("id").unwrap().to_string())),
        "rows 1 and 2 both have the id `\"x\"`: ids must be unique within a run"
    );
}

#[test]
fn a_name_that_would_collide_is_refused() {
    let named = |name: &str| Evaluate::builder().metric(metric_fn(name, |_, _| true)).build();
    let odd = ["id", "gold", "pred", "attributes", "traceback", "", "m.x", "m.passed", "a,b"];
    for name in odd.into_iter().chain(["a b", "a\u{a0}b", "a\nb", "a\u{1b}[1mb", ".", " "]) {
        let error = named(name).expect_err(name).to_string();
        let start = format!("a metric cannot be called {name:?}: ");
        assert!(error.starts_with(&start), "{error}");
        let instead = error.rsplit('`').nth(1).unwrap();
        assert!(named(instead).is_ok(), "{error}");
    }
    for name in ["f1", "ids", "größe", "a-b", "m:x", "pass@1"] {
        assert!(named(name).is_ok(), "{name}");
    }
    assert_eq!(
        named("m.passed").unwrap_err().to_string(),
        "a metric cannot be called \"m.passed\": it has a dot, a comma, white space or a control \
         character; rename it with `#[metric(name = \"..\")]`, for instance to `m_passed`"
    );
}

#[tokio::test]
async fn two_rows_of_one_id_are_an_input_error() {
    let mut pairs = saying(&["1", "0", "1"]);
    pairs[2].id = "row0".to_owned();
    let error = scoring().build().unwrap().score(pairs).await.unwrap_err();
    let [id, first, second] = ["row0", "1", "3"].map(str::to_owned);
    assert_eq!(error, EvaluateError::DuplicateId { id, first, second });
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
    assert_eq!(error.unwrap_err(), EvaluateError::NoDevset);
}

#[test]
fn a_missing_runtime_or_timer_is_said_and_no_panic() {
    let evaluate = scoring().timeout(Duration::from_secs(1)).build().unwrap();
    let run = || evaluate.score(saying(&["1"]));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let mut outside = std::pin::pin!(run());
    let std::task::Poll::Ready(error) = outside.as_mut().poll(&mut context) else {
        panic!("it waits for a runtime that is not there")
    };
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("there is no tokio runtime: run this under"), "{error}");

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(run()).unwrap_err().to_string();
    assert!(error.starts_with("the tokio runtime has no timers: "), "{error}");
}
