//! Log probabilities in the formats of OpenAI and Gemini, and models without them.

use dsrs_metrics::Evaluate;
use dsrs_metrics::lm::{LanguageModel, LmErrorKind, LmReply, LmRequest, Logprobs, TokenLogprobs};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use crate::server::{Answer, Received, Server, chat};
use crate::{ask, plain};

/// Grade the text.
#[judge(score = grade, scoring(by = logprobs), reasoning = false)]
struct Graded {
    #[input(pred)]
    text: String,
    #[output(range = 0..=9)]
    grade: u8,
}

fn request() -> LmRequest {
    ask("Grade.").with_logprobs(Logprobs::of("grade"))
}

/// A token in OpenAI's format.
fn token(text: &str, logprob: f64, top: &[(&str, f64)]) -> Value {
    let one = |text: &str, logprob: f64| json!({ "token": text, "bytes": text.as_bytes(), "logprob": logprob });
    let mut token = one(text, logprob);
    token["top_logprobs"] = top
        .iter()
        .map(|(text, logprob)| one(text, *logprob))
        .collect();
    token
}

/// The reply of a server in OpenAI's format: each grade has the probability 0.5.
fn graded(received: &Received) -> Answer {
    let is_probe = received.prompt().contains("{\"ok\": true}");
    let name = if is_probe { "ok" } else { "grade" };
    let value = if is_probe { "true" } else { "7" };
    let half = 0.5_f64.ln();
    let mut body = chat(&format!("{{\"{name}\":{value}}}"), "stop");
    if received.body["logprobs"] == true {
        body["choices"][0]["logprobs"]["content"] = json!([
            token("{\"", 0.0, &[]),
            token(&format!("{name}\":"), 0.0, &[]),
            token(value, half, &[(value, half), ("8", half)]),
            token("}", 0.0, &[]),
        ]);
    }
    Answer::json(200, &body)
}

#[tokio::test]
async fn openai_returns_the_tokens_from_the_field_on() {
    let server = Server::start(|_| {
        let text = "{\"why\":\"\u{20ac}\",\"grade\":7}";
        let mut body = chat(text, "stop");
        let mut parts = token("\\xe2", -0.5, &[("x", -1.0)]);
        parts["bytes"] = json!([0xe2, 0x82]);
        let mut end = token("\\xac", -0.25, &[]);
        end["bytes"] = json!([0xac]);
        let mut plain = token("}", -0.125, &[]);
        plain["bytes"] = Value::Null;
        body["choices"][0]["logprobs"]["content"] = json!([
            token("{\"why\":\"", 0.0, &[]),
            parts,
            end,
            token("\",\"grade\"", 0.0, &[]),
            token(":", 0.0, &[]),
            token("7", -0.5, &[("7", -0.5), ("8", -1.5)]),
            plain,
        ]);
        Answer::json(200, &body)
    })
    .await;
    let lm = plain("openai:model-a", &server.url("/v1")).build().unwrap();
    let reply = lm.complete(&request()).await.unwrap();
    let expected = [
        TokenLogprobs::new("\",\"grade\"", 0.0, []),
        TokenLogprobs::new(":", 0.0, []),
        TokenLogprobs::new("7", -0.5, [("7", -0.5), ("8", -1.5)]),
        TokenLogprobs::new("}", -0.125, []),
    ];
    assert_eq!(reply.logprobs, expected);
    // The bytes of one character are one token.
    let whole = ask("Grade.").with_logprobs(Logprobs::of("why"));
    let reply = lm.complete(&whole).await.unwrap();
    assert_eq!(reply.logprobs[1], TokenLogprobs::new("\u{20ac}", -0.75, []));
    let body = &server.received()[0].body;
    assert_eq!(
        (&body["logprobs"], &body["top_logprobs"]),
        (&json!(true), &json!(20))
    );
    assert!(
        lm.complete(&ask("Grade."))
            .await
            .unwrap()
            .logprobs
            .is_empty(),
        "not asked for"
    );
    assert_eq!(server.received()[2].body.get("logprobs"), None);
}

#[tokio::test]
async fn some_providers_return_fewer_alternatives() {
    let server = Server::start(|_| Answer::chat("{}")).await;
    for (provider, top) in [
        ("xai:grok-4", 8),
        ("fireworks:llama-v4", 5),
        ("deepseek:chat", 20),
    ] {
        let lm = plain(provider, &server.url("/v1")).build().unwrap();
        assert!(lm.complete(&request()).await.unwrap().logprobs.is_empty());
        let received = server.received();
        assert_eq!(
            received.last().unwrap().body["top_logprobs"],
            top,
            "{provider}"
        );
    }
}

