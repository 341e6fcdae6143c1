//! 95% intervals, the normal quantile used to compute most of them, and the interval of a mean when the values have a
//! range and few units differ.

use std::fmt;

use serde::ser::{Serialize, Serializer};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::decimals::decimals;

/// The 97.5% quantile of the normal distribution: an interval of this many standard errors on both
/// sides is a 95% interval.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// The 97.5% quantile of Student's t; infinite without degrees of freedom.
pub(super) fn t_quantile(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |student| student.inverse_cdf(0.975))
}

/// A 95% interval. Serializes as `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    pub(super) const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// Returns `true` if the value is in the interval, including its ends.
    ///
    /// ```
    /// use dsrs_metrics::stats::Interval;
    ///
    /// assert!(Interval { low: 0.2, high: 0.4 }.contains(0.4));
    /// ```
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns the interval clamped to the range of the figure.
    pub(super) fn within(self, least: f64, most: f64) -> Self {
        Self::new(self.low.clamp(least, most), self.high.clamp(least, most))
    }
}

/// `[0.2, 0.4]`, with the precision of the formatter.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.precision() {
            Some(places) => {
                write!(
                    f,
                    "[{}, {}]",
                    decimals(self.low, places),
                    decimals(self.high, places)
                )
            }
            None => write!(f, "[{}, {}]", self.low + 0.0, self.high + 0.0),
        }
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.low + 0.0, self.high + 0.0].serialize(serializer)
    }
}

/// Returns Wilson's score interval (Wilson 1927) of a share of `n` units, with `z` as the quantile.
pub(super) fn wilson(share: f64, n: f64, z: f64) -> Interval {
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    // At the ends the formula yields 0 and 1 except for the last digit.
    Interval::new(
        if share == 0.0 {
            0.0
        } else {
            (centre - half).max(0.0)
        },
        if share == 1.0 {
            1.0
        } else {
            (centre + half).min(1.0)
        },
    )
}

/// Returns the weight of a value at each end of the range, which is added to the variance: 1 if all units are equal, and 0 if
/// at most half of them are. The fewer units differ, the less their variance says about values that did not occur.
pub(super) fn weight(commonest: u64, units: u64) -> f64 {
    (2 * commonest).saturating_sub(units) as f64 / units as f64
}
