//! Why a language model gave no reply.

use std::fmt;
use std::time::Duration;

/// Why a language model gave no reply. Each is one line that says what to set or to do; a key never
/// appears in it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LmError {
    /// No model is chosen.
    #[error(
        "no language model is chosen: set {variable}=provider:model, such as openai:gpt-5-mini"
    )]
    NotChosen {
        /// The variable that chooses one.
        variable: String,
    },
    /// The settings are no settings of a client.
    #[error("{setting} is `{found}`: {reason}")]
    BadSetting {
        /// The setting or variable.
        setting: String,
        /// What it holds; never a key.
        found: String,
        /// What it should hold.
        reason: String,
    },
    /// The provider or the model's own name is missing.
    #[error(
        "`{id}` names no model: write provider:model, such as openai:gpt-5-mini; for any OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
    )]
    NotAModel {
        /// What was asked for.
        id: String,
    },
    /// There is no such provider.
    #[error("`{id}` names no known provider; {}", Known(nearest, known))]
    UnknownProvider {
        /// What was asked for.
        id: String,
        /// What was probably meant.
        nearest: Option<String>,
        /// The providers that there are.
        known: String,
    },
    /// The provider wants a key.
    #[error("{lm} needs a key: set {variable}")]
    NoKey {
        /// The model.
        lm: String,
        /// The variable that should hold the key.
        variable: String,
    },
    /// The provider does not accept the key, or the key may not do this.
    #[error("{lm} does not accept the key (status {status}): check {variable}; it says: {said}")]
    KeyRefused {
        /// The model.
        lm: String,
        /// The HTTP status.
        status: u16,
        /// The variable that holds the key.
        variable: String,
        /// What the provider said.
        said: String,
    },
    /// No connection could be made.
    #[error(
        "{lm} can't be reached at {address} ({reason}): check the address, the network and the proxy"
    )]
    Unreachable {
        /// The model.
        lm: String,
        /// Where it was looked for.
        address: String,
        /// Why there is no connection.
        reason: String,
    },
    /// The connection broke before the reply was complete.
    #[error("{lm}: the connection broke: {reason}")]
    Disconnected {
        /// The model.
        lm: String,
        /// How it broke.
        reason: String,
        /// The most that it may have been charged, in msat; `None` if that is not known.
        cost_msats: Option<u64>,
    },
    /// The provider has no such model.
    #[error("{lm} does not exist there: check the model's name; the provider says: {said}")]
    ModelNotFound {
        /// The model.
        lm: String,
        /// What the provider said.
        said: String,
    },
    /// Prompt and reply are longer than the model takes.
    #[error(
        "{lm}: the prompt is too long; shorten the row or take a model with a longer context; the provider says: {said}"
    )]
    ContextTooLong {
        /// The model.
        lm: String,
        /// What the provider said.
        said: String,
    },
    /// The provider gives no structured output, or not for this schema.
    #[error(
        "{lm} does not take this JSON schema: take another model, or a simpler output; the provider says: {said}"
    )]
    SchemaUnsupported {
        /// The model.
        lm: String,
        /// What the provider said.
        said: String,
    },
    /// The model does not take a sampling parameter, or not this value of it.
    #[error(
        "{lm} does not take this `{parameter}`: leave it unset for this model; the provider says: {said}"
    )]
    ParameterUnsupported {
        /// The model.
        lm: String,
        /// The parameter as the provider calls it, such as `temperature`.
        parameter: String,
        /// What the provider said.
        said: String,
    },
    /// Too many requests or tokens at this moment.
    #[error(
        "{lm} limits the rate: lower the concurrency, or set DSRS_REQUESTS_PER_MINUTE and DSRS_TOKENS_PER_MINUTE; it says: {said}"
    )]
    RateLimited {
        /// The model.
        lm: String,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// What the provider said.
        said: String,
    },
    /// The account has no money left.
    #[error("{lm}: the account's quota is used up; the provider says: {said}")]
    QuotaExhausted {
        /// The model.
        lm: String,
        /// What the provider said.
        said: String,
    },
    /// Any other HTTP status that is no success.
    #[error("{lm} answered with status {status}: {said}")]
    Status {
        /// The model.
        lm: String,
        /// The HTTP status.
        status: u16,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// What the provider said.
        said: String,
    },
    /// There was no complete reply in time.
    #[error("{lm} gave no reply within {seconds} s")]
    Timeout {
        /// The model.
        lm: String,
        /// The limit in seconds.
        seconds: f64,
        /// The most that it may have been charged, in msat; `None` if that is not known.
        cost_msats: Option<u64>,
    },
    /// The provider answered with success, but what came is no reply: an HTML page, half a document.
    #[error("{lm} sent something that is no reply: {reason}")]
    BadReply {
        /// The model.
        lm: String,
        /// What came instead.
        reason: String,
        /// The most that it may have been charged, in msat; `None` if that is not known.
        cost_msats: Option<u64>,
    },
    /// The provider failed so often that it is left alone for a while.
    #[error("{lm} is not asked for another {:.0} s, since it kept failing; last: {last}", retry_in.as_secs_f64())]
    CircuitOpen {
        /// The model.
        lm: String,
        /// How long it is left alone.
        retry_in: Duration,
        /// The failure that was one too many.
        last: String,
    },
    /// Every attempt failed.
    #[error("{last} (attempt {attempts} of {attempts})")]
    GaveUp {
        /// How often it was tried.
        attempts: u32,
        /// The last failure.
        last: Box<LmError>,
        /// What all attempts cost together, in msat; `None` if that is not known of one of them.
        cost_msats: Option<u64>,
    },
    /// There is a budget, but no price for the model.
    #[error(
        "{lm} has no price, so a budget can't be kept: add it to the price table (DSRS_PRICES=FILE) or allow unpriced models (--allow-unpriced)"
    )]
    Unpriced {
        /// The model.
        lm: String,
    },
    /// The call could cost more than is left.
    #[error(
        "{lm}: the call may cost {needed_msats} msat, and {left_msats} of the budget's {budget_msats} msat are left: raise the budget"
    )]
    OverBudget {
        /// The model.
        lm: String,
        /// The most that the call can cost, in msat.
        needed_msats: u64,
        /// What is left, in msat.
        left_msats: u64,
        /// The whole budget, in msat.
        budget_msats: u64,
    },
    /// The cache can't be used.
    #[error("the reply cache {path}: {reason}")]
    Cache {
        /// Where it is.
        path: String,
        /// What is wrong with it.
        reason: String,
        /// What the reply that could not be kept cost, in msat; `None` if that is not known.
        cost_msats: Option<u64>,
    },
    /// A [`ScriptedLm`](super::ScriptedLm) has no reply for a prompt.
    #[error("{lm} has no reply for the prompt `{prompt}`: add one with `when` or `otherwise`")]
    NotScripted {
        /// The model.
        lm: String,
        /// How the prompt ends.
        prompt: String,
    },
    /// Anything else.
    #[error("{lm}: {reason}")]
    Other {
        /// The model.
        lm: String,
        /// What went wrong.
        reason: String,
    },
}

