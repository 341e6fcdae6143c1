//! `score --estimate`: the output, the budget, and models and stores that cannot be used.

use std::path::Path;

use dsrs_metrics::lm::Store;
use serde_json::{Value, json};

use crate::judge_command_line::{Ran, refused, score};
use crate::server::{Answer, Received, Server};

const MODEL: &str = "openai:m";

/// Runs `judge_scorer score --estimate` on four rows, with the prices and the store of a folder, and without a key.
async fn command(dir: &Path, url: &str, args: &[&str]) -> Ran {
    let prices = dir.join("prices.json");
    std::fs::write(&prices, r#"{"openai:m": {"input": 0.0, "output": 1.0}}"#).unwrap();
    let (store, prices) = (dir.join("store"), prices.to_str().unwrap());
    let variables = [
        ("OPENAI_BASE_URL", url),
        ("DSRS_STORE", store.to_str().unwrap()),
        ("DSRS_PRICES", prices),
    ];
    let args = [&["-m", "polite", "--lm", MODEL, "--estimate"], args].concat();
    score(4, &args, &variables).await
}

/// The estimate of four rows in the same folder. The store has the replies to two of them.
async fn half_stored(reply: fn(&Received) -> Answer) -> (tempfile::TempDir, Server, String) {
    let (server, dir) = (Server::start(reply).await, tempfile::tempdir().unwrap());
    let url = server.url("/v1");
    let store = dir.path().join("store");
    let variables = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_STORE", store.to_str().unwrap()),
    ];
    let ran = score(2, &["-m", "polite", "--lm", MODEL], &variables).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    (dir, server, url)
}

fn polite(_: &Received) -> Answer {
    Answer::chat(r#"{"reasoning": "because", "polite": true}"#)
}

#[tokio::test]
async fn the_command_prints_the_estimate_and_writes_nothing() {
    let (dir, server, url) = half_stored(polite).await;
    let before = server.received().len();
    let content = std::fs::read(dir.path().join("store/store.sqlite")).unwrap();
    let outputs = ["--junit", "junit.xml"];
    let ran = command(dir.path(), &url, &outputs).await;
    assert_eq!(
        (ran.code, ran.err.as_str(), ran.lines.len()),
        (Some(0), "", 0)
    );
    assert_eq!(
        ran.out,
        "4 rows: 3 calls, 2 stored replies\n\
         at most 8224 msat if every call gets a valid reply on the first attempt\n"
    );
    assert_eq!(ran.files(), 1, "only the rows");
    let ran = command(dir.path(), &url, &["--json", "--repeats", "2"]).await;
    let printed: Value = serde_json::from_str(&ran.out).unwrap();
    let amounts = |it: &Value| {
        let keys = ["calls", "cached_calls", "replies_msats"];
        keys.map(|key| it[key].as_u64().unwrap())
    };
    assert_eq!(amounts(&printed), [7, 2, 6 * 4096 + 32]);
    assert_eq!(
        (&printed["rows"], &printed["unpriced"]),
        (&json!(4), &json!([]))
    );
    assert_eq!(server.received().len(), before, "no call");
    assert_eq!(
        std::fs::read(dir.path().join("store/store.sqlite")).unwrap(),
        content
    );
}

#[tokio::test]
async fn a_budget_is_compared_and_a_model_without_a_price_is_named() {
    let (dir, _server, url) = half_stored(polite).await;
    for (budget, line) in [
        (
            "8223 msat",
            "--budget 8223 msat does not cover this amount\n",
        ),
        ("8224 msat", "--budget 8224 msat covers this amount\n"),
    ] {
        let ran = command(dir.path(), &url, &["--budget", budget]).await;
        assert!(ran.out.ends_with(line), "{}", ran.out);
    }
    let unpriced = ["--lm", "openai:own"];
    let variables = [("OPENAI_BASE_URL", url.as_str())];
    let run = async |args: &[&str]| {
        let args = [
            &["-m", "polite", "--no-store", "--estimate"],
            &unpriced[..],
            args,
        ]
        .concat();
        score(3, &args, &variables).await
    };
    let ran = run(&[]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let line = "no price for openai:own, so the amounts exclude 4 of 4 calls; add it to the price table (DSRS_PRICES=FILE)\n";
    assert!(
        ran.out.ends_with(line) && ran.out.contains("at most 0 msat"),
        "{}",
        ran.out
    );
    let ran = run(&["--budget", "1 sat"]).await;
    refused(
        &ran,
        "openai:own: no price for this model, so the budget cannot be enforced",
    );
    let ran = run(&["--budget", "1 sat", "--allow-unpriced"]).await;
    assert!(
        ran.out.contains("no price for openai:own"),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[tokio::test]
async fn a_run_that_calls_no_model_costs_nothing() {
    let mapped = [
        "--map",
        "gold.answer=gold.response",
        "--map",
        "pred.answer=pred.response",
    ];
    let ran = score(3, &[&["-m", "f1", "--estimate"], &mapped[..]].concat(), &[]).await;
    assert_eq!(
        (ran.code, &*ran.out),
        (
            Some(0),
            "this run calls no language model, so it costs nothing\n"
        )
    );
    let ran = score(3, &["-m", "semantic_f1", "--offline", "--estimate"], &[]).await;
    let nothing = "this run calls no language model, so it costs nothing\n";
    assert_eq!((ran.code, &*ran.out), (Some(0), nothing), "{}", ran.err);
    let ran = score(
        3,
        &["-m", "semantic_f1", "--offline", "--estimate", "--json"],
        &[],
    )
    .await;
    let printed: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&printed["calls"], &printed["replies_msats"]),
        (&json!(0), &json!(0))
    );
}

#[tokio::test]
async fn an_unusable_model_or_store_is_an_error_as_in_a_run() {
    let none = score(3, &["-m", "polite", "--estimate"], &[]).await;
    refused(
        &none,
        "metric `polite`: no language model is configured; set DSRS_LM=provider:model",
    );
    let nobody = score(3, &["-m", "polite", "--lm", "nobody:m", "--estimate"], &[]).await;
    refused(&nobody, "unknown provider in model `nobody:m`");
    let (dir, _server, url) = half_stored(polite).await;
    let open = Store::open(dir.path().join("store")).unwrap();
    let beside = command(dir.path(), &url, &[]).await;
    assert!(
        beside.out.contains("3 calls, 2 stored replies"),
        "{}{}",
        beside.out,
        beside.err
    );
    // As a process that was killed leaves it.
    let killed = tempfile::tempdir().unwrap();
    std::fs::create_dir(killed.path().join("store")).unwrap();
    for file in ["store.sqlite", "store.sqlite-wal"] {
        let from = open.path().with_file_name(file);
        std::fs::copy(from, killed.path().join("store").join(file)).unwrap();
    }
    let ran = command(killed.path(), &url, &[]).await;
    assert!(
        ran.out.contains("3 calls, 2 stored replies"),
        "{}{}",
        ran.out,
        ran.err
    );
    std::fs::write(killed.path().join("store/store.sqlite"), "no store").unwrap();
    let damaged = command(killed.path(), &url, &[]).await;
    refused(&damaged, "it is not a database; move the file away");
}
