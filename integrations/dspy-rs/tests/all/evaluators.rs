//! `Evaluator` of dspy-rs with metrics of dsrs-metrics: scores, failures and reports.

use dspy_rs::{Evaluator, Module};
use dsrs_metrics::metrics::{Em, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics_dspy_rs::{RowName, Tally, WithMetric};

use crate::programs::{Echo, prediction, qa, row};

#[tokio::test]
async fn evaluate_returns_the_mean_of_the_metric() {
    let module = Echo.with_metric(F1::default());
    let rows = vec![
        qa("Paris", "Paris"),
        qa("Paris, France", "Paris"),
        qa("Rome", "Oslo"),
    ];
    let mean = module.evaluate(rows).await;
    assert_eq!(mean, ((1.0 + 2.0 / 3.0) / 3.0) as f32);
    let report = module.report();
    assert_eq!(
        report.to_string(),
        "f1: 0.5556 (mean of 3/3 calls, 0 failed)"
    );
    assert_eq!(report.evaluations, std::slice::from_ref(&report.calls));
    report.check().unwrap();
}

#[tokio::test]
async fn one_call_returns_the_score_of_the_metric() {
    let module = Echo.with_metric(F1::default());
    let gold = qa("?", "Paris");
    let score = module
        .metric(&gold, &prediction([("answer", "Paris, France".into())]))
        .await;
    assert_eq!(score, (2.0 / 3.0) as f32);
    assert_eq!(
        (
            module.report().calls.scored,
            module.report().evaluations.len()
        ),
        (1, 0)
    );
}

#[tokio::test]
async fn failures_of_program_and_metric_are_counted_with_their_rows() {
    let module = Echo.with_metric(Em::default()).with_concurrency(2);
    let rows = vec![
        qa("Paris", "Paris"),
        row([("question", "Rome".into()), ("response", "Rome".into())]),
        qa("fail", "Rome"),
        qa("panic", "Rome"),
        row([("question", "Rome".into()), ("answer", 7.into())]),
    ];
    assert_eq!(module.evaluate(rows).await, 0.2);
    let report = module.report();
    assert_eq!(
        report.to_string(),
        "em: 0.2000 (mean of 1/5 calls, 2 failed and 2 programs failed counted as 0; 1.0000 over the 1 scored)"
    );
    let failures: Vec<_> = report.failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        failures,
        [
            "row 1: metric `em`: no field `gold.answer`; found `question`, `response`",
            "row 2: no reply: status 503",
            "row 3: the program panicked: unwrap of a reply",
            "row 4: metric `em`: field `gold.answer`: expected a string or list of strings, found the number 7",
        ]
    );
    assert_eq!(
        report.check().unwrap_err().to_string(),
        "4 of 5 calls of `em` not scored, each counted as 0; the first: row 1: metric `em`: no field `gold.answer`; \
         found `question`, `response`"
    );
    let names: Vec<_> = report
        .failures
        .iter()
        .map(|failure| failure.outcome)
        .collect();
    assert_eq!(
        names,
        [
            "metric_failed",
            "program_failed",
            "program_failed",
            "metric_failed"
        ]
    );
}

#[tokio::test]
async fn a_failure_score_replaces_failures_and_a_report_starts_anew() {
    let module = Echo.with_metric(Em::default()).with_failure_score(-1.0);
    assert_eq!(
        module
            .evaluate(vec![qa("Paris", "Paris"), qa("fail", "Rome")])
            .await,
        0.0
    );
    assert_eq!(module.metric(&row([]), &prediction([])).await, -1.0);
    let report = module.take_report();
    assert_eq!((report.calls.calls(), report.failure_score), (3, -1.0));
    assert_eq!(module.report().calls, Tally::default());
    assert_eq!(module.report().failure_score, -1.0);
    for score in [f32::NAN, f32::INFINITY] {
        let module = Echo.with_metric(Em::default()).with_failure_score(score);
        assert_eq!(module.metric(&row([]), &prediction([])).await, f32::MIN);
    }
}

