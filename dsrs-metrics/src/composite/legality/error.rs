//! What is wrong with a composite, found before the first row is scored.

use crate::core::spec::{MetricTier, ScoreRange};

/// A composite that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("composite `{composite}`: {mistake}")]
pub struct CompositeError {
    /// The composite's name.
    pub composite: String,
    /// What is wrong with it.
    pub mistake: Mistake,
}

/// The rule that a composite breaks.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// Nothing is put together.
    #[error("`{within}` has no parts")]
    Empty {
        /// The combination.
        within: &'static str,
    },
    /// The name cannot stand on a command line or in a file.
    #[error(
        "a metric's name stands on command lines and in files, so it is ASCII in snake case and starts with a letter"
    )]
    Name,
    /// The weights do not sum to 1.
    #[error("the weights sum to {sum}; they must sum to 1")]
    WeightsSum {
        /// What they sum to.
        sum: f64,
    },
    /// A weight is negative, NaN or infinite.
    #[error("the weight {weight} of `{component}` is not a finite number of at least 0")]
    BadWeight {
        /// The component.
        component: String,
        /// Its weight.
        weight: f64,
    },
    /// A component stands twice in one combination.
    #[error("`{component}` stands twice in `{within}`; name it once")]
    Twice {
        /// The component.
        component: String,
        /// The combination.
        within: &'static str,
    },
    /// A truth metric stands where a gate expects proxies.
    #[error(
        "`{component}` is a truth metric in the proxy place of the gate; move it to the truths"
    )]
    TruthAsProxy {
        /// The component.
        component: String,
    },
    /// A proxy metric stands where a gate expects truth metrics.
    #[error(
        "`{component}` is a proxy metric in the truth place of the gate; move it to the proxies"
    )]
    ProxyAsTruth {
        /// The component.
        component: String,
    },
    /// The declared tier is below a component's.
    #[error(
        "the tier is declared as {declared:?}, and a component is {found:?}; declare {found:?} or nothing"
    )]
    TierBelow {
        /// What was declared.
        declared: MetricTier,
        /// What the components make it.
        found: MetricTier,
    },
    /// The components may cost more than the budget.
    #[error("the components may cost {cost} msat, and the budget is {budget} msat")]
    OverBudget {
        /// What all components cost at most.
        cost: u64,
        /// The budget.
        budget: u64,
    },
    /// A lower-is-better component stands beside others.
    #[error("`{component}` is lower-is-better; write `invert({component})`")]
    LowerIsBetter {
        /// The component.
        component: String,
    },
    /// A part of `all` or `any` is no pass or fail.
    #[error("`{component}` gives a score but no verdict; say from which value on it passes")]
    NoVerdict {
        /// The component.
        component: String,
    },
    /// A threshold that no score can reach, or a bound of a part.
    #[error("the threshold {threshold} of `{component}` lies outside its range {range}")]
    ThresholdOutside {
        /// The component, or the composite's combination.
        component: String,
        /// The threshold.
        threshold: f64,
        /// The range.
        range: ScoreRange,
    },
    /// A threshold that is NaN or infinite.
    #[error("the threshold {threshold} of `{component}` is not a finite number")]
    ThresholdNotFinite {
        /// The component, or the composite's combination.
        component: String,
        /// The threshold.
        threshold: f64,
    },
    /// A threshold that every score reaches.
    #[error(
        "the threshold {threshold} of `{component}` can never fail, since every score of its range {range} reaches it; give a larger one"
    )]
    ThresholdCannotFail {
        /// The component, or the composite's combination.
        component: String,
        /// The threshold.
        threshold: f64,
        /// The range.
        range: ScoreRange,
    },
    /// A bound on a part of which only the number counts.
    #[error(
        "`{within}` takes the number of `{component}`, so the bound on it says nothing; take it away"
    )]
    UselessBound {
        /// The component.
        component: String,
        /// The combination.
        within: &'static str,
    },
    /// A combination that needs a component's range, which declares none.
    #[error(
        "`{within}` needs the range of `{component}`, which declares none; give it `range = ..`"
    )]
    UnknownRange {
        /// The component.
        component: String,
        /// The combination.
        within: &'static str,
    },
    /// `all` and `any` are verdicts themselves.
    #[error("`{within}` is true or false already; take the threshold and `strict` away")]
    ThresholdOnBool {
        /// The combination.
        within: &'static str,
    },
    /// A strict composite without threshold.
    #[error("`strict` makes the score 1 or 0 at the threshold, and there is none")]
    StrictWithoutThreshold,
}
