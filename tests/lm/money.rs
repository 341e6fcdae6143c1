//! Costs, budgets, ledgers.

use std::sync::Arc;
use std::time::Duration;

use dsrs_metrics::lm::{
    CallTotals, LanguageModel, Ledger, LmBudget, LmError, LmErrorKind, LmReply, LmRequest, Metered,
    Price, Priced, Prices, Sampling, ScriptedLm, Usage,
};

use crate::ask;

/// A dollar per million tokens: a token costs one msat.
const PRICE: Price = Price {
    input: 1.0,
    output: 1.0,
    cached_input: None,
};

fn prices() -> Prices {
    Prices::empty().with("scripted:lm", PRICE)
}

fn limited(text: &str, max_tokens: u32) -> LmRequest {
    ask(text).with_sampling(Sampling {
        max_tokens: Some(max_tokens),
        ..Sampling::default()
    })
}

#[tokio::test]
async fn a_call_costs_the_price_of_its_tokens() {
    let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(30, 12));
    let lm = Priced::new(lm, prices());
    assert_eq!(lm.complete(&ask("?")).await.unwrap().cost_msats, Some(42));
    let unknown = Priced::new(ScriptedLm::new().otherwise("yes"), prices());
    assert_eq!(
        unknown.complete(&ask("?")).await.unwrap().cost_msats,
        None,
        "unknown usage is not 0"
    );
}

#[tokio::test]
async fn an_unpriced_model_under_a_budget_is_an_error_unless_allowed() {
    let scripted = ScriptedLm::new().otherwise("yes").usage(Usage::new(30, 12));
    let lm = Priced::new(&scripted, Prices::shipped()).budget(LmBudget::msats(1_000_000));
    let unpriced = LmError::new("scripted:lm", LmErrorKind::Unpriced);
    assert_eq!(
        lm.probe().await,
        Err(unpriced.clone()),
        "reported before any row is paid for"
    );
    assert_eq!(lm.complete(&ask("?")).await, Err(unpriced));
    assert_eq!(scripted.calls(), 0);
    let lm = lm.allow_unpriced(true);
    assert_eq!(lm.probe().await, Ok(None));
    assert_eq!(lm.complete(&ask("?")).await.unwrap().cost_msats, None);
}

#[tokio::test]
async fn a_budget_is_never_exceeded_at_any_concurrency() {
    let budget = LmBudget::msats(20_000);
    let scripted = ScriptedLm::new()
        .latency(Duration::from_millis(1))
        .otherwise("yes")
        .usage(Usage::new(20, 100));
    let lm = Priced::new(&scripted, prices()).budget(budget.clone());
    let request = limited("?", 100);
    let all = (0..1000).map(|_| lm.complete(&request));
    let results = futures_util::future::join_all(all).await;
    let (done, rejected): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let done = done.len() as u64;
    for rejected in rejected {
        let error = rejected.unwrap_err();
        let LmErrorKind::BudgetExceeded {
            needed_msats,
            remaining_msats,
            ..
        } = error.kind()
        else {
            panic!("{error}")
        };
        assert!(needed_msats > remaining_msats);
    }
    assert_eq!(scripted.calls(), done, "a rejected call is not made");
    assert_eq!(budget.spent_msats(), done * 120);
    assert!(budget.spent_msats() <= 20_000);
    // The reservations are returned: calls one by one use the rest, up to the last one that fits.
    while lm.complete(&request).await.is_ok() {
        assert!(budget.spent_msats() <= 20_000);
    }
    assert!(
        20_000 - budget.spent_msats() < 300,
        "{}",
        budget.spent_msats()
    );
    let error = lm.complete(&request).await.unwrap_err().to_string();
    assert!(
        error.starts_with("scripted:lm: budget exceeded: the call may cost "),
        "{error}"
    );
    assert!(
        error.ends_with(" of 20000 msat are left; raise the budget"),
        "{error}"
    );
}

#[tokio::test]
async fn under_a_budget_every_call_has_max_tokens() {
    let scripted = ScriptedLm::new().otherwise("yes").usage(Usage::new(1, 1));
    let lm = Priced::new(&scripted, prices()).budget(LmBudget::msats(1_000_000));
    lm.complete(&ask("?")).await.unwrap();
    lm.complete(&limited("?", 7)).await.unwrap();
    let limits: Vec<_> = scripted
        .requests()
        .iter()
        .map(|r| r.sampling.max_tokens)
        .collect();
    assert_eq!(limits, [Some(4096), Some(7)]);
}

