//! Bad input: each is one line that says what to set or to do.

use std::time::Duration;

use dsrs_metrics::lm::{CacheMode, LanguageModel, Lm, LmError, RetryPolicy};
use serde_json::json;

use crate::server::{Answer, Server};
use crate::{ask, plain};

async fn failure(answer: Answer) -> LmError {
    let server = Server::start(move |_| answer.clone()).await;
    let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
    lm.complete(&ask("?")).await.unwrap_err()
}

fn openai(status: u16, code: &str, message: &str) -> Answer {
    Answer::json(status, &json!({ "error": { "message": message, "code": code } }))
}

#[test]
fn no_key_and_unknown_providers_are_found_before_any_call() {
    let build = |id: &str| {
        Lm::builder(id).variables(|_| None).cache_mode(CacheMode::Off).build().unwrap_err()
    };
    let no_key = |id: &str| build(id).to_string();
    assert_eq!(no_key("openai:gpt-5-mini"), "openai:gpt-5-mini needs a key: set OPENAI_API_KEY");
    assert_eq!(no_key("anthropic:c"), "anthropic:c needs a key: set ANTHROPIC_API_KEY");
    assert_eq!(no_key("gemini:g"), "gemini:g needs a key: set GEMINI_API_KEY");
    assert_eq!(no_key("Google:g"), "gemini:g needs a key: set GEMINI_API_KEY");
    for id in ["gpt-5-mini", "openai", "openai:", ":gpt", ""] {
        let said = format!(
            "`{id}` names no model: write provider:model, such as openai:gpt-5-mini; for any OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
        );
        assert_eq!(build(id).to_string(), said);
    }
    let error = build("nobody:gpt").to_string();
    assert!(error.starts_with("`nobody:gpt` names no known provider; write provider:model, where"));
    assert!(error.contains("anthropic, ") && error.contains("ollama, "), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn a_misspelt_provider_is_asked_about() {
    for (id, meant) in [
        ("opnai:gpt-5-mini", "openai:gpt-5-mini"),
        ("Antropic:claude", "anthropic:claude"),
        ("gogle:g", "google:g"),
    ] {
        let error = Lm::builder(id).variables(|_| None).cache_mode(CacheMode::Off).build();
        let said = format!("`{id}` names no known provider; did you mean `{meant}`?");
        assert_eq!(error.unwrap_err().to_string(), said);
    }
}

#[test]
fn addresses_and_proxies_that_are_none_are_refused() {
    let build = |url: &str| plain("openai:m", url).build().unwrap_err().to_string();
    assert_eq!(
        build("ftp://example.org"),
        "the base URL is `ftp://example.org/`: it should begin with http:// or https://"
    );
    assert_eq!(
        build("example.org/v1"),
        "the base URL is `example.org/v1`: it should be an address such as https://example.org/v1"
    );
    let error = build("example.org/v1?key=secret#secret");
    assert!(error.starts_with("the base URL is `example.org/v1`:"), "{error}");
    let error = plain("openai:m", "http://127.0.0.1:9").proxy("http://u:secret@").build();
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("the proxy is") && !error.contains("secret"), "{error}");
}

#[tokio::test]
async fn an_unreachable_host_is_named_by_the_probe_at_once() {
    // Nobody listens on a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://user:secret@127.0.0.1:{port}/v1?key=secret");
    let lm = plain("openai:m", &url).retry(RetryPolicy::default()).build().unwrap();
    let begun = std::time::Instant::now();
    let error = lm.probe().await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(5), "the probe does not retry");
    let LmError::Unreachable { address, .. } = &error else { panic!("{error}") };
    assert_eq!(address, &format!("http://127.0.0.1:{port}/v1/"));
    assert!(!error.to_string().contains("secret"), "{error}");
    assert!(error.to_string().contains("check the address"), "{error}");
}

#[tokio::test]
async fn a_probe_finds_a_model_that_does_not_exist_and_a_key_that_does_not_fit() {
    let server = Server::start(|asked| match asked.body["model"].as_str() {
        Some("good") => Answer::chat("{\"ok\":true}"),
        Some("locked") => openai(401, "invalid_api_key", "Incorrect API key provided"),
        _ => openai(404, "model_not_found", "The model `m` does not exist"),
    })
    .await;
    let probe = |model: &str| {
        let lm = plain(&format!("openai:{model}"), &server.url("/v1")).build().unwrap();
        async move { lm.probe().await }
    };
    assert_eq!(probe("good").await.unwrap().unwrap().text, "{\"ok\":true}");
    assert_eq!(
        probe("m").await.unwrap_err().to_string(),
        "openai:m does not exist there: check the model's name; the provider says: The model `m` does not exist"
    );
    assert_eq!(
        probe("locked").await.unwrap_err().to_string(),
        "openai:locked does not accept the key (status 401): check OPENAI_API_KEY; it says: Incorrect API key provided"
    );
}

