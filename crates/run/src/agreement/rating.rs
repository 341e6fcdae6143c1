//! The two values that are compared for each row: the metric's rating and the label. Also how the labelled rows were chosen:
//! all rows, a random sample, or rows chosen by their verdict. Files don't record this, so the verdicts of the labelled
//! rows are compared with those of all rows.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::contract::{Outcome, Scored};
use crate::stats::Proportion;

/// The result of a metric or judge for a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Rating {
    /// The row has no score.
    ///
    /// The string is the name of the outcome, or `absent` if there is no rating.
    Missing(Cow<'static, str>),
    /// A score with a verdict.
    Verdict {
        /// `true` if the row passed.
        passed: bool,
        /// The score.
        score: f64,
    },
    /// A score without a verdict.
    Score(f64),
    /// The name of a class.
    Class(String),
}

/// The correct result for a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Label {
    /// The row has no label.
    Missing,
    /// `true` if the row should pass.
    Bool(bool),
    /// A number.
    ///
    /// Labels and scores can have different scales.
    Number(f64),
    /// The name of a class.
    Class(String),
}

impl Rating {
    #[doc(hidden)]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing(_))
    }

    /// Returns the score, if there is one.
    pub(super) fn score(&self) -> Option<f64> {
        match self {
            Self::Verdict { score, .. } | Self::Score(score) => Some(*score),
            Self::Missing(_) | Self::Class(_) => None,
        }
    }
}

impl Label {
    #[doc(hidden)]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// Returns the kind of value, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::Class(_) => "a string",
        }
    }
}

/// Writes the value without quotes, or nothing for a missing label.
impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => Ok(()),
            Self::Bool(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Class(class) => f.write_str(class),
        }
    }
}

conversions! {
    bool => Rating: |passed| Self::Verdict { passed, score: f64::from(passed) };
    f64 => Rating: |score| Self::Score(score);
    &str => Rating: |class| Self::Class(class.to_owned());
    &Scored => Rating: |scored| {
        let score = scored.score.value;
        scored.passed.map_or(Self::Score(score), |passed| Self::Verdict { passed, score })
    };
    /// Converts an outcome. A missing rating is named after its outcome.
    &Outcome => Rating: |outcome| {
        outcome.scored().map_or(Self::Missing(outcome.name().into()), Self::from)
    };
    bool => Label: |label| Self::Bool(label);
    f64 => Label: |label| Self::Number(label);
    &str => Label: |label| Self::Class(label.to_owned());
}

impl<T: Into<Rating>> From<Option<T>> for Rating {
    fn from(rating: Option<T>) -> Self {
        rating.map_or(Self::Missing("absent".into()), Into::into)
    }
}

impl<T: Into<Label>> From<Option<T>> for Label {
    fn from(label: Option<T>) -> Self {
        label.map_or(Self::Missing, Into::into)
    }
}

/// `null` is a missing label. A list or an object is returned as the error.
impl<'a> TryFrom<&'a Value> for Label {
    type Error = &'a Value;

    fn try_from(value: &'a Value) -> Result<Self, &'a Value> {
        match value {
            Value::Null => Ok(Self::Missing),
            Value::Bool(label) => Ok(Self::Bool(*label)),
            Value::Number(label) => label.as_f64().map(Self::Number).ok_or(value),
            Value::String(label) => Ok(Self::Class(label.clone())),
            Value::Array(_) | Value::Object(_) => Err(value),
        }
    }
}

/// An error returned when ratings and labels cannot be compared.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgreementError {
    pub(super) row: Option<usize>,
    pub(super) message: String,
}

dsrs_metrics_values::debug_as_display!(AgreementError);

impl AgreementError {
    pub(super) fn at(row: usize, message: String) -> Self {
        let row = Some(row);
        Self { row, message }
    }

    /// Returns the zero-based position of the row that caused the error.
    ///
    /// Returns `None` if no single row caused the error.
    pub fn row(&self) -> Option<usize> {
        self.row
    }
}

/// A p-value below this shows that labels were chosen by verdict.
const LEVEL: f64 = 0.01;

