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
    for name in ["DSRS_LM", "DSRS_PRICES", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "127.0.0.1").env("OPENAI_API_KEY", "k").env("OPENAI_BASE_URL", url);
    command.args(["score", "rows.jsonl", "-m", "polite", "--lm", "openai:gpt-6-luna"]);
    command.args(["--no-store", "--out", "out.jsonl", "--journal", "journal"]);
    // The calls in progress are reserved less than the budget, so that something is left after a kill.
    command.args(["--concurrency", "2", "--budget", &format!("{budget} msat")]);
    command.current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_41_a_budget_holds_over_kills() {
    let dir = tempfile::tempdir().unwrap();
    let row = |id: u64| {
        let pred = json!({ "response": format!("answer {id}") });
        format!("{}\n", json!({ "id": id, "gold": {}, "pred": pred }))
    };
    fs::write(dir.path().join("rows.jsonl"), (0..ROWS).map(row).collect::<String>()).unwrap();
    let paid: Arc<Paid> = Arc::default();
    let of_server = Arc::clone(&paid);
    let server = Server::without_recording(move |received| of_server.answer(received)).await;
    let url = server.url("/v1/");
    let mut killed = 0;
    for kill in 0..KILLS {
        let before = paid.calls.load(Ordering::SeqCst);
        let mut child = command(dir.path(), &url, BUDGET).spawn().unwrap();
        // During the preflight check, the first calls, or later ones.
        while paid.calls.load(Ordering::SeqCst) <= before + kill % 5
            && child.try_wait().unwrap().is_none()
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill().unwrap();
        killed += u64::from(child.wait().unwrap().code().is_none());
    }
    assert!(killed > 2, "{killed} runs were killed before they ended");
    let mut command = command(dir.path(), &url, BUDGET);
    let output = tokio::task::spawn_blocking(move || {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
    });
    let output = output.await.unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "rows are skipped: {err}");
    let msats = paid.msats.load(Ordering::SeqCst);
    println!(
        "{killed} kills: {msats} of {BUDGET} msat, {} calls",
        paid.calls.load(Ordering::SeqCst)
    );
    assert!(msats <= BUDGET, "{msats} msat were paid");
    let recorded = dsrs_metrics::runs::journal_cost_msats(dir.path().join("journal")).unwrap();
    assert!((msats..=BUDGET).contains(&recorded), "{recorded} of {msats} msat are recorded");
    let line = "journal journal: calls in progress at an interruption count as spent, ";
    assert!(err.contains(line), "{err}");
    // What was paid and recorded is in the result.
    dsrs_metrics_tests::schema::validate_file(&dir.path().join("out.jsonl"));
    let out = fs::read_to_string(dir.path().join("out.jsonl")).unwrap();
    let outcomes: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["scores"]["polite"].clone())
        .collect();
    let of = |outcome: &str| outcomes.iter().filter(|it| it["outcome"] == outcome).count();
    assert_eq!((outcomes.len(), of("scored") + of("skipped")), (60, 60), "{out}");
    assert!(of("scored") > 0, "{out}");
}

/// A run that continues without remaining rows prints the scores, without a preflight check.
#[tokio::test]
async fn trap_41_a_budget_that_is_used_up_leaves_the_recorded_rows() {
    let dir = tempfile::tempdir().unwrap();
    let row = |id: u64| json!({ "id": id, "gold": {}, "pred": { "response": "a" } }).to_string();
    let rows = |count: u64| (0..count).map(row).collect::<Vec<_>>().join("\n");
    fs::write(dir.path().join("rows.jsonl"), rows(60)).unwrap();
    let paid: Arc<Paid> = Arc::default();
    let of_server = Arc::clone(&paid);
    let server = Server::without_recording(move |received| of_server.answer(received)).await;
    let run = |budget: u64| {
        let mut command = command(dir.path(), &server.url("/v1/"), budget);
        command.arg("--quiet");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        async move {
            let output = tokio::task::spawn_blocking(move || command.output().unwrap());
            let output = output.await.unwrap();
            let text = |bytes| String::from_utf8(bytes).unwrap();
            (output.status.code(), text(output.stdout), text(output.stderr))
        }
    };
    let first = run(BUDGET).await;
    let (calls, recorded) = (
        paid.calls.load(Ordering::SeqCst),
        dsrs_metrics::runs::journal_cost_msats(dir.path().join("journal")).unwrap(),
    );
    assert_eq!((first.0, recorded), (Some(1), paid.msats.load(Ordering::SeqCst)), "{}", first.2);
    let again = run(recorded).await;
    assert_eq!((again.0, again.1), (Some(1), first.1), "{}", again.2);
    assert_eq!(paid.calls.load(Ordering::SeqCst), calls, "nothing is called");
}