#[tokio::test]
async fn no_rows_have_no_mean() {
    let module = Echo.with_metric(Em::default());
    assert_eq!(module.evaluate(Vec::new()).await, 0.0);
    assert_eq!(
        module.report().to_string(),
        "em: not enough rows (0/0 calls scored, 0 failed)"
    );
}

#[tokio::test]
async fn rows_of_single_calls_are_named_by_id_or_inputs() {
    let module = Echo.with_metric(Em::default()).map("id=meta.id").unwrap();
    let pred = prediction([("answer", "x".into())]);
    let meta = serde_json::json!({ "id": "q\u{1b}7" });
    module
        .metric(&row([("question", "Why?".into()), ("meta", meta)]), &pred)
        .await;
    module
        .metric(&row([("question", "Why\n?".into())]), &pred)
        .await;
    let module2 = Echo.with_metric(Em::default());
    module2
        .metric(
            &row([("question", "Why?".into()), ("id", 12.into())]),
            &pred,
        )
        .await;
    let rows: Vec<_> = module
        .report()
        .failures
        .iter()
        .map(|it| it.row.to_string())
        .collect();
    assert_eq!(rows, ["row `q\\u{1b}7`", "row with `question` \"Why\\n?\""]);
    assert_eq!(
        module2.report().failures[0].row,
        RowName::Id("12".to_owned())
    );
}

#[tokio::test]
async fn fields_of_other_names_are_mapped() {
    let module = Echo.with_metric(Em::default());
    let module = module
        .map("gold.answer=labels.0.text")
        .unwrap()
        .map("pred.answer=note")
        .unwrap();
    let labels = serde_json::json!([{ "text": "none" }]);
    let rows = vec![row([("question", "nothing".into()), ("labels", labels)])];
    assert_eq!(module.evaluate(rows).await, 1.0);
    let error = Echo
        .with_metric(Em::default())
        .map("answer=note")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid mapping `answer=note`: expected `gold.FIELD`, `pred.FIELD`, `id` or `repeat` before `=`, found `answer`"
    );
}

#[tokio::test]
async fn a_mapped_field_without_a_value_is_missing() {
    let module = Echo
        .with_metric(Em::default())
        .map("gold.answer=labels.5")
        .unwrap();
    let labels = serde_json::json!(["Paris"]);
    let gold = row([
        ("question", "Paris".into()),
        ("answer", "Paris".into()),
        ("labels", labels),
    ]);
    assert_eq!(module.evaluate(vec![gold]).await, 0.0);
    assert_eq!(
        module.report().failures[0].to_string(),
        "row 0: metric `em`: no field `gold.answer`; found `question`, `labels`"
    );
}

#[tokio::test]
async fn a_field_that_no_prediction_has_is_an_error_of_the_check() {
    let module = Echo.with_metric(Em::default());
    assert_eq!(
        module
            .evaluate(vec![qa("nothing", "Paris"), qa("nothing", "Rome")])
            .await,
        0.0
    );
    let report = module.report();
    assert_eq!(
        report.to_string(),
        "em: 0.0000 (mean of 2/2 calls, 0 failed, 2 without `answer`)"
    );
    assert_eq!(
        report.check().unwrap_err().to_string(),
        "no prediction has the field `answer`, which `em` reads; rename the output, or map the field: \
         `.map(\"pred.answer=NAME\")`"
    );
    assert_eq!(module.evaluate(vec![qa("Paris", "Paris")]).await, 1.0);
    module.report().check().unwrap();
}

#[tokio::test]
async fn lower_is_better_is_reflected_and_its_failures_are_the_worst() {
    #[metric(lower_is_better, range = 0.0..=10.0)]
    fn edits(#[gold] answer: &str, #[pred("answer")] guess: &str) -> f64 {
        answer.len().abs_diff(guess.len()) as f64
    }
    let module = Echo.with_metric(Edits);
    assert_eq!(
        module.evaluate(vec![qa("abc", "a"), qa("a", "a")]).await,
        9.0
    );
    assert_eq!(module.evaluate(vec![qa("fail", "a")]).await, 0.0);

    #[metric(lower_is_better)]
    fn length(#[pred] answer: &str) -> f64 {
        answer.len() as f64
    }
    let module = Echo.with_metric(Length);
    assert_eq!(
        module.evaluate(vec![qa("abc", "a"), qa("a", "a")]).await,
        -2.0
    );
    assert_eq!(
        module
            .metric(&row([]), &prediction([("answer", 1.into())]))
            .await,
        f32::MIN
    );
}

