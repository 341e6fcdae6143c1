//! Judges on the command line, with a local server.

use std::process::{Command, Output};

use dsrs_metrics_tests::schema;
use serde_json::{Value, json};

use crate::server::{Answer, Received, Server};

fn rows(count: usize) -> String {
    let row = |id: usize| {
        let gold = json!({ "question": "Where?", "response": "in Paris" });
        json!({ "id": id, "gold": gold, "pred": { "response": format!("answer {id}") } })
    };
    (0..count).map(|id| format!("{}\n", row(id))).collect()
}

/// The output of the program, and the lines of its result file.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) lines: Vec<Value>,
    files: usize,
}

/// Runs `judge_scorer score ROWS --out OUT ..` with these environment variables and no other
/// relevant ones.
pub(crate) async fn score(count: usize, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("rows.jsonl"), rows(count)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
    let inherited = [
        "DSRS_LM",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_ORG_ID",
        "DSRS_PRICES",
        "DSRS_STORE",
        "DSRS_REQUESTS_PER_MINUTE",
        "DSRS_TOKENS_PER_MINUTE",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
        "no_proxy",
    ];
    inherited.iter().for_each(|name| {
        command.env_remove(name);
    });
    command
        .env("NO_PROXY", "127.0.0.1")
        .envs(variables.iter().copied());
    command
        .args(["score", "rows.jsonl", "--out", "out.jsonl"])
        .args(args);
    command.current_dir(dir.path());
    let ran = tokio::task::spawn_blocking(move || command.output().unwrap());
    let Output {
        status,
        stdout,
        stderr,
    } = ran.await.unwrap();
    let out = String::from_utf8(stdout).unwrap();
    schema::validate_output(&out);
    schema::validate_file(&dir.path().join("out.jsonl"));
    let lines = std::fs::read_to_string(dir.path().join("out.jsonl")).unwrap_or_default();
    Ran {
        code: status.code(),
        out,
        err: String::from_utf8(stderr).unwrap(),
        lines: lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        files: std::fs::read_dir(dir.path()).unwrap().count(),
    }
}

impl Ran {
    /// The number of files in the folder of the run.
    pub(crate) fn files(&self) -> usize {
        self.files
    }
}

pub(crate) fn verdict(received: &Received) -> Answer {
    let of_f1 = received.body["messages"].to_string().contains("`recall`");
    Answer::chat(match of_f1 {
        true => r#"{"reasoning": "because", "recall": 0.5, "precision": 1.0}"#,
        false => r#"{"reasoning": "because", "polite": true}"#,
    })
}

/// Checks that the run printed one line with the error, ended with exit code 2, and wrote nothing.
#[track_caller]
pub(crate) fn refused(ran: &Ran, expected: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    assert_eq!((ran.err.lines().count(), ran.files), (1, 1), "{}", ran.err);
    assert!(
        ran.err.starts_with("error: ") && ran.err.contains(expected),
        "{}",
        ran.err
    );
}

pub(crate) const MODEL: &str = "openai:gpt-6-luna";

#[tokio::test]
async fn no_output_is_the_store_or_the_price_file() {
    let variables = [("DSRS_STORE", "store"), ("DSRS_PRICES", "prices.json")];
    for (output, file) in [
        ("store/store.sqlite", "the store store/store.sqlite"),
        ("./prices.json", "DSRS_PRICES prices.json"),
    ] {
        let args = [
            "-m",
            "polite",
            "--lm",
            "openai:gpt-6-luna",
            "--markdown",
            output,
        ];
        let ran = score(1, &args, &variables).await;
        let message = format!(
            "error: --markdown {output} and {file} are the same file; choose another file for --markdown\n"
        );
        assert_eq!((ran.code, ran.err), (Some(2), message));
    }
    let own = [
        "-m",
        "polite",
        "--store",
        "own",
        "--markdown",
        "own/store.sqlite-wal",
    ];
    let ran = score(1, &own, &variables).await;
    refused(
        &ran,
        "--markdown own/store.sqlite-wal and --store own/store.sqlite-wal are the same file",
    );
}

