//! The builder of `Lm`: settings, and the order of the layers.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use super::client::{Client, DEFAULT_MAX_REPLY_BYTES, HttpSettings, Proxy, Target, Variables};
use super::money;
use super::registry::{self, RateLimits};
use super::{
    CacheMode, Cached, CircuitBreaker, CircuitPolicy, LanguageModel, Ledger, Lm, LmBudget, LmError,
    LmErrorKind, Metered, Priced, Prices, RateLimit, RateLimiter, ReplyCache, Retry, RetryPolicy,
};

/// A builder of an [`Lm`]. Settings that are not made are read from the environment variables
/// listed there.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{CacheMode, LanguageModel, Lm, LmBudget};
///
/// # fn main() -> Result<(), dsrs_metrics::lm::LmError> {
/// let lm = Lm::builder("openai:my-model")
///     .base_url("http://localhost:8000/v1")
///     .timeout(Duration::from_secs(30))
///     .cache_mode(CacheMode::Off)
///     .budget(LmBudget::msats(1_000_000))
///     .build()?;
/// assert_eq!((lm.id(), lm.endpoint()), ("openai:my-model", Some("http://localhost:8000/v1/")));
/// # Ok(())
/// # }
/// ```
pub struct LmBuilder {
    id: String,
    variables: Variables,
    key: Option<SecretString>,
    base_url: Option<String>,
    http: HttpSettings,
    max_reply_bytes: Option<usize>,
    retry: RetryPolicy,
    circuit: CircuitPolicy,
    limiter: Option<RateLimiter>,
    cache_mode: CacheMode,
    cache_dir: Option<PathBuf>,
    cache_max_bytes: u64,
    prices: Option<Prices>,
    budget: Option<LmBudget>,
    allow_unpriced: bool,
    ledger: Ledger,
}

impl LmBuilder {
    /// The default maximum size of the cache: 2 GiB.
    pub const DEFAULT_CACHE_BYTES: u64 = 2 << 30;

    pub(super) fn new(id: String, variables: Variables) -> Self {
        Self {
            id,
            variables,
            key: None,
            base_url: None,
            http: HttpSettings::default(),
            max_reply_bytes: None,
            retry: RetryPolicy::default(),
            circuit: CircuitPolicy::default(),
            limiter: None,
            cache_mode: CacheMode::Use,
            cache_dir: None,
            cache_max_bytes: Self::DEFAULT_CACHE_BYTES,
            prices: None,
            budget: None,
            allow_unpriced: false,
            ledger: Ledger::new(),
        }
    }

    /// A builder for the model that `DSRS_LM` names.
    ///
    /// # Errors
    /// [`LmErrorKind::NotConfigured`], if `DSRS_LM` is not set.
    pub fn from_env() -> Result<Self, LmError> {
        let variables = Variables::environment();
        let variable = "DSRS_LM";
        match variables.get(variable) {
            Some(id) => Ok(Self::new(id, variables)),
            None => Err(LmErrorKind::NotConfigured { variable: variable.to_owned() }.into()),
        }
    }

