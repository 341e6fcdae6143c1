//! What became of the components of a composite on one row, as its score keeps it.
//!
//! How their scores make the whole is in `composite/`.

use std::borrow::Cow;
use std::mem;

use crate::error::{MetricError, Result};
use crate::outcome::Outcome;
use crate::score::{MetricScore, Note, Scored};

/// What became of the components of a composite, each under its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Components {
    pub(crate) names: &'static [&'static str],
    pub(crate) kept: Box<[Kept]>,
}

/// What became of one component. Nearly all are numbers and no more, so they take no more room than
/// that, in memory and in being moved about.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Kept {
    /// It was not asked: it stands behind a gate.
    #[default]
    Unasked,
    Plain(Plain),
    Whole(Box<Whole>),
}

/// An outcome, and what was paid for it: a component that abstained or gated the row has been paid too,
/// which its outcome does not say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Whole {
    pub(crate) outcome: Outcome,
    cost_msats: u64,
}

/// A score of full confidence without words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plain {
    pub(crate) value: f64,
    pub(crate) cost_msats: u64,
    pub(crate) passed: Option<bool>,
}

impl Kept {
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    pub(crate) fn is_unasked(&self) -> bool {
        matches!(self, Self::Unasked)
    }

    /// What became of it, if it was asked.
    pub(crate) fn outcome(&self) -> Option<Cow<'_, Outcome>> {
        match self {
            Self::Unasked => None,
            Self::Whole(whole) => Some(Cow::Borrowed(&whole.outcome)),
            Self::Plain(Plain { value, cost_msats, passed }) => {
                let score = MetricScore::new(*value).with_cost_msats(*cost_msats);
                let scored = Scored { score, passed: *passed, note: Note::None };
                Some(Cow::Owned(Outcome::Scored(scored)))
            }
        }
    }

    #[cold]
    pub(crate) fn whole(outcome: Outcome, cost_msats: u64) -> Self {
        Self::Whole(Box::new(Whole { outcome, cost_msats }))
    }

    /// What was paid for it, in millisatoshis, whether it gave a score or not.
    pub(crate) fn cost_msats(&self) -> u64 {
        match self {
            Self::Unasked => 0,
            Self::Plain(plain) => plain.cost_msats,
            Self::Whole(whole) => whole.cost_msats,
        }
    }

    /// Asks a metric that need not be awaited. An answer is large and most of them are plain, so it is
    /// looked at where it lies, and neither moved nor taken apart.
    #[inline]
    pub(crate) fn ask(&mut self, metric: &str, ask: impl FnOnce() -> Option<Result<Scored>>) {
        let answer = ask();
        match answer.as_ref().and_then(Plain::of) {
            Some(plain) => {
                // Nothing in a plain answer, or in a place that was not asked, holds any memory.
                mem::forget(answer);
                mem::forget(mem::replace(self, Self::Plain(plain)));
            }
            None => *self = Self::of_any(metric, answer),
        }
    }

    #[cold]
    fn of_any(metric: &str, answer: Option<Result<Scored>>) -> Self {
        let late = || Err(MetricError::failed(metric, "must be awaited, but its spec says not"));
        Self::of(answer.unwrap_or_else(late))
    }

    /// What becomes of an answer.
    pub(crate) fn of(answer: Result<Scored>) -> Self {
        match Plain::of(&answer) {
            Some(plain) => Self::Plain(plain),
            None => {
                let paid =
                    answer.as_ref().map_or_else(MetricError::cost_msats, |it| it.score.cost_msats);
                Self::whole(Outcome::from(answer), paid)
            }
        }
    }
}

impl Plain {
    #[inline]
    fn of(answer: &Result<Scored>) -> Option<Self> {
        let scored = answer.as_ref().ok().filter(|scored| scored.is_plain())?;
        let MetricScore { value, cost_msats, .. } = scored.score;
        Some(Self { value, cost_msats, passed: scored.passed })
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
            match kept {
                Kept::Unasked => {}
                Kept::Plain(plain) => cost_msats = cost_msats.saturating_add(plain.cost_msats),
                Kept::Whole(whole) => {
                    cost_msats = cost_msats.saturating_add(whole.cost_msats);
                    if let Some(Scored { score, .. }) = whole.outcome.scored() {
                        confidence = confidence.min(score.confidence);
                    }
                }
            }
        }
        (cost_msats, confidence)
    }

    pub(crate) fn paid_elsewhere(&mut self) {
        for kept in &mut self.kept {
            match kept {
                Kept::Unasked => {}
                Kept::Plain(plain) => plain.cost_msats = 0,
                Kept::Whole(whole) => {
                    whole.cost_msats = 0;
                    whole.outcome.paid_elsewhere();
                }
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