#[tokio::test]
async fn an_unusable_model_is_reported_before_the_first_row() {
    let none = score(3, &["-m", "polite"], &[]).await;
    refused(
        &none,
        "metric `polite`: no language model is configured; set DSRS_LM=provider:model",
    );
    let no_key = score(3, &["-m", "polite", "--lm", MODEL], &[]).await;
    refused(
        &no_key,
        "openai:gpt-6-luna: missing API key; set OPENAI_API_KEY",
    );
    let nobody = score(
        3,
        &["-m", "f1,polite", "--lm", "nobody:m"],
        &[("DSRS_LM", MODEL)],
    )
    .await;
    refused(&nobody, "unknown provider in model `nobody:m`");
    let misspelt = score(
        3,
        &["-m", "polite", "--lm", "opnai:m"],
        &[("DSRS_LM", MODEL)],
    )
    .await;
    refused(&misspelt, "did you mean `openai:m`?");
    let empty = score(
        3,
        &["-m", "semantic_f1", "--lm", " "],
        &[("DSRS_LM", MODEL)],
    )
    .await;
    assert_eq!(
        (empty.code, empty.out.as_str(), empty.files),
        (Some(2), "", 1)
    );
    assert!(
        empty
            .err
            .contains("'--lm <PROVIDER:MODEL>': expected provider:model"),
        "{}",
        empty.err
    );
    let here = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
    ];
    let nowhere = score(
        3,
        &["-m", "semantic_f1", "--lm", MODEL, "--no-store"],
        &here,
    )
    .await;
    refused(&nowhere, "openai:gpt-6-luna: cannot connect to ");

    let server = Server::start(|_| Answer::error(404, "no such model")).await;
    let url = server.url("/v1");
    let there = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_LM", MODEL),
    ];
    let unknown = score(3, &["-m", "semantic_f1,polite", "--no-store"], &there).await;
    refused(
        &unknown,
        "openai:gpt-6-luna: model not found; check the model's name",
    );
    assert_eq!(
        server.received().len(),
        1,
        "two judges, one model, one probe"
    );
}

#[tokio::test]
async fn no_model_and_no_word_of_offline_is_an_error() {
    let sentence = "no language model is configured; set DSRS_LM=provider:model, such as openai:gpt-6-luna, or pass `--lm provider:model` (in code `.with_lm(..)`); to score by token overlap instead, pass `--offline` (in code `.offline()`)\n";
    for variables in [&[][..], &[("DSRS_LM", "")], &[("DSRS_LM", " ")]] {
        let args = [
            "-m",
            "semantic_f1",
            "--fail-under",
            "semantic_f1=0.1",
            "--store",
            "s",
        ];
        refused(
            &score(3, &args, variables).await,
            &format!("metric `semantic_f1`: {sentence}"),
        );
    }
    let args = ["-m", "semantic_f1,polite", "--offline"];
    let expected = "metric `polite`: the judge has no offline stand-in; set DSRS_LM=provider:model";
    refused(&score(3, &args, &[]).await, expected);
}

#[tokio::test]
async fn offline_takes_precedence_over_the_model_of_the_environment() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let here = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_LM", MODEL),
    ];
    let ran = score(3, &["-m", "semantic_f1", "--offline"], &here).await;
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(
        ran.out
            .ends_with("(mean of 3/3, 0 failed; judge: offline-lexical)\n"),
        "{}",
        ran.out
    );
    assert_eq!(server.received().len(), 0);
    let quiet = score(
        3,
        &["-m", "semantic_f1", "--offline", "-q"],
        &[("DSRS_LM", "nobody:m")],
    );
    assert_eq!(quiet.await.err, "");
}

