//! What a score says beyond its value: the fields that the prediction lacks, and the judges that scored it.

use std::borrow::Cow;

use indexmap::IndexSet;

use super::replied_by::RepliedBy;
use super::{LostJudges, OFFLINE_JUDGE};
use crate::rows::{Absent, FieldError, MissingFields};
use crate::score::{MetricError, MetricScore, Result, RowAnswer, Scored, row_answer};
use crate::spec::{MetricSpec, Side};

impl Scored {
    /// Returns the names of the fields that are missing from the prediction.
    ///
    /// A field that is `null` is also missing.
    ///
    /// The list is empty unless the metric scored the prediction anyway, because `#[metric]` or `#[pred]` sets
    /// `missing`.
    ///
    /// For a composite, returns the missing fields of its components.
    ///
    /// ```
    /// use dsrs_metrics::metrics::IntentAccuracy;
    /// use dsrs_metrics::prelude::*;
    ///
    /// let (gold, pred) = (example! { "expected_intent" => "temporal" }, prediction! {});
    /// let scored = IntentAccuracy.answer(MetricCall::new(&gold, &pred)).ready().unwrap().unwrap();
    /// assert_eq!((scored.score.value, scored.missing_fields()), (0.0, vec!["intent"]));
    /// assert_eq!(scored.feedback().unwrap(), "the prediction has no field `intent`");
    /// ```
    pub fn missing_fields(&self) -> Vec<&str> {
        let fields = self.missing().into_iter().flat_map(MissingFields::iter);
        let names: IndexSet<&str> = fields.map(|field| &*field.name).collect();
        names.into_iter().collect()
    }

    /// Returns the fields that are missing for the metric and for each component.
    #[doc(hidden)]
    pub fn missing(&self) -> Vec<&MissingFields> {
        let own = self.critique.as_ref().and_then(|it| it.missing.as_deref());
        let of_components = self.scored_components().flat_map(Self::missing);
        own.into_iter().chain(of_components).collect()
    }

    /// Marks a score computed with replacements for missing fields, and explains it.
    #[cold]
    pub(crate) fn set_missing(&mut self, missing: Box<MissingFields>) {
        let own = self.feedback().map(Cow::into_owned);
        let details = self.score.details.take();
        let mut critique = self.critique.take().unwrap_or_default();
        critique.shares_details = own == details;
        if critique.shares_details {
            self.score.details = missing.explained(details);
        } else {
            // A metric with feedback may leave out its details.
            self.score.details = details.and_then(|details| missing.explained(Some(details)));
            critique.feedback = missing.explained(own);
        }
        critique.missing = Some(missing);
        self.critique = Some(critique);
        self.limit_explanations();
    }

    /// Returns the score for a prediction that lacks fields, without calling the metric and at no cost.
    #[cold]
    pub(crate) fn without_fields(
        value: f64,
        missing: MissingFields,
        spec: &MetricSpec<'_>,
    ) -> Result<Self> {
        let mut scored = Self::validated(MetricScore::new(value), spec)?;
        scored.set_missing(Box::new(missing));
        Ok(scored)
    }
}

impl Scored {
    /// Returns `true` if a judge scored the row without a model.
    ///
    /// The judge used token overlap instead. The judge can also be a component of a composite.
    ///
    /// ```
    /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let judge = SemanticEquivalence::builder().offline().build();
    /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "Paris" });
    /// assert!(judge.answer(MetricCall::new(&gold, &pred)).await?.is_judged_offline());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_judged_offline(&self) -> bool {
        let label = self.metadata().and_then(|metadata| metadata.get("judge"));
        label.is_some_and(|label| label == OFFLINE_JUDGE)
            || self.scored_components().any(Self::is_judged_offline)
    }

    /// Returns the judges that gave no verdict.
    ///
    /// For a composite, the judges belong to one of its components. Components without a quorum take precedence.
    #[doc(hidden)]
    pub fn lost_judges(&self) -> Option<&LostJudges> {
        let own = self.critique.as_ref().and_then(|it| it.lost.as_ref());
        let lost = || self.scored_components().filter_map(Self::lost_judges);
        own.or_else(|| lost().find(|lost| !lost.is_allowed))
            .or_else(|| lost().next())
    }

    /// Returns the models that served as judges for this score.
    ///
    /// The names are those that the providers reported. The result includes the judges of the metric's components.
    ///
    /// A judge that occurs several times in a composite is called once, but has an entry for each occurrence.
    pub fn replied_by(&self) -> Vec<RepliedBy<'_>> {
        let own = self.metadata().map(RepliedBy::of_metadata);
        let of_components = self.scored_components().flat_map(Self::replied_by);
        own.into_iter().flatten().chain(of_components).collect()
    }
}

impl Absent {
    /// Adds the missing fields to a call's result.
    ///
    /// # Errors
    /// Returns the call's error if the call failed.
    pub fn mark<T: Into<RowAnswer>>(self, result: Result<T>) -> Result<RowAnswer> {
        match self.0 {
            None => row_answer(result),
            Some(missing) => row_answer(result).map(|result| result.with_missing(missing)),
        }
    }
}

/// Converts a field error to the metric's error.
///
/// The error names the side of the row (gold or prediction). If the metric sets a score for predictions that lack the
/// field, returns that score instead.
///
/// # Errors
/// Returns an error unless the metric sets a score for predictions that lack the field.
#[cold]
#[doc(hidden)]
#[expect(clippy::boxed_local, reason = "reading a field returns a boxed error")]
pub fn unreadable_field(
    error: Box<FieldError>,
    spec: &MetricSpec<'_>,
    side: Side,
) -> Result<RowAnswer> {
    let Some(score) = spec.missing.filter(|_| side == Side::Pred) else {
        return Err(MetricError::field(spec.name, side, *error));
    };
    match MissingFields::of_error(*error, spec) {
        Ok(missing) => Ok(Scored::without_fields(score, missing, spec)?.into()),
        Err(error) => Err(MetricError::field(spec.name, side, error)),
    }
}
