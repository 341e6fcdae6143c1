//! The models that judges use: set on the judge, or configured in the scope or the environment. Panels are in
//! `panel.rs`.
//!
//! The file is long because each way to set a model is documented with an example.

use std::sync::Arc;

use indexmap::IndexSet;

use super::JudgeError;
use crate::declared::Requirement;
use crate::lm::{
    Embedder, EmbeddingModel, Embeddings, JudgeModel, LanguageModel, Ledger, LmError,
    static_embedder,
};
#[cfg(feature = "lm")]
use crate::lm::{Lm, LmBuilder, LmErrorKind, LmReply, LmRequest, ProviderEmbedder, replay};
use crate::metric::call::Settings;
use crate::score::OFFLINE_JUDGE;
#[cfg(feature = "lm")]
use std::collections::HashMap;
#[cfg(feature = "lm")]
use std::sync::{Mutex, OnceLock, PoisonError};

/// Returns the model's name, or `default` for the configured one.
pub(super) fn shown(model: &JudgeModel) -> String {
    match model {
        JudgeModel::Configured => "default".to_owned(),
        JudgeModel::Named(id) => id.clone(),
        JudgeModel::Value(lm) => lm.id().to_owned(),
        JudgeModel::Offline => OFFLINE_JUDGE.to_owned(),
    }
}

/// The models that judges use within a scope.
///
/// `Models` contains the default model for judges that don't name one, and a function that connects to models by name.
///
/// `Models` is part of [`Settings`], and applies to every judge that runs within the scope.
///
/// ```
/// use dsrs_metrics::contract::Settings;
/// use dsrs_metrics::judge::Models;
/// use dsrs_metrics::lm::ScriptedLm;
///
/// let lm = ScriptedLm::new().otherwise(r#"{ "relevant": true }"#);
/// let settings = Settings::new().with(Models::new(lm));
/// # drop(settings);
/// ```
#[derive(Clone, Default)]
pub struct Models {
    /// `Value`, `Named` or `Offline`.
    configured: Option<JudgeModel>,
    connect: Option<Arc<Connect>>,
    embedder: Option<Embedder>,
    #[cfg(feature = "lm")]
    connect_embedder: Option<Arc<ConnectEmbedder>>,
    ledger: Option<Ledger>,
}

type Connect = dyn Fn(&str) -> Result<Arc<dyn LanguageModel>, LmError> + Send + Sync;

/// A function that connects to the embedding model with a given name.
#[cfg(feature = "lm")]
type ConnectEmbedder = dyn Fn(&str) -> Result<Arc<dyn EmbeddingModel>, LmError> + Send + Sync;

