//! The comparison of one metric, over all rows and by group.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;
use serde::ser::Serializer;

use super::difference::{PairedDifference, Testing, least_units};
use super::pairs::{Compared, ComparedRows, Groups, Sides};
use super::sampled::SampledRows;
use crate::contract::{Direction, ScoreKind};
use crate::stats::holm;

/// The significance level of the tests.
const LEVEL: f64 = 0.05;

/// The comparison of two runs for a single metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricComparison {
    /// The name of the metric.
    ///
    /// This is `NAME.PART` for a named score or component, and `NAME.corpus` for a corpus score.
    #[serde(skip)]
    pub name: String,
    /// The difference over all compared rows.
    #[serde(flatten)]
    pub overall: PairedDifference,
    /// The p-value after Holm's adjustment for the number of tested metrics.
    pub p_adjusted: Option<f64>,
    /// The conclusion of the comparison, based on the adjusted p-value.
    pub verdict: Verdict,
    /// The reason why the metric was not tested.
    ///
    /// This is `None` if the metric was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_tested: Option<String>,
    /// The kind of the scores.
    ///
    /// The scores are verdicts, numbers or a corpus score. If rows have repeats, a verdict becomes the fraction of
    /// repeats that pass.
    pub kind: ScoreKind,
    /// Indicates whether higher or lower scores are better.
    pub direction: Direction,
    /// The number of compared rows that failed, for each run.
    ///
    /// Failed rows count as the failure score. The number is always 0 for a corpus score.
    pub failed: Sides<u64>,
    /// The score that a failed row contributes to a mean.
    pub failure_score: f64,
    /// The difference over the rows that both runs scored, if some compared rows failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scored_in_both: Option<PairedDifference>,
    /// The sample of rows that the difference is estimated from.
    ///
    /// This is `None` unless a run judged only a sample of its rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledRows>,
    /// The number of rows in both runs that are not compared for this metric.
    ///
    /// At least one run has no score for these rows. In a comparison of means, a failed row counts as scored.
    ///
    /// Rows outside a run's sample are not counted.
    pub not_compared: u64,
    /// The mean difference if the rows that only one run scored counted as failures in the other.
    #[serde(skip)]
    pub(crate) difference_with_lost: Option<f64>,
    /// The number of rows that are not compared, by run and outcome.
    pub without_score: Sides<BTreeMap<&'static str, u64>>,
    /// The ids of the rows that are better in the second run, largest difference first.
    ///
    /// At most [`listed_rows`](super::ComparisonBuilder::listed_rows) ids are listed. The field `wins` counts all
    /// better rows.
    pub better_rows: Vec<String>,
    /// The ids of the rows that are worse in the second run, largest difference first.
    ///
    /// The limit is the same as for `better_rows`. The field `losses` counts all worse rows.
    pub worse_rows: Vec<String>,
    /// The comparison of each group of rows, in the first run's order.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, GroupComparison>,
}

/// The comparison of two runs over the rows of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupComparison {
    /// The difference over the rows of the group.
    #[serde(flatten)]
    pub difference: PairedDifference,
    /// The p-value after Holm's adjustment for the number of groups.
    pub p_adjusted: Option<f64>,
    /// The conclusion of the comparison, based on the adjusted p-value.
    pub verdict: Verdict,
}

/// What a comparison concludes about the second run.
///
/// A verdict serializes as its name: `better`, `worse`, `unchanged`, `no_difference`, `not_enough_rows` or
/// `not_tested`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The second run is better, because the adjusted p-value is below 0.05.
    Better,
    /// The second run is worse, because the adjusted p-value is below 0.05.
    Worse,
    /// All compared rows have the same score in both runs.
    ///
    /// The interval still shows how large the true difference could be.
    Unchanged,
    /// There is no significant difference.
    ///
    /// This is not evidence that the runs are equal.
    NoDifference,
    /// There are too few rows or groups for any p-value to be below 0.05.
    NotEnoughRows {
        /// The minimum number of rows or groups for a p-value below 0.05.
        needed: u64,
    },
    /// The difference or its test cannot be computed.
    ///
    /// See [`MetricComparison::not_tested`].
    NotTested,
}

