//! Errors of providers and settings on the command line: one line with what to set, before any row
//! is paid for; the environment variables apply; no output contains a key.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::json;

use crate::judge_command_line::{MODEL, refused, score, verdict};
use crate::server::{Answer, Received, Server};

const KEY: &str = "sk-proj-verysecret-0123456789abcdef";

fn is_probe(received: &Received) -> bool {
    received.prompt().contains("{\"ok\": true}")
}

/// Checks the line that is printed if the provider returns this error to every request, and the
/// number of requests: one, or two with JSON mode.
async fn fails_with(status: u16, code: &str, message: &str, expected: &str, requests: usize) {
    let body = json!({ "error": { "message": message, "code": code } });
    let server = Server::start(move |_| Answer::json(status, &body)).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", url.as_str())];
    let ran = score(
        3,
        &["-m", "semantic_f1,polite", "--lm", MODEL, "--no-store"],
        &variables,
    )
    .await;
    refused(&ran, expected);
    assert!(
        ran.err.ends_with(&format!(
            "; provider message: {}\n",
            message.replace(KEY, "***")
        )),
        "{}",
        ran.err
    );
    assert_eq!(server.received().len(), requests, "no requests for rows");
}

#[tokio::test]
async fn an_error_of_the_provider_is_one_line_before_any_row() {
    fails_with(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 32 tokens.",
        "metric `semantic_f1`: openai:gpt-6-luna: prompt too long for the context window; shorten the row or use a model with a longer context",
        1,
    )
    .await;
    fails_with(
        400,
        "unsupported",
        "response_format is not supported by this model",
        "openai:gpt-6-luna: JSON schema not supported; use another model or a simpler output",
        2,
    )
    .await;
    fails_with(
        401,
        "invalid_api_key",
        &format!("Incorrect API key provided: {KEY}"),
        "openai:gpt-6-luna: API key rejected (status 401); check OPENAI_API_KEY",
        1,
    )
    .await;
    fails_with(
        429,
        "insufficient_quota",
        "You exceeded your current quota",
        "openai:gpt-6-luna: account quota exhausted; add credit or use another key",
        1,
    )
    .await;
}

#[tokio::test]
async fn a_budget_below_the_cost_of_one_call_is_reported_before_any_call() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let args = [
        "-m",
        "polite",
        "--lm",
        MODEL,
        "--no-store",
        "--budget",
        "20 msat",
    ];
    let ran = score(3, &args, &variables).await;
    refused(&ran, "but only 20 of 20 msat are left; raise the budget");
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn a_row_that_is_too_long_fails_alone_with_an_instruction() {
    let server = Server::start(|received| match received.body.to_string().contains("answer 1") {
        true => Answer::json(
            400,
            &json!({ "error": { "message": "too many tokens", "code": "context_length_exceeded" } }),
        ),
        false => verdict(received),
    })
    .await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let ran = score(
        3,
        &["-m", "polite", "--lm", MODEL, "--no-store"],
        &variables,
    )
    .await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out
            .starts_with("polite  66.67% [20.77, 93.85] (2/3, 1 failed counted as 0; "),
        "{}",
        ran.out
    );
    let expected = "warning: 1 row failed; first error: rows.jsonl:2: metric `polite`: openai:gpt-6-luna: prompt too long for the context window; shorten the row";
    assert!(ran.err.contains(expected), "{}", ran.err);
    let last = "language models: 4 calls (0 cached, 1 failed), 300 prompt + 30 completion tokens, 36 msat; probes: 1, 12 msat\n";
    assert!(ran.err.ends_with(last), "{}", ran.err);
}

#[tokio::test]
async fn a_model_that_no_metric_uses_is_a_warning_of_one_line() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let fields = [
        "--map",
        "gold.answer=gold.response",
        "--map",
        "pred.answer=pred.response",
    ];
    let warning = "warning: --lm: no metric in this run uses it\n";
    let f1 = [&["-m", "f1", "--lm", MODEL], &fields[..]].concat();
    let ran = score(2, &f1, &variables).await;
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), warning));
    let quiet = score(2, &[&f1[..], &["--quiet"]].concat(), &variables).await;
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
    assert_eq!(server.received().len(), 0);
    let used = score(
        2,
        &[
            "-m",
            "f1,polite",
            "--lm",
            MODEL,
            "--no-store",
            fields[0],
            fields[1],
            fields[2],
            fields[3],
        ],
        &variables,
    )
    .await;
    assert!(
        used.code == Some(0) && !used.err.contains("warning"),
        "{}",
        used.err
    );
}

