//! The return types of a metric's closure: a score, or a future of a score.

use crate::metric::answer::Answer;
use crate::score::return_types::MetricReturn;
use crate::spec::MetricSpec;

/// Marks a closure that returns a score.
#[derive(Debug)]
pub enum AtOnce {}

/// Marks a closure that returns a future.
#[derive(Debug)]
pub enum Awaited {}

/// Types that the closure of a metric may return. `M` is a marker that the compiler infers.
///
/// ```
/// # use dsrs_metrics::prelude::*;
/// // `None` abstains, and an error fails the row.
/// let rated = metric_fn("rated", |_, pred| pred.get("rating").map(|it| it.as_f64().ok_or("not a number")));
/// let error = |pred: Prediction| rated.score(&example! {}, &pred).unwrap_err().to_string();
/// assert_eq!(error(prediction! {}), "metric `rated` abstained");
/// assert_eq!(error(prediction! { "rating" => "good" }), "metric `rated`: not a number");
/// ```
#[diagnostic::on_unimplemented(
    message = "a metric cannot return `{Self}`",
    label = "not a score",
    note = "return `bool`, `f64`, `f32`, an integer, `MetricScore`, `FeedbackMetric`, `Scores`, `Check` or `Breakdown`,\nor an `Option` of one of these (`None` abstains),\nor a `Result<_, E>` of one of these with `E: Display` (an error fails the row),\nor a `Send` future of one of these that does not borrow the rows: `async move {{ .. }}`"
)]
pub trait ClosureReturn<M> {
    /// Adds the declarations of the type to the spec: the kind of the score, and whether the metric is asynchronous.
    fn declare(spec: MetricSpec<'static>) -> MetricSpec<'static>;

    /// Returns the answer, validated against the spec.
    fn into_answer(self, spec: MetricSpec<'_>) -> Answer<'_>;
}

#[diagnostic::do_not_recommend]
impl<R: MetricReturn> ClosureReturn<AtOnce> for R {
    fn declare(spec: MetricSpec<'static>) -> MetricSpec<'static> {
        spec.with_kind(R::KIND)
    }

    #[inline]
    fn into_answer(self, spec: MetricSpec<'_>) -> Answer<'_> {
        self.into_scored(&spec).into()
    }
}

#[diagnostic::do_not_recommend]
impl<R> ClosureReturn<Awaited> for R
where
    R: Future + Send + 'static,
    R::Output: MetricReturn,
{
    fn declare(spec: MetricSpec<'static>) -> MetricSpec<'static> {
        spec.with_kind(R::Output::KIND).with_async()
    }

    fn into_answer(self, spec: MetricSpec<'_>) -> Answer<'_> {
        Answer::pending(async move { self.await.into_scored(&spec) })
    }
}
