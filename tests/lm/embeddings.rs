//! Embedding models of providers: the format, the layers, and replies that are not vectors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dsrs_metrics::lm::{
    EmbeddingModel, Ledger, LmBudget, LmBuilder, LmErrorKind, LmEstimate, Price, Prices,
    ProviderEmbedder, RateLimiter, Usage,
};
use dsrs_metrics::metrics::SemanticSimilarity;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, Outcome, rows::Pair};
use serde_json::{Value, json};

use crate::judge_command_line::score;
use crate::server::{Answer, Received, Server};
use crate::{KEY, plain, quick};

const MODEL: &str = "openai:text-embedding-3-small";

/// The strings of a request.
fn texts(received: &Received) -> Vec<String> {
    serde_json::from_value(received.body["input"].clone()).unwrap()
}

/// The vector of a string: its length, and 1.
fn vector(text: &str) -> Value {
    json!([text.len(), 1])
}

fn reply(data: &Value) -> Answer {
    let usage = json!({ "prompt_tokens": 1000, "total_tokens": 1000 });
    Answer::json(
        200,
        &json!({ "object": "list", "data": data, "model": "served", "usage": usage }),
    )
}

/// Replies with the vectors in reverse order, each with its index.
fn vectors(received: &Received) -> Answer {
    let texts = texts(received);
    let items = texts.iter().enumerate().rev();
    let items = items.map(|(index, text)| json!({ "index": index, "embedding": vector(text) }));
    reply(&items.collect())
}

/// A dollar per million tokens: a token costs one msat.
fn priced(builder: LmBuilder) -> LmBuilder {
    let price = Price {
        input: 1.0,
        output: 0.0,
        cached_input: None,
    };
    builder.prices(Prices::empty().with(MODEL, price))
}

fn built(server: &Server) -> ProviderEmbedder {
    plain(MODEL, &server.url("/v1")).build_embedder().unwrap()
}

