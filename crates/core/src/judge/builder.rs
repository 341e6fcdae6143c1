//! The builder of a judge without parameters of its own. A judge with parameters has a generated one.

use std::fmt;

use super::aggregation::Aggregation;
use super::panel::Panel;
use crate::lm::IntoModel;
use crate::rows::dynamic::Example;

/// Builds a judge without parameters: `PoliteJudge::builder()`. The builder of a judge with parameters has the same
/// setters.
///
/// ```
/// use dsrs_metrics::judge::shipped::SemanticEquivalence;
///
/// let models = ["openai:gpt-6-luna", "anthropic:claude-haiku-5-5", "gemini:gemini-3.8-flash"];
/// let judge = SemanticEquivalence::builder().models(models).quorum(2).cost_msats(20).build();
/// assert_eq!((judge.num_judges(), judge.spec().cost_msats), (3, 20));
/// ```
#[must_use = "a builder does nothing before `build`"]
pub struct JudgeBuilder<J> {
    panel: Panel,
    build: fn(Panel) -> J,
}

impl<J> JudgeBuilder<J> {
    /// Creates a builder without settings.
    #[doc(hidden)]
    pub fn new(build: fn(Panel) -> J) -> Self {
        Self {
            panel: Panel::default(),
            build,
        }
    }

    setters! {
        /// Sets the models that judge, and the aggregation of their scores.
        ///
        /// ```
        /// use dsrs_metrics::judge::{Panel, shipped::SemanticF1};
        ///
        /// let lenient = Panel::new().threshold(0.5).instruction("Compare the key facts only.");
        /// let judge = SemanticF1::builder().panel(lenient).build();
        /// assert_eq!(judge.spec().threshold, Some(0.5));
        /// assert_eq!(judge.instruction(), "Compare the key facts only.");
        /// ```
        pub fn panel(value: Panel) => panel = value;
    }

