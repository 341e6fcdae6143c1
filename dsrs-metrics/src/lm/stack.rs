//! The real model: the client with all layers around it, and its builder.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;

use super::client::{Client, Proxy, Target, Variables, Wire};
use super::shared::{self, Limits};
use super::{
    Breaker, BreakerPolicy, CacheMode, Cached, LanguageModel, Ledger, Limited, Limiter, LmBudget,
    LmError, LmReply, LmRequest, Metered, Priced, Prices, ReplyCache, Retry, RetryPolicy,
};

/// A language model of a provider, with retries, limits, prices and a cache. Clones share all of it.
///
/// ```no_run
/// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmRequest};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let lm = Lm::from_id("openai:gpt-5-mini")?; // or `Lm::from_env()?`
/// lm.probe().await?; // no key, no host, no such model: said before any row is paid for
/// let reply = lm.complete(&LmRequest::new("example").user("The capital of France?")).await?;
/// println!("{} ({})", reply.text, lm.ledger().total());
/// # Ok(())
/// # }
/// ```
///
/// A model is `provider:model`; providers are those of the `genai` crate: `openai`, `anthropic`, `gemini`,
/// `ollama`, `groq`, `mistral`, `deepseek`, `xai`, `open_router`, `together`, `fireworks`, `cohere` and some thirty
/// more.
///
/// | variable | says |
/// | --- | --- |
/// | `DSRS_LM` | the model, as `provider:model`, for [`from_env`](Self::from_env) |
/// | `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` (or `GOOGLE_API_KEY`), `PROVIDER_API_KEY` | the key |
/// | `OPENAI_BASE_URL`, `PROVIDER_BASE_URL` (or `_API_BASE`) | the address; with `openai:` any OpenAI-compatible server |
/// | `OLLAMA_HOST` | Ollama's host and port |
/// | `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` | organisation and project |
/// | `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` | the proxy |
/// | `DSRS_REQUESTS_PER_MINUTE`, `DSRS_TOKENS_PER_MINUTE` | the [limit](Limiter) of an account: all models of the process with the same address and key keep to it together |
/// | `DSRS_CACHE` | the folder of the [cache](ReplyCache) |
/// | `DSRS_PRICES` | a file of [prices](Prices) |
/// | `DSRS_MSATS_PER_USD` | how many msat a dollar is |
///
/// The layers, from the outside: [`Metered`], [`Cached`], [`Retry`], [`Breaker`], [`Limited`], [`Priced`],
/// the client. So a reply from the cache waits for nobody, and each attempt keeps to the limits and the budget.
#[derive(Clone)]
pub struct Lm {
    layers: Arc<dyn LanguageModel>,
    ledger: Ledger,
    cache: Option<ReplyCache>,
}

impl Lm {
    /// The model of this name, with what the environment says besides.
    ///
    /// # Errors
    /// [`LmError`], if there is no such provider, no key, or a variable holds nonsense.
    pub fn from_id(id: &str) -> Result<Self, LmError> {
        Self::builder(id).build()
    }

    /// The model that `DSRS_LM` names.
    ///
    /// # Errors
    /// [`LmError::NotChosen`], if it names none, or as [`from_id`](Self::from_id).
    pub fn from_env() -> Result<Self, LmError> {
        LmBuilder::from_env()?.build()
    }

    /// Builds the model of this name.
    pub fn builder(id: impl Into<String>) -> LmBuilder {
        LmBuilder::new(id.into(), Variables::environment())
    }

    /// What its calls took so far.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Where its replies are kept.
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

#[async_trait]
impl LanguageModel for Lm {
    fn id(&self) -> &str {
        self.layers.id()
    }

    fn endpoint(&self) -> Option<&str> {
        self.layers.endpoint()
    }

    fn as_sent<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        self.layers.as_sent(request)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        self.layers.complete(request).await
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.layers.probe().await
    }
}

/// Settings of an [`Lm`]. What is not set is read from the variables that it lists.
pub struct LmBuilder {
    id: String,
    variables: Variables,
    key: Option<SecretString>,
    base_url: Option<String>,
    wire: Wire,
    retry: RetryPolicy,
    breaker: BreakerPolicy,
    limiter: Option<Limiter>,
    cache_mode: CacheMode,
    cache_folder: Option<PathBuf>,
    cache_bytes: u64,
    prices: Option<Prices>,
    budget: Option<LmBudget>,
    allow_unpriced: bool,
    ledger: Ledger,
}

impl LmBuilder {
    /// The size of the cache unless said otherwise: 2 GiB.
    pub const CACHE_BYTES: u64 = 2 << 30;

    fn new(id: String, variables: Variables) -> Self {
        Self {
            id,
            variables,
            key: None,
            base_url: None,
            wire: Wire::default(),
            retry: RetryPolicy::default(),
            breaker: BreakerPolicy::default(),
            limiter: None,
            cache_mode: CacheMode::Use,
            cache_folder: None,
            cache_bytes: Self::CACHE_BYTES,
            prices: None,
            budget: None,
            allow_unpriced: false,
            ledger: Ledger::new(),
        }
    }

    /// Builds the model that `DSRS_LM` names.
    ///
    /// # Errors
    /// [`LmError::NotChosen`], if it names none.
    pub fn from_env() -> Result<Self, LmError> {
        let variables = Variables::environment();
        let variable = "DSRS_LM";
        match variables.get(variable) {
            Some(id) => Ok(Self::new(id, variables)),
            None => Err(LmError::NotChosen { variable: variable.to_owned() }),
        }
    }

    /// Looks variables up here instead of in the environment.
    #[must_use]
    pub fn variables(
        mut self,
        get: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.variables = Variables::new(get);
        self
    }

