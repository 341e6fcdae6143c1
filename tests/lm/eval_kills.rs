//! Four evals in processes of their own share a budget and a store, and are killed again and again: no run of tests pays more
//! than its budget, no stored reply is paid for again, and the evals end as if nothing had happened.
//!
//! By default 4 kills. `DSRS_METRICS_KILLS=200` sets another number; the figures are printed with `--nocapture`.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsrs_metrics::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::json;

use crate::evals::{command, folder};
use crate::run_kills::setting;
use crate::server::{Answer, Received, Server, chat};

const EVALS: [&str; 4] = ["k1", "k2", "k3", "k4"];
const ROWS: usize = 40;
const CONCURRENCY: usize = 4;
/// In millisatoshis. An eval reserves 30 sat, so that two of them run at once.
const BUDGET: u64 = 60_000;
/// What a reply costs: 0.1 msat for each of 100 tokens of the prompt, and 0.5 for each of 1,000 tokens of the reply.
const COST: u64 = 510;

/// Decide whether the reply to the customer is polite.
#[judge(cost = "1000 msat")]
struct Kind {
    #[input(pred)]
    reply: String,
    #[output]
    kind: bool,
}

fn rows(eval: &str) -> Vec<Example> {
    (0..ROWS)
        .map(|row| example! { "reply" => format!("{eval} says {row}.") })
        .collect()
}

macro_rules! evals {
    ($($name:ident)+) => {
        $(#[eval(
            devset = rows(stringify!($name)),
            metrics(kind_judge),
            gate(kind >= 0.8),
            live = "openai:my-model",
            concurrency = 4,
            budget = "30 sat"
        )]
        fn $name(reply: String) -> Prediction {
            prediction! { "reply" => reply }
        })+
    };
}

evals! { k1 k2 k3 k4 }

/// How often the reply about a row was paid for.
type Paid = Arc<Mutex<HashMap<String, u64>>>;

async fn server(paid: &Paid) -> Server {
    let paid = Arc::clone(paid);
    Server::start(move |received: &Received| {
        let prompt = received.body["messages"].to_string();
        let row = prompt.find(" says ").map(|at| {
            let end = at + prompt[at..].find('.').unwrap();
            prompt[at - 2..end].to_owned()
        });
        let reply = match &row {
            Some(_) => json!({ "reasoning": "", "kind": true }),
            None => json!({ "ok": true }),
        };
        let tokens = if row.is_some() { 1_000 } else { 0 };
        if let Some(row) = row {
            *paid.lock().unwrap().entry(row).or_default() += 1;
        }
        let mut body = chat(&reply.to_string(), "stop");
        body["usage"] = json!({ "prompt_tokens": 100, "completion_tokens": tokens });
        Answer::json(200, &body).slow(Duration::from_millis(10))
    })
    .await
}

fn start(eval: &str, folder: &Path, server: &Server, run: usize, budget: u64) -> Child {
    let mut command: Command = command(folder, server);
    let test = format!("eval_kills::{eval}_eval");
    command
        .env("DSRS_PRICES", folder.join("prices.json"))
        .env("DSRS_BUDGET", format!("{budget} msat"))
        .env("NEXTEST_RUN_ID", format!("run-{run}"));
    command
        .args(["--exact", &test, "--nocapture", "--ignored"])
        .spawn()
        .unwrap()
}

/// Runs the evals until all end by themselves, or one is killed after this time and the others end.
fn run(folder: &Path, server: &Server, run: usize, kill: Option<(usize, Duration)>) -> Vec<String> {
    // A run that is not killed shall end.
    let budget = BUDGET * if kill.is_some() { 1 } else { 2 };
    let mut processes = EVALS.map(|eval| start(eval, folder, server, run, budget));
    if let Some((victim, after)) = kill {
        std::thread::sleep(after);
        // It may have ended.
        let _ = processes[victim].kill();
    }
    let text = |process: Child| {
        let output = process.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    processes.into_iter().map(text).collect()
}

fn folder_with_prices() -> tempfile::TempDir {
    let folder = folder();
    let price = json!({ "openai:my-model": { "input": 0.1, "output": 0.5 } });
    std::fs::write(folder.path().join("prices.json"), price.to_string()).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn evals_that_are_killed_in_four_processes_stay_within_the_budget_of_their_run() {
    let kills = setting("DSRS_METRICS_KILLS", 4) as usize;
    let paid = Paid::default();
    let server = server(&paid).await;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(53);
    let all = || paid.lock().unwrap().values().sum::<u64>();
    let (mut most, mut stores, mut again) = (0, 0, 0);
    tokio::task::block_in_place(|| {
        let mut folder = folder_with_prices();
        let mut kept = 0;
        for kill in 0..kills {
            let before = all();
            let after = Duration::from_millis(random.next_u64() % 400);
            let victim = random.next_u64() as usize % EVALS.len();
            run(folder.path(), &server, kill, Some((victim, after)));
            most = most.max((all() - before) * COST);
            kept += 1;
            // Once in a while everything is paid for, and the next kills have an empty store.
            if kept == 4 || kill + 1 == kills {
                for text in run(folder.path(), &server, kills + kill, None) {
                    assert!(text.contains("(40/40, 0 failed)"), "{text}");
                    assert!(text.contains("passed (1 of 1 gates passed)"), "{text}");
                }
                let mut paid = paid.lock().unwrap();
                assert_eq!(paid.len(), EVALS.len() * ROWS);
                again += paid.drain().map(|(_, times)| times - 1).sum::<u64>();
                (folder, kept, stores) = (folder_with_prices(), 0, stores + 1);
            }
        }
    });
    println!(
        "{kills} kills of an eval in 4 processes, {stores} empty stores: at most {most} msat of {BUDGET} in a run, {again} calls in progress at a kill paid again"
    );
    assert!(most <= BUDGET, "{most}");
    assert!(again <= (kills * CONCURRENCY) as u64, "{again}");
}
