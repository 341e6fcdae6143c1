//! The `LM` of dspy-rs as a language model of judges.

use std::sync::Arc;

use dspy_rs::{Evaluator, LM};
use dsrs_metrics::contract::Settings;
use dsrs_metrics::judge::Models;
use dsrs_metrics::judge::shipped::SemanticF1;
use dsrs_metrics::lm::{
    LanguageModel, LmErrorKind, LmRequest, ReplySchema, Sampling, StopReason, Usage,
};
use dsrs_metrics_dspy_rs::{DspyLm, WithMetric};
use serde_json::json;

use crate::example::program;
use crate::example::server::{Reply, Server};
use crate::optimizers::CONFIGURED;
use crate::programs::{Echo, row};

/// Starts a server with one reply, and returns it with its model.
async fn served(reply: Reply) -> (Server, DspyLm) {
    let server = Server::start(move |_, _| reply.clone()).await.unwrap();
    let lm = LM::builder()
        .base_url(server.url())
        .model("local".to_owned())
        .max_tokens(64);
    let lm = lm.build().await.unwrap();
    (server, DspyLm::new(lm))
}

fn error(code: &str) -> Reply {
    Err((
        429,
        json!({ "error": { "message": "line one\n\u{1b}[31mtwo", "code": code, "type": "tokens" } }),
    ))
}

#[tokio::test]
async fn a_judge_runs_on_the_configured_model() {
    let _guard = CONFIGURED.lock().await;
    let reply = json!({ "reasoning": "half", "recall": 0.5, "precision": 1.0 }).to_string();
    let (server, _) = served(Ok(reply)).await;
    program::configure(&server).await.unwrap();
    let judge = SemanticF1::default().with_lm(DspyLm::configured().unwrap());
    let module = Echo.with_metric(judge).map("pred.response=answer").unwrap();
    let rows = vec![row([
        ("question", "Paris".into()),
        ("response", "Paris, on the Seine".into()),
    ])];
    assert_eq!(module.evaluate(rows).await, 2.0 / 3.0);
    module.report().check().unwrap();
    let report = module.report();
    assert_eq!(
        report.to_string(),
        "semantic_f1: 0.6667 (mean of 1/1 calls, 0 failed)"
    );

    let received = server.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].0["temperature"], 0.0);
    assert_eq!(received[0].0["model"], "local");
    assert!(
        received[0]
            .system()
            .contains("It must match this JSON schema:\n{")
    );
    assert!(received[0].prompt().contains("Paris, on the Seine"));
}

#[tokio::test]
async fn a_judge_that_scores_offline_is_named_in_the_headline() {
    let judge = SemanticF1::builder().offline().build();
    let module = Echo.with_metric(judge).map("pred.response=answer").unwrap();
    let rows = vec![row([
        ("question", "Paris".into()),
        ("response", "Paris".into()),
    ])];
    assert_eq!(module.evaluate(rows).await, 1.0);
    assert_eq!(
        module.report().to_string(),
        "semantic_f1: 1.0000 (mean of 1/1 calls, 0 failed; judge: offline-lexical)"
    );
}

#[tokio::test]
async fn a_judge_without_a_model_is_a_failure_of_the_row() {
    let module = Echo
        .with_metric(SemanticF1::default())
        .map("pred.response=answer")
        .unwrap();
    let rows = vec![row([
        ("question", "Paris".into()),
        ("response", "Paris".into()),
    ])];
    let unconfigured = Settings::new().with(Models::default());
    assert_eq!(unconfigured.scope(module.evaluate(rows)).await, 0.0);
    let error = module.report().check().unwrap_err().to_string();
    assert!(
        error.contains("metric `semantic_f1`: no language model is configured; "),
        "{error}"
    );
}

#[tokio::test]
async fn a_judge_whose_model_fails_is_a_failure_of_the_row() {
    let (_server, lm) = served(Err((503, json!({ "error": { "message": "overloaded" } })))).await;
    let module = Echo.with_metric(SemanticF1::default().with_lm(lm));
    let module = module.map("pred.response=answer").unwrap();
    let rows = vec![row([
        ("question", "Paris".into()),
        ("response", "Paris".into()),
    ])];
    assert_eq!(module.evaluate(rows).await, 0.0);
    let report = module.report();
    assert_eq!((report.calls.failed, report.calls.scored), (1, 0));
    let message = &report.failures[0].message;
    assert!(
        message.contains("openai:local: the provider returned an error: overloaded"),
        "{message}"
    );
}

