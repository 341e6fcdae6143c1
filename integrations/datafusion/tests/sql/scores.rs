//! Scores and details of rows: types of arguments, null semantics, failures.

use datafusion::prelude::SessionContext;
use dsrs_metrics::metrics::{AnswerExactMatch, F1, NumericMatch};
use dsrs_metrics::prelude::*;
use dsrs_metrics_datafusion::{MetricFunctions, RegisterMetric as _};

use crate::{error, rows};

fn context() -> SessionContext {
    let ctx = SessionContext::new();
    ctx.register_metric(AnswerExactMatch::default()).unwrap();
    ctx.register_metric(F1::default()).unwrap();
    ctx
}

#[tokio::test]
async fn a_bool_metric_returns_booleans_and_a_number_float64() {
    let sql = "SELECT answer_exact_match(a, b), f1(a, b), arrow_typeof(answer_exact_match(a, b)), arrow_typeof(f1(a, b)) \
               FROM (VALUES ('the cat', 'Cat'), ('a cat sat', 'cat')) AS t(a, b)";
    let found = rows(&context(), sql).await.unwrap();
    assert_eq!(found, ["true | 1.0 | Boolean | Float64", "false | 0.6666666666666666 | Boolean | Float64"]);
}
