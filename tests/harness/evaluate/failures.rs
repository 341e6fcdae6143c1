//! A failure affects only its own row.

use super::{SaidLater, report, saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, MetricError, rows::Pair};

fn devset() -> Vec<Example> {
    let words = [
        "0.5",
        "program fails",
        "program panics",
        "panic",
        "fail",
        "nan",
        "abstain",
        "1",
    ];
    words
        .iter()
        .map(|word| example! { "say" => *word })
        .collect()
}

async fn program(inputs: Example) -> Result<Prediction, String> {
    tokio::task::yield_now().await;
    match inputs.get("say").and_then(|word| word.as_str()) {
        Some("program fails") => Err("no model".to_owned()),
        Some("program panics") => panic!("index out of bounds"),
        word => Ok(prediction! { "say" => word }),
    }
}

#[tokio::test]
async fn every_kind_of_failure_leaves_the_other_rows_alone() {
    let evaluate = scoring()
        .metric(SaidLater)
        .devset(devset())
        .inputs(["say"])
        .concurrency(3);
    let evaluate = evaluate.build().unwrap();
    let result = evaluate.run(program).await.unwrap();
    let names = |metric: usize| -> Vec<_> {
        result
            .results
            .iter()
            .map(|row| row.outcomes[metric].name())
            .collect()
    };
    let expected = [
        "scored",
        "program_failed",
        "program_failed",
        "metric_failed",
        "metric_failed",
        "metric_failed",
        "abstained",
        "scored",
    ];
    assert_eq!((names(0), names(1)), (expected.to_vec(), expected.to_vec()));
    let error = |row: usize, metric: usize| result.results[row].outcomes[metric].error().unwrap();
    assert_eq!(error(1, 0), "no model");
    assert_eq!(error(2, 1), "the program panicked: index out of bounds");
    assert_eq!(error(3, 0), "metric `said` panicked: told to panic");
    assert_eq!(error(3, 1), "metric `said_later` panicked: told to panic");
    assert_eq!(
        error(5, 1),
        "metric `said_later`: the score NaN is not a finite number"
    );
    assert!(result.results[1].pred.is_none() && result.results[3].pred.is_some());
    for summary in &result.metrics {
        assert_eq!(
            (summary.scored, summary.failed, summary.abstained),
            (2, 5, 1)
        );
        assert_eq!(
            (summary.mean, summary.mean_scored),
            (Some(1.5 / 7.0), Some(0.75))
        );
    }
    assert_eq!((result.rows, result.failed_rows), (8, 5));
    assert_eq!(result.first_error.as_deref(), Some("row `1`: no model"));
    assert!(result.is_complete());
}

#[tokio::test]
async fn a_closure_that_panics_before_its_first_await_fails_its_row() {
    let evaluate = scoring().devset(devset()).inputs(["say"]).build().unwrap();
    let result = evaluate
        .run(|inputs: Example| {
            assert_ne!(inputs.get("say").unwrap(), "1", "at once");
            async move {
                prediction! { "say" => "1" }
            }
        })
        .await
        .unwrap();
    let last = result.results[7].outcomes[0].error().unwrap();
    assert!(
        last.starts_with("the program panicked: ") && last.contains("at once"),
        "{last}"
    );
    assert_eq!(result.metrics[0].scored, 7);
}

#[tokio::test]
async fn a_panic_with_a_payload_that_is_not_a_string_is_still_a_failure() {
    let odd = metric_fn("odd", |_, _| -> f64 { std::panic::panic_any(42) });
    let evaluate = Evaluate::builder().metric(odd).build().unwrap();
    let result = evaluate.score(saying(&["1"])).await.unwrap();
    let error = result.results[0].outcomes[0].error().unwrap();
    assert_eq!(error, "metric `odd` panicked: a value that is not a string");
}

#[tokio::test]
async fn tracebacks_name_the_location_of_the_panic_only_if_enabled() {
    for asked in [true, false] {
        let evaluate = scoring()
            .metric(SaidLater)
            .failures(|failures| failures.provide_traceback(asked))
            .build()
            .unwrap();
        let result = evaluate.score(saying(&["panic", "1"])).await.unwrap();
        assert_eq!(result.results[1].traceback, None);
        let traceback = result.results[0].traceback.as_deref();
        assert_eq!(
            traceback.map(|text| text.matches("at tests/harness/evaluate/mod.rs:").count() >= 2),
            asked.then_some(true)
        );
    }
}

#[tokio::test]
async fn the_causes_of_a_modules_error_are_shown() {
    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the reply is unusable")
        }
    }
    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }
    struct Broken;
    #[async_trait]
    impl dsrs_metrics::runs::Module for Broken {
        async fn forward(
            &self,
            _: Example,
        ) -> Result<Prediction, dsrs_metrics::runs::ProgramError> {
            Err("x".parse::<i32>().map_err(Outer).unwrap_err().into())
        }
    }
    let result = scoring()
        .devset([example! {}])
        .build()
        .unwrap()
        .run(Broken)
        .await
        .unwrap();
    let error = result.first_error.unwrap();
    assert_eq!(
        error,
        "row `0`: the reply is unusable: invalid digit found in string"
    );
}

#[tokio::test]
async fn a_metric_that_fails_is_not_the_program_failing() {
    let evaluate = scoring().build().unwrap();
    let result = evaluate.score(saying(&["fail"])).await.unwrap();
    let outcome = &result.results[0].outcomes[0];
    let error = MetricError::failed("said", "told to fail");
    assert_eq!(*outcome, Outcome::MetricFailed { error });
}

#[tokio::test]
async fn the_first_input_error_ends_the_run_with_its_own_message() {
    let rows: Vec<Result<Pair, String>> = vec![
        Ok(saying(&["1"]).remove(0)),
        Err("data.jsonl:2: field `gold` is missing".to_owned()),
        Err("never seen".to_owned()),
    ];
    let evaluate = scoring().concurrency(2).build().unwrap();
    let error = evaluate.score(rows.clone()).await.unwrap_err();
    assert_eq!(error.to_string(), "data.jsonl:2: field `gold` is missing");
    let stream = futures_util::stream::iter(rows);
    let error = evaluate.score_stream(stream).await.unwrap_err();
    assert_eq!(error.to_string(), "data.jsonl:2: field `gold` is missing");
}

#[tokio::test]
async fn a_source_that_panics_is_an_input_error() {
    let rows = saying(&["1"; 5])
        .into_iter()
        .inspect(|pair| assert_ne!(pair.id, "row3"));
    let error = scoring().build().unwrap().score(rows).await.unwrap_err();
    assert!(
        error.to_string().starts_with("reading the rows panicked: "),
        "{error}"
    );
}

#[tokio::test]
async fn the_same_report_comes_from_rows_that_fail_in_every_way() {
    let mut reports = Vec::new();
    for concurrency in [1, 2, 7, 64] {
        let evaluate = scoring()
            .metric(SaidLater)
            .devset(vec![devset(); 9].concat());
        let evaluate = evaluate.inputs(["say"]).concurrency(concurrency);
        reports.push(report(
            &evaluate.build().unwrap().run(program).await.unwrap(),
        ));
    }
    assert!(reports.iter().all(|other| *other == reports[0]));
}
