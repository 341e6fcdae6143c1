//! Creates scores and validates them against a spec: finite, in range, strict, with their verdict.

use super::{Critique, FeedbackMetric, MAX_EXPLANATION, MetricScore, Scored, Scores};
use crate::messages::escape;
use crate::score::{Components, MetricError, Result};
use crate::spec::{MetricSpec, ScoreKind};

impl Scored {
    /// Validates a number or bool, with the spec's cost. Most metrics return one.
    #[inline]
    pub(crate) fn of_value(value: f64, spec: &MetricSpec<'_>) -> Result<Self> {
        Self::validated(
            MetricScore::new(value).with_cost_msats(spec.cost_msats),
            spec,
        )
    }

    /// Validates a raw score against the spec.
    ///
    /// # Errors
    /// Returns an error if the score is not finite or not in the metric's range, or if a bool is neither 0 nor 1. Also
    /// returns an error if the confidence is not between 0 and 1.
    #[doc(hidden)]
    #[inline]
    pub fn validated(score: MetricScore, spec: &MetricSpec<'_>) -> Result<Self> {
        Self::with_critique(score, None::<Critique>, spec)
    }

    /// Validates a composite's score with the cost and confidence of its components, and adds their results if they are
    /// read.
    #[inline]
    pub(crate) fn of_components(
        value: f64,
        (cost_msats, confidence): (u64, f64),
        components: Option<Components>,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let score = MetricScore::new(value).with_confidence(confidence);
        let critique = components.map(|components| Critique {
            components: Some(components),
            ..Critique::default()
        });
        Self::with_critique(score.with_cost_msats(cost_msats), critique, spec)
    }

    /// Validates a score with feedback.
    pub(crate) fn of_feedback(
        score: MetricScore,
        returned: FeedbackMetric,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let mut metadata: Vec<_> = returned.metadata.into_iter().collect();
        metadata.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let critique = Critique {
            metadata: metadata.into_iter().collect(),
            shares_details: true,
            ..Critique::default()
        };
        Self::with_critique(score.with_details(returned.feedback), critique, spec)
    }

    /// Creates a validated score from several named scores.
    #[doc(hidden)]
    pub fn of_parts(
        score: MetricScore,
        mut scores: Scores,
        feedback: Option<String>,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        scores.parts.values_mut().for_each(|part| part.value += 0.0);
        // Parts first: the headline is one of them, and a part's error names it.
        if let Some(part) = scores.parts.values().find(|part| !is_in(part.value, spec)) {
            let name = format!("{}.{}", spec.name, part.name);
            let error = invalid(part.value, 1.0, &name, spec);
            return Err(error.with_cost_msats(score.cost_msats));
        }
        let critique = Critique {
            feedback,
            parts: scores.parts.into_values().collect(),
            ..Critique::default()
        };
        Self::with_critique(score, critique, spec)
    }

    /// Truncates details and feedback that are too long.
    pub(super) fn limit_explanations(&mut self) {
        let critique = self.critique.as_mut();
        let feedback = critique.and_then(|critique| critique.feedback.as_mut());
        for text in feedback.into_iter().chain(&mut self.score.details) {
            escape::truncate(text, MAX_EXPLANATION);
        }
    }

    /// Validates a score against a spec with a new threshold, strictness or cost.
    #[doc(hidden)]
    pub fn validated_again(
        mut self,
        cost_msats: Option<u64>,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        self.score.cost_msats = cost_msats.unwrap_or(self.score.cost_msats);
        self.checked(spec)
    }

    #[inline]
    pub(crate) fn with_critique(
        score: MetricScore,
        critique: impl Into<Option<Critique>>,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let scored = Self {
            score,
            passed: None,
            critique: critique.into().map(Box::new),
        };
        scored.checked(spec)
    }

    /// Validates the value against the spec, and adds its verdict.
    #[inline]
    fn checked(mut self, spec: &MetricSpec<'_>) -> Result<Self> {
        self.limit_explanations();
        let (value, confidence) = (self.score.value, self.score.confidence);
        if !is_in(value, spec) || !is_bool(value, spec) || !is_fraction(confidence) {
            let error = invalid(value, confidence, spec.name, spec);
            return Err(error.with_cost_msats(self.score.cost_msats));
        }
        self.passed = spec.verdict(value);
        self.score.value = match self.passed {
            Some(passed) if spec.strict => f64::from(u8::from(passed)),
            // A sum of nothing is -0, but a score of zero has no sign.
            _ => value + 0.0,
        };
        Ok(self)
    }
}

/// Returns `true` if a value is finite and in the declared range.
#[inline]
fn is_in(value: f64, spec: &MetricSpec<'_>) -> bool {
    value.is_finite() && spec.range.is_none_or(|range| range.contains(value))
}

