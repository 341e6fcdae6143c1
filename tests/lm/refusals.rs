//! What a provider or the surroundings say to the command line: bad input is one line that says what to set, before any row
//! is paid for; variables hold; a key is in nothing that is written.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::json;

use crate::judge_command_line::{MODEL, refused, score, verdict};
use crate::server::{Answer, Asked, Server};

const KEY: &str = "sk-proj-verysecret-0123456789abcdef";

fn is_probe(asked: &Asked) -> bool {
    asked.prompt().contains("{\"ok\": true}")
}

/// The one line, if the provider answers everything so; and that it was asked once, or a second time in JSON mode.
async fn refused_by(status: u16, code: &str, message: &str, said: &str, asked: usize) {
    let body = json!({ "error": { "message": message, "code": code } });
    let server = Server::start(move |_| Answer::json(status, &body)).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", url.as_str())];
    let ran =
        score(3, &["-m", "semantic_f1,polite", "--lm", MODEL, "--no-cache"], &variables).await;
    refused(&ran, said);
    assert!(ran.err.ends_with(&format!(" says: {}\n", message.replace(KEY, "***"))), "{}", ran.err);
    assert_eq!(server.asked().len(), asked, "no row was asked for");
}

#[tokio::test]
async fn what_the_provider_refuses_is_one_line_before_any_row() {
    refused_by(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 32 tokens.",
        "metric `semantic_f1`: openai:gpt-5-mini: the prompt is too long; shorten the row or take a model with a longer context",
        1,
    )
    .await;
    refused_by(
        400,
        "unsupported",
        "response_format is not supported by this model",
        "openai:gpt-5-mini does not take this JSON schema: take another model, or a simpler output",
        2,
    )
    .await;
    refused_by(
        401,
        "invalid_api_key",
        &format!("Incorrect API key provided: {KEY}"),
        "openai:gpt-5-mini does not accept the key (status 401): check OPENAI_API_KEY",
        1,
    )
    .await;
    refused_by(
        429,
        "insufficient_quota",
        "You exceeded your current quota",
        "openai:gpt-5-mini: the account's quota is used up",
        1,
    )
    .await;
}

#[tokio::test]
async fn a_budget_that_covers_no_call_is_said_before_any() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let args = ["-m", "polite", "--lm", MODEL, "--no-cache", "--budget", "20 msat"];
    let ran = score(3, &args, &variables).await;
    refused(&ran, "and 20 of the budget's 20 msat are left");
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn a_row_that_is_too_long_fails_alone_and_says_what_to_do() {
    let server = Server::start(|asked| match asked.body.to_string().contains("answer 1") {
        true => Answer::json(
            400,
            &json!({ "error": { "message": "too many tokens", "code": "context_length_exceeded" } }),
        ),
        false => verdict(asked),
    })
    .await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let ran = score(3, &["-m", "polite", "--lm", MODEL, "--no-cache"], &variables).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("polite  66.67% (2/3, 1 failed counted as 0; "), "{}", ran.out);
    let said = "warning: 1 row failed, the first: rows.jsonl:2: metric `polite`: openai:gpt-5-mini: the prompt is too long; shorten the row";
    assert!(ran.err.contains(said), "{}", ran.err);
    let last = "language models: 4 calls (0 cached, 1 failed), 300 + 30 tokens, 108 msat; of these 1 probe, 36 msat\n";
    assert!(ran.err.ends_with(last), "{}", ran.err);
}

#[tokio::test]
async fn a_model_that_no_metric_asks_is_said_in_one_line() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let fields = ["--map", "gold.answer=gold.response", "--map", "pred.answer=pred.response"];
    let said = "warning: --lm openai:gpt-5-mini: no metric of this run uses this model\n";
    let f1 = [&["-m", "f1", "--lm", MODEL], &fields[..]].concat();
    let ran = score(2, &f1, &variables).await;
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), said));
    let quiet = score(2, &[&f1[..], &["--quiet"]].concat(), &variables).await;
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
    assert_eq!(server.asked().len(), 0);
    // A judge that has models of its own does not ask it either.
    let panel = "polite.models=openai:other";
    let own = ["-m", "polite", "--lm", MODEL, "--param", panel, "--no-cache"];
    let ran = score(2, &own, &variables).await;
    assert!(ran.code == Some(0) && ran.err.starts_with(said), "{}", ran.err);
    let asked = score(
        2,
        &[
            "-m",
            "f1,polite",
            "--lm",
            MODEL,
            "--no-cache",
            fields[0],
            fields[1],
            fields[2],
            fields[3],
        ],
        &variables,
    )
    .await;
    assert!(asked.code == Some(0) && !asked.err.contains("warning"), "{}", asked.err);
}

#[tokio::test]
async fn the_proxy_and_the_organisation_of_the_variables_hold() {
    let proxy = Server::start(verdict).await;
    let url = proxy.url("");
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", "http://provider.invalid/v1"),
        ("OPENAI_ORG_ID", "org-7"),
        ("HTTP_PROXY", url.as_str()),
    ];
    let ran = score(2, &["-m", "polite", "--lm", MODEL, "--no-cache"], &variables).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let asked = proxy.asked();
    assert_eq!(asked.len(), 3);
    for asked in asked {
        assert_eq!(
            (asked.header("host"), asked.header("openai-organization")),
            ("provider.invalid", "org-7")
        );
    }
}

#[tokio::test]
async fn the_models_of_a_panel_share_the_limit_and_the_ledger() {
    let times: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let note = Arc::clone(&times);
    let server = Server::start(move |asked| {
        note.lock().unwrap().push(Instant::now());
        verdict(asked)
    })
    .await;
    let url = server.url("/v1");
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_REQUESTS_PER_MINUTE", "600"),
    ];
    let panel = "polite.models=openai:a,openai:b";
    let ran = score(40, &["-m", "polite", "--param", panel, "--no-cache"], &variables).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.starts_with("language models: 82 calls "), "{}", ran.err);
    assert!(ran.err.ends_with("; of these 2 probes, 0 msat; rows are charged 400 msat, as declared by judges for calls of unknown cost\n"), "{}", ran.err);
    // 60 at once, the others a tenth of a second apart; a limiter each would let all through.
    let times = times.lock().unwrap();
    let took = times.iter().max().unwrap().duration_since(*times.iter().min().unwrap());
    assert_eq!(times.len(), 82);
    assert!(took.as_secs_f64() > 1.8, "{took:?}");
}

#[tokio::test]
async fn a_key_that_the_provider_repeats_is_in_nothing_that_is_written() {
    let server = Server::start(|asked| match is_probe(asked) {
        true => verdict(asked),
        false if asked.body.to_string().contains("answer 0") => verdict(asked),
        false => Answer::error(401, &format!("Incorrect API key provided: {KEY}")),
    })
    .await;
    let (url, cache) = (server.url("/v1"), tempfile::tempdir().unwrap());
    let variables = [
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_CACHE", cache.path().to_str().unwrap()),
    ];
    let ran = score(3, &["-m", "polite", "--lm", MODEL, "--json"], &variables).await;
    assert_eq!(ran.lines.len(), 3, "{}", ran.err);
    let kept = std::fs::read(cache.path().join("replies.redb")).unwrap();
    let written =
        format!("{}{}{:?}{}", ran.out, ran.err, ran.lines, String::from_utf8_lossy(&kept));
    assert!(written.contains("Incorrect API key provided: ***"), "the provider's words are there");
    assert!(
        !written.contains("verysecret") && !written.contains("0123456789abcdef"),
        "{}",
        ran.err
    );
}
