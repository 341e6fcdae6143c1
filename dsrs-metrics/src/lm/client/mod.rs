//! One call to a provider, over HTTP.
//!
//! The wire formats are `genai`'s: it is the multi-provider client that is kept up best (a release every few
//! weeks, forty providers, their own formats rather than only the OpenAI one), leaves status and headers
//! in its errors, so that `Retry-After` can be honoured, and takes a `reqwest` client of ours. `rig` and `llm`
//! are frameworks around agents whose errors keep neither; `async-openai` speaks one format only.
//!
//! What is ours is what `genai` leaves to its user: which variables say what ([`provider`]), what an
//! error means ([`failure`]), what a reply is ([`answer`]), and JSON mode where a schema is not taken. Retries,
//! limits, prices and the cache are layers around this one.

mod answer;
mod failure;
mod provider;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec, ReasoningEffort,
};
use genai::resolver::{AuthData, Endpoint, ProviderConfig};
use genai::{Headers, ModelIden};
use secrecy::ExposeSecret;

pub(super) use self::provider::{Target, Variables, by_one_name, split};
use super::{LanguageModel, LmError, LmReply, LmRequest, Role};

/// How the connection is made.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    pub(super) timeout: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) proxy: Proxy,
}

/// Which proxy is used.
#[derive(Clone, Default)]
pub(super) enum Proxy {
    /// The one that the usual variables name, if they do.
    #[default]
    Environment,
    Never,
    At(String),
}

/// The address may hold a password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => f.write_str("Environment"),
            Self::Never => f.write_str("Never"),
            Self::At(url) => write!(f, "At({:?})", provider::shown(url)),
        }
    }
}

impl Default for Wire {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
            proxy: Proxy::default(),
        }
    }
}

/// A model at a provider.
pub(super) struct Client {
    target: Target,
    wire: Wire,
    genai: genai::Client,
    model: ModelIden,
    /// Names of the schemas that this model did not take.
    schemaless: Mutex<HashSet<String>>,
}

impl Client {
    pub(super) fn new(target: Target, wire: Wire) -> Result<Self, LmError> {
        let genai = genai::Client::builder()
            .with_reqwest(connections(&target, &wire)?)
            .append_provider_config(target.kind, provider_config(&target))
            .build()
            .map_err(|error| failure::setup(&target, &error))?;
        let model = ModelIden::new(target.kind, target.model.clone());
        Ok(Self { target, wire, genai, model, schemaless: Mutex::default() })
    }

    fn failed(&self, error: &genai::Error) -> LmError {
        failure::failure(error, &self.target, self.wire.timeout)
    }

    async fn ask(&self, request: &LmRequest, json_mode: bool) -> Result<LmReply, LmError> {
        let options = self.options(request, json_mode);
        let chat = ChatRequest::from_messages(messages(request, json_mode));
        match self.genai.exec_chat(self.model.clone(), chat, Some(&options)).await {
            Ok(response) => answer::answer(response, &self.target),
            Err(error) => match answer::blocked(&error) {
                Some(reply) => Ok(reply),
                None => Err(self.failed(&error)),
            },
        }
    }

    fn options(&self, request: &LmRequest, json_mode: bool) -> ChatOptions {
        let sampling = request.sampling;
        let format = request.schema.as_ref().map(|schema| match json_mode {
            true => ChatResponseFormat::JsonMode,
            false => JsonSpec::new(schema.name.clone(), schema.schema.clone()).into(),
        });
        ChatOptions {
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            max_tokens: sampling.max_tokens,
            seed: sampling.seed,
            response_format: format,
            capture_raw_body: Some(true),
            reasoning_effort: keep_name(&self.target),
            extra_headers: (!self.target.headers.is_empty())
                .then(|| Headers::from(self.target.headers.clone())),
            ..ChatOptions::default()
        }
    }

    fn takes(&self, schema: &str) -> bool {
        !self.schemaless.lock().unwrap_or_else(PoisonError::into_inner).contains(schema)
    }

    fn takes_no_more(&self, schema: &str) {
        let mut names = self.schemaless.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(schema.to_owned());
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("target", &self.target).finish_non_exhaustive()
    }
}

#[async_trait]
impl LanguageModel for Client {
    fn id(&self) -> &str {
        &self.target.id
    }

    fn endpoint(&self) -> Option<&str> {
        self.target.shown_base_url.as_deref()
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let Some(schema) = &request.schema else { return self.ask(request, false).await };
        if self.target.json_schema && self.takes(&schema.name) {
            match self.ask(request, false).await {
                Err(LmError::SchemaUnsupported { .. }) => self.takes_no_more(&schema.name),
                reply => return reply,
            }
        }
        self.ask(request, true).await
    }
}

fn connections(target: &Target, wire: &Wire) -> Result<reqwest::Client, LmError> {
    let mut builder = reqwest::Client::builder()
        .timeout(wire.timeout)
        .connect_timeout(wire.connect_timeout)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10))
        .http2_adaptive_window(true);
    match &wire.proxy {
        Proxy::Environment => {}
        Proxy::Never => builder = builder.no_proxy(),
        Proxy::At(url) => {
            let proxy = reqwest::Proxy::all(url).map_err(|error| LmError::BadSetting {
                setting: "the proxy".to_owned(),
                found: provider::shown(url),
                reason: failure::causes(&error.without_url()),
            })?;
            builder = builder.proxy(proxy);
        }
    }
    builder.build().map_err(|error| LmError::Other {
        lm: target.id.clone(),
        reason: failure::causes(&error.without_url()),
    })
}

fn provider_config(target: &Target) -> ProviderConfig {
    let key = target.key.as_ref().map_or("none", ExposeSecret::expose_secret);
    let config = ProviderConfig::from_auth(AuthData::from_single(key));
    match &target.base_url {
        Some(url) => config.with_endpoint(Endpoint::from_owned(url.as_str())),
        None => config,
    }
}

/// `genai` reads a name that ends in `-high` as another model with that effort of reasoning. An effort that
/// says nothing keeps it from doing so, in the one format in which such names are common: a proxy's
/// model may be called anything.
fn keep_name(target: &Target) -> Option<ReasoningEffort> {
    let suffixed = ReasoningEffort::from_model_name(&target.model).0.is_some();
    (suffixed && target.kind == AdapterKind::OpenAI).then_some(ReasoningEffort::Budget(0))
}

fn messages(request: &LmRequest, json_mode: bool) -> Vec<ChatMessage> {
    let mut messages: Vec<_> = request
        .messages
        .iter()
        .map(|message| {
            let content = message.content.clone();
            match message.role {
                Role::System => ChatMessage::system(content),
                Role::User => ChatMessage::user(content),
                Role::Assistant => ChatMessage::assistant(content),
            }
        })
        .collect();
    if let (true, Some(schema)) = (json_mode, &request.schema) {
        let schema = &schema.schema;
        let text = format!(
            "Reply with one JSON object and nothing else. It must match this JSON schema:\n{schema}"
        );
        messages.insert(0, ChatMessage::system(text));
    }
    messages
}
