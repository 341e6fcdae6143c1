//! How often a program succeeds within several attempts.

use super::proportion::Proportion;

impl Proportion {
    /// Returns the unbiased estimate of pass@k: the probability that at least one of `k` attempts succeeds,
    /// `1 - C(n - c, k) / C(n, k)` with `c` of `n` attempts successful (Chen et al. 2021, arXiv 2107.03374).
    ///
    /// `None` if there are fewer than `k` attempts, or `k` is 0.
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

    /// Returns the unbiased estimate of pass^k: the probability that all of `k` attempts succeed, `C(c, k) / C(n, k)`
    /// (Yao et al. 2024, arXiv 2406.12045).
    ///
    /// `None` if there are fewer than `k` attempts, or `k` is 0.
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
