//! Errors of a comparison. Each message is one line.

use super::identity::IdentityComparison;
use crate::core::rows::pair::Origin;
use crate::messages::escape;
use crate::messages::suggest::nearest;
use crate::results::error::ResultsError;

/// Why two runs cannot be compared.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A run cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A run has rows that the other one does not have.
    #[error(
        "expected the same rows in both runs, found {} and {}; to compare the {paired} common rows, write --only-paired (in code, `only_paired(true)`)",
        only(only_in_a, a),
        only(only_in_b, b)
    )]
    DifferentRows {
        /// The name of the first run.
        a: String,
        /// The name of the second run.
        b: String,
        /// The number of common rows.
        paired: u64,
        /// The ids that only the first run has.
        only_in_a: Vec<String>,
        /// The ids that only the second run has.
        only_in_b: Vec<String>,
    },
    /// The rows have no ids, and the runs have different numbers of rows: rows at one position may be different rows.
    #[error(
        "expected as many rows in both runs, which have no ids and are paired by position, found {} and {}; score both with --map id=COLUMN, a column that differs in each row",
        only(only_in_a, a),
        only(only_in_b, b)
    )]
    DifferentPositions {
        /// The name of the first run.
        a: String,
        /// The name of the second run.
        b: String,
        /// The positions that only the first run has.
        only_in_a: Vec<String>,
        /// The positions that only the second run has.
        only_in_b: Vec<String>,
    },
    /// The rows have no ids, and a run does not show which gold rows it scored.
    #[error(
        "expected a `gold_hash` in {a} and {b}, which have no ids and are paired by position, found none; score both runs again, with --map id=COLUMN if a column names the rows"
    )]
    UnknownGold {
        /// The first such row in the first run.
        a: Origin,
        /// The same position in the second run.
        b: Origin,
    },
    /// The runs have no row in common.
    #[error(
        "no id of {a} is in {b}: found ids such as `{}` and `{}`; compare runs over the same rows",
        escape::name(of_a),
        escape::name(of_b)
    )]
    NoCommonRows {
        /// The name of the first run.
        a: String,
        /// The name of the second run.
        b: String,
        /// An id of the first run.
        of_a: String,
        /// An id of the second run.
        of_b: String,
    },
    /// The gold rows of an id differ, so the runs are over different data.
    #[error(
        "the gold rows of {} differ: the first is at {a} and {b}; {}",
        first_ids(ids),
        match by_position {
            true => "the rows have no ids and are paired by position: score both runs with --map id=COLUMN, a column that differs in each row",
            false => "compare runs over the same data",
        }
    )]
    DifferentGold {
        /// The ids of all such rows, in the order of the first run.
        ids: Vec<String>,
        /// The first of them in the first run.
        a: Origin,
        /// The same row in the second run.
        b: Origin,
        /// `true` if the rows have no ids.
        by_position: bool,
    },
    /// The identities of all selected metrics differ, so none is compared.
    #[error(
        "{}; no metric is left to compare: score both runs with the same metrics, or write --allow-different {} (in code, `allow_different`)",
        identity.sentences().join("; "), identity.names()
    )]
    DifferentIdentities {
        /// The differences.
        identity: Box<IdentityComparison>,
    },
    /// A selected metric is not in a run.
    #[error(
        "{file}: no row has a score of `{}`{}",
        escape::name(metric),
        hint(metric, known)
    )]
    NoMetric {
        /// The name of the run.
        file: String,
        /// The metric.
        metric: String,
        /// The metrics of the run.
        known: Vec<String>,
    },
    /// Without a selection, the runs must have the same metrics.
    #[error(
        "{file}: no row has a score of `{}`, which {other} has; to compare only some metrics, name them with -m{}",
        escape::name(metric), suggestion(metric, known).unwrap_or_default()
    )]
    DifferentMetrics {
        /// The name of the run without the metric.
        file: String,
        /// The name of the run with the metric.
        other: String,
        /// The metric.
        metric: String,
        /// The metrics of the run without it.
        known: Vec<String>,
    },
    /// A metric is pass or fail in one run and a number in the other.
    #[error(
        "`{}`: pass or fail in {verdicts}, numbers in {numbers}; score both runs with the same metric",
        escape::name(metric)
    )]
    DifferentKinds {
        /// The metric.
        metric: String,
        /// The name of the run with verdicts.
        verdicts: String,
        /// The name of the run with numbers.
        numbers: String,
    },
    /// A failed row would count as better than a scored one, so that failures raise the mean.
    #[error(
        "`{}`: {failed} rows failed and would count as {failure_score}, which is better than the score {worst}; set --failure-score to {worst} or a worse value",
        escape::name(metric)
    )]
    FailureScore {
        /// The metric.
        metric: String,
        /// The number of failed rows, in both runs.
        failed: u64,
        /// The score that failed rows would count as.
        failure_score: f64,
        /// The worst score in the runs.
        worst: f64,
    },
    /// Failed rows count differently in the runs.
    #[error(
        "failed rows count as {a} in one run and as {b} in the other; set the same failure score"
    )]
    DifferentFailureScores {
        /// The failure score of the first run.
        a: f64,
        /// The failure score of the second run.
        b: f64,
    },
    /// A metric whose lower scores are better is not compared.
    #[error(
        "lower is better for `{}`, which is not compared{}",
        escape::name(metric),
        hint(metric, known)
    )]
    NotCompared {
        /// The metric.
        metric: String,
        /// The metrics that are compared.
        known: Vec<String>,
    },
    /// A metric that may differ is in neither run.
    #[error(
        "`{}` may differ, and no run has this metric{}",
        escape::name(metric),
        hint(metric, known)
    )]
    NoDifferentMetric {
        /// The name that may differ.
        metric: String,
        /// The metrics of the runs.
        known: Vec<String>,
    },
    /// A score of all rows was computed with different parameters.
    #[error(
        "`{}`: expected one formula in both runs, found {} and {}; score both runs with the same parameters",
        escape::name(metric),
        escape::name(of_a),
        escape::name(of_b)
    )]
    DifferentFormulas {
        /// The metric.
        metric: String,
        /// The first formula.
        of_a: String,
        /// The first formula that differs from it.
        of_b: String,
    },
    /// No row has the field of the groups.
    #[error("{file}: no row has `{}`{}", escape::name(field), hint(field, known))]
    NoGroup {
        /// The name of the run.
        file: String,
        /// The field.
        field: String,
        /// The attributes of the first row.
        known: Vec<String>,
    },
    /// A row is in different groups.
    #[error(
        "row `{}`: `{}` is {of_a} in one run and {of_b} in the other; group by a field of the data",
        escape::name(id),
        escape::name(field)
    )]
    DifferentGroups {
        /// The id.
        id: String,
        /// The field.
        field: String,
        /// The group in the first run.
        of_a: String,
        /// The group in the second run.
        of_b: String,
    },
}

