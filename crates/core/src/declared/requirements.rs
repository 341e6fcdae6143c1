//! What a metric needs before it can score a row, and the preflight check.
//!
//! The file is long because each requirement is documented with an example.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::files::MetricFile;
use crate::lm::{EmbeddingModel, LanguageModel, LmError, LmErrorKind, logprobs_probe};

/// Something a metric needs; a run checks it before the first row.
///
/// A requirement can be a language model or embedding model to call, or a check to run. It can also be the reason why
/// the metric cannot score any row. See [`Metric::requirements`](crate::Metric::requirements).
///
/// ```
/// use dsrs_metrics::{metrics::F1, prelude::*};
///
/// let mut requirements = Vec::new();
/// Metric::<Example, Prediction>::requirements(&F1::default().with_threshold(1.5), &mut requirements);
/// let reason = "the threshold 1.5 is outside the range of the metric, 0.0..=1.0; write a threshold within it";
/// assert_eq!(requirements[0].missing_reason(), Some(reason));
/// ```
#[derive(Clone)]
pub struct Requirement {
    metric: String,
    need: Need,
    /// The hash of a judge's prompt, without a row's inputs.
    prompt: Option<Arc<str>>,
    /// `true` if the model must return log probabilities.
    needs_logprobs: bool,
}

#[derive(Clone)]
enum Need {
    Model(Arc<dyn LanguageModel>),
    Embedder(Arc<dyn EmbeddingModel>),
    Check(Arc<Check>),
    Missing(String),
    /// Like `Missing`, for a judge without a model.
    MissingModel(String),
    /// A judge that uses its offline stand-in instead of a model.
    Offline,
}

type Check = dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync;

impl Requirement {
    fn new(metric: impl Into<String>, need: Need) -> Self {
        Self {
            metric: metric.into(),
            need,
            prompt: None,
            needs_logprobs: false,
        }
    }

    /// Creates a requirement for a metric that calls a language model.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dsrs_metrics::{contract::Requirement, lm::ScriptedLm};
    ///
    /// let lm = Arc::new(ScriptedLm::new().named("openai:gpt-6-luna").otherwise("yes"));
    /// let requirement = Requirement::model("polite", lm);
    /// assert_eq!(requirement.lm().unwrap().id(), "openai:gpt-6-luna");
    /// assert_eq!(requirement.missing_reason(), None);
    /// ```
    pub fn model(metric: impl Into<String>, lm: Arc<dyn LanguageModel>) -> Self {
        Self::new(metric, Need::Model(lm))
    }

    /// Creates a requirement for a metric that calls an embedding model.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dsrs_metrics::{contract::Requirement, lm::ScriptedEmbedder};
    ///
    /// let requirement = Requirement::embedder("close", Arc::new(ScriptedEmbedder::new()));
    /// assert_eq!(requirement.embedding_model().unwrap().id(), "scripted:embedder");
    /// assert!(requirement.lm().is_none());
    /// ```
    pub fn embedder(metric: impl Into<String>, model: Arc<dyn EmbeddingModel>) -> Self {
        Self::new(metric, Need::Embedder(model))
    }

    /// Returns the embedding model that the metric calls, if any.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Requirement;
    /// assert!(Requirement::missing("keyword", "`keywords` is empty; set it").embedding_model().is_none());
    /// ```
    pub fn embedding_model(&self) -> Option<&Arc<dyn EmbeddingModel>> {
        match &self.need {
            Need::Embedder(model) => Some(model),
            _ => None,
        }
    }

    /// Does the same as [`model`](Self::model) for a judge. `prompt` is the hash of the prompt that the judge sends to
    /// the model, without a row's inputs.
    pub(crate) fn judge(
        metric: &str,
        lm: Arc<dyn LanguageModel>,
        prompt: &Arc<str>,
        needs_logprobs: bool,
    ) -> Self {
        Self {
            prompt: Some(Arc::clone(prompt)),
            needs_logprobs,
            ..Self::model(metric, lm)
        }
    }

    pub(crate) fn prompt(&self) -> Option<&str> {
        self.prompt.as_deref()
    }

    /// Returns the language model that the metric calls, if any.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Requirement;
    /// assert!(Requirement::missing("keyword", "`keywords` is empty; set it").lm().is_none());
    /// ```
    pub fn lm(&self) -> Option<&Arc<dyn LanguageModel>> {
        match &self.need {
            Need::Model(lm) => Some(lm),
            _ => None,
        }
    }

