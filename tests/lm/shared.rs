//! What models share: rate limits by account, circuits by address.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsrs_metrics::lm::{
    Circuit, CircuitBreaker, CircuitPolicy, LanguageModel, Lm, LmError, LmErrorKind, LmRequest,
    RateLimit, RateLimiter, ScriptedLm,
};
use tokio::time::Instant;

use crate::server::{Answer, Server};
use crate::{ask, plain};

/// Two models with one limiter.
#[tokio::test(start_paused = true)]
async fn two_models_together_never_exceed_the_limit_of_a_minute() {
    for limit in [2, 7, 60] {
        let (limiter, begun) = (
            RateLimiter::new().requests_per_minute(limit),
            Instant::now(),
        );
        let starts: Arc<Mutex<Vec<(f64, &str)>>> = Arc::default();
        let model = |name: &'static str| {
            let starts = Arc::clone(&starts);
            let lm = ScriptedLm::new().otherwise(move |_: &LmRequest| {
                starts
                    .lock()
                    .unwrap()
                    .push((begun.elapsed().as_secs_f64(), name));
                "yes"
            });
            RateLimit::new(lm, limiter.clone())
        };
        let (a, b, request) = (model("a"), model("b"), ask("?"));
        let calls = limit as usize * 2;
        let all = (0..2 * calls).map(|call| if call % 2 == 0 { &a } else { &b }.complete(&request));
        for reply in futures_util::future::join_all(all).await {
            assert_eq!(reply.unwrap().text, "yes");
        }
        let starts = starts.lock().unwrap();
        assert_eq!(starts.len(), 2 * calls);
        let most = starts.iter().map(|(first, _)| {
            starts
                .iter()
                .filter(|(at, _)| (*first..first + 60.0).contains(at))
                .count()
        });
        assert!(most.max() <= Some(limit as usize), "{limit}: {starts:?}");
        // The calls of four minutes; a tenth of the limit may be lost to the initial burst.
        let last = starts.iter().map(|(at, _)| *at).fold(0.0, f64::max);
        assert!((180.0..=270.0).contains(&last), "{limit}: {last}");
        let of_a = starts[..calls]
            .iter()
            .filter(|(_, name)| *name == "a")
            .count();
        assert_eq!(of_a, calls / 2, "in the order of arrival, for both models");
    }
}

/// A model with a limit of 600 requests per minute from the environment variable; 60 of them may be
/// made at once.
fn limited(id: &str, url: &str, key: &str) -> Lm {
    let (url, key) = (url.to_owned(), key.to_owned());
    Lm::builder(id)
        .variables(move |name| match name {
            "OPENAI_BASE_URL" => Some(url.clone()),
            "OPENAI_API_KEY" => Some(key.clone()),
            "DSRS_REQUESTS_PER_MINUTE" => Some("600".to_owned()),
            _ => None,
        })
        .no_store()
        .no_proxy()
        .build()
        .unwrap()
}

/// The time in seconds that 40 calls of each model take: 60 at once, the others at intervals of a
/// tenth of a second.
async fn eighty_calls(a: &Lm, b: &Lm) -> f64 {
    let (request, begun) = (ask("?"), Instant::now());
    let calls = (0..80).map(|call| if call % 2 == 0 { a } else { b }.complete(&request));
    for reply in futures_util::future::join_all(calls).await {
        assert_eq!(reply.unwrap().text, "yes");
    }
    begun.elapsed().as_secs_f64()
}

#[tokio::test]
async fn models_of_one_account_share_its_limit_by_default() {
    let server = Server::without_recording(|_| Answer::chat("yes")).await;
    let url = server.url("/v1");
    let model = |id, key| limited(id, &url, key);
    let one_account = eighty_calls(&model("openai:a", "k1"), &model("openai:b", "k1")).await;
    assert!(one_account > 1.7, "{one_account}");
    let two_accounts = eighty_calls(&model("openai:a", "k2"), &model("openai:b", "k3")).await;
    assert!(two_accounts < 1.7, "{two_accounts}");
}

#[tokio::test(start_paused = true)]
async fn models_with_one_circuit_stop_together() {
    let circuit = Circuit::new(CircuitPolicy::default());
    let disconnected = || {
        let kind = LmErrorKind::Disconnected("reset".to_owned());
        LmError::new("scripted:a", kind)
    };
    let (down, up) = (
        ScriptedLm::new().otherwise(disconnected()),
        ScriptedLm::new().otherwise("yes"),
    );
    let a = CircuitBreaker::with_circuit(&down, circuit.clone());
    let b = CircuitBreaker::with_circuit(&up, circuit);
    for _ in 0..20 {
        a.complete(&ask("?")).await.unwrap_err();
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    let error = b.complete(&ask("?")).await.unwrap_err();
    assert!(
        matches!(error.kind(), LmErrorKind::CircuitOpen { .. }),
        "{error}"
    );
    assert_eq!(error.model(), Some("scripted:lm"));
    assert_eq!(up.calls(), 0);
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(b.complete(&ask("?")).await.unwrap().text, "yes");
    assert_eq!(
        a.complete(&ask("?")).await,
        Err(disconnected()),
        "a reply closes the circuit for both"
    );
}

#[tokio::test]
async fn models_at_one_address_share_the_circuit_and_others_do_not() {
    let (down, up) = (
        Server::without_recording(|_| Answer::error(503, "down")).await,
        Server::without_recording(|_| Answer::chat("yes")).await,
    );
    let policy = CircuitPolicy {
        failure_threshold: 5,
        failing_for: Duration::ZERO,
        open_for: Duration::from_secs(60),
    };
    let model = |id: &str, server: &Server| {
        plain(id, &server.url("/v1"))
            .circuit_breaker(policy.clone())
            .build()
            .unwrap()
    };
    let (a, b) = (model("openai:a", &down), model("openai:b", &down));
    for _ in 0..5 {
        let error = a.complete(&ask("?")).await.unwrap_err();
        assert!(
            matches!(error.kind(), LmErrorKind::Status { status: 503, .. }),
            "{error}"
        );
    }
    let error = b.complete(&ask("?")).await.unwrap_err().to_string();
    assert!(
        error.starts_with("openai:b: circuit breaker open for "),
        "{error}"
    );
    assert!(
        error.ends_with("last failure: openai:a: provider returned status 503: down"),
        "{error}"
    );
    assert_eq!(
        model("openai:b", &up)
            .complete(&ask("?"))
            .await
            .unwrap()
            .text,
        "yes"
    );
}