#[tokio::test]
async fn with_an_unknown_model_no_row_is_judged_offline_in_its_place() {
    let args = ["-m", "semantic_f1", "--max-errors", "5", "--quiet"];
    let ran = score(3, &args, &[("DSRS_LM", "unlisted:model")]).await;
    refused(&ran, "unknown provider in model `unlisted:model`");
}

#[tokio::test]
async fn a_run_without_judges_needs_no_model() {
    let mapped = [
        "--map",
        "gold.answer=gold.response",
        "--map",
        "pred.answer=pred.response",
    ];
    let args = [&["-m", "f1"], &mapped[..]].concat();
    let ran = score(3, &args, &[("DSRS_LM", "nobody:m")]).await;
    assert_eq!((ran.code, ran.lines.len()), (Some(0), 3), "{}", ran.err);
}

#[tokio::test]
async fn the_last_line_has_the_totals_of_calls_tokens_and_cost() {
    let server = Server::start(verdict).await;
    let (url, store) = (server.url("/v1"), tempfile::tempdir().unwrap());
    let variables = [
        ("OPENAI_API_KEY", "sk-secret-0123456789"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_LM", "nobody:m"),
        ("DSRS_STORE", store.path().to_str().unwrap()),
    ];
    let args = ["-m", "polite,semantic_f1", "--lm", MODEL, "--json"];
    let ran = score(4, &args, &variables).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    // 60 * 0.1 + 40 * 0.01 + 10 * 0.5 msat per call, rounded up.
    let polite = &report["metrics"]["polite"];
    assert_eq!(
        (&polite["score"], &polite["cost_msats"]),
        (&json!(1.0), &json!(4 * 12))
    );
    assert_eq!(report["metrics"]["semantic_f1"]["cost_msats"], 4 * 12);
    let totals = "4 rows: 0 unchanged, 4 evaluated; 8 billable results: 0 from the store, 8 newly paid for\nlanguage models: 9 calls (0 cached, 0 failed), 900 prompt + 90 completion tokens, 108 msat; probes: 1, 12 msat\n";
    assert_eq!(ran.err, totals);
    assert_eq!(server.received().len(), 9);

    let again = score(4, &args, &variables).await;
    assert_eq!(
        again.err,
        "4 rows: 4 unchanged, 0 evaluated; 8 billable results: 8 from the store, 0 newly paid for\nlanguage models: 9 calls (8 cached, 0 failed), 100 prompt + 10 completion tokens, 12 msat; probes: 1, 12 msat\n"
    );
    assert_eq!(server.received().len(), 10);
    let refreshed = score(4, &[&args[..], &["--refresh"]].concat(), &variables).await;
    assert_eq!(
        (refreshed.err.as_str(), server.received().len()),
        (totals, 19)
    );
    let without = score(
        4,
        &[&args[..], &["--no-store", "--quiet"]].concat(),
        &variables,
    )
    .await;
    assert_eq!((without.err.as_str(), server.received().len()), ("", 28));
    for ran in [&ran, &again, &refreshed] {
        assert!(!format!("{}{}{:?}", ran.out, ran.err, ran.lines).contains("sk-secret"));
    }
}

#[tokio::test]
async fn rows_that_the_budget_does_not_cover_are_skipped_and_counted() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let args = [
        "-m",
        "polite",
        "--lm",
        MODEL,
        "--no-store",
        "--budget",
        "2600 msat",
    ];
    let ran = score(60, &args, &variables).await;
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let of = |outcome: &str| {
        let is = |line: &&Value| line["scores"]["polite"]["outcome"] == outcome;
        ran.lines.iter().filter(is).count()
    };
    let (scored, skipped) = (of("scored"), of("skipped"));
    assert_eq!(scored + skipped, 60, "{:?}", ran.lines);
    assert!(scored > 5 && skipped > 5, "{scored} scored");
    assert_eq!(
        server.received().len(),
        scored + 1,
        "no requests for skipped rows"
    );
    assert!(scored as u64 * 12 <= 2600);
    let counts = format!(", 100.00] ({scored}/{scored}, 0 failed, {skipped} skipped)\n");
    assert!(
        ran.out.starts_with("polite  100.00% [") && ran.out.ends_with(&counts),
        "{}",
        ran.out
    );
    let expected = format!(
        "polite: --budget did not cover {skipped} of 60 rows, which were skipped; a call may cost up to "
    );
    let (msats, last) = ran
        .err
        .strip_prefix(&expected)
        .unwrap()
        .split_once(" msat\n")
        .unwrap();
    let msats: u64 = msats.parse().unwrap();
    assert!((12..2600).contains(&msats), "{msats}");
    // A call that the budget refused was not made, so it did not fail.
    let totals = format!(
        "language models: {} calls (0 cached, 0 failed; {skipped} more refused by the budget), ",
        scored + 1
    );
    assert!(
        last.starts_with(&totals) && last.lines().count() == 1,
        "{last}"
    );
}

