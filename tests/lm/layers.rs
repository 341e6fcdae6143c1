//! Retries, limits, the breaker: on a clock that tests turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dsrs_metrics::lm::{
    Breaker, BreakerPolicy, LanguageModel, Ledger, Limited, Limiter, LmBudget, LmError, LmReply,
    LmRequest, Metered, Price, Priced, Prices, Retry, RetryPolicy, Sampling, ScriptedLm, Usage,
};
use futures_util::StreamExt;
use tokio::time::Instant;

use crate::ask;

fn busy(retry_after: Option<u64>) -> LmError {
    let retry_after = retry_after.map(Duration::from_secs);
    LmError::RateLimited { lm: "scripted:lm".to_owned(), retry_after, said: String::new() }
}

fn dead() -> LmError {
    LmError::Disconnected {
        lm: "scripted:lm".to_owned(),
        reason: "reset".to_owned(),
        cost_msats: None,
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for_and_not_much_longer() {
    let lm = ScriptedLm::new().replies([busy(Some(7))]).otherwise("yes");
    let lm = Retry::new(lm, RetryPolicy::default());
    let begun = Instant::now();
    assert_eq!(lm.complete(&ask("?")).await.unwrap().text, "yes");
    let waited = begun.elapsed().as_secs_f64();
    assert!((7.0..8.0).contains(&waited), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn delays_double_and_carry_jitter() {
    let waited = |attempts| async move {
        let lm = ScriptedLm::new().otherwise(dead());
        let lm = Retry::new(lm, RetryPolicy { attempts, ..RetryPolicy::default() });
        let begun = Instant::now();
        lm.complete(&ask("?")).await.unwrap_err();
        begun.elapsed().as_secs_f64()
    };
    // 0.5, 1, 2, 4, 8 s, each with up to as much again.
    let six = waited(6).await;
    assert!((15.5..31.1).contains(&six), "{six}");
    let (one, other) = (waited(6).await, waited(6).await);
    assert!(one != six || other != six, "without jitter all workers come back at once");
    assert!(waited(1).await < 0.001);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_asks_for_too_long_is_given_up_at_once() {
    let lm = ScriptedLm::new().otherwise(busy(Some(3600)));
    let lm = Retry::new(Arc::new(lm), RetryPolicy::default());
    let begun = Instant::now();
    assert_eq!(lm.complete(&ask("?")).await.unwrap_err(), busy(Some(3600)));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn retries_are_bounded_and_say_how_often() {
    let scripted = ScriptedLm::new().otherwise(dead());
    let policy = RetryPolicy { attempts: 4, ..RetryPolicy::default() };
    let error = Retry::new(&scripted, policy).complete(&ask("?")).await.unwrap_err();
    assert_eq!(scripted.calls(), 4);
    assert_eq!(error.to_string(), "scripted:lm: the connection broke: reset (attempt 4 of 4)");
    assert_eq!(error.root(), &dead());
    assert!(!error.is_transient(), "an outer layer does not begin anew");
}

#[tokio::test(start_paused = true)]
async fn failures_that_do_not_pass_are_not_retried() {
    let error = LmError::NoKey { lm: "scripted:lm".to_owned(), variable: "K".to_owned() };
    let scripted = ScriptedLm::new().otherwise(error.clone());
    let lm = Retry::new(&scripted, RetryPolicy::default());
    assert_eq!(lm.complete(&ask("?")).await, Err(error));
    assert_eq!(scripted.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_that_were_paid_for_are_in_the_cost() {
    let paid = |msats| LmError::BadReply {
        lm: "scripted:lm".to_owned(),
        reason: "half".to_owned(),
        cost_msats: Some(msats),
    };
    let script = [Err(paid(3)), Err(paid(4)), Ok(LmReply::new("yes").with_cost(5))];
    let lm = Retry::new(ScriptedLm::new().replies(script), RetryPolicy::default());
    assert_eq!(lm.complete(&ask("?")).await.unwrap().cost_msats, Some(12));
    let lm = Retry::new(ScriptedLm::new().otherwise(paid(3)), RetryPolicy::default());
    assert_eq!(lm.complete(&ask("?")).await.unwrap_err().cost_msats(), Some(18));
}

/// When each of so many calls begun at once was let through, in seconds.
async fn starts(limiter: Limiter, calls: usize, request: LmRequest, usage: Usage) -> Vec<f64> {
    let begun = Instant::now();
    let starts: Arc<std::sync::Mutex<Vec<f64>>> = Arc::default();
    let note = Arc::clone(&starts);
    let lm = ScriptedLm::new().usage(usage).otherwise(move |_: &LmRequest| {
        note.lock().unwrap().push(begun.elapsed().as_secs_f64());
        "yes"
    });
    let lm = Limited::new(lm, limiter);
    let all = (0..calls).map(|_| lm.complete(&request));
    for reply in futures_util::future::join_all(all).await {
        assert_eq!(reply.unwrap().text, "yes");
    }
    let mut starts = starts.lock().unwrap().clone();
    starts.sort_by(f64::total_cmp);
    starts
}

/// The most that begin within any 60 seconds.
fn most_in_a_minute(starts: &[f64]) -> usize {
    let within =
        |first: &f64| starts.iter().filter(|at| (*first..first + 60.0).contains(at)).count();
    starts.iter().map(within).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn no_minute_sees_more_requests_than_the_limit_and_most_of_it_is_used() {
    for limit in [1, 2, 7, 60, 100] {
        let calls = limit as usize * 3;
        let limiter = Limiter::new().requests_per_minute(limit);
        let starts = starts(limiter, calls, ask("?"), Usage::default()).await;
        assert_eq!(starts.len(), calls);
        let most = most_in_a_minute(&starts);
        assert!(most <= limit as usize, "{most} > {limit}");
        // Three minutes' worth of calls; a tenth of the limit may be lost to what may come at once.
        assert!(*starts.last().unwrap() <= 200.0, "{limit}: {:?}", starts.last());
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_settled_with_what_was_used() {
    let request =
        ask("?").with_sampling(Sampling { max_tokens: Some(10_000), ..Sampling::default() });
    let limiter = || Limiter::new().tokens_per_minute(60_000);
    // Reserved 10,000 each, used 100 each: the unused part serves the others.
    let frugal = starts(limiter(), 60, request.clone(), Usage::new(90, 10)).await;
    assert!(*frugal.last().unwrap() < 10.0, "{:?}", frugal.last());
    let greedy = starts(limiter(), 12, request, Usage::new(1, 9_999)).await;
    let tokens = most_in_a_minute(&greedy) * 10_000;
    assert!(tokens <= 70_000, "a call that began may end later: {tokens}");
    assert!((50.0..130.0).contains(greedy.last().unwrap()), "{:?}", greedy.last());
}

#[tokio::test(start_paused = true)]
async fn one_limiter_serves_several_models_and_a_dropped_call_takes_nothing() {
    let limiter = Limiter::new().requests_per_minute(2);
    let a = Limited::new(ScriptedLm::new().otherwise("a"), limiter.clone());
    let b = Limited::new(ScriptedLm::new().otherwise("b"), limiter);
    let begun = Instant::now();
    a.complete(&ask("?")).await.unwrap();
    let request = ask("?");
    let gave_up = tokio::time::timeout(Duration::from_secs(5), b.complete(&request)).await;
    let gave_up = gave_up.unwrap_err().to_string();
    assert_eq!(gave_up, "deadline has elapsed", "the other model's call counts");
    b.complete(&request).await.unwrap();
    let waited = begun.elapsed().as_secs_f64();
    assert!((29.0..31.0).contains(&waited), "{waited}");
}

/// On a clock that only sleeping moves: what the layers add is their waiting alone. How long they compute is
/// measured by the bench.
#[tokio::test(start_paused = true)]
async fn layers_hold_nobody_up_at_a_thousand_calls_at_once() {
    let usage = Usage::new(100, 10);
    let scripted = ScriptedLm::new().otherwise("yes").usage(usage).remember(0);
    let price = Price { input: 1.0, output: 1.0, cached_input: None };
    let prices = Prices::none().with("scripted:lm", price);
    let priced = Priced::new(scripted.latency(Duration::from_millis(50)), prices);
    let priced = priced.budget(LmBudget::msats(u64::MAX / 2));
    let limiter = Limiter::new().requests_per_minute(u32::MAX).tokens_per_minute(u32::MAX);
    let breaker = Breaker::new(Limited::new(priced, limiter), BreakerPolicy::default());
    let lm = Metered::new(Retry::new(breaker, RetryPolicy::default()), Ledger::new());
    let request = ask("?");
    let begun = Instant::now();
    let calls = (0..20_000).map(|_| lm.complete(&request));
    let replies: Vec<_> = futures_util::stream::iter(calls).buffer_unordered(1000).collect().await;
    let right = |reply: &&Result<LmReply, LmError>| reply.as_ref().is_ok_and(|r| r.text == "yes");
    assert_eq!(replies.iter().filter(right).count(), 20_000);
    let share = 20_000.0 / begun.elapsed().as_secs_f64() / (1000.0 / 0.05);
    assert!(share >= 0.98, "{share} of concurrency / latency");
}

#[tokio::test(start_paused = true)]
async fn a_dead_provider_is_left_alone_and_tried_by_one_call_later() {
    let alive = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&alive);
    let scripted =
        ScriptedLm::new().otherwise(move |_: &LmRequest| match seen.load(Ordering::SeqCst) {
            0 => Err(dead()),
            _ => Ok(LmReply::new("yes")),
        });
    let lm = Breaker::new(&scripted, BreakerPolicy::default());
    for _ in 0..30 {
        assert_eq!(lm.complete(&ask("?")).await, Err(dead()), "a burst is no death");
    }
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(lm.complete(&ask("?")).await, Err(dead()));
    let calls = scripted.calls();
    for _ in 0..1000 {
        let error = lm.complete(&ask("?")).await.unwrap_err();
        assert!(matches!(error, LmError::CircuitOpen { .. }), "{error}");
    }
    assert_eq!(scripted.calls(), calls, "nobody calls");
    let error = lm.complete(&ask("?")).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "scripted:lm is not asked for another 30 s, since it kept failing; last: scripted:lm: the connection broke: reset"
    );
    // Still dead after the pause: one call tries, and the pause begins anew.
    tokio::time::advance(Duration::from_secs(31)).await;
    assert_eq!(lm.complete(&ask("?")).await, Err(dead()));
    assert!(matches!(lm.complete(&ask("?")).await, Err(LmError::CircuitOpen { .. })));
    alive.store(1, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(31)).await;
    for _ in 0..3 {
        assert_eq!(lm.complete(&ask("?")).await.unwrap().text, "yes");
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_only_limits_the_rate_is_not_dead() {
    let lm = Breaker::new(ScriptedLm::new().otherwise(busy(None)), BreakerPolicy::default());
    for _ in 0..100 {
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(lm.complete(&ask("?")).await, Err(busy(None)));
    }
}
