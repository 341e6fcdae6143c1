//! The cache: the stored replies, request coalescing, access to the file.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dsrs_metrics::async_trait;
use dsrs_metrics::lm::{
    CacheMode, Cached, LanguageModel, LmBudget, LmError, LmErrorKind, LmReply, LmRequest, Price,
    Priced, Prices, ReplyCache, Sampling, ScriptedLm, StopReason, Usage,
};
use tempfile::TempDir;

use crate::ask;

const MAX_BYTES: u64 = 1 << 30;

fn temp_dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(dir: &TempDir) -> ReplyCache {
    ReplyCache::open(dir.path(), MAX_BYTES).unwrap()
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
    let reply = LmReply::new("yes").with_cost_msats(7).with_model("m-1").with_fingerprint("fp_1");
    let lm = Cached::new(ScriptedLm::new().replies([reply.clone()]), open(&dir), CacheMode::Use);
    assert_eq!(lm.complete(&ask("?")).await, Ok(reply.clone()));
    drop(lm);
    // As in another process: nothing of the first cache is left in memory.
    let lm = Cached::new(ScriptedLm::new(), open(&dir), CacheMode::Use);
    let mut again = reply.with_cost_msats(0);
    again.cached = true;
    assert_eq!(lm.complete(&ask("?")).await, Ok(again));
    let error = lm.complete(&ask("another")).await.unwrap_err().to_string();
    assert!(
        error.starts_with("scripted:lm: no scripted reply for the prompt `another`"),
        "{error}"
    );
}

