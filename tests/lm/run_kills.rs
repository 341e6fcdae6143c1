//! A run with a judge is killed many times: with its store it ends like an undisturbed run, and no stored reply is paid for
//! again. So does a run that ends once its gate is decided, and one that judges a sample.
//!
//! By default 20 kills of 400 rows. `DSRS_METRICS_KILLS=200 DSRS_METRICS_KILL_ROWS=5000` sets other numbers; the figures
//! are printed with `--nocapture`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::json;

use crate::server::{Answer, Received, Server};

/// The rows in progress at a kill, at most.
const CONCURRENCY: usize = 16;

const LATENCY: Duration = Duration::from_millis(10);

/// The answers of the server, and the records of the store when the process was started.
#[derive(Default)]
struct Calls {
    /// The number of replies by row and position of the call in its row: the question, then the repair.
    answered: HashMap<(u64, usize), u64>,
    /// The number of replies in the store, by row.
    stored: HashMap<u64, usize>,
    /// Calls whose reply was in the store.
    paid_again: Vec<(u64, usize)>,
    failures: HashMap<(u64, usize), u64>,
}

impl Calls {
    fn total(&self) -> u64 {
        self.answered.values().sum()
    }

    /// The replies that were paid for more than once.
    fn repeated(&self) -> u64 {
        self.answered.values().map(|replies| replies - 1).sum()
    }

