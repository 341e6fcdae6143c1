//! Errors: each is one line with the error and its correction.

use std::error::Error;
use std::time::Duration;

use dsrs_metrics::lm::{LanguageModel, Lm, LmError, LmErrorKind, RetryPolicy};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::server::{Answer, Server};
use crate::{ask, plain};

async fn failure(answer: Answer) -> LmError {
    let server = Server::start(move |_| answer.clone()).await;
    let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
    lm.complete(&ask("?")).await.unwrap_err()
}

fn openai(status: u16, code: &str, message: &str) -> Answer {
    Answer::json(
        status,
        &json!({ "error": { "message": message, "code": code } }),
    )
}

#[test]
fn a_missing_key_and_an_unknown_provider_are_reported_before_any_call() {
    let build = |id: &str| {
        Lm::builder(id)
            .variables(|_| None)
            .no_store()
            .build()
            .unwrap_err()
    };
    let no_key = |id: &str| build(id).to_string();
    assert_eq!(
        no_key("openai:gpt-6-luna"),
        "openai:gpt-6-luna: missing API key; set OPENAI_API_KEY"
    );
    assert_eq!(
        no_key("anthropic:c"),
        "anthropic:c: missing API key; set ANTHROPIC_API_KEY"
    );
    assert_eq!(
        no_key("gemini:g"),
        "gemini:g: missing API key; set GEMINI_API_KEY"
    );
    assert_eq!(
        no_key("Google:g"),
        "gemini:g: missing API key; set GEMINI_API_KEY"
    );
    for id in ["gpt-6-luna", "openai", "openai:", ":gpt", ""] {
        let expected = format!(
            "invalid model `{id}`: expected provider:model, such as openai:gpt-6-luna; for any OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
        );
        assert_eq!(build(id).to_string(), expected);
    }
    let error = build("nobody:gpt").to_string();
    assert!(
        error.starts_with("unknown provider in model `nobody:gpt`; "),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn invalid_base_urls_and_proxies_are_rejected() {
    let build = |url: &str| plain("openai:m", url).build().unwrap_err().to_string();
    assert_eq!(
        build("ftp://example.org"),
        "invalid base URL `ftp://example.org/`: expected a URL that starts with http:// or https://"
    );
    assert_eq!(
        build("example.org/v1"),
        "invalid base URL `example.org/v1`: expected a URL such as https://example.org/v1"
    );
    let error = build("example.org/v1?key=secret#secret");
    assert!(
        error.starts_with("invalid base URL `example.org/v1`:"),
        "{error}"
    );
    let error = plain("openai:m", "http://127.0.0.1:9")
        .proxy("http://u:secret@")
        .build();
    let error = error.unwrap_err();
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    let error = error.to_string();
    assert!(
        error.starts_with("invalid proxy `") && !error.contains("secret"),
        "{error}"
    );
    assert!(
        error.contains("expected a URL such as http://host:3128"),
        "{error}"
    );
}

/// The innermost source of an error.
fn root_cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    error.source().map_or(error, root_cause)
}

#[tokio::test]
async fn the_probe_reports_an_unreachable_host_at_once() {
    // No server listens on a port that was just closed.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://user:secret@127.0.0.1:{port}/v1?key=secret");
    let lm = plain("openai:m", &url)
        .retry(RetryPolicy::default())
        .build()
        .unwrap();
    let begun = std::time::Instant::now();
    let error = lm.probe().await.unwrap_err();
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "the probe does not retry"
    );
    let LmErrorKind::Unreachable { address, .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(address, &format!("http://127.0.0.1:{port}/v1/"));
    assert!(!error.to_string().contains("secret"), "{error}");
    assert!(error.to_string().contains("check the address"), "{error}");
    let cause = root_cause(&error).downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(cause.kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn the_probe_reports_an_unknown_model_and_a_rejected_key() {
    let server = Server::start(|received| match received.body["model"].as_str() {
        Some("good") => Answer::chat("{\"ok\":true}"),
        Some("locked") => openai(401, "invalid_api_key", "Incorrect API key provided"),
        _ => openai(404, "model_not_found", "The model `m` does not exist"),
    })
    .await;
    let probe = |model: &str| {
        let lm = plain(&format!("openai:{model}"), &server.url("/v1"))
            .build()
            .unwrap();
        async move { lm.probe().await }
    };
    assert_eq!(probe("good").await.unwrap().unwrap().text, "{\"ok\":true}");
    assert_eq!(
        probe("m").await.unwrap_err().to_string(),
        "openai:m: model not found; check the model's name; provider message: The model `m` does not exist"
    );
    assert_eq!(
        probe("locked").await.unwrap_err().to_string(),
        "openai:locked: API key rejected (status 401); check OPENAI_API_KEY; provider message: Incorrect API key provided"
    );
}

#[tokio::test]
async fn a_rejection_without_a_key_names_the_variable_to_set() {
    let server = Server::start(|_| Answer::error(401, "who are you?")).await;
    let url = server.url("/v1");
    let lm = Lm::builder("openai:m")
        .variables(move |name| (name == "OPENAI_BASE_URL").then(|| url.clone()))
        .no_proxy()
        .no_store()
        .build()
        .unwrap();
    let variable = "OPENAI_API_KEY".to_owned();
    let missing = LmError::new("openai:m", LmErrorKind::MissingApiKey(variable));
    assert_eq!(lm.probe().await, Err(missing));
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_a_permanent_error() {
    let error = failure(openai(
        400,
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens.",
    ))
    .await;
    let LmErrorKind::ContextLengthExceeded(message) = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(
        message,
        "This model's maximum context length is 128000 tokens."
    );
    assert!(!error.is_transient());
}

#[tokio::test]
async fn an_unsupported_parameter_is_named() {
    let message = "Unsupported value: 'temperature' does not support 0 with this model.";
    let error = failure(openai(400, "unsupported_value", message)).await;
    assert_eq!(
        error.to_string(),
        format!(
            "openai:m: `temperature` not supported; leave it unset for this model; provider message: {message}"
        )
    );
}

#[tokio::test]
async fn an_unsupported_parameter_is_recognized_in_the_message_of_a_proxy() {
    let message = "litellm.UnsupportedParamsError: gpt-6-luna doesn't support temperature=0.0.";
    let error = failure(openai(400, "400", message)).await;
    let LmErrorKind::ParameterUnsupported { parameter, .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(parameter, "temperature");
}

#[tokio::test]
async fn transient_statuses_differ_from_permanent_ones() {
    let transient =
        |status: u16| async move { failure(Answer::error(status, "busy")).await.is_transient() };
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert!(transient(status).await, "{status}");
    }
    for status in [400, 401, 402, 403, 404, 405, 413, 422] {
        assert!(!transient(status).await, "{status}");
    }
    let quota = failure(openai(
        429,
        "insufficient_quota",
        "You exceeded your current quota",
    ))
    .await;
    assert!(
        matches!(quota.kind(), LmErrorKind::QuotaExhausted { .. }),
        "{quota}"
    );
    assert!(!quota.is_transient(), "waiting adds no credit");
}

#[tokio::test]
async fn retry_after_is_parsed_in_seconds_in_milliseconds_and_as_a_date() {
    let after = |name: &'static str, value: String| async move {
        let answer = Answer::error(429, "slow down").with_header(name, value);
        failure(answer).await.retry_after()
    };
    assert_eq!(
        after("retry-after", "7".to_owned()).await,
        Some(Duration::from_secs(7))
    );
    assert_eq!(
        after("retry-after", "1.5".to_owned()).await,
        Some(Duration::from_millis(1500))
    );
    assert_eq!(
        after("retry-after-ms", "250".to_owned()).await,
        Some(Duration::from_millis(250))
    );
    assert_eq!(after("retry-after", "soon".to_owned()).await, None);
    // Out of range: the nearest bound. A year is the longest delay.
    let year = Some(Duration::from_secs(365 * 24 * 3600));
    for (value, expected) in [
        ("99999999999999999999", year),
        ("1e9", year),
        ("inf", year),
        ("-1", Some(Duration::ZERO)),
        ("Fri, 01 Jan 2100 00:00:00 GMT", year),
        ("NaN", None),
        ("0x10", None),
    ] {
        assert_eq!(
            after("retry-after", value.to_owned()).await,
            expected,
            "{value}"
        );
    }
    assert_eq!(
        after("retry-after-ms", "-5".to_owned()).await,
        Some(Duration::ZERO)
    );
    let past = "Wed, 21 Oct 2015 07:28:00 GMT".to_owned();
    assert_eq!(after("retry-after", past).await, Some(Duration::ZERO));
    let future = std::time::SystemTime::now() + Duration::from_secs(30);
    let wait = after("retry-after", httpdate::fmt_http_date(future))
        .await
        .unwrap();
    assert!((28..=30).contains(&wait.as_secs()), "{wait:?}");
}

#[tokio::test]
async fn the_delay_that_a_provider_asks_for_is_named() {
    let busy = Answer::error(429, "slow down").with_header("retry-after", "150");
    assert_eq!(
        failure(busy).await.to_string(),
        "openai:m: rate limit exceeded; the provider asked for 150 s; lower the concurrency, or set DSRS_REQUESTS_PER_MINUTE and DSRS_TOKENS_PER_MINUTE; provider message: slow down"
    );
    let down = Answer::error(503, "maintenance").with_header("retry-after", "99999999999999999999");
    assert_eq!(
        failure(down).await.to_string(),
        "openai:m: provider returned status 503; the provider asked for 31536000 s: maintenance"
    );
}

#[tokio::test]
async fn json_is_a_reply_whatever_its_content_type_and_with_a_byte_order_mark() {
    let types = [
        None,
        Some("Application/JSON"),
        Some("text/plain"),
        Some("application/json; charset=utf-8"),
        Some("text/html"),
    ];
    for content_type in types {
        for mark in ["", "\u{feff}"] {
            let answer = Answer::chat("yes")
                .with_content_type(content_type)
                .with_prefix(mark);
            let server = Server::start(move |_| answer.clone()).await;
            let lm = plain("openai:m", &server.url("/v1")).build().unwrap();
            let reply = lm.complete(&ask("?")).await.unwrap();
            assert_eq!(
                (reply.text.as_str(), reply.usage.total()),
                ("yes", 110),
                "{content_type:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_invalid_response_is_never_a_reply() {
    let html = failure(Answer::html(
        200,
        "<html><body>Sign in to WiFi</body></html>",
    ))
    .await;
    let LmErrorKind::InvalidReply(reason) = html.kind() else {
        panic!("{html}")
    };
    assert_eq!(
        reason,
        "expected JSON, found `text/html`: <html><body>Sign in to WiFi</body></html>"
    );
    let half = failure(Answer::chat("{}").truncated()).await;
    let LmErrorKind::TruncatedReply(reason) = half.kind() else {
        panic!("{half}")
    };
    assert!(
        reason.starts_with("invalid JSON (EOF while parsing"),
        "{half}"
    );
    let untyped = failure(Answer::html(200, "no JSON").with_content_type(None)).await;
    let LmErrorKind::InvalidReply(reason) = untyped.kind() else {
        panic!("{untyped}")
    };
    assert_eq!(reason, "expected JSON, found no content type: no JSON");
    let packed = Answer::html(200, "\u{1}").with_header("content-encoding", "compress");
    let packed = failure(packed).await;
    let LmErrorKind::InvalidReply(reason) = packed.kind() else {
        panic!("{packed}")
    };
    assert_eq!(
        reason,
        "expected JSON, found the content encoding `compress`, which was not requested"
    );
    let corrupt = failure(Answer::chat("{}").with_header("content-encoding", "gzip")).await;
    let LmErrorKind::InvalidReply(reason) = corrupt.kind() else {
        panic!("{corrupt}")
    };
    assert!(reason.starts_with("cannot decode it ("), "{corrupt}");
    let other = failure(Answer::json(200, &json!({ "hello": "world" }))).await;
    assert!(
        matches!(other.kind(), LmErrorKind::InvalidReply { .. }),
        "{other}"
    );
    let cut = failure(Answer::chat("{}").interrupted()).await;
    let LmErrorKind::TruncatedReply(reason) = cut.kind() else {
        panic!("{cut}")
    };
    assert!(reason.starts_with("connection lost ("), "{cut}");
    // A gateway that reports an error with status 200.
    let error = json!({ "error": { "code": 503, "message": "no upstream" } });
    let within = failure(Answer::json(200, &error)).await;
    assert_eq!(
        within.to_string(),
        "openai:m: provider returned status 503: no upstream"
    );
    for (error, is_transient) in [
        (html, false),
        (untyped, false),
        (packed, false),
        (corrupt, false),
        (other, false),
        (half, true),
        (cut, true),
        (within, true),
    ] {
        assert_eq!(error.is_transient(), is_transient, "{error}");
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
}

/// A body whose chunks have no valid sizes is not compressed, so the message does not mention compression.
#[tokio::test]
async fn an_invalid_chunk_is_reported_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        assert!(connection.read(&mut request).await.unwrap() > 0);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        connection.write_all(head.as_bytes()).await.unwrap();
        connection.write_all(b"zz\r\n{}").await.unwrap();
        // The connection remains open until the client has reported its error.
        while connection
            .read(&mut request)
            .await
            .is_ok_and(|read| read > 0)
        {}
    });
    let lm = plain("openai:m", &url).build().unwrap();
    let error = lm.complete(&ask("?")).await.unwrap_err();
    let LmErrorKind::InvalidReply(reason) = error.kind() else {
        panic!("{error}")
    };
    assert!(
        reason.starts_with("cannot decode it (") && reason.contains("chunk"),
        "{reason}"
    );
    server.abort();
}

#[tokio::test]
async fn a_slow_reply_is_a_timeout() {
    let server = Server::start(|_| Answer::chat("{}").slow(Duration::from_secs(4))).await;
    let lm = plain("openai:m", &server.url("/v1"));
    let lm = lm.timeout(Duration::from_millis(300)).build().unwrap();
    let error = lm.complete(&ask("?")).await.unwrap_err();
    assert_eq!(error.to_string(), "openai:m: no reply within 0.3 s");
}

#[tokio::test]
async fn a_long_page_is_shown_as_one_short_line() {
    let page = format!("<html>\n{}\n</html>", "much text ".repeat(200));
    let error = failure(Answer::html(502, &page)).await.to_string();
    assert_eq!(error.lines().count(), 1);
    assert!(error.chars().count() < 400, "{error}");
}
