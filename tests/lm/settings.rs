//! Environment variables.

use std::error::Error;

use dsrs_metrics::lm::{LanguageModel, Lm, LmBuilder, LmError, LmErrorKind, Prices};

use crate::ask;
use crate::server::{Answer, Server};

fn builder(id: &str, variables: &'static [(&'static str, &'static str)]) -> LmBuilder {
    let find = |name: &str| {
        variables
            .iter()
            .find(|(set, _)| *set == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Lm::builder(id).variables(find).no_store().no_proxy()
}

#[test]
fn each_provider_has_variables_of_its_own() {
    let endpoint = |id: &str, variables| {
        let lm = builder(id, variables).build().unwrap();
        lm.endpoint().map(str::to_owned)
    };
    assert_eq!(endpoint("openai:m", &[("OPENAI_API_KEY", "k")]), None);
    let local = [("OPENAI_BASE_URL", "http://localhost:8000/v1")];
    let local: &'static [_] = Box::leak(Box::new(local));
    assert_eq!(
        endpoint("openai:m", local).as_deref(),
        Some("http://localhost:8000/v1/")
    );
    assert_eq!(endpoint("anthropic:m", &[("ANTHROPIC_API_KEY", "k")]), None);
    let anthropic = &[("ANTHROPIC_BASE_URL", "https://gate.example")];
    assert_eq!(
        endpoint("anthropic:m", anthropic).as_deref(),
        Some("https://gate.example/v1/")
    );
    let gemini = &[
        ("GOOGLE_API_KEY", "k"),
        ("GEMINI_BASE_URL", "https://gate.example"),
    ];
    assert_eq!(
        endpoint("gemini:m", gemini).as_deref(),
        Some("https://gate.example/v1beta/")
    );
    assert_eq!(endpoint("ollama:m", &[]), None);
    let hosts = [
        ("box", "http://box:11434/v1/"),
        ("box:8080", "http://box:8080/v1/"),
        ("https://box.example/v1", "https://box.example/v1/"),
    ];
    for (host, address) in hosts {
        let lm = Lm::builder("ollama:m")
            .variables(move |name| (name == "OLLAMA_HOST").then(|| host.to_owned()))
            .no_store()
            .no_proxy()
            .build()
            .unwrap();
        assert_eq!(lm.endpoint(), Some(address), "{host}");
    }
    assert_eq!(
        endpoint("openrouter:a/b", &[("OPENROUTER_API_KEY", "k")]),
        None
    );
}

#[test]
fn an_empty_key_is_a_missing_key() {
    let error = builder("openai:m", &[("OPENAI_API_KEY", "  ")])
        .build()
        .unwrap_err();
    let variable = "OPENAI_API_KEY".to_owned();
    assert_eq!(
        error,
        LmError::new("openai:m", LmErrorKind::MissingApiKey(variable))
    );
}

#[test]
fn invalid_numbers_are_rejected() {
    let error = |variables| {
        builder("openai:m", variables)
            .build()
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(&[("OPENAI_API_KEY", "k"), ("DSRS_MSATS_PER_USD", "lots")]),
        "invalid DSRS_MSATS_PER_USD `lots`: expected a positive number"
    );
    assert_eq!(
        error(&[("OPENAI_API_KEY", "k"), ("DSRS_MSATS_PER_USD", "inf")]),
        "invalid DSRS_MSATS_PER_USD `inf`: expected a positive number"
    );
    assert_eq!(
        error(&[("OPENAI_API_KEY", "k"), ("DSRS_REQUESTS_PER_MINUTE", "0")]),
        "invalid DSRS_REQUESTS_PER_MINUTE `0`: expected a whole number from 1 to 4294967295"
    );
}

#[tokio::test]
async fn variables_set_limits_and_prices() {
    let server = Server::start(|_| Answer::chat("yes")).await;
    let url = server.url("/v1");
    let lm = Lm::builder("openai:gpt-6-luna")
        .variables(move |name| match name {
            "OPENAI_BASE_URL" => Some(url.clone()),
            "DSRS_REQUESTS_PER_MINUTE" => Some("600".to_owned()),
            "DSRS_MSATS_PER_USD" => Some("2000000".to_owned()),
            _ => None,
        })
        .no_store()
        .no_proxy()
        .build()
        .unwrap();
    let begun = std::time::Instant::now();
    // 60 calls are made at once, the others at intervals of a tenth of a second.
    let request = ask("?");
    let all = (0..65).map(|_| lm.complete(&request));
    for reply in futures_util::future::join_all(all).await {
        // 60 * 0.1 + 40 * 0.01 + 10 * 0.5 = 11.4, at two million msat per dollar, rounded up.
        assert_eq!(reply.unwrap().cost_msats, Some(23));
    }
    assert!(begun.elapsed().as_secs_f64() > 0.5, "{:?}", begun.elapsed());
}

#[test]
fn an_invalid_price_file_is_rejected_with_the_reason() {
    let variables = &[
        ("OPENAI_API_KEY", "k"),
        ("DSRS_PRICES", "/nowhere/prices.json"),
    ];
    let error = builder("openai:m", variables)
        .build()
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("invalid DSRS_PRICES `/nowhere/prices.json`: "),
        "{error}"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("prices.json");
    let load = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Prices::shipped().with_file(&file)
    };
    let error = load(r#"{"openai:m": {"input": -1, "output": 1}}"#)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the price of `openai:m` is negative or not finite; write "),
        "{error}"
    );
    let error = load(r#"{"openai:m": {"inptu": 1, "output": 1}}"#).unwrap_err();
    assert!(
        error.to_string().contains("unknown field `inptu`"),
        "{error}"
    );
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<serde_json::Error>());
    assert_eq!(source.unwrap().line(), 1);
    let error = load(r#"{"gpt-6-luna": {"input": 1, "output": 1}}"#)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("invalid model `gpt-6-luna`: expected provider:model"),
        "{error}"
    );
    let prices = load(r#"{"Google:g": {"input": 7, "output": 1}}"#).unwrap();
    assert_eq!(
        prices.get("gemini:g").unwrap().input,
        7.0,
        "aliases of providers are recognized"
    );
    let prices = load(r#"{"openai:gpt-6-luna": {"input": 9, "output": 1}}"#).unwrap();
    assert_eq!(prices.get("openai:gpt-6-luna").unwrap().input, 9.0);
    assert_eq!(
        prices.get("openai:gpt-6-sol").unwrap().input,
        2.0,
        "the other prices are kept"
    );
}
