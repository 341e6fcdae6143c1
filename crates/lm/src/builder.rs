//! `Lm`, a provider's client with all layers around it, and its builder, which determines the settings and the order of
//! the layers.
//!
//! The file is long because each setting is documented with an example.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;

use super::client::{Client, HttpSettings, Proxy, Target, Variables};
use super::estimate::{Estimated, LmEstimate};
use super::replay::{self, Replay};
use super::store::Store;
use super::{
    Circuit, CircuitBreaker, CircuitPolicy, LanguageModel, Ledger, LmBudget, LmError, LmErrorKind,
    LmReply, LmRequest, Metered, Priced, Prices, Quote, RateLimit, RateLimiter, Retry, RetryPolicy,
    Stored, money,
};

/// A builder for an [`Lm`].
///
/// Settings that you leave out are read from the environment variables listed in the documentation of `Lm`.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{LanguageModel, Lm};
///
/// # fn main() -> Result<(), dsrs_metrics::lm::LmError> {
/// let lm = Lm::builder("openai:my-model")
///     .base_url("http://localhost:8000/v1")
///     .timeout(Duration::from_secs(30))
///     .no_store()
///     .build()?;
/// assert_eq!((lm.id(), lm.endpoint()), ("openai:my-model", Some("http://localhost:8000/v1/")));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct LmBuilder {
    id: String,
    variables: Variables,
    key: Option<SecretString>,
    base_url: Option<String>,
    http: HttpSettings,
    retry: RetryPolicy,
    circuit: CircuitPolicy,
    limiter: Option<RateLimiter>,
    store: StoreSetting,
    refresh: bool,
    prices: Option<Prices>,
    budget: Option<LmBudget>,
    allow_unpriced: bool,
    ledger: Ledger,
    estimate: Option<LmEstimate>,
    is_embedder: bool,
}

#[derive(Default)]
enum StoreSetting {
    /// `DSRS_STORE`, or the user's cache folder.
    #[default]
    Default,
    In(PathBuf),
    None,
}

impl LmBuilder {
    pub(super) fn new(id: String, variables: Variables) -> Self {
        Self {
            id,
            variables,
            ..Self::default()
        }
    }

