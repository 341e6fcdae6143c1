//! The score of one row: what metrics return, and how it is held against the metric's spec.
//!
//! What becomes of a row that has no score is in `outcome.rs`; sums over rows are in `evaluate/`.

use serde::Serialize;
use serde_json::{Map, Value};

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{MetricError, Result};
use crate::outcome::Outcome;
use crate::spec::{MetricSpec, ScoreKind};

/// Result of a metric for one row.
///
/// ```
/// use dsrs_metrics::MetricScore;
///
/// let score = MetricScore::new(0.75).with_details("3 of 4 entities found");
/// assert_eq!((score.value, score.confidence, score.cost_msats), (0.75, 1.0, 0));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricScore {
    /// The value, in the metric's declared range.
    pub value: f64,
    /// How far the value can be trusted, in [0, 1].
    pub confidence: f64,
    /// An explanation for people.
    pub details: Option<String>,
    /// What the call cost, in millisatoshis.
    pub cost_msats: u64,
}

impl MetricScore {
    /// A free score of full confidence without details.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        Self { value, confidence: 1.0, details: None, cost_msats: 0 }
    }

    /// Adds an explanation.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// Sets the confidence, in [0, 1].
    #[must_use]
    pub const fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Sets the cost, in millisatoshis.
    #[must_use]
    pub const fn with_cost_msats(mut self, cost_msats: u64) -> Self {
        self.cost_msats = cost_msats;
        self
    }
}

/// A score with a critique in words, which reflective optimizers read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedbackMetric {
    /// The value, in the metric's declared range.
    pub score: f64,
    /// The critique.
    pub feedback: String,
    /// Anything structured that goes with it.
    pub metadata: Map<String, Value>,
}

impl FeedbackMetric {
    /// A score with a critique and no metadata.
    pub fn new(score: f64, feedback: impl Into<String>) -> Self {
        Self { score, feedback: feedback.into(), metadata: Map::new() }
    }

    /// Adds a piece of metadata.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

/// Several named scores from one call; the first is the headline.
///
/// ```
/// use dsrs_metrics::Scores;
///
/// let scores = Scores::new("f1", 0.5).with("precision", 1.0).with("recall", 1.0 / 3.0);
/// assert_eq!(scores.headline(), 0.5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    parts: Vec<Part>,
}

/// One of several named scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// The name, unique within the call.
    pub name: String,
    /// The value, in the metric's declared range.
    pub value: f64,
}

impl Scores {
    /// The headline score.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { parts: vec![Part { name: name.into(), value }] }
    }

    /// One more score; a name that is there already takes the new value.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: f64) -> Self {
        let name = name.into();
        match self.parts.iter_mut().find(|part| part.name == name) {
            Some(part) => part.value = value,
            None => self.parts.push(Part { name, value }),
        }
        self
    }

    /// The value of the headline score.
    #[must_use]
    pub fn headline(&self) -> f64 {
        self.parts[0].value
    }
}

/// What a metric said of one row, held against its spec: finite, in range, strict if the metric is
/// strict, with the verdict if the metric has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The score.
    pub score: MetricScore,
    /// Pass or fail; `None` if the metric has neither `bool` nor threshold.
    pub passed: Option<bool>,
    note: Option<Box<Note>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Note {
    feedback: Option<String>,
    metadata: Map<String, Value>,
    parts: Vec<Part>,
    components: Components,
}

/// What became of the components of a composite; the names are shared by all rows. A component that
/// was never asked (behind a gate) has no outcome.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Components {
    pub(crate) names: Arc<[String]>,
    pub(crate) outcomes: Vec<Option<Outcome>>,
}

/// What became of one component of a composite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component<'a> {
    /// The component's name.
    pub name: &'a str,
    /// What became of it.
    pub outcome: &'a Outcome,
}

impl Components {
    fn iter(&self) -> impl Iterator<Item = Component<'_>> {
        let named = self.names.iter().zip(&self.outcomes);
        named.filter_map(|(name, outcome)| Some(Component { name, outcome: outcome.as_ref()? }))
    }
}

