//! The spans of calls of models.

use std::time::Duration;

use dsrs_metrics::lm::{
    LanguageModel, Ledger, LmError, LmErrorKind, LmReply, LmRequest, Metered, Sampling, ScriptedLm,
    StopReason, Usage,
};
use dsrs_metrics::runs::otel::OtelEvents;
use serde_json::json;

use crate::receiver::{Receiver, Reply, Span};

fn request() -> LmRequest {
    let sampling = Sampling {
        temperature: Some(0.0),
        max_tokens: Some(512),
        seed: Some(7),
        ..Sampling::default()
    };
    let request = LmRequest::new("judge polite version 2").system("You grade answers.");
    request
        .user("Is `Go away!` polite?")
        .with_sampling(sampling)
}

/// The spans of one call of a model.
async fn spans(lm: ScriptedLm, texts: bool, limit: Option<Duration>) -> Vec<Span> {
    let receiver = Receiver::start(Reply::Accept);
    let events = OtelEvents::builder()
        .endpoint(&receiver.url)
        .texts(texts)
        .build()
        .unwrap();
    let ledger = Ledger::new();
    events.observe_calls(&ledger);
    let lm = Metered::new(lm.named("gemini:flash"), ledger);
    let limit = limit.unwrap_or(Duration::from_secs(60));
    let _ = tokio::time::timeout(limit, lm.complete(&request())).await;
    let delivery = events.finish();
    assert!(delivery.is_complete(), "{delivery}");
    receiver.spans()
}

fn reply() -> LmReply {
    let usage = Usage {
        cached_prompt_tokens: Some(16),
        ..Usage::new(40, 2)
    };
    let reply = LmReply::new("{\"polite\": false}")
        .with_usage(usage)
        .with_model("flash-002");
    reply
        .with_cost_msats(42)
        .with_stop_reason(StopReason::Length)
}

#[tokio::test]
async fn a_call_is_a_span_with_model_tokens_and_cost() {
    let lm = ScriptedLm::new()
        .otherwise(reply())
        .latency(Duration::from_millis(20));
    let spans = spans(lm, false, None).await;
    let [span] = &*spans else { panic!("{spans:?}") };
    assert_eq!(
        (&*span.name, span.kind, &span.status),
        ("chat flash", 3, &(0, String::new()))
    );
    assert_eq!((span.trace_id.len(), &*span.parent), (32, ""));
    assert!(span.nanoseconds >= 20_000_000, "{span:?}");
    let expected = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "flash",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 512,
        "gen_ai.request.seed": 7,
        "gen_ai.response.model": "flash-002",
        "gen_ai.response.finish_reasons": ["length"],
        "gen_ai.usage.input_tokens": 40,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 16,
        "dsrs.cost_msats": 42,
        "dsrs.purpose": "judge polite version 2",
    });
    assert_eq!(json!(span.attributes), expected);
}

#[tokio::test]
async fn prompts_and_replies_are_sent_only_if_asked() {
    let spans = spans(ScriptedLm::new().otherwise(reply()), true, None).await;
    let text = |name: &str| {
        let text = spans[0].attributes[name].as_str().unwrap();
        serde_json::from_str::<serde_json::Value>(text).unwrap()
    };
    let system = json!([{"type": "text", "content": "You grade answers."}]);
    assert_eq!(text("gen_ai.system_instructions"), system);
    let user = json!([{"type": "text", "content": "Is `Go away!` polite?"}]);
    assert_eq!(
        text("gen_ai.input.messages"),
        json!([{"role": "user", "parts": user}])
    );
    let parts = json!([{"type": "text", "content": "{\"polite\": false}"}]);
    let message = json!([{"role": "assistant", "parts": parts, "finish_reason": "length"}]);
    assert_eq!(text("gen_ai.output.messages"), message);
}

#[tokio::test]
async fn a_call_that_fails_has_the_kind_of_its_error() {
    let lost = || {
        let kind = LmErrorKind::Disconnected("secret".to_owned());
        LmError::new("gemini:flash", kind)
    };
    let spans_of = async |texts| {
        spans(ScriptedLm::new().otherwise(lost()), texts, None)
            .await
            .remove(0)
    };
    let span = spans_of(false).await;
    assert_eq!(span.attributes["error.type"], "disconnected");
    assert_eq!(
        span.status,
        (2, "disconnected".to_owned()),
        "the message is a text"
    );
    assert!(spans_of(true).await.status.1.contains("secret"));
}

#[tokio::test]
async fn a_call_that_is_cancelled_has_a_span() {
    let slow = ScriptedLm::new()
        .otherwise("yes")
        .latency(Duration::from_secs(60));
    let spans = spans(slow, true, Some(Duration::from_millis(20))).await;
    assert_eq!(
        (spans.len(), &spans[0].attributes["error.type"]),
        (1, &json!("cancelled"))
    );
    assert_eq!(spans[0].status, (2, "cancelled".to_owned()));
}

#[tokio::test]
async fn no_call_is_no_span() {
    let refused = LmErrorKind::BudgetExceeded {
        needed_msats: 9,
        remaining_msats: 0,
        budget_msats: 5,
    };
    assert_eq!(
        spans(
            ScriptedLm::new().otherwise(LmError::new("gemini:flash", refused)),
            false,
            None
        )
        .await,
        []
    );
}