#[tokio::test]
async fn the_budget_is_charged_for_interrupted_calls_and_not_for_rejected_ones() {
    let spent = |kind: LmErrorKind| async move {
        let budget = LmBudget::msats(100_000);
        let scripted = ScriptedLm::new().otherwise(LmError::new("scripted:lm", kind));
        let priced = Priced::new(scripted, prices()).budget(budget.clone());
        priced.complete(&limited("?", 1000)).await.unwrap_err();
        budget.spent_msats()
    };
    let (retry_after, message) = (None, String::new);
    assert_eq!(
        spent(LmErrorKind::RateLimited {
            retry_after,
            message: message()
        })
        .await,
        0
    );
    let status = LmErrorKind::Status {
        status: 503,
        retry_after,
        message: message(),
    };
    assert_eq!(spent(status).await, 0);
    for kind in [
        LmErrorKind::Timeout {
            limit: Duration::from_secs(1),
        },
        LmErrorKind::Disconnected(String::new()),
        LmErrorKind::InvalidReply(String::new()),
    ] {
        let msats = spent(kind).await;
        assert!((1000..1200).contains(&msats), "{msats}");
    }
}

#[tokio::test]
async fn a_cancelled_call_counts_as_spent() {
    let budget = LmBudget::msats(100_000);
    let slow = ScriptedLm::new()
        .otherwise("yes")
        .latency(Duration::from_secs(60));
    let lm = Priced::new(slow, prices()).budget(budget.clone());
    let request = limited("?", 1000);
    let cancelled = tokio::time::timeout(Duration::from_millis(5), lm.complete(&request)).await;
    assert_eq!(cancelled.unwrap_err().to_string(), "deadline has elapsed");
    assert!(budget.spent_msats() >= 1000);
    assert_eq!(budget.spent_msats() + budget.remaining_msats(), 100_000);
}

#[tokio::test]
async fn a_ledger_has_totals_by_purpose_and_overall() {
    let ledger = Ledger::new();
    let mut cached = LmReply::new("again").with_cost_msats(0);
    cached.cached = true;
    let broken = LmErrorKind::InvalidReply(String::new());
    let broken = LmError::new("scripted:lm", broken).with_cost_msats(Some(5));
    let scripted = ScriptedLm::new()
        .when("cached", cached)
        .when("broken", broken)
        .when("unpriced", LmReply::new("?").with_usage(Usage::new(1, 1)))
        .otherwise(
            LmReply::new("yes")
                .with_usage(Usage::new(40, 2))
                .with_cost_msats(42),
        );
    let lm = Metered::new(scripted, ledger.clone());
    for (purpose, text) in [
        ("a", "x"),
        ("a", "cached"),
        ("a", "broken"),
        ("b", "x"),
        ("b", "unpriced"),
    ] {
        let _ = lm.complete(&LmRequest::new(purpose).user(text)).await;
    }
    let a = CallTotals {
        calls: 3,
        cached: 1,
        stored_msats: 0,
        failed: 1,
        refused: 0,
        usage: Usage::new(40, 2),
        cost_msats: 47,
        unpriced: 0,
    };
    assert_eq!(ledger.by_purpose()["a"], a);
    assert_eq!(
        ledger.total().to_string(),
        "5 calls (1 cached, 1 failed), 81 prompt + 5 completion tokens, 89 msat (plus 1 attempt of unknown cost)"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_loses_no_call_of_concurrent_threads() {
    let ledger = Ledger::new();
    let scripted = ScriptedLm::new()
        .otherwise("yes")
        .usage(Usage::new(2, 1))
        .cost(3)
        .remember(0);
    let lm = Arc::new(Metered::new(scripted, ledger.clone()));
    let workers: Vec<_> = (0..16)
        .map(|_| {
            let lm = Arc::clone(&lm);
            tokio::spawn(async move {
                for _ in 0..500 {
                    lm.complete(&ask("?")).await.unwrap();
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let total = ledger.total();
    assert_eq!(
        (total.calls, total.cost_msats, total.usage),
        (8000, 24_000, Usage::new(16_000, 8000))
    );
}

#[tokio::test]
async fn a_reply_with_more_tokens_than_allowed_is_recorded() {
    let budget = LmBudget::msats(1000);
    let scripted = ScriptedLm::new()
        .otherwise("yes")
        .usage(Usage::new(20, 900));
    let lm = Priced::new(scripted, prices()).budget(budget.clone());
    assert_eq!(budget.overrun(), None);
    lm.complete(&limited("?", 900)).await.unwrap();
    assert_eq!((budget.overrun(), budget.overrun_msats()), (None, 0));
    let budget = LmBudget::msats(1000);
    let scripted = ScriptedLm::new()
        .otherwise("yes")
        .usage(Usage::new(20, 900));
    let lm = Priced::new(scripted, prices()).budget(budget.clone());
    lm.complete(&limited("?", 300)).await.unwrap();
    let error = lm.complete(&limited("?", 300)).await.unwrap_err();
    assert!(matches!(
        error.kind(),
        LmErrorKind::BudgetExceeded {
            remaining_msats: 80,
            ..
        }
    ));
    let overrun = budget.overrun().unwrap();
    assert_eq!(
        (overrun.replies, overrun.tokens, overrun.max_tokens),
        (1, 900, 300)
    );
    assert_eq!(
        overrun.to_string(),
        "scripted:lm reported 900 tokens for a reply limited to 300"
    );
    assert_eq!((budget.spent_msats(), budget.overrun_msats()), (920, 0));
}