    /// Creates a builder for the model that `DSRS_LM` names.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmBuilder, LmErrorKind};
    ///
    /// # if std::env::var("DSRS_LM").is_ok_and(|id| !id.trim().is_empty()) { return }
    /// let error = LmBuilder::from_env().unwrap_err(); // `DSRS_LM` is not set
    /// assert!(matches!(error.kind(), LmErrorKind::Setting(reason) if reason.contains("DSRS_LM")));
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Setting`](crate::LmErrorKind::Setting) if `DSRS_LM` is not set.
    pub fn from_env() -> Result<Self, LmError> {
        let variables = Variables::default();
        let variable = "DSRS_LM";
        match variables.get(variable) {
            Some(id) => Ok(Self::new(id, variables)),
            None => {
                let set = format!("set {variable}=provider:model, such as openai:gpt-6-luna");
                Err(LmErrorKind::Setting(format!("no language model configured; {set}")).into())
            }
        }
    }

    setters! {
        /// Sets a function that looks up variables instead of reading the environment.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, Lm};
        ///
        /// let variables = |name: &str| match name {
        ///     "OPENAI_BASE_URL" => Some("http://localhost:8000/v1".to_owned()),
        ///     _ => None,
        /// };
        /// let lm = Lm::builder("openai:my-model").variables(variables).no_store().build()?;
        /// assert_eq!(lm.endpoint(), Some("http://localhost:8000/v1/"));
        /// # Ok::<(), dsrs_metrics::lm::LmError>(())
        /// ```
        pub fn variables(get: impl Fn(&str) -> Option<String> + Send + Sync + 'static)
            => variables = Variables::new(get);

        /// Sets the API key.
        ///
        /// ```
        /// use dsrs_metrics::lm::Lm;
        ///
        /// let builder = || Lm::builder("openai:gpt-6-luna").variables(|_| None).no_store();
        /// let error = builder().build().unwrap_err();
        /// assert_eq!(error.to_string(), "openai:gpt-6-luna: missing API key; set OPENAI_API_KEY");
        /// let lm = builder().key("sk-0123456789abcdef").build()?;
        /// assert!(!format!("{lm:?}").contains("sk-"));
        /// # Ok::<(), dsrs_metrics::lm::LmError>(())
        /// ```
        pub fn key(key: impl Into<String>) => key = Some(SecretString::from(key.into()));

        /// Sets the base URL of the API.
        ///
        /// ```
        /// use dsrs_metrics::lm::Lm;
        ///
        /// let lm = Lm::builder("openai:my-model").base_url("localhost:8000").no_store();
        /// assert_eq!(
        ///     lm.build().unwrap_err().to_string(),
        ///     "invalid base URL `localhost:8000`: expected a URL that starts with http:// or https://"
        /// );
        /// ```
        pub fn base_url(url: impl Into<String>) => base_url = Some(url.into());

        /// Sets the URL of the proxy.
        ///
        /// ```
        /// use dsrs_metrics::lm::Lm;
        ///
        /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").no_store();
        /// let error = lm.proxy("http://user:password@").build().unwrap_err().to_string();
        /// assert!(error.starts_with("invalid proxy `"), "{error}");
        /// assert!(!error.contains("password"), "{error}");
        /// ```
        pub fn proxy(url: impl Into<String>) => http.proxy = Proxy::Url(url.into());

        /// Disables the proxy.
        ///
        /// A proxy set by an environment variable is ignored.
        ///
        /// ```
        /// use dsrs_metrics::lm::Lm;
        ///
        /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").no_store();
        /// lm.proxy("http://").no_proxy().build()?; // the invalid proxy is not used
        /// # Ok::<(), dsrs_metrics::lm::LmError>(())
        /// ```
        pub fn no_proxy() => http.proxy = Proxy::None;

        /// Sets the time limit for one attempt.
        ///
        /// The default is 120 s.
        ///
        /// ```
        /// use std::net::TcpListener;
        /// use std::time::Duration;
        /// use dsrs_metrics::lm::{LanguageModel, Lm, LmRequest, RetryPolicy};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let server = TcpListener::bind("127.0.0.1:0")?; // never replies
        /// let lm = Lm::builder("openai:my-model")
        ///     .base_url(format!("http://{}/v1", server.local_addr()?))
        /// #     .no_proxy()
        /// #     .no_store()
        ///     .retry(RetryPolicy::never())
        ///     .timeout(Duration::from_millis(50))
        ///     .build()?;
        /// let error = lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
        /// assert_eq!(error.to_string(), "openai:my-model: no reply within 0.05 s");
        /// # Ok(())
        /// # }
        /// ```
        pub fn timeout(timeout: Duration) => http.timeout = Some(timeout);

        /// Sets the maximum size of a response in bytes, after decompression.
        ///
        /// A call with a larger response fails with [`LmErrorKind::ReplyTooLarge`]. The default is
        /// `DSRS_MAX_REPLY_BYTES`, or 8 MiB if it is not set.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, Lm, LmErrorKind, LmRequest};
        ///
        /// # use std::io::{Read, Write};
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let server = std::net::TcpListener::bind("127.0.0.1:0")?;
        /// # let url = format!("http://{}/v1", server.local_addr()?);
        /// # let server = std::thread::spawn(move || -> std::io::Result<()> {
        /// #     let (mut connection, _) = server.accept()?;
        /// #     let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
        /// #     while !request.ends_with(b"}") {
        /// #         let read = connection.read(&mut buffer)?;
        /// #         request.extend_from_slice(&buffer[..read]);
        /// #     }
        /// #     let body = format!("\"{}\"", "x".repeat(98));
        /// #     write!(connection, "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{body}")
        /// # });
        /// let lm = Lm::builder("openai:my-model").base_url(url).max_reply_bytes(99);
        /// # let lm = lm.no_proxy().no_store().build()?;
        /// // The server replies with 100 bytes.
        /// let error = lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
        /// assert_eq!(error.kind(), &LmErrorKind::ReplyTooLarge { limit: 99, unit: "bytes" });
        /// # server.join().unwrap()?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn max_reply_bytes(bytes: usize) => http.max_reply_bytes = Some(bytes);

        /// Sets the policy for retrying failed calls.
        ///
        /// ```
        /// use std::time::Duration;
        /// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmRequest, RetryPolicy};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let policy = RetryPolicy {
        ///     max_attempts: 3,
        ///     initial_delay: Duration::from_millis(1),
        ///     ..RetryPolicy::default()
        /// };
        /// let lm = Lm::builder("openai:my-model").base_url("http://127.0.0.1:9/v1").retry(policy);
        /// # let lm = lm.no_proxy().no_store().build()?;
        /// // Nothing listens there.
        /// let error = lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
        /// assert_eq!((error.attempts(), error.cost_msats()), (3, Some(0)));
        /// # Ok(())
        /// # }
        /// ```
        pub fn retry(policy: RetryPolicy) => retry = policy;

        /// Sets the policy for pausing calls to a failing provider.
        ///
        /// Within a process, models with the same address and policy share the [circuit](super::Circuit).
        ///
        /// ```
        /// use std::time::Duration;
        /// use dsrs_metrics::lm::{
        ///     CircuitPolicy, LanguageModel, Lm, LmError, LmErrorKind, LmRequest, RetryPolicy,
        /// };
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let policy = CircuitPolicy {
        ///     failure_threshold: 2,
        ///     failing_for: Duration::ZERO,
        ///     ..CircuitPolicy::default()
        /// };
        /// let lm = Lm::builder("openai:my-model")
        ///     .base_url("http://127.0.0.1:9/v1") // nothing listens there
        /// #     .no_proxy()
        /// #     .no_store()
        ///     .retry(RetryPolicy::never())
        ///     .circuit_breaker(policy)
        ///     .build()?;
        /// let request = LmRequest::new("example").user("?");
        /// for _ in 0..2 {
        ///     lm.complete(&request).await.unwrap_err();
        /// }
        /// let error = lm.complete(&request).await.unwrap_err();
        /// assert!(matches!(error.kind(), LmErrorKind::CircuitOpen { .. }));
        /// # Ok(())
        /// # }
        /// ```
        pub fn circuit_breaker(policy: CircuitPolicy) => circuit = policy;

        /// Sets the rate limiter for requests and tokens per minute.
        ///
        /// Models with the same limiter share its limits.
        ///
        /// By default, the limits come from environment variables. All models in the process with the same address and
        /// key then share them.
        ///
        /// ```
        /// use std::time::Duration;
        /// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmRequest, RateLimiter};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let limiter = RateLimiter::new().requests_per_minute(1);
        /// let model = |id: &str| {
        ///     let lm = Lm::builder(id).base_url("http://127.0.0.1:9/v1").limiter(limiter.clone());
        /// #     let lm = lm.no_proxy().no_store().retry(dsrs_metrics::lm::RetryPolicy::never());
        ///     lm.build()
        /// };
        /// let (one, other) = (model("openai:one")?, model("openai:other")?);
        /// let request = LmRequest::new("example").user("?");
        /// one.complete(&request).await.unwrap_err(); // nothing listens there
        /// let waiting = tokio::time::timeout(Duration::from_millis(20), other.complete(&request));
        /// assert!(waiting.await.is_err(), "the other model waits for the next minute");
        /// # Ok(())
        /// # }
        /// ```
        pub fn limiter(limiter: RateLimiter) => limiter = Some(limiter);

        /// Sets the store's folder.
        ///
        /// The default is `DSRS_STORE`, or the user's cache folder if it is not set.
        ///
        /// ```
        /// use dsrs_metrics::lm::Lm;
        ///
        /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-store-dir-{}", std::process::id()));
        /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").store(&dir).build()?;
        /// let store = lm.store().expect("it has a store");
        /// assert_eq!(store.path(), dir.canonicalize()?.join("store.sqlite"));
        /// # drop(lm);
        /// # std::fs::remove_dir_all(dir)?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn store(dir: impl Into<PathBuf>) => store = StoreSetting::In(dir.into());

        /// Disables the store.
        ///
        /// Replies are neither read from the store nor written to it. On the command line, this is `--no-store`.
        ///
        /// ```
        /// use dsrs_metrics::lm::Lm;
        ///
        /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").no_store().build()?;
        /// assert!(lm.store().is_none());
        /// # Ok::<(), dsrs_metrics::lm::LmError>(())
        /// ```
        pub fn no_store() => store = StoreSetting::None;

        /// Sets whether to repeat stored calls and replace their replies.
        ///
        /// See [`Stored::refresh`]. On the command line, this is `--refresh`.
        ///
        /// ```
        /// use dsrs_metrics::lm::Lm;
        ///
        /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-refresh-lm-{}", std::process::id()));
        /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").store(&dir);
        /// let lm = lm.refresh(true).build()?;
        /// assert!(lm.store().is_some(), "the new replies are stored");
        /// # drop(lm);
        /// # std::fs::remove_dir_all(dir)?;
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        pub fn refresh(refresh: bool) => refresh = refresh;

        /// Sets the price table.
        ///
        /// The default is the shipped price table, plus the prices in the file that `DSRS_PRICES` names.
        ///
        /// ```
        /// use dsrs_metrics::lm::{
        ///     LanguageModel, Lm, LmBudget, LmError, LmErrorKind, LmRequest, Price, Prices,
        /// };
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let price = Price { input: 1.0, output: 1.0, cached_input: None };
        /// let lm = Lm::builder("openai:my-model").prices(Prices::empty().with("openai:*", price));
        /// # let lm = lm.base_url("http://127.0.0.1:9/v1").no_proxy().no_store();
        /// let lm = lm.budget(LmBudget::msats(100)).build()?;
        /// // 81 msat for the prompt at most, and 4,096 msat for the reply.
        /// let error = lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
        /// assert!(matches!(error.kind(), LmErrorKind::BudgetExceeded { needed_msats: 4177, .. }), "{error}");
        /// # Ok(())
        /// # }
        /// ```
        pub fn prices(prices: Prices) => prices = Some(prices);

        /// Sets a budget for all calls.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, Lm, LmBudget, LmError, LmRequest, Sampling};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let budget = LmBudget::msats(100);
        /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").budget(budget.clone());
        /// # let lm = lm.variables(|_| None).base_url("http://127.0.0.1:9/v1").no_proxy().no_store();
        /// let sampling = Sampling { max_tokens: Some(1000), ..Sampling::default() };
        /// let request = LmRequest::new("example").user("?").with_sampling(sampling);
        /// // The call may cost 509 msat, so it is not made.
        /// lm.build()?.complete(&request).await.unwrap_err();
        /// assert_eq!((budget.spent_msats(), budget.largest_rejected_msats()), (0, Some(509)));
        /// # Ok(())
        /// # }
        /// ```
        pub fn budget(budget: LmBudget) => budget = Some(budget);

        /// Sets whether the budget allows calls to a model without a price.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, Lm, LmBudget, LmError, LmErrorKind, LmRequest};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let builder = || {
        ///     let lm = Lm::builder("openai:my-model").base_url("http://127.0.0.1:9/v1");
        /// #     let lm = lm.retry(dsrs_metrics::lm::RetryPolicy::never());
        /// #     let lm = lm.variables(|_| None).no_proxy().no_store();
        ///     lm.budget(LmBudget::msats(100))
        /// };
        /// let request = LmRequest::new("example").user("?");
        /// assert_eq!(builder().build().unwrap_err().kind(), &LmErrorKind::Unpriced);
        /// // The call is made. Nothing listens at the address.
        /// let error = builder().allow_unpriced(true).build()?.complete(&request).await.unwrap_err();
        /// assert!(matches!(error.kind(), LmErrorKind::Unreachable { .. }));
        /// # Ok(())
        /// # }
        /// ```
        pub fn allow_unpriced(allow: bool) => allow_unpriced = allow;

        /// Sets the ledger that records the calls.
        ///
        /// Several models can share a ledger.
        ///
        /// ```
        /// use dsrs_metrics::lm::{Ledger, Lm, LmReply};
        ///
        /// let ledger = Ledger::new();
        /// let lm = Lm::builder("openai:gpt-6-luna").key("sk-0123456789abcdef").ledger(ledger.clone());
        /// let lm = lm.no_store().build()?;
        /// ledger.record("judge brief version 1", &Ok(LmReply::new("yes")));
        /// assert_eq!(lm.ledger().total().calls, 1);
        /// # Ok::<(), dsrs_metrics::lm::LmError>(())
        /// ```
        pub fn ledger(ledger: Ledger) => ledger = ledger;

        /// Sets an estimate, so the model counts its calls instead of making them.
        ///
        /// The model then needs no key, does not write to the store, and records nothing in the [ledger](Self::ledger).
        /// See [`LmEstimate`].
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmErrorKind, LmEstimate, LmRequest};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let estimate = LmEstimate::new();
        /// let lm = Lm::builder("openai:gpt-6-luna").estimate(estimate.clone());
        /// let lm = lm.no_store().build()?;
        /// let error = lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
        /// assert_eq!(error.kind(), &LmErrorKind::Estimated);
        /// assert_eq!(estimate.total().calls, 1);
        /// # Ok(())
        /// # }
        /// ```
        pub fn estimate(estimate: LmEstimate) => estimate = Some(estimate);
        #[doc(hidden)]
        /// Makes the model request embedding vectors instead of replies.
        ///
        /// `ProviderEmbedder::of` requires this setting.
        pub fn embedding() => is_embedder = true;
    }