    /// Creates a requirement that runs a check before the first row.
    ///
    /// The check's error must be one line that names the setting to change.
    ///
    /// ```
    /// use dsrs_metrics::contract::Requirement;
    ///
    /// let requirement = Requirement::check("compiles", || async {
    ///     std::env::var("PATH").map(|_| ()).map_err(|_| "no `PATH`; set it to the folder of the compiler".to_owned())
    /// });
    /// assert_eq!(requirement.missing_reason(), None); // the check has not been run yet
    /// ```
    pub fn check<F>(
        metric: impl Into<String>,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self::new(metric, Need::Check(Arc::new(move || Box::pin(check()))))
    }

    /// Creates a requirement for a metric that cannot score any row.
    ///
    /// `reason` is one line that names the setting to change.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Requirement;
    /// # use dsrs_metrics::prelude::*;
    /// struct Keyword {
    ///     words: Vec<String>,
    /// }
    ///
    /// #[async_trait]
    /// impl Metric for Keyword {
    ///     # fn name(&self) -> &str {
    ///     #     "keyword"
    ///     # }
    ///     # async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
    ///     #     Ok(MetricScore::new(1.0))
    ///     # }
    ///     fn requirements(&self, all: &mut Vec<Requirement>) {
    ///         if self.words.is_empty() {
    ///             all.push(Requirement::missing(self.name(), "`words` is empty; set it"));
    ///         }
    ///     }
    ///     // `name` and `evaluate`
    /// }
    ///
    /// let mut requirements = Vec::new();
    /// Keyword { words: Vec::new() }.requirements(&mut requirements);
    /// assert_eq!(requirements[0].missing_reason(), Some("`words` is empty; set it"));
    /// ```
    pub fn missing(metric: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self::new(metric, Need::Missing(reason.to_string()))
    }

    /// Does the same as [`missing`](Self::missing) for a judge without a language model.
    pub(crate) fn missing_model(metric: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self::new(metric, Need::MissingModel(reason.to_string()))
    }

    /// Creates a requirement for a judge that uses its offline stand-in.
    pub(crate) fn offline(metric: impl Into<String>) -> Self {
        Self::new(metric, Need::Offline)
    }

    /// Returns `true` if the metric is a judge without a language model.
    ///
    /// A judge without a model cannot score any row.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Requirement;
    /// let missing = Requirement::missing("keyword", "`keywords` is empty; set it");
    /// assert!(!missing.needs_model(), "no model would help");
    /// ```
    pub fn needs_model(&self) -> bool {
        matches!(self.need, Need::MissingModel(_))
    }

    /// Returns `true` if the metric is a judge that uses its offline stand-in.
    ///
    /// ```
    /// use dsrs_metrics::{judge::shipped::SemanticEquivalence, prelude::*};
    ///
    /// let mut requirements = Vec::new();
    /// let judge: &dyn Metric = &SemanticEquivalence::builder().offline().build();
    /// judge.requirements(&mut requirements);
    /// assert!(requirements[0].is_offline());
    /// ```
    pub fn is_offline(&self) -> bool {
        matches!(self.need, Need::Offline)
    }

    /// Returns why the metric cannot score any row, or `None` if it can.
    ///
    /// ```
    /// use dsrs_metrics::contract::Requirement;
    ///
    /// let requirement = Requirement::missing("keyword", "`keywords` is empty; set it");
    /// assert_eq!(requirement.missing_reason(), Some("`keywords` is empty; set it"));
    /// ```
    pub fn missing_reason(&self) -> Option<&str> {
        match &self.need {
            Need::Missing(reason) | Need::MissingModel(reason) => Some(reason),
            _ => None,
        }
    }

    /// Creates a requirement if the metric's configuration is invalid.
    ///
    /// Returns `None` if the configuration is valid.
    #[doc(hidden)]
    pub fn unless(
        metric: impl Into<String>,
        configured: Result<(), impl fmt::Display>,
    ) -> Option<Self> {
        configured.err().map(|reason| Self::missing(metric, reason))
    }

    /// Returns this requirement with the given metric name.
    #[doc(hidden)]
    pub fn of(mut self, metric: &str) -> Self {
        self.metric = metric.to_owned();
        self
    }