    setters! {
        /// Sets a function that replaces the environment: it returns the value of a variable.
        pub fn variables(get: impl Fn(&str) -> Option<String> + Send + Sync + 'static)
            => variables = Variables::new(get);

        /// Sets the API key.
        pub fn key(key: impl Into<String>) => key = Some(SecretString::from(key.into()));

        /// Sets the base URL of the API.
        pub fn base_url(url: impl Into<String>) => base_url = Some(url.into());

        /// Sets the URL of the proxy.
        pub fn proxy(url: impl Into<String>) => http.proxy = Proxy::Url(url.into());

        /// Disables the proxy, including one in the environment variables.
        pub fn no_proxy() => http.proxy = Proxy::None;

        /// Sets the time limit of one attempt. Default: 120 s.
        pub fn timeout(timeout: Duration) => http.timeout = timeout;

        /// Sets the size in bytes, after decompression, beyond which a response is not read and the call
        /// fails ([`LmErrorKind::ReplyTooLarge`]). Default: `DSRS_MAX_REPLY_BYTES`, or else 8 MiB.
        pub fn max_reply_bytes(bytes: usize) => max_reply_bytes = Some(bytes);

        /// Sets how failures are retried.
        pub fn retry(policy: RetryPolicy) => retry = policy;

        /// Sets when calls to a failing provider stop. Models of this process with the same address and
        /// policy share the [circuit](super::Circuit).
        pub fn circuit_breaker(policy: CircuitPolicy) => circuit = policy;

        /// Sets the limiter of requests and tokens per minute, shared by the models that it is given
        /// to. By default the limits come from environment variables, and all models of this process
        /// with the same address and key share them.
        pub fn limiter(limiter: RateLimiter) => limiter = Some(limiter);

        /// Sets how the cache is used.
        pub fn cache_mode(mode: CacheMode) => cache_mode = mode;

        /// Sets the directory of the cache. Default: `DSRS_CACHE`, or else the user's cache directory.
        pub fn cache_dir(dir: impl Into<PathBuf>) => cache_dir = Some(dir.into());

        /// Sets the maximum size of the cached replies in bytes.
        pub fn cache_max_bytes(bytes: u64) => cache_max_bytes = bytes;

        /// Sets the prices. Default: the shipped table with the prices in `DSRS_PRICES`.
        pub fn prices(prices: Prices) => prices = Some(prices);

        /// Sets a budget for all calls.
        pub fn budget(budget: LmBudget) => budget = Some(budget);

        /// Sets whether a model without a price may be called under a budget.
        pub fn allow_unpriced(allow: bool) => allow_unpriced = allow;

        /// Sets the ledger, which several models may share.
        pub fn ledger(ledger: Ledger) => ledger = ledger;
    }

    /// Builds the model. Whether the provider answers is checked by
    /// [`probe`](LanguageModel::probe).
    ///
    /// # Errors
    /// [`LmError`], if the provider is unknown, the key is missing, a setting is invalid, or the
    /// cache cannot be opened.
    pub fn build(self) -> Result<Lm, LmError> {
        let prices = self.price_table()?;
        let limits = self.rate_limits()?;
        let http = HttpSettings { max_reply_bytes: self.reply_limit()?, ..self.http.clone() };
        let target =
            Target::resolve(&self.id, self.key.clone(), self.base_url.clone(), &self.variables)?;
        // The last fallible setting, since it creates a directory.
        let cache = self.open_cache()?;
        let own = self.limiter;
        let limiter = own.unwrap_or_else(|| registry::limiter(target.account_hash(), limits));
        let circuit = registry::circuit(target.address_hash(), self.circuit);
        let client = Client::new(target, http)?;
        let mut priced = Priced::new(client, prices).allow_unpriced(self.allow_unpriced);
        if let Some(budget) = self.budget {
            priced = priced.budget(budget);
        }
        let limited = RateLimit::new(priced, limiter);
        let retried = Retry::new(CircuitBreaker::with_circuit(limited, circuit), self.retry);
        let ledger = self.ledger;
        let layers: Arc<dyn LanguageModel> = match &cache {
            Some(cache) => {
                let cached = Cached::new(retried, cache.clone(), self.cache_mode);
                Arc::new(Metered::new(cached, ledger.clone()))
            }
            None => Arc::new(Metered::new(retried, ledger.clone())),
        };
        Ok(Lm::new(layers, ledger, cache))
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

    fn rate_limits(&self) -> Result<RateLimits, LmError> {
        let limit = |setting| {
            let expected = "a whole number from 1 to 4294967295";
            self.number(setting, |limit: &u32| *limit > 0, expected)
        };
        Ok(RateLimits {
            requests_per_minute: limit("DSRS_REQUESTS_PER_MINUTE")?,
            tokens_per_minute: limit("DSRS_TOKENS_PER_MINUTE")?,
        })
    }

    fn reply_limit(&self) -> Result<usize, LmError> {
        let is_positive = |bytes: &usize| *bytes > 0;
        let expected = "a whole number of bytes, at least 1";
        let found = self.number("DSRS_MAX_REPLY_BYTES", is_positive, expected)?;
        Ok(self.max_reply_bytes.or(found).unwrap_or(DEFAULT_MAX_REPLY_BYTES))
    }

    /// The number in an environment variable, if it is set.
    fn number<T: FromStr>(
        &self,
        setting: &str,
        is_valid: impl FnOnce(&T) -> bool,
        expected: &str,
    ) -> Result<Option<T>, LmError> {
        let Some(found) = self.variables.get(setting) else { return Ok(None) };
        match found.parse().ok().filter(is_valid) {
            Some(number) => Ok(Some(number)),
            None => Err(LmErrorKind::InvalidSetting {
                setting: setting.to_owned(),
                found,
                reason: format!("expected {expected}"),
            }
            .into()),
        }
    }

    fn open_cache(&self) -> Result<Option<ReplyCache>, LmError> {
        if self.cache_mode == CacheMode::Off {
            return Ok(None);
        }
        let dir = self.cache_dir.clone();
        let dir = dir.or_else(|| self.variables.get("DSRS_CACHE").map(PathBuf::from));
        match dir.or_else(ReplyCache::default_dir) {
            Some(dir) => ReplyCache::open(dir, self.cache_max_bytes).map(Some),
            None => Err(LmErrorKind::NoCacheDirectory.into()),
        }
    }
}

impl fmt::Debug for LmBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LmBuilder").field("id", &self.id).finish_non_exhaustive()
    }
}
