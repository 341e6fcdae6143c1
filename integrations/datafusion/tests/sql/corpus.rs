//! Metrics that score all rows together: aggregates whose results are those of the harness.

use datafusion::prelude::{SessionConfig, SessionContext};
use dsrs_metrics::metrics::Registry;
use dsrs_metrics::prelude::*;
use dsrs_metrics::stats::NotDefined;
use dsrs_metrics::{
    Evaluate,
    contract::{CorpusState, Params},
    rows::Pair,
};
use dsrs_metrics_datafusion::RegisterMetric as _;

use crate::{error, rows};

const METRICS: [&str; 4] = ["accuracy", "macro_f1", "cohen_kappa", "krippendorff_alpha"];

/// Counts the rows that are yes; fails, abstains or determines no score, as the row requests.
#[metric(corpus)]
fn share_of_yes(#[gold] answer: &str, #[pred] certainty: f64) -> Result<Option<Share>, String> {
    match answer {
        "fails" => Err(format!("not certain enough: {certainty}")),
        "abstains" => Ok(None),
        answer => Ok(Some(Share {
            yes: u64::from(answer == "yes"),
            rows: u64::from(answer != "none"),
        })),
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Share {
    yes: u64,
    rows: u64,
}

impl CorpusState for Share {
    fn merge(&mut self, other: &Self) {
        self.yes += other.yes;
        self.rows += other.rows;
    }

    fn overall_score(&self) -> Result<f64, NotDefined> {
        if self.rows == 0 {
            Err("no row has a label".into())
        } else {
            Ok(self.yes as f64 / self.rows as f64)
        }
    }
}

/// The labels of a row, in a table and in the harness.
fn labels(row: u32) -> (&'static str, &'static str) {
    let label = |number: u32| ["yes", "no", "unsure"][number as usize % 3];
    (label(row), label(row * row / 5))
}

#[tokio::test]
async fn scores_of_all_rows_are_those_of_the_harness_for_any_partitions() {
    let mut expected = Vec::new();
    for name in METRICS {
        let metric = Registry::builtin()
            .create(name, &Params::default())
            .unwrap();
        let pair = |row: u32| {
            let (gold, pred) = labels(row);
            Pair::new(
                row.to_string(),
                example! { "answer" => gold },
                prediction! { "answer" => pred },
            )
        };
        let result = Evaluate::builder()
            .metric(metric)
            .score((0..500).map(pair))
            .await
            .unwrap();
        expected.push(format!("{:?}", result.score.unwrap()));
    }
    let values: Vec<_> = (0..500)
        .map(labels)
        .map(|(gold, pred)| format!("('{gold}', '{pred}')"))
        .collect();
    for partitions in [1, 3] {
        let config = SessionConfig::new()
            .with_target_partitions(partitions)
            .with_batch_size(50);
        let ctx = SessionContext::new_with_config(config);
        ctx.register_all_builtin().unwrap();
        let table = format!(
            "CREATE TABLE t AS SELECT * FROM (VALUES {}) AS t(a, b)",
            values.join(", ")
        );
        rows(&ctx, &table).await.unwrap();
        let calls: Vec<_> = METRICS.iter().map(|name| format!("{name}(a, b)")).collect();
        let sql = format!("SELECT {} FROM t", calls.join(", "));
        assert_eq!(
            rows(&ctx, &sql).await.unwrap(),
            [expected.join(" | ")],
            "{partitions}"
        );
    }
}

#[tokio::test]
async fn a_score_that_is_not_defined_is_null_and_groups_are_separate() {
    let ctx = SessionContext::new();
    ctx.register_all_builtin().unwrap();
    let sql = "SELECT k, accuracy(a, b), cohen_kappa(a, b) FROM (VALUES (1, 'x', 'x'), (1, 'x', 'x'), (2, 'x', 'y'), \
               (2, 'y', 'y'), (3, NULL, 'x')) AS t(k, a, b) GROUP BY k ORDER BY k";
    let found = rows(&ctx, sql).await.unwrap();
    assert_eq!(
        found,
        ["1 | 1.0 | NULL", "2 | 0.5 | 0.0", "3 | NULL | NULL"]
    );
    let found = error(&ctx, "SELECT accuracy('x')").await;
    assert!(
        found.contains("function `accuracy`: expected 2 arguments, found 1 (Utf8)"),
        "{found}"
    );
    let found = error(&ctx, "SELECT accuracy(['x'], 'y')").await;
    assert!(
        found.contains("argument 1 `answer`: expected a string, a number, true or false"),
        "{found}"
    );
}

#[tokio::test]
async fn details_have_the_counts_of_rows_with_and_without_a_score() {
    let table = "(VALUES (1, 'yes', 0.5), (1, 'no', 0.5), (1, 'yes', 0.5), (1, 'fails', 0.25), (1, 'fails', 0.125), \
                 (1, 'abstains', 0.5), (1, 'yes', 'NaN'::DOUBLE), (1, 'no', 'NaN'::DOUBLE), (2, 'none', 0.5), \
                 (3, 'yes', 'NaN'::DOUBLE), (4, NULL, 0.5)) AS t(k, a, c)";
    let names = [
        "value",
        "scored",
        "failed",
        "abstained",
        "not_defined",
        "error",
    ];
    let columns = names.map(|name| format!("d['{name}']")).join(", ");
    let sql = format!(
        "SELECT k, s, {columns} FROM (SELECT k, share_of_yes(a, c) AS s, share_of_yes_details(a, c) AS d FROM {table} \
         GROUP BY k) ORDER BY k"
    );
    let not_finite =
        "metric `share_of_yes`: field `pred.certainty`: expected a finite number, found NaN";
    let expected = [
        &format!("1 | 0.6666666666666666 | 0.6666666666666666 | 3 | 4 | 1 | NULL | {not_finite}"),
        "2 | NULL | NULL | 1 | 0 | 0 | no row has a label | NULL",
        &format!("3 | NULL | NULL | 0 | 1 | 0 | NULL | {not_finite}"),
        "4 | NULL | NULL | 0 | 1 | 0 | NULL | metric `share_of_yes`: field `gold.answer`: expected a string, found null",
    ];
    for partitions in [1, 4] {
        let config = SessionConfig::new()
            .with_target_partitions(partitions)
            .with_batch_size(2);
        let ctx = SessionContext::new_with_config(config);
        ctx.register_metric(ShareOfYes).unwrap();
        assert_eq!(rows(&ctx, &sql).await.unwrap(), expected, "{partitions}");
    }
    let ctx = SessionContext::new();
    ctx.register_metric(ShareOfYes).unwrap();
    let none = "SELECT d['value'], d['scored'], d['failed'] FROM (SELECT share_of_yes_details(a, 1.0) AS d FROM \
                (VALUES ('x')) AS t(a) WHERE a = 'y')";
    assert_eq!(rows(&ctx, none).await.unwrap(), ["NULL | 0 | 0"]);
    let again = ctx
        .register_metric_as("share_of_yes_details", ShareOfYes)
        .unwrap_err();
    let again = again.strip_backtrace();
    assert!(
        again.contains("function `share_of_yes_details` is already registered"),
        "{again}"
    );
}
