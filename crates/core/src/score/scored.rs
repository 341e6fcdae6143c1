//! A metric's score for one row, with its explanation. `validated.rs` creates and validates it, `replied_by.rs` has the
//! models that replied, and `missing.rs` has the missing fields.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{FeedbackMetric, Grade, LostJudges, MAX_EXPLANATION, MetricScore, Part, replied_by};
use crate::messages::escape;
use crate::rows::MissingFields;
use crate::score::{Component, Components, CorpusCounts};

/// A metric's score for one row, validated against the metric's spec.
///
/// The score is finite and in range. If the metric is strict, the score is 0 or 1. A `Scored` also contains the
/// verdict, if the metric has one.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let near = metric_fn("near", |_, _| 0.6).with_threshold(0.5);
/// let (gold, pred) = (example! {}, prediction! {});
/// let scored = near.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
/// assert_eq!((scored.score.value, scored.passed), (0.6, Some(true)));
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// The score.
    #[serde(flatten)]
    pub score: MetricScore,
    /// The verdict, if the metric gives one.
    ///
    /// This is `None` if the metric neither returns `bool` nor has a threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// `None` for most scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) critique: Option<Box<Critique>>,
}

/// What a score says beyond its value and details.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Critique {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) feedback: Option<String>,
    /// `true` if the details are also the feedback, so the text is stored only once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shares_details: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<Part>,
    /// Not stored, because its formula is code.
    #[serde(skip)]
    pub(crate) corpus: Option<CorpusCounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lost: Option<LostJudges>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<Box<MissingFields>>,
    /// The results of a composite's components, which hold everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) components: Option<Components>,
}

