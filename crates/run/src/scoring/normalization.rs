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
            let metric = spec.name;
            return Err(ScorerError::setup(format!(
                "`{metric}` scores all rows together and no single row; run it with `Evaluate`"
            )));
        }
        let has_verdict = spec.threshold.is_some() || spec.kind == ScoreKind::Bool;
        if spec.strict && has_verdict {
            // A strict score is 1 for a pass and 0 for a fail, whatever the range of the raw score.
            return Ok(Self {
                range: ScoreRange::UNIT,
                higher_is_better: true,
            });
        }
        let higher_is_better = spec.direction == Direction::HigherIsBetter;
        let metric = spec.name;
        let Some(range) = spec.range else {
            return Err(ScorerError::setup(format!(
                "`{metric}` declares no range, which is required to average it with other metrics; \
                 declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`"
            )));
        };
        let width = range.max - range.min;
        if width.is_finite() && width > 0.0 {
            Ok(Self {
                range,
                higher_is_better,
            })
        } else {
            Err(ScorerError::setup(format!(
                "the range {range} of `{metric}` cannot be normalized to [0, 1]; declare one of finite width above 0"
            )))
        }
    }

    /// Maps a value to [0, 1].
    pub(super) fn apply(&self, value: f64) -> f64 {
        let ScoreRange { min, max } = self.range;
        let above = if self.higher_is_better {
            value - min
        } else {
            max - value
        };
        (above / (max - min)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_a_strict_metric_with_a_verdict_is_its_verdict() {
        let stars = MetricSpec::new("stars").with_range(1.0, 5.0);
        let correct = stars.with_kind(ScoreKind::Bool);
        let of = |spec: MetricSpec<'_>| Normalization::of(&spec).unwrap();
        for (spec, value, expected) in [
            (stars, 3.0, 0.5),
            (stars.with_direction(Direction::LowerIsBetter), 2.0, 0.75),
            (stars.with_threshold(2.0), 3.0, 0.5),
            (stars.with_strict(), 3.0, 0.5),
            (correct, 0.25, 0.25),
            (correct.with_strict(), 0.5, 0.5),
            (stars.with_threshold(2.0).with_strict(), 0.5, 0.5),
            (stars, 9.0, 1.0),
            (stars, -9.0, 0.0),
        ] {
            assert_eq!(of(spec).apply(value), expected, "{value} of {spec:?}");
        }
    }

    #[test]
    fn a_metric_of_rows_with_a_range_of_some_width_can_be_normalized() {
        let refused = |spec: MetricSpec<'_>| Normalization::of(&spec).unwrap_err().to_string();
        let it = MetricSpec::new("it");
        assert!(refused(it).starts_with("`it` declares no range"));
        let corpus = it.with_range(0.0, 1.0).with_kind(ScoreKind::Corpus);
        assert!(refused(corpus).starts_with("`it` scores all rows together"));
        for (min, max) in [(1.0, 1.0), (0.0, f64::INFINITY)] {
            let range = ScoreRange { min, max };
            let expected = format!("the range {range} of `it` cannot be normalized");
            assert!(refused(it.with_range(min, max)).starts_with(&expected));
        }
    }
}