#[tokio::test]
async fn gemini_returns_chosen_tokens_and_candidates() {
    let server = Server::start(|_| {
        let one = |token: &str, logprob: f64| json!({ "token": token, "tokenId": 1, "logProbability": logprob });
        Answer::json(
            200,
            &json!({
                "candidates": [{
                    "content": { "parts": [{ "text": "{\"grade\":7}" }], "role": "model" },
                    "finishReason": "STOP",
                    "logprobsResult": {
                        "chosenCandidates": [one("{\"grade\":", 0.0), one("7", -0.5), one("}", 0.0)],
                        "topCandidates": [
                            { "candidates": [one("{\"grade\":", 0.0)] },
                            { "candidates": [one("7", -0.5), one("8", -1.5)] },
                        ],
                    },
                }],
            }),
        )
    })
    .await;
    let lm = plain("gemini:gemini-3.8-flash", &server.url("/v1beta"))
        .build()
        .unwrap();
    let reply = lm.complete(&request()).await.unwrap();
    let expected = [
        TokenLogprobs::new("{\"grade\":", 0.0, [("{\"grade\":", 0.0)]),
        TokenLogprobs::new("7", -0.5, [("7", -0.5), ("8", -1.5)]),
        TokenLogprobs::new("}", 0.0, []),
    ];
    assert_eq!(reply.logprobs, expected);
    let config = &server.received()[0].body["generationConfig"];
    assert_eq!(
        (&config["responseLogprobs"], &config["logprobs"]),
        (&json!(true), &json!(20))
    );
}

#[tokio::test]
async fn anthropic_has_no_log_probabilities() {
    let server = Server::start(|_| Answer::chat("{}")).await;
    let lm = plain("anthropic:claude-haiku-5-5", &server.url("/v1"))
        .build()
        .unwrap();
    let error = lm.complete(&request()).await.unwrap_err();
    assert!(
        matches!(error.kind(), LmErrorKind::ParameterUnsupported { parameter, .. } if parameter == "logprobs")
    );
    assert_eq!(server.received().len(), 0);
}

fn evaluate(lm: impl LanguageModel + 'static) -> Evaluate {
    let judge = GradedJudge::default().with_lm(lm);
    let devset = [example! { "text" => "a" }, example! { "text" => "b" }];
    Evaluate::builder()
        .devset(devset)
        .inputs(["text"])
        .metric(judge)
        .build()
        .unwrap()
}

async fn program(inputs: Example) -> Prediction {
    prediction! { "text" => inputs.get("text").cloned().unwrap_or_default() }
}

#[tokio::test]
async fn a_run_asks_for_log_probabilities_before_its_first_row() {
    let server = Server::start(graded).await;
    let lm = plain("openai:model-a", &server.url("/v1")).build().unwrap();
    let result = evaluate(lm).run(program).await.unwrap();
    assert_eq!(result.score, Some(7.5));
    let asked = server
        .received()
        .iter()
        .map(|it| it.body["logprobs"] == true)
        .collect::<Vec<_>>();
    assert_eq!(asked, [false, true, true, true], "two probes and two rows");
}

#[tokio::test]
async fn a_model_without_log_probabilities_is_an_error_before_the_first_row() {
    let instead = "; use a model that returns log probabilities, or write `scoring(by = text)` in `#[judge(..)]`";
    // A server that ignores the parameter, one that rejects it, and a format without it.
    let ignores = Server::start(|_| Answer::chat("{\"ok\":true}")).await;
    let rejects = Server::start(|received| match received.body["logprobs"] == true {
        true => Answer::error(400, "'logprobs' is not supported with this model"),
        false => Answer::chat("{\"ok\":true}"),
    })
    .await;
    let anthropic = Server::start(|_| {
        let content = json!([{ "type": "text", "text": "{\"ok\":true}" }]);
        Answer::json(
            200,
            &json!({ "content": content, "stop_reason": "end_turn" }),
        )
    })
    .await;
    let cases = [
        (
            "openai:model-b",
            &ignores,
            "openai:model-b: the reply has no log probabilities",
        ),
        (
            "openai:o9",
            &rejects,
            "openai:o9: `logprobs` not supported; leave it unset for this model; provider message: 'logprobs' is not supported with this model",
        ),
        (
            "anthropic:claude",
            &anthropic,
            "anthropic:claude: `logprobs` not supported; leave it unset for this model; provider message: the provider's format has no log probabilities",
        ),
    ];
    for (id, server, reason) in cases {
        let lm = plain(id, &server.url("/v1")).build().unwrap();
        let error = evaluate(lm).run(program).await.unwrap_err().to_string();
        assert_eq!(error, format!("metric `graded`: {reason}{instead}"));
        let prompts = server
            .received()
            .iter()
            .filter(|it| it.body.to_string().contains("Grade the"))
            .count();
        assert_eq!(prompts, 0, "no row was judged");
    }
}

#[tokio::test]
async fn stored_replies_have_their_log_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(graded).await;
    let build = || {
        let lm = plain("openai:model-a", &server.url("/v1"));
        lm.store(folder.path()).build().unwrap()
    };
    let mut scores = Vec::new();
    for _ in 0..2 {
        let judge = GradedJudge::default().with_lm(build());
        let pred = prediction! { "text" => "a" };
        scores.push(judge.evaluate(&example! {}, &pred).await.unwrap().value);
    }
    assert_eq!((scores, server.received().len()), (vec![7.5, 7.5], 1));
    // A reply that an earlier version stored has none.
    let stored: LmReply = serde_json::from_value(json!({
        "text": "7", "stop_reason": "end", "usage": {}, "model": "", "cost_msats": 1, "cached": false,
    }))
    .unwrap();
    assert!(stored.logprobs.is_empty());
    assert!(!serde_json::to_string(&stored).unwrap().contains("logprobs"));
}
