//! A simulated user under a budget, and in a process that is killed in the middle of a conversation.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dsrs_metrics::lm::{
    LanguageModel, Ledger, Lm, LmBudget, LmError, LmRequest, Metered, Price, Priced, Prices,
    ScriptedLm, Usage,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::{EvaluateBuilder, EvaluationResult, SimulatedUser};
use dsrs_metrics::{Evaluate, Outcome};
use serde_json::{Value, json};

use crate::plain;
use crate::run_kills::stored_replies;
use crate::server::{Answer, Received, Server};

/// A dollar per million tokens: a token costs one msat.
const PRICE: Price = Price {
    input: 0.0,
    output: 1.0,
    cached_input: None,
};

/// What a call costs.
const CALL: u64 = 200;

fn says(state: &str, message: &str) -> Value {
    json!({ "reasoning": "", "state": state, "message": message })
}

/// A model that plays a user of two turns, and the assistant of that user.
fn of_both(shown: &str) -> Value {
    match shown.matches(", assistant: ").count() {
        0 => says("continue", "A room, please."),
        1 => says("continue", "Two nights."),
        _ => says("goal_reached", "Thanks."),
    }
}

fn scripted() -> ScriptedLm {
    ScriptedLm::new()
        .usage(Usage::new(10, CALL))
        .otherwise(
            |request: &LmRequest| match request.purpose.starts_with("judge") {
                true => of_both(&request.messages[1].content).to_string(),
                false => "Certainly.".to_owned(),
            },
        )
}

/// Asks a model for the reply. The error of a call is the error of the program.
async fn asked(lm: impl LanguageModel, inputs: Example) -> Result<Prediction, LmError> {
    let request = LmRequest::new("assistant").user(inputs.get("messages").unwrap().to_string());
    let request = request.with_sampling(dsrs_metrics::lm::Sampling {
        max_tokens: Some(200),
        ..Default::default()
    });
    Ok(prediction! { "reply" => lm.complete(&request).await?.text })
}

/// Whether the goal is reached.
#[metric]
fn reached(#[pred] stop_reason: &str) -> bool {
    stop_reason == "goal_reached"
}

fn evaluate(rows: usize, concurrency: usize) -> EvaluateBuilder<Example, Prediction> {
    let row = |row: usize| example! { "goal" => format!("Book room {row}."), "answer" => "42" };
    let evaluate = Evaluate::builder()
        .devset((0..rows).map(row))
        .inputs(["goal"]);
    evaluate.metric(Reached).concurrency(concurrency)
}

/// Rows by outcome: scored, skipped, others.
fn outcomes(result: &EvaluationResult) -> (usize, usize, usize) {
    let count = |is: fn(&Outcome) -> bool| {
        result
            .results
            .iter()
            .filter(|row| row.outcomes.iter().all(is))
            .count()
    };
    let scored = count(|outcome| outcome.value() == Some(1.0));
    let skipped = count(Outcome::is_skipped);
    (scored, skipped, result.results.len() - scored - skipped)
}

fn budgeted(budget: &LmBudget, ledger: &Ledger) -> impl LanguageModel + Clone + use<> {
    let prices = Prices::empty().with("scripted:lm", PRICE);
    let priced = Priced::new(scripted(), prices).budget(budget.clone());
    Arc::new(Metered::new(priced, ledger.clone()))
}