#[tokio::test]
async fn a_server_that_wants_a_key_where_none_is_set_asks_for_it() {
    let server = Server::start(|_| Answer::error(401, "who are you?")).await;
    let url = server.url("/v1");
    let lm = Lm::builder("openai:m")
        .variables(move |name| (name == "OPENAI_BASE_URL").then(|| url.clone()))
        .no_proxy()
        .cache_mode(CacheMode::Off)
        .build()
        .unwrap();
    assert_eq!(
        lm.probe().await,
        Err(LmError::NoKey { lm: "openai:m".to_owned(), variable: "OPENAI_API_KEY".to_owned() })
    );
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_no_passing_failure() {
    let error = failure(openai(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens.",
    ))
    .await;
    let LmError::ContextTooLong { said, .. } = &error else { panic!("{error}") };
    assert_eq!(said, "This model's maximum context length is 128000 tokens.");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_parameter_that_a_model_does_not_take_is_named() {
    let said = "Unsupported value: 'temperature' does not support 0 with this model.";
    let error = failure(openai(400, "unsupported_value", said)).await;
    assert_eq!(
        error.to_string(),
        format!(
            "openai:m does not take this `temperature`: leave it unset for this model; the provider says: {said}"
        )
    );
}

#[tokio::test]
async fn a_parameter_is_named_in_a_proxys_words_too() {
    let said = "litellm.UnsupportedParamsError: gpt-5-mini doesn't support temperature=0.0.";
    let error = failure(openai(400, "400", said)).await;
    let LmError::ParameterUnsupported { parameter, .. } = &error else { panic!("{error}") };
    assert_eq!(parameter, "temperature");
}

#[tokio::test]
async fn statuses_that_may_pass_are_told_from_those_that_do_not() {
    let transient =
        |status: u16| async move { failure(Answer::error(status, "busy")).await.is_transient() };
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert!(transient(status).await, "{status}");
    }
    for status in [400, 401, 402, 403, 404, 405, 413, 422] {
        assert!(!transient(status).await, "{status}");
    }
    let quota = failure(openai(429, "insufficient_quota", "You exceeded your current quota")).await;
    assert!(matches!(quota, LmError::QuotaExhausted { .. }), "{quota}");
    assert!(!quota.is_transient(), "waiting does not fill an account");
}

#[tokio::test]
async fn retry_after_is_read_in_seconds_in_milliseconds_and_as_a_date() {
    let after = |name: &'static str, value: String| async move {
        let answer = Answer::error(429, "slow down").with_header(name, value);
        failure(answer).await.retry_after()
    };
    assert_eq!(after("retry-after", "7".to_owned()).await, Some(Duration::from_secs(7)));
    assert_eq!(after("retry-after", "1.5".to_owned()).await, Some(Duration::from_millis(1500)));
    assert_eq!(after("retry-after-ms", "250".to_owned()).await, Some(Duration::from_millis(250)));
    assert_eq!(after("retry-after", "soon".to_owned()).await, None);
    let past = "Wed, 21 Oct 2015 07:28:00 GMT".to_owned();
    assert_eq!(after("retry-after", past).await, Some(Duration::ZERO));
    let future = std::time::SystemTime::now() + Duration::from_secs(30);
    let wait = after("retry-after", httpdate::fmt_http_date(future)).await.unwrap();
    assert!((28..=30).contains(&wait.as_secs()), "{wait:?}");
}

#[tokio::test]
async fn trap_14_what_is_no_reply_is_never_a_reply() {
    let html = failure(Answer::html(200, "<html><body>Sign in to WiFi</body></html>")).await;
    let LmError::BadReply { reason, .. } = &html else { panic!("{html}") };
    assert_eq!(reason, "`text/html` instead of JSON: <html><body>Sign in to WiFi</body></html>");
    let half = failure(Answer::chat("{}").truncated()).await;
    assert!(matches!(&half, LmError::BadReply { reason, .. } if reason.starts_with("broken JSON")));
    let other = failure(Answer::json(200, &json!({ "hello": "world" }))).await;
    assert!(matches!(&other, LmError::BadReply { .. }), "{other}");
    let cut = failure(Answer::chat("{}").cut()).await;
    assert!(matches!(&cut, LmError::Disconnected { .. }), "{cut}");
    // A gateway that says 200 and means 503.
    let error = json!({ "error": { "code": 503, "message": "no upstream" } });
    let within = failure(Answer::json(200, &error)).await;
    assert_eq!(within.to_string(), "openai:m answered with status 503: no upstream");
    for error in [html, half, other, cut, within] {
        assert!(error.is_transient(), "{error}");
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
}

#[tokio::test]
async fn a_reply_that_takes_too_long_is_a_timeout() {
    let server = Server::start(|_| Answer::chat("{}").slow(Duration::from_secs(4))).await;
    let lm = plain("openai:m", &server.url("/v1"));
    let lm = lm.timeout(Duration::from_millis(300)).build().unwrap();
    let error = lm.complete(&ask("?")).await.unwrap_err();
    assert_eq!(error.to_string(), "openai:m gave no reply within 0.3 s");
}

#[tokio::test]
async fn long_pages_are_shown_in_one_short_line() {
    let page = format!("<html>\n{}\n</html>", "much text ".repeat(200));
    let error = failure(Answer::html(502, &page)).await.to_string();
    assert_eq!(error.lines().count(), 1);
    assert!(error.chars().count() < 400, "{error}");
}
