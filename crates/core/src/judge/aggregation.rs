//! How models' answers become a row's score: one answer or several, from one judge or a panel, for the whole row or for
//! each turn of a conversation. `scoring.rs` computes scores from log probabilities.
//!
//! The file is long because each way to aggregate is documented with its formula and an example.

use std::cell::Cell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lm::Logprobs;
use crate::spec::ScoreRange;
use crate::trajectory::{Message, Role, Trajectory};

/// How to aggregate the answers from several judges.
///
/// ```
/// use dsrs_metrics::judge::{Aggregation, shipped::SemanticF1};
/// use dsrs_metrics::lm::ScriptedLm;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let grade = |f1: f64| {
///     ScriptedLm::new().otherwise(json!({ "reasoning": "", "recall": f1, "precision": f1 }))
/// };
/// let gold = example! { "question" => "Where?", "response" => "Paris, on the Seine" };
/// let pred = prediction! { "response" => "In Paris." };
/// let mut values = Vec::new();
/// for aggregation in [Aggregation::Majority, Aggregation::Median, Aggregation::Average] {
///     let judge = SemanticF1::builder().models([0.25, 0.25, 0.5, 1.0].map(grade));
///     values.push(judge.aggregation(aggregation).build().evaluate(&gold, &pred).await?.value);
/// }
/// assert_eq!(values, [0.25, 0.375, 0.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Aggregation {
    /// The verdict that most judges returned.
    ///
    /// Judges without a verdict don't count, and a tie is an error. This is the default for verdicts.
    ///
    /// For grades, the result is the most frequent grade. If several grades are equally frequent, the result is their
    /// median.
    Majority,
    /// The median of the answers.
    ///
    /// This is the default for grades.
    Median,
    /// The mean of the answers.
    Average,
}

impl Aggregation {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Median => "median",
            Self::Average => "average",
        }
    }
}

/// Aggregates the grades from at least one judge.
pub(super) fn aggregate(values: &[f64], aggregation: Aggregation) -> f64 {
    match aggregation {
        Aggregation::Average => mean(values),
        Aggregation::Median => median(values),
        Aggregation::Majority => median(&most_frequent(values)),
    }
}

/// Returns the majority of the votes, where 1 is yes and 0 is no. Returns `None` on a tie.
pub(super) fn majority(votes: &[f64]) -> Option<f64> {
    let yes = votes.iter().filter(|vote| **vote >= 1.0).count();
    let no = votes.len() - yes;
    (yes != no).then(|| f64::from(u8::from(yes > no)))
}

/// Returns how much the judges agree, in [0, 1]: the mean closeness of their values to the aggregate, where closeness
/// is 1 minus the distance as a fraction of the range. For votes, this is the fraction of judges in the majority.
/// Without a range, closeness is `|value| / (|value| + distance)`.
pub(super) fn agreement(values: &[f64], aggregated: f64, range: Option<ScoreRange>) -> f64 {
    let closeness = |value: &f64| {
        let distance = (value - aggregated).abs();
        match range {
            Some(range) => 1.0 - distance / (range.max - range.min),
            None if distance == 0.0 => 1.0,
            None => aggregated.abs() / (aggregated.abs() + distance),
        }
    };
    mean(&values.iter().map(closeness).collect::<Vec<_>>()).clamp(0.0, 1.0)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    // There are far fewer than 2^52 judges, draws and turns.
    let count = values.len() as f64;
    values.iter().sum::<f64>() / count
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    }
}

/// Returns the most frequent values, without duplicates.
fn most_frequent(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let runs: Vec<&[f64]> = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).collect();
    let longest = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let most = runs.iter().filter(|run| run.len() == longest);
    most.map(|run| run[0]).collect()
}

/// How to turn a model's answer into a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(hidden)]
pub enum Scoring {
    /// The score of the answer as the model wrote it.
    #[default]
    Text,
    /// The mean score over all possible values of this output, weighted by probability.
    Logprobs(&'static str),
    /// The mean score over this many answers to the same prompt.
    Draws(u32),
}

impl Scoring {
    /// Returns the log probabilities to request, if the score is computed from them.
    pub(super) fn logprobs(self) -> Option<Logprobs> {
        match self {
            Self::Logprobs(output) => Some(Logprobs::of(output)),
            Self::Text | Self::Draws(_) => None,
        }
    }

