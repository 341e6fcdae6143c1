//! Replies of language models: text, stop reason, tokens and cost.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// A reply of a language model.
///
/// ```
/// use dsrs_metrics::lm::{LmReply, StopReason, Usage};
///
/// let reply = LmReply::new("Paris").with_usage(Usage::new(40, 2)).with_cost_msats(42);
/// assert_eq!((reply.stop_reason, reply.cost_msats), (StopReason::End, Some(42)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LmReply {
    /// The text of the reply.
    pub text: String,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// The tokens of the call.
    pub usage: Usage,
    /// The model that replied, as the provider names it.
    pub model: String,
    /// The cost of the call in msat, including failed attempts; 0 for a reply from the cache,
    /// `None` if the model has no price.
    pub cost_msats: Option<u64>,
    /// Whether the call may have cost more than `cost_msats`: an earlier attempt was interrupted,
    /// and its cost is unknown.
    #[serde(default)]
    pub cost_is_lower_bound: bool,
    /// Whether the reply came from the cache or from an equal concurrent call. Such a reply costs
    /// nothing.
    pub cached: bool,
}

impl LmReply {
    /// A complete reply with unknown token usage and unknown cost.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmReply, StopReason};
    ///
    /// let reply = LmReply::new("Paris");
    /// assert_eq!((reply.stop_reason, reply.cost_msats, reply.cached), (StopReason::End, None, false));
    /// ```
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            stop_reason: StopReason::End,
            usage: Usage::default(),
            model: String::new(),
            cost_msats: None,
            cost_is_lower_bound: false,
            cached: false,
        }
    }

    setters! {
        /// Sets the stop reason.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LmReply, StopReason};
        ///
        /// let cut = LmReply::new(r#"{ "score": 0."#).with_stop_reason(StopReason::Length);
        /// assert_eq!(cut.stop_reason, StopReason::Length);
        /// ```
        pub fn with_stop_reason(stop_reason: StopReason) => stop_reason = stop_reason;

        /// Sets the token usage.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LmReply, Usage};
        ///
        /// let reply = LmReply::new("Paris").with_usage(Usage::new(40, 2));
        /// assert_eq!(reply.usage.completion_tokens, Some(2));
        /// ```
        pub fn with_usage(usage: Usage) => usage = usage;

        /// Sets the name of the model that replied.
        ///
        /// ```
        /// use dsrs_metrics::lm::LmReply;
        ///
        /// let reply = LmReply::new("Paris").with_model("gpt-5-mini-2025-08-07");
        /// assert_eq!(reply.model, "gpt-5-mini-2025-08-07");
        /// ```
        pub fn with_model(model: impl Into<String>) => model = model.into();

        /// Sets the cost in msat.
        ///
        /// ```
        /// use dsrs_metrics::lm::LmReply;
        ///
        /// assert_eq!(LmReply::new("Paris").with_cost_msats(42).cost_msats, Some(42));
        /// ```
        pub fn with_cost_msats(msats: u64) => cost_msats = Some(msats);
    }

    /// Whether the full cost is unknown.
    #[doc(hidden)]
    pub fn is_unpriced(&self) -> bool {
        !self.cached && (self.cost_msats.is_none() || self.cost_is_lower_bound)
    }

    /// The same reply where it is not charged again: from the cache or from an equal concurrent
    /// call.
    #[cfg(feature = "lm")]
    pub(super) fn into_cached(mut self) -> Self {
        self.cached = true;
        self.cost_msats = Some(0);
        self.cost_is_lower_bound = false;
        self
    }
}

/// Why a model stopped generating.
///
/// ```
/// use dsrs_metrics::lm::StopReason;
/// use serde_json::json;
///
/// let refusal = StopReason::Refusal("I cannot judge this.".into());
/// assert_eq!(json!(refusal), json!({ "refusal": "I cannot judge this." }));
/// assert_eq!(json!(StopReason::Length), json!("length"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The reply is complete.
    End,
    /// The maximum number of tokens was reached; the reply is truncated.
    Length,
    /// The model refused; the string is the refusal message, empty if the provider returns none.
    Refusal(String),
    /// A content filter of the provider withheld the reply.
    Filtered,
    /// Another reason, as the provider names it.
    Other(String),
}

impl StopReason {
    /// Whether the model completed its reply.
    #[cfg(feature = "lm")]
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Self::End | Self::Other(_))
    }
}

/// Tokens of one call or of several; `None` where the provider does not report a number.
///
/// ```
/// use dsrs_metrics::lm::Usage;
///
/// let mut usage = Usage::new(40, 2);
/// usage += Usage::new(60, 3);
/// assert_eq!((usage.prompt_tokens, usage.total()), (Some(100), 105));
/// assert_eq!(Usage::new(u64::MAX, u64::MAX).total(), u64::MAX);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, including tokens from the provider's prompt cache.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the reply, including hidden reasoning tokens.
    pub completion_tokens: Option<u64>,
    /// Tokens of the prompt that came from the provider's prompt cache, which have a lower price.
    pub cached_prompt_tokens: Option<u64>,
}

impl Usage {
    /// Usage with these numbers of tokens, none of them from a prompt cache.
    ///
    /// ```
    /// use dsrs_metrics::lm::Usage;
    ///
    /// let usage = Usage::new(40, 2);
    /// assert_eq!((usage.prompt_tokens, usage.cached_prompt_tokens), (Some(40), None));
    /// ```
    #[must_use]
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens: Some(prompt_tokens),
            completion_tokens: Some(completion_tokens),
            cached_prompt_tokens: None,
        }
    }

    /// Tokens of prompt and reply together; an unknown number counts as 0.
    ///
    /// ```
    /// use dsrs_metrics::lm::Usage;
    ///
    /// assert_eq!(Usage::new(40, 2).total(), 42);
    /// assert_eq!(Usage { prompt_tokens: Some(40), ..Usage::default() }.total(), 40);
    /// ```
    #[must_use]
    pub fn total(&self) -> u64 {
        self.prompt_tokens.unwrap_or(0).saturating_add(self.completion_tokens.unwrap_or(0))
    }
}

/// Adds the numbers that are known.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |a: &mut Option<u64>, b: Option<u64>| {
            if let Some(b) = b {
                *a = Some(a.unwrap_or(0).saturating_add(b));
            }
        };
        add(&mut self.prompt_tokens, other.prompt_tokens);
        add(&mut self.completion_tokens, other.completion_tokens);
        add(&mut self.cached_prompt_tokens, other.cached_prompt_tokens);
    }
}