    setters! {
        /// Sets the model for every judge of the panel that names none.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// let lm = ScriptedLm::new().otherwise(r#"{ "reasoning": "5 km is 5,000 m.", "equivalent": true }"#);
        /// let judge = SemanticEquivalence::builder().with_lm(lm).build();
        /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
        /// let score = judge.evaluate(&gold, &pred).await?;
        /// assert_eq!((score.value, score.details.as_deref()), (1.0, Some("5 km is 5,000 m.")));
        /// # Ok(())
        /// # }
        /// ```
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Scores by the offline stand-in of the judge, if it has one, in place of a model. Every result is marked.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// let judge = SemanticEquivalence::builder().offline().build();
        /// let (gold, pred) = (example! { "answer" => "in Paris" }, prediction! { "answer" => "Paris" });
        /// let score = judge.evaluate(&gold, &pred).await?;
        /// assert_eq!(score.details.as_deref(), Some("judge: offline-lexical. Token F1: 0.67."));
        /// # Ok(())
        /// # }
        /// ```
        pub fn offline() in panel.offline;

        /// Sets the models of the panel. Their scores are aggregated.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        /// use serde_json::json;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// let vote = |equivalent: bool| {
        ///     ScriptedLm::new().otherwise(json!({ "reasoning": "", "equivalent": equivalent }))
        /// };
        /// let judge = SemanticEquivalence::builder().models([vote(true), vote(false), vote(true)]).build();
        /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
        /// let score = judge.evaluate(&gold, &pred).await?;
        /// assert_eq!((score.value, score.confidence), (1.0, 2.0 / 3.0));
        /// # Ok(())
        /// # }
        /// ```
        pub fn models(models: impl IntoIterator<Item = impl IntoModel>) in panel.models;

        /// Sets the aggregation of the scores of several judges.
        ///
        /// ```
        /// use dsrs_metrics::judge::{Aggregation, shipped::SemanticEquivalence};
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() {
        /// let judge = SemanticEquivalence::builder().aggregation(Aggregation::Median);
        /// let judge = judge.with_lm(ScriptedLm::new()).build();
        /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
        /// assert_eq!(
        ///     judge.evaluate(&gold, &pred).await.unwrap_err().to_string(),
        ///     "metric `semantic_equivalence`: `aggregation` must be `majority` for yes-or-no verdicts, \
        ///      found `median`"
        /// );
        /// # }
        /// ```
        pub fn aggregation(aggregation: Aggregation) in panel.aggregation;

        /// Sets the number of judges that run concurrently, at least one.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        ///
        /// let models = ["openai:gpt-6-luna", "openai:gpt-6-luna", "openai:gpt-6-luna"];
        /// let judge = SemanticEquivalence::builder().models(models).max_concurrent_judges(1).build();
        /// assert_eq!(judge.num_judges(), 3, "all are called, one after another");
        /// ```
        pub fn max_concurrent_judges(limit: usize) in panel.max_concurrent_judges;

        /// Sets the number of judges that must return a score.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() {
        /// let judge = SemanticEquivalence::builder().with_lm(ScriptedLm::new()).quorum(2).build();
        /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
        /// assert_eq!(
        ///     judge.evaluate(&gold, &pred).await.unwrap_err().to_string(),
        ///     "metric `semantic_equivalence`: `quorum` must be 1 for one judge, found 2; \
        ///      set it to 1, or add judges"
        /// );
        /// # }
        /// ```
        pub fn quorum(quorum: usize) in panel.quorum;

        /// Sets the smallest (or, if lower is better, the largest) value that is a pass.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticF1;
        ///
        /// let judge = SemanticF1::builder().threshold(0.5).build();
        /// assert_eq!((SemanticF1::SPEC.threshold, judge.spec().threshold), (Some(0.66), Some(0.5)));
        /// ```
        pub fn threshold(threshold: f64) in panel.threshold;

        /// Replaces each score with 1 (pass) or 0 (fail). The judge must have a threshold.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticF1;
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        /// use serde_json::json;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// let lm = ScriptedLm::new().otherwise(json!({ "reasoning": "", "recall": 0.75, "precision": 0.75 }));
        /// let judge = SemanticF1::builder().with_lm(lm).strict().build();
        /// let gold = example! { "question" => "Where?", "response" => "Paris, on the Seine" };
        /// let score = judge.evaluate(&gold, &prediction! { "response" => "In Paris." }).await?;
        /// assert_eq!(score.value, 1.0, "0.75 reaches the threshold 0.66");
        /// # Ok(())
        /// # }
        /// ```
        pub fn strict() in panel.strict;

        /// Sets the largest expected cost of one verdict of one model, in millisatoshis.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// // The reply has no cost of its own.
        /// let lm = ScriptedLm::new().otherwise(r#"{ "reasoning": "", "equivalent": true }"#);
        /// let judge = SemanticEquivalence::builder().with_lm(lm).cost_msats(20).build();
        /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
        /// assert_eq!(judge.evaluate(&gold, &pred).await?.cost_msats, 20);
        /// # Ok(())
        /// # }
        /// ```
        pub fn cost_msats(cost_msats: u64) in panel.cost_msats;

        /// Sets the instruction, in place of the doc comment of the signature.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        ///
        /// let judge = SemanticEquivalence::builder().instruction("Compare both answers. Ignore units.");
        /// assert_eq!(judge.build().instruction(), "Compare both answers. Ignore units.");
        /// ```
        pub fn instruction(instruction: impl Into<String>) in panel.instruction;

        /// Sets the demonstrations: examples with the judge's inputs and outputs, by the names of its fields.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() {
        /// // `answer` is a field of the row. The judge's inputs are `expected` and `actual`.
        /// let demo = example! { "answer" => "5 km", "equivalent" => true };
        /// let judge = SemanticEquivalence::builder().with_lm(ScriptedLm::new()).demos([demo]).build();
        /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
        /// assert_eq!(
        ///     judge.evaluate(&gold, &pred).await.unwrap_err().to_string(),
        ///     "metric `semantic_equivalence`: demonstration 1: unknown field `answer`; \
        ///      expected `expected`, `actual`, `reasoning`, `equivalent`"
        /// );
        /// # }
        /// ```
        pub fn demos(demos: impl IntoIterator<Item = Example>) in panel.demos;

        /// Sets extra context, which follows the instruction and is trusted like it.
        ///
        /// ```
        /// use std::sync::Arc;
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// let lm = Arc::new(ScriptedLm::new().otherwise(r#"{ "reasoning": "", "equivalent": true }"#));
        /// let judge = SemanticEquivalence::builder().context("Distances are in kilometres.");
        /// let judge = judge.with_lm(Arc::clone(&lm)).build();
        /// judge.evaluate(&example! { "answer" => "5" }, &prediction! { "answer" => "5 km" }).await?;
        /// let system = &lm.requests()[0].messages[0].content;
        /// assert!(system.contains("\n\nAdditional context:\nDistances are in kilometres.\n"));
        /// # Ok(())
        /// # }
        /// ```
        pub fn context(context: impl Into<String>) in panel.context;
    }

    /// Returns the judge.
    ///
    /// ```
    /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
    ///
    /// let judge = SemanticEquivalence::builder().build();
    /// assert_eq!((judge.num_judges(), judge.spec()), (1, SemanticEquivalence::SPEC));
    /// ```
    pub fn build(self) -> J {
        (self.build)(self.panel)
    }
}

impl<J> fmt::Debug for JudgeBuilder<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeBuilder")
            .field("panel", &self.panel)
            .finish_non_exhaustive()
    }
}
