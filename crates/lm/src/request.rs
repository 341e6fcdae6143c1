//! Requests to language models.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Logprobs;

/// A request to a language model.
///
/// The request contains the conversation, the reply format and the sampling parameters.
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
///     .with_sampling(Sampling { temperature: Some(0.0), ..Sampling::default() });
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LmRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The JSON schema of the reply, or `None` for free text.
    ///
    /// The schema is shared, because a judge uses the same schema for all rows.
    pub schema: Option<Arc<ReplySchema>>,
    /// The sampling parameters.
    pub sampling: Sampling,
    /// The name and version of the caller, such as `judge semantic_f1 version 2`.
    ///
    /// The purpose is part of a stored reply's key, so a new version of a judge does not reuse an earlier version's
    /// replies. The [`Ledger`](super::Ledger) keeps totals by purpose.
    pub purpose: String,
    /// The zero-based index of this request among identical requests.
    ///
    /// The index is not sent to the provider. It is part of a stored reply's key, so each of the identical requests
    /// gets its own reply.
    pub draw: u32,
    /// The log probabilities to request for the reply's tokens.
    ///
    /// If the model does not support log probabilities, the call fails or returns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Logprobs>,
}

impl LmRequest {
    /// Creates a request without messages.
    ///
    /// `purpose` names the caller and its version.
    ///
    /// ```
    /// use dsrs_metrics::lm::LmRequest;
    ///
    /// let request = LmRequest::new("judge politeness version 1");
    /// assert_eq!((request.purpose.as_str(), request.messages.len()), ("judge politeness version 1", 0));
    /// ```
    pub fn new(purpose: impl Into<String>) -> Self {
        Self {
            purpose: purpose.into(),
            ..Self::default()
        }
    }

    /// Appends a message with the given role.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmRequest, Role};
    ///
    /// let request = LmRequest::new("example").message(Role::User, "Is `Go away!` polite?");
    /// assert_eq!(&*request.messages[0].content, "Is `Go away!` polite?");
    /// ```
    pub fn message(mut self, role: Role, content: impl Into<Arc<str>>) -> Self {
        self.messages.push(Message {
            role,
            content: content.into(),
        });
        self
    }

    /// Appends a system message.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmRequest, Role};
    ///
    /// let request = LmRequest::new("example").system("You grade answers.");
    /// assert_eq!(request.messages[0].role, Role::System);
    /// ```
    pub fn system(self, content: impl Into<Arc<str>>) -> Self {
        self.message(Role::System, content)
    }

    /// Appends a user message.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmRequest, Role};
    ///
    /// let request = LmRequest::new("example").system("You grade answers.").user("Is `Go away!` polite?");
    /// assert_eq!((request.messages.len(), request.messages[1].role), (2, Role::User));
    /// ```
    pub fn user(self, content: impl Into<Arc<str>>) -> Self {
        self.message(Role::User, content)
    }

    /// Appends an assistant message, which contains an earlier reply from the model.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmRequest, Role};
    ///
    /// let request = LmRequest::new("example").user("2 + 2?").assistant("5").user("Are you sure?");
    /// assert_eq!(request.messages[1].role, Role::Assistant);
    /// ```
    pub fn assistant(self, content: impl Into<Arc<str>>) -> Self {
        self.message(Role::Assistant, content)
    }

