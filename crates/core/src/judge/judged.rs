//! The aggregated judgement of a row, and its conversion to a metric's score.

use std::marker::PhantomData;

use serde_json::Value;

use super::JudgeError;
use crate::score::{
    Critique, MetricError, MetricErrorKind, MetricReturn, MetricScore, Result, Scored,
};
use crate::spec::{MetricSpec, ScoreKind};

/// A row's aggregated judgement.
///
/// `Kind` is `bool` or `f64`.
#[derive(Debug)]
pub struct Judged<Kind> {
    result: Result<Judgement, JudgeError>,
    cost_msats: u64,
    kind: PhantomData<Kind>,
}

impl<K> Judged<K> {
    pub(super) fn new(result: Result<Judgement, JudgeError>, cost_msats: u64) -> Self {
        Self {
            result,
            cost_msats,
            kind: PhantomData,
        }
    }

    /// Combines the scores of two judges.
    ///
    /// If a judge fails, the result is that judge's error. Budget errors take precedence over other errors.
    ///
    /// If one judge abstains and the other succeeds, the result is an abstention.
    ///
    /// The confidence is the smaller of the two judges' confidences.
    #[doc(hidden)]
    pub fn with(
        self,
        other: Self,
        names: [&str; 2],
        combine: impl FnOnce(f64, f64) -> f64,
    ) -> Self {
        let cost_msats = self.cost_msats.saturating_add(other.cost_msats);
        let both = match (self.result, other.result) {
            (Ok(first), Ok(second)) => Ok((first, second)),
            (Err(_), Err(error)) if error.budget_msats().is_some() => Err(error),
            (Err(abstained), Err(error)) if abstained.is_no_items() => Err(error),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        let result = both.map(|(first, second)| {
            let line = |name: &str, judgement: &Judgement| {
                let MetricScore { value, details, .. } = &judgement.score;
                format!("{name} {value}: {}", details.as_deref().unwrap_or_default())
            };
            let lines = [line(names[0], &first), line(names[1], &second)];
            let value = combine(first.score.value, second.score.value);
            let parts = names.map(str::to_owned).into_iter().zip([first, second]);
            Judgement::joined(value, &lines, parts)
        });
        Self::new(result, cost_msats)
    }
}

/// A score with its explanation. [`scored`] adds the cost and the metric's name.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) score: MetricScore,
    pub(super) critique: Critique,
}

impl Judgement {
    /// Creates a judgement with full confidence.
    pub(super) fn new(value: f64, details: Option<String>) -> Self {
        let score = MetricScore {
            details,
            ..MetricScore::new(value)
        };
        let critique = Critique::default();
        Self { score, critique }
    }

    /// Joins named judgements into one with the given value and lines of details.
    pub(super) fn joined(
        value: f64,
        lines: &[String],
        parts: impl IntoIterator<Item = (String, Self)>,
    ) -> Self {
        let mut all = Self::new(value, Some(lines.join("\n")));
        let metadata = &mut all.critique.metadata;
        for (name, Self { score, critique }) in parts {
            all.score.confidence = all.score.confidence.min(score.confidence);
            all.critique.lost = all.critique.lost.or(critique.lost);
            if let Some(label) = critique.metadata.get("judge") {
                metadata.insert("judge".to_owned(), label.clone());
            }
            metadata.insert(name, Value::Object(critique.metadata));
        }
        all
    }
}

#[diagnostic::do_not_recommend]
impl<K: MetricReturn> MetricReturn for Judged<K> {
    const KIND: ScoreKind = K::KIND;
    type Verdict = K::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        scored(self.result, self.cost_msats, spec)
    }
}

/// Returns the score for a judgement that cost this many millisatoshis.
pub(super) fn scored(
    result: std::result::Result<Judgement, JudgeError>,
    cost: u64,
    spec: &MetricSpec<'_>,
) -> Result<Scored> {
    let failed = |error: JudgeError| {
        if error.is_no_items() {
            return MetricError::abstained(spec.name).with_cost_msats(cost);
        }
        let error = match error.budget_msats() {
            Some(budget_msats) => {
                MetricError::new(spec.name, MetricErrorKind::OverBudget { budget_msats })
            }
            None => MetricError::caused_by(spec.name, error),
        };
        error.with_cost_msats(cost)
    };
    let Judgement { score, critique } = result.map_err(failed)?;
    Scored::with_critique(score.with_cost_msats(cost), critique, spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_judges_abstain_if_one_abstains_and_none_fails() {
        let abstained = || Err(JudgeError::no_items("claims"));
        let failed = || Err(JudgeError::no_model(false));
        let scored = || Ok(Judgement::new(0.5, None));
        let both = |first, second| {
            let judged =
                Judged::<f64>::new(first, 1).with(Judged::new(second, 2), ["a", "b"], f64::max);
            assert_eq!(judged.cost_msats, 3);
            judged.result.map(|judgement| judgement.score.value)
        };
        for (first, second) in [
            (abstained(), scored()),
            (scored(), abstained()),
            (abstained(), abstained()),
        ] {
            assert_eq!(both(first, second), Err(JudgeError::no_items("claims")));
        }
        for (first, second) in [
            (abstained(), failed()),
            (failed(), abstained()),
            (failed(), scored()),
        ] {
            assert_eq!(both(first, second), Err(JudgeError::no_model(false)));
        }
        assert_eq!(both(scored(), scored()), Ok(0.5));
    }
}