/// Describes how the labelled rows were chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LabelSample {
    /// Every row has a label.
    EveryRow,
    /// The labelled rows are a random sample.
    ///
    /// You declare this with [`label_sample`](super::AgreementBuilder::label_sample). Every figure is then an estimate
    /// for all rows.
    Random,
    /// The labelled rows were chosen by the metric's verdict.
    ///
    /// You declared this, or the verdicts show it.
    ///
    /// Only [`corrected`](super::Agreement::corrected) is then an estimate for all rows.
    ByVerdict,
    /// Nothing is known about how the rows were chosen.
    #[default]
    Unknown,
}

/// A summary of the rows that have both a verdict and a label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelledRows {
    /// How the labelled rows were chosen.
    pub sample: LabelSample,
    /// The fraction of the labelled rows that the metric passed.
    pub passed: Proportion,
    /// The p-value for the hypothesis that rows were chosen independently of their verdict.
    ///
    /// This is the two-sided p-value of Fisher's exact test. If it is below 0.01, the sample is
    /// [`ByVerdict`](LabelSample::ByVerdict).
    ///
    /// This field is `None` if every row has a label.
    pub p_value: Option<f64>,
}

impl LabelledRows {
    /// Creates a summary from the passes among the labelled rows and among all rows with a verdict. Returns `None` if
    /// no row is labelled.
    pub(super) fn new(passed: Proportion, all: Proportion, stated: LabelSample) -> Option<Self> {
        let p_value = (passed.trials < all.trials).then(|| fisher_exact(passed, all));
        let sample = match p_value {
            None => LabelSample::EveryRow,
            Some(p_value) if p_value < LEVEL => LabelSample::ByVerdict,
            Some(_) => stated,
        };
        (passed.trials > 0).then_some(Self {
            sample,
            passed,
            p_value,
        })
    }

    /// Returns `true` if the labelled rows were probably chosen by their verdicts.
    pub(super) fn shows_choice(&self) -> bool {
        self.p_value.is_some_and(|p| p < LEVEL)
    }
}

/// Returns the probability that a random sample of the rows has a number of passes at least as unlikely as this one.
fn fisher_exact(sample: Proportion, all: Proportion) -> f64 {
    /// The factor that allows for rounding when equal probabilities are compared.
    const EQUAL: f64 = 1.0 + 1e-7;
    let (n, passes, rows) = (sample.trials, all.successes, all.trials);
    let fewest = (n + passes).saturating_sub(rows);
    // Probabilities relative to that of the sample.
    let ratio = |k: u64| {
        let more = (passes - k) as f64 * (n - k) as f64;
        more / ((k + 1) as f64 * ((rows + k + 1) - passes - n) as f64)
    };
    let (mut total, mut unlikely) = (1.0, 1.0);
    let mut add = |probability: f64| {
        total += probability;
        if probability <= EQUAL {
            unlikely += probability;
        }
    };
    let mut probability = 1.0;
    for k in sample.successes..n.min(passes) {
        probability *= ratio(k);
        add(probability);
    }
    probability = 1.0;
    for k in (fewest..sample.successes).rev() {
        probability /= ratio(k);
        add(probability);
    }
    unlikely / total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(successes: u64, trials: u64) -> Proportion {
        Proportion { successes, trials }
    }

    type Counts = (u64, u64);

    const EXPECTED: [(Counts, Counts, f64); 6] = [
        ((50, 100), (698, 1_000), 1.606_186_309_271_547_6e-5),
        ((3, 4), (7, 11), 1.0),
        ((0, 5), (6, 20), 0.260_448_916_408_668_74),
        ((65, 100), (698, 1_000), 0.301_386_892_551_837_37),
        ((9, 10), (10, 20), 0.001_093_333_910_671_372),
        ((480, 1_000), (45_000, 90_000), 0.214_882_272_604_030_26),
    ];

    /// The expected values are from `scipy.stats.fisher_exact` 1.17, for passes and failures with and without a label.
    #[test]
    fn the_test_is_that_of_scipy() {
        for (sample, all, expected) in EXPECTED {
            let found = fisher_exact(share(sample.0, sample.1), share(all.0, all.1));
            assert!(
                (found - expected).abs() < 1e-9 * expected,
                "{sample:?} {all:?}: {found}"
            );
        }
    }

    #[test]
    fn impossible_samples_have_no_probability() {
        assert_eq!(
            fisher_exact(share(0, 50_000), share(500_000, 1_000_000)),
            0.0
        );
        assert_eq!(fisher_exact(share(0, 0), share(3, 9)), 1.0);
        assert_eq!(fisher_exact(share(2, 2), share(9, 9)), 1.0);
    }
}
