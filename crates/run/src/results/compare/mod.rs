//! The comparison of two runs over the same rows.
//!
//! The module has these files:
//!
//! - `builder.rs` has the settings and the order of the checks.
//! - `pairs.rs` matches rows by id, and reads their scores and groups.
//! - `identity.rs` compares what the runs measured and which models their judges used.
//! - `difference.rs` computes the figures.
//! - `corpus.rs` computes the figures of corpus scores.
//! - `sampled.rs` computes the figures of a metric that judged only a sample.
//! - `closer.rs` computes which run is closer to the labels.
//! - `text.rs` shows the figures.

mod builder;
mod closer;
mod corpus;
mod difference;
mod identity;
mod metric;
mod pairs;
mod sampled;
mod text;

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::error::ResultsError;
use super::file::Results;
use crate::evaluate::EvaluationResult;

pub use builder::ComparisonBuilder;
pub use difference::{DifferenceTest, PairedDifference};
pub(crate) use identity::other_code;
pub use identity::{IdentityComparison, MetricDifference};
pub use metric::{GroupComparison, MetricComparison, Verdict};
pub use pairs::{RunTotals, Sides};
pub use sampled::SampledRows;
#[doc(hidden)]
pub use text::aligned;

/// A comparison of two runs, metric by metric.
///
/// Run B is compared with run A.
///
/// `Display` shows a table and one sentence per metric. The JSON output contains every value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    pub(super) format: u32,
    /// The first run, usually the older one.
    pub a: RunTotals,
    /// The second run, usually the newer one.
    pub b: RunTotals,
    /// The number of rows that both runs have.
    pub paired: u64,
    /// `true` if rows have no ids and are paired by position.
    ///
    /// The two rows of a pair have the same gold row.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub paired_by_position: bool,
    /// The ids of the rows that only the first run has.
    ///
    /// These rows are not compared.
    pub only_in_a: Vec<String>,
    /// The ids of the rows that only the second run has.
    ///
    /// These rows are not compared.
    pub only_in_b: Vec<String>,
    /// The field that rows are grouped by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The number of rows whose group field is missing or `null`.
    ///
    /// Each of these rows forms its own group. Such groups are not compared separately.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_group: u64,
    /// The seed for the permutation tests and the bootstrap.
    pub seed: u64,
    /// Shows whether the runs measured the same metrics and data.
    ///
    /// Metrics that differ between the runs are listed here. They are not compared unless you allow it.
    pub identity: IdentityComparison,
    /// The compared metrics.
    ///
    /// The metrics are in the order you selected them, or in the first run's order if you didn't select any.
    #[serde(serialize_with = "metric::by_name")]
    pub metrics: Vec<MetricComparison>,
    /// The reason each of the other metrics cannot be compared, in a partial comparison.
    #[serde(skip)]
    pub(super) reasons: HashMap<String, String>,
}

fn is_zero(rows: &u64) -> bool {
    *rows == 0
}

impl Comparison {
    /// Compares all metrics of two runs.
    ///
    /// The runs must have the same rows.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if the runs have different rows or metrics.
    pub fn of(a: &Results, b: &Results) -> Result<Self, ResultsError> {
        Self::builder().of(a, b)
    }

    /// Returns a builder for selecting metrics, groups or rows.
    pub fn builder() -> ComparisonBuilder {
        ComparisonBuilder::default()
    }

    /// Returns the comparison of the metric with this name.
    pub fn metric(&self, name: &str) -> Option<&MetricComparison> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// Returns the number of tested metrics. The p-values are adjusted for this number.
    pub(super) fn tests(&self) -> usize {
        self.metrics
            .iter()
            .filter(|metric| metric.p_adjusted.is_some())
            .count()
    }

    /// Returns the metrics that are worse in the second run than in the first.
    pub fn worse(&self) -> impl Iterator<Item = &MetricComparison> {
        self.metrics
            .iter()
            .filter(|metric| metric.verdict == Verdict::Worse)
    }
}

impl<G: Serialize, P: Serialize> EvaluationResult<G, P> {
    /// Compares a later run with this run, row by row.
    ///
    /// For settings, see [`Comparison::builder`].
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::results::Verdict;
    /// use dsrs_metrics::Evaluate;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let correct = metric_fn("correct", |gold, pred| gold.get("sum") == pred.get("sum"));
    /// let devset = (0..40).map(|row| example! { "a" => row, "sum" => row + 1 });
    /// let evaluate = Evaluate::builder().devset(devset).inputs(["a"]).metric(correct).build()?;
    /// let old = evaluate.run(|row: Example| async move {
    ///     prediction! { "sum" => row.get("a").unwrap().as_i64().unwrap() % 30 + 1 }
    /// });
    /// let new = evaluate.run(|row: Example| async move {
    ///     prediction! { "sum" => row.get("a").unwrap().as_i64().unwrap() + 1 }
    /// });
    ///
    /// let comparison = old.await?.compare(&new.await?)?;
    /// let correct = &comparison.metrics[0];
    /// assert_eq!((correct.overall.wins, correct.overall.losses), (10, 0));
    /// assert!(correct.overall.p_value.unwrap() < 0.002);
    /// assert_eq!(correct.verdict, Verdict::Better);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if the runs have different rows or metrics, or if a run kept no rows.
    pub fn compare<H: Serialize, Q: Serialize>(
        &self,
        later: &EvaluationResult<H, Q>,
    ) -> Result<Comparison, ResultsError> {
        let (a, b) = (Results::of(self)?, Results::of(later)?);
        Comparison::of(&a.with_name("A"), &b.with_name("B"))
    }

    /// Compares this run with an earlier run, which is read from a result file.
    ///
    /// Rows are matched by id. To give your rows ids, read the devset from a file with
    /// [`devset`](crate::EvaluateBuilder::devset) or set [`row_id`](crate::EvaluateBuilder::row_id).
    ///
    /// If the result file has no manifest, its failed rows count as the failure score of this run.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    /// use dsrs_metrics::results::Verdict;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = std::env::temp_dir().join(format!("dsrs-metrics-baseline-{}.jsonl", std::process::id()));
    /// let correct = metric_fn("correct", |gold, pred| gold.get("sum") == pred.get("sum"));
    /// let devset = (0..40).map(|row| example! { "a" => row, "sum" => row + 1 });
    /// let evaluate = Evaluate::builder().devset(devset).inputs(["a"]).metric(correct).build()?;
    /// let zero = |_: Example| async { prediction! { "sum" => 0 } };
    /// evaluate.to_builder().files(|files| files.jsonl(&file)).run(zero).await?;
    ///
    /// let result = evaluate.run(|row: Example| async move {
    ///     prediction! { "sum" => row.get("a").unwrap().as_i64().unwrap() + 1 }
    /// });
    /// let comparison = result.await?.compare_with(&file)?;
    /// assert_eq!(comparison.metrics[0].verdict, Verdict::Better);
    /// # std::fs::remove_file(file)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if the file cannot be read, if the runs have different rows or metrics, or if this
    /// run kept no rows.
    pub fn compare_with(&self, earlier: impl AsRef<Path>) -> Result<Comparison, ResultsError> {
        let builder = Comparison::builder();
        let mut earlier = builder.read(earlier)?;
        if earlier.manifest().is_none() {
            earlier = earlier.with_failure_score(self.failure_score());
        }
        builder.of_scores(&earlier, &builder.scores(&Results::of(self)?))
    }
}