#[tokio::test]
async fn abstentions_do_not_count_and_panics_of_the_metric_are_failures() {
    #[metric]
    fn picky(#[pred] answer: &str) -> Option<f64> {
        assert!(answer != "bad", "found bad");
        (answer != "skip").then_some(0.5)
    }
    let module = Echo.with_metric(Picky);
    assert_eq!(
        module
            .evaluate(vec![qa("a", ""), qa("skip", ""), qa("bad", "")])
            .await,
        0.25
    );
    let report = module.report();
    assert_eq!(report.failures.len(), 1);
    assert_eq!(
        report.failures[0].to_string(),
        "row 2: metric `picky` panicked: found bad"
    );
    assert_eq!(
        report.to_string(),
        "picky: 0.2500 (mean of 1/3 calls, 1 failed counted as 0, 1 abstained, gated or skipped; \
         0.5000 over the 1 scored)"
    );
    assert_eq!(module.evaluate(vec![qa("skip", "")]).await, 0.0);
    assert_eq!(module.report().evaluations[1].mean(0.0), None);
}

#[tokio::test]
async fn forward_returns_errors_unless_it_continues() {
    let module = Echo.with_metric(Em::default());
    let error = module.forward(qa("fail", "x")).await.unwrap_err();
    assert_eq!(format!("{error:#}"), "no reply: status 503");
    let error = module.forward(qa("panic", "x")).await.unwrap_err();
    assert_eq!(error.to_string(), "the program panicked: unwrap of a reply");

    let module = module.continue_after_program_errors();
    let pred = module.forward(qa("fail", "x")).await.unwrap();
    assert_eq!(module.metric(&qa("fail", "x"), &pred).await, 0.0);
    let report = module.report();
    assert_eq!((report.calls.program_failed, report.calls.scored), (1, 0));
    assert_eq!(
        report.failures[0].to_string(),
        "row with `question` \"fail\": no reply: status 503"
    );
}

#[tokio::test]
async fn composites_and_boxed_metrics_are_metrics() {
    let boxed: Box<dyn Metric> = Box::new(Em::default());
    assert_eq!(
        Echo.with_metric(boxed)
            .evaluate(vec![qa("Paris", "Paris")])
            .await,
        1.0
    );
    let closure = metric_fn("same", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    });
    assert_eq!(
        Echo.with_metric(closure)
            .evaluate(vec![qa("Paris", "Rome")])
            .await,
        0.0
    );
}

#[tokio::test]
async fn the_calls_of_dspy_rs_can_run_in_a_task() {
    let run = tokio::spawn(async {
        let module = Echo.with_metric(F1::default());
        let gold = qa("Paris", "Paris");
        let pred = module.forward(gold.clone()).await.unwrap();
        let feedback = dspy_rs::FeedbackEvaluator::feedback_metric(&module, &gold, &pred).await;
        let objectives =
            dspy_rs::FeedbackEvaluator::multi_objective_metric(&module, &gold, &pred).await;
        let score = module.metric(&gold, &pred).await;
        (
            module.evaluate(vec![gold]).await,
            score,
            feedback.score,
            objectives[0].score,
        )
    });
    assert_eq!(run.await.unwrap(), (1.0, 1.0, 1.0, 1.0));
}

#[tokio::test]
async fn a_report_describes_a_hundred_failures_and_counts_all() {
    let module = Echo.with_metric(Em::default());
    module
        .evaluate((0..150).map(|_| qa("fail", "x")).collect())
        .await;
    let report = module.report();
    assert_eq!(
        (report.failures.len(), report.calls.program_failed),
        (100, 150)
    );
    assert_eq!(report.failures[99].row, RowName::Position(99));
}
