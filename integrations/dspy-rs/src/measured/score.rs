//! Scores as dspy-rs reads them: `f32`, where higher is better.

use dsrs_metrics::{
    MetricError,
    contract::{MetricSpec, ScoreRange},
};

/// How scores of a metric become scores of dspy-rs, whose optimizers maximize.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Orientation {
    /// The score itself.
    Kept,
    /// The best value becomes the worst and the reverse, within the same range.
    Reflected(ScoreRange),
    /// The score with the other sign, because its range has no end.
    Negated,
}

impl Orientation {
    pub(crate) fn of(spec: &MetricSpec<'_>) -> Self {
        if spec.higher_is_better() {
            return Self::Kept;
        }
        match spec.range {
            Some(range) if range.min.is_finite() && range.max.is_finite() => Self::Reflected(range),
            _ => Self::Negated,
        }
    }

    /// Returns the score for dspy-rs, exact.
    pub(crate) fn apply(self, value: f64) -> f64 {
        match self {
            Self::Kept => value,
            Self::Reflected(range) => range.min + range.max - value,
            Self::Negated => -value,
        }
    }

    pub(crate) fn is_changed(self) -> bool {
        self != Self::Kept
    }
}

/// Returns the score of a row without one: the worst score of the metric, and 0 if it declares no range, as in `Evaluate`. If
/// no score is the worst, or 0 would be the best, it is the least number, so that no candidate with a failure wins.
pub(crate) fn worst(spec: &MetricSpec<'_>) -> f32 {
    let worst = match (spec.strict, Orientation::of(spec), spec.range) {
        (true, ..) | (false, Orientation::Kept, None) => 0.0,
        (false, Orientation::Kept | Orientation::Reflected(_), Some(range)) => range.min,
        (false, Orientation::Negated | Orientation::Reflected(_), _) => f64::NEG_INFINITY,
    };
    narrowed(worst).unwrap_or(f32::MIN)
}

/// Returns the nearest `f32`, if there is one.
fn narrowed(value: f64) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "the result is checked")]
    let narrowed = value as f32;
    narrowed.is_finite().then_some(narrowed)
}

/// Returns a score as dspy-rs reads it.
///
/// # Errors
/// A score that is too large for an `f32`.
pub(crate) fn to_f32(value: f64, metric: &str) -> Result<f32, MetricError> {
    narrowed(value).ok_or_else(|| {
        let message = format!(
            "expected a score between {:e} and {:e} for dspy-rs, found {value:e}; rescale the metric",
            f32::MIN,
            f32::MAX
        );
        MetricError::failed(metric, message)
    })
}

#[cfg(test)]
mod tests {
    use dsrs_metrics::contract::Direction;

    use super::*;

    #[test]
    fn the_best_score_is_the_highest() {
        let spec = MetricSpec::new("wer").with_direction(Direction::LowerIsBetter);
        let bounded = spec.with_range(0.0, 4.0);
        assert_eq!(
            [0.0, 1.0, 4.0].map(|it| Orientation::of(&bounded).apply(it)),
            [4.0, 3.0, 0.0]
        );
        assert_eq!(worst(&bounded), 0.0);
        let open = spec.with_range(0.0, f64::INFINITY);
        assert_eq!(Orientation::of(&open).apply(2.5), -2.5);
        assert_eq!((worst(&open), worst(&spec)), (f32::MIN, f32::MIN));
        assert_eq!(Orientation::of(&bounded.with_strict()).apply(1.0), 1.0);
        assert_eq!(worst(&bounded.with_strict()), 0.0);
        let scale = MetricSpec::new("rating").with_range(1.0, 5.0);
        assert_eq!(
            (Orientation::of(&scale).apply(2.0), worst(&scale)),
            (2.0, 1.0)
        );
        assert_eq!(worst(&MetricSpec::new("length")), 0.0);
        let balance = MetricSpec::new("balance").with_range(f64::NEG_INFINITY, 0.0);
        assert_eq!(worst(&balance), f32::MIN);
    }

    #[test]
    fn a_score_beyond_f32_is_an_error() {
        assert_eq!(to_f32(0.1, "m").unwrap(), 0.1);
        assert_eq!(
            to_f32(1e39, "m").unwrap_err().to_string(),
            "metric `m`: expected a score between -3.4028235e38 and 3.4028235e38 for dspy-rs, found 1e39; \
             rescale the metric"
        );
    }
}
