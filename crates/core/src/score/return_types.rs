//! The types that a metric can return, and their conversion to [`Scored`] or to a row's contribution.

use crate::score::{
    CorpusCounts, CorpusState, Counted, FeedbackMetric, MetricError, MetricScore, Result,
    RowAnswer, Scored, Scores,
};
use crate::spec::{MetricSpec, ScoreKind};

/// A type that a `#[metric]` function or a metric closure can return.
///
/// ```
/// use dsrs_metrics::contract::{MetricReturn, ScoreKind};
///
/// fn kind<R: MetricReturn>() -> ScoreKind {
///     R::KIND
/// }
///
/// assert_eq!(kind::<Result<bool, String>>(), ScoreKind::Bool);
/// assert_eq!(kind::<Option<f64>>(), ScoreKind::Number);
/// ```
#[diagnostic::on_unimplemented(
    message = "a metric cannot return `{Self}`",
    label = "not a score",
    note = "return `bool`, `f64`, `f32`, an integer, `MetricScore`, `FeedbackMetric`, `Scores`, `Check` or `Breakdown`,\nor an `Option` of one of these (`None` abstains),\nor a `Result<_, E>` of one of these with `E: Display` (an error fails the row);\na `#[metric(corpus)]` returns a type that implements `CorpusState`"
)]
pub trait MetricReturn {
    /// The kind of score, which is a bool or a number.
    const KIND: ScoreKind;
    /// Specifies whether the value itself is a verdict.
    ///
    /// The type is [`Decided`] or [`Undecided`].
    type Verdict;

    /// Converts the value to a score, validated against the spec.
    ///
    /// # Errors
    /// Returns the metric's own error. Also returns an error if the metric abstains or returns a value that the spec
    /// does not allow.
    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored>;
}

/// Marks a metric that gives a verdict.
///
/// The metric returns `bool` or has a threshold.
#[derive(Debug)]
pub enum Decided {}

/// Marks a metric that gives no verdict.
#[derive(Debug)]
pub enum Undecided {}

fn with_expected_cost(value: f64, spec: &MetricSpec<'_>) -> MetricScore {
    MetricScore::new(value).with_cost_msats(spec.cost_msats)
}

#[diagnostic::do_not_recommend]
impl MetricReturn for bool {
    const KIND: ScoreKind = ScoreKind::Bool;
    type Verdict = Decided;

    #[inline]
    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Scored::of_value(f64::from(u8::from(self)), spec)
    }
}

macro_rules! number {
    ($($number:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl MetricReturn for $number {
            const KIND: ScoreKind = ScoreKind::Number;
            type Verdict = Undecided;

            #[inline]
            fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
                #[expect(clippy::allow_attributes, reason = "whether the cast is lossy depends on the type")]
                #[allow(clippy::cast_precision_loss, clippy::cast_lossless, trivial_numeric_casts)]
                Scored::of_value(self as f64, spec)
            }
        }
    )*};
}
number!(f32, f64, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

#[diagnostic::do_not_recommend]
impl MetricReturn for MetricScore {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Scored::validated(self, spec)
    }
}

#[diagnostic::do_not_recommend]
impl MetricReturn for FeedbackMetric {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Scored::of_feedback(with_expected_cost(self.score, spec), self, spec)
    }
}

#[diagnostic::do_not_recommend]
impl MetricReturn for Scores {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Scored::of_parts(with_expected_cost(self.headline(), spec), self, None, spec)
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn> MetricReturn for Option<T> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    #[inline]
    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        let Some(score) = self else {
            // The metric was evaluated, so an abstention costs as much as a score.
            return Err(MetricError::abstained(spec.name).with_cost_msats(spec.cost_msats));
        };
        score.into_scored(spec)
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn, E: std::fmt::Display> MetricReturn for Result<T, E> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    #[inline]
    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        match self {
            Ok(score) => score.into_scored(spec),
            Err(error) => {
                Err(MetricError::failed(spec.name, error).with_cost_msats(spec.cost_msats))
            }
        }
    }
}

