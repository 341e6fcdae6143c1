//! Costs agree: the budget, the ledger and the outcomes of rows have the same cost.

use std::time::Duration;

use dsrs_metrics::judge::Prompt;
use dsrs_metrics::lm::{
    CallTotals, LanguageModel, Ledger, LmBudget, LmError, LmErrorKind, LmReply, LmRequest, Metered,
    Price, Priced, Prices, RateLimit, RateLimiter, Retry, RetryPolicy, Sampling, ScriptedLm, Usage,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, Outcome, rows::Pair, runs::EvaluationResult};
use serde_json::json;

use crate::server::{Answer, Received, Server};
use crate::{ask, plain, quick};

/// A dollar per million tokens: a token costs one msat.
const PRICE: Price = Price {
    input: 1.0,
    output: 1.0,
    cached_input: None,
};

/// Grade the answer.
#[judge(reasoning = false, cost = "5 msat")]
struct Graded {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    score: f64,
}

async fn judged(lm: impl LanguageModel + 'static, rows: usize) -> EvaluationResult {
    let judge = GradedJudge::default().with_lm(lm);
    let evaluate = Evaluate::builder()
        .metric(judge)
        .concurrency(20)
        .build()
        .unwrap();
    let rows = (0..rows).map(|row| {
        let pred = prediction! { "answer" => format!("answer {row}") };
        Pair::new(row.to_string(), example! {}, pred)
    });
    evaluate.score(rows).await.unwrap()
}

fn cost(outcome: &Outcome) -> u64 {
    match outcome {
        Outcome::Scored(scored) => scored.score.cost_msats,
        Outcome::MetricFailed { error } => error.cost_msats(),
        Outcome::Skipped { cost_msats, .. } => *cost_msats,
        other => panic!("{other:?}"),
    }
}

fn spent_by_rows(result: &EvaluationResult) -> u64 {
    result
        .results
        .iter()
        .map(|row| cost(&row.outcomes[0]))
        .sum()
}