/// The model that was meant, or else all providers.
struct Known<'a>(&'a Option<String>, &'a str);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(nearest, known) = self;
        match nearest {
            Some(nearest) => write!(f, "did you mean `{nearest}`?"),
            None => write!(
                f,
                "write provider:model, where provider is one of {known}; for any other OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
            ),
        }
    }
}

impl LmError {
    /// Whether the same call may well succeed later: status 408, 409, 429 or 5xx, a broken connection,
    /// a timeout, something that is no reply. Not so once retries have been given up.
    ///
    /// ```
    /// use dsrs_metrics::lm::LmError;
    ///
    /// let busy = LmError::Timeout { lm: "openai:gpt-5-mini".into(), seconds: 60.0, cost_msats: None };
    /// assert!(busy.is_transient());
    /// let keyless = LmError::NoKey { lm: "openai:gpt-5-mini".into(), variable: "OPENAI_API_KEY".into() };
    /// assert!(!keyless.is_transient());
    /// assert_eq!(keyless.to_string(), "openai:gpt-5-mini needs a key: set OPENAI_API_KEY");
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Unreachable { .. }
            | Self::Disconnected { .. }
            | Self::Timeout { .. }
            | Self::BadReply { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 409 | 500..=599),
            _ => false,
        }
    }

    /// How long the provider asks to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Status { retry_after, .. } => {
                *retry_after
            }
            Self::GaveUp { last, .. } => last.retry_after(),
            _ => None,
        }
    }

    /// What was paid although there is no reply, in msat: 0 where nothing is charged (an error that the provider reports, no
    /// connection); the most that the call can have cost where it may have been charged (a timeout, a broken
    /// connection, half a reply); `None` where that is not known, since the model has no price, or
    /// neither a budget nor `max_tokens` bounds the reply.
    #[must_use]
    pub fn cost_msats(&self) -> Option<u64> {
        match self {
            Self::Timeout { cost_msats, .. }
            | Self::Disconnected { cost_msats, .. }
            | Self::BadReply { cost_msats, .. }
            | Self::Cache { cost_msats, .. }
            | Self::GaveUp { cost_msats, .. } => *cost_msats,
            _ => Some(0),
        }
    }

    /// The same failure, where it may have been charged so much, or it is not known how much.
    #[cfg(feature = "lm")]
    pub(super) fn charged(mut self, msats: Option<u64>) -> Self {
        match &mut self {
            Self::Timeout { cost_msats, .. }
            | Self::Disconnected { cost_msats, .. }
            | Self::BadReply { cost_msats, .. }
            | Self::Cache { cost_msats, .. } => *cost_msats = msats,
            Self::GaveUp { last, cost_msats, .. } => {
                **last = (**last).clone().charged(msats);
                *cost_msats = msats;
            }
            _ => {}
        }
        self
    }

    /// The failure itself, if this is what was left after several attempts.
    #[must_use]
    pub fn root(&self) -> &Self {
        match self {
            Self::GaveUp { last, .. } => last.root(),
            other => other,
        }
    }
}
