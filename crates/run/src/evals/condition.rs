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

    /// Requires the metric's score to be within `bound`, as in `f1 >= 0.8`.
    pub const fn score(metric: &'static str, bound: Bound) -> Self {
        Self::Score {
            metric,
            end: End::Estimate,
            bound,
        }
    }

    /// Requires the lower end of the metric's 95% interval to be at least `bound`, as in `lower(f1) >= 0.8`.
    pub const fn lower(metric: &'static str, bound: f64) -> Self {
        Self::Score {
            metric,
            end: End::Lower,
            bound: Bound::AtLeast(bound),
        }
    }

    /// Requires the upper end of the metric's 95% interval to be at most `bound`, as in `upper(wer) <= 0.2`.
    pub const fn upper(metric: &'static str, bound: f64) -> Self {
        Self::Score {
            metric,
            end: End::Upper,
            bound: Bound::AtMost(bound),
        }
    }

    /// Requires the metric's pass@k to be at least `bound`, as in `em.passed_at(3) >= 0.9`. `None` selects the first
    /// metric.
    pub const fn passed_at(metric: Option<&'static str>, k: u32, bound: f64) -> Self {
        Self::PassedAt { metric, k, bound }
    }

    /// Limits the share of rows on which the program or a metric failed, as in `failed <= 0.02`.
    pub const fn failed(bound: f64) -> Self {
        Self::Failed { bound }
    }

    /// Limits the share of rows on which a metric abstained, as in `abstained <= 0.1`.
    pub const fn abstained(bound: f64) -> Self {
        Self::Abstained { bound }
    }

    /// Limits the program's mean time per row, in seconds, as in `latency <= 2.0`.
    pub const fn latency(seconds: f64) -> Self {
        Self::Latency { seconds }
    }

    /// Requires the metric to be worse than the baseline by at most `by`, as in `em.no_worse(by = 0.02)`.
    pub const fn no_worse(metric: &'static str, by: f64) -> Self {
        Self::NoWorse { metric, by }
    }

    /// Requires the metric to be better than the baseline, as in `em.better()`.
    pub const fn better(metric: &'static str) -> Self {
        Self::Better { metric }
    }

    /// Requires a condition to hold in each group of rows, as in `each("topic", f1 >= 0.7)`. Rows with the same value
    /// of `field` form a group.
    pub fn each(field: &'static str, condition: Self) -> Self {
        Self::Each {
            field,
            condition: Box::new(condition),
        }
    }
}
