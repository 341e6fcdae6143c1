//! A score that is the weighted mean of a few parts, each of which says why it is no better.

use crate::error::Result;
use crate::need::Need;
use crate::returns::{MetricReturn, Undecided};
use crate::score::{MetricScore, Scored, Scores};
use crate::spec::{MetricSpec, ScoreKind};

/// How far weights may be from a sum of 1, as in composites.
const TOLERANCE: f64 = 1e-9;

/// How much each of `N` parts counts: finite, none negative, together 1.
///
/// ```
/// use dsrs_metrics::metrics::Weights;
///
/// assert_eq!(Weights::new([0.5, 0.3, 0.2]).unwrap().as_array(), [0.5, 0.3, 0.2]);
/// assert_eq!(
///     Weights::new([0.5, 0.3]).unwrap_err().to_string(),
///     "the weights 0.5, 0.3 sum to 0.8; they must sum to 1"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights<const N: usize>([f64; N]);

/// Weights that are none.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidWeights {
    /// A weight is negative, infinite or NaN.
    #[error("{weight:?} is no weight; weights are finite and not negative")]
    NoWeight {
        /// The number.
        weight: f64,
    },
    /// The weights do not sum to 1.
    #[error("the weights {} sum to {sum}; they must sum to 1", Listed(weights))]
    Sum {
        /// The weights.
        weights: Vec<f64>,
        /// What they sum to, rounded to twelve places.
        sum: f64,
    },
}

struct Listed<'a>(&'a [f64]);

impl std::fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let weights: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.write_str(&weights.join(", "))
    }
}

impl<const N: usize> Weights<N> {
    /// Checks the weights.
    ///
    /// # Errors
    /// [`InvalidWeights`] if one is negative or not finite, or if they do not sum to 1 (within 1e-9).
    pub fn new(weights: [f64; N]) -> Result<Self, InvalidWeights> {
        check(&weights)?;
        Ok(Self(weights))
    }

    /// Weights of the reference documents, which are known to be some.
    pub(crate) const fn known(weights: [f64; N]) -> Self {
        Self(weights)
    }

    /// The weights, in the order of the parts.
    #[must_use]
    pub const fn as_array(self) -> [f64; N] {
        self.0
    }

    /// The weighted mean of as many values; in the range of the values, to the last bit.
    pub(crate) fn mean(self, values: [f64; N]) -> f64 {
        mean(self.0.into_iter().zip(values))
    }
}

fn check(weights: &[f64]) -> Result<(), InvalidWeights> {
    let is_weight = |weight: &&f64| (0.0..f64::INFINITY).contains(*weight);
    if let Some(&weight) = weights.iter().find(|weight| !is_weight(weight)) {
        return Err(InvalidWeights::NoWeight { weight });
    }
    let sum: f64 = weights.iter().sum();
    if (sum - 1.0).abs() > TOLERANCE {
        let sum = (sum * 1e12).round() / 1e12;
        return Err(InvalidWeights::Sum { weights: weights.to_vec(), sum });
    }
    Ok(())
}

/// Dividing by the sum of the weights, in the same order, makes the mean of ones 1 although
/// 0.4 + 0.3 + 0.2 + 0.1 is not, in binary.
fn mean(weighted: impl Iterator<Item = (f64, f64)>) -> f64 {
    let add = |(sum, whole), (weight, value)| (sum + weight * value, whole + weight);
    let (sum, whole) = weighted.fold((0.0, 0.0), add);
    sum / whole
}

/// Weights in a metric's configuration, which are looked at before the first row.
pub(super) fn need_weights(metric: &str, weights: &[f64], all: &mut Vec<Need>) {
    all.extend(check(weights).err().map(|error| Need::missing(metric, error)));
}

/// The weighted mean of named parts.
///
/// As the score of a row, each part is a named score of its own; the details say what every part is worth and why, the feedback
/// what keeps parts from being 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    parts: Vec<Weighed>,
}

/// One part of a [`Breakdown`].
#[derive(Debug, Clone, PartialEq)]
struct Weighed {
    name: &'static str,
    weight: f64,
    value: f64,
    reason: Option<String>,
}

impl Breakdown {
    /// Parts that pass or fail: each with the reason against it, if there is one.
    pub(super) fn of_checks<const N: usize>(
        weights: Weights<N>,
        checks: [(&'static str, Option<String>); N],
    ) -> Self {
        let value = |reason: Option<String>| (if reason.is_none() { 1.0 } else { 0.0 }, reason);
        Self::new(weights, checks.map(|(name, reason)| (name, value(reason))))
    }

    /// Parts in [0, 1], each with its value and the reason why it is no better.
    pub(super) fn new<const N: usize>(
        weights: Weights<N>,
        parts: [(&'static str, (f64, Option<String>)); N],
    ) -> Self {
        let weigh = |(weight, (name, (value, reason)))| Weighed { name, weight, value, reason };
        Self { parts: weights.0.into_iter().zip(parts).map(weigh).collect() }
    }

    /// The score.
    #[must_use]
    pub fn value(&self) -> f64 {
        mean(self.parts.iter().map(|part| (part.weight, part.value)))
    }

    /// Each part with its value, in order.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.parts.iter().map(|part| (part.name, part.value))
    }

    /// What keeps the parts from being 1, if anything does.
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        let reasons: Vec<&str> =
            self.parts.iter().filter_map(|part| part.reason.as_deref()).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn details(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(Weighed::to_string).collect();
        parts.join("; ")
    }
}

impl std::fmt::Display for Weighed {
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

#[cfg(test)]
mod tests {
    use super::{InvalidWeights, Weights};

    #[test]
    fn weights_are_finite_not_negative_and_sum_to_one() {
        let no_weight = |weights| match Weights::new(weights) {
            Err(InvalidWeights::NoWeight { weight }) => weight.to_string(),
            other => format!("{other:?}"),
        };
        assert_eq!(no_weight([1.5, -0.5]), "-0.5");
        assert_eq!(no_weight([f64::NAN, 1.0]), "NaN");
        assert_eq!(no_weight([f64::INFINITY, 0.0]), "inf");
        assert_eq!(
            Weights::new([0.3, 0.3]).unwrap_err().to_string(),
            "the weights 0.3, 0.3 sum to 0.6; they must sum to 1"
        );
        assert_eq!(
            Weights::new([0.0, 0.0]).unwrap_err().to_string().matches("sum to 0").count(),
            1
        );
        assert_eq!(Weights::new([1.0, 0.0]).unwrap().as_array(), [1.0, 0.0]);
    }

    #[test]
    fn the_mean_of_ones_is_one() {
        for weights in [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]] {
            let weights = Weights::new(weights).unwrap();
            assert_eq!((weights.mean([1.0; 4]), weights.mean([0.0; 4])), (1.0, 0.0));
        }
        assert_ne!(0.4 + 0.3 + 0.2 + 0.1, 1.0, "which is why there is a division");
    }
}