    /// The key, instead of that in the provider's variable.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(SecretString::from(key.into()));
        self
    }

    /// The address, instead of the provider's own.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// A proxy, instead of that in the usual variables.
    #[must_use]
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.wire.proxy = Proxy::At(url.into());
        self
    }

    /// No proxy, whatever the usual variables say.
    #[must_use]
    pub fn no_proxy(mut self) -> Self {
        self.wire.proxy = Proxy::Never;
        self
    }

    /// The longest that one attempt may take; 120 s unless this is called.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.wire.timeout = timeout;
        self
    }

    /// How failures are retried.
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// When a dead provider is left alone. Models of the process that have the same address and policy find out
    /// together.
    #[must_use]
    pub fn breaker(mut self, policy: BreakerPolicy) -> Self {
        self.breaker = policy;
        self
    }

    /// The limit on requests and tokens per minute, instead of that in the variables. That one is shared by all models of the
    /// process that have the same address and key; this one by those that it is given to.
    #[must_use]
    pub fn limiter(mut self, limiter: Limiter) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// How the cache is used.
    #[must_use]
    pub fn cache_mode(mut self, mode: CacheMode) -> Self {
        self.cache_mode = mode;
        self
    }

    /// The folder of the cache, instead of that in `DSRS_CACHE` or the user's folder for caches.
    #[must_use]
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache_folder = Some(folder.into());
        self
    }

    /// How many bytes of replies the cache holds at most.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Prices, instead of the shipped table and those in `DSRS_PRICES`.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// A limit on what all calls may cost together.
    #[must_use]
    pub fn budget(mut self, budget: LmBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Lets a model without a price be called although there is a budget.
    #[must_use]
    pub fn allow_unpriced(mut self, allow: bool) -> Self {
        self.allow_unpriced = allow;
        self
    }

    /// Counts in this ledger, so that several models share one.
    #[must_use]
    pub fn ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = ledger;
        self
    }

    /// The model.
    ///
    /// # Errors
    /// [`LmError`], if there is no such provider, no key, a setting holds nonsense, or the cache can't be
    /// opened. Whether the provider answers is found out by [`probe`](LanguageModel::probe).
    pub fn build(self) -> Result<Lm, LmError> {
        let prices = self.price_table()?;
        let limits = self.limits()?;
        let target =
            Target::find(&self.id, self.key.clone(), self.base_url.clone(), &self.variables)?;
        // Last of what may be wrong: it makes a folder.
        let cache = self.open_cache()?;
        let own = self.limiter;
        let limiter = own.unwrap_or_else(|| shared::limiter(target.account(), limits));
        let circuit = shared::circuit(target.place(), self.breaker);
        let client = Client::new(target, self.wire)?;
        let mut priced = Priced::new(client, prices).allow_unpriced(self.allow_unpriced);
        if let Some(budget) = self.budget {
            priced = priced.budget(budget);
        }
        let limited = Limited::new(priced, limiter);
        let retried = Retry::new(Breaker::sharing(limited, circuit), self.retry);
        let ledger = self.ledger;
        let layers: Arc<dyn LanguageModel> = match &cache {
            Some(cache) => {
                let cached = Cached::new(retried, cache.clone(), self.cache_mode);
                Arc::new(Metered::new(cached, ledger.clone()))
            }
            None => Arc::new(Metered::new(retried, ledger.clone())),
        };
        Ok(Lm { layers, ledger, cache })
    }

    fn price_table(&self) -> Result<Prices, LmError> {
        if let Some(prices) = &self.prices {
            return Ok(prices.clone());
        }
        let mut prices = Prices::shipped();
        if let Some(file) = self.variables.get("DSRS_PRICES") {
            prices = prices.with_file(file)?;
        }
        let positive = |msats: &f64| msats.is_finite() && *msats > 0.0;
        match self.number("DSRS_MSATS_PER_USD", positive)? {
            Some(msats) => Ok(prices.msats_per_usd(msats)),
            None => Ok(prices),
        }
    }

    fn limits(&self) -> Result<Limits, LmError> {
        let positive = |limit: &u32| *limit > 0;
        let requests = self.number("DSRS_REQUESTS_PER_MINUTE", positive)?;
        let tokens = self.number("DSRS_TOKENS_PER_MINUTE", positive)?;
        Ok((requests, tokens))
    }

    /// The number that a variable holds.
    fn number<T: FromStr>(
        &self,
        setting: &str,
        sound: impl FnOnce(&T) -> bool,
    ) -> Result<Option<T>, LmError> {
        let Some(found) = self.variables.get(setting) else { return Ok(None) };
        match found.parse().ok().filter(sound) {
            Some(number) => Ok(Some(number)),
            None => Err(LmError::BadSetting {
                setting: setting.to_owned(),
                found,
                reason: "it should be a positive number".to_owned(),
            }),
        }
    }

    fn open_cache(&self) -> Result<Option<ReplyCache>, LmError> {
        if self.cache_mode == CacheMode::Off {
            return Ok(None);
        }
        let folder = self.cache_folder.clone();
        let folder = folder.or_else(|| self.variables.get("DSRS_CACHE").map(PathBuf::from));
        let Some(folder) = folder.or_else(ReplyCache::default_folder) else {
            return Err(LmError::Cache {
                path: "of this user".to_owned(),
                reason:
                    "there is no home folder; set DSRS_CACHE to a folder, or do without a cache"
                        .to_owned(),
                cost_msats: Some(0),
            });
        };
        ReplyCache::open(folder, self.cache_bytes).map(Some)
    }
}

impl fmt::Debug for LmBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LmBuilder").field("id", &self.id).finish_non_exhaustive()
    }
}
