//! Panels of judges: the models, their concurrency and the quorum. The aggregation is in `aggregation.rs`.
//!
//! The file is long because each setter of `Panel` and `JudgeBuilder` is documented with an example.

use std::sync::Arc;

use super::models::shown;
use super::signature::{PanelSettings, PromptSettings};
use super::{Aggregation, JudgeError, Models, Offline, Signature};
use crate::declared::Requirement;
use crate::lm::{IntoModel, JudgeModel, LanguageModel};
use crate::rows::Example;
use crate::score::MetricError;
use crate::spec::MetricSpec;
use crate::spec::instance_settings::InstanceSettings;

/// The maximum number of calls for one question: the question and one repair.
const CALLS_PER_QUESTION: u64 = 2;

/// The settings of a judge's panel.
///
/// A panel's settings override those in `#[judge]`.
///
/// On the command line, each setting is a parameter of the judge. For example, you can write `--param
/// NAME.models=openai:gpt-6-luna,default` or `--param NAME.aggregation=median`.
///
/// If you write a metric that calls judges, you can give it the same parameters. To do so, add `#[param(default)]
/// panel: dsrs_metrics::judge::Panel`.
///
/// Two panels are equal if their settings lead to the same answers, so concurrency limits are ignored. Models passed as
/// values are equal only if they are the same instance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    lm: Option<JudgeModel>,
    pub(super) settings: PanelSettings,
    /// The judge's threshold, strictness and cost.
    instance: InstanceSettings,
    /// The judge's instruction, demonstrations and context.
    pub(super) prompt: PromptSettings,
}

impl Panel {
    /// Creates a panel that overrides no settings.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the model to use if the judge doesn't name one.
        pub fn with_lm(lm: impl IntoModel) => lm = Some(lm.into_model());

        /// Uses the judge's offline stand-in if the judge doesn't name a model.
        ///
        /// The stand-in is used even if a default model is configured. Every result is labelled as offline.
        ///
        /// If you call both this method and [`with_lm`](Self::with_lm), the later call wins.
        pub fn offline() => lm = Some(JudgeModel::Offline);

        /// Sets the panel's models.
        ///
        /// All models are called, and a model listed twice is called twice.
        pub fn models(models: impl IntoIterator<Item = impl IntoModel>)
            => settings.models = models.into_iter().map(IntoModel::into_model).collect();

        /// Sets how to aggregate the judges' answers.
        pub fn aggregation(aggregation: Aggregation) => settings.aggregation = Some(aggregation);

        /// Sets the maximum number of judges called concurrently for each row.
        ///
        /// By default, all of them are called at once.
        pub fn max_concurrent_judges(limit: usize) => settings.max_concurrent_judges = Some(limit);

        /// Sets how many judges must return a verdict for each row.
        ///
        /// A row with fewer verdicts has no score. By default, more than half of the judges must return a verdict.
        ///
        /// The headline includes the number of rows that lack a verdict from some judges. If there are any such rows
        /// and you didn't set a quorum, the command exits with 1.
        ///
        /// If the budget does not cover a judge, the row is skipped even if the other judges form a quorum.
        pub fn quorum(quorum: usize) => settings.quorum = Some(quorum);

        /// Sets the threshold that separates passes from failures.
        ///
        /// The threshold is the smallest passing value, or the largest if lower is better.
        pub fn threshold(threshold: f64) => instance.threshold = Some(threshold);

        /// Replaces each score with 1 for a pass and 0 for a failure.
        ///
        /// The judge must have a threshold.
        pub fn strict() => instance.strict = Some(true);

        /// Sets the maximum expected cost of one verdict from one model, in millisatoshis.
        ///
        /// This amount is also used when a call's price is unknown.
        pub fn cost_msats(cost_msats: u64) => instance.cost_msats = Some(cost_msats);

