//! Normalizes a metric's values to [0, 1], where 1 is best, by its range and direction.

use super::error::ScorerError;
use crate::core::spec::{Direction, MetricSpec, ScoreKind, ScoreRange};

/// The linear map from a metric's values to [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Normalization {
    range: ScoreRange,
    higher_is_better: bool,
}

impl Normalization {
    /// Returns the normalization of a metric. Its range must have a finite width above 0.
    pub(super) fn of(spec: &MetricSpec<'_>) -> Result<Self, ScorerError> {
        if spec.kind == ScoreKind::Corpus {
            return Err(ScorerError::CorpusMetric { metric: spec.name.to_owned() });
        }
        let has_verdict = spec.threshold.is_some() || spec.kind == ScoreKind::Bool;
        if spec.strict && has_verdict {
            // A strict score is 1 for a pass and 0 for a fail, whatever the range of the raw score.
            return Ok(Self { range: ScoreRange::UNIT, higher_is_better: true });
        }
        let higher_is_better = spec.direction == Direction::HigherIsBetter;
        let metric = || spec.name.to_owned();
        let range = spec.range.ok_or_else(|| ScorerError::NoRange { metric: metric() })?;
        let width = range.max - range.min;
        if width.is_finite() && width > 0.0 {
            Ok(Self { range, higher_is_better })
        } else {
            Err(ScorerError::UnusableRange { metric: metric(), range })
        }
    }

    /// Maps a value to [0, 1].
    pub(super) fn apply(&self, value: f64) -> f64 {
        let ScoreRange { min, max } = self.range;
        let above = if self.higher_is_better { value - min } else { max - value };
        (above / (max - min)).clamp(0.0, 1.0)
    }
}
