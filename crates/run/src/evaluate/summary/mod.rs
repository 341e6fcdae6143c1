//! The result of a run.
//!
//! The result contains the counts, means and intervals of each metric, and the totals of the program.
//!
//! `tally.rs` counts the outcomes of a metric; each thread counts the simple ones itself. A [`Sample`] has the values
//! of a metric or named score over all rows, and the uncertainty of their mean, which is cluster-robust if rows have
//! groups. `counts.rs` has the variance between repeats and the fields that predictions lack.
//! `metric_summary.rs` and `result.rs` have the results that users see.

mod counts;
mod metric_summary;
mod result;
mod tally;

pub use self::counts::{RepeatSummary, UnknownField};
pub use self::metric_summary::MetricSummary;
pub use self::result::{Ending, EvaluationResult, ProgramTotals};
pub(crate) use self::tally::Tally;

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::contract::{Example, Prediction, ScoreKind, ScoreRange, panic};
use crate::evaluate::row::RowResult;
use crate::json::{self, path};
use crate::stats::{Bootstrap, Clusters, Moments, Proportion, Uncertainty};

/// A row and the group it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) row: u64,
    pub(crate) group: u32,
}

/// The counted values. The figures do not depend on the order in which values were recorded.
#[derive(Clone, Default)]
pub(crate) struct Sample {
    /// `true` if rows have groups.
    by_group: bool,
    /// The bootstrap, if it replaces Student's t.
    bootstrap: Option<Bootstrap>,
    moments: Moments,
    /// Used only with groups and without a bootstrap.
    clusters: Clusters<u32>,
    /// Used only for a bootstrap.
    values: Vec<(Place, f64)>,
}

impl Sample {
    pub(crate) fn new(by_group: bool, bootstrap: Option<Bootstrap>) -> Self {
        Self {
            by_group,
            bootstrap,
            ..Self::default()
        }
    }

    pub(crate) fn record(&mut self, place: Place, value: f64) {
        self.moments.record(value);
        if self.bootstrap.is_some() {
            self.values.push((place, value));
        } else if self.by_group {
            self.clusters.record(place.group, value);
        }
    }

    /// Returns the mean of the recorded values.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.moments.mean()
    }

    /// Returns the number of groups, if rows have groups.
    pub(crate) fn groups(&self) -> Option<u64> {
        self.by_group.then(|| match self.bootstrap {
            None => self.clusters.groups() as u64,
            Some(_) => self.units().len() as u64,
        })
    }

    /// Returns the standard error and the interval of the mean, kept within the range.
    ///
    /// `kind` is the kind of the values. A bool has the values 0 and 1.
    pub(crate) fn uncertainty(&self, kind: ScoreKind, range: Option<ScoreRange>) -> Uncertainty {
        if let Some(bootstrap) = self.bootstrap {
            let uncertainty = bootstrap.mean(&self.units());
            return range.map_or(uncertainty, |range| {
                uncertainty.within(range.min, range.max)
            });
        }
        match (self.by_group, kind, range) {
            (true, _, Some(range)) => self.clusters.uncertainty_within(range.min, range.max),
            (true, _, None) => self.clusters.uncertainty(),
            (false, ScoreKind::Bool, _) => self.proportion().uncertainty(),
            (false, _, Some(range)) => self.moments.uncertainty_within(range.min, range.max),
            (false, _, None) => self.moments.uncertainty(),
        }
    }

    /// Returns `true` if fewer than 30 values differ from the most common one.
    pub(crate) fn has_few(&self) -> bool {
        self.moments.has_few()
    }

    /// Returns the share of ones among values that are 0 or 1.
    fn proportion(&self) -> Proportion {
        let trials = self.moments.count();
        let ones = self
            .mean()
            .map_or(0.0, |mean| (mean * trials as f64).round());
        Proportion {
            successes: ones as u64,
            trials,
        }
    }

    /// Returns the sum and the number of values per row, or per group, in input order.
    fn units(&self) -> Vec<(f64, u64)> {
        let mut values = self.values.clone();
        values.sort_unstable_by_key(|(place, _)| place.row);
        if !self.by_group {
            return values.into_iter().map(|(_, value)| (value, 1)).collect();
        }
        let mut units: IndexMap<u32, (f64, u64)> = IndexMap::new();
        for (place, value) in values {
            let unit = units.entry(place.group).or_default();
            unit.0 += value;
            unit.1 += 1;
        }
        units.into_values().collect()
    }
}