        /// Sets the judge's instruction.
        ///
        /// The instruction replaces the doc comment of the judge's signature.
        pub fn instruction(instruction: impl Into<String>)
            => prompt.instruction = Some(instruction.into());

        /// Sets the demonstrations for the judge.
        ///
        /// A demonstration is an example with the judge's inputs and outputs, under the signature's field names. You can
        /// leave out the `reasoning` output if the judge adds it itself.
        pub fn demos(demos: impl IntoIterator<Item = Example>)
            => prompt.demos = demos.into_iter().collect();

        /// Sets extra context that follows the instruction.
        ///
        /// This context is trusted like the instruction, so pass untrusted text as an input instead.
        pub fn context(context: impl Into<String>) => prompt.context = Some(context.into());
    }

    /// Returns the judge's instruction.
    ///
    /// This is the panel's instruction, or the signature's instruction if the panel sets none.
    pub fn instruction_of<'a>(&'a self, signature: &'a Signature) -> &'a str {
        let own = self.prompt.instruction.as_deref();
        own.unwrap_or(&signature.instruction)
    }

    /// Returns the panel for one of two judges that share a score.
    ///
    /// The two judges also share the panel's cost. `index` is 0 or 1.
    #[doc(hidden)]
    pub fn of_half(mut self, index: u64) -> Self {
        let half = |cost| cost / 2 + (cost % 2) * index;
        self.instance = InstanceSettings {
            cost_msats: self.instance.cost_msats.map(half),
            ..InstanceSettings::default()
        };
        self.prompt.is_half = true;
        self
    }

    /// Returns the judge's spec with the panel's settings applied.
    ///
    /// The panel can set the threshold, the strictness and the cost.
    ///
    /// # Errors
    /// Returns an error if the judge does not support the threshold or strictness.
    #[doc(hidden)]
    pub fn spec<'a>(&self, declared: &MetricSpec<'a>) -> Result<MetricSpec<'a>, MetricError> {
        self.instance
            .apply(*declared)
            .map_err(|error| MetricError::failed(declared.name, error))
    }

    /// Like [`spec`](Self::spec), but ignores invalid settings.
    #[doc(hidden)]
    pub fn shown_spec<'a>(&self, declared: MetricSpec<'a>) -> MetricSpec<'a> {
        self.instance.shown(declared)
    }

    /// Returns a requirement that reports an invalid threshold or strictness.
    ///
    /// Returns `None` if both are valid.
    #[doc(hidden)]
    pub fn invalid_setting(&self, declared: &MetricSpec<'_>) -> Option<Requirement> {
        Requirement::unless(declared.name, self.instance.apply(*declared).map(|_| ()))
    }

    /// Returns the settings that a verdict depends on, as a user would write them. Omits the models, threshold,
    /// strictness and cost, because the judge's requirements and spec contain them.
    #[doc(hidden)]
    pub fn shown(&self) -> Vec<(&'static str, Option<String>)> {
        let settings = &self.settings;
        let models: Vec<String> = settings.models.iter().map(shown).collect();
        let aggregation = settings.aggregation.map(|it| it.name().to_owned());
        let quorum = settings.quorum.map(|quorum| quorum.to_string());
        let prompt = &self.prompt;
        let demos = (!prompt.demos.is_empty()).then(|| serde_json::to_string(&prompt.demos).ok());
        vec![
            ("models", (!models.is_empty()).then(|| models.join(","))),
            ("aggregation", aggregation),
            ("quorum", quorum),
            ("instruction", prompt.instruction.clone()),
            ("demos", demos.flatten()),
            ("context", prompt.context.clone()),
        ]
    }

    /// Returns the number of judges called per row.
    pub fn num_judges(&self, signature: &Signature) -> usize {
        self.models_of(signature).len()
    }

    /// Returns the models of the panel. There is at least one.
    fn models_of<'a>(&'a self, signature: &'a Signature) -> &'a [JudgeModel] {
        let own = [&self.settings.models, &signature.panel.models];
        let set = own.into_iter().find(|models| !models.is_empty());
        set.map_or(&[JudgeModel::Configured], Vec::as_slice)
    }

    pub(super) fn aggregation_of(&self, signature: &Signature, is_bool: bool) -> Aggregation {
        let set = self.settings.aggregation.or(signature.panel.aggregation);
        set.unwrap_or(match is_bool {
            true => Aggregation::Majority,
            false => Aggregation::Median,
        })
    }

    /// Returns how many judges can be called concurrently.
    pub(super) fn limit(&self, signature: &Signature) -> usize {
        let (own, declared) = (&self.settings, &signature.panel);
        let limit = own.max_concurrent_judges.or(declared.max_concurrent_judges);
        limit.unwrap_or(usize::MAX).clamp(1, 1024)
    }

    /// Returns how many judges must return a verdict. By default, more than half must.
    pub(super) fn quorum_of(&self, signature: &Signature) -> usize {
        let quorum = self.settings.quorum.or(signature.panel.quorum);
        quorum.unwrap_or_else(|| self.num_judges(signature) / 2 + 1)
    }

    /// Returns `true` if a quorum is set, so some judges may fail to return a verdict.
    pub(super) fn has_quorum(&self, signature: &Signature) -> bool {
        self.settings.quorum.or(signature.panel.quorum).is_some()
    }

    /// Returns the maximum expected cost of a row, in millisatoshis.
    ///
    /// `verdict_msats` is the cost of one verdict from one model. The total includes one repair of each model's reply.
    #[doc(hidden)]
    pub fn max_cost(&self, signature: &Signature, verdict_msats: u64) -> u64 {
        let calls = CALLS_PER_QUESTION.saturating_mul(self.num_judges(signature) as u64);
        verdict_msats.saturating_mul(calls)
    }

    /// Validates the settings.
    pub(super) fn check(&self, signature: &Signature, is_bool: bool) -> Result<(), JudgeError> {
        self.prompt.check()?;
        let (judges, quorum) = (self.num_judges(signature), self.quorum_of(signature));
        if !(1..=judges).contains(&quorum) {
            return Err(JudgeError::new(match judges {
                1 => format!(
                    "expected `quorum` of 1 for one judge, found {quorum}; set it to 1, or add judges"
                ),
                judges => format!(
                    "expected `quorum` between 1 and {judges} for {judges} judges, found {quorum}"
                ),
            }));
        }
        let aggregation = self.aggregation_of(signature, is_bool);
        if is_bool && aggregation != Aggregation::Majority {
            return Err(JudgeError::new(format!(
                "expected the aggregation `majority` for yes-or-no verdicts, found `{}`",
                aggregation.name()
            )));
        }
        Ok(())
    }

    /// Returns the models in order, or the offline stand-in if it was requested.
    ///
    /// # Errors
    /// Fails if the judge names no model and none is configured, or if the connection to a model fails.
    pub(super) fn resolve<'s>(&self, signature: &'s Signature) -> Result<Judges<'s>, JudgeError> {
        let or_own = |model: &'_ JudgeModel| match (model, &self.lm) {
            (JudgeModel::Configured, Some(lm)) => lm.clone(),
            (model, _) => model.clone(),
        };
        let models: Vec<JudgeModel> = self.models_of(signature).iter().map(or_own).collect();
        let needs_scope =
            |model: &_| matches!(model, JudgeModel::Configured | JudgeModel::Named(_));
        let scope = match models.iter().any(needs_scope) {
            true => Models::of_scope()?,
            false => Arc::default(),
        };
        let no_model = || JudgeError::no_model(signature.offline.is_some());
        let connect = |model| scope.connect(model, no_model);
        let lms: Vec<Option<_>> = models.iter().map(connect).collect::<Result<_, _>>()?;
        if lms.iter().all(Option::is_none) {
            let offline = signature.offline.as_ref().map(Judges::Offline);
            return offline.ok_or_else(JudgeError::no_stand_in);
        }
        let lms: Option<Vec<_>> = lms.into_iter().collect();
        lms.map(Judges::Models)
            .ok_or_else(|| JudgeError::new(MIXED))
    }
}

