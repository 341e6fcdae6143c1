//! The models that a provider reports for the judges of a run: summary, result file, manifest, warning and
//! store, and the comparison of two runs.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::judge_command_line::{MODEL, Ran, score};
use crate::rejudge::{Judges, Ran as Finished};
use crate::server::{Answer, Received, Server, chat};

/// The model and the fingerprint that the provider reports for a row.
type Reported = fn(usize) -> (&'static str, &'static str);

/// The reply to a row, as the model and fingerprint that the row's number gives.
fn reply(received: &Received, reported: Reported) -> Answer {
    let text = received.body["messages"].to_string();
    let digits = |rest: &str| {
        rest.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    };
    let mut numbers = text.split("answer ").skip(1).map(digits);
    let number = numbers.find_map(|digits| digits.parse().ok()).unwrap_or(0);
    let mut reply = chat(r#"{"reasoning": "because", "polite": true}"#, "stop");
    let (model, fingerprint) = reported(number);
    (reply["model"], reply["system_fingerprint"]) = (json!(model), json!(fingerprint));
    Answer::json(200, &reply)
}

/// A run of 30 rows with the given arguments.
async fn run(server: &Server, store: &str, args: &[&str]) -> Ran {
    let url = server.url("/v1");
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_STORE", store),
    ];
    let args = [&["-m", "polite", "--lm", MODEL, "--json"], args].concat();
    score(30, &args, &variables).await
}

fn judged_by(ran: &Ran) -> Value {
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    report["metrics"]["polite"]["judged_by"].clone()
}

/// The warnings on standard error.
fn warnings(ran: &Ran) -> Vec<&str> {
    ran.err
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .collect()
}

fn alias_moved(row: usize) -> (&'static str, &'static str) {
    if row.is_multiple_of(3) {
        ("gpt-6-luna-2026-11-17", "fp_b")
    } else {
        ("gpt-6-luna-2026-09-22", "fp_a")
    }
}

#[tokio::test]
async fn a_run_of_two_reported_models_says_so_in_a_line_also_from_the_store() {
    let server = Server::start(|received| reply(received, alias_moved)).await;
    let store = tempfile::tempdir().unwrap();
    let store = store.path().to_str().unwrap();
    let first = run(&server, store, &[]).await;
    let expected = json!([
        { "judge": MODEL, "model": "gpt-6-luna-2026-09-22", "fingerprint": "fp_a", "replies": 20 },
        { "judge": MODEL, "model": "gpt-6-luna-2026-11-17", "fingerprint": "fp_b", "replies": 10 },
    ]);
    assert_eq!(
        (first.code, judged_by(&first)),
        (Some(0), expected.clone()),
        "{}",
        first.err
    );
    let line = "warning: polite: openai:gpt-6-luna replied as gpt-6-luna-2026-09-22 (20 replies), gpt-6-luna-2026-11-17 (10 replies); fingerprints: fp_a (20 replies), fp_b (10 replies)";
    assert_eq!(warnings(&first), [line]);
    let metadata = &first.lines[0]["scores"]["polite"]["metadata"]["judges"][0]["replied_by"];
    let reported =
        json!([{ "model": "gpt-6-luna-2026-11-17", "fingerprint": "fp_b", "replies": 1 }]);
    assert_eq!(metadata, &reported);

    let again = run(&server, store, &["--concurrency", "1"]).await;
    assert!(again.err.contains("(30 cached, "), "{}", again.err);
    assert_eq!(
        (judged_by(&again), warnings(&again)),
        (expected, vec![line])
    );
    let quiet = run(&server, store, &["--quiet"]).await;
    assert_eq!(quiet.err, "");
}

