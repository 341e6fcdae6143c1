//! `rejudge`: two judges of the same rows, compared with each other and with labels.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dsrs_metrics_tests::schema;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Answer, Received, Server};

/// A folder, and a server of scripted models.
pub(crate) struct Judges {
    folder: TempDir,
    server: Server,
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Judges {
    /// `verdict` returns the verdict of a model about a prompt.
    pub(crate) async fn start(
        verdict: impl Fn(&str, &str) -> Value + Send + Sync + 'static,
    ) -> Self {
        let answer = move |received: &Received| {
            let model = received.body["model"].as_str().unwrap_or_default();
            Answer::chat(&verdict(model, received.prompt()).to_string())
        };
        Self::answering(answer).await
    }

    pub(crate) async fn answering(
        answer: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            server: Server::start(answer).await,
        }
    }

    pub(crate) fn server_url(&self) -> String {
        self.server.url("/v1/")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) async fn run(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
        for name in [
            "DSRS_LM",
            "OPENAI_ORG_ID",
            "DSRS_PRICES",
            "HTTP_PROXY",
            "http_proxy",
            "ALL_PROXY",
        ] {
            command.env_remove(name);
        }
        command
            .env("NO_PROXY", "127.0.0.1")
            .env("OPENAI_API_KEY", "k");
        command.env("OPENAI_BASE_URL", self.server.url("/v1"));
        command.env("DSRS_STORE", self.path("store"));
        command.args(args).current_dir(self.folder.path());
        let ran = tokio::task::spawn_blocking(move || command.output().unwrap());
        let Output {
            status,
            stdout,
            stderr,
        } = ran.await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran = Ran {
            code: status.code(),
            out: text(stdout),
            err: text(stderr),
        };
        schema::validate_output(&ran.out);
        schema::validate_written(self.folder.path(), args, ran.code);
        ran
    }

    #[track_caller]
    pub(crate) fn succeeded(ran: Ran) -> String {
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
        ran.out
    }
}

fn heritage() -> Vec<Value> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/heritage");
    let rows = std::fs::read_to_string(data.join("heritage.baseline.jsonl")).unwrap();
    rows.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The heritage rows in the form that the judge `polite` reads, with the marker of their row in the response.
fn rows_for_judge() -> String {
    let row = |row: Value| {
        let response = format!(
            "[{}] {}",
            row["id"].as_str().unwrap(),
            row["pred"]["answer"]
        );
        json!({
            "id": row["id"], "gold": row["gold"], "pred": { "response": response },
            "correct": row["correct"], "region": row["region"],
        })
    };
    heritage()
        .into_iter()
        .map(|it| format!("{}\n", row(it)))
        .collect()
}

/// The number of the heritage row in a prompt; a probe has none.
fn row_of(prompt: &str) -> Option<usize> {
    prompt.split_once("[heritage-")?.1.get(..3)?.parse().ok()
}

/// The old judge is wrong in every third row, the new one in every tenth.
async fn heritage_judges() -> Judges {
    let labels: Vec<bool> = heritage()
        .iter()
        .map(|row| row["correct"] == true)
        .collect();
    let judges = Judges::start(move |model, prompt| {
        let wrong = if model == "old" { 3 } else { 10 };
        let verdict = row_of(prompt).map(|row| labels[row - 1] != (row % wrong == 0));
        json!({ "reasoning": "because", "polite": verdict.unwrap_or(true) })
    });
    let judges = judges.await;
    std::fs::write(judges.path("rows.jsonl"), rows_for_judge()).unwrap();
    let score = [
        "score",
        "rows.jsonl",
        "-m",
        "polite",
        "--lm",
        "openai:old",
        "-q",
        "--label",
        "rag-2",
    ];
    let out = ["--out", "old.jsonl", "--with-rows"];
    Judges::succeeded(judges.run(&[&score[..], &out].concat()).await);
    judges
}

