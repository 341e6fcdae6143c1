//! The conditions of gates, as written in `gate(..)`.

pub use crate::evaluate::Bound;
pub(super) use crate::evaluate::End;

/// The condition of a gate. Its functions say what each case means.
#[allow(missing_docs, reason = "`#[eval]` and tests call the functions")]
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    Score {
        metric: &'static str,
        end: End,
        bound: Bound,
    },
    PassedAt {
        metric: Option<&'static str>,
        k: u32,
        bound: f64,
    },
    Failed {
        bound: f64,
    },
    Abstained {
        bound: f64,
    },
    Latency {
        seconds: f64,
    },
    NoWorse {
        metric: &'static str,
        by: f64,
    },
    Better {
        metric: &'static str,
    },
    Each {
        field: &'static str,
        condition: Box<Self>,
    },
}

impl Condition {
    /// Returns the condition for each group, or the condition itself.
    pub(super) fn of_group(&self) -> &Self {
        match self {
            Self::Each { condition, .. } => condition,
            condition => condition,
        }
    }

    /// Returns the metric that the condition names.
    pub(super) fn metric(&self) -> Option<&'static str> {
        match self.of_group() {
            Self::Score { metric, .. } | Self::NoWorse { metric, .. } | Self::Better { metric } => {
                Some(metric)
            }
            Self::PassedAt { metric, .. } => *metric,
            _ => None,
        }
    }

    /// Returns `true` if the condition compares with the baseline.
    pub(super) fn is_relative(&self) -> bool {
        matches!(self.of_group(), Self::NoWorse { .. } | Self::Better { .. })
    }

    /// Creates the condition `f1 >= 0.8`, a bound on the point estimate.
    pub const fn score(metric: &'static str, bound: Bound) -> Self {
        Self::Score {
            metric,
            end: End::Estimate,
            bound,
        }
    }

    /// Creates the condition `lower(f1) >= 0.8`, a bound on the lower end of the 95% interval.
    pub const fn lower(metric: &'static str, bound: f64) -> Self {
        Self::Score {
            metric,
            end: End::Lower,
            bound: Bound::AtLeast(bound),
        }
    }

    /// Creates the condition `upper(wer) <= 0.2`, a bound on the upper end of the 95% interval.
    pub const fn upper(metric: &'static str, bound: f64) -> Self {
        Self::Score {
            metric,
            end: End::Upper,
            bound: Bound::AtMost(bound),
        }
    }

    /// Creates the condition `em.passed_at(3) >= 0.9`, a bound on a metric's pass@k. `None` is the first metric.
    pub const fn passed_at(metric: Option<&'static str>, k: u32, bound: f64) -> Self {
        Self::PassedAt { metric, k, bound }
    }

    /// Creates the condition `failed <= 0.02`, the maximum share of rows in which the program or a metric failed.
    pub const fn failed(bound: f64) -> Self {
        Self::Failed { bound }
    }

    /// Creates the condition `abstained <= 0.1`, the maximum share of rows on which a metric abstained.
    pub const fn abstained(bound: f64) -> Self {
        Self::Abstained { bound }
    }

    /// Creates the condition `latency <= 2.0`, the maximum mean time of the program per row, in seconds.
    pub const fn latency(seconds: f64) -> Self {
        Self::Latency { seconds }
    }

    /// Creates the condition `em.no_worse(by = 0.02)`: the metric is worse than the baseline by at most this much.
    pub const fn no_worse(metric: &'static str, by: f64) -> Self {
        Self::NoWorse { metric, by }
    }

    /// Creates the condition `em.better()`: the metric is better than the baseline.
    pub const fn better(metric: &'static str) -> Self {
        Self::Better { metric }
    }

    /// Creates the condition `each("topic", f1 >= 0.7)`: the inner condition holds in each group of rows.
    pub fn each(field: &'static str, condition: Self) -> Self {
        Self::Each {
            field,
            condition: Box::new(condition),
        }
    }
}