impl Scored {
    /// Returns the metric's feedback, if there is any.
    ///
    /// For a composite, returns the components' feedback, worst first.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// # let call = MetricCall::new(&gold, &pred);
    /// let metric = metric_fn("short", |_, _| FeedbackMetric::new(0.0, "write at most 10 characters"));
    /// let scored = metric.answer(call).ready().unwrap()?;
    /// assert_eq!(scored.feedback().unwrap(), "write at most 10 characters");
    ///
    /// let scored = metric_fn("half", |_, _| 0.5).answer(call).ready().unwrap()?;
    /// assert_eq!(scored.feedback(), None);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn feedback(&self) -> Option<Cow<'_, str>> {
        let critique = self.critique.as_deref()?;
        match &critique.components {
            Some(components) => components.worst_first().map(Cow::Owned),
            None if critique.shares_details => self.score.details.as_deref().map(Cow::Borrowed),
            None => critique.feedback.as_deref().map(Cow::Borrowed),
        }
    }

    /// Returns the score's details.
    ///
    /// Returns `None` if the details are the same as the feedback.
    #[doc(hidden)]
    pub fn own_details(&self) -> Option<&str> {
        let details = self.score.details.as_deref();
        details.filter(|details| self.feedback().as_deref() != Some(*details))
    }

    /// Returns the score without the verdict.
    ///
    /// For a composite, the details are those of its components.
    ///
    /// ```
    /// use dsrs_metrics::metrics::{Em, F1};
    /// use dsrs_metrics::prelude::*;
    ///
    /// #[metric(min(em, f1))]
    /// struct Lowest;
    ///
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
    /// let score = Lowest.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?.into_score();
    /// let details = score.details.unwrap();
    /// assert_eq!(details.lines().next(), Some("em (0): expected \"Paris\", found \"in Paris\""));
    /// assert!(details.lines().nth(1).unwrap().starts_with("f1 (0.6666666666666666): "));
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    #[inline]
    pub fn into_score(mut self) -> MetricScore {
        if self.score.details.is_none() {
            self.score.details = self.all_components().and_then(Components::worst_first);
        }
        self.score
    }

    /// Returns `true` if the score has no data besides its value and details.
    #[doc(hidden)]
    pub fn is_simple(&self) -> bool {
        let has_none = |critique: &Critique| {
            let shares_details = critique.shares_details;
            *critique
                == Critique {
                    shares_details,
                    ..Critique::default()
                }
        };
        self.critique.as_deref().is_none_or(has_none)
    }

    /// Sets the details, truncated if they are too long.
    ///
    /// The previous details become the feedback, unless the score already has feedback.
    #[doc(hidden)]
    pub fn explained(mut self, mut details: String) -> Self {
        escape::truncate(&mut details, MAX_EXPLANATION);
        let Some(previous) = self.score.details.replace(details) else {
            return self;
        };
        let critique = self.critique.get_or_insert_default();
        critique.feedback.get_or_insert(previous);
        critique.shares_details = false;
        self
    }

    /// Returns an iterator over the outcomes of the evaluated components.
    ///
    /// Only a composite has components.
    ///
    /// ```
    /// # use dsrs_metrics::metrics::{Em, F1};
    /// # use dsrs_metrics::prelude::*;
    /// #[metric(weighted(em = 0.5, f1 = 0.5))]
    /// struct Answered;
    ///
    /// # let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
    /// let scored = Answered.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
    /// let values: Vec<_> = scored.components().map(|it| (it.name, it.outcome.value())).collect();
    /// assert_eq!(values, [("em", Some(0.0)), ("f1", Some(2.0 / 3.0))]);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn components(&self) -> impl Iterator<Item = Component<'_>> {
        self.all_components().into_iter().flat_map(Components::iter)
    }

    /// Returns the structured data that accompanies the feedback.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let found = metric_fn("found", |_, _| FeedbackMetric::new(0.5, "1 of 2").with_metadata("missing", "Rome"));
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let scored = found.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
    /// assert_eq!(scored.metadata().unwrap()["missing"], "Rome");
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        let metadata = &self.critique.as_ref()?.metadata;
        (!metadata.is_empty()).then_some(metadata)
    }

    /// Returns the named scores, if the metric returns any.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let overlap = metric_fn("overlap", |_, _| Scores::new("f1", 0.5).with("recall", 1.0));
    /// let scored = overlap.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
    /// let names: Vec<_> = scored.parts().iter().map(|part| &*part.name).collect();
    /// assert_eq!(names, ["f1", "recall"]);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn parts(&self) -> &[Part] {
        let critique = self.critique.as_ref();
        critique.map_or(&[], |critique| &critique.parts)
    }

    /// Returns the row's contribution to the corpus score, if there is one.
    ///
    /// A composite itself has no contribution, but its components can have one.
    ///
    /// ```
    /// use dsrs_metrics::contract::{CorpusCounts, WithCorpus};
    /// # use dsrs_metrics::prelude::*;
    ///
    /// let known = metric_fn("known", |_, _| {
    ///     let counts = CorpusCounts::new([1, 2], |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64));
    ///     WithCorpus::new(0.5, counts)
    /// });
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let scored = known.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
    /// assert_eq!(scored.corpus().unwrap().counts(), [1, 2]);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn corpus(&self) -> Option<&CorpusCounts> {
        self.critique.as_ref()?.corpus.as_ref()
    }

    /// Creates a row's score from several evaluations.
    ///
    /// The score has no verdict, because some evaluations may pass and others fail.
    #[doc(hidden)]
    pub fn over_repeats(score: MetricScore, repeats: &[&Self], parts: Vec<Part>) -> Self {
        let mut critiques = repeats.iter().filter_map(|scored| scored.critique.as_ref());
        let mut metadata = Map::new();
        if repeats.iter().any(|scored| scored.is_judged_offline()) {
            metadata.insert("judge".to_owned(), super::OFFLINE_JUDGE.into());
        }
        let replies = repeats.iter().flat_map(|scored| scored.replied_by());
        if let Some(judges) = replied_by::sum(replies) {
            metadata.insert(replied_by::JUDGES.to_owned(), judges);
        }
        let mut counts = repeats.iter().filter_map(|scored| scored.corpus());
        let mut corpus = counts.next().cloned();
        counts.for_each(|more| corpus.iter_mut().for_each(|sum| sum.merge(more)));
        let lost = repeats.iter().find_map(|scored| scored.lost_judges());
        let critique = Critique {
            metadata,
            parts,
            corpus,
            lost: lost.cloned(),
            missing: critiques.find_map(|critique| critique.missing.clone()),
            ..Critique::default()
        };
        Self {
            score,
            passed: None,
            critique: Some(Box::new(critique)),
        }
    }

    /// Creates a `Scored` from another program's score.
    ///
    /// The score has the other program's verdict and metadata.
    #[doc(hidden)]
    pub fn of_other_program(
        score: MetricScore,
        passed: Option<bool>,
        metadata: Map<String, Value>,
    ) -> Self {
        let score = MetricScore {
            value: score.value + 0.0,
            ..score
        };
        let critique = Critique {
            metadata,
            ..Critique::default()
        };
        Self {
            score,
            passed,
            critique: (!critique.metadata.is_empty()).then(|| Box::new(critique)),
        }
    }

    /// Sets the row's contribution to the corpus score.
    pub(crate) fn with_corpus(mut self, counts: CorpusCounts) -> Self {
        self.critique.get_or_insert_default().corpus = Some(counts);
        self
    }

    /// Appends `findings` to the details.
    ///
    /// If the row fails and has no feedback, the details also serve as feedback.
    #[doc(hidden)]
    pub fn with_findings(mut self, findings: &str) -> Self {
        let details = match self.score.details.take() {
            Some(details) => format!("{details}\n{findings}"),
            None => findings.to_owned(),
        };
        if let (Some(false), Some(critique)) = (self.passed, &mut self.critique) {
            critique.shares_details = critique.feedback.is_none();
        }
        self.score.details = Some(details);
        self
    }

    /// Sets the cost to zero, for a score that is reused.
    pub(crate) fn remove_cost(&mut self) {
        self.score.cost_msats = 0;
        if let Some(components) = self.critique.as_mut().and_then(|it| it.components.as_mut()) {
            components.remove_cost();
        }
    }

    /// Returns `true` if the score is a number with confidence 1, without details, feedback, components or named scores.
    #[inline]
    #[expect(clippy::float_cmp, reason = "anything else has to be kept")]
    pub(crate) fn is_plain(&self) -> bool {
        let score = &self.score;
        score.details.is_none() && self.critique.is_none() && score.confidence == 1.0
    }

    /// Returns the component scores that are not purely numeric, if the metric is a composite.
    pub(super) fn scored_components(&self) -> impl Iterator<Item = &Self> {
        let components = self.all_components();
        components.into_iter().flat_map(Components::scored)
    }

    fn all_components(&self) -> Option<&Components> {
        self.critique.as_ref()?.components.as_ref()
    }

    /// Converts the score to feedback.
    ///
    /// The result contains the metric's own feedback. If there is none, it contains the details or a sentence with the
    /// value.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let scored = metric_fn("half", |_, _| 0.5).answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
    /// assert_eq!(scored.into_feedback(), FeedbackMetric::new(0.5, "The score is 0.5."));
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn into_feedback(self) -> FeedbackMetric {
        let feedback = self.feedback().map(Cow::into_owned);
        let metadata = self.critique.map(|critique| critique.metadata);
        let feedback = feedback.or(self.score.details);
        let value = self.score.value;
        FeedbackMetric {
            score: value,
            feedback: feedback.unwrap_or_else(|| format!("The score is {value}.")),
            metadata: metadata.into_iter().flatten().collect(),
        }
    }

    /// Returns the metric's result for an optimizer.
    ///
    /// This is the verdict if `tracing` is `true` and the metric has one. Otherwise, it is the score.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let near = metric_fn("near", |_, _| 0.6).with_threshold(0.5);
    /// let scored = near.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
    /// assert_eq!(scored.clone().grade(true), Grade::Verdict(true));
    /// assert_eq!(scored.grade(false), Grade::Score(MetricScore::new(0.6)));
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn grade(self, tracing: bool) -> Grade {
        match self.passed {
            Some(passed) if tracing => Grade::Verdict(passed),
            _ => Grade::Score(self.into_score()),
        }
    }
}

#[cfg(test)]
mod tests;