dsrs_metrics_values::debug_as_display!(CompareError);

/// The largest number of ids in a message.
const SHOWN_IDS: usize = 3;

/// `` 2 only in a.jsonl (`x`, `y`) ``
fn only(ids: &[String], file: &str) -> String {
    match ids.len() {
        0 => format!("0 only in {file}"),
        count => format!("{count} only in {file} ({})", first_ids(ids)),
    }
}

/// The first ids of a list.
pub(super) fn first_ids(ids: &[String]) -> String {
    first_of(ids, ids.len() as u64)
}

/// The first ids of a list, and how many more there are of them all.
pub(super) fn first_of(ids: &[String], all: u64) -> String {
    let first = ids
        .iter()
        .take(SHOWN_IDS)
        .map(|id| format!("`{}`", escape::name(id)));
    let first = first.collect::<Vec<_>>().join(", ");
    match all.saturating_sub(ids.len().min(SHOWN_IDS) as u64) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The end of a message about an unknown name.
fn hint(name: &str, known: &[String]) -> String {
    suggestion(name, known).unwrap_or_else(|| match known {
        [] => String::new(),
        known => format!(", only {}", escape::names(known.iter().map(String::as_str))),
    })
}

fn suggestion(name: &str, known: &[String]) -> Option<String> {
    let nearest = nearest(name, known.iter().map(String::as_str));
    let nearest = nearest.filter(|nearest| *nearest != name)?;
    Some(format!("; did you mean `{}`?", escape::name(nearest)))
}
