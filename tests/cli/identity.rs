//! What each command answers about two runs that differ in one thing. The table of the guide page `identity` has the beginnings of
//! the answers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use dsrs_metrics::Evaluate;
use dsrs_metrics::data::DataReader;
use dsrs_metrics::lm::{LmReply, LmRequest, ScriptedLm};
use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::manifest_path;
use dsrs_metrics::text::Profile;
use dsrs_metrics_tests::sha256;
use serde_json::Value;

use crate::{Folder, Ran, sorted};

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../dsrs-metrics/docs/guide/identity.md"
);

const PAGE_HEAD: &str = "\
| change from A to B | `compare A B` | exit code | `agree B` |
| --- | --- | --- | --- |
";

/// The whole answers.
const ANSWERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cli/data/identity.md");

const HEAD: &str = "\
| change from A to B | `compare A B` | with `--fail-if-worse` | `report A B` | `agree B`, metrics and run |
| --- | --- | --- | --- | --- |
";

/// Passes if the answer has the first letter of the expected one.
#[metric(name = "initial", version = "1")]
fn initial(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer.chars().next() == given.chars().next()
}

mod later {
    use dsrs_metrics::prelude::*;

    /// Passes if the answer has the first letter of the expected one.
    #[metric(name = "initial", version = "2")]
    pub(super) fn initial(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
        answer.chars().next() == given.chars().next()
    }
}

mod lax {
    use dsrs_metrics::prelude::*;

    /// Passes if the answer has the first letter of the expected one.
    #[metric(name = "initial", version = "1")]
    pub(super) fn initial(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
        answer.chars().next() == given.chars().next() || given.starts_with("answer")
    }
}

/// Say whether the answer is polite.
#[judge(name = "polite", cost = "10 msat")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

mod stern {
    use dsrs_metrics::prelude::*;

    /// Say whether the answer is polite. Be strict.
    #[judge(name = "polite", cost = "10 msat")]
    pub(super) struct Polite {
        #[input(pred)]
        answer: String,
        #[output]
        polite: bool,
    }
}

/// A run: what it measures, on which rows.
#[derive(Clone)]
struct Setup {
    f1: Arc<dyn Metric>,
    initial: Arc<dyn Metric>,
    polite: fn(ScriptedLm) -> Arc<dyn Metric>,
    model: &'static str,
    reported: &'static str,
    rows: String,
    seed: u64,
    /// Options of `compare`, `report` and `agree`.
    options: &'static str,
    /// Changes the manifest of B.
    edit: Option<fn(&mut Value)>,
}

impl Setup {
    fn new() -> Self {
        Self {
            f1: Arc::new(F1::default().with_threshold(0.5)),
            initial: Arc::new(Initial),
            polite: |lm| Arc::new(PoliteJudge::default().with_lm(lm)),
            model: "openai:gpt-6-luna",
            reported: "gpt-6-luna-2026-09-22",
            rows: (0..8).map(row).collect(),
            seed: 0,
            options: "",
            edit: None,
        }
    }

