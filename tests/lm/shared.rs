//! What models share that go the same way: limits by account, the circuit by address, the ledger by run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsrs_metrics::lm::{
    Breaker, BreakerPolicy, CacheMode, Circuit, LanguageModel, Limited, Limiter, Lm, LmError,
    LmRequest, ScriptedLm,
};
use tokio::time::Instant;

use crate::server::{Answer, Server};
use crate::{ask, plain};

/// Two models behind one limiter, each called as often as they may: when the calls began, in seconds.
#[tokio::test(start_paused = true)]
async fn no_minute_sees_more_requests_of_two_models_together_than_the_limit() {
    for limit in [2, 7, 60] {
        let (limiter, begun) = (Limiter::new().requests_per_minute(limit), Instant::now());
        let starts: Arc<Mutex<Vec<(f64, &str)>>> = Arc::default();
        let model = |name: &'static str| {
            let starts = Arc::clone(&starts);
            let lm = ScriptedLm::new().otherwise(move |_: &LmRequest| {
                starts.lock().unwrap().push((begun.elapsed().as_secs_f64(), name));
                "yes"
            });
            Limited::new(lm, limiter.clone())
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
            starts.iter().filter(|(at, _)| (*first..first + 60.0).contains(at)).count()
        });
        assert!(most.max() <= Some(limit as usize), "{limit}: {starts:?}");
        // Four minutes' worth of calls, of which a tenth may be lost to what may come at once.
        let last = starts.iter().map(|(at, _)| *at).fold(0.0, f64::max);
        assert!((180.0..=270.0).contains(&last), "{limit}: {last}");
        let of_a = starts[..calls].iter().filter(|(_, name)| *name == "a").count();
        assert_eq!(of_a, calls / 2, "first come, first served, whichever the model");
    }
}

/// A model under a limit of 600 a minute, of which 60 may come at once, by the variables.
fn limited(id: &str, url: &str, key: &str) -> Lm {
    let (url, key) = (url.to_owned(), key.to_owned());
    Lm::builder(id)
        .variables(move |name| match name {
            "OPENAI_BASE_URL" => Some(url.clone()),
            "OPENAI_API_KEY" => Some(key.clone()),
            "DSRS_REQUESTS_PER_MINUTE" => Some("600".to_owned()),
            _ => None,
        })
        .cache_mode(CacheMode::Off)
        .no_proxy()
        .build()
        .unwrap()
}

/// How long 40 calls of each take, in seconds: 60 at once, the others a tenth of a second apart.
async fn eighty_calls(a: &Lm, b: &Lm) -> f64 {
    let (request, begun) = (ask("?"), Instant::now());
    let calls = (0..80).map(|call| if call % 2 == 0 { a } else { b }.complete(&request));
    for reply in futures_util::future::join_all(calls).await {
        assert_eq!(reply.unwrap().text, "yes");
    }
    begun.elapsed().as_secs_f64()
}

#[tokio::test]
async fn models_of_one_account_keep_to_its_limit_together_without_being_told() {
    let server = Server::forgetful(|_| Answer::chat("yes")).await;
    let url = server.url("/v1");
    let model = |id, key| limited(id, &url, key);
    let one_account = eighty_calls(&model("openai:a", "k1"), &model("openai:b", "k1")).await;
    assert!(one_account > 1.7, "{one_account}");
    let two_accounts = eighty_calls(&model("openai:a", "k2"), &model("openai:b", "k3")).await;
    assert!(two_accounts < 1.7, "{two_accounts}");
}

#[tokio::test(start_paused = true)]
async fn a_dead_address_is_found_out_by_all_its_models() {
    let circuit = Circuit::new(BreakerPolicy::default());
    let dead = || LmError::Disconnected {
        lm: "scripted:a".to_owned(),
        reason: "reset".to_owned(),
        cost_msats: None,
    };
    let (down, up) = (ScriptedLm::new().otherwise(dead()), ScriptedLm::new().otherwise("yes"));
    let a = Breaker::sharing(&down, circuit.clone());
    let b = Breaker::sharing(&up, circuit);
    for _ in 0..20 {
        a.complete(&ask("?")).await.unwrap_err();
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    let error = b.complete(&ask("?")).await.unwrap_err();
    assert!(matches!(&error, LmError::CircuitOpen { lm, .. } if lm == "scripted:lm"), "{error}");
    assert_eq!(up.calls(), 0);
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(b.complete(&ask("?")).await.unwrap().text, "yes");
    assert_eq!(a.complete(&ask("?")).await, Err(dead()), "one that is answered speaks for all");
}

#[tokio::test]
async fn models_at_one_address_share_the_circuit_and_others_do_not() {
    let (down, up) = (
        Server::forgetful(|_| Answer::error(503, "down")).await,
        Server::forgetful(|_| Answer::chat("yes")).await,
    );
    let policy =
        BreakerPolicy { failures: 5, over: Duration::ZERO, pause: Duration::from_secs(60) };
    let model = |id: &str, server: &Server| {
        plain(id, &server.url("/v1")).breaker(policy.clone()).build().unwrap()
    };
    let (a, b) = (model("openai:a", &down), model("openai:b", &down));
    for _ in 0..5 {
        let error = a.complete(&ask("?")).await.unwrap_err();
        assert!(matches!(error, LmError::Status { status: 503, .. }), "{error}");
    }
    let error = b.complete(&ask("?")).await.unwrap_err().to_string();
    assert!(error.starts_with("openai:b is not asked for another "), "{error}");
    assert!(error.ends_with("last: openai:a answered with status 503: down"), "{error}");
    assert_eq!(model("openai:b", &up).complete(&ask("?")).await.unwrap().text, "yes");
}
