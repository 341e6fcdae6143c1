//! Errors of language models.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The error of a call to a language model that returned no reply: its [`kind`](Self::kind), the
/// model, the number of attempts and the cost.
///
/// The message is one complete line: what is wrong, what was found, what to do. API keys appear
/// neither in it nor in `Debug`. [`source`](Error::source) is the typed error of the HTTP, JSON,
/// file or cache library, where there is one; the message already includes its text. Equality
/// ignores the source.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{LmError, LmErrorKind};
///
/// let slow = LmErrorKind::Timeout { limit: Duration::from_secs(60) };
/// let slow = LmError::new("openai:gpt-5-mini", slow);
/// assert_eq!(slow.to_string(), "openai:gpt-5-mini: no reply within 60 s");
/// assert!(slow.is_transient());
/// assert_eq!(slow.cost_msats(), None, "the provider may have charged it");
///
/// let no_key = LmErrorKind::MissingApiKey { variable: "OPENAI_API_KEY".into() };
/// let no_key = LmError::new("openai:gpt-5-mini", no_key);
/// assert_eq!(no_key.to_string(), "openai:gpt-5-mini: missing API key; set OPENAI_API_KEY");
/// assert!(matches!(no_key.kind(), LmErrorKind::MissingApiKey { .. }));
/// assert_eq!((no_key.is_transient(), no_key.cost_msats()), (false, Some(0)));
/// ```
#[derive(Clone)]
pub struct LmError(Box<Inner>);