#[tokio::test]
async fn trap_21_a_model_never_gets_the_reply_of_another_model() {
    let dir = temp_dir();
    let cache = open(&dir);
    let reply = |id: &str, text: &str| {
        let lm = ScriptedLm::new().named(id).otherwise(text);
        Cached::new(lm, cache.clone(), CacheMode::Use)
    };
    let (a, b) = (reply("openai:a", "from a"), reply("openai:b", "from b"));
    for _ in 0..2 {
        assert_eq!(text(&a, &ask("?")).await, "from a");
        assert_eq!(text(&b, &ask("?")).await, "from b");
    }
    assert_eq!(cache.len(), Ok(2));
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
async fn trap_21_one_name_at_two_addresses_is_two_models() {
    let dir = temp_dir();
    let cache = open(&dir);
    for address in ["http://a/v1/", "http://b/v1/"] {
        let lm = Cached::new(At(address), cache.clone(), CacheMode::Use);
        assert_eq!(text(&lm, &ask("?")).await, address);
    }
}

#[tokio::test]
async fn several_draws_are_several_replies_also_from_the_cache() {
    let dir = temp_dir();
    let lm = Cached::new(counting(), open(&dir), CacheMode::Use);
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
async fn refresh_replaces_stored_replies_and_off_neither_reads_nor_stores() {
    let dir = temp_dir();
    let cache = open(&dir);
    let scripted = counting();
    let with = |mode| Cached::new(&scripted, cache.clone(), mode);
    assert_eq!(text(&with(CacheMode::Use), &ask("?")).await, "reply 1");
    assert_eq!(text(&with(CacheMode::Off), &ask("?")).await, "reply 2");
    assert_eq!(text(&with(CacheMode::Use), &ask("?")).await, "reply 1");
    let refreshing = with(CacheMode::Refresh);
    assert_eq!(text(&refreshing, &ask("?")).await, "reply 3");
    assert_eq!(text(&refreshing, &ask("?")).await, "reply 3", "paid once per run");
    assert_eq!(text(&with(CacheMode::Use), &ask("?")).await, "reply 3");
    assert_eq!(cache.len(), Ok(1));
}

#[tokio::test]
async fn errors_are_not_stored() {
    let dir = temp_dir();
    let kind = LmErrorKind::Timeout { limit: Duration::from_secs(1) };
    let timeout = LmError::new("scripted:lm", kind);
    let scripted = ScriptedLm::new().replies([timeout.clone()]).otherwise("yes");
    let lm = Cached::new(scripted, open(&dir), CacheMode::Use);
    assert_eq!(lm.complete(&ask("?")).await, Err(timeout));
    assert_eq!(text(&lm, &ask("?")).await, "yes");
}

#[tokio::test]
async fn equal_concurrent_calls_are_one_call() {
    for mode in [CacheMode::Use, CacheMode::Refresh] {
        let dir = temp_dir();
        let reply = LmReply::new("yes").with_cost_msats(7);
        let scripted = ScriptedLm::new().otherwise(reply).latency(Duration::from_millis(30));
        let lm = Cached::new(&scripted, open(&dir), mode);
        let request = ask("?");
        let all = (0..500).map(|_| lm.complete(&request));
        let replies = futures_util::future::join_all(all).await;
        let replies: Vec<_> = replies.into_iter().map(Result::unwrap).collect();
        assert_eq!(scripted.calls(), 1, "{mode:?}");
        assert_eq!(replies.iter().filter(|reply| !reply.cached).count(), 1);
        let cost: u64 = replies.iter().map(|reply| reply.cost_msats.unwrap()).sum();
        assert_eq!(cost, 7, "paid once");
    }
}

#[tokio::test]
async fn equal_concurrent_calls_share_an_error_but_not_its_cost() {
    let dir = temp_dir();
    let kind = LmErrorKind::InvalidReply { reason: "truncated".to_owned() };
    let paid = LmError::new("scripted:lm", kind).with_cost_msats(Some(9));
    let scripted = ScriptedLm::new().replies([paid]).latency(Duration::from_millis(30));
    let lm = Cached::new(&scripted, open(&dir), CacheMode::Use);
    let request = ask("?");
    let all = (0..20).map(|_| lm.complete(&request));
    let errors = futures_util::future::join_all(all).await;
    let costs: Vec<_> = errors.into_iter().map(|e| e.unwrap_err().cost_msats()).collect();
    assert_eq!(costs.iter().flatten().sum::<u64>(), 9);
    assert_eq!(scripted.calls(), 1);
}

#[tokio::test]
async fn if_a_shared_call_is_cancelled_a_waiting_call_replaces_it() {
    let dir = temp_dir();
    let scripted = ScriptedLm::new().otherwise("yes").latency(Duration::from_millis(50));
    let lm = Arc::new(Cached::new(scripted, open(&dir), CacheMode::Use));
    let request = ask("?");
    let first = tokio::time::timeout(Duration::from_millis(10), lm.complete(&request));
    let waiting = (0..10).map(|_| lm.complete(&request));
    let (first, waiting) = tokio::join!(first, futures_util::future::join_all(waiting));
    assert_eq!(first.unwrap_err().to_string(), "deadline has elapsed", "it was cancelled");
    let texts: Vec<_> = waiting.into_iter().map(|reply| reply.unwrap().text).collect();
    assert_eq!(texts, ["yes"; 10]);
}

#[tokio::test]
async fn the_least_recently_used_replies_are_evicted() {
    let dir = temp_dir();
    let cache = ReplyCache::open(dir.path(), 100_000).unwrap();
    let scripted = ScriptedLm::new().otherwise("x".repeat(1000)).remember(0);
    let lm = Cached::new(&scripted, cache.clone(), CacheMode::Use);
    let first = ask("call 0");
    lm.complete(&first).await.unwrap();
    for call in 1..300 {
        lm.complete(&ask(&format!("call {call}"))).await.unwrap();
        // It is used often, so it is not evicted although it is the oldest.
        assert!(lm.complete(&first).await.unwrap().cached, "after {call}");
    }
    let len = cache.len().unwrap();
    assert!((30..80).contains(&len), "{len} replies of about 1.4 kB in 100 kB");
    assert!(lm.complete(&ask("call 299")).await.unwrap().cached);
    assert!(!lm.complete(&ask("call 1")).await.unwrap().cached);
    let size = std::fs::metadata(cache.path()).unwrap().len();
    assert!(size < 4_000_000, "the file reuses its space: {size}");
}

#[tokio::test]
async fn several_models_of_a_process_share_one_file() {
    let dir = temp_dir();
    let caches: Vec<_> = (0..4).map(|_| open(&dir)).collect();
    let models: Vec<_> = caches
        .into_iter()
        .enumerate()
        .map(|(at, cache)| {
            let lm = ScriptedLm::new().named(format!("p:{at}")).otherwise(format!("{at}"));
            Cached::new(lm, cache, CacheMode::Use)
        })
        .collect();
    for (at, lm) in models.iter().enumerate() {
        assert_eq!(text(lm, &ask("?")).await, at.to_string());
    }
    assert_eq!(open(&dir).len(), Ok(4));
}

#[test]
fn a_file_that_is_not_a_cache_is_not_changed() {
    let dir = temp_dir();
    let path = dir.path().join("replies.redb");
    std::fs::write(&path, "some notes of mine\n".repeat(500)).unwrap();
    let error = ReplyCache::open(dir.path(), MAX_BYTES).unwrap_err().to_string();
    assert!(error.contains("move the file away"), "{error}");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("some notes of mine"));
}

#[test]
fn a_directory_that_cannot_be_created_is_named() {
    let dir = temp_dir();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = ReplyCache::open(file.join("cache"), MAX_BYTES).unwrap_err();
    let LmErrorKind::Cache { path, .. } = error.kind() else { panic!("{error}") };
    assert!(path.ends_with("file/cache"), "{path}");
    assert!(error.to_string().contains("set DSRS_CACHE to another directory"), "{error}");
    let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
    assert_eq!(source.unwrap().kind(), std::io::ErrorKind::NotADirectory);
}

/// Damage on disk: some bytes of the file are changed, or its end is missing.
#[tokio::test]
async fn a_damaged_file_is_an_error_or_returns_right_replies_and_never_panics() {
    let intact = temp_dir();
    let lm = Cached::new(counting(), open(&intact), CacheMode::Use);
    for call in 0..200 {
        lm.complete(&ask(&format!("call {call}"))).await.unwrap();
    }
    drop(lm);
    let bytes = std::fs::read(intact.path().join("replies.redb")).unwrap();
    for damage in 0..60_usize {
        let dir = temp_dir();
        let mut damaged = bytes.clone();
        match damage % 3 {
            0 => damaged.truncate(bytes.len() * damage / 60),
            _ => {
                for at in (0..40).map(|step| (damage * 7919 + step * 104_729) % bytes.len()) {
                    damaged[at] ^= 0x5a;
                }
            }
        }
        std::fs::write(dir.path().join("replies.redb"), damaged).unwrap();
        let cache = match ReplyCache::open(dir.path(), MAX_BYTES) {
            Ok(cache) => cache,
            Err(error) => {
                assert!(error.to_string().contains("move the file away"), "{damage}: {error}");
                continue;
            }
        };
        let lm = Cached::new(ScriptedLm::new().otherwise("new"), cache, CacheMode::Use);
        for call in 0..200 {
            let expected = format!("reply {}", call + 1);
            match lm.complete(&ask(&format!("call {call}"))).await {
                Ok(reply) => assert!(reply.text == expected || reply.text == "new", "{damage}"),
                Err(error) => {
                    let is_cache_error = matches!(error.kind(), LmErrorKind::Cache { .. });
                    assert!(is_cache_error, "{damage}: {error}");
                }
            }
        }
    }
}

/// The limit that a budget adds to a request without one.
#[tokio::test]
async fn a_budget_does_not_change_the_key_of_a_reply() {
    let dir = temp_dir();
    let price = Price { input: 1.0, output: 1.0, cached_input: None };
    let prices = || Prices::empty().with("scripted:lm", price);
    let model = || Arc::new(counting().usage(Usage::new(1, 1)));
    let (first, second) = (model(), model());
    let without = Cached::new(Priced::new(&*first, prices()), open(&dir), CacheMode::Use);
    assert_eq!(text(&without, &ask("?")).await, "reply 1");
    let budget = LmBudget::msats(1_000_000);
    let under = Priced::new(&*second, prices()).budget(budget.clone());
    let under = Cached::new(under, open(&dir), CacheMode::Use);
    assert_eq!(text(&under, &ask("?")).await, "reply 1");
    assert_eq!((second.calls(), budget.spent_msats()), (0, 0), "no call is paid for twice");
    // And the other way round.
    assert_eq!(text(&under, &ask("!")).await, "reply 1");
    assert_eq!(text(&without, &ask("!")).await, "reply 1");
    assert_eq!((first.calls(), second.calls()), (1, 1));
    // A limit that the request itself sets is part of the key.
    let sampling = Sampling { max_tokens: Some(4096), ..Sampling::default() };
    assert_eq!(text(&without, &ask("?").with_sampling(sampling)).await, "reply 2");
}

/// A truncated reply is not stored, so that one within the limit of a budget is not the reply without it.
#[tokio::test]
async fn a_reply_that_the_limit_truncates_is_not_stored() {
    let dir = temp_dir();
    let cut = LmReply::new("half").with_stop_reason(StopReason::Length);
    let lm = ScriptedLm::new().replies([cut]).otherwise("whole");
    let lm = Cached::new(lm, open(&dir), CacheMode::Use);
    assert_eq!(text(&lm, &ask("?")).await, "half");
    assert_eq!(text(&lm, &ask("?")).await, "whole");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_can_read_the_cache() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let dir = temp_dir();
    let nested = dir.path().join("new").join("cache");
    let cache = ReplyCache::open(&nested, MAX_BYTES).unwrap();
    let file = cache.path().to_owned();
    assert_eq!((mode(&file), mode(&nested)), (0o600, 0o700));
    assert_eq!(mode(&dir.path().join("new")), 0o700, "also the directories above it");
    drop(cache);
    // A file of an earlier version, in a directory whose mode the user has set.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::set_permissions(&nested, std::fs::Permissions::from_mode(0o755)).unwrap();
    let cache = ReplyCache::open(&nested, MAX_BYTES).unwrap();
    assert_eq!((mode(cache.path()), mode(&nested)), (0o600, 0o755));
}
