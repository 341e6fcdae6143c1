//! Counts of rows: predictions that lack a field, fields that no prediction has because their names are wrong, and how
//! much scores vary when rows are evaluated several times.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::contract::Outcome;
use crate::contract::rows::field_error::MissingFields;
use crate::evaluate::row::counted;
use crate::messages::{escape, suggest};
use crate::stats::{Moments, Proportion};

/// A field that a metric reads but no prediction has.
///
/// `Display` suggests a correction: `` no prediction has a field `anwser`; did you mean `answer`? ``
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnknownField {
    /// The name of the field.
    pub name: String,
    /// The most similar field name in the first row, if there is one.
    pub nearest: Option<String>,
    /// The field that was probably meant, or the fields of the first prediction.
    #[serde(skip)]
    hint: String,
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, hint) = (escape::name(&self.name), &self.hint);
        write!(f, "no prediction has a field `{name}`{hint}")
    }
}

/// The running counts of one metric.
#[derive(Default)]
pub(crate) struct MissingTally {
    /// The number of rows that lack at least one field.
    pub(super) rows: u64,
    fields: BTreeMap<String, Rows>,
    /// The first row without a field, and the fields that it has.
    first: Option<(u64, Vec<String>)>,
}

#[derive(Default)]
struct Rows {
    /// The number of rows without a value.
    missing: u64,
    /// The number of rows without the field. The rest have `null`.
    absent: u64,
}

impl MissingTally {
    /// Counts the fields that a row lacks. A field that several components read counts once.
    pub(crate) fn record<'a>(
        &mut self,
        row: u64,
        of_row: impl IntoIterator<Item = &'a MissingFields>,
    ) {
        let mut seen = BTreeSet::new();
        for missing in of_row {
            let is_first = self.first.as_ref().is_none_or(|(first, _)| row < *first);
            if is_first && missing.iter().any(|field| !field.is_null) {
                self.first = Some((row, missing.present().to_vec()));
            }
            for field in missing.iter().filter(|field| seen.insert(&*field.name)) {
                let rows = self.fields.entry(field.name.to_string()).or_default();
                rows.missing += 1;
                rows.absent += u64::from(!field.is_null);
            }
        }
        self.rows += u64::from(!seen.is_empty());
    }

    /// Returns the number of rows without a value, by field.
    pub(crate) fn by_field(&self) -> BTreeMap<String, u64> {
        let fields = self.fields.iter();
        fields
            .map(|(name, rows)| (name.clone(), rows.missing))
            .collect()
    }

    /// Returns the fields that no scored row has.
    pub(crate) fn unknown(&self, scored: u64) -> Vec<UnknownField> {
        let fields = self.fields.iter();
        let absent = fields.filter(|(_, rows)| scored > 0 && rows.absent == scored);
        let first = self.first.iter().flat_map(|(_, present)| present);
        let present = || first.clone().map(String::as_str);
        let unknown = absent.map(|(name, _)| UnknownField {
            name: name.clone(),
            nearest: suggest::nearest(name, present()).map(str::to_owned),
            hint: suggest::known_fields("the first prediction", name, present()),
        });
        unknown.collect()
    }
}

/// Statistics on how much a metric's scores vary between repeats and between rows.
///
/// The statistics cover only rows whose repeats were all scored or failed.
///
/// A failed repeat counts as the failure score and does not count as a pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RepeatSummary {
    /// The number of repeats per row.
    pub repeats: u32,
    /// The number of rows whose repeats were all scored or failed.
    pub rows: u64,
    /// The number of repeats, scored or failed, across all rows.
    pub evaluations: u64,
    /// The number of failed repeats, across all rows.
    pub failed: u64,
    /// The variance between the repeats of a row, averaged over rows.
    ///
    /// This is `None` if there are no rows.
    pub variance_within: Option<f64>,
    /// The variance between rows, excluding the part that comes from repeats.
    ///
    /// This is the variance of the rows' means minus `variance_within / repeats`, or 0 if that is negative (one-way
    /// analysis of variance).
    ///
    /// This field is `None` if there are fewer than two rows.
    pub variance_between: Option<f64>,
    /// The probability that two repeats of a row have the same score.
    ///
    /// The value is in [0, 1]. This field is `None` if there are no rows.
    pub consistency: Option<f64>,
    /// The estimated probability that at least one of k repeats passes, for each k.
    ///
    /// This is the unbiased estimate of pass@k, in [0, 1]. See [`Proportion::pass_at`].
    ///
    /// The map is empty if the metric has no verdict.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pass_at: BTreeMap<u32, f64>,
    /// The estimated probability that all k repeats pass, for each k.
    ///
    /// This is the estimate of pass^k, in [0, 1]. See [`Proportion::pass_hat`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pass_hat: BTreeMap<u32, f64>,
}