    fn is_of_same_model(&self, other: &Self) -> bool {
        match (&self.need, &other.need) {
            (Need::Model(one), Need::Model(other)) => Arc::ptr_eq(one, other),
            (Need::Embedder(one), Need::Embedder(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    async fn probe(&self) -> Result<(), String> {
        let probed = match &self.need {
            Need::Model(lm) => lm.probe().await,
            Need::Embedder(model) => model.probe().await.map(|()| None),
            Need::Check(check) => return check().await,
            Need::Missing(_) | Need::MissingModel(_) | Need::Offline => return Ok(()),
        };
        match (probed, self.lm()) {
            (Err(error), _) if !is_temporary(&error) => Err(error.to_string()),
            (Ok(Some(_)), Some(lm)) if self.needs_logprobs => probe_logprobs(&**lm).await,
            _ => Ok(()),
        }
    }

    fn not_ready(&self, reason: String) -> Result<(), NotReady> {
        let metric = self.metric.clone();
        Err(NotReady { metric, reason })
    }
}

debug_fields! {
    Requirement: |it| "metric" => it.metric, "lm" => it.lm().map(LanguageModel::id),
        "missing" => it.missing_reason()
}

/// The error returned when a metric cannot score any row.
///
/// The error's message is one line that names the setting to change.
#[derive(Debug, Clone)]
pub struct NotReady {
    pub metric: String,
    pub reason: String,
}

/// Checks the requirements without making any calls.
///
/// Returns an error for the first metric that cannot score any row.
pub fn check(requirements: &[Requirement]) -> Result<(), NotReady> {
    let missing = requirements
        .iter()
        .find_map(|it| Some((it, it.missing_reason()?)));
    match missing {
        Some((requirement, reason)) => requirement.not_ready(reason.to_owned()),
        None => Ok(()),
    }
}

/// Checks the requirements by calling each model once.
///
/// The models are called and the checks run concurrently. Returns the first failure.
pub async fn probe(mut requirements: Vec<Requirement>) -> Result<(), NotReady> {
    check(&requirements)?;
    // The first requirement of a model is the one that is checked, so those that need the most come first.
    requirements.sort_by_key(|it| !it.needs_logprobs);
    let mut checked: Vec<&Requirement> = Vec::new();
    for requirement in &requirements {
        if !checked
            .iter()
            .any(|earlier| earlier.is_of_same_model(requirement))
        {
            checked.push(requirement);
        }
    }
    let results = join_all(checked.iter().map(|requirement| requirement.probe())).await;
    for (requirement, result) in checked.iter().zip(results) {
        if let Err(reason) = result {
            return requirement.not_ready(reason);
        }
    }
    Ok(())
}

/// Checks that a model returns log probabilities.
async fn probe_logprobs(lm: &dyn LanguageModel) -> Result<(), String> {
    const INSTEAD: &str = "use a model that returns log probabilities, or write `scoring(by = text)` in `#[judge(..)]`";
    match lm.complete(&logprobs_probe()).await {
        Ok(reply) if reply.logprobs.is_empty() => Err(format!(
            "{}: the reply has no log probabilities; {INSTEAD}",
            lm.id()
        )),
        Err(error) if !is_temporary(&error) => Err(format!("{error}; {INSTEAD}")),
        _ => Ok(()),
    }
}

/// Returns `true` if the provider is reachable but busy or failing, so no setting would help and rows are retried. A
/// call that was only estimated says nothing about the provider.
fn is_temporary(error: &LmError) -> bool {
    match error.kind() {
        LmErrorKind::RateLimited { .. }
        | LmErrorKind::Disconnected { .. }
        | LmErrorKind::Estimated
        | LmErrorKind::TruncatedReply { .. } => true,
        LmErrorKind::Status { status, .. } => matches!(status, 408 | 409 | 500..=599),
        _ => false,
    }
}

/// A metric that declares additional requirements.
///
/// `#[metric]` uses this trait if the metric's type implements it.
#[doc(hidden)]
pub trait Requires {
    /// Adds the metric's requirements to `all`.
    fn requirements(&self, all: &mut Vec<Requirement>);

    /// Adds the files that the metric reads to `all`.
    ///
    /// Don't add the files that the metric's parameters name, because `#[metric]` adds them.
    fn files(&self, all: &mut Vec<MetricFile>) {
        let _ = all;
    }

    /// Returns the maximum expected cost of one call, given the declared cost.
    ///
    /// A judge's cost depends on its panel.
    fn max_cost(&self, declared_msats: u64) -> u64 {
        declared_msats
    }
}
