//! From a metric's own range and direction to [0, 1], where 1 is best.

use super::error::ScorerError;
use crate::core::spec::{MetricSpec, ScoreKind, ScoreRange};

/// The way from a metric's values to [0, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) range: ScoreRange,
    higher_is_better: bool,
}

impl Scale {
    /// Reads it from the spec; without a range in which all values lie, a mean with other metrics
    /// would mean nothing.
    pub(super) fn of(spec: &MetricSpec<'_>) -> Result<Self, ScorerError> {
        let has_verdict = spec.threshold.is_some() || spec.kind == ScoreKind::Bool;
        if spec.strict && has_verdict {
            // A strict score is 1 for a pass and 0 for a fail, whatever range the raw one has.
            return Ok(Self { range: ScoreRange::UNIT, higher_is_better: true });
        }
        let higher_is_better = spec.direction == crate::core::spec::Direction::HigherIsBetter;
        let metric = || spec.name.to_owned();
        let range = spec.range.ok_or_else(|| ScorerError::NoRange { metric: metric() })?;
        let width = range.max - range.min;
        if width.is_finite() && width > 0.0 {
            Ok(Self { range, higher_is_better })
        } else {
            Err(ScorerError::UnusableRange { metric: metric(), range })
        }
    }

    /// A value of the range in [0, 1].
    pub(super) fn normalized(&self, value: f64) -> f64 {
        let ScoreRange { min, max } = self.range;
        let above = if self.higher_is_better { value - min } else { max - value };
        (above / (max - min)).clamp(0.0, 1.0)
    }
}
