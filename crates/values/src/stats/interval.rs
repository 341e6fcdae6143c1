//! 95% intervals, the normal quantile used to compute most of them, and proportions with their intervals.

use std::fmt;

use serde::{Serialize, Serializer};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

use super::moments::Uncertainty;

/// The 97.5% quantile of the normal distribution. An interval that extends this many standard errors to both sides is a
/// 95% interval.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// Returns the 97.5% quantile of Student's t distribution, or infinity if there are no degrees of freedom.
pub(super) fn t_quantile(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |student| student.inverse_cdf(0.975))
}

/// A 95% interval.
///
/// An interval serializes as `[low, high]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Interval {
    pub(super) const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// Returns `true` if the interval contains the value.
    ///
    /// Both ends are part of the interval.
    ///
    /// ```
    /// use dsrs_metrics::stats::Interval;
    ///
    /// assert!(Interval { low: 0.2, high: 0.4 }.contains(0.4));
    /// ```
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns the interval clamped to the range from `min` to `max`.
    pub(super) fn within(self, min: f64, max: f64) -> Self {
        Self::new(self.low.clamp(min, max), self.high.clamp(min, max))
    }
}

/// Writes `[0.2, 0.4]`, with the formatter's precision.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = [self.low, self.high].map(|end| match f.precision() {
            Some(places) => decimals(end, places),
            None => (end + 0.0).to_string(),
        });
        write!(f, "[{low}, {high}]")
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.low + 0.0, self.high + 0.0].serialize(serializer)
    }
}

/// Returns Wilson's score interval (Wilson 1927) for a share of `n` units, with `z` as the quantile.
pub(super) fn wilson(share: f64, n: f64, z: f64) -> Interval {
    let scale = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    // At the ends, the formula yields 0 and 1 except for the last digit.
    let (low, high) = ((centre - half).max(0.0), (centre + half).min(1.0));
    Interval::new(
        if share == 0.0 { 0.0 } else { low },
        if share == 1.0 { 1.0 } else { high },
    )
}

/// Returns the weight of the two values, one at each end of the range, that are added to the variance. The weight is 1
/// if all units are equal, and 0 if at most half of them are. The fewer units differ, the less their variance says
/// about values that did not occur.
pub(super) fn weight(commonest: u64, units: u64) -> f64 {
    (2 * commonest).saturating_sub(units) as f64 / units as f64
}

/// A count of successes out of a number of trials.
///
/// ```
/// use dsrs_metrics::stats::Proportion;
///
/// let passed = Proportion { successes: 9, trials: 10 };
/// assert_eq!(passed.rate(), Some(0.9));
/// let interval = passed.wilson().unwrap();
/// assert_eq!(format!("{interval:.4}"), "[0.5958, 0.9821]");
/// assert_eq!(Proportion { successes: 0, trials: 0 }.rate(), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Proportion {
    /// The number of successes.
    ///
    /// This number is at most `trials`.
    pub successes: u64,
    /// The number of trials.
    pub trials: u64,
}

impl Proportion {
    /// Adds the result of one trial.
    #[doc(hidden)]
    pub fn record(&mut self, success: bool) {
        self.successes += u64::from(success);
        self.trials += 1;
    }

    /// Returns the probability of at most `successes` successes if each trial succeeds with probability `rate`.
    #[doc(hidden)]
    pub fn chance_of_at_most(&self, rate: f64) -> f64 {
        Binomial::new(rate, self.trials).map_or(f64::NAN, |trials| trials.cdf(self.successes))
    }