#[tokio::test]
async fn the_variables_of_proxy_and_organization_apply() {
    let proxy = Server::start(verdict).await;
    let url = proxy.url("");
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", "http://provider.invalid/v1"),
        ("OPENAI_ORG_ID", "org-7"),
        ("HTTP_PROXY", url.as_str()),
    ];
    let ran = score(
        2,
        &["-m", "polite", "--lm", MODEL, "--no-store"],
        &variables,
    )
    .await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let all = proxy.received();
    assert_eq!(all.len(), 3);
    for received in all {
        assert_eq!(
            (
                received.header("host"),
                received.header("openai-organization")
            ),
            ("provider.invalid", "org-7")
        );
    }
}

#[tokio::test]
async fn the_models_of_a_panel_share_the_rate_limit_and_the_ledger() {
    let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let recorded = Arc::clone(&times);
    let server = Server::start(move |received| {
        recorded.lock().unwrap().push(Instant::now());
        verdict(received)
    })
    .await;
    let url = server.url("/v1");
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_REQUESTS_PER_MINUTE", "600"),
    ];
    let panel = "polite.models=openai:a,openai:b";
    let ran = score(
        40,
        &["-m", "polite", "--param", panel, "--no-store"],
        &variables,
    )
    .await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.starts_with("language models: 82 calls "),
        "{}",
        ran.err
    );
    assert!(ran.err.ends_with("; probes: 2, 0 msat\n"), "{}", ran.err);
    // 60 calls at once, the others at intervals of a tenth of a second; separate limiters would not
    // delay any call.
    let times = times.lock().unwrap();
    let took = times
        .iter()
        .max()
        .unwrap()
        .duration_since(*times.iter().min().unwrap());
    assert_eq!(times.len(), 82);
    assert!(took.as_secs_f64() > 1.8, "{took:?}");
}

#[tokio::test]
async fn a_key_in_a_provider_message_is_in_no_output() {
    let server = Server::start(|received| match is_probe(received) {
        true => verdict(received),
        false if received.body.to_string().contains("answer 0") => verdict(received),
        false => Answer::error(401, &format!("Incorrect API key provided: {KEY}")),
    })
    .await;
    let (url, store) = (server.url("/v1"), tempfile::tempdir().unwrap());
    let variables = [
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_STORE", store.path().to_str().unwrap()),
    ];
    let ran = score(3, &["-m", "polite", "--lm", MODEL, "--json"], &variables).await;
    assert_eq!(ran.lines.len(), 3, "{}", ran.err);
    let stored = std::fs::read(store.path().join("store.sqlite")).unwrap();
    let written = format!(
        "{}{}{:?}{}",
        ran.out,
        ran.err,
        ran.lines,
        String::from_utf8_lossy(&stored)
    );
    assert!(
        written.contains("Incorrect API key provided: ***"),
        "the provider's message is printed"
    );
    assert!(
        !written.contains("verysecret") && !written.contains("0123456789abcdef"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn a_key_in_a_refusal_or_a_reply_is_in_no_output() {
    let server = Server::start(|received| {
        let mut body = crate::server::chat("", "stop");
        let message = &mut body["choices"][0]["message"];
        if is_probe(received) {
            return verdict(received);
        } else if received.body.to_string().contains("answer 0") {
            message["refusal"] = json!(format!("no, {KEY} is not mine"));
        } else {
            let reasoning = format!("the key is {KEY}");
            message["content"] =
                json!(json!({ "reasoning": reasoning, "polite": true }).to_string());
        }
        Answer::json(200, &body)
    })
    .await;
    let (url, dir) = (server.url("/v1"), tempfile::tempdir().unwrap());
    let store = dir.path().join("store");
    let variables = [
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_STORE", store.to_str().unwrap()),
    ];
    let args = ["-m", "polite", "--lm", MODEL];
    let ran = score(2, &args, &variables).await;
    let lines = format!("{:?}", ran.lines);
    assert!(
        lines.contains("declined to judge: no, *** is not mine"),
        "{lines}"
    );
    assert!(lines.contains("the key is ***"), "{lines}");
    for written in [
        ran.out,
        ran.err,
        lines,
        String::from_utf8_lossy(&std::fs::read(store.join("store.sqlite")).unwrap()).into_owned(),
    ] {
        assert!(!written.contains("verysecret"), "{written}");
    }
}