impl Verdict {
    /// Returns the verdict's name in snake case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Unchanged => "unchanged",
            Self::NoDifference => "no_difference",
            Self::NotEnoughRows { .. } => "not_enough_rows",
            Self::NotTested => "not_tested",
        }
    }

    fn of(
        difference: &PairedDifference,
        p_adjusted: Option<f64>,
        direction: Direction,
        tests: usize,
    ) -> Self {
        let needed = least_units(tests);
        let change = difference.difference.unwrap_or(0.0);
        let is_better = match direction {
            Direction::HigherIsBetter => change > 0.0,
            Direction::LowerIsBetter => change < 0.0,
        };
        match p_adjusted {
            Some(_) if difference.ties == difference.n => Self::Unchanged,
            _ if difference.clusters.unwrap_or(difference.n) < needed => {
                Self::NotEnoughRows { needed }
            }
            Some(p) if p < LEVEL && is_better => Self::Better,
            Some(p) if p < LEVEL && change != 0.0 => Self::Worse,
            Some(_) => Self::NoDifference,
            None => Self::NotTested,
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl MetricComparison {
    /// Compares the means of the rows, and lists at most `listed_rows` ids of better and of worse rows.
    pub(super) fn of_means(
        name: &str,
        rows: &ComparedRows,
        testing: Testing<'_>,
        failure_score: f64,
        listed_rows: usize,
    ) -> Self {
        let compare = |rows: &[&_], groups: Option<&_>| testing.of(rows, groups);
        let compared = Self::of(name, rows, testing, compare);
        let PairedDifference { n, difference, .. } = compared.overall;
        let (better_rows, worse_rows) = flipped(&rows.rows, testing, listed_rows);
        let sum = difference.unwrap_or(0.0) * n as f64 + rows.lost[1] - rows.lost[0];
        let with_lost = n + compared.scored_in_one();
        let is_too_large = difference.is_none() && n > 0;
        Self {
            not_tested: is_too_large.then(|| "the scores are too large to compare".to_owned()),
            failure_score,
            better_rows,
            worse_rows,
            difference_with_lost: (with_lost > 0).then(|| sum / with_lost as f64),
            ..compared
        }
    }

    /// Compares all rows, the rows that both runs scored, and each group of rows.
    pub(super) fn of<T>(
        name: &str,
        rows: &ComparedRows<T>,
        testing: Testing<'_>,
        compare: impl Fn(&[&Compared<T>], Option<&Groups>) -> PairedDifference,
    ) -> Self {
        let all: Vec<&Compared<T>> = rows.rows.iter().collect();
        let scored = all.iter().copied().filter(|row| row.is_scored_in_both);
        let scored: Vec<_> = scored.collect();
        let groups = testing.pairs.groups.as_ref();
        let by_group =
            |groups| by_group(&all, groups, testing.direction, |rows| compare(rows, None));
        Self {
            name: name.to_owned(),
            overall: compare(&all, groups),
            p_adjusted: None,
            verdict: Verdict::NotTested,
            not_tested: None,
            kind: testing.kind,
            direction: testing.direction,
            failed: rows.failed.into(),
            failure_score: 0.0,
            scored_in_both: (scored.len() < all.len()).then(|| compare(&scored, groups)),
            sampled: None,
            not_compared: rows.not_compared,
            difference_with_lost: None,
            without_score: rows.without_score.clone().into(),
            better_rows: Vec::new(),
            worse_rows: Vec::new(),
            groups: groups.map(by_group).unwrap_or_default(),
        }
    }

    /// Removes the test, because the rows cannot be tested one by one.
    pub(super) fn not_sequential(mut self, reason: &str) -> Self {
        self.overall.p_value = None;
        self.not_tested = Some(format!("no sequential test, because {reason}"));
        self
    }

    /// Returns the number of rows with a score or failure in only one run.
    ///
    /// These rows are not compared.
    pub fn scored_in_one(&self) -> u64 {
        let without: u64 = [&self.without_score.a, &self.without_score.b]
            .into_iter()
            .flat_map(BTreeMap::values)
            .sum();
        2 * self.not_compared - without
    }
}

/// Adjusts the p-values of several metrics and sets the verdicts.
pub(super) fn adjust(metrics: &mut [MetricComparison]) {
    let p_values: Vec<f64> = metrics.iter().filter_map(|it| it.overall.p_value).collect();
    let tests = p_values.len();
    let mut adjusted = holm(&p_values).into_iter();
    for metric in metrics {
        metric.p_adjusted = metric.overall.p_value.and_then(|_| adjusted.next());
        let (p_adjusted, direction) = (metric.p_adjusted, metric.direction);
        metric.verdict = match metric.not_tested {
            Some(_) => Verdict::NotTested,
            None => Verdict::of(&metric.overall, p_adjusted, direction, tests),
        };
    }
}

/// Compares each named group on its own.
fn by_group<T>(
    rows: &[&Compared<T>],
    Groups { names, of_pair, .. }: &Groups,
    direction: Direction,
    compare: impl Fn(&[&Compared<T>]) -> PairedDifference,
) -> IndexMap<String, GroupComparison> {
    let mut members = vec![Vec::new(); names.len()];
    for row in rows {
        if let Some(members) = members.get_mut(of_pair[row.pair]) {
            members.push(*row);
        }
    }
    let differences: Vec<_> = members.iter().map(|rows| compare(rows)).collect();
    let p_values: Vec<f64> = differences.iter().filter_map(|it| it.p_value).collect();
    let mut adjusted = holm(&p_values).into_iter();
    let named = names.iter().zip(differences);
    let compared = named.map(|(name, difference)| {
        let p_adjusted = difference.p_value.and_then(|_| adjusted.next());
        let verdict = Verdict::of(&difference, p_adjusted, direction, p_values.len());
        (
            name.clone(),
            GroupComparison {
                difference,
                p_adjusted,
                verdict,
            },
        )
    });
    compared.collect()
}

/// Returns the ids of the rows that are better in the second run, and of the rows that are worse, with at most `limit`
/// ids each.
fn flipped(rows: &[Compared], testing: Testing<'_>, limit: usize) -> (Vec<String>, Vec<String>) {
    if limit == 0 {
        return <_>::default();
    }
    let changed = rows.iter().map(|row| (row.change(), row.pair));
    let mut changed: Vec<_> = changed.filter(|(change, _)| *change != 0.0).collect();
    // Stable, so equal differences stay in row order.
    changed.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let ids = |is_above: bool| -> Vec<String> {
        let changed = changed
            .iter()
            .filter(|(change, _)| (*change > 0.0) == is_above);
        let ids = changed.map(|(_, pair)| testing.pairs.id(*pair).to_owned());
        ids.take(limit).collect()
    };
    let higher = testing.direction == Direction::HigherIsBetter;
    (ids(higher), ids(!higher))
}

pub(super) fn by_name<S: Serializer>(
    metrics: &[MetricComparison],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metrics.iter().map(|metric| (&metric.name, metric)))
}
