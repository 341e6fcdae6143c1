//! The interval of a mean whose values have a range, from few units that differ.

use super::interval::{Interval, t_quantile};

/// Independent units, which are rows or groups of rows, on the scale on which their range is [0, 1].
pub(super) struct Units {
    /// The mean.
    pub(super) mean: f64,
    /// The effective number of units, whose successes and failures would have the variance of the mean.
    pub(super) effective: f64,
    /// The degrees of freedom of the variance.
    pub(super) degrees: f64,
}

impl Units {
    /// Returns Wilson's score interval with Student's t instead of the normal quantile.
    pub(super) fn interval(&self) -> Interval {
        let Self {
            mean,
            effective,
            degrees,
        } = *self;
        let t = t_quantile(degrees);
        let scale = 1.0 + t * t / effective;
        let centre = (mean + t * t / (2.0 * effective)) / scale;
        let variance = mean * (1.0 - mean) / effective + (t / effective).powi(2) / 4.0;
        let half = t * variance.sqrt() / scale;
        // At the ends the formula yields 0 and 1 except for the last digit.
        Interval {
            low: if mean == 0.0 {
                0.0
            } else {
                (centre - half).max(0.0)
            },
            high: if mean == 1.0 {
                1.0
            } else {
                (centre + half).min(1.0)
            },
        }
    }
}

/// Returns the weight of a value at each end of the range, which is added to the variance: 1 if all units are equal, and 0 if
/// at most half of them are. The fewer units differ, the less their variance says about values that did not occur.
pub(super) fn weight(commonest: u64, units: u64) -> f64 {
    (2 * commonest).saturating_sub(units) as f64 / units as f64
}
