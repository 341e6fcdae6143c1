//! All built-in metrics at once.

use datafusion::execution::FunctionRegistry as _;
use datafusion::prelude::SessionContext;
use dsrs_metrics::metrics::Registry;
use dsrs_metrics_datafusion::RegisterMetric as _;

use crate::rows;

#[tokio::test]
async fn built_in_metrics_are_registered_or_have_a_reason() {
    let ctx = SessionContext::new();
    let others = ctx.register_all_builtin().unwrap();
    let (mut registered, mut reasons) = (0, 0);
    for name in Registry::builtin().names() {
        match others.iter().find(|other| other.metric == name) {
            Some(other) => {
                assert!(other.reason.contains("requires the parameter"), "{other:?}");
                reasons += 1;
            }
            None => {
                let name = match name {
                    "map" | "length" => format!("metric_{name}"),
                    name => name.to_owned(),
                };
                let of_rows = ctx.udf(&name).is_ok() && ctx.udf(&format!("{name}_details")).is_ok();
                assert!(of_rows != ctx.udaf(&name).is_ok(), "{name}");
                registered += 1;
            }
        }
    }
    // `pattern`, `regex`, `within_steps`, `within_tool_calls`, `within_tokens`.
    assert!(registered >= 100 && reasons == 5, "{registered} {reasons}");
}

#[tokio::test]
async fn names_that_the_engine_uses_keep_their_meaning() {
    let ctx = SessionContext::new();
    ctx.register_all_builtin().unwrap();
    let sql = "SELECT length('abc'), metric_map(['a'], ['b', 'a'])";
    assert_eq!(rows(&ctx, sql).await.unwrap(), ["3 | 0.5"]);
}
