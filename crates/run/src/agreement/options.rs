//! How ratings and labels are interpreted, as set in the builder.

use super::labelled::LabelSample;
use super::rating::Rating;
use crate::stats::ErrorRates;

/// The settings of [`AgreementBuilder`](super::AgreementBuilder).
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    pub(super) resamples: Option<u32>,
    pub(super) threshold: Option<f64>,
    pub(super) lower_is_better: bool,
    pub(super) positive: Vec<String>,
    pub(super) scale: Vec<String>,
    pub(super) seed: u64,
    pub(super) label_sample: LabelSample,
    pub(super) error_rates: Option<ErrorRates>,
}

impl Options {
    /// Returns the verdict of a rating, if it has one. `zero_or_one` is `true` if all scores are 0 or 1.
    pub(super) fn verdict(&self, rating: &Rating, zero_or_one: bool) -> Option<bool> {
        let score = rating.score()?;
        match (self.threshold, rating) {
            (Some(threshold), _) if self.lower_is_better => Some(score <= threshold),
            (Some(threshold), _) => Some(score >= threshold),
            (None, Rating::Verdict { passed, .. }) => Some(*passed),
            (None, _) => zero_or_one.then_some(score == 1.0),
        }
    }
}