/// A function that returns a row's group.
pub(crate) type GroupOf<G, P> = Arc<dyn Fn(&RowResult<G, P>) -> Option<String> + Send + Sync>;

/// Numbers the groups in order of first occurrence.
pub(crate) struct Groups<G, P> {
    of: GroupOf<G, P>,
    numbers: HashMap<String, u32>,
    /// The number of rows without a group. Each of them forms its own group.
    rows_without: u64,
}

impl<G, P> Groups<G, P> {
    pub(crate) fn new(of: GroupOf<G, P>) -> Self {
        Self {
            of,
            numbers: HashMap::new(),
            rows_without: 0,
        }
    }

    /// Returns the number of the row's group. A row gets a group of its own if it has none or if the function panics.
    pub(crate) fn of(&mut self, row: &RowResult<G, P>) -> u32 {
        let group = panic::catch(false, || (self.of)(row)).ok().flatten();
        let next = self.numbers.len() as u64 + self.rows_without;
        let next = u32::try_from(next).unwrap_or(u32::MAX);
        self.rows_without += u64::from(group.is_none());
        group.map_or(next, |group| *self.numbers.entry(group).or_insert(next))
    }

    pub(crate) fn rows_without(&self) -> u64 {
        self.rows_without
    }
}

/// Returns the value at a path: `gold.FIELD`, `pred.FIELD` or an attribute. Dots select fields of nested objects.
/// Returns `None` if the value is missing or `null`.
pub(crate) fn value_at(row: &RowResult<Example, Prediction>, path: &str) -> Option<String> {
    let in_attributes = || path::find(path, |name| row.attributes.get(name));
    let value = match path.split_once('.') {
        Some(("gold", field)) => {
            path::find(field, |name| row.gold.get(name)).or_else(in_attributes)
        }
        Some(("pred", field)) => {
            let pred = row.pred.as_ref();
            path::find(field, |name| pred?.get(name)).or_else(in_attributes)
        }
        _ => in_attributes(),
    };
    json::text(value?.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    fn with(mut sample: Sample, values: &[(u64, u32, f64)]) -> Sample {
        for (row, group, value) in values.iter().copied() {
            sample.record(Place { row, group }, value);
        }
        sample
    }

    #[test]
    fn order_does_not_change_a_bit_with_groups_and_bootstrap() {
        let values: Vec<_> = (0..40_u32)
            .map(|row| (u64::from(row), row / 4, 1.0 / f64::from(row + 1)))
            .collect();
        let mut shuffled = values.clone();
        shuffled.sort_by_key(|(row, ..)| row * 7 % 40);
        // A group's number depends on which row finishes first.
        shuffled
            .iter_mut()
            .for_each(|(_, group, _)| *group = 9 - *group);
        for by_group in [false, true] {
            for bootstrap in [None, Some(Bootstrap::default())] {
                let [a, b] = [&values, &shuffled].map(|values| {
                    let sample = with(Sample::new(by_group, bootstrap), values);
                    sample.uncertainty(ScoreKind::Number, None)
                });
                assert_eq!(a, b);
                assert!(a.ci95().unwrap().contains(0.107), "{a:?}");
            }
        }
    }

    #[test]
    fn intervals_are_within_the_range() {
        for by_group in [false, true] {
            let values = [(0, 0, 0.9), (1, 1, 1.0)];
            let scored = with(Sample::new(by_group, None), &values);
            let found = scored
                .uncertainty(ScoreKind::Number, Some(ScoreRange::UNIT))
                .ci95();
            let Interval { low, high } = found.unwrap();
            assert!(low > 0.0 && low < 0.5 && high <= 1.0, "{low} {high}");
        }
    }
}