    /// Builds the model.
    ///
    /// Call [`probe`](LanguageModel::probe) to check that the provider answers.
    ///
    /// If a test replays recorded calls, you don't need a key, and the store is not opened.
    ///
    /// ```
    /// use dsrs_metrics::lm::Lm;
    ///
    /// assert_eq!(
    ///     Lm::builder("opnai:gpt-6-luna").build().unwrap_err().to_string(),
    ///     "unknown provider in model `opnai:gpt-6-luna`; did you mean `openai:gpt-6-luna`? \
    ///      for any other OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
    /// );
    /// ```
    ///
    /// # Errors
    /// Returns [`LmError`] if the provider is unknown, the key is missing, or a setting is invalid. Also returns this
    /// error if the store cannot be opened, or if there is a budget but a model has no price.
    pub fn build(self) -> Result<Lm, LmError> {
        let prices = self.price_table()?;
        let limits = self.rate_limits()?;
        let mut http = self.http.clone();
        let found = self.number(
            "DSRS_MAX_REPLY_BYTES",
            "a whole number of bytes, at least 1",
        )?;
        http.max_reply_bytes = http.max_reply_bytes.or(found.map(NonZeroUsize::get));
        let is_called = self.estimate.is_none() && !replay::is_replaying();
        let (key, base_url) = (self.key.clone(), self.base_url.clone());
        let target = Target::resolve(&self.id, key, base_url, &self.variables, is_called)?;
        // Checked here, before any call of the run.
        let needs_price = self.budget.is_some() && !self.allow_unpriced && !replay::is_replaying();
        if needs_price && prices.get(&target.id).is_none() {
            return Err(LmError::new(target.id, LmErrorKind::Unpriced));
        }
        if let Some(estimate) = self.estimate.clone() {
            let store = match self.store_folder()?.filter(|_| !self.refresh) {
                Some(dir) => Store::open_existing(&dir)?,
                None => None,
            };
            estimate.activate();
            let layers = Estimated {
                inner: Client::new(target, self.is_embedder, http)?,
                estimate,
                prices,
                store,
            };
            return Ok(Lm {
                layers: Arc::new(layers),
                ledger: self.ledger,
                store: None,
            });
        }
        // The last fallible step, because it creates a folder.
        let folder = match replay::is_replaying() {
            true => None,
            false => self.store_folder()?,
        };
        let store = folder.map(Store::open).transpose()?;
        let own = self.limiter;
        let limiter = own.unwrap_or_else(|| RateLimiter::of_account(target.account_hash(), limits));
        let circuit = Circuit::of_address(target.base_url.clone(), self.circuit);
        let client = Client::new(target, self.is_embedder, http)?;
        let mut priced = Priced::new(client, prices).allow_unpriced(self.allow_unpriced);
        if let Some(budget) = self.budget {
            priced = priced.budget(budget);
        }
        let limited = RateLimit::new(priced, limiter);
        let retried = Retry::new(CircuitBreaker::with_circuit(limited, circuit), self.retry);
        let ledger = self.ledger;
        let layers: Arc<dyn LanguageModel> = match &store {
            Some(store) if self.refresh => Arc::new(Stored::new(retried, store.clone()).refresh()?),
            Some(store) => Arc::new(Stored::new(retried, store.clone())),
            None => Arc::new(retried),
        };
        let layers = Arc::new(Metered::new(layers, ledger.clone()));
        Ok(Lm {
            layers,
            ledger,
            store,
        })
    }