impl Models {
    /// Creates a `Models` whose default model is `lm`.
    ///
    /// Judges that don't name a model use the default.
    ///
    /// ```
    /// use dsrs_metrics::contract::Settings;
    /// use dsrs_metrics::judge::{Models, shipped::SemanticEquivalence};
    /// use dsrs_metrics::lm::ScriptedLm;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let lm = ScriptedLm::new().otherwise(r#"{ "reasoning": "", "equivalent": true }"#);
    /// let settings = Settings::new().with(Models::new(lm));
    /// let judge = SemanticEquivalence::default(); // names no model
    /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
    /// assert_eq!(settings.scope(judge.evaluate(&gold, &pred)).await?.value, 1.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(lm: impl LanguageModel + 'static) -> Self {
        Self {
            configured: Some(JudgeModel::Value(Arc::new(lm))),
            ..Self::default()
        }
    }

    /// Creates a `Models` for judges that run without a language model.
    ///
    /// Judges that don't name a model use their offline stand-in, even if `DSRS_LM` is set. The results of stand-ins
    /// are labelled as offline.
    ///
    /// A run fails before the first row if a judge names a model or has no stand-in.
    ///
    /// A judge whose model you passed as a value still calls that model.
    ///
    /// ```
    /// use dsrs_metrics::contract::Settings;
    /// use dsrs_metrics::judge::{Models, shipped::SemanticEquivalence};
    /// use dsrs_metrics::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let (gold, pred) = (example! { "answer" => "in Paris" }, prediction! { "answer" => "Paris" });
    /// let judge = SemanticEquivalence::default();
    /// let offline = Settings::new().with(Models::offline());
    /// let score = offline.scope(judge.evaluate(&gold, &pred)).await?;
    /// assert_eq!(score.details.as_deref(), Some("judge: offline-lexical. Token F1: 0.67."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn offline() -> Self {
        Self {
            configured: Some(JudgeModel::Offline),
            ..Self::default()
        }
    }

    setters! {
        /// Sets the function that connects to a model by name.
        ///
        /// A name has the form `provider:model`.
        ///
        /// The function is called for each row, so it should cache its connections.
        ///
        /// ```
        /// use std::sync::Arc;
        /// use dsrs_metrics::contract::Settings;
        /// use dsrs_metrics::judge::{Models, shipped::SemanticEquivalence};
        /// use dsrs_metrics::lm::ScriptedLm;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> dsrs_metrics::Result<()> {
        /// let reply = r#"{ "reasoning": "", "equivalent": true }"#;
        /// let lm = Arc::new(ScriptedLm::new().named("local:judge").otherwise(reply));
        /// let of_name = Arc::clone(&lm);
        /// let models = Models::default().connecting(move |id| {
        ///     assert_eq!(id, "local:judge");
        ///     Ok(of_name.clone())
        /// });
        /// let judge = SemanticEquivalence::builder().models(["local:judge"]).build();
        /// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
        /// Settings::new().with(models).scope(judge.evaluate(&gold, &pred)).await?;
        /// assert_eq!(lm.calls(), 1);
        /// # Ok(())
        /// # }
        /// ```
        pub fn connecting(connect: impl Fn(&str) -> Result<Arc<dyn LanguageModel>, LmError> + Send + Sync + 'static)
            => connect = Some(Arc::new(connect));

        /// Sets the embedding model for metrics that don't name one.
        ///
        /// By default, these metrics use the model named by `DSRS_EMBED`.
        ///
        /// ```
        /// use dsrs_metrics::contract::Settings;
        /// use dsrs_metrics::judge::{self, Models};
        /// use dsrs_metrics::lm::{Embedder, ScriptedEmbedder};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), dsrs_metrics::lm::LmError> {
        /// let models = Models::default().with_embedder(ScriptedEmbedder::new().when("yes", [1.0]));
        /// let embeddings = Settings::new().with(models).scope(judge::embed(&Embedder::Configured, &["yes"])).await?;
        /// assert_eq!(embeddings.vectors(), [[1.0]]);
        /// # Ok(())
        /// # }
        /// ```
        pub fn with_embedder(embedder: impl Into<Embedder>) => embedder = Some(embedder.into());
    }

    /// Creates a `Models` from environment variables.
    ///
    /// `DSRS_LM` names the default model. Other models are connected by name, using the API keys and endpoints from the
    /// environment; see [`Lm`](crate::lm::Lm).
    ///
    /// One [ledger](Self::ledger) counts the calls to all models.
    ///
    /// Models on the same account share that account's rate limits.
    ///
    /// A judge uses these models unless its scope sets other models.
    ///
    /// ```
    /// use dsrs_metrics::judge::Models;
    ///
    /// # if std::env::var_os("DSRS_LM").is_some() { return Ok(()) }
    /// // Without `DSRS_LM`, judges must name their models.
    /// let models = Models::from_env()?;
    /// assert_eq!(models.ledger().map(|ledger| ledger.total().calls), Some(0));
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmError`] if `DSRS_LM` is set but does not name a model.
    #[cfg(feature = "lm")]
    pub fn from_env() -> Result<Self, LmError> {
        let id = Self::chosen();
        let models = Self::built_by(id.clone(), |builder| builder);
        if let (Some(id), Some(connect)) = (id, &models.connect) {
            connect(&id)?;
        }
        Ok(models)
    }

    /// Returns the value of `DSRS_LM`, if it is set.
    #[cfg(feature = "lm")]
    #[doc(hidden)]
    pub fn chosen() -> Option<String> {
        of_environment("DSRS_LM")
    }

    /// Creates a `Models` that builds each model on first use.
    ///
    /// Each model is built once, with the same settings.
    ///
    /// `id` names the model for judges that don't name one.
    #[cfg(feature = "lm")]
    #[doc(hidden)]
    pub fn built_by(
        id: Option<String>,
        set_up: impl Fn(LmBuilder) -> LmBuilder + Send + Sync + 'static,
    ) -> Self {
        let ledger = Ledger::new();
        let of_builders = ledger.clone();
        let builder = Arc::new(move |id: &str| set_up(Lm::builder(id).ledger(of_builders.clone())));
        let of_embedders = Arc::clone(&builder);
        Self {
            configured: id.map(JudgeModel::Named),
            connect: Some(Arc::new(once_each(move |id| built(builder(id))))),
            embedder: None,
            connect_embedder: Some(Arc::new(once_each(move |id| {
                let lm = built(of_embedders(id).embedding())?;
                Ok(Arc::new(ProviderEmbedder::of(lm)) as Arc<dyn EmbeddingModel>)
            }))),
            ledger: Some(ledger),
        }
    }

    /// Returns the ledger that counts all calls.
    ///
    /// Returns `None` if the models don't come from the environment.
    ///
    /// A model passed as a value has its own ledger.
    ///
    /// ```
    /// use dsrs_metrics::judge::Models;
    /// use dsrs_metrics::lm::ScriptedLm;
    ///
    /// assert!(Models::new(ScriptedLm::new()).ledger().is_none());
    /// ```
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Returns the scope's models, or those from the environment.
    pub(super) fn of_scope() -> Result<Arc<Self>, LmError> {
        if let Some(models) = Settings::get::<Self>() {
            return Ok(models);
        }
        #[cfg(feature = "lm")]
        {
            static OF_ENVIRONMENT: OnceLock<Result<Arc<Models>, LmError>> = OnceLock::new();
            let models = OF_ENVIRONMENT.get_or_init(|| Self::from_env().map(Arc::new));
            models.clone()
        }
        #[cfg(not(feature = "lm"))]
        Ok(Arc::default())
    }

    /// Connects to a model. Returns `None` for the offline stand-in.
    pub(super) fn connect(
        &self,
        model: &JudgeModel,
        no_model: impl Fn() -> JudgeError,
    ) -> Result<Option<Arc<dyn LanguageModel>>, JudgeError> {
        let model = match (model, &self.configured) {
            (JudgeModel::Configured, Some(configured)) => configured,
            (model, _) => model,
        };
        match model {
            JudgeModel::Value(lm) => Ok(Some(Arc::clone(lm))),
            JudgeModel::Named(id) => self.named(id).map(Some),
            JudgeModel::Offline => Ok(None),
            JudgeModel::Configured => Err(no_model()),
        }
    }

    /// Returns the embedding model for metrics that don't name one.
    pub(super) fn configured_embedder() -> Option<Embedder> {
        let of_scope = Settings::get::<Self>().and_then(|models| models.embedder.clone());
        of_scope.or_else(|| Some(Embedder::from(of_environment("DSRS_EMBED")?)))
    }

    /// Returns the embedding model with the given id.
    pub(super) fn embedding_model(id: &str) -> Result<Arc<dyn EmbeddingModel>, LmError> {
        if let Some(folder) = id.strip_prefix("static:") {
            return static_embedder(folder);
        }
        let reason = match &*Self::of_scope()? {
            models if models.configured == Some(JudgeModel::Offline) => {
                "no provider is called with `--offline` (in code `Models::offline()`); name a folder as static:FOLDER"
            }
            #[cfg(feature = "lm")]
            Self {
                connect_embedder: Some(connect),
                ..
            } => return connect(id),
            _ => {
                "this build cannot connect to it; build with the `lm` feature, or set a model with `.embedder(..)`"
            }
        };
        Err(LmError::setting("embedding model", id, reason))
    }

    #[doc(hidden)]
    pub fn named(&self, id: &str) -> Result<Arc<dyn LanguageModel>, JudgeError> {
        match &self.configured {
            Some(JudgeModel::Value(lm)) if lm.id() == id => return Ok(Arc::clone(lm)),
            Some(JudgeModel::Offline) => {
                return Err(JudgeError::new(format!(
                    "the judge names the model `{id}`, which is not called with `--offline`; remove `--offline` (in code `Models::offline()`), or the model's name"
                )));
            }
            _ => {}
        }
        match &self.connect {
            Some(connect) => Ok(connect(id)?),
            None => Err(JudgeError::no_connection(id)),
        }
    }
}