#[tokio::test]
async fn of_two_judges_of_the_heritage_rows_one_is_closer_to_the_labels() {
    let judges = heritage_judges().await;
    let rejudge = [
        "rejudge",
        "old.jsonl",
        "--lm",
        "openai:new",
        "--label",
        "correct",
    ];
    let ran = judges
        .run(&[&rejudge[..], &["--out", "new.jsonl"]].concat())
        .await;
    let text = Judges::succeeded(ran);
    let right = |wrong: usize| (1..=142).filter(|row| row % wrong != 0).count();
    assert_eq!((right(3), right(10)), (95, 128));
    let sentence = "polite: judge openai:new is closer to the labels than openai:old: 128 of 142 rows right and 95 of 142, \
                    difference +23.24 percentage points [";
    assert!(
        text.contains(sentence) && text.ends_with("], p < 0.001\n"),
        "{text}"
    );
    let url = judges.server_url();
    let known = format!("polite: judged by openai:old at {url} in A, openai:new at {url} in B");
    assert!(
        text.contains(&known) && text.contains("label rag-2"),
        "{text}"
    );

    // The new run is a run as any other.
    let compared = judges
        .run(&[
            "compare",
            "old.jsonl",
            "new.jsonl",
            "--allow-different",
            "polite",
        ])
        .await;
    let (first, _) = text.split_once("\nagainst correct\n").unwrap();
    assert_eq!(Judges::succeeded(compared), first);

    // From another file, as JSON, and from the store.
    let calls = judges.server.received().len();
    let estimate = judges
        .run(&[
            "rejudge",
            "old.jsonl",
            "--lm",
            "openai:other",
            "--estimate",
            "--json",
        ])
        .await;
    let estimate: Value = serde_json::from_str(&Judges::succeeded(estimate)).unwrap();
    assert_eq!(
        (&estimate["rows"], judges.server.received().len()),
        (&json!(142), calls)
    );
    assert_eq!(schema::assert_strict("estimate", &estimate), (1, 9));
    let labels: String = heritage()
        .iter()
        .map(|row| format!("{}\n", json!({ "id": row["id"], "good": row["correct"] })))
        .collect();
    std::fs::write(judges.path("labels.jsonl"), labels).unwrap();
    let args = [
        "rejudge",
        "old.jsonl",
        "--lm",
        "openai:new",
        "--label",
        "good",
        "--labels",
        "labels.jsonl",
        "--json",
        "-q",
    ];
    let report: Value = serde_json::from_str(&Judges::succeeded(judges.run(&args).await)).unwrap();
    let (keys, values) = schema::assert_strict("rejudgement", &report);
    assert!(
        keys > 15 && values > 80,
        "{keys} objects and {values} values"
    );
    let closer = &report["closer"]["polite"];
    assert_eq!(closer["judges"], json!(["openai:old", "openai:new"]));
    assert_eq!(
        (&closer["measure"], &closer["test"]),
        (&json!("right"), &json!("mcnemar_exact"))
    );
    // Rows that are multiples of 3 only, and of 10 only.
    assert_eq!(
        (&closer["wins"], &closer["losses"]),
        (&json!(43), &json!(10))
    );
    assert!(
        closer["p_value"].as_f64().unwrap() < 1e-5 && closer["ci95"].is_array(),
        "{closer}"
    );
    assert_eq!(report["comparison"]["metrics"]["polite"]["n"], 142);
    assert!(
        judges.server.received().len() <= calls + 1,
        "only the probe is sent again"
    );
}

