//! What a metric may return, and how each type becomes a [`Scored`].

use crate::core::error::{MetricError, Result};
use crate::core::score::{FeedbackMetric, MetricScore, Scored, Scores};
use crate::core::spec::{MetricSpec, ScoreKind};

/// Types that a `#[metric]` function or a metric closure may return.
#[diagnostic::on_unimplemented(
    message = "a metric cannot return `{Self}`",
    label = "not a score",
    note = "return `bool`, `f64`, `f32`, an integer, `MetricScore`, `FeedbackMetric` or `Scores`,\nor an `Option` of one of these (`None` abstains),\nor a `Result` of one of these whose error implements `Display` (it fails the row)"
)]
pub trait MetricReturn {
    /// Bool or number.
    const KIND: ScoreKind;
    /// [`Decided`] where the value itself is a verdict, [`Undecided`] elsewhere.
    type Verdict;

    /// The score, held against the spec.
    ///
    /// # Errors
    /// The metric's own error, an abstention, or a value that breaks the spec.
    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored>;

    /// The score, told to whoever asked.
    #[doc(hidden)]
    fn tell<S: Asker>(self, spec: &MetricSpec<'_>, asker: S) -> S::Told
    where
        Self: Sized,
    {
        asker.scored(self.into_scored(spec))
    }
}

/// Who asked a metric: a caller gets a [`Scored`], a composite has a place for the answer's numbers, where
/// they are written without a detour.
#[doc(hidden)]
pub trait Asker {
    /// What the one who asked is given.
    type Told;

    /// A number or bool, yet to be held against the spec.
    fn number(self, value: f64, spec: &MetricSpec<'_>) -> Self::Told;

    /// Any answer.
    fn scored(self, answer: Result<Scored>) -> Self::Told;
}

/// The caller, to whom the answer is returned.
#[doc(hidden)]
#[derive(Debug)]
pub struct Returned;

impl Asker for Returned {
    type Told = Result<Scored>;

    #[inline]
    fn number(self, value: f64, spec: &MetricSpec<'_>) -> Result<Scored> {
        Scored::of_value(value, spec)
    }

    #[inline]
    fn scored(self, answer: Result<Scored>) -> Result<Scored> {
        answer
    }
}

/// Marks a metric that says pass or fail: it returns `bool` or has a threshold.
#[derive(Debug)]
pub enum Decided {}

/// Marks a metric that gives only a number.
#[derive(Debug)]
pub enum Undecided {}

fn free(value: f64, spec: &MetricSpec<'_>) -> MetricScore {
    MetricScore::new(value).with_cost_msats(spec.cost_msats)
}

#[diagnostic::do_not_recommend]
impl MetricReturn for bool {
    const KIND: ScoreKind = ScoreKind::Bool;
    type Verdict = Decided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        self.tell(spec, Returned)
    }

    #[inline]
    fn tell<S: Asker>(self, spec: &MetricSpec<'_>, asker: S) -> S::Told {
        asker.number(f64::from(u8::from(self)), spec)
    }
}

macro_rules! number {
    ($($number:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl MetricReturn for $number {
            const KIND: ScoreKind = ScoreKind::Number;
            type Verdict = Undecided;

            fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
                self.tell(spec, Returned)
            }

            #[inline]
            fn tell<S: Asker>(self, spec: &MetricSpec<'_>, asker: S) -> S::Told {
                #[expect(clippy::allow_attributes, reason = "whether the cast is lossy depends on the type")]
                #[allow(clippy::cast_precision_loss, clippy::cast_lossless, trivial_numeric_casts)]
                asker.number(self as f64, spec)
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
        Scored::settle(self, spec)
    }
}

#[diagnostic::do_not_recommend]
impl MetricReturn for FeedbackMetric {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Scored::of_feedback(free(self.score, spec), self, spec)
    }
}

#[diagnostic::do_not_recommend]
impl MetricReturn for Scores {
    const KIND: ScoreKind = ScoreKind::Number;
    type Verdict = Undecided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Scored::of_parts(free(self.headline(), spec), self, None, spec)
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn> MetricReturn for Option<T> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        self.tell(spec, Returned)
    }

    #[inline]
    fn tell<S: Asker>(self, spec: &MetricSpec<'_>, asker: S) -> S::Told {
        let Some(score) = self else {
            // It was asked, and costs what it would have cost with an opinion.
            let error = MetricError::Abstained { metric: spec.name.to_owned() };
            return asker.scored(Err(error.with_cost_msats(spec.cost_msats)));
        };
        score.tell(spec, asker)
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn, E: std::fmt::Display> MetricReturn for Result<T, E> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        self.tell(spec, Returned)
    }

    #[inline]
    fn tell<S: Asker>(self, spec: &MetricSpec<'_>, asker: S) -> S::Told {
        match self {
            Ok(score) => score.tell(spec, asker),
            Err(error) => {
                let error = MetricError::failed(spec.name, error);
                asker.scored(Err(error.with_cost_msats(spec.cost_msats)))
            }
        }
    }
}
