//! Retries, rate limits and the circuit breaker, on a paused clock.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dsrs_metrics::lm::{
    CircuitBreaker, CircuitPolicy, LanguageModel, Ledger, LmBudget, LmError, LmErrorKind, LmReply,
    LmRequest, Metered, Price, Priced, Prices, RateLimit, RateLimiter, Retry, RetryPolicy,
    Sampling, ScriptedLm, Usage,
};
use futures_util::StreamExt;
use tokio::time::Instant;

use crate::ask;

fn rate_limited(retry_after: Option<u64>) -> LmError {
    let retry_after = retry_after.map(Duration::from_secs);
    let kind = LmErrorKind::RateLimited {
        retry_after,
        message: String::new(),
    };
    LmError::new("scripted:lm", kind)
}

fn disconnected() -> LmError {
    let kind = LmErrorKind::Disconnected("reset".to_owned());
    LmError::new("scripted:lm", kind)
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_for_retry_after_and_little_longer() {
    let lm = ScriptedLm::new()
        .replies([rate_limited(Some(7))])
        .otherwise("yes");
    let lm = Retry::new(lm, RetryPolicy::default());
    let begun = Instant::now();
    assert_eq!(lm.complete(&ask("?")).await.unwrap().text, "yes");
    let waited = begun.elapsed().as_secs_f64();
    assert!((7.0..8.0).contains(&waited), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn delays_double_and_have_jitter() {
    let waited = |max_attempts| async move {
        let lm = ScriptedLm::new().otherwise(disconnected());
        let lm = Retry::new(
            lm,
            RetryPolicy {
                max_attempts,
                ..RetryPolicy::default()
            },
        );
        let begun = Instant::now();
        lm.complete(&ask("?")).await.unwrap_err();
        begun.elapsed().as_secs_f64()
    };
    // 0.5, 1, 2, 4, 8 s, each with up to as much again.
    let six = waited(6).await;
    assert!((15.5..31.1).contains(&six), "{six}");
    let (one, other) = (waited(6).await, waited(6).await);
    assert!(
        one != six || other != six,
        "without jitter all workers retry at once"
    );
    assert!(waited(1).await < 0.001);
}

#[tokio::test(start_paused = true)]
async fn a_call_fails_at_once_if_retry_after_exceeds_its_limit() {
    let lm = ScriptedLm::new().otherwise(rate_limited(Some(3600)));
    let lm = Retry::new(Arc::new(lm), RetryPolicy::default());
    let begun = Instant::now();
    assert_eq!(
        lm.complete(&ask("?")).await.unwrap_err(),
        rate_limited(Some(3600))
    );
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn retries_are_bounded_and_the_error_has_the_number_of_attempts() {
    let scripted = ScriptedLm::new().otherwise(disconnected());
    let policy = RetryPolicy {
        max_attempts: 4,
        ..RetryPolicy::default()
    };
    let error = Retry::new(&scripted, policy)
        .complete(&ask("?"))
        .await
        .unwrap_err();
    assert_eq!(scripted.calls(), 4);
    assert_eq!(
        error.to_string(),
        "scripted:lm: connection lost before the reply was complete: reset (after 4 attempts)"
    );
    assert_eq!((error.kind(), error.attempts()), (disconnected().kind(), 4));
    assert!(!error.is_transient(), "an outer layer does not retry it");
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_are_not_retried() {
    let kind = LmErrorKind::MissingApiKey("K".to_owned());
    let error = LmError::new("scripted:lm", kind);
    let scripted = ScriptedLm::new().otherwise(error.clone());
    let lm = Retry::new(&scripted, RetryPolicy::default());
    assert_eq!(lm.complete(&ask("?")).await, Err(error));
    assert_eq!(scripted.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_cost_includes_failed_attempts() {
    let paid = |msats| {
        let kind = LmErrorKind::Disconnected("reset".to_owned());
        LmError::new("scripted:lm", kind).with_cost_msats(Some(msats))
    };
    let script = [
        Err(paid(3)),
        Err(paid(4)),
        Ok(LmReply::new("yes").with_cost_msats(5)),
    ];
    let lm = Retry::new(ScriptedLm::new().replies(script), RetryPolicy::default());
    assert_eq!(lm.complete(&ask("?")).await.unwrap().cost_msats, Some(12));
    let lm = Retry::new(ScriptedLm::new().otherwise(paid(3)), RetryPolicy::default());
    assert_eq!(
        lm.complete(&ask("?")).await.unwrap_err().cost_msats(),
        Some(18)
    );
}

/// The times in seconds at which calls that arrive at once are made.
async fn starts(limiter: RateLimiter, calls: usize, request: LmRequest, usage: Usage) -> Vec<f64> {
    let begun = Instant::now();
    let starts: Arc<std::sync::Mutex<Vec<f64>>> = Arc::default();
    let recorded = Arc::clone(&starts);
    let lm = ScriptedLm::new()
        .usage(usage)
        .otherwise(move |_: &LmRequest| {
            recorded.lock().unwrap().push(begun.elapsed().as_secs_f64());
            "yes"
        });
    let lm = RateLimit::new(lm, limiter);
    let all = (0..calls).map(|_| lm.complete(&request));
    for reply in futures_util::future::join_all(all).await {
        assert_eq!(reply.unwrap().text, "yes");
    }
    let mut starts = starts.lock().unwrap().clone();
    starts.sort_by(f64::total_cmp);
    starts
}

/// The largest number of calls in any 60 seconds.
fn max_per_minute(starts: &[f64]) -> usize {
    let within = |first: &f64| {
        starts
            .iter()
            .filter(|at| (*first..first + 60.0).contains(at))
            .count()
    };
    starts.iter().map(within).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn no_minute_exceeds_the_limit_and_most_of_it_is_used() {
    for limit in [1, 2, 7, 60, 100] {
        let calls = limit as usize * 3;
        let limiter = RateLimiter::new().requests_per_minute(limit);
        let starts = starts(limiter, calls, ask("?"), Usage::default()).await;
        assert_eq!(starts.len(), calls);
        let most = max_per_minute(&starts);
        assert!(most <= limit as usize, "{most} > {limit}");
        // The calls of three minutes; a tenth of the limit may be lost to the initial burst.
        assert!(
            *starts.last().unwrap() <= 200.0,
            "{limit}: {:?}",
            starts.last()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn unused_reserved_tokens_are_returned() {
    let request = ask("?").with_sampling(Sampling {
        max_tokens: Some(10_000),
        ..Sampling::default()
    });
    let limiter = || RateLimiter::new().tokens_per_minute(60_000);
    // 10,000 reserved and 100 used per call: the other calls use the rest.
    let frugal = starts(limiter(), 60, request.clone(), Usage::new(90, 10)).await;
    assert!(*frugal.last().unwrap() < 10.0, "{:?}", frugal.last());
    let greedy = starts(limiter(), 12, request, Usage::new(1, 9_999)).await;
    let tokens = max_per_minute(&greedy) * 10_000;
    assert!(
        tokens <= 70_000,
        "a call may end after its minute: {tokens}"
    );
    assert!(
        (50.0..130.0).contains(greedy.last().unwrap()),
        "{:?}",
        greedy.last()
    );
}

#[tokio::test(start_paused = true)]
async fn models_share_a_limiter_and_a_cancelled_call_takes_nothing() {
    let limiter = RateLimiter::new().requests_per_minute(2);
    let a = RateLimit::new(ScriptedLm::new().otherwise("a"), limiter.clone());
    let b = RateLimit::new(ScriptedLm::new().otherwise("b"), limiter);
    let begun = Instant::now();
    a.complete(&ask("?")).await.unwrap();
    let request = ask("?");
    let cancelled = tokio::time::timeout(Duration::from_secs(5), b.complete(&request)).await;
    let cancelled = cancelled.unwrap_err().to_string();
    assert_eq!(
        cancelled, "deadline has elapsed",
        "the call of the other model counts"
    );
    b.complete(&request).await.unwrap();
    let waited = begun.elapsed().as_secs_f64();
    assert!((29.0..31.0).contains(&waited), "{waited}");
}

/// The paused clock advances only while tasks sleep, so this measures the waits that layers add.
/// The bench measures their computing time.
#[tokio::test(start_paused = true)]
async fn layers_add_no_waits_at_a_thousand_concurrent_calls() {
    let usage = Usage::new(100, 10);
    let scripted = ScriptedLm::new().otherwise("yes").usage(usage).remember(0);
    let price = Price {
        input: 1.0,
        output: 1.0,
        cached_input: None,
    };
    let prices = Prices::empty().with("scripted:lm", price);
    let priced = Priced::new(scripted.latency(Duration::from_millis(50)), prices);
    let priced = priced.budget(LmBudget::msats(u64::MAX / 2));
    let limiter = RateLimiter::new()
        .requests_per_minute(u32::MAX)
        .tokens_per_minute(u32::MAX);
    let breaker = CircuitBreaker::new(RateLimit::new(priced, limiter), CircuitPolicy::default());
    let lm = Metered::new(Retry::new(breaker, RetryPolicy::default()), Ledger::new());
    let request = ask("?");
    let begun = Instant::now();
    let calls = (0..20_000).map(|_| lm.complete(&request));
    let replies: Vec<_> = futures_util::stream::iter(calls)
        .buffer_unordered(1000)
        .collect()
        .await;
    let is_expected =
        |reply: &&Result<LmReply, LmError>| reply.as_ref().is_ok_and(|r| r.text == "yes");
    assert_eq!(replies.iter().filter(is_expected).count(), 20_000);
    let share = 20_000.0 / begun.elapsed().as_secs_f64() / (1000.0 / 0.05);
    assert!(
        share >= 0.98,
        "throughput is {share} of concurrency / latency"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failing_provider_gets_no_calls_until_one_trial_call() {
    let is_up = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&is_up);
    let scripted =
        ScriptedLm::new().otherwise(move |_: &LmRequest| match shared.load(Ordering::SeqCst) {
            0 => Err(disconnected()),
            _ => Ok(LmReply::new("yes")),
        });
    let lm = CircuitBreaker::new(&scripted, CircuitPolicy::default());
    for _ in 0..30 {
        assert_eq!(
            lm.complete(&ask("?")).await,
            Err(disconnected()),
            "a burst does not open the circuit"
        );
    }
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(lm.complete(&ask("?")).await, Err(disconnected()));
    let calls = scripted.calls();
    for _ in 0..1000 {
        let error = lm.complete(&ask("?")).await.unwrap_err();
        assert!(
            matches!(error.kind(), LmErrorKind::CircuitOpen { .. }),
            "{error}"
        );
    }
    assert_eq!(scripted.calls(), calls, "no calls are made");
    let error = lm.complete(&ask("?")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "scripted:lm: circuit breaker open for 30 s after repeated failures; last failure: scripted:lm: connection lost before the reply was complete: reset"
    );
    let source = error.source().unwrap().downcast_ref::<LmError>();
    assert_eq!(source, Some(&disconnected()));
    // The trial call after the pause fails, and the circuit opens again.
    tokio::time::advance(Duration::from_secs(31)).await;
    assert_eq!(lm.complete(&ask("?")).await, Err(disconnected()));
    let error = lm.complete(&ask("?")).await.unwrap_err();
    assert!(
        matches!(error.kind(), LmErrorKind::CircuitOpen { .. }),
        "{error}"
    );
    is_up.store(1, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(31)).await;
    for _ in 0..3 {
        assert_eq!(lm.complete(&ask("?")).await.unwrap().text, "yes");
    }
}

#[tokio::test(start_paused = true)]
async fn rate_limits_do_not_open_the_circuit() {
    let lm = CircuitBreaker::new(
        ScriptedLm::new().otherwise(rate_limited(None)),
        CircuitPolicy::default(),
    );
    for _ in 0..100 {
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(lm.complete(&ask("?")).await, Err(rate_limited(None)));
    }
}