    /// Returns how many times each model answers for a row, or for each order of a pair.
    pub(super) fn draws(self) -> u32 {
        match self {
            Self::Draws(draws) => draws.max(1),
            Self::Text | Self::Logprobs(_) => 1,
        }
    }
}

/// The settings of a judge that scores a conversation turn by turn.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Turns {
    /// The role whose messages are judged.
    pub role: Role,
    /// The maximum number of earlier messages shown with each turn.
    ///
    /// `None` shows all earlier messages.
    pub window: Option<usize>,
    /// The maximum number of turns per row.
    pub max: usize,
    pub reduction: Reduction,
    /// `true` if a turn's score is a `bool`.
    pub is_verdict: bool,
}

/// A conversation in a judge's inputs, and a function that replaces it.
///
/// The function takes the inputs and a new conversation, and returns the changed inputs.
#[doc(hidden)]
pub type Conversation<'i, I> = (&'i Trajectory, fn(&I, Trajectory) -> I);

/// How to combine the scores of several turns into a row's score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Reduction {
    Mean,
    Min,
    Max,
}

impl Reduction {
    pub(super) fn of(self, values: &[f64]) -> f64 {
        match self {
            Self::Mean => mean(values),
            Self::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl Turns {
    /// Returns the positions of the messages that are turns. A message without text, which only calls tools, is not
    /// one.
    pub(super) fn of(&self, conversation: &Trajectory) -> Vec<usize> {
        let is_turn =
            |message: &Message| message.role == self.role && !message.text.trim().is_empty();
        let messages = conversation.messages().iter().enumerate();
        let turns = messages.filter(|(_, message)| is_turn(message));
        turns.map(|(position, _)| position).collect()
    }

    /// Returns the turn at a position, together with the messages before it.
    pub(super) fn window(&self, conversation: &Trajectory, position: usize) -> Trajectory {
        let start = position.saturating_sub(self.window.unwrap_or(position));
        Trajectory::new(conversation.messages()[start..=position].iter().cloned())
    }
}

/// Records the first overflow in a score expression.
///
/// The struct stores the subexpression that overflowed, as written in the source code.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Overflow(pub(super) Cell<Option<&'static str>>);

impl Overflow {
    fn record(&self, written: &'static str) {
        self.0.set(self.0.get().or(Some(written)));
    }
}

/// Checked integer arithmetic for `score = ..`.
///
/// Overflows are recorded instead of causing a panic or wrapping. For example, `grade - 1` overflows for a grade of 0.
#[doc(hidden)]
pub trait CheckedInteger: Sized {
    /// Adds two numbers, recording any overflow.
    fn add(self, other: Self, overflow: &Overflow, written: &'static str) -> Self;
    /// Subtracts one number from another, recording any overflow.
    fn sub(self, other: Self, overflow: &Overflow, written: &'static str) -> Self;
    /// Multiplies two numbers, recording any overflow.
    fn mul(self, other: Self, overflow: &Overflow, written: &'static str) -> Self;
    /// Returns the remainder of a division, recording any overflow.
    fn rem(self, other: Self, overflow: &Overflow, written: &'static str) -> Self;
}

macro_rules! checked_integer {
    ($($number:ty),*) => {$(
        checked_integer!(@ $number: add checked_add sub checked_sub mul checked_mul rem checked_rem);
    )*};
    (@ $number:ty: $($name:ident $checked:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl CheckedInteger for $number {$(
            fn $name(self, other: Self, overflow: &Overflow, written: &'static str) -> Self {
                self.$checked(other).unwrap_or_else(|| {
                    overflow.record(written);
                    self
                })
            }
        )*}
    };
}
checked_integer!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// A type that a judge's `score = ..` expression can have.
///
/// The expression can also be a `bool`.
///
/// ```
/// use dsrs_metrics::lm::ScriptedLm;
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// /// Grade the answer from 1 (useless) to 5 (perfect).
/// #[judge(score = stars, reasoning = false)]
/// struct Stars {
///     #[input(pred)]
///     answer: String,
///     #[output(range = 1..=5)]
///     stars: u8,
/// }
///
/// let judge = StarsJudge::default().with_lm(ScriptedLm::new().otherwise(r#"{ "stars": 4 }"#));
/// let score = judge.evaluate(&example! {}, &prediction! { "answer" => "Paris" }).await?;
/// assert_eq!(score.value, 4.0);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a number as a judge's score, found `{Self}`",
    label = "not a number",
    note = "write an expression over the outputs that returns a number, as in `score = harmonic_mean(precision, recall)`;\nmark a function that returns a `bool` as a verdict: `score = is_good(grade) as bool`"
)]
pub trait IntoScore {
    /// Converts the value to a score.
    fn into_score(self) -> f64;
}

macro_rules! number {
    ($($number:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl IntoScore for $number {
            fn into_score(self) -> f64 {
                self as f64
            }
        }
    )*};
}
number!(f32, f64, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// The answer that a pairwise judge prefers.
///
/// ```
/// use dsrs_metrics::judge::{IntoScore, Preference};
///
/// let preferred: Preference = serde_json::from_str(r#""second""#).unwrap();
/// assert_eq!((Preference::First.into_score(), Preference::Tie.into_score(), preferred.into_score()), (1.0, 0.5, 0.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// The first answer is better, so the score is 1.
    First,
    /// The second answer is better, so the score is 0.
    Second,
    /// Neither answer is better, so the score is 0.5.
    Tie,
}

#[diagnostic::do_not_recommend]
impl IntoScore for Preference {
    fn into_score(self) -> f64 {
        match self {
            Self::First => 1.0,
            Self::Tie => 0.5,
            Self::Second => 0.0,
        }
    }
}

/// Rescales a grade from its scale to [0, 1].
///
/// The formula is `(grade - worst) / (best - worst)`.
///
/// ```
/// use dsrs_metrics::judge::rescale;
///
/// assert_eq!([1, 3, 5].map(|grade| rescale(grade, 1..=5)), [0.0, 0.5, 1.0]);
/// assert_eq!(rescale(0.25, 1.0..=0.0), 0.75);
/// ```
pub fn rescale<S: Into<f64>>(grade: impl Into<f64>, scale: std::ops::RangeInclusive<S>) -> f64 {
    let (worst, best) = scale.into_inner();
    let (worst, best): (f64, f64) = (worst.into(), best.into());
    (grade.into() - worst) / (best - worst)
}

/// Returns the fraction of items that `is_counted` accepts.
///
/// The result is in [0, 1], or NaN if there are no items.
///
/// To score a row without items, declare `#[output(each = statements, empty = ..)]` in the judge.
///
/// ```
/// use dsrs_metrics::judge::share;
///
/// assert_eq!(share([true, false, true, true], |is_supported| is_supported), 0.75);
/// assert!(share(Vec::<bool>::new(), |is_supported| is_supported).is_nan());
/// ```
pub fn share<T>(items: impl IntoIterator<Item = T>, is_counted: impl Fn(T) -> bool) -> f64 {
    let (mut counted, mut all) = (0_u32, 0_u32);
    for item in items {
        all += 1;
        counted += u32::from(is_counted(item));
    }
    f64::from(counted) / f64::from(all)
}

#[cfg(test)]
mod tests {
    use super::{aggregate, agreement, majority};
    use crate::judge::Aggregation::{Average, Majority, Median};
    use crate::spec::ScoreRange;

    #[test]
    fn each_aggregation_has_its_value() {
        let grades = [1.0, 5.0, 5.0, 2.0];
        assert_eq!(aggregate(&grades, Average), 3.25);
        assert_eq!(aggregate(&grades, Median), 3.5);
        assert_eq!(aggregate(&grades, Majority), 5.0);
        assert_eq!(
            aggregate(&[1.0, 4.0, 2.0], Majority),
            2.0,
            "all are equally frequent"
        );
    }

    #[test]
    fn a_tie_has_no_majority() {
        assert_eq!(majority(&[1.0, 0.0]), None);
        assert_eq!(majority(&[1.0, 0.0, 1.0]), Some(1.0));
        assert_eq!(majority(&[0.0, 0.0, 1.0]), Some(0.0));
    }

    #[test]
    fn agreement_is_the_share_of_equal_votes_and_falls_with_the_spread() {
        let unit = Some(ScoreRange::UNIT);
        assert_eq!(agreement(&[1.0, 1.0, 1.0, 0.0], 1.0, unit), 0.75);
        assert_eq!(agreement(&[0.5, 0.5], 0.5, unit), 1.0);
        assert_eq!(
            agreement(&[1.0, 5.0], 3.0, Some(ScoreRange { min: 1.0, max: 5.0 })),
            0.5
        );
        assert_eq!(agreement(&[2.0, 6.0], 4.0, None), 4.0 / 6.0);
        assert_eq!(agreement(&[0.0, 0.0], 0.0, None), 1.0);
    }
}