    fn price_table(&self) -> Result<Prices, LmError> {
        if let Some(prices) = &self.prices {
            return Ok(prices.clone());
        }
        let mut prices = Prices::shipped();
        if let Some(file) = self.variables.get("DSRS_PRICES") {
            prices = prices.with_setting(Path::new(&file), "DSRS_PRICES")?;
        }
        match self.variables.get(money::RATE) {
            Some(found) => Ok(prices.msats_per_usd(money::rate(&found)?)),
            None => Ok(prices),
        }
    }

    /// Returns the limits on requests and tokens per minute.
    fn rate_limits(&self) -> Result<[Option<u32>; 2], LmError> {
        let limit = |setting| {
            let limit = self.number(setting, "a whole number from 1 to 4294967295");
            limit.map(|limit| limit.map(NonZeroU32::get))
        };
        Ok([
            limit("DSRS_REQUESTS_PER_MINUTE")?,
            limit("DSRS_TOKENS_PER_MINUTE")?,
        ])
    }

    fn number<T: FromStr>(&self, setting: &str, expected: &str) -> Result<Option<T>, LmError> {
        let found = self.variables.get(setting);
        let number = found.map(|found| {
            let reason = format_args!("expected {expected}");
            let number = found.parse();
            number.map_err(|_| LmError::setting(setting, &found, reason))
        });
        number.transpose()
    }

