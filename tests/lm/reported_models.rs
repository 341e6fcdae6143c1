//! The models that a provider reports for the judges of a run: summary, result file, warning, cache and journal.

use serde_json::{Value, json};

use crate::judge_command_line::{MODEL, Ran, score};
use crate::server::{Answer, Received, Server, chat};

/// The reply to a row, as the model and fingerprint that the row's number gives.
fn reply(received: &Received, reported: fn(usize) -> (&'static str, &'static str)) -> Answer {
    let text = received.body["messages"].to_string();
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    let mut numbers = text.split("answer ").skip(1).map(digits);
    let number = numbers.find_map(|digits| digits.parse().ok()).unwrap_or(0);
    let mut reply = chat(r#"{"reasoning": "because", "polite": true}"#, "stop");
    let (model, fingerprint) = reported(number);
    (reply["model"], reply["system_fingerprint"]) = (json!(model), json!(fingerprint));
    Answer::json(200, &reply)
}

/// A run of 30 rows with the given arguments.
async fn run(server: &Server, cache: &str, args: &[&str]) -> Ran {
    let url = server.url("/v1");
    let variables =
        [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str()), ("DSRS_CACHE", cache)];
    let args = [&["-m", "polite", "--lm", MODEL, "--json"], args].concat();
    score(30, &args, &variables).await
}

fn judged_by(ran: &Ran) -> Value {
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    report["metrics"]["polite"]["judged_by"].clone()
}

/// The lines of standard error without the totals of the calls.
fn warnings(ran: &Ran) -> Vec<&str> {
    ran.err.lines().filter(|line| !line.starts_with("language models: ")).collect()
}

fn alias_moved(row: usize) -> (&'static str, &'static str) {
    if row.is_multiple_of(3) {
        ("gpt-5-mini-2025-11-01", "fp_b")
    } else {
        ("gpt-5-mini-2025-08-07", "fp_a")
    }
}

#[tokio::test]
async fn a_run_of_two_reported_models_says_so_in_a_line_also_from_the_cache() {
    let server = Server::start(|received| reply(received, alias_moved)).await;
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path().to_str().unwrap();
    let first = run(&server, cache, &[]).await;
    let expected = json!([
        { "judge": MODEL, "model": "gpt-5-mini-2025-08-07", "fingerprint": "fp_a", "replies": 20 },
        { "judge": MODEL, "model": "gpt-5-mini-2025-11-01", "fingerprint": "fp_b", "replies": 10 },
    ]);
    assert_eq!((first.code, judged_by(&first)), (Some(0), expected.clone()), "{}", first.err);
    let line = "warning: polite: the replies of openai:gpt-5-mini came from 2 models: gpt-5-mini-2025-08-07 (20 replies), gpt-5-mini-2025-11-01 (10 replies)";
    assert_eq!(warnings(&first), [line]);
    let metadata = &first.lines[0]["scores"]["polite"]["metadata"]["judges"][0]["replied_by"];
    let reported =
        json!([{ "model": "gpt-5-mini-2025-11-01", "fingerprint": "fp_b", "replies": 1 }]);
    assert_eq!(metadata, &reported);

    let again = run(&server, cache, &["--concurrency", "1"]).await;
    assert!(again.err.contains("(30 cached, "), "{}", again.err);
    assert_eq!((judged_by(&again), warnings(&again)), (expected, vec![line]));
    let quiet = run(&server, cache, &["--quiet"]).await;
    assert_eq!(quiet.err, "");
}

#[tokio::test]
async fn other_fingerprints_of_one_model_are_a_line_and_one_unknown_fingerprint_is_none() {
    let of = async |reported: fn(usize) -> (&'static str, &'static str)| {
        let server = Server::start(move |received| reply(received, reported)).await;
        let ran = run(&server, "", &["--no-cache"]).await;
        warnings(&ran).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let two = of(|row| ("m-1", if row == 7 { "fp_b" } else { "fp_a" })).await;
    let line = "warning: polite: the replies of openai:gpt-5-mini came from 2 fingerprints of m-1: fp_a (29 replies), fp_b (1 reply)";
    assert_eq!(two, [line]);
    assert_eq!(of(|_| ("m-1", "fp_a")).await, Vec::<String>::new());
    assert_eq!(of(|row| ("m-1", if row == 7 { "" } else { "fp_a" })).await, Vec::<String>::new());
    let many: fn(usize) -> _ =
        |row| (["m-1", "m-2", "m-3", "m-4", "m-5", "m-6", "m-7"][row % 7], "");
    let [line] = &of(many).await[..] else { panic!() };
    assert!(line.contains("came from 7 models: m-1 (5 replies), m-2 (5 replies), m-3 ("), "{line}");
    assert!(line.ends_with("m-5 (4 replies) and 2 more"), "{line}");
}

#[tokio::test]
async fn rows_that_the_journal_restores_are_counted() {
    let server = Server::start(|received| reply(received, alias_moved)).await;
    let journal = tempfile::tempdir().unwrap();
    let args = ["--no-cache", "--journal", journal.path().to_str().unwrap()];
    let first = run(&server, "", &args).await;
    let calls = server.received().len();
    // Without the outcomes of the rows, their replies are read from the journal.
    let log = journal.path().join("journal.log");
    let content = std::fs::read_to_string(&log).unwrap();
    let again = run(&server, "", &args).await;
    assert_eq!(judged_by(&again), judged_by(&first));
    assert_eq!(again.lines, first.lines);
    let replies: Vec<&str> =
        content.split_inclusive('\n').filter(|line| !line.contains("\"scores\":")).collect();
    std::fs::write(&log, replies.concat()).unwrap();
    let replayed = run(&server, "", &args).await;
    assert_eq!((judged_by(&replayed), replayed.lines), (judged_by(&first), first.lines));
    // A run that has to evaluate a row probes its model.
    assert_eq!(server.received().len(), calls + 1);
}
