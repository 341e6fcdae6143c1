//! `Lm`: the client of a provider with all layers around it.

use std::fmt;
use std::sync::Arc;

use super::client::Variables;
use super::model::forward_language_model;
use super::{LanguageModel, Ledger, LmBuilder, LmError, ReplyCache};

/// A language model of a provider, with retries, limits, prices and a cache. Clones share
/// everything.
///
/// ```no_run
/// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmRequest};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let lm = Lm::from_id("openai:gpt-5-mini")?; // or `Lm::from_env()?`
/// lm.probe().await?; // checks key, host and model name before any row is paid for
/// let reply = lm.complete(&LmRequest::new("example").user("The capital of France?")).await?;
/// println!("{} ({})", reply.text, lm.ledger().total());
/// # Ok(())
/// # }
/// ```
///
/// A model is named `provider:model`. The guide lists the providers; any other OpenAI-compatible
/// server is `openai:model` with `OPENAI_BASE_URL`.
///
/// | environment variable | meaning |
/// | --- | --- |
/// | `DSRS_LM` | the model, as `provider:model`, for [`from_env`](Self::from_env) |
/// | `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` (or `GOOGLE_API_KEY`), `PROVIDER_API_KEY` | the API key |
/// | `OPENAI_BASE_URL`, `PROVIDER_BASE_URL` (or `_API_BASE`) | the base URL; with `openai:` any OpenAI-compatible server |
/// | `OLLAMA_HOST` | host and port of Ollama |
/// | `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` | organization and project |
/// | `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` | the proxy |
/// | `DSRS_REQUESTS_PER_MINUTE`, `DSRS_TOKENS_PER_MINUTE` | the [limits](super::RateLimiter) of an account, shared by all models of the process with the same address and key |
/// | `DSRS_MAX_REPLY_BYTES` | the [largest response](super::LmBuilder::max_reply_bytes), in bytes |
/// | `DSRS_CACHE` | the directory of the [cache](ReplyCache) |
/// | `DSRS_PRICES` | a JSON file of [prices](super::Prices) |
/// | `DSRS_MSATS_PER_USD` | the number of msat per US dollar |
///
/// The layers, and the order in which a request passes through them, are described in the
/// [module documentation](super#path-of-a-request).
#[derive(Clone)]
pub struct Lm {
    layers: Arc<dyn LanguageModel>,
    ledger: Ledger,
    cache: Option<ReplyCache>,
}

impl Lm {
    /// The model named `id` (`provider:model`), configured by environment variables.
    ///
    /// # Errors
    /// [`LmError`], if the provider is unknown, the key is missing, or an environment variable is
    /// invalid.
    pub fn from_id(id: &str) -> Result<Self, LmError> {
        Self::builder(id).build()
    }

    /// The model that `DSRS_LM` names, configured by environment variables.
    ///
    /// # Errors
    /// [`LmErrorKind::NotConfigured`](super::LmErrorKind::NotConfigured), if `DSRS_LM` is not set;
    /// otherwise as [`from_id`](Self::from_id).
    pub fn from_env() -> Result<Self, LmError> {
        LmBuilder::from_env()?.build()
    }

    /// A builder for the model named `id` (`provider:model`).
    pub fn builder(id: impl Into<String>) -> LmBuilder {
        LmBuilder::new(id.into(), Variables::environment())
    }

    pub(super) fn new(
        layers: Arc<dyn LanguageModel>,
        ledger: Ledger,
        cache: Option<ReplyCache>,
    ) -> Self {
        Self { layers, ledger, cache }
    }

    /// The totals of its calls.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The cache of its replies; `None` if the cache is disabled.
    #[must_use]
    pub fn cache(&self) -> Option<&ReplyCache> {
        self.cache.as_ref()
    }
}

impl fmt::Debug for Lm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lm")
            .field("id", &self.layers.id())
            .field("endpoint", &self.layers.endpoint())
            .finish_non_exhaustive()
    }
}

forward_language_model! {
    impl[] for Lm => |lm| lm.layers;
}
