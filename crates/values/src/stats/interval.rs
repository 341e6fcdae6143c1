//! 95% intervals, and the normal quantile that most of them are computed with.

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

/// A 95% interval; serializes as `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Returns `true` if the value is within the interval, including its ends.
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
        Self {
            low: self.low.clamp(least, most),
            high: self.high.clamp(least, most),
        }
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
