//! What is asked of a language model, and what it replies.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call: the conversation, what the reply must look like, how to sample.
///
/// ```
/// use dsrs_metrics::lm::{LmRequest, ReplySchema, Sampling};
/// use serde_json::json;
///
/// let request = LmRequest::new("judge politeness version 1")
///     .system("You grade answers.")
///     .user("Is `Go away!` polite?")
///     .with_schema(ReplySchema::new("verdict", json!({
///         "type": "object",
///         "properties": { "polite": { "type": "boolean" } },
///         "required": ["polite"],
///         "additionalProperties": false,
///     })))
///     .with_sampling(Sampling { temperature: Some(0.0), max_tokens: Some(512), ..Sampling::default() });
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LmRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What the reply must look like; `None` leaves it free. Shared, since a judge asks for the same form in
    /// every row.
    pub schema: Option<Arc<ReplySchema>>,
    /// How to sample.
    pub sampling: Sampling,
    /// Who asks, and in which version: `judge semantic_f1 version 2`. Part of the cache key, so that a
    /// changed judge never reads the replies to an earlier one; usage is summed by it.
    pub purpose: String,
    /// Which of several draws for the same question this is, from 0. It does not reach the provider, but is
    /// part of the cache key: a model asked five times gives five replies, also from the cache.
    pub draw: u32,
}

impl LmRequest {
    /// A request without messages.
    pub fn new(purpose: impl Into<String>) -> Self {
        Self { purpose: purpose.into(), ..Self::default() }
    }

    /// Adds a message of the given role.
    #[must_use]
    pub fn message(mut self, role: Role, content: impl Into<String>) -> Self {
        self.messages.push(Message { role, content: content.into() });
        self
    }

    /// Adds instructions.
    #[must_use]
    pub fn system(self, content: impl Into<String>) -> Self {
        self.message(Role::System, content)
    }

    /// Adds what the user says.
    #[must_use]
    pub fn user(self, content: impl Into<String>) -> Self {
        self.message(Role::User, content)
    }

    /// Adds what the model said before.
    #[must_use]
    pub fn assistant(self, content: impl Into<String>) -> Self {
        self.message(Role::Assistant, content)
    }

    /// Asks for a reply of this form.
    #[must_use]
    pub fn with_schema(mut self, schema: impl Into<Arc<ReplySchema>>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Says how to sample.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Makes it another [`draw`](Self::draw) of the same question.
    #[must_use]
    pub fn with_draw(mut self, draw: u32) -> Self {
        self.draw = draw;
        self
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions.
    System,
    /// Whoever asks.
    User,
    /// The model.
    Assistant,
}

/// The form that a reply must have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplySchema {
    /// A short name; some providers require one: letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON schema.
    pub schema: Value,
}

impl ReplySchema {
    /// A named JSON schema.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema }
    }
}

/// How to sample; what is `None` is left to the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is the most repeatable; most providers end at 1 or 2.
    pub temperature: Option<f64>,
    /// Nucleus sampling, in (0, 1].
    pub top_p: Option<f64>,
    /// The most tokens that the reply may have.
    pub max_tokens: Option<u32>,
    /// Seed, for providers that take one.
    pub seed: Option<u64>,
}

/// What a language model replied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LmReply {
    /// The text.
    pub text: String,
    /// Why it ends.
    pub stop: StopReason,
    /// Tokens.
    pub usage: Usage,
    /// The model that replied, as the provider names it.
    pub model: String,
    /// What the call cost in msat, failed attempts included; 0 if the reply came from the cache,
    /// `None` if there is no price.
    pub cost_msats: Option<u64>,
    /// Whether it cost more than that: an attempt before it broke off, and nothing says what that was charged.
    #[serde(default)]
    pub cost_is_lower_bound: bool,
    /// Whether it came from the cache, or from an equal call that was already under way: it cost
    /// nothing.
    pub cached: bool,
}

impl LmReply {
    /// A complete reply, of unknown usage and without a price.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            stop: StopReason::End,
            usage: Usage::default(),
            model: String::new(),
            cost_msats: None,
            cost_is_lower_bound: false,
            cached: false,
        }
    }

    /// Says why it ends.
    #[must_use]
    pub fn with_stop(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    /// Says how many tokens it took.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Names the model that replied.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Whether nothing says what it cost in full.
    pub(crate) fn is_unpriced(&self) -> bool {
        !self.cached && (self.cost_msats.is_none() || self.cost_is_lower_bound)
    }

    /// Says what it cost, in msat.
    #[must_use]
    pub fn with_cost(mut self, msats: u64) -> Self {
        self.cost_msats = Some(msats);
        self
    }
}

/// Why a reply ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    End,
    /// The limit on tokens cut it short.
    Length,
    /// The model declined, in its own words if the provider passes them on.
    Refusal(String),
    /// A filter of the provider withheld it.
    Filtered,
    /// Anything else, as the provider calls it.
    Other(String),
}

impl StopReason {
    /// Whether the model came to its own end.
    #[cfg(feature = "lm")]
    pub(super) fn is_an_end(&self) -> bool {
        matches!(self, Self::End | Self::Other(_))
    }
}

/// Tokens of a call; `None` where the provider does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, those from the provider's cache included.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the reply, those of hidden reasoning included.
    pub completion_tokens: Option<u64>,
    /// Tokens of the prompt that the provider had in its cache, and asks less for.
    pub cached_prompt_tokens: Option<u64>,
}

impl Usage {
    /// Usage of so many tokens, none from a cache.
    #[must_use]
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self {
            prompt_tokens: Some(prompt_tokens),
            completion_tokens: Some(completion_tokens),
            cached_prompt_tokens: None,
        }
    }

    /// Tokens of prompt and reply together, as far as they are known.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.prompt_tokens.unwrap_or(0) + self.completion_tokens.unwrap_or(0)
    }
}

/// The sum of what is known.
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
