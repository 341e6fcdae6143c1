//! A run with a judge of three calls is killed between its calls: each reply is paid once, and the result has the same bytes as
//! an undisturbed run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::run_kills::stored_replies;
use crate::server::{Answer, Received, Server};

const ROWS: usize = 6;

/// The names of the calls of a row, in order.
const CALLS: [&str; 3] = [
    "true_statements_statements",
    "true_statements_topics",
    "true_statements",
];

/// The row, the position of the call, and whether it is a repair.
type Call = (usize, usize, bool);

/// The answers of the server since the store was new.
#[derive(Default)]
struct Answers {
    /// The number of replies.
    replies: BTreeMap<Call, usize>,
    /// Calls that failed once.
    failures: BTreeSet<Call>,
    /// The calls of the running process without an answer.
    waiting: usize,
    /// The replies until the next kill; later calls get no answer.
    max_replies: usize,
    /// The calls of each row until the next kill.
    max_calls: usize,
}

impl Answers {
    fn total(&self) -> usize {
        self.replies.values().sum()
    }

    /// The second call of some rows fails once, and its first reply in other rows has to be repaired.
    fn answer(&mut self, received: &Received) -> Answer {
        let name = &received.body["response_format"]["json_schema"]["name"];
        let Some(position) = CALLS.iter().position(|call| name == call) else {
            assert_eq!(name, "probe");
            return Answer::chat(r#"{"ok": true}"#);
        };
        let messages = received.body["messages"].as_array().unwrap();
        let text = received.body["messages"].to_string();
        let (_, row) = text.split_once("response number ").unwrap();
        let row = usize::from(row.as_bytes()[0] - b'0');
        let call = (row, position, messages.len() > 2);
        if self.total() >= self.max_replies || position >= self.max_calls {
            self.waiting += 1;
            return Answer::chat("").slow(Duration::from_secs(3600));
        }
        if row % 3 == 1 && position == 1 && self.failures.insert(call) {
            return Answer::error(429, "too many requests").with_header("retry-after", "0");
        }
        *self.replies.entry(call).or_default() += 1;
        let item = |item: usize| json!({ "item": item, "value": item < 2 || row % 2 == 0 });
        let topic = |item: usize| json!({ "item": item, "value": format!("topic {item}") });
        let reply = match call {
            (_, 0, _) => {
                json!({ "statements": [format!("It is response number {row}."), "It is short."] })
            }
            (2 | 5, 1, false) => json!({ "topics": [topic(1)] }),
            (_, 1, _) => json!({ "topics": [topic(1), topic(2)] }),
            _ => json!({ "verdicts": [item(1), item(2)] }),
        };
        Answer::chat(&reply.to_string())
    }
}

fn command(dir: &Path, url: &str, (out, store): (&str, &str), concurrency: usize) -> Command {
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
        "true_statements",
        "--store",
        store,
        "--lm",
    ]);
    command.args([
        "openai:gpt-6-luna",
        "--out",
        out,
        "--concurrency",
        &concurrency.to_string(),
    ]);
    command
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Starts the run, and kills it when so many calls wait and the store has the replies of all others.
async fn kill_at(command: &mut Command, dir: &Path, answers: &Mutex<Answers>, waiting: usize) {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    loop {
        let (found, total) = {
            let answers = answers.lock().unwrap();
            (answers.waiting, answers.total())
        };
        if found == waiting && stored_replies(&dir.join("store")).len() == total {
            break;
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{found} calls wait, {total} replies"
        );
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "the run ends before it is killed"
        );
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    answers.lock().unwrap().waiting = 0;
}

/// Runs to the end, and returns the headlines and the result file.
async fn finished(mut command: Command, out: &Path) -> (String, Vec<u8>) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    dsrs_metrics_tests::schema::validate_file(out);
    (
        String::from_utf8(output.stdout).unwrap(),
        fs::read(out).unwrap(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_step_of_a_judge_is_paid_once_through_kills() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let row = |id: usize| {
        let pred = json!({ "response": format!("response number {id}") });
        format!("{}\n", json!({ "id": id, "gold": {}, "pred": pred }))
    };
    fs::write(
        dir.join("rows.jsonl"),
        (0..ROWS).map(row).collect::<String>(),
    )
    .unwrap();
    let answers: Arc<Mutex<Answers>> = Arc::default();
    let of_server = Arc::clone(&answers);
    // One server for all runs, because its address is part of the identity of a run.
    let server =
        Server::without_recording(move |received| of_server.lock().unwrap().answer(received)).await;
    let url = server.url("/v1/");
    let limit = |max_replies, max_calls| {
        let mut answers = answers.lock().unwrap();
        (answers.max_replies, answers.max_calls) = (max_replies, max_calls);
    };
    let new = || *answers.lock().unwrap() = Answers::default();

    new();
    limit(usize::MAX, CALLS.len());
    let out = "undisturbed.jsonl";
    let expected = finished(command(dir, &url, (out, "other"), ROWS), &dir.join(out)).await;
    let repairs = 2;
    let calls = CALLS.len() * ROWS + repairs;
    let answered = |answers: &Answers| (answers.replies.len(), answers.total());
    assert_eq!(answered(&answers.lock().unwrap()), (calls, calls));
    let scores = String::from_utf8_lossy(&expected.1)
        .matches("\"scored\",\"value\":0.5")
        .count();
    assert_eq!(scores, ROWS / 2, "{}", String::from_utf8_lossy(&expected.1));

    // One row at a time, with a kill before each reply; then all rows at once, with a kill before each of their calls.
    for concurrency in [1, ROWS] {
        new();
        fs::remove_dir_all(dir.join("store")).ok();
        let out = format!("killed_{concurrency}.jsonl");
        let command = || command(dir, &url, (&out, "store"), concurrency);
        let kills = if concurrency == 1 { calls } else { CALLS.len() };
        for kill in 0..kills {
            let (max_replies, max_calls) = if concurrency == 1 {
                (kill, CALLS.len())
            } else {
                (usize::MAX, kill)
            };
            limit(max_replies, max_calls);
            kill_at(&mut command(), dir, &answers, concurrency).await;
        }
        limit(usize::MAX, CALLS.len());
        assert_eq!(
            finished(command(), &dir.join(&out)).await,
            expected,
            "{concurrency} rows at once"
        );
        let answers = answers.lock().unwrap();
        let again: Vec<_> = answers
            .replies
            .iter()
            .filter(|(_, replies)| **replies > 1)
            .collect();
        assert_eq!(again, [], "calls that were paid again");
        assert_eq!(answered(&answers), (calls, calls));
    }
}
