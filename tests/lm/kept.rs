//! What is stored: the key is the request without the limit that a budget adds, and a reply without an answer is stored
//! only if it cost something.

use std::collections::HashSet;
use std::sync::Arc;

use dsrs_metrics::lm::{
    LanguageModel, LmBudget, LmReply, LmRequest, ReplySchema, Sampling, ScriptedLm, StopReason,
    Store, Stored, Usage,
};
use dsrs_metrics::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use crate::server::{Answer, Server};
use crate::{ask, plain};

fn open() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    (dir, store)
}

fn with_schema(schema: &str) -> LmRequest {
    ask("?").with_schema(ReplySchema::new("s", serde_json::from_str(schema).unwrap()))
}

/// Requests that differ in one property each, and some that are equal.
fn variants() -> Vec<LmRequest> {
    let sampled = |sampling| ask("?").with_sampling(sampling);
    let none = Sampling::default();
    vec![
        ask("?"),
        ask("?"),
        ask("!"),
        ask("?").system("?"),
        ask("?").assistant("?"),
        sampled(Sampling {
            temperature: Some(0.0),
            ..none
        }),
        sampled(Sampling {
            temperature: Some(0.5),
            ..none
        }),
        sampled(Sampling {
            top_p: Some(0.5),
            ..none
        }),
        sampled(Sampling {
            max_tokens: Some(4096),
            ..none
        }),
        sampled(Sampling {
            max_tokens: Some(16),
            ..none
        }),
        sampled(Sampling {
            seed: Some(0),
            ..none
        }),
        sampled(Sampling {
            seed: Some(1),
            ..none
        }),
        with_schema(
            r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}"#,
        ),
        with_schema(
            r#"{"type":"object","properties":{"b":{"type":"number"},"a":{"type":"number"}}}"#,
        ),
        with_schema(r#"{"type":"object","properties":{"a":{"type":"number"}}}"#),
        with_schema(r#"{"type":"object","properties":{"a":{"type":"number"}}}"#),
    ]
}

/// With the real client: the request body that a server receives decides, except for the limit that a
/// budget adds.
#[tokio::test]
async fn requests_have_equal_keys_if_and_only_if_their_bodies_are_equal() {
    let server = Server::start(|_| Answer::chat("yes")).await;
    let dir = tempfile::tempdir().unwrap();
    let build = |is_stored: bool, is_limited| {
        let lm = plain("openai:gpt-6-luna", &server.url("/v1"));
        let lm = if is_stored {
            lm.store(dir.path())
        } else {
            lm.no_store()
        };
        if is_limited {
            lm.budget(LmBudget::msats(1 << 40))
        } else {
            lm
        }
        .build()
        .unwrap()
    };
    let mut bodies = HashSet::new();
    for is_limited in [false, true] {
        let (direct, storing) = (build(false, is_limited), build(true, is_limited));
        for request in variants() {
            direct.complete(&request).await.unwrap();
            let mut body = server.received().last().unwrap().body.clone();
            if is_limited && request.sampling.max_tokens.is_none() {
                let added = body
                    .as_object_mut()
                    .unwrap()
                    .remove("max_completion_tokens");
                assert_eq!(added, Some(json!(4096)));
            }
            let body = body.to_string();
            let reply = storing.complete(&request).await.unwrap();
            assert_eq!(reply.cached, !bodies.insert(body.clone()), "{body}");
        }
    }
    assert_eq!(
        bodies.len(),
        14,
        "the same replies with and without a budget"
    );
}

async fn is_stored(reply: LmReply) -> bool {
    let (_dir, store) = open();
    let scripted = ScriptedLm::new().replies([reply]).otherwise("second call");
    let lm = Stored::new(&scripted, store);
    lm.complete(&ask("?")).await.unwrap();
    let again = lm.complete(&ask("?")).await.unwrap();
    assert_eq!(scripted.calls(), if again.cached { 1 } else { 2 });
    again.cached
}

#[tokio::test]
async fn free_replies_without_an_answer_are_not_stored() {
    let text = |text: &str, reason| LmReply::new(text).with_stop_reason(reason);
    for stored in [
        text(r#"{"score": 1}"#, StopReason::End),
        text("no JSON at all", StopReason::End),
        text(r#"{"score": 1}"#, StopReason::Other("eos".to_owned())),
    ] {
        assert!(is_stored(stored.clone()).await, "{stored:?}");
    }
    for incomplete in [
        text(r#"{"sco"#, StopReason::Length),
        text("", StopReason::Filtered),
        text(r#"{"score": 1}"#, StopReason::Filtered),
        text("", StopReason::Refusal("I can't.".to_owned())),
        text("", StopReason::Other("recitation".to_owned())),
        text(" \n", StopReason::End),
    ] {
        assert!(!is_stored(incomplete.clone()).await, "{incomplete:?}");
    }
}

/// Grade the answer.
#[judge(reasoning = false)]
struct Graded {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    score: f64,
}

/// Judges one row in a separate run.
async fn judged(store: &Store, refresh: bool, lm: &Arc<ScriptedLm>) -> Result<f64, String> {
    let lm = Stored::new(Arc::clone(lm), store.clone());
    let lm = if refresh { lm.refresh().unwrap() } else { lm };
    let judge = GradedJudge::default().with_lm(lm);
    let scored = judge
        .evaluate(&example! {}, &prediction! { "answer" => "Paris" })
        .await;
    scored
        .map(|score| score.value)
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn an_invalid_verdict_is_not_paid_for_twice_and_a_refresh_calls_again() {
    let (_dir, store) = open();
    let lm = ScriptedLm::new().replies(["hm", "hm again", r#"{"score": 0.5}"#]);
    let lm = Arc::new(lm);
    let failed = judged(&store, false, &lm).await.unwrap_err();
    assert!(
        failed.contains("returned no verdict after one repair"),
        "{failed}"
    );
    assert_eq!(lm.calls(), 2);
    assert_eq!(
        judged(&store, false, &lm).await,
        Err(failed),
        "the same error"
    );
    assert_eq!(lm.calls(), 2, "at no cost");
    assert_eq!(judged(&store, true, &lm).await, Ok(0.5));
    assert_eq!(judged(&store, false, &lm).await, Ok(0.5));
    assert_eq!(lm.calls(), 3);
}

#[tokio::test]
async fn the_next_run_calls_again_for_a_truncated_filtered_or_refused_reply() {
    for (stop_reason, expected) in [
        (StopReason::Length, "was truncated"),
        (StopReason::Filtered, "filter withheld"),
        (
            StopReason::Refusal("no".to_owned()),
            "declined to judge: no",
        ),
    ] {
        let (_dir, store) = open();
        let truncated = LmReply::new(r#"{"score"#).with_stop_reason(stop_reason);
        let lm = Arc::new(
            ScriptedLm::new()
                .replies([truncated])
                .otherwise(r#"{"score": 0.5}"#),
        );
        let failed = judged(&store, false, &lm).await.unwrap_err();
        assert!(failed.contains(expected), "{failed}");
        assert_eq!(judged(&store, false, &lm).await, Ok(0.5));
        assert_eq!(judged(&store, false, &lm).await, Ok(0.5));
        assert_eq!(lm.calls(), 2, "and the second reply is stored");
    }
}

#[tokio::test]
async fn the_score_of_a_stored_reply_has_the_calls_and_the_cost_that_were_paid() {
    let (_dir, store) = open();
    let scripted = ScriptedLm::new()
        .otherwise(r#"{"score": 0.5}"#)
        .usage(Usage::new(40, 2))
        .cost(42);
    let lm = Arc::new(Stored::new(scripted, store));
    let judge = GradedJudge::default().with_lm(lm);
    let (gold, pred) = (example! {}, prediction! { "answer" => "Paris" });
    let mut counts = Vec::new();
    for _ in 0..2 {
        let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
        let metadata = scored.metadata().unwrap();
        let tokens = metadata
            .get("usage")
            .map(|usage| usage["prompt_tokens"].clone());
        counts.push((metadata["calls"].clone(), tokens, scored.score.cost_msats));
    }
    assert_eq!(counts[0], (json!(1), Some(json!(40)), 42));
    assert_eq!(counts[1], counts[0], "as when it was paid for");
}