#[tokio::test]
async fn a_request_is_sent_as_a_conversation() {
    let (server, lm) = served(Ok("Paris".to_owned())).await;
    let schema = ReplySchema::new("answer", json!({ "type": "object" }));
    let request = LmRequest::new("test")
        .user("one")
        .assistant("two")
        .system("be brief")
        .user("three");
    let sampling = Sampling {
        temperature: Some(0.5),
        max_tokens: None,
        seed: Some(7),
        top_p: None,
    };
    let reply = lm
        .complete(&request.with_schema(schema).with_sampling(sampling))
        .await
        .unwrap();
    assert_eq!(
        (&*reply.text, reply.usage, &*reply.model),
        ("Paris", Usage::new(20, 5), "")
    );
    assert_eq!(
        (reply.stop_reason, reply.cost_msats),
        (StopReason::End, None)
    );

    let body = &server.received()[0].0;
    let roles: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].clone())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert!(
        server.received()[0]
            .system()
            .ends_with("{\"type\":\"object\"}\n\nbe brief")
    );
    assert_eq!(server.received()[0].prompt(), "three");
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body.get("seed"), None);
}

#[tokio::test]
async fn a_request_without_parameters_uses_those_of_the_lm() {
    let (server, lm) = served(Ok("Paris".to_owned())).await;
    let request = LmRequest::new("test").user("one");
    lm.complete(&request).await.unwrap();
    let body = &server.received()[0].0;
    assert!((body["temperature"].as_f64().unwrap() - 0.7).abs() < 1e-6);
    let sampling = Sampling {
        temperature: Some(0.0),
        seed: Some(3),
        ..Sampling::default()
    };
    let request = request.with_sampling(sampling);
    let effective = lm.effective_request(&request).sampling;
    assert_eq!(
        effective,
        Sampling {
            temperature: Some(0.0),
            max_tokens: Some(64),
            ..Sampling::default()
        }
    );
    assert_eq!(
        (lm.id(), lm.endpoint()),
        ("openai:local", Some(&*server.url()))
    );
    assert_eq!(lm.probe().await.unwrap().unwrap().text, "Paris");
}

#[tokio::test]
async fn errors_of_the_provider_have_their_kind() {
    let request = LmRequest::new("test").user("one");
    let kind = async |code| {
        let (_server, lm) = served(error(code)).await;
        lm.complete(&request).await.unwrap_err().kind().clone()
    };
    let message = "line one [31mtwo".to_owned();
    assert_eq!(
        kind("rate_limit_exceeded").await,
        LmErrorKind::RateLimited {
            retry_after: None,
            message: message.clone()
        }
    );
    assert_eq!(
        kind("insufficient_quota").await,
        LmErrorKind::QuotaExhausted(message.clone())
    );
    assert_eq!(
        kind("model_not_found").await,
        LmErrorKind::ModelNotFound(message.clone())
    );
    assert_eq!(
        kind("context_length_exceeded").await,
        LmErrorKind::ContextLengthExceeded(message.clone())
    );
    let reason = format!("the provider returned an error: {message}");
    assert_eq!(kind("other").await, LmErrorKind::Other(reason));

    let long = json!({ "error": { "message": "x".repeat(10_000) } });
    let (_server, lm) = served(Err((500, long))).await;
    assert!(lm.complete(&request).await.unwrap_err().to_string().len() < 400);
    let (_server, lm) = served(Err((200, json!({ "choices": 1 })))).await;
    let error = lm.complete(&request).await.unwrap_err();
    assert!(
        matches!(error.kind(), LmErrorKind::InvalidReply { .. }),
        "{error}"
    );
    assert!(
        !error.is_transient(),
        "the provider may charge the reply, so it is not asked for again"
    );
}

#[tokio::test]
async fn a_server_that_is_gone_is_unreachable() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let lm = LM::builder()
        .base_url(url.clone())
        .model("m".to_owned())
        .build()
        .await
        .unwrap();
    let error = DspyLm::new(Arc::new(lm))
        .complete(&LmRequest::new("test").user("one"))
        .await;
    let error = error.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("openai:m: cannot connect to {url} (")),
        "{error}"
    );
    assert_eq!((error.is_transient(), error.cost_msats()), (true, Some(0)));
}

#[tokio::test]
async fn requests_that_an_lm_cannot_send_are_errors() {
    let (server, lm) = served(Ok("Paris".to_owned())).await;
    let sampling = Sampling {
        top_p: Some(0.9),
        ..Sampling::default()
    };
    let error = lm
        .complete(&LmRequest::new("test").user("one").with_sampling(sampling))
        .await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "openai:local: `top_p` not supported; leave it unset for this model; provider message: \
         an LM of dspy-rs has no such parameter"
    );
    for request in [LmRequest::new("test"), LmRequest::new("test").system("one")] {
        let error = lm.complete(&request).await.unwrap_err().to_string();
        assert_eq!(
            error,
            "openai:local: expected a message of the user, found system messages only"
        );
    }
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn the_name_of_a_model_has_its_provider() {
    let lm = LM::builder()
        .model("anthropic:claude".to_owned())
        .api_key("none".to_owned());
    assert_eq!(
        DspyLm::new(lm.build().await.unwrap()).id(),
        "anthropic:claude"
    );
    let lm = LM::builder()
        .model("model-a".to_owned())
        .api_key("none".to_owned());
    assert_eq!(
        DspyLm::new(lm.build().await.unwrap()).id(),
        "openai:model-a"
    );
}
