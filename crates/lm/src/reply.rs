//! Replies from language models: text, stop reason, tokens and cost.
//!
//! The file is long because each part of a reply is documented with an example.

use std::borrow::Cow;
use std::ops::AddAssign;

use dsrs_metrics_values::messages::escape;
use serde::{Deserialize, Serialize};

/// A reply from a language model.
///
/// ```
/// use dsrs_metrics::lm::{LmReply, StopReason, Usage};
///
/// let reply = LmReply::new("Paris").with_usage(Usage::new(40, 2)).with_cost_msats(42);
/// assert_eq!((reply.stop_reason, reply.cost_msats), (StopReason::End, Some(42)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LmReply {
    /// The text of the reply.
    pub text: String,
    /// The reason the model stopped.
    pub stop_reason: StopReason,
    /// The token usage of the call.
    pub usage: Usage,
    /// The model that replied, as the provider names it.
    ///
    /// The name may differ from the requested name, because an alias such as `gpt-6-luna` can point to different
    /// versions. It is empty if the provider does not name the model.
    pub model: String,
    /// The provider's identifier for the software and settings behind the reply.
    ///
    /// For OpenAI, this is the `system_fingerprint`. The value is `None` if the provider sends no identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The cost of the call in msat, including failed attempts.
    ///
    /// For a stored reply, this is the original cost. The value is `None` if the model has no price, or if its token
    /// usage is unknown and there is no budget.
    pub cost_msats: Option<u64>,
    /// `true` if the call may have cost more than `cost_msats`.
    ///
    /// This happens if the cost of an interrupted attempt is unknown.
    #[serde(default)]
    pub cost_is_lower_bound: bool,
    /// `true` if the reply is truncated only because of a [budget](super::Priced).
    ///
    /// A budget limits the length of the reply if the request has no `max_tokens`.
    #[doc(hidden)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_truncated_by_budget: bool,
    /// `true` if the reply came from the store or from an identical concurrent call.
    ///
    /// A cached reply costs nothing.
    pub cached: bool,
    /// The tokens in the text, with their log probabilities.
    ///
    /// The list may cover only the last part of the text. It is empty unless the request [asks for log
    /// probabilities](super::LmRequest::logprobs) and the model returns them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<TokenLogprobs>,
}

impl LmReply {
    /// Creates a complete reply with unknown token usage and unknown cost.
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
            ..Self::default()
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
        /// let reply = LmReply::new("Paris").with_model("gpt-6-luna-2026-09-22");
        /// assert_eq!(reply.model, "gpt-6-luna-2026-09-22");
        /// ```
        pub fn with_model(model: impl Into<String>) => model = model.into();

        /// Sets the provider's identifier for the software and settings behind the reply.
        ///
        /// ```
        /// use dsrs_metrics::lm::LmReply;
        ///
        /// let reply = LmReply::new("Paris").with_fingerprint("fp_44709d6fcb");
        /// assert_eq!(reply.fingerprint.as_deref(), Some("fp_44709d6fcb"));
        /// ```
        pub fn with_fingerprint(fingerprint: impl Into<String>)
            => fingerprint = Some(fingerprint.into());

        /// Sets the cost in msat.
        ///
        /// ```
        /// use dsrs_metrics::lm::LmReply;
        ///
        /// assert_eq!(LmReply::new("Paris").with_cost_msats(42).cost_msats, Some(42));
        /// ```
        pub fn with_cost_msats(msats: u64) => cost_msats = Some(msats);

        /// Sets the tokens with their log probabilities.
        ///
        /// The tokens must form the whole text or its last part.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LmReply, TokenLogprobs};
        ///
        /// let yes = TokenLogprobs::new("yes", -0.25, [("yes", -0.25), ("no", -1.5)]);
        /// assert_eq!(LmReply::new("yes").with_logprobs(vec![yes]).logprobs[0].top[1].token, "no");
        /// ```
        pub fn with_logprobs(logprobs: Vec<TokenLogprobs>) => logprobs = logprobs;
    }

    /// Returns `true` if the full cost is unknown.
    #[doc(hidden)]
    pub fn is_unpriced(&self) -> bool {
        self.cost_msats.is_none() || self.cost_is_lower_bound
    }

    /// Returns the same reply for a caller that does not pay for it: from the store or from an equal concurrent call.
    #[cfg(feature = "store")]
    pub(super) fn into_cached(mut self) -> Self {
        self.cached = true;
        self
    }
}

/// The maximum length of a reported name, in characters.
const MAX_REPORTED: usize = 200;

