//! The language model of dspy-rs as one of dsrs-metrics, for judges.

use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

use dspy_rs::{Chat, LM, LmUsage};
use dsrs_metrics::async_trait;
use dsrs_metrics::lm::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, Role, Usage};
use rig::completion::CompletionError;

/// The `LM` of dspy-rs as a [`LanguageModel`], so that a judge runs on the model that the program is configured with.
///
/// ```
/// use dsrs_metrics::judge::shipped::SemanticF1;
/// use dsrs_metrics_dspy_rs::DspyLm;
///
/// # async fn judge() -> anyhow::Result<()> {
/// let lm = dspy_rs::LM::builder().model("openai:gpt-6-luna".to_owned()).build().await?;
/// let judge = SemanticF1::default().with_lm(DspyLm::new(lm));
/// # Ok(())
/// # }
/// ```
///
/// The temperature and the token limit of a request replace those of the `LM`; a request without them uses those of the
/// `LM`. (The release 0.7.3 of dspy-rs sends no token limit to OpenAI and to servers with its format.) A JSON schema is part
/// of the prompt, and a seed is not sent, because an `LM` has a parameter for neither. Replies do not state why the model
/// stopped, so each is a complete one, and a judge rejects a truncated reply when it parses it. Nor do they state which model
/// replied, so [`LmReply::model`] is empty. The response cache of the `LM` is not used. With the feature `lm` of dsrs-metrics, its layers (retries, limits, store) can be put around the model.
#[derive(Clone)]
pub struct DspyLm {
    lm: Arc<LM>,
    id: String,
}

impl DspyLm {
    /// Creates a language model from an `LM` that was built.
    pub fn new(lm: impl Into<Arc<LM>>) -> Self {
        let lm = lm.into();
        // Without a provider in its name, the model is one of OpenAI or of a server that speaks its format.
        let has_provider = lm.base_url.is_none() && lm.model.contains(':');
        let id = if has_provider {
            lm.model.clone()
        } else {
            format!("openai:{}", lm.model)
        };
        Self { lm, id }
    }

    /// Creates a language model from the `LM` of `dspy_rs::configure`.
    ///
    /// # Errors
    /// No `LM` is configured.
    pub fn configured() -> Result<Self, LmError> {
        let settings = dspy_rs::GLOBAL_SETTINGS.read();
        let settings = settings.unwrap_or_else(std::sync::PoisonError::into_inner);
        let lm = settings.as_ref().map(|settings| settings.lm.clone());
        lm.map(Self::new).ok_or_else(|| {
            let reason = "no LM configured for dspy-rs; call dspy_rs::configure(lm, ChatAdapter)";
            LmErrorKind::Other(reason.to_owned()).into()
        })
    }

    fn error(&self, kind: LmErrorKind) -> LmError {
        LmError::new(&self.id, kind)
    }

    /// Returns the conversation as dspy-rs sends it: one system message, and then the turns.
    fn chat(&self, request: &LmRequest) -> Result<Chat, LmError> {
        let system = request
            .messages
            .iter()
            .filter(|message| message.role == Role::System);
        let mut system: Vec<_> = system.map(|message| message.content.to_string()).collect();
        if let Some(schema) = &request.schema {
            system.insert(
                0,
                format!(
                    "Reply with one JSON object and nothing else. It must match this JSON schema:\n{}",
                    schema.schema
                ),
            );
        }
        let mut chat = Chat::new(Vec::new());
        chat.push("system", &system.join("\n\n"));
        for message in &request.messages {
            match message.role {
                Role::System => {}
                Role::User => chat.push("user", &message.content),
                Role::Assistant => chat.push("assistant", &message.content),
            }
        }
        if chat.len() == 1 {
            let reason = "expected a message of the user, found system messages only";
            return Err(self.error(LmErrorKind::Other(reason.to_owned())));
        }
        Ok(chat)
    }

    /// Returns the `LM` with the sampling parameters of a request.
    fn with_sampling(&self, request: &LmRequest) -> Result<LM, LmError> {
        let mut lm = (*self.lm).clone();
        if request.sampling.top_p.is_some() {
            return Err(self.error(LmErrorKind::ParameterUnsupported {
                parameter: "top_p".to_owned(),
                message: "an LM of dspy-rs has no such parameter".to_owned(),
            }));
        }
        if let Some(temperature) = request.sampling.temperature {
            lm.temperature = narrowed(temperature);
        }
        if let Some(max_tokens) = request.sampling.max_tokens {
            lm.max_tokens = max_tokens;
        }
        Ok(lm)
    }
}

