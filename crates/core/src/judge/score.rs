//! The score of a judge's answer: the types that are scores, and the formulas that judges share.

use std::cell::Cell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The first subexpression of a score that overflowed, as in the source.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Overflow(pub(super) Cell<Option<&'static str>>);

impl Overflow {
    fn record(&self, written: &'static str) {
        self.0.set(self.0.get().or(Some(written)));
    }
}

/// Checked integer arithmetic of `score = ..`: an overflow, such as `grade - 1` of a grade 0, is recorded, where plain
/// arithmetic would panic in debug builds and wrap in release builds.
#[doc(hidden)]
pub trait CheckedInteger: Sized {
    /// Adds, recording an overflow.
    fn add(self, other: Self, overflow: &Overflow, written: &'static str) -> Self;
    /// Subtracts, recording an overflow.
    fn sub(self, other: Self, overflow: &Overflow, written: &'static str) -> Self;
    /// Multiplies, recording an overflow.
    fn mul(self, other: Self, overflow: &Overflow, written: &'static str) -> Self;
    /// Returns the remainder, recording an overflow.
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

/// The types that `score = ..` may have, besides `bool`.
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
    /// Returns the score.
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
    /// The first is better; scored 1.
    First,
    /// The second is better; scored 0.
    Second,
    /// Neither is better; scored 0.5.
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

/// Normalizes a grade on a scale to [0, 1]: `(grade - worst) / (best - worst)`.
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

/// Returns the share of the items for which `is_counted` holds, in [0, 1]; NaN without items, for which a judge declares what the
/// row is: `#[output(each = statements, empty = ..)]`.
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
