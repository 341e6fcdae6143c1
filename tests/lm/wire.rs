//! Requests and replies in the formats of OpenAI, Anthropic and Gemini.

use dsrs_metrics::lm::{
    LanguageModel, LmError, LmErrorKind, LmRequest, Price, Prices, ReplySchema, Sampling,
    StopReason, Usage,
};
use serde_json::{Value, json};

use crate::server::{Answer, Server, chat};
use crate::{KEY, ask, plain};

fn schema() -> ReplySchema {
    ReplySchema::new(
        "verdict",
        json!({
            "type": "object",
            "properties": { "score": { "type": "number" } },
            "required": ["score"],
            "additionalProperties": false,
        }),
    )
}

fn full_request() -> LmRequest {
    let sampling = Sampling {
        temperature: Some(0.25),
        top_p: Some(0.5),
        max_tokens: Some(77),
        seed: Some(42),
    };
    LmRequest::new("test version 1")
        .system("You grade.")
        .user("Grade this.")
        .assistant("{}")
        .user("That broke the schema.")
        .with_schema(schema())
        .with_sampling(sampling)
}

#[tokio::test]
async fn openai_receives_every_parameter_and_its_reply_is_parsed() {
    let server = Server::start(|_| Answer::chat(r#"{"score":1.0}"#)).await;
    let price = Price {
        input: 0.15,
        output: 0.6,
        cached_input: Some(0.075),
    };
    let lm = plain("openai:model-a", &server.url("/v1"))
        .prices(Prices::empty().with("openai:model-a", price))
        .variables(|name| match name {
            "OPENAI_ORG_ID" => Some("org-1".to_owned()),
            "OPENAI_PROJECT_ID" => Some("proj-1".to_owned()),
            _ => None,
        })
        .build()
        .unwrap();
    assert_eq!(lm.id(), "openai:model-a");
    assert_eq!(lm.endpoint(), Some(server.url("/v1/").as_str()));

    let reply = lm.complete(&full_request()).await.unwrap();
    assert_eq!(reply.text, r#"{"score":1.0}"#);
    assert_eq!(reply.stop_reason, StopReason::End);
    assert_eq!(
        (&*reply.model, reply.fingerprint.as_deref()),
        ("served-model", Some("fp_served"))
    );
    let usage = Usage {
        cached_prompt_tokens: Some(40),
        ..Usage::new(100, 10)
    };
    assert_eq!(reply.usage, usage);
    // 60 * 0.15 + 40 * 0.075 + 10 * 0.6 millionths of a dollar, at a million msat per dollar.
    assert_eq!(reply.cost_msats, Some(18));

    let received = &server.received()[0];
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(received.header("openai-organization"), "org-1");
    assert_eq!(received.header("openai-project"), "proj-1");
    let body = &received.body;
    assert_eq!(body["model"], "model-a");
    assert_eq!(body["temperature"], 0.25);
    assert_eq!(body["top_p"], 0.5);
    assert_eq!(body["max_tokens"], 77);
    assert_eq!(body["seed"], 42);
    let roles: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["role"])
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let format = &body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["name"], "verdict");
    assert_eq!(format["json_schema"]["schema"], schema().schema);
}

#[tokio::test]
async fn seed_and_temperature_are_sent_if_and_only_if_they_are_set() {
    let server = Server::start(|_| Answer::chat("x")).await;
    let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
    let zero = Sampling {
        temperature: Some(0.0),
        seed: Some(7),
        ..Sampling::default()
    };
    lm.complete(&ask("a").with_sampling(zero)).await.unwrap();
    lm.complete(&ask("b")).await.unwrap();
    let received = server.received();
    assert_eq!(
        (&received[0].body["temperature"], &received[0].body["seed"]),
        (&json!(0.0), &json!(7))
    );
    let sent = |name: &str| received[1].body.get(name).is_some();
    assert!(
        !sent("temperature") && !sent("seed"),
        "unset parameters are not sent"
    );
}

#[tokio::test]
async fn a_model_name_with_the_suffix_of_an_effort_is_sent_unchanged() {
    let server = Server::start(|_| Answer::chat("x")).await;
    let lm = plain("openai:judge-high", &server.url("/v1"))
        .build()
        .unwrap();
    lm.complete(&ask("a")).await.unwrap();
    let body = &server.received()[0].body;
    assert_eq!(body["model"], "judge-high");
    assert_eq!(body.get("reasoning_effort"), None);
}

#[tokio::test]
async fn a_server_without_schema_support_gets_json_mode_from_then_on() {
    let server =
        Server::start(
            |received| match received.body["response_format"]["type"].as_str() {
                Some("json_schema") => {
                    Answer::error(400, "response_format json_schema is not supported")
                }
                Some("json_object") => Answer::chat(r#"{"score":0.5}"#),
                _ => Answer::error(500, "no format"),
            },
        )
        .await;
    let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
    for _ in 0..2 {
        let reply = lm.complete(&full_request()).await.unwrap();
        assert_eq!(reply.text, r#"{"score":0.5}"#);
    }
    let received = server.received();
    let formats: Vec<_> = received
        .iter()
        .map(|a| a.body["response_format"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(formats, ["json_schema", "json_object", "json_object"]);
    let first = received[1].body["messages"][0]["content"].as_str().unwrap();
    assert!(first.contains(r#""additionalProperties":false"#), "{first}");
}

#[tokio::test]
async fn a_server_without_json_mode_is_an_error_about_the_schema() {
    let server =
        Server::start(|_| Answer::error(400, "response_format is not supported by this model"))
            .await;
    let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
    let error = lm.complete(&full_request()).await.unwrap_err();
    let message = "response_format is not supported by this model".to_owned();
    assert_eq!(
        error,
        LmError::new("openai:m", LmErrorKind::SchemaUnsupported(message))
    );
}

#[tokio::test]
async fn refusals_truncations_and_filters_are_different_stop_reasons() {
    let body = |text: &str, finish: &str, refusal: Value| {
        let mut body = chat(text, finish);
        body["choices"][0]["message"]["refusal"] = refusal;
        body
    };
    let cases = [
        (
            body("", "stop", json!("I can't.")),
            StopReason::Refusal("I can't.".to_owned()),
        ),
        (body("{\"sco", "length", Value::Null), StopReason::Length),
        (
            body("", "content_filter", Value::Null),
            StopReason::Filtered,
        ),
        (
            body("x", "odd", Value::Null),
            StopReason::Other("odd".to_owned()),
        ),
        (body("x", "stop", Value::Null), StopReason::End),
    ];
    for (body, stop_reason) in cases {
        let server = Server::start(move |_| Answer::json(200, &body)).await;
        let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
        assert_eq!(
            lm.complete(&ask("?")).await.unwrap().stop_reason,
            stop_reason
        );
    }
}

#[tokio::test]
async fn ollama_accepts_schemas_and_needs_no_key() {
    let server = Server::start(|_| Answer::chat("{}")).await;
    let host = server.url("").replace("http://", "");
    let lm = dsrs_metrics::lm::Lm::builder("ollama:llama3.2")
        .variables(move |name| (name == "OLLAMA_HOST").then(|| host.clone()))
        .no_store()
        .no_proxy()
        .build()
        .unwrap();
    let reply = lm.complete(&ask("?").with_schema(schema())).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.cost_msats), ("{}", Some(0)));
    let received = &server.received()[0];
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.body["model"], "llama3.2");
    assert_eq!(received.body["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn calls_use_the_proxy() {
    let proxy = Server::start(|_| Answer::chat("through")).await;
    let lm = plain("openai:m", "http://provider.invalid/v1")
        .proxy(proxy.url(""))
        .build()
        .unwrap();
    assert_eq!(lm.complete(&ask("?")).await.unwrap().text, "through");
    let received = &proxy.received()[0];
    assert_eq!(
        (received.path.as_str(), received.header("host")),
        ("/v1/chat/completions", "provider.invalid")
    );
}

fn claude(text: &str, stop: &str) -> Value {
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5-20260922",
        "content": [{ "type": "text", "text": text }],
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": 60,
            "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 0,
            "output_tokens": 10,
        },
    })
}

#[tokio::test]
async fn anthropic_has_its_native_format() {
    let server = Server::start(|received| match received.prompt() {
        "cut" => Answer::json(200, &claude("{\"sc", "max_tokens")),
        "no" => Answer::json(200, &claude("I won't.", "refusal")),
        "busy" => Answer::json(
            529,
            &json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
        ),
        "long" => Answer::json(
            400,
            &json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long: 300000 tokens > 200000 maximum" } }),
        ),
        "model" => Answer::json(
            404,
            &json!({ "type": "error", "error": { "type": "not_found_error", "message": "model: m" } }),
        ),
        _ => Answer::json(200, &claude("{\"score\":1}", "end_turn")),
    })
    .await;
    // Anthropic's own clients have no `/v1` in the base URL.
    let lm = plain("anthropic:claude-haiku-5-5", &server.url(""))
        .build()
        .unwrap();
    let request = LmRequest::new("t")
        .system("You grade.")
        .user("Grade.")
        .with_schema(schema());
    let reply = lm.complete(&request).await.unwrap();
    assert_eq!(
        (reply.text.as_str(), &reply.stop_reason),
        ("{\"score\":1}", &StopReason::End)
    );
    let reported = (&*reply.model, reply.fingerprint.as_deref());
    assert_eq!(reported, ("claude-haiku-5-5-20260922", None));
    let usage = Usage {
        cached_prompt_tokens: Some(40),
        ..Usage::new(100, 10)
    };
    assert_eq!(reply.usage, usage);
    // 60 * 0.1 + 40 * 0.01 + 10 * 0.5, rounded up.
    assert_eq!(reply.cost_msats, Some(12));

    let received = &server.received()[0];
    assert_eq!(received.path, "/v1/messages");
    assert_eq!(received.header("x-api-key"), KEY);
    assert!(!received.header("anthropic-version").is_empty());
    assert!(
        received.body["max_tokens"].as_u64().unwrap() > 0,
        "it is required there"
    );
    assert!(received.body["system"].to_string().contains("You grade."));
    assert_eq!(
        received.body["output_config"]["format"]["type"],
        "json_schema"
    );

    assert_eq!(
        lm.complete(&ask("cut")).await.unwrap().stop_reason,
        StopReason::Length
    );
    let refusal = StopReason::Refusal("I won't.".to_owned());
    assert_eq!(lm.complete(&ask("no")).await.unwrap().stop_reason, refusal);
    let error = lm.complete(&ask("busy")).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert_eq!(
        error.to_string(),
        "anthropic:claude-haiku-5-5: provider returned status 529: Overloaded"
    );
    let error = lm.complete(&ask("long")).await.unwrap_err();
    assert!(
        matches!(error.kind(), LmErrorKind::ContextLengthExceeded { .. }),
        "{error}"
    );
    let error = lm.complete(&ask("model")).await.unwrap_err();
    assert!(
        matches!(error.kind(), LmErrorKind::ModelNotFound { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn gemini_has_its_native_format() {
    let server = Server::start(|received| {
        if received.body.to_string().contains("forbidden") {
            return Answer::json(
                200,
                &json!({ "promptFeedback": { "blockReason": "SAFETY" } }),
            );
        }
        Answer::json(
            200,
            &json!({
                "candidates": [{
                    "content": { "parts": [{ "text": "{\"score\":1}" }], "role": "model" },
                    "finishReason": "STOP",
                }],
                "usageMetadata": {
                    "promptTokenCount": 100,
                    "candidatesTokenCount": 10,
                    "totalTokenCount": 110,
                },
                "modelVersion": "gemini-3.8-flash",
            }),
        )
    })
    .await;
    let lm = plain("google:gemini-3.8-flash", &server.url("/v1beta"))
        .build()
        .unwrap();
    let reply = lm
        .complete(&ask("Grade.").with_schema(schema()))
        .await
        .unwrap();
    assert_eq!(
        (reply.text.as_str(), &reply.stop_reason),
        ("{\"score\":1}", &StopReason::End)
    );
    assert_eq!(reply.usage, Usage::new(100, 10));
    assert_eq!(
        (&*reply.model, &reply.fingerprint),
        ("gemini-3.8-flash", &None)
    );
    assert_eq!(lm.id(), "gemini:gemini-3.8-flash");
    // 100 * 0.75 + 10 * 3.75, rounded up.
    assert_eq!(reply.cost_msats, Some(113));
    let received = &server.received()[0];
    assert_eq!(
        received.path,
        "/v1beta/models/gemini-3.8-flash:generateContent"
    );
    assert_eq!(received.header("x-goog-api-key"), KEY);
    assert_eq!(
        received.body["generationConfig"]["responseJsonSchema"],
        schema().schema
    );
    assert_eq!(
        lm.complete(&ask("forbidden")).await.unwrap().stop_reason,
        StopReason::Filtered
    );
}

/// The reported model and fingerprint are written to result files and shown in warnings.
#[tokio::test]
async fn a_reported_name_is_limited_and_what_is_not_a_name_is_not_reported() {
    let server = Server::start(|received| {
        let text = received.body["messages"][0]["content"].as_str().unwrap();
        let reported: Value = serde_json::from_str(text).unwrap();
        let mut reply = chat("yes", "stop");
        (reply["model"], reply["system_fingerprint"]) = (reported[0].clone(), reported[1].clone());
        Answer::json(200, &reply)
    })
    .await;
    let lm = plain("openai:model-a", &server.url("/v1")).build().unwrap();
    let reported = async |model: Value, fingerprint: Value| {
        let reply = lm
            .complete(&ask(&json!([model, fingerprint]).to_string()))
            .await
            .unwrap();
        (reply.model, reply.fingerprint)
    };
    let hostile = reported(json!("m\u{1b}[2J\u{202e}"), json!("fp\r\nwarning: forged")).await;
    let escaped = "fp\\r\\nwarning: forged".to_owned();
    assert_eq!(hostile, ("m\\u{1b}[2J\\u{202e}".to_owned(), Some(escaped)));
    let (model, fingerprint) = reported(json!("m".repeat(100_000)), json!("f".repeat(201))).await;
    let lengths = [model.chars().count(), fingerprint.unwrap().chars().count()];
    assert_eq!(lengths, [200, 200]);
    for nothing in [Value::Null, json!(7), json!(["fp"]), json!(" "), json!({})] {
        let none = (String::new(), None);
        assert_eq!(reported(nothing.clone(), nothing).await, none);
    }
    let (model, fingerprint) = reported(json!(format!("m-{KEY}")), json!(KEY)).await;
    assert_eq!((&*model, fingerprint.as_deref()), ("m-***", Some("***")));
}
