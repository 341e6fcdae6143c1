//! The `chat {model}` span of a language model call, and the `embeddings {model}` span of an embedding model call.
//!
//! The spans' attributes follow the semantic conventions for generative AI (`docs/gen-ai/gen-ai-spans.md` of
//! `open-telemetry/semantic-conventions-genai`), with our own attributes under `dsrs.`. A span is the child of the span
//! that is current when the model is called. If there is none, the span forms a trace of its own: a single trace with
//! all calls of a run would exceed what backends accept.

use std::time::SystemTime;

use dsrs_metrics_lm::{LmRequest, Message, ObservedCall, PROBE_PURPOSE, Role, StopReason};
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::SdkTracer;
use reqwest::Url;
use serde_json::json;

use crate::evaluation_event::variant;

/// The providers whose names differ from those in the conventions.
const PROVIDERS: [(&str, &str); 5] = [
    ("gemini", "gcp.gemini"),
    ("kimi", "moonshot_ai"),
    ("mistral", "mistral_ai"),
    ("moonshot", "moonshot_ai"),
    ("xai", "x_ai"),
];

/// The purpose of calls of embedding models.
const EMBEDDINGS: &str = "embeddings";

/// Returns `false` if no call was made, because the reply was stored or the budget did not cover it.
pub(crate) fn is_made(call: &ObservedCall<'_>) -> bool {
    let is_refused = matches!(call.result, Some(Err(error)) if error.budget_msats().is_some());
    !is_refused && !call.reply().is_some_and(|reply| reply.cached)
}

/// Emits the span of a call that ended now.
pub(crate) fn emit(call: &ObservedCall<'_>, texts: bool, tracer: &SdkTracer) {
    let end_time = SystemTime::now();
    let error = error(call);
    let operation = operation(call);
    let (provider, model) = call.model.split_once(':').unwrap_or(("", call.model));
    let mut attributes = Attributes::default();
    attributes.add("gen_ai.operation.name", operation);
    attributes.add("gen_ai.provider.name", provider_name(provider).to_owned());
    attributes.add("gen_ai.request.model", model.to_owned());
    attributes.add_server(call.endpoint);
    attributes.add(
        "dsrs.purpose",
        call.request
            .map_or(PROBE_PURPOSE, |it| &it.purpose)
            .to_owned(),
    );
    attributes.add_request(call.request, texts);
    attributes.add_reply(call, texts);
    if let Some((name, _)) = &error {
        attributes.add("error.type", name.clone());
    }
    let mut span = tracer
        .span_builder(format!("{operation} {model}"))
        .with_kind(SpanKind::Client)
        .with_start_time(end_time.checked_sub(call.duration).unwrap_or(end_time))
        .with_attributes(attributes.0)
        .start(tracer);
    if let Some((name, message)) = error {
        // A message may quote the row.
        span.set_status(Status::error(message.filter(|_| texts).unwrap_or(name)));
    }
    span.end_with_timestamp(end_time);
}

fn operation(call: &ObservedCall<'_>) -> &'static str {
    match call.request {
        Some(request) if request.purpose == EMBEDDINGS => EMBEDDINGS,
        _ => "chat",
    }
}

fn provider_name(provider: &str) -> &str {
    PROVIDERS
        .iter()
        .find(|(ours, _)| *ours == provider)
        .map_or(provider, |(_, theirs)| theirs)
}

/// Returns the type and the message of a failed call's error.
fn error(call: &ObservedCall<'_>) -> Option<(String, Option<String>)> {
    match call.result {
        Some(Ok(_)) => None,
        Some(Err(error)) => Some((variant(error.kind()), Some(error.to_string()))),
        None => Some(("cancelled".to_owned(), None)),
    }
}

#[derive(Default)]
struct Attributes(Vec<KeyValue>);

impl Attributes {
    fn add(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push(KeyValue::new(name, value));
    }

    fn add_some(&mut self, name: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn add_count(&mut self, name: &'static str, count: Option<u64>) {
        self.add_some(
            name,
            count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
        );
    }

    fn add_server(&mut self, endpoint: Option<&str>) {
        let Some(url) = endpoint.and_then(|url| Url::parse(url).ok()) else {
            return;
        };
        if let Some(host) = url.host_str() {
            self.add("server.address", host.to_owned());
            self.add_some("server.port", url.port_or_known_default().map(i64::from));
        }
    }

    fn add_request(&mut self, request: Option<&LmRequest>, texts: bool) {
        let Some(request) = request else { return };
        let sampling = &request.sampling;
        self.add_some("gen_ai.request.temperature", sampling.temperature);
        self.add_some("gen_ai.request.top_p", sampling.top_p);
        self.add_some(
            "gen_ai.request.max_tokens",
            sampling.max_tokens.map(i64::from),
        );
        self.add_count("gen_ai.request.seed", sampling.seed);
        if request.schema.is_some() {
            self.add("gen_ai.output.type", "json");
        }
        if texts {
            let part = |it: &Message| json!({"type": "text", "content": &*it.content});
            let is_system = |it: &&Message| it.role == Role::System;
            let messages = request.messages.iter();
            let system: Vec<_> = messages.clone().filter(is_system).map(part).collect();
            let chat: Vec<_> = messages
                .filter(|it| !is_system(it))
                .map(|it| json!({"role": it.role, "parts": [part(it)]}))
                .collect();
            if !system.is_empty() {
                self.add("gen_ai.system_instructions", json!(system).to_string());
            }
            self.add("gen_ai.input.messages", json!(chat).to_string());
        }
    }

    fn add_reply(&mut self, call: &ObservedCall<'_>, texts: bool) {
        let (usage, cost_msats) = match call.result {
            Some(Ok(reply)) => (reply.usage, reply.cost_msats),
            Some(Err(error)) => (error.usage(), error.cost_msats().filter(|cost| *cost > 0)),
            None => return,
        };
        self.add_count("gen_ai.usage.input_tokens", usage.prompt_tokens);
        self.add_count("gen_ai.usage.output_tokens", usage.completion_tokens);
        let cached_tokens = usage.cached_prompt_tokens;
        self.add_count("gen_ai.usage.cache_read.input_tokens", cached_tokens);
        self.add_count("dsrs.cost_msats", cost_msats);
        let Some(reply) = call.reply() else { return };
        if !reply.model.is_empty() {
            self.add("gen_ai.response.model", reply.model.clone());
        }
        let finish_reason = finish_reason(&reply.stop_reason).to_owned();
        let reasons = vec![StringValue::from(finish_reason.clone())];
        self.add(
            "gen_ai.response.finish_reasons",
            Value::Array(Array::String(reasons)),
        );
        if texts {
            let parts = json!([{"type": "text", "content": reply.text}]);
            let message =
                json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}]);
            self.add("gen_ai.output.messages", message.to_string());
        }
    }
}

fn finish_reason(reason: &StopReason) -> &str {
    match reason {
        StopReason::End => "stop",
        StopReason::Length => "length",
        StopReason::Refusal(_) => "refusal",
        StopReason::Filtered => "content_filter",
        StopReason::Other(reason) => reason,
        _ => "other",
    }
}
