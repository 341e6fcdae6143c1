//! Metrics that score all rows together: aggregates whose results are those of the harness.

use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics::metrics::Registry;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, Pair, Params};
use dsrs_metrics_datafusion::RegisterMetric as _;

use crate::{error, rows};

const METRICS: [&str; 4] = ["accuracy", "macro_f1", "cohen_kappa", "krippendorff_alpha"];

/// The labels of a row, in a table and in the harness.
fn labels(row: u32) -> (&'static str, &'static str) {
    let label = |number: u32| ["yes", "no", "unsure"][number as usize % 3];
    (label(row), label(row * row / 5))
}

#[tokio::test]
async fn scores_of_all_rows_are_those_of_the_harness_for_any_partitions() {
    let mut expected = Vec::new();
    for name in METRICS {
        let metric = Registry::builtin().create(name, &Params::default()).unwrap();
        let pair = |row: u32| {
            let (gold, pred) = labels(row);
            Pair::new(
                row.to_string(),
                example! { "answer" => gold },
                prediction! { "answer" => pred },
            )
        };
        let result = Evaluate::builder().metric(metric).score((0..500).map(pair)).await.unwrap();
        expected.push(format!("{:?}", result.score.unwrap()));
    }
    let values: Vec<_> =
        (0..500).map(labels).map(|(gold, pred)| format!("('{gold}', '{pred}')")).collect();
    for partitions in [1, 3] {
        let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(50);
        let ctx = SessionContext::new_with_config(config);
        ctx.register_all_builtin().unwrap();
        let table =
            format!("CREATE TABLE t AS SELECT * FROM (VALUES {}) AS t(a, b)", values.join(", "));
        rows(&ctx, &table).await.unwrap();
        let calls: Vec<_> = METRICS.iter().map(|name| format!("{name}(a, b)")).collect();
        let sql = format!("SELECT {} FROM t", calls.join(", "));
        assert_eq!(rows(&ctx, &sql).await.unwrap(), [expected.join(" | ")], "{partitions}");
    }
}

#[tokio::test]
async fn a_score_that_is_not_defined_is_null_and_groups_are_separate() {
    let ctx = SessionContext::new();
    ctx.register_all_builtin().unwrap();
    let sql = "SELECT k, accuracy(a, b), cohen_kappa(a, b) FROM (VALUES (1, 'x', 'x'), (1, 'x', 'x'), (2, 'x', 'y'), \
               (2, 'y', 'y'), (3, NULL, 'x')) AS t(k, a, b) GROUP BY k ORDER BY k";
    let found = rows(&ctx, sql).await.unwrap();
    assert_eq!(found, ["1 | 1.0 | NULL", "2 | 0.5 | 0.0", "3 | NULL | NULL"]);
    let found = error(&ctx, "SELECT accuracy('x')").await;
    assert!(found.contains("function `accuracy`: expected 2 arguments, found 1 (Utf8)"), "{found}");
    let found = error(&ctx, "SELECT accuracy(['x'], 'y')").await;
    assert!(
        found.contains("argument 1 `answer`: expected a string, a number, true or false"),
        "{found}"
    );
}
