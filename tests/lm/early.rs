//! A run of a judge that ends once its gate is decided: the rows that are paid for, the store, and a budget that ends first.

use crate::judge_command_line::{Ran, score};
use crate::server::{Answer, Received, Server};

const MODEL: &str = "openai:gpt-6-luna";

/// Nine of ten answers are polite: all but those whose number ends in 7.
fn judge(received: &Received) -> Answer {
    let text = received.body["messages"].to_string();
    let number = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        rest[..end].parse::<u64>().ok()
    };
    let number = text.split("answer ").skip(1).find_map(number);
    let is_polite = number.is_none_or(|number| number % 10 != 7);
    Answer::chat(&format!(
        r#"{{"reasoning": "because", "polite": {is_polite}}}"#
    ))
}

async fn run(url: &str, store: &str, args: &[&str]) -> Ran {
    let variables = [
        ("OPENAI_BASE_URL", url),
        ("OPENAI_API_KEY", "k"),
        ("DSRS_STORE", store),
    ];
    let gate = [
        "-m",
        "polite",
        "--lm",
        MODEL,
        "--stop-when",
        "polite >= 0.7",
        "--alpha",
        "0.01",
    ];
    score(500, &[&gate, args].concat(), &variables).await
}

#[tokio::test]
async fn only_the_rows_that_decide_are_paid_for_and_only_once() {
    let (server, dir) = (Server::start(judge).await, tempfile::tempdir().unwrap());
    let url = server.url("/v1");
    let store = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let first = run(&url, &store("a"), &["--concurrency", "1"]).await;
    assert_eq!(first.code, Some(0), "{}", first.err);
    let decided = |ran: &Ran| ran.out.lines().last().unwrap_or_default().to_owned();
    assert!(
        decided(&first).starts_with("decided after "),
        "{}",
        first.out
    );
    let scored = first
        .lines
        .iter()
        .filter(|row| row["scores"]["polite"]["outcome"] == "scored")
        .count();
    assert_eq!((first.lines.len(), scored < 250), (500, true), "{scored}");
    // One request for each row, and the probe.
    let paid = server.received().len();
    assert_eq!(paid, scored + 1);

    // Without a store of its own, more concurrency pays for some rows that are not needed, and has the same rows.
    let other = run(&url, &store("b"), &["--concurrency", "64"]).await;
    assert_eq!(
        (other.lines, other.out),
        (first.lines.clone(), first.out.clone())
    );
    let more = server.received().len() - paid;
    assert!(
        (scored..scored + 2 * 64 + 2).contains(&more),
        "{more} for {scored}"
    );

    // The same command again takes every reply from the store.
    let before = server.received().len();
    let again = run(&url, &store("a"), &["--concurrency", "1"]).await;
    assert_eq!((again.lines, again.out), (first.lines, first.out));
    assert!(server.received().len() <= before + 1);
}

#[tokio::test]
async fn a_budget_that_ends_first_decides_nothing() {
    let (server, dir) = (Server::start(judge).await, tempfile::tempdir().unwrap());
    let url = server.url("/v1");
    let prices = dir.path().join("prices.json");
    let of_model = r#"{"openai:gpt-6-luna": {"input": 0.0, "output": 1.0}}"#;
    std::fs::write(&prices, of_model).unwrap();
    let store = dir.path().join("store");
    let variables = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "k"),
        ("DSRS_STORE", store.to_str().unwrap()),
        ("DSRS_PRICES", prices.to_str().unwrap()),
    ];
    // A call reserves 4,096 msat and costs 10.
    let gate = [
        "--stop-when",
        "polite >= 0.7",
        "--alpha",
        "0.01",
        "--budget",
        "4200 msat",
    ];
    let args = [
        &["-m", "polite", "--lm", MODEL, "--concurrency", "1"],
        &gate[..],
    ]
    .concat();
    let ran = score(100, &args, &variables).await;
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(!ran.out.contains("decided after"), "{}", ran.out);
    let with = |outcome: &str| {
        let rows = ran.lines.iter();
        rows.filter(|row| row["scores"]["polite"]["outcome"] == outcome)
            .count()
    };
    assert!((5..20).contains(&with("scored")), "{}", with("scored"));
    assert_eq!(with("scored") + with("skipped"), 100);
}

#[tokio::test]
async fn a_wrong_gate_is_refused_before_anything_is_estimated() {
    let (server, dir) = (Server::start(judge).await, tempfile::tempdir().unwrap());
    let url = server.url("/v1");
    let store = dir.path().join("store");
    let store = store.to_str().unwrap();
    let args = [
        "-m",
        "polite",
        "--lm",
        MODEL,
        "--estimate",
        "--stop-when",
        "polite > 0.7",
    ];
    let variables = [
        ("OPENAI_BASE_URL", &*url),
        ("OPENAI_API_KEY", "k"),
        ("DSRS_STORE", store),
    ];
    assert_eq!(score(5, &args, &variables).await.code, Some(2));
    assert_eq!(server.received().len(), 0);
}