    /// Returns the success rate, `successes / trials`, in [0, 1].
    ///
    /// Returns `None` if there are no trials.
    pub fn rate(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.successes as f64 / self.trials as f64)
    }

    /// Returns Wilson's score interval for the success rate (Wilson 1927).
    ///
    /// The interval is `(p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n)`. Here, `p` is the rate, `n` is the number
    /// of trials, and `z` is 1.96. There is no continuity correction.
    ///
    /// The interval is valid even for a single trial. It never has zero width, even if all trials succeeded or none
    /// did.
    pub fn wilson(&self) -> Option<Interval> {
        Some(wilson(self.rate()?, self.trials as f64, Z))
    }

    /// Returns the standard error of the success rate, and Wilson's interval.
    ///
    /// The standard error is `√(p(1 - p) / (n - 1))`, as in inspect_ai and lm-eval.
    ///
    /// ```
    /// use dsrs_metrics::stats::Proportion;
    ///
    /// let passed = Proportion { successes: 9, trials: 10 };
    /// assert_eq!(format!("{:.4}", passed.uncertainty().stderr().unwrap()), "0.1000");
    /// let all = Proportion { successes: 10, trials: 10 };
    /// assert_eq!((all.uncertainty().stderr(), all.uncertainty().ci95()), (None, all.wilson()));
    /// ```
    pub fn uncertainty(&self) -> Uncertainty {
        let (Some(p), Some(ci95)) = (self.rate(), self.wilson()) else {
            return Uncertainty::default();
        };
        if self.successes == 0 || self.successes == self.trials {
            return Uncertainty::WithoutStderr { ci95 };
        }
        let stderr = (p * (1.0 - p) / (self.trials - 1) as f64).sqrt();
        Uncertainty::Known { stderr, ci95 }
    }

    /// Returns an unbiased estimate of pass@k.
    ///
    /// This is the probability that at least one of `k` attempts succeeds. If `c` of `n` attempts succeeded, the
    /// estimate is `1 - C(n - c, k) / C(n, k)` (Chen et al. 2021, arXiv 2107.03374).
    ///
    /// Returns `None` if there are fewer than `k` attempts, or if `k` is 0.
    ///
    /// ```
    /// use dsrs_metrics::stats::Proportion;
    ///
    /// let attempts = Proportion { successes: 1, trials: 4 };
    /// assert_eq!((attempts.pass_at(1), attempts.pass_at(2), attempts.pass_at(4)), (Some(0.25), Some(0.5), Some(1.0)));
    /// assert_eq!(attempts.pass_at(5), None);
    /// ```
    pub fn pass_at(&self, k: u64) -> Option<f64> {
        let failures = Self {
            successes: self.trials - self.successes,
            ..*self
        };
        failures.pass_hat(k).map(|all_fail| 1.0 - all_fail)
    }

    /// Returns an unbiased estimate of pass^k.
    ///
    /// This is the probability that all `k` attempts succeed. If `c` of `n` attempts succeeded, the estimate is `C(c,
    /// k) / C(n, k)` (Yao et al. 2024, arXiv 2406.12045).
    ///
    /// Returns `None` if there are fewer than `k` attempts, or if `k` is 0.
    ///
    /// ```
    /// use dsrs_metrics::stats::Proportion;
    ///
    /// let attempts = Proportion { successes: 3, trials: 4 };
    /// assert_eq!((attempts.pass_hat(1), attempts.pass_hat(2), attempts.pass_hat(4)), (Some(0.75), Some(0.5), Some(0.0)));
    /// ```
    pub fn pass_hat(&self, k: u64) -> Option<f64> {
        if k == 0 || k > self.trials {
            return None;
        }
        let factor =
            |drawn: u64| self.successes.saturating_sub(drawn) as f64 / (self.trials - drawn) as f64;
        Some((0..k.min(self.successes + 1)).map(factor).product())
    }
}

/// Formats a number with `places` decimal places.
///
/// A number that rounds to zero is written without a sign.
#[doc(hidden)]
pub fn decimals(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(digits) if !digits.contains(|c| matches!(c, '1'..='9' | 'a'..='z')) => {
            digits.to_owned()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, decimals};

    #[test]
    fn an_interval_that_rounds_to_zero_has_no_signs() {
        let interval = Interval::new(-0.000_01, -0.0);
        assert_eq!(format!("{interval:.4}"), "[0.0000, 0.0000]");
        assert_eq!(interval.to_string(), "[-0.00001, 0]");
        assert_eq!(serde_json::to_string(&interval).unwrap(), "[-0.00001,0.0]");
        let zero = Interval::new(-0.0, -0.0);
        assert_eq!(serde_json::to_string(&zero).unwrap(), "[0.0,0.0]");
    }

    #[test]
    fn a_number_that_rounds_to_zero_has_no_sign() {
        for (value, places, text) in [
            (-0.0, 4, "0.0000"),
            (-0.000_04, 4, "0.0000"),
            (-0.000_06, 4, "-0.0001"),
            (-0.4, 0, "0"),
            (-0.004, 2, "0.00"),
            (-10.0, 1, "-10.0"),
            (0.25, 1, "0.2"),
            (f64::NEG_INFINITY, 2, "-inf"),
        ] {
            assert_eq!(decimals(value, places), text, "{value:?}");
        }
    }
}