#[doc(hidden)]
impl Signature {
    /// Sets the panel that `#[judge]` declares.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panel = panel.settings;
        self
    }
}

/// The models of a panel, or the offline stand-in.
pub(super) enum Judges<'s> {
    Models(Vec<Arc<dyn LanguageModel>>),
    Offline(&'s Offline),
}

const MIXED: &str =
    "a panel cannot mix models and offline judges; remove the named models or the offline setting";

/// A builder for a judge without parameters, such as `PoliteJudge::builder()`.
///
/// The builder of a judge with parameters has the same setters.
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
        /// Sets the judge's panel.
        ///
        /// A panel lists the models to use as judges and sets how to aggregate their scores.
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
        /// Sets the model for judges in the panel that don't name one.
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

        /// Uses the judge's offline stand-in instead of a model.
        ///
        /// Every result of the stand-in is labelled as offline.
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

        /// Sets the panel's models.
        ///
        /// The scores of all models are aggregated.
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

        /// Sets how to aggregate the scores of several judges.
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
        ///     "metric `semantic_equivalence`: expected the aggregation `majority` for yes-or-no verdicts, \
        ///      found `median`"
        /// );
        /// # }
        /// ```
        pub fn aggregation(aggregation: Aggregation) in panel.aggregation;

        /// Sets the maximum number of judges called concurrently.
        ///
        /// A limit of 0 counts as 1.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        ///
        /// let models = ["openai:gpt-6-luna", "openai:gpt-6-luna", "openai:gpt-6-luna"];
        /// let judge = SemanticEquivalence::builder().models(models).max_concurrent_judges(1).build();
        /// assert_eq!(judge.num_judges(), 3, "all are called, one after another");
        /// ```
        pub fn max_concurrent_judges(limit: usize) in panel.max_concurrent_judges;

        /// Sets the minimum number of judges that must return a verdict.
        ///
        /// A row with fewer verdicts has no score.
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
        ///     "metric `semantic_equivalence`: expected `quorum` of 1 for one judge, found 2; \
        ///      set it to 1, or add judges"
        /// );
        /// # }
        /// ```
        pub fn quorum(quorum: usize) in panel.quorum;

        /// Sets the threshold that separates passes from failures.
        ///
        /// The threshold is the smallest passing value, or the largest if lower is better.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticF1;
        ///
        /// let judge = SemanticF1::builder().threshold(0.5).build();
        /// assert_eq!((SemanticF1::SPEC.threshold, judge.spec().threshold), (Some(0.66), Some(0.5)));
        /// ```
        pub fn threshold(threshold: f64) in panel.threshold;

        /// Replaces each score with 1 for a pass and 0 for a failure.
        ///
        /// The judge must have a threshold.
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

        /// Sets the maximum expected cost of one verdict from one model, in millisatoshis.
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

        /// Sets the judge's instruction.
        ///
        /// The instruction replaces the signature's doc comment.
        ///
        /// ```
        /// use dsrs_metrics::judge::shipped::SemanticEquivalence;
        ///
        /// let judge = SemanticEquivalence::builder().instruction("Compare both answers. Ignore units.");
        /// assert_eq!(judge.build().instruction(), "Compare both answers. Ignore units.");
        /// ```
        pub fn instruction(instruction: impl Into<String>) in panel.instruction;

        /// Sets the demonstrations for the judge.
        ///
        /// A demonstration is an example with the judge's inputs and outputs, by field name.
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

        /// Sets extra context that follows the instruction.
        ///
        /// This context is trusted like the instruction, so it must not contain untrusted text.
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

    /// Builds the judge.
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

debug_fields!(JudgeBuilder<J>: |builder| "panel" => builder.panel);