/// Returns the model that a variable names.
fn of_environment(variable: &str) -> Option<String> {
    let id = std::env::var(variable).ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Returns a function that builds the value for each name once. A model built during a replay may have neither key nor
/// store, so other tests do not share it.
#[cfg(feature = "lm")]
fn once_each<T: Clone>(
    build: impl Fn(&str) -> Result<T, LmError>,
) -> impl Fn(&str) -> Result<T, LmError> {
    let known: Mutex<HashMap<(String, bool), T>> = Mutex::default();
    move |id| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (id.to_owned(), replay::is_replaying());
        if let Some(value) = known.get(&key) {
            return Ok(value.clone());
        }
        let value = build(id)?;
        known.insert(key, value.clone());
        Ok(value)
    }
}

#[cfg(feature = "lm")]
fn built(builder: LmBuilder) -> Result<Arc<dyn LanguageModel>, LmError> {
    match builder.build() {
        Ok(lm) => Ok(Arc::new(lm)),
        Err(error) if matches!(error.kind(), LmErrorKind::MissingApiKey { .. }) => {
            Ok(Arc::new(WithoutKey(error)))
        }
        Err(error) => Err(error),
    }
}

/// A model whose API key is missing. Every call returns the error about the missing key.
#[cfg(feature = "lm")]
struct WithoutKey(LmError);