    setters! {
        /// Sets the JSON schema of the reply.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LmRequest, ReplySchema};
        /// use serde_json::json;
        ///
        /// let schema = ReplySchema::new("verdict", json!({ "type": "object" }));
        /// let request = LmRequest::new("example").user("?").with_schema(schema);
        /// assert_eq!(request.schema.map(|schema| schema.name.clone()), Some("verdict".to_owned()));
        /// ```
        pub fn with_schema(schema: impl Into<Arc<ReplySchema>>) => schema = Some(schema.into());

        /// Sets the sampling parameters.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LmRequest, Sampling};
        ///
        /// let short = Sampling { max_tokens: Some(300), ..Sampling::default() };
        /// let request = LmRequest::new("example").user("?").with_sampling(short);
        /// assert_eq!((request.sampling.max_tokens, request.sampling.temperature), (Some(300), None));
        /// ```
        pub fn with_sampling(sampling: Sampling) => sampling = sampling;

        /// Sets the index of this request among identical requests.
        ///
        /// See [`draw`](Self::draw).
        ///
        /// ```
        /// use dsrs_metrics::lm::LmRequest;
        ///
        /// let request = LmRequest::new("example").user("?");
        /// let samples = [0, 1].map(|draw| request.clone().with_draw(draw));
        /// assert_ne!(samples[0], samples[1], "two samples have two records in the store");
        /// ```
        pub fn with_draw(draw: u32) => draw = draw;

        /// Sets which log probabilities to request for the reply's tokens.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LmRequest, Logprobs};
        ///
        /// let request = LmRequest::new("example").user("?").with_logprobs(Logprobs::of("grade"));
        /// assert_eq!(request.logprobs, Some(Logprobs::of("grade")));
        /// ```
        pub fn with_logprobs(logprobs: Logprobs) => logprobs = Some(logprobs);
    }
}

/// A message in a conversation.
///
/// ```
/// use dsrs_metrics::lm::{Message, Role};
///
/// let message: Message = serde_json::from_str(r#"{ "role": "user", "content": "Is it polite?" }"#)?;
/// assert_eq!(message, Message { role: Role::User, content: "Is it polite?".into() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The author of the message.
    pub role: Role,
    /// The text of the message.
    ///
    /// The text is shared, because a judge's instructions are the same for all rows.
    pub content: Arc<str>,
}

/// The author of a message.
///
/// ```
/// use dsrs_metrics::lm::Role;
/// use serde_json::json;
///
/// let roles = [Role::System, Role::User, Role::Assistant];
/// assert_eq!(json!(roles), json!(["system", "user", "assistant"]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The author of the instructions.
    System,
    /// The caller of the model.
    User,
    /// The model.
    Assistant,
}

/// The JSON schema that a reply must match.
///
/// ```
/// use dsrs_metrics::lm::ReplySchema;
/// use serde_json::json;
///
/// let schema = ReplySchema::new("verdict", json!({ "type": "object" }));
/// assert_eq!(schema.name, "verdict");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplySchema {
    /// A short name that consists of letters, digits, `_` and `-`.
    ///
    /// Some providers require a name.
    pub name: String,
    /// The JSON schema.
    pub schema: Value,
}

impl ReplySchema {
    /// Creates a JSON schema with a name.
    ///
    /// ```
    /// use dsrs_metrics::lm::ReplySchema;
    /// use serde_json::json;
    ///
    /// let schema = ReplySchema::new("verdict", json!({ "type": "object", "required": ["polite"] }));
    /// assert_eq!(schema.schema["required"], json!(["polite"]));
    /// ```
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            schema,
        }
    }
}

/// The sampling parameters of a request.
///
/// A parameter that is `None` is not sent, so the provider's default applies.
///
/// ```
/// use dsrs_metrics::lm::Sampling;
///
/// let repeatable = Sampling { temperature: Some(0.0), seed: Some(7), ..Sampling::default() };
/// assert_eq!(repeatable.max_tokens, None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// The temperature, which controls the randomness of replies.
    ///
    /// A temperature of 0 makes replies as repeatable as possible. Most providers allow values up to 1 or 2.
    pub temperature: Option<f64>,
    /// The probability mass for nucleus sampling, in (0, 1].
    pub top_p: Option<f64>,
    /// The maximum number of tokens in the reply.
    pub max_tokens: Option<u32>,
    /// The seed for random sampling, if the provider accepts one.
    pub seed: Option<u64>,
}
