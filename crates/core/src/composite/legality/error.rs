//! The errors of a composite, which are found before the first row is scored.

use crate::spec::{MetricTier, ScoreRange};

/// A composite that makes no sense.
///
/// ```
/// use dsrs_metrics::composite::{Composite, Mistake, component};
/// use dsrs_metrics::metrics::F1;
///
/// let error = Composite::builder("overlap", component(F1::default())).strict().build().unwrap_err();
/// assert_eq!(error.mistake, Mistake::StrictWithoutThreshold);
/// assert_eq!(error.to_string(), "composite `overlap`: `strict` requires a threshold; set one");
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("composite `{composite}`: {mistake}")]
pub struct CompositeError {
    /// The composite's name.
    pub composite: String,
    /// The rule that it breaks.
    pub mistake: Mistake,
}

dsrs_metrics_values::debug_as_display!(CompositeError);

/// The rule that a composite breaks.
///
/// ```
/// use dsrs_metrics::composite::{Composite, Mistake, component, weighted};
/// use dsrs_metrics::metrics::{Em, F1};
///
/// let blend = weighted([(component(Em::default()), 0.5), (component(F1::default()), 0.25)]);
/// let mistake = Composite::builder("blend", blend).build().unwrap_err().mistake;
/// assert_eq!(mistake, Mistake::WeightsSum { sum: 0.75 });
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// A combination has no components.
    #[error("`{within}` has no components; add at least one")]
    Empty {
        /// The combination.
        within: &'static str,
    },
    /// The name has characters that command lines or files do not allow.
    #[error("expected a metric name in ASCII snake case that starts with a letter")]
    Name,
    /// The weights do not sum to 1.
    #[error("the weights sum to {sum}; they must sum to 1")]
    WeightsSum {
        /// The sum of the weights.
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
    /// A component of a declared composite has a threshold or strictness of its own, which the compiler does not see.
    #[error(
        "the component `{component}` has a `{setting}` of its own, which a declared composite does not support; write `{component} >= 0.5` in the expression, or use `Composite::builder`"
    )]
    OwnSetting {
        /// The component.
        component: String,
        /// `threshold` or `strict`.
        setting: &'static str,
    },
    /// A component is listed twice in one combination.
    #[error("duplicate component `{component}` in `{within}`; use it once")]
    Twice {
        /// The component.
        component: String,
        /// The combination.
        within: &'static str,
    },
    /// A truth metric is listed among the proxies of a gate.
    #[error(
        "`{component}` is a truth metric, found among the proxies of the gate; move it to the truths"
    )]
    TruthAsProxy {
        /// The component.
        component: String,
    },
    /// A proxy metric is listed among the truth metrics of a gate.
    #[error(
        "`{component}` is a proxy metric, found among the truths of the gate; move it to the proxies"
    )]
    ProxyAsTruth {
        /// The component.
        component: String,
    },
    /// The declared tier is below a component's.
    #[error(
        "the composite is declared as {declared:?}, but a component is {found:?}; declare {found:?} or nothing"
    )]
    TierBelow {
        /// The declared tier.
        declared: MetricTier,
        /// The highest tier of the components.
        found: MetricTier,
    },
    /// The components may cost more than the budget.
    #[error(
        "the components cost up to {cost} msat per row, but the budget is {budget} msat; raise the budget or remove a component"
    )]
    OverBudget {
        /// The largest cost of all components, in millisatoshis.
        cost: u64,
        /// The budget.
        budget: u64,
    },
    /// A component scores all rows together.
    #[error(
        "`{component}` scores all rows together and no single row; run it beside the composite"
    )]
    Corpus {
        /// The component.
        component: String,
    },
    /// A lower-is-better component is combined with higher-is-better ones.
    #[error("`{component}` is lower-is-better; write `invert({component})`")]
    LowerIsBetter {
        /// The component.
        component: String,
    },
    /// A component of `all` or `any` has no verdict.
    #[error("`{component}` has a score but no verdict; set a pass threshold with `at_least`")]
    NoVerdict {
        /// The component.
        component: String,
    },
    /// A threshold of a component or of the composite that no score can reach.
    #[error(
        "the threshold {threshold} of `{component}` is outside its range {range}; set one within it"
    )]
    ThresholdOutside {
        /// The component, or the composite's combination.
        component: String,
        /// The threshold.
        threshold: f64,
        /// The range.
        range: ScoreRange,
    },
    /// A threshold that is NaN or infinite.
    #[error("the threshold {threshold} of `{component}` is not finite; set a finite number")]
    ThresholdNotFinite {
        /// The component, or the composite's combination.
        component: String,
        /// The threshold.
        threshold: f64,
    },
    /// A threshold that every score reaches.
    #[error(
        "the threshold {threshold} of `{component}` never fails: every score is in {range}; set a larger one"
    )]
    ThresholdCannotFail {
        /// The component, or the composite's combination.
        component: String,
        /// The threshold.
        threshold: f64,
        /// The range.
        range: ScoreRange,
    },
    /// A threshold on a component whose score is used, not its verdict.
    #[error(
        "thresholds are not supported in `{within}`, which uses the score of `{component}`; remove `at_least`"
    )]
    UselessBound {
        /// The component.
        component: String,
        /// The combination.
        within: &'static str,
    },
    /// A component without a range, which every combination needs.
    #[error(
        "`{within}` needs the range of `{component}`, which declares none; declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`"
    )]
    UnknownRange {
        /// The component.
        component: String,
        /// The combination.
        within: &'static str,
    },
    /// `all` and `any` are verdicts themselves.
    #[error(
        "`{within}` is true or false, so it takes no threshold; remove the threshold and `strict`"
    )]
    ThresholdOnBool {
        /// The combination.
        within: &'static str,
    },
    /// A strict composite without threshold.
    #[error("`strict` requires a threshold; set one")]
    StrictWithoutThreshold,
}

dsrs_metrics_values::debug_as_display!(Mistake);
