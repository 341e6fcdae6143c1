//! The kinds of language-model errors, each with its message. `error.rs` has the error itself.

use std::time::Duration;

use super::error::LmError;

/// The reason a call to a language model failed; see [`LmError::kind`].
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
    /// The provider does not support structured output, or does not support this JSON schema.
    #[error(
        "JSON schema not supported; use another model or a simpler output; provider message: {0}"
    )]
    SchemaUnsupported(String),
    /// The model does not support a sampling parameter, or does not support this value of the parameter.
    #[error(
        "`{parameter}` not supported; leave it unset for this model; provider message: {message}"
    )]
    ParameterUnsupported {
        /// The provider's name for the parameter, such as `temperature`.
        parameter: String,
        /// The provider's message.
        message: String,
    },
    /// Too many requests or tokens per minute (status 429).
    #[error(
        "rate limit exceeded{}; lower the concurrency, or set DSRS_REQUESTS_PER_MINUTE and DSRS_TOKENS_PER_MINUTE; provider message: {message}",
        requested_delay(*retry_after)
    )]
    RateLimited {
        /// The delay that the provider requests; at most a year.
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
        /// The delay that the provider requests.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// No complete reply arrived within the time limit.
    #[error("no reply within {} s", limit.as_secs_f64())]
    Timeout {
        /// The time limit of one attempt.
        limit: Duration,
    },
    /// The response has a success status but is not a reply: for example, an HTML page or unexpected JSON. The call is
    /// not repeated because it would return the same response.
    #[error("cannot parse the provider's response: {0}")]
    InvalidReply(String),
    /// The response has a success status but ends too early, because the connection was lost or the JSON is incomplete.
    /// The call is repeated only once because it was probably charged.
    #[error("truncated response: {0}")]
    TruncatedReply(String),
    /// The response is larger than the limit; the rest was not read.
    #[error(
        "expected a reply of at most {limit} {unit}, found more; DSRS_MAX_REPLY_BYTES sets the limit in bytes"
    )]
    ReplyTooLarge {
        /// The maximum size of a reply.
        limit: u64,
        /// The unit of the limit: `bytes` after decompression, or `JSON values`.
        unit: &'static str,
    },
    /// The provider kept failing, so the circuit breaker is open and no calls are made for a while.
    #[error("circuit breaker open for {:.0} s after repeated failures; last failure: {last}", retry_in.as_secs_f64())]
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
    /// There is no folder for the store.
    #[error(
        "no folder for the store, because the user has no home folder; name a folder (--store, DSRS_STORE), or use none (--no-store)"
    )]
    NoStoreFolder,
    /// The model only estimates calls; see `LmBuilder::estimate`.
    #[error("the call was estimated, not made")]
    Estimated,
    /// A test replays recorded calls, but the recording does not contain this call.
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
    /// Returns `true` if the same call may succeed later: after status 408, 409, 429 or 5xx, a lost connection, a
    /// timeout or a truncated response.
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

    /// Returns `true` if the provider may have charged the call even though no complete reply arrived.
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
