//! Scores that are the weighted mean of named parts, each with the reason why it is below 1.

use std::borrow::Cow;

use crate::contract::weights::mean;
use crate::contract::{
    MetricError, MetricReturn, MetricScore, MetricSpec, Part, ScoreKind, Scored, Scores, Undecided,
    Unscored, Weights,
};

/// A score that is the weighted mean of named parts.
///
/// When a metric returns a breakdown, each part becomes a separate score. The details list the weight, value and reason
/// of every part. The feedback lists the reasons for parts below 1.
///
/// A multi-objective optimizer receives each part with its own reason.
///
/// ```
/// use dsrs_metrics::metrics::Breakdown;
/// use dsrs_metrics::prelude::*;
///
/// /// The answer is short and cites a source.
/// #[metric(range = 0.0..=1.0, threshold = 0.75)]
/// fn style(#[pred] answer: &str) -> Breakdown {
///     let words = answer.split_whitespace().count();
///     let too_long = (words > 5).then(|| format!("{words} words; write at most 5"));
///     let uncited = (!answer.contains('[')).then(|| "cite a source as [1]".to_owned());
///     Breakdown::default().with_check("short", 1.0, too_long).with_check("cited", 3.0, uncited)
/// }
///
/// let score = Style.score(&example! {}, &prediction! { "answer" => "Paris" }).unwrap();
/// assert_eq!(score.value, 0.25);
/// assert_eq!(score.details.unwrap(), "short 1, weight 1; cited 0, weight 3: cite a source as [1]");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Breakdown {
    /// Each part with its weight.
    parts: Vec<(f64, Part)>,
}

impl Breakdown {
    /// Adds a part with a weight, a value, and an optional reason for the value.
    ///
    /// A row fails if the weights of its parts sum to zero.
    pub fn with_part(
        mut self,
        name: impl Into<Cow<'static, str>>,
        weight: f64,
        value: f64,
        reason: Option<String>,
    ) -> Self {
        let part = Part {
            name: name.into().into_owned(),
            value,
            feedback: reason,
        };
        self.parts.push((weight, part));
        self
    }

    /// Adds a part that passes or fails.
    ///
    /// The part scores 0 if there is a reason for failure, and 1 otherwise.
    pub fn with_check(
        self,
        name: impl Into<Cow<'static, str>>,
        weight: f64,
        failure: Option<String>,
    ) -> Self {
        let value = if failure.is_none() { 1.0 } else { 0.0 };
        self.with_part(name, weight, value, failure)
    }

    /// Creates a breakdown from checks. Each failed check has a reason; an empty reason is not shown.
    pub(super) fn of_checks<const N: usize>(
        weights: [f64; N],
        checks: [(&'static str, Result<(), String>); N],
    ) -> Result<Self, Unscored> {
        let weights = Weights::new(weights).map_err(Unscored::because)?;
        let parts = checks.map(|(name, check)| match check {
            Ok(()) => (name, (1.0, None)),
            Err(reason) => (name, (0.0, Some(reason).filter(|it| !it.is_empty()))),
        });
        Ok(Self::new(weights, parts))
    }

    /// Creates a breakdown from parts in [0, 1], each with its value and the reason why it is below 1.
    pub(super) fn new<const N: usize>(
        weights: Weights<N>,
        parts: [(&'static str, (f64, Option<String>)); N],
    ) -> Self {
        let parts = weights.as_array().into_iter().zip(parts);
        parts.fold(Self::default(), |all, (weight, (name, (value, reason)))| {
            all.with_part(name, weight, value, reason)
        })
    }

    /// Returns the weighted mean of the parts.
    pub fn value(&self) -> f64 {
        mean(
            self.parts
                .iter()
                .map(|(weight, part)| (*weight, part.value)),
        )
    }

    /// Returns an iterator over the names and values of the parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = (&str, f64)> {
        self.parts.iter().map(|(_, part)| (&*part.name, part.value))
    }

    /// Returns the reasons for all parts, joined with `; `.
    ///
    /// Returns `None` if no part has a reason.
    pub fn feedback(&self) -> Option<String> {
        let parts = self.parts.iter();
        let reasons = parts.filter_map(|(_, part)| part.feedback.as_deref());
        let reasons: Vec<&str> = reasons.collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn details(&self) -> String {
        let parts = self.parts.iter().map(|(weight, part)| {
            let reason = part.feedback.as_ref();
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} {}, weight {weight}{reason}", part.name, part.value)
        });
        parts.collect::<Vec<_>>().join("; ")
    }
}

#[diagnostic::do_not_recommend]
impl MetricReturn for Breakdown {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored, MetricError> {
        let score = MetricScore::new(self.value())
            .with_details(self.details())
            .with_cost_msats(spec.cost_msats);
        let feedback = self.feedback();
        let scores = Scores::of(self.parts.into_iter().map(|(_, part)| part));
        Scored::of_parts(score, scores, feedback, spec)
    }
}