/// Timeouts, lost connections, truncated replies, free errors, invalid verdicts, and valid ones.
fn fault(received: &Received) -> Answer {
    let verdict = Answer::chat(&json!({ "score": 0.5 }).to_string());
    let row = || -> Option<usize> {
        let messages = received.body["messages"].as_array()?;
        let inputs = Prompt::parse(messages.get(1)?["content"].as_str()?)?;
        inputs[0].content?.strip_prefix("answer ")?.parse().ok()
    };
    // The probe gets a reply.
    let Some(row) = row() else { return verdict };
    match row % 8 {
        1 => verdict.slow(Duration::from_secs(3)),
        2 => verdict.interrupted(),
        3 => verdict.truncated(),
        4 => Answer::error(503, "down"),
        5 => Answer::chat("hm"),
        6 => Answer::html(200, "<html>log in</html>"),
        _ => verdict,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn budget_ledger_and_rows_agree_whatever_fails() {
    let server = Server::without_recording(fault).await;
    let (budget, ledger) = (LmBudget::msats(1 << 40), Ledger::new());
    let lm = plain("openai:m", &server.url("/v1"))
        .prices(Prices::empty().with("openai:*", PRICE))
        .budget(budget.clone())
        .ledger(ledger.clone())
        .timeout(Duration::from_millis(300))
        .retry(quick(2));
    let result = judged(lm.build().unwrap(), 80).await;
    let (failed, scored) = (result.metrics[0].failed, result.metrics[0].scored);
    assert_eq!((failed, scored), (60, 20));
    let (total, probe) = (ledger.total(), ledger.by_purpose()["probe"]);
    assert_eq!((probe.calls, probe.cost_msats), (1, 110), "100 + 10 tokens");
    assert_eq!(total.cost_msats, budget.spent_msats());
    assert_eq!(total.cost_msats, spent_by_rows(&result) + probe.cost_msats);
    assert_eq!(
        (total.unpriced, result.metrics[0].cost_msats),
        (0, spent_by_rows(&result))
    );
    // Interrupted attempts cost the highest amount possible, rejected ones nothing.
    let of_row = |row: usize| cost(&result.results[row].outcomes[0]);
    for (interrupted, attempts) in [(1, 2), (2, 2), (3, 2), (6, 1)] {
        let cost = of_row(interrupted);
        assert!(
            (attempts * 4096..attempts * 6000).contains(&cost),
            "{interrupted}: {cost}"
        );
    }
    assert_eq!((of_row(4), of_row(5), of_row(7)), (0, 220, 110));
}

fn timeout() -> LmError {
    LmError::new(
        "scripted:lm",
        LmErrorKind::Timeout {
            limit: Duration::from_secs(1),
        },
    )
}

fn stack(
    scripted: ScriptedLm,
    budget: Option<LmBudget>,
    ledger: &Ledger,
) -> impl LanguageModel + use<> {
    let priced = Priced::new(scripted, Prices::empty().with("scripted:lm", PRICE));
    let priced = match budget {
        Some(budget) => priced.budget(budget),
        None => priced,
    };
    let limited = RateLimit::new(priced, RateLimiter::new());
    Metered::new(Retry::new(limited, RetryPolicy::default()), ledger.clone())
}

fn limited(text: &str, max_tokens: u32) -> LmRequest {
    ask(text).with_sampling(Sampling {
        max_tokens: Some(max_tokens),
        ..Sampling::default()
    })
}

#[tokio::test(start_paused = true)]
async fn the_ledger_records_a_cancelled_call_with_the_cost_that_the_budget_was_charged() {
    let (budget, ledger) = (LmBudget::msats(1 << 40), Ledger::new());
    let slow = ScriptedLm::new()
        .replies([Err(timeout()), Ok(LmReply::new("late"))])
        .latency(Duration::from_secs(10));
    let lm = stack(slow, Some(budget.clone()), &ledger);
    let request = limited("?", 1000);
    // The first attempt fails after 10 s; the call is cancelled during the second.
    let cancelled = tokio::time::timeout(Duration::from_secs(15), lm.complete(&request)).await;
    assert_eq!(cancelled.unwrap_err().to_string(), "deadline has elapsed");
    let spent = budget.spent_msats();
    assert!((2000..2400).contains(&spent), "{spent}");
    let totals = CallTotals {
        calls: 1,
        failed: 1,
        cost_msats: spent,
        ..CallTotals::default()
    };
    assert_eq!(ledger.total(), totals);
    assert_eq!(
        budget.spent_msats() + budget.remaining_msats(),
        1 << 40,
        "nothing stays reserved"
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_an_interrupted_call_has_an_unknown_cost_and_is_never_free() {
    let usage = Usage::new(30, 12);
    let scripted = || {
        ScriptedLm::new()
            .replies([timeout()])
            .otherwise("yes")
            .usage(usage)
    };
    // Nothing limits the tokens of the reply: the cost is a lower bound.
    let ledger = Ledger::new();
    let reply = stack(scripted(), None, &ledger)
        .complete(&ask("?"))
        .await
        .unwrap();
    assert_eq!(
        (reply.cost_msats, reply.cost_is_lower_bound),
        (Some(42), true)
    );
    let expected = "1 call (0 cached, 0 failed), 30 prompt + 12 completion tokens, 42 msat (plus 1 attempt of unknown cost)";
    assert_eq!(ledger.total().to_string(), expected);
    // `max_tokens` limits them, with or without a budget.
    let ledger = Ledger::new();
    let reply = stack(scripted(), None, &ledger)
        .complete(&limited("?", 1000))
        .await
        .unwrap();
    assert!(!reply.cost_is_lower_bound);
    assert!(
        (1042..1300).contains(&reply.cost_msats.unwrap()),
        "{reply:?}"
    );
    assert_eq!(
        (ledger.total().cost_msats, ledger.total().unpriced),
        (reply.cost_msats.unwrap(), 0)
    );
    // A call that never succeeds.
    let (ledger, always) = (Ledger::new(), ScriptedLm::new().otherwise(timeout()));
    let error = stack(always, None, &ledger)
        .complete(&ask("?"))
        .await
        .unwrap_err();
    assert_eq!(error.cost_msats(), None);
    assert_eq!(
        (ledger.total().failed, ledger.total().unpriced),
        (1, 6),
        "each attempt is counted"
    );
    let kind = LmErrorKind::RateLimited {
        retry_after: None,
        message: String::new(),
    };
    let rejected = LmError::new("scripted:lm", kind);
    assert_eq!(
        rejected.cost_msats(),
        Some(0),
        "a rejected call is not charged"
    );
}

/// Calls a server once per text, with retries. Returns the ledger, and the number of requests.
async fn called(
    answer: impl Fn(&Received) -> Answer + Send + Sync + 'static,
) -> (CallTotals, usize) {
    let server = Server::start(answer).await;
    let lm = plain("openai:m", &server.url("/v1"))
        .prices(Prices::empty().with("openai:*", PRICE))
        .retry(quick(6));
    let lm = lm.build().unwrap();
    let _ = lm.complete(&ask("?")).await;
    (lm.ledger().total(), server.received().len())
}

#[tokio::test]
async fn an_unreadable_reply_is_paid_for_once_and_every_attempt_is_in_the_ledger() {
    let one = CallTotals {
        calls: 1,
        failed: 1,
        ..CallTotals::default()
    };
    // Its tokens are known, and so is its cost.
    let paid = CallTotals {
        usage: Usage::new(100, 10),
        cost_msats: 110,
        ..one
    };
    let cached = Some(40);
    let paid = CallTotals {
        usage: Usage {
            cached_prompt_tokens: cached,
            ..paid.usage
        },
        ..paid
    };
    assert_eq!(called(|_| Answer::chat("yes").doubled()).await, (paid, 1));
    let empty = || {
        let mut body = crate::server::chat("", "stop");
        body["choices"] = json!([]);
        Answer::json(200, &body)
    };
    assert_eq!(called(move |_| empty()).await, (paid, 1), "no answer");
    // Nothing is reported of these.
    let unknown = |unpriced| CallTotals { unpriced, ..one };
    assert_eq!(
        called(|_| Answer::html(200, "<html>log in</html>")).await,
        (unknown(1), 1)
    );
    let surrogate = |_: &Received| Answer::html(200, r#"{"choices":"\ud800"}"#);
    assert_eq!(called(surrogate).await, (unknown(1), 1));
    assert_eq!(
        called(|_| Answer::chat("yes").truncated()).await,
        (unknown(2), 2)
    );
    assert_eq!(
        called(|_| Answer::chat("yes").interrupted()).await,
        (unknown(2), 2)
    );
    // The second attempt succeeds.
    let attempts = std::sync::atomic::AtomicUsize::new(0);
    let once = move |_: &Received| match attempts.fetch_add(1, std::sync::atomic::Ordering::SeqCst)
    {
        0 => Answer::chat("yes").truncated(),
        _ => Answer::chat("yes"),
    };
    assert_eq!(
        called(once).await,
        (
            CallTotals {
                failed: 0,
                unpriced: 1,
                ..paid
            },
            2
        )
    );
}

#[tokio::test]
async fn a_row_of_unknown_cost_counts_with_the_declared_cost() {
    let lm = ScriptedLm::new().otherwise(timeout());
    let result = judged(lm, 3).await;
    assert_eq!(result.metrics[0].cost_msats, 3 * 5);
}