#[tokio::test]
async fn a_row_whose_conversation_the_budget_does_not_cover_is_skipped() {
    // A conversation has three calls of the user and two of the assistant.
    for (limit, covered) in [(0, 0), (900, 0), (15_000, 10)] {
        for concurrency in [1, 4] {
            let (budget, ledger) = (LmBudget::msats(limit), Ledger::new());
            let lm = budgeted(&budget, &ledger);
            let of_assistant = lm.clone();
            let assistant = move |inputs: Example| asked(of_assistant.clone(), inputs);
            let program = SimulatedUser::of(assistant).with_lm(lm);
            let evaluate = evaluate(10, concurrency).build().unwrap();
            let result = evaluate.run(program).await.unwrap();
            let (scored, skipped, others) = outcomes(&result);
            assert_eq!(
                (others, scored + skipped),
                (0, 10),
                "{:?}",
                result.first_error
            );
            assert!(scored >= covered, "{scored} of {limit}");
            assert!(budget.spent_msats() <= limit);
            let by_purpose = ledger.by_purpose();
            let calls = |purpose| by_purpose.get(purpose).map_or(0, |it| it.cost_msats / CALL);
            assert!(calls("judge simulated_user version 1") >= 3 * scored as u64);
            assert!(calls("assistant") >= 2 * scored as u64);
        }
    }
}

#[tokio::test]
async fn a_conversation_that_the_budget_stopped_is_continued_with_its_store() {
    let dir = tempfile::tempdir().unwrap();
    let run = |limit: u64, ledger: Ledger| {
        let store = dir.path().join("store");
        async move {
            let budget = LmBudget::msats(limit);
            let lm = budgeted(&budget, &ledger);
            let assistant = |_: Example| async {
                prediction! { "reply" => "Certainly." }
            };
            let program = SimulatedUser::of(assistant).with_lm(lm);
            let evaluate = evaluate(3, 1)
                .models(|models| models.store(store))
                .build()
                .unwrap();
            evaluate.run(program).await.unwrap()
        }
    };
    let calls = |ledger: &Ledger| ledger.total().cost_msats / CALL;
    let (first, second) = (Ledger::new(), Ledger::new());
    // What a call may cost is reserved before it, so that the budget ends in the middle of a conversation.
    let probe = run(u64::MAX >> 1, Ledger::new()).await;
    assert_eq!(outcomes(&probe), (3, 0, 0));
    fs::remove_dir_all(dir.path().join("store")).unwrap();
    let limit = 4 * CALL + 4096;
    let stopped = run(limit, first.clone()).await;
    let (scored, skipped, others) = outcomes(&stopped);
    assert!(
        scored >= 1 && skipped >= 1 && others == 0,
        "{scored} {skipped} {others}"
    );
    assert_ne!(
        calls(&first) % 3,
        0,
        "it ends in the middle of a conversation: {}",
        calls(&first)
    );
    let continued = run(u64::MAX >> 1, second.clone()).await;
    assert_eq!(outcomes(&continued), (3, 0, 0));
    assert_eq!(calls(&first) + calls(&second), 9, "each reply is paid once");
}

/// The rows of the run that is killed, and the calls of each conversation: three of the user, two of the assistant.
const ROWS: usize = 2;
const CALLS: usize = 5;

/// The answers of the server: replies by row and number of messages, and whether a call waits.
#[derive(Default)]
struct Answers {
    replies: BTreeMap<(usize, bool, usize), usize>,
    is_waiting: bool,
    /// The replies until the next kill; later calls get no answer.
    max_replies: usize,
}

impl Answers {
    fn total(&self) -> usize {
        self.replies.values().sum()
    }

    fn answer(&mut self, received: &Received) -> Answer {
        let text = received.prompt();
        let is_user = received.body["response_format"]["json_schema"]["name"] == "simulated_user";
        // The assistant gets the row as an input of its own.
        let Some((_, row)) = text.split_once("ook room ") else {
            return Answer::chat("ok");
        };
        let row = usize::from(row.as_bytes()[0] - b'0');
        let said = if is_user {
            ", assistant: "
        } else {
            "\"role\":\"assistant\""
        };
        let call = (row, is_user, text.matches(said).count());
        if self.total() >= self.max_replies {
            self.is_waiting = true;
            return Answer::chat("").slow(Duration::from_secs(3600));
        }
        *self.replies.entry(call).or_default() += 1;
        match is_user {
            true => Answer::chat(&of_both(text).to_string()),
            false => Answer::chat("Certainly."),
        }
    }
}

/// The environment variables of the process that is killed.
const URL: &str = "DSRS_TEST_SIMULATED_USER_URL";
const DIR: &str = "DSRS_TEST_SIMULATED_USER_DIR";