#[tokio::test]
async fn other_fingerprints_of_one_model_are_a_line_and_one_unknown_fingerprint_is_none() {
    let of = async |reported: Reported| {
        let server = Server::start(move |received| reply(received, reported)).await;
        let ran = run(&server, "", &["--no-store"]).await;
        warnings(&ran)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let two = of(|row| ("m-1", if row == 7 { "fp_b" } else { "fp_a" })).await;
    let line = "warning: polite: openai:gpt-6-luna replied as m-1 (30 replies); fingerprints: fp_a (29 replies), fp_b (1 reply)";
    assert_eq!(two, [line]);
    assert_eq!(of(|_| ("m-1", "fp_a")).await, Vec::<String>::new());
    assert_eq!(
        of(|row| ("m-1", if row == 7 { "" } else { "fp_a" })).await,
        Vec::<String>::new()
    );
    let many: Reported = |row| {
        (
            ["m-1", "m-2", "m-3", "m-4", "m-5", "m-6", "m-7"][row % 7],
            "",
        )
    };
    let [line] = &of(many).await[..] else {
        panic!()
    };
    assert!(
        line.contains("replied as m-1 (5 replies), m-2 (5 replies), m-3 ("),
        "{line}"
    );
    assert!(line.ends_with("m-5 (4 replies) and 2 more"), "{line}");
}

#[tokio::test]
async fn replies_from_the_store_are_counted() {
    let server = Server::start(|received| reply(received, alias_moved)).await;
    let store = tempfile::tempdir().unwrap();
    let args = ["--store", store.path().to_str().unwrap()];
    let first = run(&server, "", &args).await;
    let calls = server.received().len();
    let again = run(&server, "", &args).await;
    assert_eq!(
        (judged_by(&again), again.lines),
        (judged_by(&first), first.lines)
    );
    // A run probes its model.
    assert_eq!(server.received().len(), calls + 1);
}

/// A folder with rows, and a provider that reports what `versions` has at the current position.
struct Moving {
    judges: Judges,
    version: Arc<AtomicUsize>,
}

impl Moving {
    async fn start(versions: &'static [Reported]) -> Self {
        let version = Arc::new(AtomicUsize::new(0));
        let current = Arc::clone(&version);
        let answer =
            move |received: &Received| reply(received, versions[current.load(Ordering::SeqCst)]);
        let judges = Judges::answering(answer).await;
        let row = |id: usize| {
            let gold = json!({ "question": "Where?", "response": "in Paris", "answer": "1 2" });
            let pred = json!({ "response": format!("answer {id}"), "answer": id.to_string() });
            format!(
                "{}\n",
                json!({ "id": id, "ok": !id.is_multiple_of(4), "gold": gold, "pred": pred })
            )
        };
        fs::write(
            judges.path("rows.jsonl"),
            (0..12).map(row).collect::<String>(),
        )
        .unwrap();
        Self { judges, version }
    }

    /// Writes a run of both metrics. The next runs have the next version, unless the replies are stored.
    async fn score(&self, out: &str, args: &[&str]) {
        let score = [
            "score",
            "rows.jsonl",
            "-m",
            "f1,polite",
            "--lm",
            MODEL,
            "-q",
            "--out",
            out,
        ];
        Judges::succeeded(self.judges.run(&[&score[..], args].concat()).await);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// What the manifest of a run has that is the same for the same inputs.
    fn measured(&self, out: &str) -> Value {
        let manifest = fs::read(self.judges.path(&format!("{out}.manifest.json"))).unwrap();
        serde_json::from_slice::<Value>(&manifest).unwrap()["run"].take()
    }

    fn judged_by(&self, out: &str) -> Value {
        self.measured(out)["judged_by"].take()
    }

    async fn compare(&self, args: &[&str]) -> Finished {
        self.judges.run(&[&["compare"], args].concat()).await
    }
}

#[tokio::test]
async fn the_manifest_names_the_reported_models_also_of_replies_from_the_store() {
    let moving = Moving::start(&[alias_moved, |_| ("m-9", "")]).await;
    moving.score("a.jsonl", &[]).await;
    moving.score("cached.jsonl", &["--concurrency", "1"]).await;
    let expected = json!({ "polite": [
        { "judge": MODEL, "model": "gpt-6-luna-2026-09-22", "fingerprint": "fp_a", "replies": 8 },
        { "judge": MODEL, "model": "gpt-6-luna-2026-11-17", "fingerprint": "fp_b", "replies": 4 },
    ] });
    assert_eq!(moving.judged_by("a.jsonl"), expected);
    assert_eq!(moving.measured("a.jsonl"), moving.measured("cached.jsonl"));
}

#[tokio::test]
async fn a_judge_that_replied_as_another_model_is_compared_only_if_that_is_allowed() {
    let moving = Moving::start(&[|_| ("m-1", "fp_a"), alias_moved]).await;
    moving.score("a.jsonl", &["--no-store"]).await;
    moving.score("b.jsonl", &["--no-store"]).await;
    let sentence = "polite: openai:gpt-6-luna replied as m-1 in A, gpt-6-luna-2026-09-22 and gpt-6-luna-2026-11-17 in B";
    let ran = moving.compare(&["a.jsonl", "b.jsonl"]).await;
    assert_eq!(ran.code, Some(2));
    assert_eq!(
        ran.err,
        format!(
            "error: not compared: {sentence}; to compare it anyway, pass --allow-different polite; to compare only other metrics, select them with -m\n"
        )
    );
    assert!(
        ran.out.contains(&format!("\nnot compared: {sentence}\n")),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("f1: equal") && !ran.out.contains("note: "),
        "{}",
        ran.out
    );

    let ran = moving.compare(&["a.jsonl", "b.jsonl", "--json"]).await;
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let difference = sentence.strip_prefix("polite: ").unwrap();
    assert_eq!(ran.code, Some(2));
    assert_eq!(
        report["identity"]["different"],
        json!({ "polite": { "differences": [difference], "is_compared": false } })
    );

    let allowed = moving
        .compare(&["a.jsonl", "b.jsonl", "--allow-different", "polite"])
        .await;
    assert_eq!((allowed.code, &*allowed.err), (Some(0), ""));
    assert!(
        allowed.out.contains(&format!("\n{sentence}\n")),
        "{}",
        allowed.out
    );
    assert!(allowed.out.contains("polite: equal"), "{}", allowed.out);
}

#[tokio::test]
async fn other_fingerprints_and_a_run_without_a_reported_model_are_notes() {
    let moving = Moving::start(&[
        |_| ("m-1", "fp_a"),
        |row| ("m-1", ["fp_a", "fp_b"][row % 2]),
        |_| ("", ""),
        |_| ("m-1", ""),
    ]);
    let moving = moving.await;
    for out in ["a.jsonl", "b.jsonl", "none.jsonl", "without.jsonl"] {
        moving.score(out, &["--no-store"]).await;
    }
    assert_eq!(moving.judged_by("none.jsonl"), Value::Null);
    let start = "note: polite: ";
    for (a, b, note) in [
        (
            "a",
            "b",
            "fingerprints of openai:gpt-6-luna in A: fp_a; in B: fp_a and fp_b",
        ),
        (
            "b",
            "without",
            "fingerprints of openai:gpt-6-luna in A: fp_a and fp_b; in B: none",
        ),
        (
            "none",
            "b",
            "reported models of openai:gpt-6-luna in A: none; in B: m-1",
        ),
    ] {
        let ran = moving
            .compare(&[&format!("{a}.jsonl"), &format!("{b}.jsonl")])
            .await;
        let notes: Vec<&str> = ran
            .out
            .lines()
            .filter(|line| line.starts_with("note"))
            .collect();
        assert_eq!(
            (ran.code, notes),
            (Some(0), vec![&*format!("{start}{note}")]),
            "{}",
            ran.err
        );
    }
    let ran = moving.compare(&["b.jsonl", "b.jsonl"]).await;
    assert!(!ran.out.contains("note"), "{}", ran.out);
}

#[tokio::test]
async fn agree_names_the_reported_models_once() {
    let moving = Moving::start(&[alias_moved]).await;
    moving.score("a.jsonl", &[]).await;
    moving.version.store(0, Ordering::SeqCst);
    moving.score("a.csv", &[]).await;
    let url = moving.judges.server_url();
    let configured = format!("version 1; judged by openai:gpt-6-luna at {url} with prompt ");
    let reported = "openai:gpt-6-luna replied as gpt-6-luna-2026-09-22 (8 replies), gpt-6-luna-2026-11-17 (4 replies); \
                    fingerprints: fp_a (8 replies), fp_b (4 replies)\n";
    let agree = async |args: &[&str]| {
        let args = [&["agree", "--label", "ok", "-m", "polite"], args].concat();
        Judges::succeeded(moving.judges.run(&args).await)
    };
    for file in ["a.jsonl", "a.csv"] {
        let text = agree(&[file]).await;
        let (start, rest) = text.split_at("polite against ok\n".len() + configured.len());
        assert_eq!(start, format!("polite against ok\n{configured}"));
        assert!(
            rest.contains(&format!("\n{reported}12 rows: 12 compared")),
            "{text}"
        );
        assert_eq!(text.matches("replied as").count(), 1, "{text}");
    }
    let report: Value = serde_json::from_str(&agree(&["a.jsonl", "--json"]).await).unwrap();
    let expected = moving.judged_by("a.jsonl");
    assert_eq!(report["metrics"]["polite"]["judged_by"], expected["polite"]);
    // Without a manifest the rows are read.
    fs::remove_file(moving.judges.path("a.jsonl.manifest.json")).unwrap();
    let text = agree(&["a.jsonl"]).await;
    assert!(
        text.starts_with(&format!("polite against ok\n{reported}12 rows")),
        "{text}"
    );
}
