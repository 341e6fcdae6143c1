//! The store: replies, request coalescing, and pruning.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dsrs_metrics::async_trait;
use dsrs_metrics::lm::{
    LanguageModel, LmBudget, LmError, LmErrorKind, LmReply, LmRequest, Price, Priced, Prices,
    Sampling, ScriptedLm, StopReason, Store, Stored, Usage,
};
use tempfile::TempDir;

use crate::ask;

fn temp_dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(dir: &TempDir) -> Store {
    Store::open(dir.path()).unwrap()
}

/// A model that numbers its replies.
fn counting() -> ScriptedLm {
    let calls = AtomicU64::new(0);
    ScriptedLm::new().otherwise(move |_: &LmRequest| {
        format!("reply {}", calls.fetch_add(1, Ordering::SeqCst) + 1)
    })
}

async fn text(lm: &impl LanguageModel, request: &LmRequest) -> String {
    lm.complete(request).await.unwrap().text
}

#[tokio::test]
async fn the_next_run_reads_a_stored_reply_at_no_cost() {
    let dir = temp_dir();
    let reply = LmReply::new("yes")
        .with_cost_msats(7)
        .with_model("m-1")
        .with_fingerprint("fp_1");
    let lm = Stored::new(ScriptedLm::new().replies([reply.clone()]), open(&dir));
    assert_eq!(lm.complete(&ask("?")).await, Ok(reply.clone()));
    drop(lm);
    // As in another process: nothing of the first store is left in memory.
    let lm = Stored::new(ScriptedLm::new(), open(&dir));
    let mut again = reply;
    again.cached = true;
    assert_eq!(lm.complete(&ask("?")).await, Ok(again));
    let error = lm.complete(&ask("another")).await.unwrap_err().to_string();
    assert!(
        error.starts_with("scripted:lm: no scripted reply for the prompt `another`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_model_never_gets_the_reply_of_another_model() {
    let dir = temp_dir();
    let store = open(&dir);
    let reply = |id: &str, text: &str| {
        let lm = ScriptedLm::new().named(id).otherwise(text);
        Stored::new(lm, store.clone())
    };
    let (a, b) = (reply("openai:a", "from a"), reply("openai:b", "from b"));
    for _ in 0..2 {
        assert_eq!(text(&a, &ask("?")).await, "from a");
        assert_eq!(text(&b, &ask("?")).await, "from b");
    }
    assert_eq!(store.info().unwrap().replies, 2);
}

struct At(&'static str);

#[async_trait]
impl LanguageModel for At {
    fn id(&self) -> &str {
        "openai:m"
    }

    fn endpoint(&self) -> Option<&str> {
        Some(self.0)
    }

    async fn complete(&self, _: &LmRequest) -> Result<LmReply, LmError> {
        Ok(LmReply::new(self.0))
    }
}

#[tokio::test]
async fn one_name_at_two_addresses_is_two_models() {
    let dir = temp_dir();
    let store = open(&dir);
    for address in ["http://a/v1/", "http://b/v1/"] {
        let lm = Stored::new(At(address), store.clone());
        assert_eq!(text(&lm, &ask("?")).await, address);
    }
}

#[tokio::test]
async fn several_draws_are_several_replies_also_from_the_store() {
    let dir = temp_dir();
    let lm = Stored::new(counting(), open(&dir));
    let draws = |lm| async move {
        let mut replies = Vec::new();
        for draw in 0..3 {
            replies.push(text(lm, &ask("?").with_draw(draw)).await);
        }
        replies
    };
    let first = draws(&lm).await;
    assert_eq!(first, ["reply 1", "reply 2", "reply 3"]);
    assert_eq!(draws(&lm).await, first);
}

#[tokio::test]
async fn refresh_replaces_stored_replies() {
    let dir = temp_dir();
    let store = open(&dir);
    let scripted = counting();
    let with = || Stored::new(&scripted, store.clone());
    assert_eq!(text(&with(), &ask("?")).await, "reply 1");
    assert_eq!(text(&with(), &ask("?")).await, "reply 1");
    let refreshing = with().refresh().unwrap();
    assert_eq!(text(&refreshing, &ask("?")).await, "reply 2");
    assert_eq!(
        text(&refreshing, &ask("?")).await,
        "reply 2",
        "paid once per run"
    );
    assert_eq!(text(&with(), &ask("?")).await, "reply 2");
    assert_eq!(store.info().unwrap().replies, 1);
}

#[tokio::test]
async fn errors_are_not_stored() {
    let dir = temp_dir();
    let kind = LmErrorKind::Timeout {
        limit: Duration::from_secs(1),
    };
    let timeout = LmError::new("scripted:lm", kind);
    let scripted = ScriptedLm::new()
        .replies([timeout.clone()])
        .otherwise("yes");
    let lm = Stored::new(scripted, open(&dir));
    assert_eq!(lm.complete(&ask("?")).await, Err(timeout));
    assert_eq!(text(&lm, &ask("?")).await, "yes");
}

#[tokio::test]
async fn equal_concurrent_calls_are_one_call() {
    for refresh in [false, true] {
        let dir = temp_dir();
        let reply = LmReply::new("yes").with_cost_msats(7);
        let scripted = ScriptedLm::new()
            .otherwise(reply)
            .latency(Duration::from_millis(30));
        let lm = Stored::new(&scripted, open(&dir));
        let lm = if refresh { lm.refresh().unwrap() } else { lm };
        let request = ask("?");
        let all = (0..500).map(|_| lm.complete(&request));
        let replies = futures_util::future::join_all(all).await;
        let replies: Vec<_> = replies.into_iter().map(Result::unwrap).collect();
        assert_eq!(scripted.calls(), 1, "{refresh}");
        assert_eq!(replies.iter().filter(|reply| !reply.cached).count(), 1);
        assert!(
            replies.iter().all(|reply| reply.cost_msats == Some(7)),
            "what was paid for it"
        );
    }
}

#[tokio::test]
async fn equal_concurrent_calls_share_an_error_but_not_its_cost() {
    let dir = temp_dir();
    let kind = LmErrorKind::InvalidReply("truncated".to_owned());
    let paid = LmError::new("scripted:lm", kind).with_cost_msats(Some(9));
    let scripted = ScriptedLm::new()
        .replies([paid])
        .latency(Duration::from_millis(30));
    let lm = Stored::new(&scripted, open(&dir));
    let request = ask("?");
    let all = (0..20).map(|_| lm.complete(&request));
    let errors = futures_util::future::join_all(all).await;
    let costs: Vec<_> = errors
        .into_iter()
        .map(|e| e.unwrap_err().cost_msats())
        .collect();
    assert_eq!(costs.iter().flatten().sum::<u64>(), 9);
    assert_eq!(scripted.calls(), 1);
}

#[tokio::test]
async fn if_a_shared_call_is_cancelled_a_waiting_call_replaces_it() {
    let dir = temp_dir();
    let scripted = ScriptedLm::new()
        .otherwise("yes")
        .latency(Duration::from_millis(50));
    let lm = Arc::new(Stored::new(scripted, open(&dir)));
    let request = ask("?");
    let first = tokio::time::timeout(Duration::from_millis(10), lm.complete(&request));
    let waiting = (0..10).map(|_| lm.complete(&request));
    let (first, waiting) = tokio::join!(first, futures_util::future::join_all(waiting));
    assert_eq!(
        first.unwrap_err().to_string(),
        "deadline has elapsed",
        "it was cancelled"
    );
    let texts: Vec<_> = waiting
        .into_iter()
        .map(|reply| reply.unwrap().text)
        .collect();
    assert_eq!(texts, ["yes"; 10]);
}

#[tokio::test]
async fn several_models_of_a_process_share_one_file() {
    let dir = temp_dir();
    let stores: Vec<_> = (0..4).map(|_| open(&dir)).collect();
    let models: Vec<_> = stores
        .into_iter()
        .enumerate()
        .map(|(at, store)| {
            let lm = ScriptedLm::new()
                .named(format!("p:{at}"))
                .otherwise(format!("{at}"));
            Stored::new(lm, store)
        })
        .collect();
    for (at, lm) in models.iter().enumerate() {
        assert_eq!(text(lm, &ask("?")).await, at.to_string());
    }
    assert_eq!(open(&dir).info().unwrap().replies, 4);
}

#[tokio::test]
async fn old_records_and_those_beyond_a_size_are_pruned() {
    let dir = temp_dir();
    let store = open(&dir);
    let lm = Stored::new(
        ScriptedLm::new().otherwise("x".repeat(2000)).cost(7),
        store.clone(),
    );
    for call in 0..500 {
        lm.complete(&ask(&call.to_string())).await.unwrap();
    }
    let info = store.info().unwrap();
    assert_eq!((info.replies, info.cost_msats), (500, 3500));
    let day = Duration::from_secs(24 * 60 * 60);
    assert_eq!(store.prune(Some(day), None).unwrap().records, 0);
    let pruned = store.prune(None, Some(400_000)).unwrap();
    assert!(
        pruned.bytes.0 > 1_000_000 && pruned.bytes.1 <= 400_000,
        "{pruned:?}"
    );
    let left = store.info().unwrap();
    assert_eq!(left.replies, 500 - pruned.records);
    assert!((50..200).contains(&left.replies), "{left:?}");
    assert!(
        lm.complete(&ask("499")).await.unwrap().cached,
        "the newest remain"
    );
    assert!(!lm.complete(&ask("0")).await.unwrap().cached);
    rusqlite::Connection::open(store.path())
        .unwrap()
        .execute("UPDATE records SET stored_at = 1000", ())
        .unwrap();
    assert_eq!(store.info().unwrap().stored_at, Some((1000, 1000)));
    assert_eq!(
        store.prune(Some(day), None).unwrap().records,
        left.replies + 1
    );
}

fn prices() -> Prices {
    let price = Price {
        input: 1.0,
        output: 1.0,
        cached_input: None,
    };
    Prices::empty().with("scripted:lm", price)
}

/// The limit that a budget adds to a request without one.
#[tokio::test]
async fn a_budget_does_not_change_the_key_of_a_reply() {
    let dir = temp_dir();
    let model = || Arc::new(counting().usage(Usage::new(1, 1)));
    let (first, second) = (model(), model());
    let without = Stored::new(Priced::new(&*first, prices()), open(&dir));
    assert_eq!(text(&without, &ask("?")).await, "reply 1");
    let budget = LmBudget::msats(1_000_000);
    let under = Priced::new(&*second, prices()).budget(budget.clone());
    let under = Stored::new(under, open(&dir));
    assert_eq!(text(&under, &ask("?")).await, "reply 1");
    assert_eq!(
        (second.calls(), budget.spent_msats()),
        (0, 0),
        "no call is paid for twice"
    );
    // And the other way round.
    assert_eq!(text(&under, &ask("!")).await, "reply 1");
    assert_eq!(text(&without, &ask("!")).await, "reply 1");
    assert_eq!((first.calls(), second.calls()), (1, 1));
    // A limit that the request itself sets is part of the key.
    let sampling = Sampling {
        max_tokens: Some(4096),
        ..Sampling::default()
    };
    assert_eq!(
        text(&without, &ask("?").with_sampling(sampling)).await,
        "reply 2"
    );
}

/// A reply that the limit of a budget truncates is paid for once, and isn't the reply of a run without a budget.
#[tokio::test]
async fn a_reply_that_a_budget_truncates_is_returned_only_under_a_budget() {
    let dir = temp_dir();
    let usage = Usage::new(1, 4096);
    let cut = LmReply::new("half")
        .with_stop_reason(StopReason::Length)
        .with_usage(usage);
    let lm = Arc::new(ScriptedLm::new().replies([cut]).otherwise("whole"));
    let priced = || Priced::new(lm.clone(), prices());
    let budget = || priced().budget(LmBudget::msats(1_000_000));
    for _ in 0..2 {
        let limited = Stored::new(budget(), open(&dir));
        assert_eq!(text(&limited, &ask("?")).await, "half");
    }
    assert_eq!(lm.calls(), 1);
    let unlimited = Stored::new(priced(), open(&dir));
    assert_eq!(text(&unlimited, &ask("?")).await, "whole");
    assert_eq!(lm.calls(), 2);
    let limited = Stored::new(budget(), open(&dir));
    assert_eq!(text(&limited, &ask("?")).await, "whole");
    assert_eq!(lm.calls(), 2);
}

#[tokio::test]
async fn a_truncated_reply_that_cost_nothing_is_not_stored() {
    let dir = temp_dir();
    let cut = LmReply::new("half").with_stop_reason(StopReason::Length);
    let lm = ScriptedLm::new().replies([cut]).otherwise("whole");
    let lm = Stored::new(lm, open(&dir));
    assert_eq!(text(&lm, &ask("?")).await, "half");
    assert_eq!(text(&lm, &ask("?")).await, "whole");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_can_read_the_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let dir = temp_dir();
    let nested = dir.path().join("new").join("store");
    let store = Store::open(&nested).unwrap();
    let file = store.path().to_owned();
    assert_eq!((mode(&file), mode(&nested)), (0o600, 0o700));
    assert_eq!(
        mode(&dir.path().join("new")),
        0o700,
        "also the directories above it"
    );
    drop(store);
    // A file of an earlier version, in a directory whose mode the user has set.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::set_permissions(&nested, std::fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&nested).unwrap();
    assert_eq!((mode(store.path()), mode(&nested)), (0o600, 0o755));
}