/// The running sums over rows. The sums are exact, so no figure depends on the order of the rows.
#[derive(Default)]
pub(crate) struct RepeatTally {
    pub(super) repeats: u32,
    evaluations: u64,
    failed: u64,
    means: Moments,
    variances: Moments,
    consistency: Moments,
    pass_at: BTreeMap<u32, Moments>,
    pass_hat: BTreeMap<u32, Moments>,
}

impl RepeatTally {
    pub(crate) fn new(repeats: u32) -> Self {
        Self {
            repeats,
            ..Self::default()
        }
    }

    pub(crate) fn record(&mut self, outcomes: &[&Outcome], failure_score: f64) {
        let values = outcomes.iter().filter_map(|it| counted(it, failure_score));
        let values: Vec<f64> = values.collect();
        self.evaluations += values.len() as u64;
        let failed = outcomes.iter().filter(|outcome| outcome.is_failure());
        self.failed += failed.count() as u64;
        if values.len() != self.repeats as usize {
            return;
        }
        let row: Moments = values.iter().copied().collect();
        let (Some(mean), Some(variance)) = (row.mean(), row.variance()) else {
            return;
        };
        self.means.record(mean);
        self.variances.record(variance);
        self.consistency.record(share_of_equal_pairs(values));
        let scored = outcomes.iter().filter_map(|outcome| outcome.scored());
        if scored.clone().any(|scored| scored.passed.is_none()) {
            return;
        }
        let successes = scored.filter(|scored| scored.passed == Some(true)).count() as u64;
        let row = Proportion {
            successes,
            trials: u64::from(self.repeats),
        };
        for k in shown_attempts(self.repeats) {
            let attempts = u64::from(k);
            if let (Some(at), Some(hat)) = (row.pass_at(attempts), row.pass_hat(attempts)) {
                self.pass_at.entry(k).or_default().record(at);
                self.pass_hat.entry(k).or_default().record(hat);
            }
        }
    }

    pub(crate) fn summary(&self) -> RepeatSummary {
        let within = self.variances.mean();
        let repeats = f64::from(self.repeats);
        let between = self.means.variance().zip(within);
        let means = |of: &BTreeMap<u32, Moments>| {
            of.iter()
                .filter_map(|(k, rows)| Some((*k, rows.mean()?)))
                .collect()
        };
        RepeatSummary {
            repeats: self.repeats,
            rows: self.means.count(),
            evaluations: self.evaluations,
            failed: self.failed,
            variance_within: within,
            variance_between: between.map(|(all, within)| (all - within / repeats).max(0.0)),
            consistency: self.consistency.mean(),
            pass_at: means(&self.pass_at),
            pass_hat: means(&self.pass_hat),
        }
    }
}

/// Returns the probability that two different repeats have the same score.
fn share_of_equal_pairs(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let pairs = |count: usize| (count * (count - 1) / 2) as f64;
    let equal: f64 = values
        .chunk_by(|a, b| a == b)
        .map(|equal| pairs(equal.len()))
        .sum();
    equal / pairs(values.len())
}

/// Returns the values of k for which pass@k is shown: all for up to 10 repeats, otherwise powers of two and the number
/// of repeats.
fn shown_attempts(repeats: u32) -> Vec<u32> {
    if repeats <= 10 {
        return (1..=repeats).collect();
    }
    let powers = (0..32)
        .map(|power| 1_u32 << power)
        .take_while(|k| *k < repeats);
    powers.chain([repeats]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_end_at_the_number_of_repeats() {
        assert_eq!(shown_attempts(3), [1, 2, 3]);
        assert_eq!(shown_attempts(20), [1, 2, 4, 8, 16, 20]);
    }

    #[test]
    fn pairs_of_equal_scores() {
        assert_eq!(share_of_equal_pairs(vec![1.0, 0.0, 1.0, 1.0]), 0.5);
        assert_eq!(share_of_equal_pairs(vec![0.5, 0.25]), 0.0);
    }
}
