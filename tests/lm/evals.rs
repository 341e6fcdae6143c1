//! Twelve evals that call a model and share one store: as threads of one process, as `cargo test` runs them, and as
//! processes side by side, as `cargo nextest run` runs them. No call is paid twice.
//!
//! The evals are ignored tests of this binary, which the other tests of this file start.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dsrs_metrics::lm::{LanguageModel as _, Lm, LmError, LmRequest};
use dsrs_metrics::prelude::*;
use serde_json::json;

use crate::server::{Answer, Received, Server};

/// Decide whether the reply to the customer is polite.
#[judge(cost = "1000 msat")]
struct Polite {
    #[input(pred)]
    reply: String,
    #[output]
    polite: bool,
}

/// The rows of all evals. Each eval adds one of its own, so that its calls are partly those of the others.
fn rows(own: &str) -> Vec<Example> {
    let row = |reply: String| example! { "reply" => reply };
    (0..8)
        .map(|n| row(format!("reply {n}")))
        .chain([row(format!("only {own}"))])
        .collect()
}

macro_rules! evals {
    ($($name:ident)+) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];

        $(#[eval(
            devset = rows(stringify!($name)),
            metrics(polite_judge),
            gate(polite >= 0.8, failed <= 0.0),
            live = "openai:my-model"
        )]
        fn $name(reply: String) -> Prediction {
            prediction! { "reply" => reply }
        })+
    };
}

evals! { e01 e02 e03 e04 e05 e06 e07 e08 e09 e10 e11 e12 }

/// A test binary of this file, with its own target folder, store and server.
pub(crate) fn command(folder: &Path, server: &Server) -> Command {
    let mut command = Command::new(folder.join("target/debug/deps/evals"));
    for name in [
        "DSRS_LM",
        "DSRS_BUDGET",
        "DSRS_UPDATE",
        "DSRS_PRICES",
        "GITHUB_ACTIONS",
    ] {
        command.env_remove(name);
    }
    command
        .env("OPENAI_BASE_URL", server.url("/v1"))
        .env("OPENAI_API_KEY", "sk-test-0123456789");
    command
        .env("DSRS_STORE", folder.join("store"))
        .env("NO_PROXY", "127.0.0.1");
    command
        .env("NEXTEST_RUN_ID", "one-run-of-tests")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A folder that looks like the target folder of cargo, with a link to this binary.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let deps = folder.path().join("target/debug/deps");
    std::fs::create_dir_all(&deps).unwrap();
    std::fs::write(folder.path().join("target/CACHEDIR.TAG"), "").unwrap();
    std::fs::hard_link(std::env::current_exe().unwrap(), deps.join("evals"))
        .or_else(|_| {
            std::fs::copy(std::env::current_exe().unwrap(), deps.join("evals")).map(|_| ())
        })
        .unwrap();
    folder
}

async fn server() -> Server {
    Server::start(|received: &Received| {
        let is_probe = !received.prompt().contains("reply") && !received.prompt().contains("only");
        let answer = if is_probe {
            json!({ "ok": true })
        } else {
            json!({ "reasoning": "", "polite": true })
        };
        Answer::chat(&answer.to_string())
    })
    .await
}

/// How often each prompt about a row was sent.
fn calls(server: &Server) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for received in server.received() {
        let prompt = received.prompt().to_owned();
        if prompt.contains("reply ") || prompt.contains("only ") {
            *calls.entry(prompt).or_insert(0) += 1;
        }
    }
    calls
}