#[tokio::test]
async fn the_request_has_the_strings_and_the_reply_is_read_by_index() {
    let server = Server::start(vectors).await;
    let model = built(&server);
    assert_eq!(
        (model.id(), model.endpoint()),
        (MODEL, Some(server.url("/v1/").as_str()))
    );
    let embeddings = model.embed(&["one", "three"]).await.unwrap();
    assert_eq!(embeddings.vectors(), [[3.0, 1.0], [5.0, 1.0]]);
    // 1000 tokens at 0.02 dollars per million, at a million msat per dollar.
    assert_eq!(
        (embeddings.usage(), embeddings.cost_msats()),
        (Usage::new(1000, 0), Some(20))
    );
    let received = &server.received()[0];
    assert_eq!(received.path, "/v1/embeddings");
    assert_eq!(received.header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(
        received.body,
        json!({ "model": "text-embedding-3-small", "input": ["one", "three"] })
    );
    model.probe().await.unwrap();
    assert_eq!(texts(&server.received()[1]).len(), 1);
}

#[tokio::test]
async fn gemini_is_called_in_the_format_of_openai_and_anthropic_has_no_embeddings() {
    let server = Server::start(vectors).await;
    let gemini = plain("gemini:gemini-embedding-001", &server.url("/v1beta"));
    gemini
        .build_embedder()
        .unwrap()
        .embed(&["a"])
        .await
        .unwrap();
    assert_eq!(server.received()[0].path, "/v1beta/openai/embeddings");
    let anthropic = plain("anthropic:m", &server.url("/v1"))
        .build_embedder()
        .unwrap();
    let error = anthropic.embed(&["a"]).await.unwrap_err().to_string();
    assert!(error.contains("the provider has no embeddings"), "{error}");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn many_strings_are_several_calls_of_at_most_64() {
    let server = Server::start(vectors).await;
    let many: Vec<String> = (0..130).map(|number| "x".repeat(number + 1)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let embeddings = built(&server).embed(&many).await.unwrap();
    let lengths: Vec<f32> = embeddings
        .vectors()
        .iter()
        .map(|vector| vector[0])
        .collect();
    assert_eq!(
        lengths,
        (1..=130).map(|length| length as f32).collect::<Vec<_>>()
    );
    let sizes: Vec<_> = server
        .received()
        .iter()
        .map(|received| texts(received).len())
        .collect();
    assert_eq!(
        (sizes, embeddings.cost_msats()),
        (vec![64, 64, 2], Some(60))
    );
}

#[tokio::test]
async fn bad_replies_are_errors_in_words() {
    let with_body =
        |body: &str| Answer::html(200, body).with_content_type(Some("application/json"));
    let one = |embedding: Value| reply(&json!([{ "index": 0, "embedding": embedding }]));
    let two = |one: Value, other: Value| {
        reply(&json!([{ "index": 0, "embedding": one }, { "index": 1, "embedding": other }]))
    };
    let cases = [
        (one(json!([1, 2])), "expected 2 vectors, found 1"),
        (
            two(json!([1, 2]), json!([1, 2, 3])),
            "expected vectors of the same length, found 2 and 3 numbers",
        ),
        (
            two(json!([]), json!([])),
            "expected vectors of at least 1 number, found an empty vector",
        ),
        (
            two(json!([1, 2]), json!([1, "NaN"])),
            "vector 2: invalid type: string \"NaN\", expected f32",
        ),
        (
            two(json!([null, 2]), json!([1, 2])),
            "vector 1: invalid type: null, expected f32",
        ),
        (
            two(json!([1e39, 2]), json!([1, 2])),
            "expected finite numbers, found inf at position 1 of vector 1",
        ),
        (
            two(json!("AACAPw=="), json!([1, 2])),
            "vector 1: invalid type: string \"AACAPw==\", expected a sequence",
        ),
        (
            reply(&json!([{ "index": 0, "embedding": [1] }, { "index": 0, "embedding": [2] }])),
            "expected one vector for each index from 0",
        ),
        (
            reply(&json!([{ "index": 0, "embedding": [1] }, { "index": 7, "embedding": [2] }])),
            "expected one vector for each index from 0",
        ),
        (
            with_body(
                r#"{"data":[{"embedding":[1]},{"embedding":[1]}],"data":[{"embedding":[2]},{"embedding":[2]}]}"#,
            ),
            "duplicate key `data`",
        ),
        (
            with_body(r#"{"data":[{"embedding":[1],"embedding":[2]},{"embedding":[1]}]}"#),
            "duplicate key `embedding`",
        ),
        (Answer::chat("yes"), "expected a list `data`"),
        (
            Answer::html(200, "<html>"),
            "expected JSON, found `text/html`",
        ),
        (
            two(json!(vec![1; 1 << 15]), json!([1])),
            "expected a vector of at most 16384 numbers, found 32768",
        ),
    ];
    for (answer, expected) in cases {
        let server = Server::start(move |_| answer.clone()).await;
        let error = built(&server).embed(&["a", "b"]).await.unwrap_err();
        let message = error.to_string();
        assert!(
            matches!(error.kind(), LmErrorKind::InvalidReply { .. }),
            "{message}"
        );
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[tokio::test]
async fn a_reply_is_read_up_to_the_limits_of_bytes_and_values() {
    let server = Server::start(vectors).await;
    let model = plain(MODEL, &server.url("/v1"))
        .max_reply_bytes(99)
        .build_embedder()
        .unwrap();
    let error = model.embed(&["a"]).await.unwrap_err();
    assert_eq!(
        error.kind(),
        &LmErrorKind::ReplyTooLarge {
            limit: 99,
            unit: "bytes"
        }
    );
    // Lists that are not vectors.
    let server = Server::start(|_| reply(&json!(vec![json!([]); 200_000]))).await;
    let error = built(&server).embed(&["a"]).await.unwrap_err();
    let kind = LmErrorKind::ReplyTooLarge {
        limit: 116_384,
        unit: "JSON values",
    };
    assert_eq!(error.kind(), &kind);
    // The vectors of a full call: 64 with 3072 numbers each, more values than the reply of a judge may have.
    let server = Server::start(|received| {
        let vector = json!(vec![0.5; 3072]);
        reply(
            &texts(received)
                .iter()
                .map(|_| json!({ "embedding": vector }))
                .collect(),
        )
    })
    .await;
    let many: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(
        built(&server).embed(&many).await.unwrap().vectors().len(),
        64
    );
}

#[tokio::test]
async fn transient_failures_are_retried_and_an_invalid_reply_is_not() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let server = Server::start(
        move |received| match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Answer::error(503, "overloaded"),
            1 => Answer::error(429, "slow down").with_header("retry-after", "0"),
            _ => vectors(received),
        },
    )
    .await;
    let model = plain(MODEL, &server.url("/v1"))
        .retry(quick(5))
        .build_embedder()
        .unwrap();
    assert_eq!(model.embed(&["abc"]).await.unwrap().vectors(), [[3.0, 1.0]]);
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let server = Server::start(|_| reply(&json!([]))).await;
    let model = plain(MODEL, &server.url("/v1"))
        .retry(quick(5))
        .build_embedder()
        .unwrap();
    model.embed(&["abc"]).await.unwrap_err();
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn calls_are_limited_charged_to_the_budget_and_counted() {
    let server = Server::start(vectors).await;
    let (ledger, budget) = (Ledger::new(), LmBudget::msats(2500));
    let builder = priced(plain(MODEL, &server.url("/v1"))).ledger(ledger.clone());
    let model = builder.budget(budget.clone()).build_embedder().unwrap();
    // At most a token per byte, with some bytes for each message: far less than the tokens that the server reports.
    model.embed(&["a"]).await.unwrap();
    model.embed(&["b"]).await.unwrap();
    assert_eq!(budget.spent_msats(), 2000);
    let long = "x".repeat(1000);
    let error = model.embed(&[&long]).await.unwrap_err();
    assert_eq!(error.budget_msats(), Some(2500), "{error}");
    let totals = ledger.by_purpose()["embeddings"];
    assert_eq!(
        (totals.calls, totals.refused, totals.cost_msats),
        (2, 1, 2000)
    );
    assert_eq!(server.received().len(), 2);

    let limited =
        plain(MODEL, &server.url("/v1")).limiter(RateLimiter::new().requests_per_minute(1));
    let model = limited.build_embedder().unwrap();
    model.embed(&["a"]).await.unwrap();
    let second = tokio::time::timeout(Duration::from_millis(50), model.embed(&["b"])).await;
    assert!(second.is_err(), "it waits for the next minute");
}

#[tokio::test]
async fn the_second_run_makes_no_call() {
    let (server, dir) = (Server::start(vectors).await, tempfile::tempdir().unwrap());
    let model = || {
        let builder = plain(MODEL, &server.url("/v1"));
        builder.store(dir.path()).build_embedder().unwrap()
    };
    let first = model().embed(&["one", "three"]).await.unwrap();
    let second = model().embed(&["one", "three"]).await.unwrap();
    assert_eq!(second.vectors(), first.vectors(), "bit for bit");
    assert_eq!(
        (first.cost_msats(), second.cost_msats()),
        (Some(20), Some(20))
    );
    assert_eq!(
        second.usage(),
        first.usage(),
        "of the call that was paid for"
    );
    assert_eq!(server.received().len(), 1);
    // Other strings, or an order of their own, are another request.
    model().embed(&["three", "one"]).await.unwrap();
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn an_invalid_reply_is_not_stored() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = Server::start(move |received| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => reply(&json!([])),
        _ => vectors(received),
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let builder = plain(MODEL, &server.url("/v1"));
    let model = builder.store(dir.path()).build_embedder().unwrap();
    model.embed(&["abc"]).await.unwrap_err();
    assert_eq!(model.embed(&["abc"]).await.unwrap().vectors(), [[3.0, 1.0]]);
}

fn rows(count: usize) -> impl Iterator<Item = Pair> {
    (0..count).map(|row| {
        let gold = example! { "answer" => "x".repeat(row + 1) };
        Pair::new(row.to_string(), gold, prediction! { "answer" => "yy" })
    })
}

#[tokio::test]
async fn the_budget_skips_rows_and_never_fails_them() {
    let server = Server::start(vectors).await;
    let builder = priced(plain(MODEL, &server.url("/v1"))).budget(LmBudget::msats(3500));
    let metric = SemanticSimilarity::builder()
        .embedder(builder.build_embedder().unwrap())
        .build();
    let result = Evaluate::builder()
        .metric(metric)
        .concurrency(1)
        .score(rows(5))
        .await
        .unwrap();
    let kinds: Vec<_> = result
        .results
        .iter()
        .map(|row| match &row.outcomes[0] {
            Outcome::Scored(scored) => (true, scored.score.cost_msats),
            Outcome::Skipped { cost_msats, .. } => (false, *cost_msats),
            other => panic!("{other:?}"),
        })
        .collect();
    // The probe and two rows cost 1000 msat each, and what is left covers one more call.
    assert_eq!(
        kinds,
        [
            (true, 1000),
            (true, 1000),
            (true, 1000),
            (false, 0),
            (false, 0)
        ]
    );
}

#[tokio::test]
async fn a_run_with_a_store_pays_each_reply_once() {
    let failing = Arc::new(AtomicUsize::new(3));
    let broken = Arc::clone(&failing);
    // Row 4 fails in the first run, so that the second run evaluates it again.
    let server = Server::start(move |received| {
        let is_broken = texts(received).contains(&"xxxxx".to_owned());
        match is_broken
            && broken
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1))
                .is_ok()
        {
            true => Answer::error(500, "broken"),
            false => vectors(received),
        }
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let run = || {
        let store = dir.path().join("store");
        let model = plain(MODEL, &server.url("/v1"))
            .store(&store)
            .build_embedder()
            .unwrap();
        let metric = SemanticSimilarity::builder().embedder(model).build();
        let evaluate = Evaluate::builder()
            .metric(metric)
            .models(|models| models.store(store));
        async { evaluate.score(rows(6)).await.unwrap() }
    };
    let first = run().await;
    assert_eq!(first.failed_rows, 1);
    failing.store(0, Ordering::SeqCst);
    let paid: Vec<_> = server.received().iter().map(texts).collect();
    let second = run().await;
    assert_eq!((second.failed_rows, second.rows), (0, 6));
    let again: Vec<_> = server
        .received()
        .iter()
        .skip(paid.len())
        .map(texts)
        .collect();
    let of_rows: Vec<_> = again.iter().filter(|texts| texts.len() == 2).collect();
    assert_eq!(
        of_rows,
        [&["yy".to_owned(), "xxxxx".to_owned()]],
        "only the failed row"
    );
}

#[tokio::test]
async fn a_model_that_does_not_answer_is_an_error_before_the_first_row() {
    let server = Server::start(|_| Answer::error(404, "no such model")).await;
    let metric = SemanticSimilarity::builder()
        .embedder(built(&server))
        .build();
    let rows = std::iter::from_fn(|| -> Option<Pair> { panic!("no row is read") });
    let error = Evaluate::builder()
        .metric(metric)
        .score(rows)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("semantic_similarity") && error.contains("model not found"),
        "{error}"
    );
}

#[tokio::test]
async fn an_estimate_counts_the_calls_and_makes_none() {
    let (server, estimate) = (Server::start(vectors).await, LmEstimate::new());
    let builder = priced(plain(MODEL, &server.url("/v1"))).estimate(estimate.clone());
    let metric = SemanticSimilarity::builder()
        .embedder(builder.build_embedder().unwrap())
        .build();
    let result = Evaluate::builder()
        .metric(metric)
        .score(rows(3))
        .await
        .unwrap();
    assert_eq!((result.rows, server.received().len()), (3, 0));
    let calls = &estimate.by_purpose()[&("embeddings".to_owned(), MODEL.to_owned())];
    // A token for each byte, 16 for each string and 64 for the request; the strings have 3, 4 and 5 bytes.
    assert_eq!((calls.calls, calls.replies_msats), (3, 3 * 96 + 12));
}

#[tokio::test]
async fn the_command_line_calls_a_provider_and_reads_its_store() {
    let (server, dir) = (Server::start(vectors).await, tempfile::tempdir().unwrap());
    let url = server.url("/v1");
    let variables = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", KEY),
        ("DSRS_STORE", dir.path().to_str().unwrap()),
    ];
    let maps = [
        "--map",
        "gold.answer=gold.response",
        "--map",
        "pred.answer=pred.response",
    ];
    let args = [&["-m", "semantic_similarity", "--embed", MODEL][..], &maps].concat();
    let first = score(3, &args, &variables).await;
    assert_eq!(first.code, Some(0), "{}", first.err);
    // ("in Paris", 1) and ("answer 0", 1) have eight characters each.
    assert_eq!(
        first.out,
        "semantic_similarity  1.0000 [-0.7705, 1.0000; few rows] (mean of 3/3, 0 failed)\n"
    );
    let used = "language models: 4 calls (0 cached, 0 failed), 4000 prompt + 0 completion tokens, 80 msat; probes: 1, 20 msat";
    assert!(first.err.contains(used), "{}", first.err);
    let of_row = &first.lines[0]["scores"]["semantic_similarity"];
    assert_eq!(of_row["cost_msats"], 20, "{of_row}");
    let second = score(3, &args, &variables).await;
    assert_eq!((second.code, &second.out), (Some(0), &first.out));
    assert!(
        second.err.contains("4 calls (3 cached, 0 failed)"),
        "{}",
        second.err
    );
    assert_eq!(
        server.received().len(),
        5,
        "four calls, and the probe of the second run"
    );
    let args = [&args[..], &["--budget", "1 msat", "--no-store"]].concat();
    let budget = score(3, &args, &variables).await;
    assert_eq!(
        (budget.code, server.received().len()),
        (Some(2), 5),
        "{}",
        budget.err
    );
}