    /// Runs it.
    async fn run(&self, folder: &Folder, out: &str) {
        folder.write("rows.jsonl", &self.rows);
        let reported = self.reported;
        let reply = move |request: &LmRequest| {
            let answer = request
                .messages
                .last()
                .map_or("", |message| &message.content);
            let polite = !answer.contains("answer 4");
            let mut reply =
                LmReply::new(format!(r#"{{"reasoning": "short", "polite": {polite}}}"#));
            reply.model = reported.to_owned();
            Ok(reply)
        };
        let lm = ScriptedLm::new().named(self.model).otherwise(reply);
        let builder = Evaluate::builder()
            .metric(Arc::clone(&self.f1))
            .metric(Arc::clone(&self.initial));
        let builder = builder
            .metric((self.polite)(lm))
            .statistics(|statistics| statistics.seed(self.seed).bootstrap(100));
        let builder = builder.files(|files| files.jsonl(folder.path(out)).save_rows(true));
        let evaluate = builder.build().unwrap();
        let rows = DataReader::new().read([folder.path("rows.jsonl")]).unwrap();
        let _ = evaluate.score_files(rows).await.unwrap();
    }
}

fn row(id: u32) -> String {
    let (given, ok) = (id / 2 * 2, id.is_multiple_of(2));
    format!(
        "{{\"id\": \"{id}\", \"gold\": {{\"answer\": \"the answer {id}\"}}, \"pred\": {{\"answer\": \"answer {given}\"}}, \"ok\": {ok}}}\n"
    )
}

/// What changes from run A to run B.
fn changes() -> Vec<(&'static str, Setup)> {
    let base = Setup::new;
    let with_demo = |lm| -> Arc<dyn Metric> {
        let demo = example! { "answer" => "Please.", "polite" => true };
        Arc::new(PoliteJudge::default().with_lm(lm).with_demos([demo]))
    };
    let folded = F1::builder()
        .profile(Profile::Folded)
        .build()
        .with_threshold(0.5);
    let answers = base().rows.replace(
        r#""answer": "answer 6"}, "ok": true"#,
        r#""answer": "6"}, "ok": true"#,
    );
    vec![
        ("nothing", base()),
        (
            "version of a metric",
            Setup {
                initial: Arc::new(later::Initial),
                ..base()
            },
        ),
        (
            "parameter",
            Setup {
                f1: Arc::new(folded),
                ..base()
            },
        ),
        (
            "threshold",
            Setup {
                f1: Arc::new(F1::default().with_threshold(0.8)),
                ..base()
            },
        ),
        (
            "strictness",
            Setup {
                f1: Arc::new(F1::default().with_threshold(0.5).strict()),
                ..base()
            },
        ),
        (
            "model of a judge",
            Setup {
                model: "openai:gpt-6-sol",
                ..base()
            },
        ),
        (
            "model that the provider reports",
            Setup {
                reported: "gpt-6-luna-2026-11-17",
                ..base()
            },
        ),
        (
            "prompt of a judge",
            Setup {
                polite: |lm| Arc::new(stern::PoliteJudge::default().with_lm(lm)),
                ..base()
            },
        ),
        (
            "demonstrations of a judge",
            Setup {
                polite: with_demo,
                ..base()
            },
        ),
        (
            "an answer in the data file",
            Setup {
                rows: answers,
                ..base()
            },
        ),
        (
            "a gold row",
            Setup {
                rows: base().rows.replace("the answer 3", "the answer 2"),
                ..base()
            },
        ),
        ("seed of the bootstrap", Setup { seed: 1, ..base() }),
        (
            "version of dsrs-metrics",
            Setup {
                edit: Some(|it| it["run"]["library"]["version"] = "0.0.1".into()),
                ..base()
            },
        ),
        (
            "code of your own metric",
            Setup {
                initial: Arc::new(lax::Initial),
                ..base()
            },
        ),
        (
            "code of your own metric, with `--strict-identity`",
            Setup {
                initial: Arc::new(lax::Initial),
                options: " --strict-identity",
                ..base()
            },
        ),
        (
            "code of a built-in metric",
            Setup {
                edit: Some(other_code),
                ..base()
            },
        ),
        (
            "code of a built-in metric, with `--strict-identity`",
            Setup {
                edit: Some(other_code),
                options: " --strict-identity",
                ..base()
            },
        ),
        (
            "functions that a metric calls",
            Setup {
                edit: Some(other_program),
                ..base()
            },
        ),
    ]
}

impl Folder {
    /// Writes rows as a result file with the manifest of a run of other metrics, so that its identity is known.
    pub(crate) fn write_run(&self, name: &str, rows: &str) {
        let other = Folder::with("rows.jsonl", row(0));
        other.printed("score rows.jsonl -q -m same_text --out scores.jsonl");
        let manifest = other.read("scores.jsonl.manifest.json");
        self.write(name, rows);
        describe(&self.path(name), serde_json::from_str(&manifest).unwrap());
    }
}

/// Writes a manifest for a result file.
fn describe(file: &Path, mut manifest: Value) {
    let rows = std::fs::read(file).unwrap();
    let xxh3 = twox_hash::XxHash3_128::oneshot(&rows);
    manifest["file"]["bytes"] = rows.len().into();
    manifest["file"]["xxh3"] = format!("{xxh3:032x}").into();
    manifest.as_object_mut().unwrap().remove("checksum");
    manifest["checksum"] = hash(&manifest).into();
    std::fs::write(manifest_path(file), manifest.to_string()).unwrap();
}

fn hash(value: &Value) -> String {
    sha256(sorted(value).to_string().as_bytes())
}

const PROGRAM: &str = "00000000000000000000000000000000";

fn other_code(manifest: &mut Value) {
    manifest["run"]["metrics"]["f1"]["code"] = "00000000000000ff".into();
}

fn other_program(manifest: &mut Value) {
    manifest["process"]["program"] = "0123456789abcdef0123456789abcdef".into();
}

/// Changes a manifest, and everything that refers to it.
fn edit(folder: &Folder, out: &str, change: fn(&mut Value)) {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let (file, path) = (folder.path(out), manifest_path(folder.path(out)));
    let mut manifest: Value = serde_json::from_str(&read(&path)).unwrap();
    let reference = |manifest: &Value| format!("1-{}", &hash(&manifest["run"])[..32]);
    let before = reference(&manifest);
    change(&mut manifest);
    let rows = read(&file);
    assert_eq!(rows.matches(&before).count(), 1);
    let rows = rows.replace(&before, &reference(&manifest));
    std::fs::write(&file, &rows).unwrap();
    describe(&file, manifest);
}

/// Returns the lines that begin with one of these words, or else standard error, and the exit code.
fn answer(ran: &Ran, starts: &[&str]) -> String {
    let lines = ran
        .out
        .lines()
        .filter(|line| starts.iter().any(|start| line.starts_with(start)));
    let mut lines: Vec<&str> = lines.collect();
    if ran.code != Some(0) {
        lines = ran.err.lines().collect();
    }
    let code = ran.code.unwrap();
    if lines.is_empty() {
        format!("exit {code}")
    } else {
        format!("{}; exit {code}", lines.join("; "))
    }
}

/// Returns where a report shows the difference between the runs.
fn reported(folder: &Folder, ran: &Ran, comparison: &str) -> String {
    if ran.code != Some(0) {
        return answer(ran, &[]);
    }
    let html = folder.read("r.html");
    let is_shown = |text: &str| html.contains(Value::from(text).to_string().trim_matches('"'));
    let place = |line: &str| {
        let at_metric = line
            .strip_prefix("not compared: ")
            .and_then(|it| it.split_once(": "));
        match (at_metric, line.strip_prefix("note: ")) {
            (Some((name, reason)), _) if is_shown(reason) => {
                format!("the same at the metric `{name}`")
            }
            (_, Some(note)) if is_shown(note) => "the same above the metrics".to_owned(),
            _ => panic!("the report does not show {line}"),
        }
    };
    let places: BTreeSet<_> = comparison.lines().map(place).collect();
    if places.is_empty() {
        "no difference".to_owned()
    } else {
        places.into_iter().collect::<Vec<_>>().join("; ")
    }
}

/// Returns the answers to a change, after its name.
async fn answers(name: &str, setup: Setup) -> [String; 5] {
    let folder = Folder::with("labels.jsonl", Setup::new().rows);
    Setup::new().run(&folder, "a.jsonl").await;
    setup.run(&folder, "b.jsonl").await;
    if let Some(change) = setup.edit {
        // A program that is built without optimizations may end before it is hashed.
        edit(&folder, "a.jsonl", |it| {
            it["process"]["program"] = PROGRAM.into();
        });
        edit(&folder, "b.jsonl", |it| {
            it["process"]["program"] = PROGRAM.into();
        });
        edit(&folder, "b.jsonl", change);
    }
    let starts = ["not compared: ", "note: ", "identity unknown"];
    let options = setup.options;
    let compare = format!("compare a.jsonl b.jsonl{options}");
    let compared = folder.run(&compare);
    let differences: Vec<&str> = compared
        .out
        .lines()
        .filter(|line| starts.iter().any(|start| line.starts_with(start)))
        .collect();
    let gate = folder.run(&format!("{compare} --fail-if-worse"));
    let report = folder.run(&format!("report a.jsonl b.jsonl --out r.html{options}"));
    let agree = folder.run(&format!(
        "agree b.jsonl --labels labels.jsonl --label ok{options}"
    ));
    let cells = [
        name.to_owned(),
        answer(&compared, &starts),
        match answer(&gate, &starts) {
            gate if gate == answer(&compared, &starts) => "the same".to_owned(),
            gate => gate,
        },
        reported(&folder, &report, &differences.join("\n")),
        answer(&agree, &["version ", "note: ", "openai:", "measured: "]),
    ];
    cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "))
}

/// Returns the sentence that an answer begins with, and its exit code.
fn beginning(answer: &str) -> (String, &str) {
    let (text, code) = answer.rsplit_once("exit ").unwrap();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut parts = text.split("; ");
    let mut sentence = parts.next().unwrap().to_owned();
    if let Some(in_b) = parts.next().filter(|part| part.starts_with("in B: ")) {
        sentence = format!("{sentence}; {in_b}");
    }
    (sentence, code)
}

/// Returns the row of the page for these answers.
fn page_row([name, compared, gate, _, agree]: &[String; 5]) -> String {
    assert_eq!(gate, "the same", "the page says that for all changes");
    let (mut sentence, code) = beginning(compared);
    if sentence.is_empty() {
        sentence = "no difference".to_owned();
    }
    let agreed = match beginning(agree) {
        (_, "0") => {
            let note = agree.split("; ").find(|part| part.starts_with("note: "));
            note.unwrap_or("compared").to_owned()
        }
        (error, _) => error,
    };
    format!("| {name} | {sentence} | {code} | {agreed} |")
}

/// Compares the rows of a table with those of a file, or writes them there.
fn assert_table(file: &str, head: &str, rows: &[String]) {
    let table = rows.join("\n") + "\n";
    let page = std::fs::read_to_string(file).unwrap();
    let (before, rest) = page.split_once(head).expect("the table has its head");
    let (_, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let after = if after.is_empty() {
        String::new()
    } else {
        format!("\n{after}")
    };
    let expected = format!("{before}{head}{table}{after}");
    if std::env::var_os("DSRS_METRICS_RECORD").is_some() {
        std::fs::write(file, expected).unwrap();
    } else {
        assert_eq!(page, expected, "DSRS_METRICS_RECORD=1 writes the table");
    }
}

#[tokio::test]
async fn nothing_that_differs_between_two_runs_is_silent() {
    let (mut whole, mut short) = (Vec::new(), Vec::new());
    for (name, setup) in changes() {
        let answers = answers(name, setup).await;
        whole.push(format!("| {} |", answers.join(" | ")));
        short.push(page_row(&answers));
    }
    assert_table(ANSWERS, HEAD, &whole);
    assert_table(PAGE, PAGE_HEAD, &short);
}