/// Boxed, so that results with this error stay small.
#[derive(Clone)]
struct Inner {
    model: Option<String>,
    kind: LmErrorKind,
    attempts: u32,
    cost_msats: Option<u64>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What went wrong in a call to a language model, see [`LmError::kind`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LmErrorKind {
    /// No model is configured.
    #[error(
        "no language model configured; set {variable}=provider:model, such as openai:gpt-5-mini"
    )]
    NotConfigured {
        /// The environment variable that selects the model.
        variable: String,
    },
    /// A setting or environment variable has an invalid value.
    #[error("invalid {setting} `{found}`: {reason}")]
    InvalidSetting {
        /// The setting or environment variable.
        setting: String,
        /// Its value, without secrets.
        found: String,
        /// Why it is invalid, or what is expected.
        reason: String,
    },
    /// The name of a model is not of the form `provider:model`.
    #[error(
        "invalid model `{id}`: expected provider:model, such as openai:gpt-5-mini; for any OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
    )]
    InvalidModelId {
        /// The name.
        id: String,
    },
    /// There is no provider of this name.
    #[error("unknown provider in model `{id}`; {}", ProviderHint(suggestion, known))]
    UnknownProvider {
        /// The name of the model.
        id: String,
        /// The most similar name with a known provider.
        suggestion: Option<String>,
        /// The known providers, separated by commas.
        known: String,
    },
    /// The provider requires an API key, and none is set.
    #[error("missing API key; set {variable}")]
    MissingApiKey {
        /// The environment variable of the key.
        variable: String,
    },
    /// The provider rejected the API key, or the key has no permission for this call.
    #[error("API key rejected (status {status}); check {variable}; provider message: {message}")]
    ApiKeyRejected {
        /// The HTTP status.
        status: u16,
        /// The environment variable of the key.
        variable: String,
        /// The provider's message.
        message: String,
    },
    /// The connection could not be established.
    #[error("cannot connect to {address} ({reason}); check the address, the network and the proxy")]
    Unreachable {
        /// The address, without secrets.
        address: String,
        /// Why the connection failed.
        reason: String,
    },
    /// The connection was closed before the reply was complete.
    #[error("connection lost before the reply was complete: {reason}")]
    Disconnected {
        /// How the connection was lost.
        reason: String,
    },
    /// The provider has no model of this name.
    #[error("model not found; check the name of the model; provider message: {message}")]
    ModelNotFound {
        /// The provider's message.
        message: String,
    },
    /// Prompt and reply do not fit into the model's context window.
    #[error(
        "prompt too long for the context window; shorten the row or use a model with a longer context; provider message: {message}"
    )]
    ContextLengthExceeded {
        /// The provider's message.
        message: String,
    },
    /// The provider supports no structured output, or not this JSON schema.
    #[error(
        "JSON schema not supported; use another model or a simpler output; provider message: {message}"
    )]
    SchemaUnsupported {
        /// The provider's message.
        message: String,
    },
    /// The model does not support a sampling parameter, or not this value of it.
    #[error(
        "`{parameter}` not supported; leave it unset for this model; provider message: {message}"
    )]
    ParameterUnsupported {
        /// The parameter as the provider names it, such as `temperature`.
        parameter: String,
        /// The provider's message.
        message: String,
    },
    /// Too many requests or tokens per minute (status 429).
    #[error(
        "rate limit exceeded; lower the concurrency, or set DSRS_REQUESTS_PER_MINUTE and DSRS_TOKENS_PER_MINUTE; provider message: {message}"
    )]
    RateLimited {
        /// The delay that the provider asks for.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// The account has no credit left.
    #[error(
        "quota of the account exhausted; add credit or use another key; provider message: {message}"
    )]
    QuotaExhausted {
        /// The provider's message.
        message: String,
    },
    /// Another HTTP status that is an error.
    #[error("provider returned status {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The delay that the provider asks for.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// There was no complete reply within the time limit.
    #[error("no reply within {} s", limit.as_secs_f64())]
    Timeout {
        /// The time limit of one attempt.
        limit: Duration,
    },
    /// The response has a success status, but is not a reply: an HTML page, truncated JSON.
    #[error("response is not a reply: {reason}")]
    InvalidReply {
        /// What was received instead.
        reason: String,
    },
    /// The server answered with a redirect, which is not followed: it would send the API key and the
    /// prompt to an address that is not configured.
    #[error(
        "status {status} redirects to {location}, and redirects are not followed; set the base URL to the address of the API"
    )]
    Redirected {
        /// The HTTP status.
        status: u16,
        /// The address that the server names, without secrets.
        location: String,
    },
    /// The response is larger than the limit; the rest was not read.
    #[error(
        "expected a reply of at most {limit} {unit}, found more; DSRS_MAX_REPLY_BYTES sets the limit in bytes"
    )]
    ReplyTooLarge {
        /// The limit.
        limit: u64,
        /// What is limited: `bytes` after decompression, or `JSON values`.
        unit: &'static str,
    },
    /// The circuit breaker is open: the provider kept failing, so no calls are made for a while.
    #[error("no calls for another {:.0} s after repeated failures; last failure: {last}", retry_in.as_secs_f64())]
    CircuitOpen {
        /// The time until the next call is allowed.
        retry_in: Duration,
        /// The failure that opened the circuit.
        last: Box<LmError>,
    },
    /// There is a budget, but the model has no price.
    #[error(
        "no price for this model, so the budget cannot be enforced; add it to the price table (DSRS_PRICES=FILE) or allow unpriced models (--allow-unpriced)"
    )]
    Unpriced,
    /// The call may cost more than is left of the budget.
    #[error(
        "budget exceeded: the call may cost {needed_msats} msat, and {remaining_msats} of {budget_msats} msat are left; raise the budget"
    )]
    BudgetExceeded {
        /// The highest possible cost of the call, in msat.
        needed_msats: u64,
        /// What is left of the budget, in msat.
        remaining_msats: u64,
        /// The whole budget, in msat.
        budget_msats: u64,
    },
    /// The reply cache cannot be read or written.
    #[error("reply cache {path}: {reason}")]
    Cache {
        /// The file or directory.
        path: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// There is no directory for the reply cache.
    #[error(
        "no directory for the reply cache, since the user has no home directory; set DSRS_CACHE to a directory, or disable the cache (--no-cache)"
    )]
    NoCacheDirectory,
    /// A [`ScriptedLm`](super::ScriptedLm) has no reply for a prompt.
    #[error("no scripted reply for the prompt `{prompt}`; add one with `when` or `otherwise`")]
    Unscripted {
        /// The end of the prompt.
        prompt: String,
    },
    /// Any other error.
    #[error("{reason}")]
    Other {
        /// What went wrong.
        reason: String,
    },
}

/// The similar model, or else all providers.
struct ProviderHint<'a>(&'a Option<String>, &'a str);

