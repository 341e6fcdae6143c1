//! A score that is the weighted mean of named parts, each with the reason why it is below 1.

use crate::core::error::Result;
use crate::core::requirements::Requirement;
use crate::core::return_types::{MetricReturn, Undecided};
use crate::core::score::{MetricScore, Scored, Scores};
use crate::core::spec::{MetricSpec, ScoreKind};
use crate::core::weights::{Weights, check, mean};

/// Adds a requirement that the weights of a metric's configuration are valid, checked before the
/// first row.
pub(super) fn need_weights(metric: &str, weights: &[f64], all: &mut Vec<Requirement>) {
    all.extend(check(weights).err().map(|error| Requirement::missing(metric, error)));
}

/// The weighted mean of named parts.
///
/// As the score of a row, each part is a score of its own. The details list the weight, value and
/// reason of every part. The feedback lists the reasons why parts are below 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    parts: Vec<BreakdownPart>,
}

/// A part of a [`Breakdown`].
#[derive(Debug, Clone, PartialEq)]
struct BreakdownPart {
    name: &'static str,
    weight: f64,
    value: f64,
    reason: Option<String>,
}

impl Breakdown {
    /// Creates a breakdown of parts that pass or fail, each with the reason for a failure.
    pub(super) fn of_checks<const N: usize>(
        weights: Weights<N>,
        checks: [(&'static str, Option<String>); N],
    ) -> Self {
        let value = |reason: Option<String>| (if reason.is_none() { 1.0 } else { 0.0 }, reason);
        Self::new(weights, checks.map(|(name, reason)| (name, value(reason))))
    }

    /// Creates a breakdown of parts in [0, 1], each with its value and the reason why it is below
    /// 1.
    pub(super) fn new<const N: usize>(
        weights: Weights<N>,
        parts: [(&'static str, (f64, Option<String>)); N],
    ) -> Self {
        let weigh =
            |(weight, (name, (value, reason)))| BreakdownPart { name, weight, value, reason };
        Self { parts: weights.as_array().into_iter().zip(parts).map(weigh).collect() }
    }

    /// Returns the weighted mean.
    #[must_use]
    pub fn value(&self) -> f64 {
        mean(self.parts.iter().map(|part| (part.weight, part.value)))
    }

    /// Iterates over the names and values of the parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.parts.iter().map(|part| (part.name, part.value))
    }

    /// Returns the reasons why parts are below 1, if there are any.
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        let reasons: Vec<&str> =
            self.parts.iter().filter_map(|part| part.reason.as_deref()).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn details(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(BreakdownPart::to_string).collect();
        parts.join("; ")
    }
}

impl std::fmt::Display for BreakdownPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, weight, value, reason } = self;
        write!(f, "{name} {value}, weight {weight}")?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

#[diagnostic::do_not_recommend]
impl MetricReturn for Breakdown {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        let score = MetricScore::new(self.value())
            .with_details(self.details())
            .with_cost_msats(spec.cost_msats);
        let scores = Scores::of(self.parts());
        Scored::of_parts(score, scores, self.feedback(), spec)
    }
}
