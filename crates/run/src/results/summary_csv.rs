//! The summaries of an evaluation as CSV, for spreadsheets and dashboards.

use std::io;

use crate::evaluate::EvaluationResult;
use crate::messages::formula;

const HEADER: &str = "metric,kind,score,stderr,ci95_low,ci95_high,mean,mean_scored,scored,failed,gated,skipped,abstained,not_needed,not_sampled,cost_msats";

/// Returns the statistics of each metric as a CSV table.
///
/// The table has a row for each metric and each named score. The columns are `metric`, `kind`, `score`, `stderr`,
/// `ci95_low`, `ci95_high`, `mean`, `mean_scored`, `scored`, `failed`, `gated`, `skipped`, `abstained`, `not_needed`,
/// `not_sampled` and `cost_msats`.
///
/// Scores are in their metric's range and are not rounded. Unknown values are empty cells.
///
/// A name that a spreadsheet would evaluate as a formula gets a leading apostrophe.
///
/// # Errors
/// Returns an error if writing fails. Writing to memory should never fail.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, results, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let same = metric_fn("same", |gold, pred| gold.get("x") == pred.get("x"));
/// let row = Pair::new("q1", example! { "x" => 4 }, prediction! { "x" => 4 });
/// let result = Evaluate::builder().metric(same).build()?.score([row]).await?;
/// let table = results::summary_csv(&result)?;
/// assert_eq!(table.lines().nth(1), Some("same,bool,1.0,,0.20654931437723745,1.0,1.0,1.0,1,0,0,0,0,0,0,0"));
/// # Ok(())
/// # }
/// ```
pub fn summary_csv<G, P>(result: &EvaluationResult<G, P>) -> io::Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(HEADER.split(','))?;
    for it in &result.metrics {
        let ci95 = it.uncertainty.ci95();
        table.serialize((
            formula::escaped(&it.name),
            it.kind,
            it.score,
            it.uncertainty.stderr(),
            ci95.map(|interval| interval.low),
            ci95.map(|interval| interval.high),
            it.mean,
            it.mean_scored,
            it.scored,
            it.failed,
            it.gated,
            it.skipped,
            it.abstained,
            it.not_needed,
            it.not_sampled,
            it.cost_msats,
        ))?;
    }
    let bytes = table
        .into_inner()
        .map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
