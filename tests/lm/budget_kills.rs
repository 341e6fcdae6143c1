//! A run with a judge and a budget is killed many times: the server is never paid more than the budget.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Answer, Received, Server, chat};

const BUDGET: u64 = 12_600;
const KILLS: u64 = 15;
const ROWS: u64 = 60;

/// The tokens of a reply, of at most 4,096.
const TOKENS: u64 = 1_000;

/// What the server was paid, in millisatoshis: 0.1 for a token of a prompt, and 0.5 for one of a reply.
#[derive(Default)]
struct Paid {
    msats: AtomicU64,
    calls: AtomicU64,
}

impl Paid {
    fn answer(&self, received: &Received) -> Answer {
        let name = &received.body["response_format"]["json_schema"]["name"];
        let (reply, tokens) = match name == "probe" {
            true => (r#"{"ok": true}"#, 10),
            false => (r#"{"reasoning": "r", "polite": true}"#, TOKENS),
        };
        self.msats.fetch_add(10 + tokens / 2, Ordering::SeqCst);
        self.calls.fetch_add(1, Ordering::SeqCst);
        let mut body = chat(reply, "stop");
        body["usage"] = json!({ "prompt_tokens": 100, "completion_tokens": tokens });
        Answer::json(200, &body).slow(Duration::from_millis(40))
    }
}

fn command(dir: &Path, url: &str, budget: u64) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
    for name in [
        "DSRS_LM",
        "DSRS_PRICES",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(name);
    }
    command
        .env("NO_PROXY", "127.0.0.1")
        .env("OPENAI_API_KEY", "k")
        .env("OPENAI_BASE_URL", url);
    command.args([
        "score",
        "rows.jsonl",
        "-m",
        "polite",
        "--lm",
        "openai:gpt-6-luna",
    ]);
    command.args(["--out", "out.jsonl", "--store", "store"]);
    // The calls in progress are reserved less than the budget, so that something is left after a kill.
    command.args(["--concurrency", "2", "--budget", &format!("{budget} msat")]);
    command
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_holds_over_kills() {
    let dir = tempfile::tempdir().unwrap();
    let row = |id: u64| {
        let pred = json!({ "response": format!("answer {id}") });
        format!("{}\n", json!({ "id": id, "gold": {}, "pred": pred }))
    };
    fs::write(
        dir.path().join("rows.jsonl"),
        (0..ROWS).map(row).collect::<String>(),
    )
    .unwrap();
    let paid: Arc<Paid> = Arc::default();
    let of_server = Arc::clone(&paid);
    let server = Server::without_recording(move |received| of_server.answer(received)).await;
    let url = server.url("/v1/");
    let mut killed = 0;
    let mut has_ended = false;
    while !has_ended && killed < KILLS {
        let before = paid.calls.load(Ordering::SeqCst);
        let mut child = command(dir.path(), &url, BUDGET).spawn().unwrap();
        // During the preflight check, the first calls, or later ones.
        while paid.calls.load(Ordering::SeqCst) <= before + killed % 4
            && child.try_wait().unwrap().is_none()
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill().unwrap();
        has_ended = child.wait().unwrap().code().is_some();
        killed += u64::from(!has_ended);
    }
    assert!(
        killed > 2 && has_ended,
        "{killed} runs were killed before they ended"
    );
    let msats = paid.msats.load(Ordering::SeqCst);
    println!(
        "{killed} kills: {msats} of {BUDGET} msat, {} calls",
        paid.calls.load(Ordering::SeqCst)
    );
    assert!(msats <= BUDGET, "{msats} msat were paid");
    // What was paid and recorded is in the result.
    dsrs_metrics_tests::schema::validate_file(&dir.path().join("out.jsonl"));
    let out = fs::read_to_string(dir.path().join("out.jsonl")).unwrap();
    let outcomes: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["scores"]["polite"].clone())
        .collect();
    let of = |outcome: &str| {
        outcomes
            .iter()
            .filter(|it| it["outcome"] == outcome)
            .count()
    };
    assert_eq!(
        (outcomes.len(), of("scored") + of("skipped")),
        (60, 60),
        "{out}"
    );
    assert!(of("scored") > 0, "{out}");
}

/// A budget covers one run. The next one pays for rows that it did not cover, and for no row twice.
#[tokio::test]
async fn the_same_command_pays_for_the_rows_that_the_budget_did_not_cover() {
    let dir = tempfile::tempdir().unwrap();
    let row = |id: u64| {
        json!({ "id": id, "gold": {}, "pred": { "response": format!("answer {id}") } }).to_string()
    };
    let rows: Vec<String> = (0..30).map(row).collect();
    fs::write(dir.path().join("rows.jsonl"), rows.join("\n")).unwrap();
    let paid: Arc<Paid> = Arc::default();
    let of_server = Arc::clone(&paid);
    let server = Server::without_recording(move |received| of_server.answer(received)).await;
    let mut scored = Vec::new();
    for _ in 0..4 {
        let before = paid.msats.load(Ordering::SeqCst);
        let mut command = command(dir.path(), &server.url("/v1/"), BUDGET);
        command.stderr(Stdio::piped());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        let spent = paid.msats.load(Ordering::SeqCst) - before;
        assert!(
            spent <= BUDGET && !err.contains("interrupted"),
            "{spent}: {err}"
        );
        let out = fs::read_to_string(dir.path().join("out.jsonl")).unwrap();
        scored.push(out.matches("\"outcome\":\"scored\"").count());
    }
    assert!(scored[0] < 30 && scored[3] == 30, "{scored:?}");
    // A call of a row costs 510 msat, and one probe of each start 15.
    assert_eq!(paid.msats.load(Ordering::SeqCst), 30 * 510 + 4 * 15);
}