#[async_trait]
impl LanguageModel for DspyLm {
    fn id(&self) -> &str {
        &self.id
    }

    fn endpoint(&self) -> Option<&str> {
        self.lm.base_url.as_deref()
    }

    /// The request with the `LM`'s own temperature and token limit where it has none, and without a seed.
    fn effective_request<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        let mut effective = request.clone();
        let sampling = &mut effective.sampling;
        sampling
            .temperature
            .get_or_insert(f64::from(self.lm.temperature));
        sampling.max_tokens.get_or_insert(self.lm.max_tokens);
        sampling.seed = None;
        Cow::Owned(effective)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let chat = self.chat(request)?;
        let lm = self.with_sampling(request)?;
        let reply = lm.call(chat, Vec::new()).await;
        let reply = reply.map_err(|error| self.error(kind_of(&error, &self.lm)))?;
        let usage = usage_of(&reply.usage);
        Ok(LmReply::new(reply.output.content()).with_usage(usage))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "temperatures are small")]
const fn narrowed(temperature: f64) -> f32 {
    temperature as f32
}

/// Counts that are all 0 mean that the provider reported none.
fn usage_of(usage: &LmUsage) -> Usage {
    let LmUsage {
        prompt_tokens,
        completion_tokens,
        total_tokens,
    } = *usage;
    if (prompt_tokens, completion_tokens, total_tokens) == (0, 0, 0) {
        return Usage::default();
    }
    Usage::new(prompt_tokens, completion_tokens)
}

/// Returns what is known of an error: dspy-rs keeps neither the HTTP status nor the headers.
fn kind_of(error: &anyhow::Error, lm: &LM) -> LmErrorKind {
    match error.downcast_ref::<CompletionError>() {
        Some(CompletionError::ProviderError(body)) => provider_error(body),
        Some(CompletionError::HttpError(error)) => connection_error(error, lm),
        Some(CompletionError::JsonError(error)) => invalid(&error.to_string()),
        Some(CompletionError::ResponseError(reason)) => invalid(reason),
        _ => LmErrorKind::Other(shown(&format!("{error:#}"))),
    }
}

fn invalid(reason: &str) -> LmErrorKind {
    LmErrorKind::InvalidReply(shown(reason))
}

fn connection_error(error: &rig::http_client::Error, lm: &LM) -> LmErrorKind {
    let mut chain: Vec<String> = Vec::new();
    let mut cause: Option<&dyn Error> = Some(error);
    let mut client = None;
    while let Some(error) = cause {
        chain.push(error.to_string());
        client = client.or_else(|| error.downcast_ref::<reqwest::Error>());
        cause = error.source();
    }
    let reason = shown(&chain.last().cloned().unwrap_or_default());
    match client {
        Some(client) if client.is_connect() => {
            let address = lm.base_url.clone().unwrap_or_else(|| lm.model.clone());
            LmErrorKind::Unreachable { address, reason }
        }
        _ => LmErrorKind::Disconnected(reason),
    }
}

/// Returns the kind of an error message of a provider, by its code or type.
fn provider_error(body: &str) -> LmErrorKind {
    let json: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let error = json.get("error").unwrap_or(&json);
    let text = |key: &str| error.get(key).and_then(|value| value.as_str());
    let message = shown(text("message").unwrap_or(body));
    let codes = [text("code"), text("type")];
    let has = |code: &str| codes.iter().flatten().any(|it| *it == code);
    if has("insufficient_quota") {
        LmErrorKind::QuotaExhausted(message)
    } else if codes
        .iter()
        .flatten()
        .any(|code| code.starts_with("rate_limit"))
    {
        LmErrorKind::RateLimited {
            retry_after: None,
            message,
        }
    } else if has("context_length_exceeded") {
        LmErrorKind::ContextLengthExceeded(message)
    } else if has("model_not_found") {
        LmErrorKind::ModelNotFound(message)
    } else {
        LmErrorKind::Other(format!("the provider returned an error: {message}"))
    }
}

/// Returns a message of a provider on one line, shortened.
fn shown(message: &str) -> String {
    let line: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars()
        .filter(|char| !char.is_control())
        .take(MAX_MESSAGE)
        .collect()
}

/// The maximum number of characters of a provider's message in an error.
const MAX_MESSAGE: usize = 300;