#[tokio::test]
async fn numeric_labels_are_compared_by_the_difference_from_the_score() {
    let judges = Judges::start(|model, _| {
        let recall = if model == "old" { 0.5 } else { 0.9 };
        json!({ "reasoning": "because", "recall": recall, "precision": recall })
    });
    let judges = judges.await;
    let row = |id: usize| {
        let gold = json!({ "question": "Where?", "response": "in Paris" });
        json!({ "id": id, "gold": gold, "pred": { "response": format!("answer {id}") }, "grade": 0.9 - 0.01 * id as f64 })
    };
    let rows: String = (0..20).map(|id| format!("{}\n", row(id))).collect();
    std::fs::write(judges.path("rows.jsonl"), rows).unwrap();
    let score = [
        "score",
        "rows.jsonl",
        "-m",
        "semantic_f1",
        "--lm",
        "openai:old",
        "-q",
        "--out",
        "old.csv",
        "--with-rows",
    ];
    let set = [
        "--param",
        "semantic_f1.threshold=0.8",
        "--param",
        "semantic_f1.models=default,default",
    ];
    Judges::succeeded(judges.run(&[&score[..], &set].concat()).await);
    let rejudge = [
        "rejudge",
        "old.csv",
        "--lm",
        "openai:new",
        "--label",
        "grade",
    ];
    let text = Judges::succeeded(judges.run(&rejudge).await);
    let sentence = "semantic_f1: judge openai:new is closer to the labels than openai:old and openai:old: mean absolute difference of 0.0950 and 0.3050 from the label over 20 rows, difference -0.2100 [";
    assert!(text.contains(sentence), "{text}");
    let threshold = judges
        .run(&[
            "rejudge",
            "old.csv",
            "--lm",
            "openai:new",
            "--out",
            "new.csv",
            "-q",
        ])
        .await;
    Judges::succeeded(threshold);
    let manifest = std::fs::read_to_string(judges.path("new.csv.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["run"]["metrics"]["semantic_f1"]["threshold"], 0.8);
}

#[tokio::test]
async fn what_cannot_be_judged_again_is_an_error_before_a_call() {
    let judges = heritage_judges().await;
    let calls = judges.server.received().len();
    let refused = async |args: &[&str], expected: &str| {
        let ran = judges
            .run(&[&["rejudge"], args, &["--lm", "openai:new"]].concat())
            .await;
        assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{}", ran.err);
        assert!(ran.err.contains(expected), "{}", ran.err);
    };
    refused(
        &["old.jsonl", "-m", "polit"],
        "`polit` is not a judge in the run; did you mean `polite`?",
    )
    .await;
    refused(
        &["old.jsonl", "--label", "corect"],
        "no row has a label `corect`; did you mean `correct`?",
    )
    .await;
    refused(
        &["old.jsonl", "--out", "old.jsonl"],
        "--out old.jsonl and RUN old.jsonl are the same file",
    )
    .await;
    let threshold = ["old.jsonl", "--param", "polite.strict=true"];
    refused(&threshold, "polite").await;
    let f1 = [
        "score",
        "old.jsonl",
        "-m",
        "f1",
        "--map",
        "gold.answer=gold.question",
        "--map",
        "pred.answer=pred.response",
    ];
    Judges::succeeded(
        judges
            .run(&[&f1[..], &["--out", "f1.jsonl", "-q"]].concat())
            .await,
    );
    refused(
        &["f1.jsonl"],
        "f1.jsonl: expected a metric that calls a model, found none",
    )
    .await;
    let bare = [
        "score",
        "rows.jsonl",
        "-m",
        "polite",
        "--lm",
        "openai:old",
        "-q",
        "--out",
        "bare.jsonl",
    ];
    Judges::succeeded(judges.run(&bare).await);
    let before = judges.server.received().len();
    refused(
        &["bare.jsonl"],
        "neither gold row nor prediction to score again",
    )
    .await;
    let content = std::fs::read_to_string(judges.path("old.jsonl")).unwrap();
    std::fs::write(
        judges.path("old.jsonl"),
        content.replacen("\"cost_msats\"", "\"cost_msats\" ", 1),
    )
    .unwrap();
    refused(&["old.jsonl"], "was changed after it was written").await;
    std::fs::remove_file(judges.path("old.jsonl.manifest.json")).unwrap();
    refused(
        &["old.jsonl"],
        "old.jsonl: the judges are unknown: its manifest `old.jsonl.manifest.json` is missing",
    )
    .await;
    assert!(
        before <= calls + 1 && judges.server.received().len() <= before + 1,
        "no row was judged"
    );
}

#[tokio::test]
async fn scores_that_the_labels_cannot_be_compared_with_are_an_error_before_a_call() {
    let judges = Judges::start(|_, _| json!({ "statements": [] })).await;
    // Every score of the run is 1, but the metric has no verdict, so another judge may return any number.
    let row = |id: usize| {
        let pred = json!({ "response": format!("answer {id}") });
        format!(
            "{}\n",
            json!({ "id": id.to_string(), "gold": {}, "pred": pred, "good": id == 1 })
        )
    };
    std::fs::write(judges.path("rows.jsonl"), row(0) + &row(1)).unwrap();
    let score = [
        "score",
        "rows.jsonl",
        "-m",
        "true_statements",
        "--lm",
        "openai:old",
        "-q",
    ];
    Judges::succeeded(
        judges
            .run(&[&score[..], &["--out", "old.jsonl", "--with-rows"]].concat())
            .await,
    );
    let before = judges.server.received().len();
    for (args, error) in [
        (
            &["--label", "good"][..],
            "error: `true_statements` against `good`: the labels are verdicts, but the scores have none; pass --threshold X\n",
        ),
        (
            &["--label", "good", "--threshold", "60"],
            "error: --threshold 60: expected a score from 0 to 1, the range of `true_statements`; pass --threshold 0.6 or --threshold 60%\n",
        ),
        (
            &["--label", "good", "--positive", "yes"],
            "error: `true_statements` against `good`: expected a passing label (`yes`) in at least one row, found `false`\n",
        ),
        (
            &["--out", "missing/new.jsonl"],
            "error: cannot write `missing/new.jsonl`: No such file or directory (os error 2)\n",
        ),
    ] {
        let rejudge = ["rejudge", "old.jsonl", "--lm", "openai:new"];
        let ran = judges.run(&[&rejudge[..], args].concat()).await;
        assert_eq!(
            (ran.code, &*ran.out, &*ran.err),
            (Some(2), "", error),
            "{args:?}"
        );
        assert_eq!(judges.server.received().len(), before, "{args:?}");
    }
    let threshold = [
        "rejudge",
        "old.jsonl",
        "--lm",
        "openai:new",
        "--label",
        "good",
        "--threshold",
        "0.5",
    ];
    Judges::succeeded(judges.run(&threshold).await);
}

#[tokio::test]
async fn an_output_or_setting_that_cannot_be_used_is_an_error_before_a_call() {
    let judges = Judges::start(|_, _| json!({ "reasoning": "", "polite": true })).await;
    std::fs::write(judges.path("rows.jsonl"), rows_for_judge()).unwrap();
    for folder in ["folder.jsonl", "run.jsonl.manifest.json"] {
        std::fs::create_dir(judges.path(folder)).unwrap();
    }
    std::fs::write(judges.path("file"), "").unwrap();
    for (args, error) in [
        (
            &["--out", "missing/out.jsonl"][..],
            "cannot write `missing/out.jsonl`: ",
        ),
        (
            &["--out", "folder.jsonl"],
            "cannot write `folder.jsonl`: it is a directory",
        ),
        (
            &["--out", "run.jsonl"],
            "cannot write `run.jsonl.manifest.json`: expected a regular file, found a folder",
        ),
        (&["--out", "run.txt"], "unknown extension"),
        (&["--junit", "missing/junit.xml"], "missing/junit.xml"),
        (&["--markdown", "folder.jsonl"], "folder.jsonl"),
        (&["--summary", "missing/summary.csv"], "missing/summary.csv"),
        (&["--store", "file"], "file: it is a file; choose a folder"),
        (
            &["--otlp", "localhost:4318"],
            "invalid collector URL `localhost:4318`",
        ),
        (&["--fail-under", "polit=0.5"], "--fail-under polit"),
        (&["--fail-under", "polite=2"], "--fail-under polite=2"),
        (
            &[
                "--budget",
                "9 sat",
                "--param",
                "polite.models=default,openai:gpt-6-luna",
            ],
            "openai:old: no price for this model, so the budget cannot be enforced",
        ),
    ] {
        let score = [
            "score",
            "rows.jsonl",
            "-m",
            "polite",
            "--lm",
            "openai:old",
            "-q",
        ];
        let ran = judges.run(&[&score[..], args].concat()).await;
        assert_eq!(
            (ran.code, &*ran.out),
            (Some(2), ""),
            "{args:?}: {}",
            ran.err
        );
        assert!(ran.err.contains(error), "{args:?}: {}", ran.err);
        assert_eq!(judges.server.received().len(), 0, "{args:?}");
    }
}
