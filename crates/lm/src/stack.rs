//! `Lm`: a provider's client with all layers around it.

use std::sync::Arc;

use async_trait::async_trait;

use super::client::Variables;
use super::replay::{self, Replay};
use super::{LanguageModel, Ledger, LmBuilder, LmError, LmReply, LmRequest, Quote, Store};

/// A provider's language model, with retries, limits, prices and a store. Clones share everything.
///
/// ```no_run
/// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmRequest};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let lm = Lm::from_id("openai:gpt-6-luna")?; // or `Lm::from_env()?`
/// lm.probe().await?; // checks key, host and model name before any row is paid for
/// let reply = lm.complete(&LmRequest::new("example").user("The capital of France?")).await?;
/// println!("{} ({})", reply.text, lm.ledger().total());
/// # Ok(())
/// # }
/// ```
///
/// A model is named `provider:model`. The guide lists the providers. For any other OpenAI-compatible server, use
/// `openai:model` and set `OPENAI_BASE_URL`.
///
/// | environment variable | meaning |
/// | --- | --- |
/// | `DSRS_LM` | the model, as `provider:model`, for [`from_env`](Self::from_env) |
/// | `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` (or `GOOGLE_API_KEY`), `PROVIDER_API_KEY` | the API key |
/// | `OPENAI_BASE_URL`, `PROVIDER_BASE_URL` (or `_API_BASE`) | the base URL; with `openai:` any OpenAI-compatible server |
/// | `OLLAMA_HOST` | host and port of Ollama |
/// | `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` | organization and project |
/// | `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` | the proxy |
/// | `DSRS_REQUESTS_PER_MINUTE`, `DSRS_TOKENS_PER_MINUTE` | an account's [limits](super::RateLimiter), shared by all models of the process with the same address and key |
/// | `DSRS_MAX_REPLY_BYTES` | the [largest response](super::LmBuilder::max_reply_bytes), in bytes |
/// | `DSRS_STORE` | the folder of the [store](Store) |
/// | `DSRS_PRICES` | a JSON file of [prices](super::Prices) |
/// | `DSRS_MSATS_PER_USD` | the number of msat per US dollar |
///
/// The [module documentation](super#path-of-a-request) describes the layers and the order in which a request passes
/// through them.
#[derive(Debug, Clone)]
pub struct Lm {
    layers: Arc<dyn LanguageModel>,
    ledger: Ledger,
    store: Option<Store>,
}

impl Lm {
    /// Creates the model named `id` (`provider:model`), configured by environment variables.
    ///
    /// ```
    /// use dsrs_metrics::lm::Lm;
    ///
    /// assert_eq!(
    ///     Lm::from_id("gpt-6-luna").unwrap_err().to_string(),
    ///     "invalid model `gpt-6-luna`: expected provider:model, such as openai:gpt-6-luna; \
    ///      for any OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
    /// );
    /// ```
    ///
    /// # Errors
    /// Returns [`LmError`] if the provider is unknown, the key is missing, or an environment variable is invalid.
    pub fn from_id(id: &str) -> Result<Self, LmError> {
        Self::builder(id).build()
    }

    /// Creates the model that `DSRS_LM` names, configured by environment variables.
    ///
    /// ```
    /// use dsrs_metrics::lm::Lm;
    ///
    /// # if std::env::var("DSRS_LM").is_ok_and(|id| !id.trim().is_empty()) { return }
    /// let error = Lm::from_env().unwrap_err(); // `DSRS_LM` is not set
    /// assert_eq!(
    ///     error.to_string(),
    ///     "no language model configured; set DSRS_LM=provider:model, such as openai:gpt-6-luna"
    /// );
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Setting`](super::LmErrorKind::Setting) if `DSRS_LM` is not set. Otherwise, returns the
    /// same errors as [`from_id`](Self::from_id).
    pub fn from_env() -> Result<Self, LmError> {
        LmBuilder::from_env()?.build()
    }

    /// Returns a builder for the model named `id` (`provider:model`).
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, Lm};
    ///
    /// let lm = Lm::builder("google:gemini-3.8-flash").key("0123456789abcdef");
    /// let lm = lm.no_store().build()?;
    /// assert_eq!(lm.id(), "gemini:gemini-3.8-flash", "`google` is an alias");
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    pub fn builder(id: impl Into<String>) -> LmBuilder {
        LmBuilder::new(id.into(), Variables::environment())
    }

    pub(super) fn new(
        layers: Arc<dyn LanguageModel>,
        ledger: Ledger,
        store: Option<Store>,
    ) -> Self {
        Self {
            layers,
            ledger,
            store,
        }
    }

    /// Returns the ledger of the model's calls.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmRequest};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let lm = Lm::builder("openai:my-model").base_url("http://127.0.0.1:9/v1");
    /// # let lm = lm.retry(dsrs_metrics::lm::RetryPolicy::never()).no_proxy().no_store().build()?;
    /// lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err(); // nothing listens there
    /// assert_eq!((lm.ledger().total().calls, lm.ledger().total().failed), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the store of the model's replies, if it has one.
    ///
    /// ```
    /// use dsrs_metrics::lm::Lm;
    ///
    /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").no_store();
    /// assert!(lm.build()?.store().is_none());
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }
}

#[async_trait]
impl LanguageModel for Lm {
    fn id(&self) -> &str {
        self.layers.id()
    }

    fn inner(&self) -> Option<&dyn LanguageModel> {
        Some(&*self.layers)
    }

    fn keeps_replies(&self) -> bool {
        true
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        match Replay::current() {
            Some(replay) => replay.complete(&*self.layers, request, &self.ledger).await,
            None => self.layers.complete(request).await,
        }
    }

    fn quote(&self, request: &LmRequest) -> Option<Quote> {
        let is_called = Replay::current().is_none_or(|replay| replay.is_called(self, request));
        is_called.then(|| self.layers.quote(request)).flatten()
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        match replay::is_replaying() {
            true => Ok(None),
            false => self.layers.probe().await,
        }
    }
}