impl Scored {
    /// The critique in words, if the metric gave one; of a composite, those of its components, worst
    /// first.
    #[must_use]
    pub fn feedback(&self) -> Option<Cow<'_, str>> {
        let note = self.note.as_ref()?;
        let own = note.feedback.as_deref().map(Cow::Borrowed);
        own.or_else(|| worst_first(&note.components).map(Cow::Owned))
    }

    /// What became of each component that was asked, if the metric is a composite.
    pub fn components(&self) -> impl Iterator<Item = Component<'_>> {
        self.note.iter().flat_map(|note| note.components.iter())
    }

    /// The structured data that goes with the critique.
    #[must_use]
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        self.note.as_ref().map(|note| &note.metadata).filter(|metadata| !metadata.is_empty())
    }

    /// Whether no model judged the row, but token overlap did; also if that is so of a component.
    #[must_use]
    pub fn is_judged_offline(&self) -> bool {
        let labelled = |note: &Note| {
            note.metadata.get("judge").is_some_and(|judge| judge == crate::judge::OFFLINE)
        };
        self.note.as_deref().is_some_and(labelled)
            || self
                .components()
                .any(|component| component.outcome.scored().is_some_and(Self::is_judged_offline))
    }

    /// The named scores, if the metric gives several.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        self.note.as_ref().map_or(&[], |note| &note.parts)
    }

    /// As a critique: the metric's own feedback, its details, or else a sentence with the value.
    #[must_use]
    pub fn into_feedback(self) -> FeedbackMetric {
        let feedback = self.feedback().map(Cow::into_owned);
        let note = self.note.map(|note| *note).unwrap_or_default();
        let feedback = feedback.or(self.score.details);
        let value = self.score.value;
        FeedbackMetric {
            score: value,
            feedback: feedback.unwrap_or_else(|| format!("The score is {value}.")),
            metadata: note.metadata,
        }
    }

    /// What the metric answers to an optimizer: with a trace, the verdict if there is one; else the
    /// score.
    #[must_use]
    pub fn grade(self, tracing: bool) -> Grade {
        match self.passed {
            Some(passed) if tracing => Grade::Verdict(passed),
            _ => Grade::Score(self.score),
        }
    }

    /// Holds a raw score against the spec.
    ///
    /// # Errors
    /// [`MetricError::NotFinite`] and [`MetricError::OutOfRange`]; [`MetricError::Failed`] for a bool
    /// that is neither 0 nor 1.
    pub(crate) fn settle(score: MetricScore, spec: &MetricSpec<'_>) -> Result<Self> {
        Self { score, passed: None, note: None }.settled(spec)
    }

    /// A composite's score with what became of its components, held against its spec.
    pub(crate) fn of_components(
        score: MetricScore,
        components: Components,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let note = Note { components, ..Note::default() };
        Self { score, passed: None, note: Some(Box::new(note)) }.settled(spec)
    }

    /// A score with a critique, held against the spec.
    pub(crate) fn of_feedback(
        score: MetricScore,
        critique: FeedbackMetric,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let FeedbackMetric { feedback, metadata, .. } = critique;
        let note = Note { feedback: Some(feedback), metadata, ..Note::default() };
        Self { score, passed: None, note: Some(Box::new(note)) }.settled(spec)
    }

    /// A judge's score with its critique, if it gave one, held against the spec.
    pub(crate) fn of_judgement(
        score: MetricScore,
        feedback: Option<String>,
        metadata: Map<String, Value>,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let note = Note { feedback, metadata, ..Note::default() };
        Self { score, passed: None, note: Some(Box::new(note)) }.settled(spec)
    }

    /// Several named scores, each held against the spec.
    pub(crate) fn of_parts(
        score: MetricScore,
        scores: Scores,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let note = Note { parts: scores.parts, ..Note::default() };
        Self { score, passed: None, note: Some(Box::new(note)) }.settled(spec)
    }

    fn settled(mut self, spec: &MetricSpec<'_>) -> Result<Self> {
        // Parts first: the headline is one of them, and a part's error says which.
        for part in self.parts() {
            if check(part.value, spec).is_err() {
                let name = format!("{}.{}", spec.name, part.name);
                check(part.value, &MetricSpec { name: &name, ..*spec })?;
            }
        }
        check(self.score.value, spec)?;
        check_bool(self.score.value, spec)?;
        check_confidence(self.score.confidence, spec)?;
        self.passed = spec.verdict(self.score.value);
        if let (true, Some(passed)) = (spec.strict, self.passed) {
            self.score.value = f64::from(u8::from(passed));
        }
        Ok(self)
    }
}

/// The components' critiques, a line each: those without a score, then by value.
fn worst_first(components: &Components) -> Option<String> {
    let mut lines: Vec<(f64, String)> = components
        .iter()
        .filter_map(|Component { name, outcome }| match outcome {
            Outcome::Scored(scored) => {
                let value = scored.score.value;
                let words =
                    scored.feedback().or(scored.score.details.as_deref().map(Cow::Borrowed));
                words.map(|words| (value, format!("{name} ({value}): {words}")))
            }
            other => other.error().map(|error| (f64::NEG_INFINITY, error)),
        })
        .collect();
    lines.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn check(value: f64, spec: &MetricSpec<'_>) -> Result<()> {
    if !value.is_finite() {
        return Err(MetricError::NotFinite { metric: spec.name.to_owned(), value });
    }
    match spec.range {
        Some(range) if !range.contains(value) => {
            Err(MetricError::OutOfRange { metric: spec.name.to_owned(), value, range })
        }
        _ => Ok(()),
    }
}

/// The headline of a bool counts rows that are true, and half a row is none.
#[expect(clippy::float_cmp, reason = "any other value is wrong, however near")]
fn check_bool(value: f64, spec: &MetricSpec<'_>) -> Result<()> {
    if spec.kind == ScoreKind::Number || value == 0.0 || value == 1.0 {
        return Ok(());
    }
    let message = format!("it says true or false, but scored {value:?}, which is neither 1 nor 0");
    Err(MetricError::Failed { metric: spec.name.to_owned(), message })
}

fn check_confidence(confidence: f64, spec: &MetricSpec<'_>) -> Result<()> {
    if (0.0..=1.0).contains(&confidence) {
        return Ok(());
    }
    let message = format!("the confidence {confidence:?} lies outside 0.0..=1.0");
    Err(MetricError::Failed { metric: spec.name.to_owned(), message })
}

/// What a metric answers to the five-argument call of an optimizer.
#[derive(Debug, Clone, PartialEq)]
pub enum Grade {
    /// No trace was given, or the metric has no verdict.
    Score(MetricScore),
    /// A trace was given: pass or fail, never a float that happens to be truthy.
    Verdict(bool),
}
