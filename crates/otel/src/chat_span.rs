//! The `chat {model}` span for a language model call, and the `embeddings {model}` span for an embedding model call.
//!
//! The spans' attributes follow the semantic conventions for generative AI (`docs/gen-ai/gen-ai-spans.md` in
//! `open-telemetry/semantic-conventions-genai`), with our own attributes under `dsrs.`. A span is the child of whatever
//! span is current when the model is called. If there is none, the span forms its own trace: a single trace with all
//! calls in a run would exceed what backends accept.

use std::time::SystemTime;

use dsrs_metrics_lm::{LmRequest, Message, ObservedCall, PROBE_PURPOSE, Role, StopReason};
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::SdkTracer;
use reqwest::Url;
use serde_json::json;

use crate::evaluation_event::variant;

/// The providers whose names differ from those in the conventions, each with its name there.
const PROVIDERS: [(&str, &str); 5] = [
    ("gemini", "gcp.gemini"),
    ("kimi", "moonshot_ai"),
    ("mistral", "mistral_ai"),
    ("moonshot", "moonshot_ai"),
    ("xai", "x_ai"),
];

/// The purpose of an embedding model call.
const EMBEDDINGS: &str = "embeddings";

/// Returns `false` if no call was made, because the reply came from the store or the budget didn't cover the call.
pub(crate) fn is_made(call: &ObservedCall<'_>) -> bool {
    let is_refused = matches!(call.result, Some(Err(error)) if error.budget_msats().is_some());
    !is_refused && !call.reply().is_some_and(|reply| reply.cached)
}

/// Emits the span for a call that just ended.
pub(crate) fn emit(call: &ObservedCall<'_>, texts: bool, tracer: &SdkTracer) {
    let end_time = SystemTime::now();
    let error = match call.result {
        Some(Ok(_)) => None,
        Some(Err(error)) => Some((variant(error.kind()), Some(error.to_string()))),
        None => Some(("cancelled".to_owned(), None)),
    };
    let operation = match call.request {
        Some(request) if request.purpose == EMBEDDINGS => EMBEDDINGS,
        _ => "chat",
    };
    let (provider, model) = call.model.split_once(':').unwrap_or(("", call.model));
    let theirs = PROVIDERS.iter().find(|(ours, _)| *ours == provider);
    let provider = theirs.map_or(provider, |(_, theirs)| theirs);
    let url = call.endpoint.and_then(|url| Url::parse(url).ok());
    let host = url.as_ref().and_then(Url::host_str).map(str::to_owned);
    let port = url.as_ref().and_then(Url::port_or_known_default);
    let purpose = call.request.map_or(PROBE_PURPOSE, |it| &it.purpose);
    let mut attributes = Attributes::default();
    attributes.add("gen_ai.operation.name", Some(operation));
    attributes.add("gen_ai.provider.name", Some(provider.to_owned()));
    attributes.add("gen_ai.request.model", Some(model.to_owned()));
    attributes.add(
        "server.port",
        port.filter(|_| host.is_some()).map(i64::from),
    );
    attributes.add("server.address", host);
    attributes.add("dsrs.purpose", Some(purpose.to_owned()));
    if let Some(request) = call.request {
        attributes.add_request(request, texts);
    }
    attributes.add_result(call, texts);
    let name = error.as_ref().map(|(name, _)| name.clone());
    attributes.add("error.type", name);
    let mut span = tracer
        .span_builder(format!("{operation} {model}"))
        .with_kind(SpanKind::Client)
        .with_start_time(end_time.checked_sub(call.duration).unwrap_or(end_time))
        .with_attributes(attributes.0)
        .start(tracer);
    if let Some((name, message)) = error {
        // A message can quote the row.
        span.set_status(Status::error(message.filter(|_| texts).unwrap_or(name)));
    }
    span.end_with_timestamp(end_time);
}

#[derive(Default)]
struct Attributes(Vec<KeyValue>);

impl Attributes {
    fn add(&mut self, name: &'static str, value: Option<impl Into<Value>>) {
        self.0.extend(value.map(|value| KeyValue::new(name, value)));
    }

    fn add_count(&mut self, name: &'static str, count: Option<u64>) {
        let count = count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        self.add(name, count);
    }

    fn add_request(&mut self, request: &LmRequest, texts: bool) {
        let sampling = &request.sampling;
        let max_tokens = sampling.max_tokens.map(i64::from);
        self.add("gen_ai.request.temperature", sampling.temperature);
        self.add("gen_ai.request.top_p", sampling.top_p);
        self.add("gen_ai.request.max_tokens", max_tokens);
        self.add_count("gen_ai.request.seed", sampling.seed);
        let output = request.schema.as_ref().map(|_| "json");
        self.add("gen_ai.output.type", output);
        if texts {
            let part = |it: &Message| json!({"type": "text", "content": &*it.content});
            let is_system = |it: &&Message| it.role == Role::System;
            let (system, chat): (Vec<_>, Vec<_>) = request.messages.iter().partition(is_system);
            let system: Vec<_> = system.into_iter().map(part).collect();
            let message = |it: &Message| json!({"role": it.role, "parts": [part(it)]});
            let chat: Vec<_> = chat.into_iter().map(message).collect();
            let system = (!system.is_empty()).then(|| json!(system).to_string());
            self.add("gen_ai.system_instructions", system);
            self.add("gen_ai.input.messages", Some(json!(chat).to_string()));
        }
    }

    fn add_result(&mut self, call: &ObservedCall<'_>, texts: bool) {
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
        let model = Some(&reply.model).filter(|model| !model.is_empty());
        self.add("gen_ai.response.model", model.cloned());
        let finish_reason = match &reply.stop_reason {
            StopReason::End => "stop",
            StopReason::Length => "length",
            StopReason::Refusal(_) => "refusal",
            StopReason::Filtered => "content_filter",
            StopReason::Other(reason) => reason,
            _ => "other",
        };
        let reasons = vec![StringValue::from(finish_reason.to_owned())];
        let reasons = Value::Array(Array::String(reasons));
        self.add("gen_ai.response.finish_reasons", Some(reasons));
        if texts {
            let parts = json!([{"type": "text", "content": reply.text}]);
            let message =
                json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}]);
            self.add("gen_ai.output.messages", Some(message.to_string()));
        }
    }
}
