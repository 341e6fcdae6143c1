//! Language model errors and their kinds, each with its message.
//!
//! The file is long because each kind of error is documented with its message.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::reply::Usage;

/// The error returned when a call to a language model gets no reply.
///
/// The error contains its [`kind`](Self::kind), the model, the number of attempts and the cost.
///
/// The message is one line that says what went wrong, what was found and how to fix it. API keys appear neither in the
/// message nor in the `Debug` output.
///
/// If an HTTP, JSON, file or store library caused the error, [`source`](Error::source) returns that library's error.
/// The message already includes its text.
///
/// The source is ignored when two errors are compared.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{LmError, LmErrorKind};
///
/// let slow = LmErrorKind::Timeout { limit: Duration::from_secs(60) };
/// let slow = LmError::new("openai:gpt-6-luna", slow);
/// assert_eq!(slow.to_string(), "openai:gpt-6-luna: no reply within 60 s");
/// assert!(slow.is_transient());
/// assert_eq!(slow.cost_msats(), None, "the provider may have charged it");
///
/// let no_key = LmErrorKind::MissingApiKey("OPENAI_API_KEY".into());
/// let no_key = LmError::new("openai:gpt-6-luna", no_key);
/// assert_eq!(no_key.to_string(), "openai:gpt-6-luna: missing API key; set OPENAI_API_KEY");
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
    usage: Usage,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl LmError {
    /// Creates an error for a failed call to a model.
    ///
    /// The name `model` is written as `provider:model`.
    ///
    /// If the provider may have charged for the call, its cost is unknown. This applies to a timeout, a lost
    /// connection, or a reply that is invalid, truncated or too large. Otherwise, the cost is 0.
    ///
    /// To set a different cost, call [`with_cost_msats`](Self::with_cost_msats).
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmError, LmErrorKind};
    ///
    /// let lost = LmErrorKind::Disconnected("connection reset".into());
    /// let error = LmError::new("openai:gpt-6-luna", lost);
    /// assert_eq!(
    ///     error.to_string(),
    ///     "openai:gpt-6-luna: connection lost before the reply was complete: connection reset"
    /// );
    /// assert_eq!(error.cost_msats(), None, "the provider may have charged the call");
    /// ```
    pub fn new(model: impl Into<String>, kind: LmErrorKind) -> Self {
        let mut error = Self::from(kind);
        error.0.model = Some(model.into());
        error
    }

    #[doc(hidden)]
    pub fn no_embedder() -> Self {
        let reason = "no embedding model configured; set DSRS_EMBED=provider:model, such as openai:text-embedding-3-small, or DSRS_EMBED=static:FOLDER, or pass `--embed` with one of these (in code `.embedder(..)`)";
        LmErrorKind::Setting(reason.to_owned()).into()
    }

    pub(super) fn unscripted(model: &str, prompt: &str) -> Self {
        let add = "add one with `when` or `otherwise`";
        let reason = format!("no scripted reply for the prompt `{prompt}`; {add}");
        Self::new(model, LmErrorKind::Other(reason))
    }

    /// Creates an error for an invalid setting.
    #[doc(hidden)]
    pub fn setting(setting: &str, found: &str, reason: impl fmt::Display) -> Self {
        let reason = format!("invalid {setting} `{found}`: {reason}");
        LmErrorKind::Setting(reason).into()
    }

    setters! {
        /// Sets the cost in msat.
        ///
        /// Pass `None` if the cost is unknown.
        ///
        /// ```
        /// use std::time::Duration;
        /// use dsrs_metrics::lm::{LmError, LmErrorKind};
        ///
        /// let timeout = LmErrorKind::Timeout { limit: Duration::from_secs(60) };
        /// let error = LmError::new("openai:gpt-6-luna", timeout);
        /// assert_eq!(error.cost_msats(), None);
        /// assert_eq!(error.with_cost_msats(Some(420)).cost_msats(), Some(420));
        /// ```
        pub fn with_cost_msats(msats: Option<u64>) => 0.cost_msats = msats;

        /// Sets the token usage that the provider reported despite the failure.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LmError, LmErrorKind, Usage};
        ///
        /// let cut = LmErrorKind::TruncatedReply("the JSON is not complete".into());
        /// let error = LmError::new("openai:gpt-6-luna", cut).with_usage(Usage::new(900, 120));
        /// assert_eq!(error.usage().total(), 1020);
        /// ```
        pub fn with_usage(usage: Usage) => 0.usage = usage;

        /// Sets the total number of attempts.
        ///
        /// ```
        /// use std::time::Duration;
        /// use dsrs_metrics::lm::{LmError, LmErrorKind};
        ///
        /// let timeout = LmErrorKind::Timeout { limit: Duration::from_secs(60) };
        /// let error = LmError::new("openai:gpt-6-luna", timeout).with_attempts(6);
        /// assert_eq!(error.to_string(), "openai:gpt-6-luna: no reply within 60 s (after 6 attempts)");
        /// ```
        pub fn with_attempts(attempts: u32) => 0.attempts = attempts;

        /// Sets the underlying error.
        ///
        /// ```
        /// use std::error::Error;
        /// use dsrs_metrics::lm::{LmError, LmErrorKind};
        ///
        /// let full = std::io::Error::other("disk full");
        /// let kind = LmErrorKind::Store(format!("store.sqlite: {full}"));
        /// let error = LmError::from(kind).with_source(full);
        /// assert_eq!(error.to_string(), "store store.sqlite: disk full");
        /// assert!(error.source().is_some_and(|source| source.is::<std::io::Error>()));
        /// ```
        pub fn with_source(source: impl Error + Send + Sync + 'static)
            => 0.source = Some(Arc::new(source));
    }

    /// Returns the kind of the error.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmError, LmErrorKind};
    ///
    /// let kind = LmErrorKind::ModelNotFound("no model `gpt-55`".into());
    /// let error = LmError::new("openai:gpt-55", kind.clone());
    /// assert_eq!(error.kind(), &kind);
    /// ```
    pub fn kind(&self) -> &LmErrorKind {
        &self.0.kind
    }

    /// Returns the name of the model, as `provider:model`.
    ///
    /// Returns `None` if the error does not concern a single model, for example if a setting is invalid.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmError, LmErrorKind, parse_msats};
    ///
    /// let no_key = LmErrorKind::MissingApiKey("GROQ_API_KEY".into());
    /// assert_eq!(LmError::new("groq:qwen3-32b", no_key).model(), Some("groq:qwen3-32b"));
    /// assert_eq!(parse_msats("5 EUR").unwrap_err().model(), None);
    /// ```
    pub fn model(&self) -> Option<&str> {
        self.0.model.as_deref()
    }

    /// Returns the number of attempts.
    ///
    /// The number is 1 unless the call was retried.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmError, LmErrorKind};
    ///
    /// let lost = LmErrorKind::Disconnected("connection reset".into());
    /// let error = LmError::new("openai:gpt-6-luna", lost);
    /// assert_eq!((error.attempts(), error.with_attempts(3).attempts()), (1, 3));
    /// ```
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// Returns the total cost of the failed attempts, in msat.
    ///
    /// If the provider returned an error or the connection failed, the cost is 0.
    ///
    /// After a timeout, a lost connection or an invalid reply, the provider may have charged for the call. The cost is
    /// then computed from the reported tokens. If the provider reported no tokens, it is the highest possible cost of
    /// the call.
    ///
    /// Returns `None` if the model has no price, or if neither a budget nor `max_tokens` limits the reply.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmError, LmErrorKind};
    ///
    /// let error = |kind| LmError::new("openai:gpt-6-luna", kind);
    /// let refused = LmErrorKind::QuotaExhausted("insufficient_quota".into());
    /// assert_eq!(error(refused).cost_msats(), Some(0), "the provider charged nothing");
    /// let page = LmErrorKind::InvalidReply("expected JSON, found `text/html`".into());
    /// assert_eq!(error(page).cost_msats(), None, "the provider may have charged the call");
    /// ```
    pub fn cost_msats(&self) -> Option<u64> {
        self.0.cost_msats
    }

    /// Returns the total token usage of all attempts that reported it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{LmError, LmErrorKind, Usage};
    ///
    /// let timeout = LmErrorKind::Timeout { limit: Duration::from_secs(60) };
    /// let error = LmError::new("openai:gpt-6-luna", timeout);
    /// assert_eq!(error.usage(), Usage::default(), "nothing was reported");
    /// ```
    pub fn usage(&self) -> Usage {
        self.0.usage
    }

    /// Returns the budget in msat, if the call failed because it would have exceeded the budget.
    #[doc(hidden)]
    pub fn budget_msats(&self) -> Option<u64> {
        match self.kind() {
            LmErrorKind::BudgetExceeded { budget_msats, .. } => Some(*budget_msats),
            _ => None,
        }
    }

    /// Returns `true` if the budget refused the call before its first attempt.
    pub(super) fn is_refused(&self) -> bool {
        self.attempts() == 1 && matches!(self.kind(), LmErrorKind::BudgetExceeded { .. })
    }

    /// Returns `true` if an estimate counted the call instead of making it.
    #[doc(hidden)]
    pub fn is_estimated(&self) -> bool {
        matches!(self.kind(), LmErrorKind::Estimated)
    }

    /// Returns `true` if the same call may succeed later.
    ///
    /// See [`LmErrorKind::is_transient`].
    ///
    /// Once a call has been retried, this method returns `false`, so an outer layer does not retry it again.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmError, LmErrorKind};
    ///
    /// let lost = LmErrorKind::Disconnected("connection reset".into());
    /// let error = LmError::new("openai:gpt-6-luna", lost);
    /// assert!(error.is_transient());
    /// assert!(!error.with_attempts(6).is_transient(), "it was retried already");
    /// ```
    pub fn is_transient(&self) -> bool {
        self.attempts() == 1 && self.kind().is_transient()
    }

    /// Returns the delay before the next call, if the provider requested one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{LmError, LmErrorKind};
    ///
    /// let retry_after = Some(Duration::from_secs(20));
    /// let limited = LmErrorKind::RateLimited { retry_after, message: "slow down".into() };
    /// assert_eq!(LmError::from(limited).retry_after(), Some(Duration::from_secs(20)));
    /// let no_key = LmErrorKind::MissingApiKey("OPENAI_API_KEY".into());
    /// assert_eq!(LmError::from(no_key).retry_after(), None);
    /// ```
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind() {
            LmErrorKind::RateLimited { retry_after, .. }
            | LmErrorKind::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Creates an error that does not concern a single model, such as an error in a setting or the store.
impl From<LmErrorKind> for LmError {
    fn from(kind: LmErrorKind) -> Self {
        let cost_msats = if kind.may_be_charged() { None } else { Some(0) };
        let (attempts, usage) = (1, Usage::default());
        Self(Box::new(Inner {
            model: None,
            kind,
            attempts,
            cost_msats,
            usage,
            source: None,
        }))
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

dsrs_metrics_values::debug_as_display!(LmError);

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
        let key = |error: &Self| (error.attempts(), error.cost_msats(), error.usage());
        key(self) == key(other) && self.model() == other.model() && self.kind() == other.kind()
    }
}

impl Eq for LmError {}

/// The reason a call to a language model failed.
///
/// See [`LmError::kind`].
///
/// ```
/// use dsrs_metrics::lm::LmErrorKind;
///
/// let kind = LmErrorKind::BudgetExceeded {
///     needed_msats: 300,
///     remaining_msats: 220,
///     budget_msats: 500,
/// };
/// assert_eq!(
///     kind.to_string(),
///     "budget exceeded: the call may cost 300 msat, but only 220 of 500 msat are left; raise the budget"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LmErrorKind {
    /// A setting is missing or invalid.
    #[error("{0}")]
    Setting(String),
    /// The provider requires an API key, and none is set.
    #[error("missing API key; set {0}")]
    MissingApiKey(String),
    /// The provider rejected the API key, or the key has no permission for this call.
    #[error("API key rejected (status {status}); check {variable}; provider message: {message}")]
    ApiKeyRejected {
        /// The HTTP status.
        status: u16,
        /// The environment variable that holds the key.
        variable: String,
        /// The provider's message.
        message: String,
    },
    /// The connection could not be established.
    #[error("cannot connect to {address} ({reason}); check the address, the network and the proxy")]
    Unreachable {
        /// The address, without secrets.
        address: String,
        /// The reason why the connection failed.
        reason: String,
    },
    /// The connection was closed before the reply was complete.
    #[error("connection lost before the reply was complete: {0}")]
    Disconnected(String),
    /// The provider has no model with this name.
    #[error("model not found; check the model's name; provider message: {0}")]
    ModelNotFound(String),
    /// The prompt and the reply do not fit into the model's context window.
    #[error(
        "prompt too long for the context window; shorten the row or use a model with a longer context; provider message: {0}"
    )]
    ContextLengthExceeded(String),
    /// The provider does not support structured output or this JSON schema.
    #[error(
        "JSON schema not supported; use another model or a simpler output; provider message: {0}"
    )]
    SchemaUnsupported(String),
    /// The model does not support a sampling parameter or its value.
    #[error(
        "`{parameter}` not supported; leave it unset for this model; provider message: {message}"
    )]
    ParameterUnsupported {
        /// The provider's name for the parameter, such as `temperature`.
        parameter: String,
        /// The provider's message.
        message: String,
    },
    /// The provider's rate limit was exceeded.
    ///
    /// There were too many requests or tokens per minute (status 429).
    #[error(
        "rate limit exceeded{}; lower the concurrency, or set DSRS_REQUESTS_PER_MINUTE and DSRS_TOKENS_PER_MINUTE; provider message: {message}",
        requested_delay(*retry_after)
    )]
    RateLimited {
        /// The delay that the provider requested, at most a year.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// The account has no credit left.
    #[error("account quota exhausted; add credit or use another key; provider message: {0}")]
    QuotaExhausted(String),
    /// Any other HTTP error status.
    #[error("provider returned status {status}{}: {message}", requested_delay(*retry_after))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The delay that the provider requested.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// No complete reply arrived within the time limit.
    #[error("no reply within {} s", limit.as_secs_f64())]
    Timeout {
        /// The time limit for one attempt.
        limit: Duration,
    },
    /// The provider returned a success status, but no valid reply.
    ///
    /// The response may be an HTML page or unexpected JSON. The call is not retried, because it would return the same
    /// response.
    #[error("cannot parse the provider's response: {0}")]
    InvalidReply(String),
    /// The response has a success status but is incomplete.
    ///
    /// The connection was lost, or the JSON ends too early. The call is retried only once, because the provider
    /// probably charged for it.
    #[error("truncated response: {0}")]
    TruncatedReply(String),
    /// The response is larger than the limit.
    ///
    /// The rest of the response was not read.
    #[error(
        "expected a reply of at most {limit} {unit}, found more; DSRS_MAX_REPLY_BYTES sets the limit in bytes"
    )]
    ReplyTooLarge {
        /// The maximum size of a reply.
        limit: u64,
        /// The unit of the limit: `bytes` after decompression, or `JSON values`.
        unit: &'static str,
    },
    /// The provider kept failing, so calls are paused.
    ///
    /// The circuit breaker is open. It makes no calls for a while.
    #[error("circuit breaker open for {:.0} s after repeated failures; last failure: {last}", retry_in.as_secs_f64())]
    CircuitOpen {
        /// The time until the next call is allowed.
        retry_in: Duration,
        /// The failure that opened the circuit.
        last: Box<LmError>,
    },
    /// A budget is set, but the model has no price.
    #[error(
        "no price for this model, so the budget cannot be enforced; add it to the price table (DSRS_PRICES=FILE) or allow unpriced models (--allow-unpriced)"
    )]
    Unpriced,
    /// The call may cost more than the remaining budget.
    #[error(
        "budget exceeded: the call may cost {needed_msats} msat, but only {remaining_msats} of {budget_msats} msat are left; raise the budget"
    )]
    BudgetExceeded {
        /// The highest possible cost of the call, in msat.
        needed_msats: u64,
        /// The remaining budget, in msat.
        remaining_msats: u64,
        /// The total budget, in msat.
        budget_msats: u64,
    },
    /// The store cannot be read or written.
    #[error("store {0}")]
    Store(String),
    /// No folder was found for the store.
    #[error(
        "cannot locate the store, because no home directory was found; choose a folder (--store, DSRS_STORE), or disable the store (--no-store)"
    )]
    NoStoreFolder,
    /// The model counts calls for an estimate instead of making them.
    ///
    /// See `LmBuilder::estimate`.
    #[error("the call was estimated, not made")]
    Estimated,
    /// A test replays recorded calls, but this call was not recorded.
    #[error("call not recorded in {0}; record it: DSRS_UPDATE=new cargo test")]
    NotRecorded(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

/// Returns the part of a message about the delay that a provider requests.
fn requested_delay(delay: Option<Duration>) -> String {
    let delay = delay.filter(|delay| !delay.is_zero());
    let asked = |delay: Duration| format!("; the provider asked for {} s", delay.as_secs_f64());
    delay.map_or_else(String::new, asked)
}

impl LmErrorKind {
    /// Returns `true` if the same call may succeed later.
    ///
    /// This is the case for status 408, 409, 429 or 5xx, a lost connection, a timeout, or a truncated response.
    ///
    /// ```
    /// use dsrs_metrics::lm::LmErrorKind;
    ///
    /// let status = |status| LmErrorKind::Status { status, retry_after: None, message: "..".into() };
    /// assert_eq!([400, 408, 503].map(|code| status(code).is_transient()), [false, true, true]);
    /// assert!(!LmErrorKind::QuotaExhausted("no credit".into()).is_transient());
    /// ```
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Unreachable { .. }
            | Self::Disconnected { .. }
            | Self::Timeout { .. }
            | Self::TruncatedReply { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 500..=599),
            _ => false,
        }
    }

    /// Returns `true` if the provider may have charged for the call even though no complete reply arrived.
    pub(super) fn may_be_charged(&self) -> bool {
        matches!(
            self,
            Self::Timeout { .. }
                | Self::Disconnected { .. }
                | Self::InvalidReply { .. }
                | Self::TruncatedReply { .. }
                | Self::ReplyTooLarge { .. }
        )
    }
}