/// Returns `true` if a bool metric's value is 0 or 1. A run's score is the fraction of rows that are true.
#[expect(clippy::float_cmp, reason = "any other value is wrong, however near")]
#[inline]
fn is_bool(value: f64, spec: &MetricSpec<'_>) -> bool {
    spec.kind == ScoreKind::Number || value == 0.0 || value == 1.0
}

#[inline]
fn is_fraction(confidence: f64) -> bool {
    (0.0..=1.0).contains(&confidence)
}

/// Returns the error for an invalid score.
#[cold]
fn invalid(value: f64, confidence: f64, name: &str, spec: &MetricSpec<'_>) -> MetricError {
    let message = match spec.range {
        _ if !value.is_finite() => format!("the score {value} is not a finite number"),
        Some(range) if !range.contains(value) => {
            return MetricError::out_of_range(name, value, range);
        }
        _ if is_bool(value, spec) => {
            format!("expected a confidence in 0.0..=1.0, found {confidence:?}")
        }
        _ => format!("expected 0 or 1 from a `bool` metric, found {value:?}"),
    };
    MetricError::failed(name, message)
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn a_value_is_finite_in_range_and_of_its_kind_and_a_confidence_is_a_fraction() {
        let number = MetricSpec::new("m").with_range(0.0, 2.0);
        let verdict = MetricSpec::new("m").with_kind(ScoreKind::Bool);
        let fraction = "expected a confidence in 0.0..=1.0, found 1.5";
        for (spec, value, confidence, expected) in [
            (number, 1.5, 0.0, Ok(())),
            (number, 0.5, 1.0, Ok(())),
            (verdict, 0.0, 0.5, Ok(())),
            (verdict, 1.0, 0.5, Ok(())),
            (number, 1.5, 1.5, Err(fraction)),
            (verdict, 1.0, 1.5, Err(fraction)),
            (
                number,
                1.5,
                -0.5,
                Err("expected a confidence in 0.0..=1.0, found -0.5"),
            ),
            (
                number,
                1.5,
                f64::NAN,
                Err("expected a confidence in 0.0..=1.0, found NaN"),
            ),
            (
                verdict,
                0.5,
                1.0,
                Err("expected 0 or 1 from a `bool` metric, found 0.5"),
            ),
            (
                number,
                2.5,
                1.0,
                Err("the score 2.5 is outside the declared range 0.0..=2.0"),
            ),
            (
                number,
                f64::NAN,
                1.0,
                Err("the score NaN is not a finite number"),
            ),
        ] {
            let score = MetricScore::new(value).with_confidence(confidence);
            let found = Scored::validated(score, &spec).map(|scored| scored.score.value);
            let expected = expected
                .map(|()| value)
                .map_err(|reason| format!("metric `m`: {reason}"));
            assert_eq!(found.map_err(|error| error.to_string()), expected);
        }
    }

    #[test]
    fn a_score_or_part_of_zero_has_no_sign() {
        let spec = MetricSpec::new("m").with_range(-1.0, 1.0);
        let zero = MetricScore::new(-0.0);
        let parts = Scores::new("a", -0.0).with("b", -0.5);
        let of_parts = Scored::of_parts(zero.clone(), parts, None, &spec).unwrap();
        let parts: Vec<u64> = of_parts
            .parts()
            .iter()
            .map(|part| part.value.to_bits())
            .collect();
        assert_eq!(parts, [0, (-0.5_f64).to_bits()]);
        let others = [
            Scored::of_value(-0.0, &spec).unwrap(),
            Scored::validated(zero.clone(), &spec).unwrap(),
            Scored::of_components(-0.0, (0, 1.0), None, &spec).unwrap(),
            Scored::of_other_program(zero, None, Map::new()),
            of_parts,
        ];
        assert_eq!(others.map(|scored| scored.score.value.to_bits()), [0; 5]);
    }

    #[test]
    fn details_and_feedback_are_cut_off_after_their_largest_length() {
        let spec = MetricSpec::new("m");
        for (length, end) in [
            (MAX_EXPLANATION, "a"),
            (MAX_EXPLANATION + 1, "65537 bytes in full)"),
        ] {
            let text = || "a".repeat(length);
            let score = MetricScore::new(1.0).with_details(text());
            let critique = Critique {
                feedback: Some(text()),
                ..Critique::default()
            };
            let scored = Scored::with_critique(score, critique, &spec).unwrap();
            for text in [
                scored.score.details.as_deref().unwrap(),
                &scored.feedback().unwrap(),
            ] {
                assert_eq!(
                    text.find(|it| it != 'a').unwrap_or(text.len()),
                    MAX_EXPLANATION
                );
                assert!(text.ends_with(end));
            }
        }
    }
}
