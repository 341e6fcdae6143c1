//! The builder of a judge without parameters of its own. A judge with parameters has a generated one.

use std::fmt;

use super::aggregation::Aggregation;
use super::panel::Panel;
use crate::lm::IntoModel;
use crate::rows::dynamic::Example;

/// Builds a judge without parameters: `PoliteJudge::builder()`. The builder of a judge with parameters has the same
/// setters.
#[must_use = "a builder does nothing before `build`"]
pub struct JudgeBuilder<J> {
    panel: Panel,
    build: fn(Panel) -> J,
}

impl<J> JudgeBuilder<J> {
    /// Creates a builder without settings.
    #[doc(hidden)]
    pub fn new(build: fn(Panel) -> J) -> Self {
        Self { panel: Panel::default(), build }
    }

    setters! {
        /// Sets the models that judge, and the aggregation of their scores.
        pub fn panel(value: Panel) => panel = value;
    }

    setters! {
        /// Sets the model for every judge of the panel that names none.
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Scores by the offline stand-in of the judge, if it has one, in place of a model. Every result is marked.
        pub fn offline() in panel.offline;

        /// Sets the models of the panel. Their scores are aggregated.
        pub fn models(models: impl IntoIterator<Item = impl IntoModel>) in panel.models;

        /// Sets the aggregation of the scores of several judges.
        pub fn aggregation(aggregation: Aggregation) in panel.aggregation;

        /// Sets the number of judges that run concurrently, at least one.
        pub fn max_concurrent_judges(limit: usize) in panel.max_concurrent_judges;

        /// Sets the number of judges that must return a score.
        pub fn quorum(quorum: usize) in panel.quorum;

        /// Sets the smallest (or, if lower is better, the largest) value that is a pass.
        pub fn threshold(threshold: f64) in panel.threshold;

        /// Replaces each score with 1 (pass) or 0 (fail). The judge must have a threshold.
        pub fn strict() in panel.strict;

        /// Sets the largest expected cost of one verdict of one model, in millisatoshis.
        pub fn cost_msats(cost_msats: u64) in panel.cost_msats;

        /// Sets the instruction, in place of the doc comment of the signature.
        pub fn instruction(instruction: impl Into<String>) in panel.instruction;

        /// Sets the demonstrations: examples with the judge's inputs and outputs, by the names of its fields.
        pub fn demos(demos: impl IntoIterator<Item = Example>) in panel.demos;

        /// Sets extra context, which follows the instruction and is trusted like it.
        pub fn context(context: impl Into<String>) in panel.context;
    }

    /// Returns the judge.
    #[must_use]
    pub fn build(self) -> J {
        (self.build)(self.panel)
    }
}

impl<J> fmt::Debug for JudgeBuilder<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeBuilder").field("panel", &self.panel).finish_non_exhaustive()
    }
}