    /// Returns the folder of the store, if there is one.
    fn store_folder(&self) -> Result<Option<PathBuf>, LmError> {
        let dir = match &self.store {
            StoreSetting::None => return Ok(None),
            StoreSetting::In(dir) => Some(dir.clone()),
            StoreSetting::Default => self.variables.get("DSRS_STORE").map(PathBuf::from),
        };
        let dir = dir.or_else(Store::default_dir);
        dir.map(Some)
            .ok_or_else(|| LmErrorKind::NoStoreFolder.into())
    }
}

debug_fields!(LmBuilder: |builder| "id" => builder.id);

/// A provider's language model, with retries, limits, prices and a store.
///
/// Clones share all state.
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
/// The [module documentation](super#path-of-a-request) describes the layers that a request passes through, in order.
#[derive(Debug, Clone)]
pub struct Lm {
    layers: Arc<dyn LanguageModel>,
    ledger: Ledger,
    store: Option<Store>,
}

impl Lm {
    /// Creates the model with the given id, configured by environment variables.
    ///
    /// The id is written as `provider:model`.
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

    /// Creates a builder for the model with the given id.
    ///
    /// The id is written as `provider:model`.
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
        LmBuilder::new(id.into(), Variables::default())
    }

    /// Returns the ledger that records the model's calls.
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

    /// Returns the store that keeps the model's replies, if there is one.
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
