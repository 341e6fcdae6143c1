//! The aggregates: figures of groups, which do not depend on partitions.

use std::sync::Arc;

use datafusion::arrow::array::{Float64Array, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics::metrics::{AnswerExactMatch, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics::stats::{Interval, Moments, Proportion};
use dsrs_metrics_datafusion::RegisterMetric as _;

use crate::rows;

/// Fails for negative numbers and abstains from 0; the range is [-1, 1].
#[metric(range = -1.0..=1.0)]
fn reported(#[pred] value: f64) -> Result<Option<f64>, String> {
    match value {
        value if value < -5.0 => Err("too small".to_owned()),
        0.0 => Ok(None),
        value => Ok(Some(value)),
    }
}

fn context(partitions: usize) -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size(64);
    let ctx = SessionContext::new_with_config(config);
    ctx.register_metric(AnswerExactMatch::default()).unwrap();
    ctx.register_metric(F1::default()).unwrap();
    ctx.register_metric(Reported).unwrap();
    ctx
}

fn values() -> Vec<f64> {
    (0..1_000).map(|row| (f64::from(row) * 0.7).sin()).collect()
}

/// The values in this many partitions, with a group of each.
fn table(partitions: usize) -> Arc<MemTable> {
    let fields = vec![
        Field::new("g", DataType::Int64, false),
        Field::new("v", DataType::Float64, true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let mut parts = vec![Vec::new(); partitions];
    for (number, chunk) in values().chunks(90).enumerate() {
        let groups = Int64Array::from_iter_values((0..chunk.len() as i64).map(|row| row % 3));
        let numbers = Float64Array::from_iter_values(chunk.iter().copied());
        let batch = RecordBatch::try_new(
            Arc::clone(&schema),
            vec![Arc::new(groups), Arc::new(numbers)],
        );
        parts[number % partitions].push(batch.unwrap());
    }
    Arc::new(MemTable::try_new(schema, parts).unwrap())
}

#[tokio::test]
async fn partitions_and_groups_do_not_change_a_bit() {
    let expected: Moments = values().into_iter().collect();
    let ci = expected.uncertainty().ci95().unwrap();
    let expected = format!(
        "{:?} | {:?} | {:?}",
        expected.mean().unwrap(),
        ci.low,
        ci.high
    );
    let mut of_groups = Vec::new();
    for partitions in [1, 2, 5] {
        let ctx = context(partitions);
        ctx.register_table("t", table(partitions)).unwrap();
        let sql = "SELECT metric_mean(v), metric_ci95(v)['low'], metric_ci95(v)['high'] FROM t";
        assert_eq!(
            rows(&ctx, sql).await.unwrap(),
            [expected.as_str()],
            "{partitions}"
        );
        let sql =
            "SELECT g, metric_mean(reported(v)), metric_summary(v) FROM t GROUP BY g ORDER BY g";
        of_groups.push(rows(&ctx, sql).await.unwrap());
    }
    assert_eq!(of_groups[0].len(), 3);
    assert_eq!(
        (&of_groups[0], &of_groups[0]),
        (&of_groups[1], &of_groups[2])
    );
}

#[tokio::test]
async fn a_failure_counts_as_zero_and_an_abstention_only_with_details_is_left_out() {
    let ctx = context(2);
    let from = "FROM (VALUES (1.0), (0.5), (0.0), (-9.0)) AS t(v)";
    let mean = format!("SELECT metric_mean(reported_details(v)), metric_mean(reported(v)) {from}");
    assert_eq!(rows(&ctx, &mean).await.unwrap(), ["0.5 | 0.375"]);
    let scored =
        format!("SELECT metric_mean(reported(v)) FILTER (WHERE reported(v) IS NOT NULL) {from}");
    assert_eq!(rows(&ctx, &scored).await.unwrap(), ["0.75"]);
    let counts = format!(
        "SELECT s['scored'], s['failed'], s['abstained'], s['skipped'], s['mean_scored'] FROM \
         (SELECT metric_summary(reported_details(v)) AS s {from})"
    );
    assert_eq!(rows(&ctx, &counts).await.unwrap(), ["2 | 1 | 1 | 0 | 0.75"]);
    let failed =
        format!("SELECT metric_mean(reported(v)), metric_ci95(reported(v)) {from} WHERE v < 0.0");
    assert_eq!(rows(&ctx, &failed).await.unwrap(), ["NULL | NULL"]);
}

#[tokio::test]
async fn intervals_are_within_the_range_of_the_metric_also_after_a_subquery() {
    let ctx = context(3);
    let from = "FROM (VALUES ('x', 'x'), ('y', 'y'), ('x y', 'y z')) AS t(x, y)";
    let direct = format!("SELECT metric_ci95(f1(x, y))['high'] {from}");
    let nested = format!(
        "SELECT metric_ci95(s)['high'] FROM (SELECT f1(x, y) AS s {from} ORDER BY s LIMIT 9)"
    );
    // Of plain numbers the range is not known.
    let plain = "SELECT metric_ci95(s)['high'] FROM (VALUES (1.0), (1.0), (0.5)) AS t(s)";
    let scores: Moments = [1.0, 1.0, 0.5].into_iter().collect();
    let high = scores.uncertainty_within(0.0, 1.0).ci95().unwrap().high;
    assert!(high < 1.0, "{high}");
    assert_eq!(rows(&ctx, &direct).await.unwrap(), [format!("{high:?}")]);
    assert_eq!(rows(&ctx, &nested).await.unwrap(), [format!("{high:?}")]);
    let plain: f64 = rows(&ctx, plain).await.unwrap()[0].parse().unwrap();
    assert!(plain > 1.0, "{plain}");
}

#[tokio::test]
async fn a_share_has_the_interval_of_wilson_and_too_few_rows_have_none() {
    let ctx = context(2);
    let sql = "SELECT metric_mean(answer_exact_match(x, y)), metric_ci95(answer_exact_match(x, y)) \
               FROM (VALUES ('a', 'a'), ('b', 'b'), ('c', 'd'), ('e', 'e')) AS t(x, y)";
    let found = rows(&ctx, sql).await.unwrap();
    let Interval { low, high } = Proportion {
        successes: 3,
        trials: 4,
    }
    .wilson()
    .unwrap();
    assert_eq!(found, [format!("0.75 | {{low: {low:?}, high: {high:?}}}")]);
    let one = "SELECT metric_mean(f1('x b', 'b')), metric_ci95(f1('x b', 'b')), metric_ci95(f1('x', 'x')) FROM (VALUES (1))";
    assert_eq!(
        rows(&ctx, one).await.unwrap(),
        ["0.6666666666666666 | NULL | NULL"]
    );
    let none = "SELECT metric_mean(v), metric_ci95(v), metric_summary(v)['scored'] FROM (SELECT 1.0 AS v) WHERE v > 2.0";
    assert_eq!(rows(&ctx, none).await.unwrap(), ["NULL | NULL | 0"]);
}

#[tokio::test]
async fn many_groups_and_windows_are_aggregated() {
    let config = SessionConfig::new()
        .with_target_partitions(2)
        .with_batch_size(32)
        .set_u64(
            "datafusion.execution.skip_partial_aggregation_probe_rows_threshold",
            64,
        );
    let ctx = SessionContext::new_with_config(config);
    ctx.register_metric(F1::default()).unwrap();
    let sql = "SELECT count(*), min(m), max(m) FROM (SELECT k, metric_mean(v) AS m FROM \
               (SELECT value % 5000 AS k, CAST(value AS DOUBLE) / 20000.0 AS v FROM generate_series(0, 19999)) GROUP BY k)";
    assert_eq!(rows(&ctx, sql).await.unwrap(), ["5000 | 0.375 | 0.62495"]);
    let filtered = "SELECT k, metric_mean(v) FILTER (WHERE v > 0.5) FROM \
                    (VALUES (1, 1.0), (1, 0.75), (1, 0.0), (2, 0.0)) AS t(k, v) GROUP BY k ORDER BY k";
    assert_eq!(
        rows(&ctx, filtered).await.unwrap(),
        ["1 | 0.875", "2 | NULL"]
    );
    let window =
        "SELECT metric_mean(v) OVER (ORDER BY v) FROM (VALUES (0.0), (1.0), (0.5)) AS t(v)";
    assert_eq!(rows(&ctx, window).await.unwrap(), ["0.0", "0.25", "0.5"]);
}