#[cfg(feature = "lm")]
#[async_trait::async_trait]
impl LanguageModel for WithoutKey {
    fn id(&self) -> &str {
        self.0.model().unwrap_or_default()
    }

    async fn complete(&self, _: &LmRequest) -> Result<LmReply, LmError> {
        Err(self.0.clone())
    }
}

debug_fields!(Models: |models| "configured" => models.configured);

/// Returns an embedding vector for each string.
///
/// Duplicate strings are embedded only once.
///
/// If your judge or metric compares several strings, call this function once for all of them.
///
/// If `embedder` names no model, the function calls the scope's model ([`Models::with_embedder`]). If the scope has
/// none, it calls the model named by `DSRS_EMBED`.
///
/// ```
/// use dsrs_metrics::judge;
/// use dsrs_metrics::lm::{Embedder, LmError, ScriptedEmbedder};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let model = Arc::new(ScriptedEmbedder::new().when("yes", [3.0, 4.0]).when("sure", [4.0, 3.0]));
/// let embedder = Embedder::from(model.clone());
/// let embeddings = judge::embed(&embedder, &["yes", "sure", "yes"]).await?;
/// assert_eq!((embeddings.cosine(0, 1), embeddings.cosine(0, 2)), (Some(0.96), Some(1.0)));
/// assert_eq!(model.requests(), [["yes", "sure"]]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns [`LmErrorKind::Setting`](crate::lm::LmErrorKind::Setting) if no model is configured. If a call fails,
/// returns its error.
///
/// Returns [`LmErrorKind::InvalidReply`](crate::lm::LmErrorKind::InvalidReply) if the number of vectors differs from
/// the number of strings.
pub async fn embed(embedder: &Embedder, texts: &[&str]) -> Result<Embeddings, LmError> {
    let mut distinct = IndexSet::new();
    let positions = texts.iter().map(|text| distinct.insert_full(*text).0);
    let positions: Vec<usize> = positions.collect();
    let distinct: Vec<&str> = distinct.into_iter().collect();
    let model = embedding_model(embedder)?;
    let embeddings = match distinct.is_empty() {
        true => Embeddings::new(model.id(), 0, Vec::new())?,
        false => model.embed(&distinct).await?,
    };
    embeddings.at(model.id(), distinct.len(), &positions)
}

/// Returns the model that [`embed`] calls.
///
/// ```
/// use dsrs_metrics::judge;
/// use dsrs_metrics::lm::{Embedder, ScriptedEmbedder};
///
/// let model = judge::embedding_model(&Embedder::from(ScriptedEmbedder::new()))?;
/// assert_eq!(model.id(), "scripted:embedder");
/// # Ok::<(), dsrs_metrics::lm::LmError>(())
/// ```
///
/// # Errors
/// Returns [`LmErrorKind::Setting`](crate::lm::LmErrorKind::Setting) if no model is configured. Also returns an error
/// if the connection to the model fails.
pub fn embedding_model(embedder: &Embedder) -> Result<Arc<dyn EmbeddingModel>, LmError> {
    match embedder {
        Embedder::Value(model) => Ok(Arc::clone(model)),
        Embedder::Named(id) => Models::embedding_model(id),
        Embedder::Configured => match Models::configured_embedder() {
            None | Some(Embedder::Configured) => Err(LmError::no_embedder()),
            Some(embedder) => embedding_model(&embedder),
        },
    }
}

/// Returns the requirement for a metric that uses an embedding model.
///
/// The requirement contains the model, or the reason why the metric cannot score any row.
///
/// A run probes the model once before the first row.
///
/// ```
/// use dsrs_metrics::judge;
/// use dsrs_metrics::lm::{Embedder, ScriptedEmbedder};
///
/// let embedder = Embedder::from(ScriptedEmbedder::new());
/// assert_eq!(judge::embedder_requirement("close", &embedder).missing_reason(), None);
/// ```
pub fn embedder_requirement(metric: &str, embedder: &Embedder) -> Requirement {
    match embedding_model(embedder) {
        Ok(model) => Requirement::embedder(metric, model),
        Err(error) => Requirement::missing(metric, error),
    }
}