/// Returns a provider's model name or fingerprint as a single line.
///
/// Control characters are escaped, and the name is truncated to 200 characters.
#[doc(hidden)]
pub fn reported(name: &str) -> Cow<'_, str> {
    let shown = escape::escaped(name.trim());
    match shown.chars().nth(MAX_REPORTED) {
        None => shown,
        Some(_) => shown.chars().take(MAX_REPORTED - 1).chain(['…']).collect(),
    }
}

/// The reason a model stopped generating.
///
/// ```
/// use dsrs_metrics::lm::StopReason;
/// use serde_json::json;
///
/// let refusal = StopReason::Refusal("I cannot judge this.".into());
/// assert_eq!(json!(refusal), json!({ "refusal": "I cannot judge this." }));
/// assert_eq!(json!(StopReason::Length), json!("length"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The reply is complete.
    #[default]
    End,
    /// The reply reached the maximum number of tokens and is truncated.
    Length,
    /// The model refused to answer.
    ///
    /// The string is the refusal message. It is empty if the provider returns no message.
    Refusal(String),
    /// The provider's content filter withheld the reply.
    Filtered,
    /// The model stopped for another reason, as the provider names it.
    Other(String),
}

/// The token usage of one or more calls.
///
/// A count is `None` if the provider does not report it.
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
    /// The number of tokens in the prompt.
    ///
    /// Tokens from the provider's prompt cache are included.
    pub prompt_tokens: Option<u64>,
    /// The number of tokens in the reply.
    ///
    /// Hidden reasoning tokens are included.
    pub completion_tokens: Option<u64>,
    /// The number of prompt tokens that came from the provider's prompt cache.
    ///
    /// Cached tokens have a lower price.
    pub cached_prompt_tokens: Option<u64>,
}

impl Usage {
    /// Creates a `Usage` from the number of prompt and reply tokens.
    ///
    /// The number of cached prompt tokens is unknown.
    ///
    /// ```
    /// use dsrs_metrics::lm::Usage;
    ///
    /// let usage = Usage::new(40, 2);
    /// assert_eq!((usage.prompt_tokens, usage.cached_prompt_tokens), (Some(40), None));
    /// ```
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens: Some(prompt_tokens),
            completion_tokens: Some(completion_tokens),
            cached_prompt_tokens: None,
        }
    }

    /// Returns the total number of tokens in the prompt and the reply.
    ///
    /// Unknown counts are treated as 0.
    ///
    /// ```
    /// use dsrs_metrics::lm::Usage;
    ///
    /// assert_eq!(Usage::new(40, 2).total(), 42);
    /// assert_eq!(Usage { prompt_tokens: Some(40), ..Usage::default() }.total(), 40);
    /// ```
    pub fn total(&self) -> u64 {
        let (prompt, completion) = (self.prompt_tokens, self.completion_tokens);
        prompt.unwrap_or(0).saturating_add(completion.unwrap_or(0))
    }
}

/// Adds the known counts.
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

/// A request for the log probabilities of a reply's tokens.
///
/// The request covers the tokens from one field of the reply's JSON object onward.
///
/// ```
/// use dsrs_metrics::lm::{LmRequest, Logprobs};
///
/// let request = LmRequest::new("example").user("?").with_logprobs(Logprobs::of("grade"));
/// assert_eq!(request.logprobs.map(|it| (it.field, it.top)), Some(("grade".to_owned(), 20)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Logprobs {
    /// The name of a field in the reply's JSON object.
    ///
    /// A model can omit the tokens that precede this field's name.
    pub field: String,
    /// The maximum number of alternatives per token.
    ///
    /// Some providers return fewer.
    pub top: u8,
}

impl Logprobs {
    /// Creates a request for the log probabilities of a field's tokens.
    ///
    /// The request asks for the 20 most probable alternatives for each token.
    ///
    /// ```
    /// assert_eq!(dsrs_metrics::lm::Logprobs::of("grade").top, 20);
    /// ```
    pub fn of(field: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            top: 20,
        }
    }
}

/// A token in a reply, with its most probable alternatives.
///
/// ```
/// use dsrs_metrics::lm::TokenLogprobs;
///
/// let token = TokenLogprobs::new("7", -0.25, [("7", -0.25), ("8", -1.5)]);
/// assert_eq!((&*token.token, token.top.len(), token.top[1].logprob), ("7", 2, -1.5));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenLogprobs {
    /// The token's text.
    pub token: String,
    /// The natural logarithm of the token's probability.
    pub logprob: f64,
    /// The most probable tokens at this position.
    ///
    /// The list usually includes the token itself.
    pub top: Vec<TokenLogprob>,
}