/// A row's score, together with its counts for the corpus score.
///
/// The metric's summary then shows the mean of the row scores and the corpus score.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, contract::{CorpusCounts, WithCorpus}, rows::Pair};
///
/// /// Share of the words that are known.
/// #[metric]
/// fn known_words(#[gold] vocabulary: &[String], #[pred] answer: &str) -> Option<WithCorpus<f64>> {
///     let words = answer.split_whitespace();
///     let known = words.clone().filter(|word| vocabulary.iter().any(|known| known == word)).count();
///     let all = words.count();
///     let share = |counts: &[u64]| Some(counts[0] as f64 / counts[1] as f64);
///     let counts = CorpusCounts::new([known as u64, all as u64], share);
///     (all > 0).then(|| WithCorpus::new(known as f64 / all as f64, counts))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = |id: &str, answer: &str| {
///     Pair::new(id, example! { "vocabulary" => ["cat"] }, prediction! { "answer" => answer })
/// };
/// let evaluate = Evaluate::builder().metric(KnownWords).build()?;
/// let result = evaluate.score([row("a", "cat"), row("b", "the dog barks")]).await?;
/// assert_eq!(result.metrics[0].corpus, Some(0.25));
/// assert_eq!(result.to_string(), "known_words  0.5000 [-5.8531, 6.8531; few rows] (mean of 2/2, 0 failed); corpus 0.2500");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WithCorpus<T> {
    /// The row's score.
    pub score: T,
    /// The row's contribution to the corpus score.
    pub counts: CorpusCounts,
}

impl<T> WithCorpus<T> {
    /// Creates a row's score together with its counts.
    ///
    /// ```
    /// # use dsrs_metrics::contract::{CorpusCounts, WithCorpus};
    /// let counts = CorpusCounts::new([1, 2], |sums: &[u64]| Some(sums[0] as f64 / sums[1] as f64));
    /// let row = WithCorpus::new(0.5, counts);
    /// assert_eq!((row.score, row.counts.score()), (0.5, Some(0.5)));
    /// ```
    pub const fn new(score: T, counts: CorpusCounts) -> Self {
        Self { score, counts }
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn> MetricReturn for WithCorpus<T> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Ok(self.score.into_scored(spec)?.with_corpus(self.counts))
    }
}

/// A type that a `#[metric(corpus)]` function can return.
///
/// The type is a [`CorpusState`], or an `Option` or `Result` of one.
#[diagnostic::on_unimplemented(
    message = "expected a row's contribution to a corpus score, found `{Self}`",
    label = "cannot be merged",
    note = "return `CorpusCounts`, a type from `dsrs_metrics::stats`, or a type that implements `CorpusState`,\nor an `Option` or `Result` of one of these"
)]
#[doc(hidden)]
pub trait CorpusReturn {
    const KIND: ScoreKind = ScoreKind::Corpus;
    type Verdict;

    /// Converts the value to the row's contribution.
    ///
    /// # Errors
    /// Returns the metric's own error. Also returns an error if the metric abstains.
    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<RowAnswer>;
}

#[diagnostic::do_not_recommend]
impl<S: CorpusState> CorpusReturn for S {
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<RowAnswer> {
        let (metric, cost_msats) = (spec.name.to_owned(), spec.cost_msats);
        Ok(RowAnswer::Counted {
            metric,
            cost_msats,
            counted: Counted::new(self),
        })
    }
}

#[diagnostic::do_not_recommend]
impl<T: CorpusReturn> CorpusReturn for Option<T> {
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<RowAnswer> {
        let abstained = || MetricError::abstained(spec.name).with_cost_msats(spec.cost_msats);
        self.ok_or_else(abstained)?.into_scored(spec)
    }
}

#[diagnostic::do_not_recommend]
impl<T: CorpusReturn, E: std::fmt::Display> CorpusReturn for Result<T, E> {
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<RowAnswer> {
        let failed = |error| MetricError::failed(spec.name, error).with_cost_msats(spec.cost_msats);
        self.map_err(failed)?.into_scored(spec)
    }
}