fn output(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    (output.status.code(), text.concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_evals_of_one_process_pay_no_call_twice() {
    let (folder, server) = (folder(), server().await);
    let (code, text) = tokio::task::block_in_place(|| {
        output(command(folder.path(), &server).args(["--ignored", "evals::e", "--test-threads=12"]))
    });
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("test result: ok. 12 passed"), "{text}");
    let calls = calls(&server);
    assert_eq!(
        (calls.len(), calls.values().max()),
        (8 + 12, Some(&1)),
        "{calls:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn evals_in_processes_of_their_own_pay_for_no_stored_call() {
    let (folder, server) = (folder(), server().await);
    tokio::task::block_in_place(|| {
        let start = |name: &&str| {
            let test = format!("evals::{name}_eval");
            let mut command = command(folder.path(), &server);
            // As nextest starts them.
            command
                .args(["--exact", &test, "--nocapture", "--ignored"])
                .spawn()
                .unwrap()
        };
        let ends = |process: Child| {
            let output = process.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{text}");
            assert!(text.contains("passed (2 of 2 gates passed)"), "{text}");
        };
        // The first run makes the calls that all runs share, because two processes may make the same call at the same moment.
        ends(start(&NAMES[0]));
        let running: Vec<_> = NAMES[1..].iter().map(start).collect();
        running.into_iter().for_each(ends);
    });
    let found = calls(&server);
    assert_eq!(
        (found.len(), found.values().max()),
        (8 + 12, Some(&1)),
        "{found:?}"
    );
    // Once more: all replies are in the store.
    let (code, text) = tokio::task::block_in_place(|| {
        output(command(folder.path(), &server).args(["--ignored", "evals::e", "--test-threads=12"]))
    });
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(calls(&server), found);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_a_run_of_tests_holds_over_its_processes() {
    let (folder, server) = (folder(), server().await);
    let prices = folder.path().join("prices.json");
    // A reply of the server has few tokens, at 1,000 msat each.
    let price = json!({ "openai:my-model": { "input": 1000.0, "output": 1000.0 } });
    std::fs::write(&prices, price.to_string()).unwrap();
    let texts = tokio::task::block_in_place(|| {
        let start = |name: &&str| {
            let test = format!("evals::{name}_eval");
            let mut command = command(folder.path(), &server);
            command
                .env("DSRS_PRICES", &prices)
                .env("DSRS_BUDGET", "1 sat");
            command
                .args(["--exact", &test, "--nocapture", "--ignored"])
                .spawn()
                .unwrap()
        };
        let running: Vec<_> = NAMES[..4].iter().map(start).collect();
        let text = |process: std::process::Child| {
            let output = process.wait_with_output().unwrap();
            assert!(!output.status.success());
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        running.into_iter().map(text).collect::<Vec<_>>()
    });
    // A call may cost more than the whole budget, so none is made.
    assert!(
        texts.iter().all(|text| text.contains("the budget of")),
        "{texts:?}"
    );
    assert_eq!(calls(&server), BTreeMap::new());
}

/// An eval that declares no model, with a judge that has one.
#[test]
fn a_model_that_is_not_declared_is_not_called() {
    let lm = Lm::builder("openai:my-model")
        .key("sk-test-0123456789")
        .base_url("http://127.0.0.1:9/v1");
    let lm = lm.no_proxy().no_store().build().unwrap();
    let source = dsrs_metrics::evals::Source {
        name: "undeclared",
        module: module_path!(),
        file: file!(),
        line: line!(),
        package: "dsrs-metrics-tests",
        folder: env!("CARGO_MANIFEST_DIR"),
    };
    let condition = dsrs_metrics::evals::Condition::Failed(0.1);
    let eval = dsrs_metrics::evals::Eval::<Example, Prediction>::new(source)
        .devset([example! { "reply" => "reply 1" }])
        .inputs(&["reply"], &[])
        .metric(PoliteJudge::default().with_lm(lm))
        .gate("failed <= 0.1", condition);
    let run = || {
        eval.run(|row: Example| async move {
            prediction! { "reply" => row.get("reply") }
        });
    };
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(
        *panic.downcast::<String>().unwrap(),
        "eval `undeclared`: a metric calls openai:my-model, which `#[eval]` does not declare; write `live = \"openai:my-model\"`, so that `cargo test` skips the eval, or add `replay` too, to record the calls once\n"
    );
}

#[test]
fn an_eval_with_a_model_is_ignored_unless_it_is_asked_for() {
    let listed = Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--ignored", "--format", "terse", "evals::e"])
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert_eq!(listed.lines().count(), NAMES.len(), "{listed}");
    // The program is a function as any other.
    assert_eq!(e01("hello".to_owned()), prediction! { "reply" => "hello" });
}

/// Appends a line to the file that a variable names, and ends the process after as many lines as another one says.
fn called(line: &str) {
    use std::io::Write as _;
    let Ok(path) = std::env::var("EVAL_CALLS") else {
        return;
    };
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .unwrap();
    writeln!(file, "{line}").unwrap();
    let lines = std::fs::read_to_string(&path).unwrap().lines().count();
    if std::env::var("EVAL_DIES_AFTER").is_ok_and(|after| after == lines.to_string()) {
        std::process::abort();
    }
}

/// An eval that may be killed.
#[eval(
    devset = rows("killed"),
    metrics(polite_judge),
    gate(polite >= 0.8),
    live = "openai:my-model",
    concurrency = 1
)]
fn killed(reply: &str) -> Prediction {
    called(reply);
    prediction! { "reply" => reply }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_eval_that_was_killed_continues_from_its_store() {
    let (folder, server) = (folder(), server().await);
    let calls_file = folder.path().join("calls");
    let run = |dies: bool| {
        let mut command = command(folder.path(), &server);
        command.args(["--exact", "evals::killed_eval", "--nocapture", "--ignored"]);
        command.env("EVAL_CALLS", &calls_file);
        if dies {
            command.env("EVAL_DIES_AFTER", "4");
        }
        tokio::task::block_in_place(|| output(&mut command))
    };
    let (code, text) = run(true);
    assert_ne!(code, Some(0), "{text}");
    let (code, text) = run(false);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("100.00%") && text.contains("(9/9, 0 failed)"),
        "{text}"
    );
    let calls = std::fs::read_to_string(&calls_file).unwrap();
    // The row in which the process died is run again, the rows before it are not.
    let expected: Vec<String> = [0, 1, 2, 3, 3, 4, 5, 6, 7]
        .map(|n| format!("reply {n}"))
        .into_iter()
        .chain(["only killed".to_owned()])
        .collect();
    assert_eq!(calls.lines().collect::<Vec<_>>(), expected);
    // The next run calls the program for every row, because nothing is known about what it reads.
    let (code, text) = run(false);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(
        std::fs::read_to_string(&calls_file)
            .unwrap()
            .lines()
            .count(),
        10 + 9
    );
}

/// An eval whose calls are recorded, in the judge and in the program.
#[eval(
    devset = rows("replayed"),
    metrics(polite_judge),
    gate(polite >= 0.8),
    live = "openai:my-model",
    replay = "evals/replayed.replay.jsonl"
)]
async fn replayed(reply: String) -> Result<Prediction, LmError> {
    let lm = Lm::from_id("openai:my-model")?;
    let request = LmRequest::new("shout version 1").user(format!("only {reply}"));
    Ok(prediction! { "reply" => lm.complete(&request).await?.text })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_eval_is_recorded_once_and_runs_offline_as_an_ordinary_test() {
    let (folder, server) = (folder(), server().await);
    let replay = folder.path().join("evals/replayed.replay.jsonl");
    std::fs::create_dir_all(replay.parent().unwrap()).unwrap();
    let run = |update: &str, is_offline: bool| {
        let mut command = command(folder.path(), &server);
        // No `--ignored`: it is an ordinary test.
        command
            .args(["--exact", "evals::replayed_eval", "--nocapture"])
            .env("DSRS_UPDATE", update);
        command
            .env("CARGO_MANIFEST_DIR", folder.path())
            .env("CARGO_PKG_NAME", "dsrs-metrics-tests");
        if is_offline {
            command
                .env_remove("OPENAI_API_KEY")
                .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
        }
        tokio::task::block_in_place(|| output(&mut command))
    };
    let (code, text) = run("no", true);
    assert_ne!(code, Some(0));
    assert!(
        text.contains("no recorded calls: ") && text.contains("DSRS_UPDATE=new cargo test"),
        "{text}"
    );
    let (code, text) = run("new", false);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("recorded calls: 0 replayed, "), "{text}");
    let (recorded, sent) = (std::fs::read(&replay).unwrap(), server.received().len());
    assert!(!String::from_utf8_lossy(&recorded).contains("127.0.0.1"));
    // The suite runs `replayed_eval` with the committed calls, which are the same.
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/evals/replayed.replay.jsonl");
    if std::env::var_os("DSRS_METRICS_RECORD").is_some_and(|value| value == "1") {
        std::fs::write(committed, &recorded).unwrap();
    }
    assert_eq!(std::fs::read(committed).unwrap(), recorded);

    let (code, text) = run("no", true);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(" replayed, 0 recorded, 0 not used"), "{text}");
    assert_eq!(
        (std::fs::read(&replay).unwrap(), server.received().len()),
        (recorded.clone(), sent)
    );

    // A call that was not recorded is an error that names it, although the other rows pass the gate.
    let text = String::from_utf8(recorded).unwrap();
    let without: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("only only replayed"))
        .collect();
    std::fs::write(&replay, without.join("\n") + "\n").unwrap();
    let (code, text) = run("no", true);
    assert_ne!(code, Some(0));
    let missing = format!(
        "eval `replayed`: openai:my-model: call not recorded in {}: purpose `shout version 1`, last message `only only replayed`; record it: DSRS_UPDATE=new cargo test\n",
        replay.display()
    );
    assert!(text.contains(&missing), "{text}");
}
