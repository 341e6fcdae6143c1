//! A provider's embedding model: a client that requests vectors, behind the layers of language models.
//!
//! A request for vectors is a request to a language model: one message per string, and a reply with the vectors as
//! text. Embedding models therefore have the same limits, retries, prices, budget, store and recorded calls as language
//! models.

use std::sync::Arc;

use async_trait::async_trait;

use super::{EmbeddingModel, Embeddings, request};
use crate::client::Variables;
use crate::{LanguageModel, Lm, LmBuilder, LmError, LmErrorKind, Usage, recording};

/// A provider's embedding model, called over HTTP.
///
/// The model has the same settings as [`Lm`]: providers, environment variables, limits, retries, prices and the store.
/// It sends OpenAI-compatible `POST embeddings` requests. Each request embeds up to 64 strings.
///
/// ```
/// use dsrs_metrics::lm::{EmbeddingModel, Lm};
///
/// let model = Lm::builder("openai:my-embeddings")
///     .base_url("http://localhost:8000/v1")
///     .no_store()
///     .build_embedder()?;
/// assert_eq!(model.id(), "openai:my-embeddings");
/// assert_eq!(model.endpoint(), Some("http://localhost:8000/v1/"));
/// # Ok::<(), dsrs_metrics::lm::LmError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ProviderEmbedder {
    lm: Arc<dyn LanguageModel>,
}

/// The maximum number of strings per call. Providers accept between 96 and 2,048.
const MAX_TEXTS: usize = 64;

impl ProviderEmbedder {
    /// Creates the model with this name, configured by environment variables.
    ///
    /// The name is written as `provider:model`.
    ///
    /// ```
    /// use dsrs_metrics::lm::ProviderEmbedder;
    ///
    /// let error = ProviderEmbedder::from_id("text-embedding-3-small").unwrap_err();
    /// assert!(error.to_string().starts_with("invalid model `text-embedding-3-small`: expected provider:model"));
    /// ```
    ///
    /// # Errors
    /// Returns [`LmError`] if the provider is unknown, the key is missing, or an environment variable is invalid.
    pub fn from_id(id: &str) -> Result<Self, LmError> {
        Lm::builder(id).build_embedder()
    }

    /// Creates the model that `DSRS_EMBED` names, configured by environment variables.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmErrorKind, ProviderEmbedder};
    ///
    /// # if std::env::var("DSRS_EMBED").is_ok_and(|id| !id.trim().is_empty()) { return }
    /// let error = ProviderEmbedder::from_env().unwrap_err(); // `DSRS_EMBED` is not set
    /// assert!(matches!(error.kind(), LmErrorKind::Setting(reason) if reason.contains("DSRS_EMBED")));
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Setting`](crate::LmErrorKind::Setting) if `DSRS_EMBED` is not set. Otherwise, returns the
    /// same errors as [`from_id`](Self::from_id).
    pub fn from_env() -> Result<Self, LmError> {
        match Variables::default().get("DSRS_EMBED") {
            Some(id) => Self::from_id(&id),
            None => Err(LmError::no_embedder()),
        }
    }

    /// Creates an embedding model from a client that requests vectors.
    #[doc(hidden)]
    pub fn of(lm: Arc<dyn LanguageModel>) -> Self {
        Self { lm }
    }
}

impl LmBuilder {
    /// Builds an embedding model with these settings.
    ///
    /// ```
    /// use dsrs_metrics::lm::{EmbeddingModel, Lm};
    ///
    /// let model = Lm::builder("openai:text-embedding-3-small").key("sk-0123456789abcdef");
    /// # let model = model.no_store();
    /// assert_eq!(model.build_embedder()?.id(), "openai:text-embedding-3-small");
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`build`](Self::build).
    pub fn build_embedder(self) -> Result<ProviderEmbedder, LmError> {
        Ok(ProviderEmbedder::of(Arc::new(self.embedding().build()?)))
    }
}

#[async_trait]
impl EmbeddingModel for ProviderEmbedder {
    forward_methods! {
        |this| this.lm;
        fn id(&self) -> &str;
        fn endpoint(&self) -> Option<&str>;
        fn is_remote(&self) -> bool;
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, LmError> {
        let mut vectors = Vec::with_capacity(texts.len());
        let (mut usage, mut cost_msats) = (Usage::default(), Some(0_u64));
        let mut estimated = None;
        for texts in texts.chunks(MAX_TEXTS) {
            let reply = match recording::complete(&*self.lm, &request(texts)).await {
                Err(error) if error.is_estimated() => {
                    estimated = Some(error);
                    continue;
                }
                reply => reply?,
            };
            let decoded = serde_json::from_str::<Vec<Vec<f32>>>(&reply.text);
            vectors.extend(decoded.map_err(|error| {
                let reason = format!("expected vectors as JSON ({error})");
                LmError::new(self.id(), LmErrorKind::InvalidReply(reason))
            })?);
            usage += reply.usage;
            let costs = cost_msats.zip(reply.cost_msats);
            cost_msats = costs.map(|(sum, cost)| sum.saturating_add(cost));
        }
        if let Some(error) = estimated {
            return Err(error);
        }
        let embeddings = Embeddings::new(self.id(), texts.len(), vectors)?;
        Ok(embeddings.with_usage(usage).with_cost_msats(cost_msats))
    }

    async fn probe(&self) -> Result<(), LmError> {
        self.lm.probe().await.map(drop)
    }
}