impl fmt::Display for ProviderHint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(suggestion, known) = self;
        match suggestion {
            Some(suggestion) => write!(f, "did you mean `{suggestion}`?"),
            None => write!(
                f,
                "write provider:model, where provider is one of {known}; for any other OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
            ),
        }
    }
}

impl LmErrorKind {
    /// Whether the same call may succeed later: status 408, 409, 429 or 5xx, a lost connection, a
    /// timeout, a response that is not a reply.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Unreachable { .. }
            | Self::Disconnected { .. }
            | Self::Timeout { .. }
            | Self::InvalidReply { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 500..=599),
            _ => false,
        }
    }

    /// Whether the provider may have charged the call, although there is no complete reply.
    fn may_be_charged(&self) -> bool {
        matches!(
            self,
            Self::Timeout { .. }
                | Self::Disconnected { .. }
                | Self::InvalidReply { .. }
                | Self::ReplyTooLarge { .. }
        )
    }
}

impl LmError {
    /// The error of one call to the model named `model` (`provider:model`).
    ///
    /// Its cost is unknown for a timeout, a lost connection, an invalid reply and one that is too
    /// large, and 0 for any other kind, unless [`with_cost_msats`](Self::with_cost_msats) sets it.
    pub fn new(model: impl Into<String>, kind: LmErrorKind) -> Self {
        let mut error = Self::from(kind);
        error.0.model = Some(model.into());
        error
    }

    /// Sets the cost in msat; `None` if it is unknown.
    #[must_use]
    pub fn with_cost_msats(mut self, msats: Option<u64>) -> Self {
        self.0.cost_msats = msats;
        self
    }

    /// Sets how many attempts were made in all.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.0.attempts = attempts;
        self
    }

    /// Sets the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &LmErrorKind {
        &self.0.kind
    }

    /// The model as `provider:model`; `None` if a setting is wrong that concerns no single model.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.0.model.as_deref()
    }

    /// How many attempts were made; 1 unless the call was retried.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// The cost of all attempts in msat, although there is no reply.
    ///
    /// It is 0 if nothing was charged: the provider returned an error, or there was no connection.
    /// If the call may have been charged (a timeout, a lost connection, an invalid reply), it is
    /// the highest possible cost of the call, or `None` if that is unknown: the model has no price,
    /// or neither a budget nor `max_tokens` limits the reply.
    #[must_use]
    pub fn cost_msats(&self) -> Option<u64> {
        self.0.cost_msats
    }

    /// Whether the same call may succeed later, see [`LmErrorKind::is_transient`]. False once a
    /// call was retried, so that an outer layer does not retry it again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.attempts() == 1 && self.kind().is_transient()
    }

    /// The delay that the provider asks for before the next call.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind() {
            LmErrorKind::RateLimited { retry_after, .. }
            | LmErrorKind::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// An error that concerns no single model: a setting, the cache.
impl From<LmErrorKind> for LmError {
    fn from(kind: LmErrorKind) -> Self {
        let cost_msats = if kind.may_be_charged() { None } else { Some(0) };
        Self(Box::new(Inner { model: None, kind, attempts: 1, cost_msats, source: None }))
    }
}

impl fmt::Display for LmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(model) = self.model() {
            write!(f, "{model}: ")?;
        }
        write!(f, "{}", self.kind())?;
        match self.attempts() {
            0 | 1 => Ok(()),
            attempts => write!(f, " (after {attempts} attempts)"),
        }
    }
}

impl fmt::Debug for LmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LmError")
            .field("model", &self.0.model)
            .field("kind", &self.0.kind)
            .field("attempts", &self.0.attempts)
            .field("cost_msats", &self.0.cost_msats)
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for LmError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match (&self.0.source, &self.0.kind) {
            (Some(source), _) => Some(&**source),
            (None, LmErrorKind::CircuitOpen { last, .. }) => Some(&**last),
            (None, _) => None,
        }
    }
}

/// Compares model, kind, attempts and cost.
impl PartialEq for LmError {
    fn eq(&self, other: &Self) -> bool {
        let key = |error: &Self| (error.attempts(), error.cost_msats());
        key(self) == key(other) && self.model() == other.model() && self.kind() == other.kind()
    }
}

impl Eq for LmError {}
