//! A judged run of the command line: spans of the calls of its model.

use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use serde_json::{Value, json};

use crate::receiver::{Receiver, Reply};

const ROWS: &str = r#"{"id": "a", "gold": {}, "pred": {"response": "Thank you!"}}
{"id": "b", "gold": {}, "pred": {"response": "Go away!"}}
{"id": "c", "gold": {}, "pred": {"response": "Go away!"}}
"#;

/// A model that finds texts with "Thank" polite. Returns its address and the number of its calls.
async fn model() -> (String, Arc<Mutex<u32>>) {
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    let chat = async move |body: Bytes| {
        *counted.lock().unwrap() += 1;
        let is_polite = String::from_utf8_lossy(&body).contains("Thank you");
        let answer = json!({"reasoning": "because", "polite": is_polite}).to_string();
        axum::Json(json!({
            "model": "gpt-6-luna-2026-09-22",
            "choices": [{"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42},
        }))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/chat/completions", post(chat));
    tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    (url, calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judged_run_has_a_span_for_each_call_and_an_event_for_each_score() {
    let (url, calls) = model().await;
    let receiver = Receiver::start(Reply::Accept);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rows.jsonl"), ROWS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
    let otlp = ["--otlp", &receiver.url, "--lm", "openai:gpt-6-luna", "-q"];
    command
        .args(["score", "rows.jsonl", "-m", "polite"])
        .args(otlp)
        .current_dir(&folder);
    for name in [
        "DSRS_LM",
        "DSRS_PRICES",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(name);
    }
    command
        .env("OPENAI_BASE_URL", &url)
        .env("OPENAI_API_KEY", "0123456789abcdef");
    command
        .env("NO_PROXY", "127.0.0.1")
        .env("DSRS_STORE", folder.path().join("store"));
    let ran = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");

    let labels = ["a", "b", "c"].map(|row| {
        let record = receiver.of_row(row).remove("polite").unwrap();
        record.attributes["gen_ai.evaluation.score.label"].clone()
    });
    assert_eq!(labels, ["pass", "fail", "fail"]);
    let spans = receiver.spans();
    // The probe, and one call for each text: two rows are the same request.
    assert_eq!((spans.len(), *calls.lock().unwrap()), (3, 3), "{spans:?}");
    let port = url
        .split([':', '/'])
        .nth(4)
        .unwrap()
        .parse::<i64>()
        .unwrap();
    for span in &spans {
        assert_eq!(span.name, "chat gpt-6-luna");
        let found = [
            "gen_ai.provider.name",
            "gen_ai.response.model",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "server.address",
            "server.port",
        ];
        let found: Vec<Value> = found.map(|name| span.attributes[name].clone()).into();
        let expected = json!(["openai", "gpt-6-luna-2026-09-22", 40, 2, "127.0.0.1", port]);
        assert_eq!(json!(found), expected);
        assert!(span.attributes["dsrs.cost_msats"].as_i64().unwrap() > 0);
        assert!(!format!("{span:?}").contains("Thank"), "texts are not sent");
    }
    let purposes = |purpose: &str| {
        spans
            .iter()
            .filter(|it| it.attributes["dsrs.purpose"] == purpose)
            .count()
    };
    assert_eq!(
        (purposes("probe"), purposes("judge polite version 1")),
        (1, 2)
    );
}
