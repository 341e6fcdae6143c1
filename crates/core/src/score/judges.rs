//! The judges that a score is from: offline ones, ones without a verdict, and the models that replied.

use super::replied_by::{self, LostJudges, RepliedBy};
use super::{Note, OFFLINE_JUDGE, Scored};

impl Scored {
    /// Returns whether a judge, or a judge among the components, scored the row by token overlap instead of with a model.
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
            || self.components().any(|component| {
                component
                    .outcome
                    .scored()
                    .is_some_and(Self::is_judged_offline)
            })
    }

    /// Returns the judges without a verdict, of the judge or of a judge among the components. Those that no quorum allows
    /// take precedence.
    #[doc(hidden)]
    pub fn lost_judges(&self) -> Option<&LostJudges> {
        match &self.note {
            Note::None | Note::Feedback => None,
            Note::Critique(critique) => critique.lost.as_ref(),
            Note::Composite(components) => {
                let lost = || components.scored().filter_map(Self::lost_judges);
                lost()
                    .find(|lost| !lost.is_allowed)
                    .or_else(|| lost().next())
            }
        }
    }

    /// Sets the judges without a verdict.
    pub(crate) fn with_lost_judges(mut self, lost: Option<LostJudges>) -> Self {
        if let Note::Critique(critique) = &mut self.note {
            critique.lost = lost;
        }
        self
    }

    /// Returns the models that replied to the judges of the metric, or of its components, as their providers report them.
    ///
    /// A judge that is several components of a composite is called once, and has an entry for each of them.
    pub fn replied_by(&self) -> Vec<RepliedBy<'_>> {
        let mut all = Vec::new();
        self.each_replied_by(&mut |replied_by| all.push(replied_by));
        all
    }

    /// Calls a function with each entry of [`replied_by`](Self::replied_by).
    #[doc(hidden)]
    pub fn each_replied_by<'a>(&'a self, call: &mut dyn FnMut(RepliedBy<'a>)) {
        if let Some(metadata) = self.metadata() {
            replied_by::each_in(metadata, call);
        }
        self.scored_components()
            .for_each(|scored| scored.each_replied_by(call));
    }
}