/// A token that the model could have written, with its log probability.
///
/// The log probability is the natural logarithm of the token's probability.
///
/// ```
/// use dsrs_metrics::lm::TokenLogprobs;
///
/// let token = TokenLogprobs::new("7", -0.25, [("7", -0.25)]);
/// assert_eq!((&*token.top[0].token, token.top[0].logprob), ("7", -0.25));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token's text.
    pub token: String,
    /// The natural logarithm of the token's probability.
    pub logprob: f64,
}

impl TokenLogprobs {
    /// Creates a token with its alternatives.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmReply, TokenLogprobs};
    ///
    /// // The tokens of a reply; together they are its text.
    /// let tokens = [("{\"ok\":", 0.0), ("true", -0.1), ("}", 0.0)]
    ///     .map(|(token, logprob)| TokenLogprobs::new(token, logprob, [(token, logprob)]));
    /// let reply = LmReply::new("{\"ok\":true}").with_logprobs(tokens.to_vec());
    /// assert_eq!(reply.logprobs.len(), 3);
    /// ```
    pub fn new<'a>(
        token: impl Into<String>,
        logprob: f64,
        top: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Self {
        let top = top.into_iter().map(|(token, logprob)| TokenLogprob {
            token: token.to_owned(),
            logprob,
        });
        Self {
            token: token.into(),
            logprob,
            top: top.collect(),
        }
    }
}

/// Drops the tokens before the field's last occurrence. Replies are stored with their tokens, and the alternatives for
/// a reasoning text take a hundred times its length.
#[cfg(feature = "lm")]
pub(super) fn from_field(mut tokens: Vec<TokenLogprobs>, field: &str) -> Vec<TokenLogprobs> {
    let text: String = tokens.iter().map(|token| &*token.token).collect();
    let Some(start) = text.rfind(&format!("\"{field}\"")) else {
        return tokens;
    };
    let mut end = 0;
    let before = tokens.iter().take_while(|token| {
        end += token.token.len();
        end <= start
    });
    tokens.drain(..before.count());
    tokens
}

#[cfg(all(test, feature = "lm"))]
mod tests {
    use super::{TokenLogprobs, from_field};

    fn tokens(all: &[&str]) -> Vec<TokenLogprobs> {
        all.iter()
            .map(|token| TokenLogprobs::new(*token, -0.5, []))
            .collect()
    }

    #[test]
    fn only_the_tokens_from_the_field_on_are_kept() {
        let all = tokens(&[
            "{\"why\":\"a ",
            "\\\"grade\\\"",
            "\", ",
            "\"gr",
            "ade\":",
            " 7",
            "}",
        ]);
        assert_eq!(from_field(all.clone(), "grade"), all[3..]);
        assert_eq!(from_field(all.clone(), "why"), all);
        assert_eq!(
            from_field(all.clone(), "score"),
            all,
            "a field that the reply does not have"
        );
        assert_eq!(from_field(Vec::new(), "score"), []);
    }
}

#[cfg(test)]
mod logprobs_tests {
    use super::{LmReply, MAX_REPORTED, reported};

    #[test]
    fn a_reported_name_is_one_line_of_limited_length() {
        assert_eq!(
            reported(" gpt-6-luna-2026-09-22\n"),
            "gpt-6-luna-2026-09-22"
        );
        assert_eq!(
            reported("m\u{1b}[2J\r\u{202e}x"),
            "m\\u{1b}[2J\\r\\u{202e}x"
        );
        assert_eq!(
            reported(&"é".repeat(MAX_REPORTED)),
            "é".repeat(MAX_REPORTED)
        );
        for long in ["é", "\u{7}", "a\n"].map(|it| it.repeat(MAX_REPORTED + 1)) {
            let shown = reported(&long).into_owned();
            assert_eq!(
                (shown.chars().count(), shown.chars().last()),
                (MAX_REPORTED, Some('…'))
            );
            assert_eq!(reported(&shown), shown, "as in the store");
        }
    }

    #[test]
    fn a_reply_that_an_earlier_version_stored_has_no_fingerprint() {
        let stored = r#"{"text":"yes","stop_reason":"end","usage":{"prompt_tokens":1,"completion_tokens":2,"cached_prompt_tokens":null},"model":"m-1","cost_msats":7,"cost_is_lower_bound":false,"cached":false}"#;
        let reply: LmReply = serde_json::from_str(stored).unwrap();
        assert_eq!((&*reply.model, &reply.fingerprint), ("m-1", &None));
        assert_eq!(
            serde_json::to_string(&reply).unwrap(),
            stored,
            "and is stored as before"
        );
        let reply = reply.with_fingerprint("fp_1");
        let stored = serde_json::to_string(&reply).unwrap();
        assert_eq!(serde_json::from_str::<LmReply>(&stored).unwrap(), reply);
    }
}
