//! What became of the components of a composite on one row, as its score keeps it.
//!
//! How their scores make the whole is in `composite/`.

use std::borrow::Cow;
use std::mem;

use crate::core::error::{MetricError, Result};
use crate::core::outcome::Outcome;
use crate::core::return_types::Asker;
use crate::core::score::{MetricScore, Note, Scored, held};
use crate::core::spec::MetricSpec;

/// What became of the components of a composite, each under its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Components {
    pub(crate) names: &'static [&'static str],
    pub(crate) kept: Box<[Kept]>,
}

/// What became of one component. Nearly all are numbers and no more, so only the rest has memory of its
/// own. The fields are written one by one where they stay: a value that is put together elsewhere and
/// then moved keeps the processor waiting longer than a simple component takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Kept {
    state: State,
    value: f64,
    cost_msats: u64,
    /// What is more than numbers.
    whole: Option<Box<Outcome>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum State {
    /// It was not asked: it stands behind a gate.
    #[default]
    Unasked,
    /// A score of full confidence without words and without a verdict.
    Number,
    /// The same with its verdict.
    Passed,
    Failed,
    /// Anything else.
    Whole,
}

impl Kept {
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.state, State::Number | State::Passed | State::Failed)
    }

    pub(crate) fn is_unasked(&self) -> bool {
        self.state == State::Unasked
    }

    /// A plain score's value.
    #[inline]
    pub(crate) fn plain(&self) -> Option<f64> {
        self.is_plain().then_some(self.value)
    }

    /// A plain score's verdict.
    #[inline]
    pub(crate) fn passed(&self) -> Option<bool> {
        match self.state {
            State::Passed => Some(true),
            State::Failed => Some(false),
            _ => None,
        }
    }

    /// What is more than numbers.
    pub(crate) fn as_whole(&self) -> Option<&Outcome> {
        self.whole.as_deref()
    }

    /// What became of it, if it was asked.
    pub(crate) fn outcome(&self) -> Option<Cow<'_, Outcome>> {
        match (&self.whole, self.is_unasked()) {
            (Some(outcome), _) => Some(Cow::Borrowed(outcome)),
            (None, true) => None,
            (None, false) => {
                let score = MetricScore::new(self.value).with_cost_msats(self.cost_msats);
                let scored = Scored { score, passed: self.passed(), note: Note::None };
                Some(Cow::Owned(Outcome::Scored(scored)))
            }
        }
    }

    #[cold]
    pub(crate) fn whole(outcome: Outcome, cost_msats: u64) -> Self {
        let whole = Some(Box::new(outcome));
        Self { state: State::Whole, cost_msats, whole, ..Self::default() }
    }

    /// What was paid for it, in millisatoshis, whether it gave a score or not.
    pub(crate) fn cost_msats(&self) -> u64 {
        self.cost_msats
    }

    /// Keeps the answer of a metric that need not be awaited, in a place that was not asked. An answer
    /// is large and most of them are plain, so it is looked at where it lies.
    #[inline]
    pub(crate) fn keep(&mut self, metric: &str, answer: Option<Result<Scored>>) {
        match &answer {
            Some(Ok(scored)) if scored.is_plain() => {
                self.numbers(scored.score.value, scored.score.cost_msats, scored.passed);
                // Nothing in a plain answer holds any memory.
                mem::forget(answer);
            }
            _ => *self = Self::of_any(metric, answer),
        }
    }

    /// A score of full confidence without words.
    #[inline]
    fn numbers(&mut self, value: f64, cost_msats: u64, passed: Option<bool>) {
        self.value = value;
        self.cost_msats = cost_msats;
        self.state = match passed {
            None => State::Number,
            Some(true) => State::Passed,
            Some(false) => State::Failed,
        };
    }

    #[cold]
    fn of_any(metric: &str, answer: Option<Result<Scored>>) -> Self {
        let late = || Err(MetricError::failed(metric, "must be awaited, but its spec says not"));
        Self::of(answer.unwrap_or_else(late))
    }

    /// What becomes of an answer.
    pub(crate) fn of(answer: Result<Scored>) -> Self {
        let mut kept = Self::default();
        match &answer {
            Ok(scored) if scored.is_plain() => {
                kept.numbers(scored.score.value, scored.score.cost_msats, scored.passed);
            }
            _ => {
                let paid =
                    answer.as_ref().map_or_else(MetricError::cost_msats, |it| it.score.cost_msats);
                kept = Self::whole(Outcome::from(answer), paid);
            }
        }
        kept
    }
}

/// The place of a component that was not asked yet.
#[derive(Debug)]
#[doc(hidden)]
pub struct Place<'a>(pub(crate) &'a mut Kept);

impl Place<'_> {
    /// Keeps the answer of a metric that need not be awaited.
    pub(crate) fn keep(self, metric: &str, answer: Option<Result<Scored>>) {
        self.0.keep(metric, answer);
    }
}

impl Asker for Place<'_> {
    type Told = ();

    #[inline]
    fn number(self, value: f64, spec: &MetricSpec<'_>) {
        match held(value, 1.0, spec.name, spec) {
            Ok((value, passed)) => self.0.numbers(value, spec.cost_msats, passed),
            Err(error) => self.scored(Err(error.with_cost_msats(spec.cost_msats))),
        }
    }

    fn scored(self, answer: Result<Scored>) {
        *self.0 = Kept::of(answer);
    }
}

/// What became of one component of a composite.
#[derive(Debug, Clone, PartialEq)]
pub struct Component<'a> {
    /// The component's name.
    pub name: &'a str,
    /// What became of it.
    pub outcome: Cow<'a, Outcome>,
}

impl Components {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Component<'_>> {
        let named = self.names.iter().zip(&self.kept);
        named.filter_map(|(name, kept)| Some(Component { name, outcome: kept.outcome()? }))
    }

    /// What they cost together, in millisatoshis, and the least confidence among those with a score.
    #[inline]
    pub(crate) fn numbers(&self) -> (u64, f64) {
        let (mut cost_msats, mut confidence) = (0_u64, 1.0_f64);
        for kept in &self.kept {
            cost_msats = cost_msats.saturating_add(kept.cost_msats);
            if let Some(Scored { score, .. }) = kept.as_whole().and_then(Outcome::scored) {
                confidence = confidence.min(score.confidence);
            }
        }
        (cost_msats, confidence)
    }

    pub(crate) fn paid_elsewhere(&mut self) {
        for kept in &mut self.kept {
            kept.cost_msats = 0;
            if let Some(outcome) = &mut kept.whole {
                outcome.paid_elsewhere();
            }
        }
    }

    /// The components' critiques, a line each: those without a score, then by value.
    pub(crate) fn worst_first(&self) -> Option<String> {
        let mut lines: Vec<(f64, String)> = self.iter().filter_map(|it| line(&it)).collect();
        lines.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A component's critique, after the value by which it stands among the others.
fn line(Component { name, outcome }: &Component<'_>) -> Option<(f64, String)> {
    let Some(scored) = outcome.scored() else {
        return outcome.error().map(|error| (f64::NEG_INFINITY, error));
    };
    let value = scored.score.value;
    let words = scored.feedback().or(scored.score.details.as_deref().map(Cow::Borrowed))?;
    Some((value, format!("{name} ({value}): {words}")))
}