/// The run that is killed, in a process of its own.
async fn killed_run(url: &str, dir: &Path) {
    let lm = || -> Lm {
        plain("openai:gpt-6-luna", url)
            .store(dir.join("store"))
            .build()
            .unwrap()
    };
    let of_assistant = lm();
    let assistant = move |inputs: Example| {
        let lm = of_assistant.clone();
        async move {
            let request =
                LmRequest::new("assistant").system(inputs.get("room").unwrap().to_string());
            let request = request.user(format!(
                "{} {}",
                inputs.get("room").unwrap(),
                inputs.get("messages").unwrap()
            ));
            Ok::<_, LmError>(prediction! { "reply" => lm.complete(&request).await?.text })
        }
    };
    let program = SimulatedUser::of(assistant).with_lm(lm());
    let row = |row: usize| {
        example! { "goal" => format!("Book room {row}."), "room" => format!("Look room {row}.") }
    };
    let evaluate = Evaluate::builder()
        .devset((0..ROWS).map(row))
        .inputs(["goal", "room"]);
    let evaluate = evaluate
        .metric(Reached)
        .concurrency(1)
        .models(|models| models.store(dir.join("store")));
    let evaluate = evaluate
        .files(|files| files.jsonl(dir.join("out.jsonl")))
        .build()
        .unwrap();
    let result = evaluate.run(program).await.unwrap();
    assert_eq!(outcomes(&result), (ROWS, 0, 0), "{:?}", result.first_error);
}

/// The command that starts this test in a process, which the variables make the run that is killed.
fn process(dir: &Path, url: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let test = "simulated_user::a_conversation_that_is_killed_pays_each_reply_once";
    command.args([test, "--exact"]);
    command
        .env(URL, url)
        .env(DIR, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_that_is_killed_pays_each_reply_once() {
    if let (Ok(url), Some(dir)) = (std::env::var(URL), std::env::var_os(DIR)) {
        return killed_run(&url, Path::new(&dir)).await;
    }
    let answers: Arc<Mutex<Answers>> = Arc::default();
    let of_server = Arc::clone(&answers);
    let server =
        Server::without_recording(move |received| of_server.lock().unwrap().answer(received)).await;
    let url = server.url("/v1/");
    let finish = |dir: &Path| {
        answers.lock().unwrap().max_replies = usize::MAX;
        let mut command = process(dir, &url);
        async {
            let status = tokio::task::spawn_blocking(move || command.status().unwrap()).await;
            assert!(status.unwrap().success());
        }
    };

    let undisturbed = tempfile::tempdir().unwrap();
    finish(undisturbed.path()).await;
    assert_eq!(answers.lock().unwrap().total(), CALLS * ROWS);
    let expected = fs::read(undisturbed.path().join("out.jsonl")).unwrap();

    *answers.lock().unwrap() = Answers::default();
    let dir = tempfile::tempdir().unwrap();
    for kill in 0..CALLS * ROWS {
        answers.lock().unwrap().max_replies = kill;
        let mut child = process(dir.path(), &url).spawn().unwrap();
        let start = Instant::now();
        loop {
            let is_waiting = answers.lock().unwrap().is_waiting;
            if is_waiting && stored_replies(&dir.path().join("store")).len() == kill {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{kill}");
            assert_eq!(
                child.try_wait().unwrap(),
                None,
                "the run ends before it is killed"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        answers.lock().unwrap().is_waiting = false;
    }
    finish(dir.path()).await;
    let answers = answers.lock().unwrap();
    let again: Vec<_> = answers
        .replies
        .iter()
        .filter(|(_, replies)| **replies > 1)
        .collect();
    assert_eq!(again, [], "calls that were paid again");
    assert_eq!(
        (answers.replies.len(), answers.total()),
        (CALLS * ROWS, CALLS * ROWS)
    );
    assert_eq!(fs::read(dir.path().join("out.jsonl")).unwrap(), expected);
}