#[tokio::test]
async fn a_model_without_a_price_is_rejected_under_a_budget_unless_allowed() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url.as_str())];
    let args = [
        "-m",
        "polite",
        "--lm",
        "openai:own",
        "--no-store",
        "--budget",
        "1 msat",
    ];
    let ran = score(3, &args, &variables).await;
    refused(
        &ran,
        "openai:own: no price for this model, so the budget cannot be enforced",
    );
    assert_eq!(server.received().len(), 0);
    let ran = score(3, &[&args[..], &["--allow-unpriced"]].concat(), &variables).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let expected = "0 msat (plus 4 attempts of unknown cost); probes: 1, 0 msat\n";
    assert!(ran.err.ends_with(expected), "{}", ran.err);
    let costs: Vec<_> = ran
        .lines
        .iter()
        .map(|l| l["scores"]["polite"]["cost_msats"].clone())
        .collect();
    assert_eq!(
        costs, [10; 3],
        "the declared cost; the budget is not charged"
    );
}

#[tokio::test]
async fn a_budget_without_a_unit_is_bad_usage() {
    let ran = score(1, &["-m", "polite", "--budget", "5000"], &[]).await;
    assert_eq!((ran.code, ran.files), (Some(2), 1));
    let message = "expected an amount with a unit, found `5000`; write `5000 msat`";
    assert!(ran.err.contains(message), "{}", ran.err);
}

#[tokio::test]
async fn a_budget_in_dollars_is_converted_at_the_rate_of_the_run() {
    let server = Server::start(verdict).await;
    let url = server.url("/v1");
    let run = |budget: &'static str, rate: &'static str| {
        let variables = [
            ("OPENAI_API_KEY", "k"),
            ("OPENAI_BASE_URL", url.clone().leak()),
            ("DSRS_MSATS_PER_USD", rate),
        ];
        async move {
            let args = [
                "-m",
                "polite",
                "--lm",
                MODEL,
                "--no-store",
                "--budget",
                budget,
            ];
            score(1, &args, &variables).await
        }
    };
    let refused = |budget: u64| {
        format!("msat, but only {budget} of {budget} msat are left; raise the budget\n")
    };
    // The probe alone may cost more.
    let ran = run("0.00002 usd", "").await;
    assert!(ran.err.ends_with(&refused(20)), "{}", ran.err);
    let ran = run("0.00002 usd", "250000").await;
    assert!(ran.err.ends_with(&refused(5)), "{}", ran.err);
    let ran = run("5 EUR", "250000.5").await;
    assert_eq!(ran.code, Some(2));
    let message = "expected an amount in `msat`, `sat` or `usd` (1 usd = 250000.5 msat), found `5 EUR`; write `100 msat`";
    assert!(ran.err.contains(message), "{}", ran.err);
    let ran = run("1 usd", "many").await;
    let message = "invalid DSRS_MSATS_PER_USD `many`: expected a positive number";
    assert!(ran.err.contains(message), "{}", ran.err);
}
