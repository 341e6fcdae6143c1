//! Errors before a query runs.

use datafusion::prelude::SessionContext;
use dsrs_metrics::metrics::{AnswerExactMatch, F1, ReciprocalRank};
use dsrs_metrics::prelude::*;
use dsrs_metrics_datafusion::RegisterMetric as _;

use crate::error;

#[metric]
fn within(
    #[gold] limit: u32,
    #[gold] strict: bool,
    #[pred] length: f64,
    #[pred] unit: Option<&str>,
) -> bool {
    !strict && unit.is_none() && length <= f64::from(limit)
}

fn context() -> SessionContext {
    let ctx = SessionContext::new();
    ctx.register_metric(AnswerExactMatch::default()).unwrap();
    ctx.register_metric(F1::default()).unwrap();
    ctx.register_metric(ReciprocalRank::default()).unwrap();
    ctx.register_metric(Within).unwrap();
    ctx
}

#[tokio::test]
async fn a_wrong_number_of_arguments_names_function_and_arguments() {
    let ctx = context();
    for (call, message) in [
        (
            "f1('x')",
            "function `f1`: expected 2 arguments, found 1 (Utf8); write f1(answer, prediction_answer)",
        ),
        (
            "f1_details()",
            "function `f1_details`: expected 2 arguments, found none; write f1_details(answer, prediction_answer)",
        ),
        (
            "within(1)",
            "function `within`: expected 3 to 4 arguments, found 1 (Int64); write within(limit, strict, length[, unit])",
        ),
        (
            "metric_mean(true, 1)",
            "function `metric_mean`: expected 1 argument, found 2; write metric_mean(f1(answer, prediction_answer))",
        ),
    ] {
        let found = error(&ctx, &format!("SELECT {call}")).await;
        assert!(found.contains(message), "{found}");
    }
}

#[tokio::test]
async fn a_wrong_type_names_function_argument_and_types() {
    let ctx = context();
    for (call, message) in [
        (
            "f1('x', 7)",
            "function `f1`, argument 2 `prediction_answer`: expected a string, found Int64; write CAST(.. AS VARCHAR)",
        ),
        (
            "answer_exact_match([1], 'x')",
            "argument 1 `answer`: expected a string or list of strings, found List(Int64); write make_array(..)",
        ),
        (
            "within('1', true, 1.0)",
            "function `within`, argument 1 `limit`: expected a whole number, 0 or more, found Utf8; write CAST(.. AS BIGINT)",
        ),
        (
            "within(1, 1, 1.0)",
            "argument 2 `strict`: expected true or false, found Int64; write CAST(.. AS BOOLEAN)",
        ),
        (
            "within(1, true, '1')",
            "argument 3 `length`: expected a number, found Utf8; write CAST(.. AS DOUBLE)",
        ),
        (
            "mrr('a', ['a'])",
            "argument 1 `relevant`: expected a list of ids, or a map from ids to grades, found Utf8; write make_array(..)",
        ),
        (
            "f1('x', now())",
            "argument 2 `prediction_answer`: expected a string, found Timestamp",
        ),
        (
            "metric_mean('x')",
            "function `metric_mean`, argument 1: expected scores (Boolean or Float64) or the struct of a metric's details, found Utf8",
        ),
    ] {
        let found = error(&ctx, &format!("SELECT {call}")).await;
        assert!(found.contains(message), "{found}");
    }
    let distinct = error(&ctx, "SELECT metric_mean(DISTINCT f1('x', 'y'))").await;
    assert!(
        distinct.contains("expected all rows, found DISTINCT; remove it"),
        "{distinct}"
    );
}

#[tokio::test]
async fn an_unknown_metric_has_the_nearest_name() {
    let found = error(&context(), "SELECT answer_exact_macth('x', 'y')").await;
    assert!(
        found.contains("Did you mean 'answer_exact_match'?"),
        "{found}"
    );
}

#[test]
fn a_name_is_registered_once_and_never_replaces_a_function() {
    let ctx = context();
    for metric in [
        ctx.register_metric(F1::default()),
        ctx.register_metric_as("upper", F1::default()),
        ctx.register_metric_as("avg", F1::default()),
    ] {
        let found = metric.unwrap_err().strip_backtrace();
        assert!(
            found.contains(
                "is already registered; write register_metric_as(\"another_name\", metric)"
            ),
            "{found}"
        );
    }
}

#[test]
fn metrics_without_fields_are_not_registered() {
    let ctx = context();
    let closure = metric_fn("closure", |_, _| true);
    let found = ctx.register_metric(closure).unwrap_err().strip_backtrace();
    assert!(
        found.contains("found a metric that reads whole rows; write MetricFunctions::new"),
        "{found}"
    );
}