    /// Every 40th row gets an invalid reply first, which is repaired, and every 25th call fails once.
    fn answer(&mut self, received: &Received) -> Answer {
        let messages = received.body["messages"].as_array().unwrap();
        let text = received.body["messages"].to_string();
        let Some(row) = row_of(&text) else {
            return Answer::chat(r#"{"ok": true}"#);
        };
        let call = (row, usize::from(messages.len() > 2));
        if row % 25 == 3
            && *self
                .failures
                .entry(call)
                .and_modify(|it| *it += 1)
                .or_insert(1)
                == 1
        {
            return Answer::error(429, "too many requests").with_header("retry-after", "0");
        }
        if self
            .stored
            .get(&row)
            .is_some_and(|replies| *replies > call.1)
        {
            self.paid_again.push(call);
        }
        *self.answered.entry(call).or_default() += 1;
        let reply = match (row % 40, call.1) {
            (7, 0) => "Yes, it is polite.".to_owned(),
            _ => format!(
                r#"{{"reasoning": "row {row}", "polite": {}}}"#,
                row % 3 != 0
            ),
        };
        Answer::chat(&reply).slow(LATENCY)
    }
}

/// The number after `answer ` in a prompt.
fn row_of(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("answer number ")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

pub(crate) fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .map_or(default, |value| value.parse().unwrap())
}

fn command(dir: &Path, url: &str, run: &str, [out, store]: [&str; 2]) -> Command {
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
    command.args(["score", "rows.jsonl", "--store", store]);
    command.args(run.split_whitespace());
    command.args([
        "--lm",
        "openai:gpt-6-luna",
        "--out",
        out,
        "--concurrency",
        &CONCURRENCY.to_string(),
    ]);
    command
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The replies in the store, by row.
fn stored(dir: &Path) -> HashMap<u64, usize> {
    let mut replies = HashMap::new();
    for about in stored_replies(&dir.join("store")) {
        *replies.entry(row_of(&about).unwrap()).or_default() += 1;
    }
    replies
}

/// The keys of the replies in a store, as a process sees them that did not write them.
pub(crate) fn stored_replies(store: &Path) -> Vec<String> {
    let Ok(store) = rusqlite::Connection::open_with_flags(
        store.join("store.sqlite"),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE,
    ) else {
        return Vec::new();
    };
    // A store has no tables while it is created.
    let Ok(mut select) = store.prepare("SELECT about FROM records WHERE kind = 'reply'") else {
        return Vec::new();
    };
    let rows = select.query_map((), |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Starts the run and kills it: after fewer than `replies` more replies, or after at most `time`. Returns `true` if
/// it was killed before it ended.
async fn killed(
    command: &mut Command,
    calls: &Mutex<Calls>,
    random: &mut Xoshiro256PlusPlus,
    (replies, time): (u64, Duration),
) -> bool {
    let before = calls.lock().unwrap().total();
    let by_time = random.next_u64().is_multiple_of(4);
    let replies = random.next_u64() % replies;
    let longest = if by_time {
        time
    } else {
        Duration::from_millis(5)
    };
    let delay = Duration::from_micros(random.next_u64() % longest.as_micros() as u64);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !by_time
        && calls.lock().unwrap().total() < before + replies
        && child.try_wait().unwrap().is_none()
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(delay).await;
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_killed_at_any_moment_ends_with_the_same_bytes() {
    let kills = setting("DSRS_METRICS_KILLS", 20);
    let (rows, paid) = kill("-m polite,em", "", kills).await;
    let repaired = (0..rows).filter(|row| row % 40 == 7).count() as u64;
    assert_eq!(paid, rows + repaired);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_ends_early_and_is_killed_ends_with_the_same_bytes() {
    let kills = setting("DSRS_METRICS_KILLS", 6);
    let early = "-m polite,em --stop-when lower(polite)>=0.5 --alpha 0.01";
    let (rows, paid) = kill(early, "", kills).await;
    assert!(paid < rows, "{paid} of {rows}");
    // A budget that ends first leaves rows to the next run.
    kill(early, "--budget 5sat", kills).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_judges_a_sample_and_is_killed_ends_with_the_same_bytes() {
    let kills = setting("DSRS_METRICS_KILLS", 6);
    let sample = "-m em --truth polite --sample 100 --by em";
    let (_, paid) = kill(sample, "", kills).await;
    assert!((100..110).contains(&paid), "{paid}");
    kill(sample, "--budget 5sat", kills).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_repeats_pay_only_for_themselves() {
    let dir = folder(30);
    let calls: Arc<Mutex<Calls>> = Arc::default();
    let of_server = Arc::clone(&calls);
    let server =
        Server::without_recording(move |received| of_server.lock().unwrap().answer(received)).await;
    let url = server.url("/v1/");
    let run = |options: &str| {
        let out = dir.path().join("out.jsonl");
        let run = format!("-m polite {options}");
        ended(
            command(dir.path(), &url, &run, ["out.jsonl", "store"]),
            out,
            1,
        )
    };
    let missing = command(
        dir.path(),
        &url,
        "-m polite --more-repeats 2",
        ["out.jsonl", "store"],
    )
    .output()
    .unwrap();
    assert_eq!(
        String::from_utf8(missing.stderr).unwrap(),
        "error: --more-repeats: expected an earlier run's result in out.jsonl, found none with a manifest; pass --repeats instead\n"
    );
    // A reply is repaired.
    for (options, replies) in [
        ("", 31),
        ("--more-repeats 2", 3 * 31),
        ("--more-repeats 2", 5 * 31),
    ] {
        run(options).await;
        assert_eq!(calls.lock().unwrap().total(), replies, "{options}");
    }
    let added = fs::read(dir.path().join("out.jsonl")).unwrap();
    let (headline, at_once) = run("--repeats 5").await;
    assert_eq!(calls.lock().unwrap().total(), 5 * 31);
    assert!(
        added == at_once && headline.contains("pass@5"),
        "{headline}"
    );
}

/// Returns a folder with rows that have an answer.
fn folder(rows: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let row = |id: u64| {
        let pred = json!({ "response": format!("answer number {id}"), "answer": id.to_string() });
        format!(
            "{}\n",
            json!({ "id": id, "gold": { "answer": (id / 2 * 2).to_string() }, "pred": pred })
        )
    };
    fs::write(
        dir.path().join("rows.jsonl"),
        (0..rows).map(row).collect::<String>(),
    )
    .unwrap();
    dir
}

/// Kills a run, and checks that it ends like an undisturbed one. Also checks a budget, which may end before the run. Returns
/// the number of rows, and of the replies of the undisturbed run.
async fn kill(run: &str, budget: &str, kills: u64) -> (u64, u64) {
    let rows = setting("DSRS_METRICS_KILL_ROWS", 400);
    let dir = folder(rows);
    let start = Instant::now();
    let calls: Arc<Mutex<Calls>> = Arc::default();
    let of_server = Arc::clone(&calls);
    // One server for both runs, because its address is part of the identity of a run.
    let server =
        Server::without_recording(move |received| of_server.lock().unwrap().answer(received)).await;
    let url = server.url("/v1/");
    let undisturbed = command(dir.path(), &url, run, ["undisturbed.jsonl", "other"]);
    let expected = ended(undisturbed, dir.path().join("undisturbed.jsonl"), 1).await;
    // For kills by time: until the first replies, and then the time between two kills of a run of the same speed.
    let time = Duration::from_millis(100) + start.elapsed() / kills as u32;
    let undisturbed = std::mem::take(&mut *calls.lock().unwrap());
    assert_eq!(undisturbed.repeated(), 0);
    let paid = undisturbed.total();

    let run = format!("{run} {budget}");
    let command = || command(dir.path(), &url, &run, ["out.jsonl", "store"]);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(14);
    let (mut done, mut starts) = (0, 0);
    while done < kills {
        starts += 1;
        assert!(starts < 4 * kills, "the run ends before it is killed");
        calls.lock().unwrap().stored = stored(dir.path());
        // On average half as many replies between two kills as the kills divide the run into, so that the last one comes
        // before the run ends.
        let most = (paid / kills, time);
        done += u64::from(killed(&mut command(), &calls, &mut random, most).await);
    }
    calls.lock().unwrap().stored = stored(dir.path());
    // What a killed call may have cost is spent, so the budget ends first.
    assert_eq!(starts > done, !budget.is_empty(), "{starts} starts");
    let runs = if budget.is_empty() { 1 } else { 20 };
    let out = dir.path().join("out.jsonl");
    assert_eq!(ended(command(), out.clone(), runs).await, expected);
    // The same command again has the same result, and pays for nothing. If a gate ends it, it may begin a few rows after
    // those that decide, which the runs before had not begun.
    let total = calls.lock().unwrap().total();
    assert_eq!(ended(command(), out, 1).await, expected);
    let calls = calls.lock().unwrap();
    let begun_later = if run.contains("--stop-when") {
        2 * CONCURRENCY as u64
    } else {
        0
    };
    assert!(
        (total..=total + begun_later).contains(&calls.total()),
        "{} after {total}",
        calls.total()
    );
    println!(
        "{run}: {kills} kills of {rows} rows: {} replies, {} of them for calls in progress at a kill; {paid} without a kill",
        calls.total(),
        calls.repeated()
    );
    assert_eq!(calls.paid_again, [], "calls whose reply was in the store");
    assert!(calls.repeated() <= kills * CONCURRENCY as u64);
    let left: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 7, "temporary files are left: {left:?}");
    (rows, paid)
}

/// Runs a command until it succeeds, at most `runs` times. Returns its headlines and result file.
async fn ended(mut command: Command, out: PathBuf, runs: u32) -> (String, Vec<u8>) {
    let outputs = move || {
        let outputs = (0..runs).map(|_| command.output().unwrap());
        let mut ended = outputs.skip_while(|output| output.status.code() != Some(0));
        ended.next()
    };
    let output = tokio::task::spawn_blocking(outputs).await.unwrap();
    let output = output.expect("no run succeeds");
    dsrs_metrics_tests::schema::validate_file(&out);
    let headline = String::from_utf8(output.stdout).unwrap();
    (headline, fs::read(out).unwrap())
}
