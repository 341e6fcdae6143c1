//! Each command with each format. Every message and output has the name of the user's file.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::spans::TRACES;
use super::trajectories::TRAJECTORIES;
use super::{lm_eval, log};
use crate::{Folder, Ran};

/// A folder with a file of each format, twice.
fn files() -> Folder {
    let folder = Folder::new();
    for (run, other) in [("weak", "a"), ("strong", "b")] {
        fs::copy(
            log(&format!("{run}.eval")),
            folder.path(&format!("{other}.eval")),
        )
        .unwrap();
        let samples = lm_eval(run, "sums");
        let name =
            |file: &str| format!("{other}/{}", Path::new(file).file_name().unwrap().display());
        folder.write(&name(&samples), fs::read(&samples).unwrap());
        let results = samples
            .replace("samples_sums", "results")
            .replace(".jsonl", ".json");
        folder.write(&name(&results), fs::read(&results).unwrap());
        fs::rename(
            folder.path(&name(&samples)),
            folder.path(&format!("{other}/samples_sums_x.jsonl")),
        )
        .unwrap();
        fs::rename(
            folder.path(&name(&results)),
            folder.path(&format!("{other}/results_x.json")),
        )
        .unwrap();
        folder.write(&format!("{other}.otlp.json"), TRACES);
        folder.write(&format!("{other}.atif.jsonl"), TRAJECTORIES);
    }
    folder
}

/// The formats, with two files and a metric of each.
const FORMATS: [(&str, [&str; 2], &str); 3] = [
    ("inspect", ["a.eval", "b.eval"], "match"),
    (
        "lm-eval",
        ["a/samples_sums_x.jsonl", "b/samples_sums_x.jsonl"],
        "exact_match:strict-match",
    ),
    ("otlp", ["a.otlp.json", "b.otlp.json"], "helpful"),
];

/// Asserts that an output names files of the user, and none that is temporary.
fn assert_names(ran: &Ran, names: &[&str]) {
    let text = format!("{}{}", ran.out, ran.err);
    assert!(
        !text.contains("dsrs-metrics-from") && !text.contains("0.jsonl"),
        "{text}"
    );
    names
        .iter()
        .for_each(|name| assert!(text.contains(name), "{name}: {text}"));
}

/// Runs a command with a temporary folder of its own, which must be empty afterwards.
fn run(folder: &Folder, args: &str) -> Ran {
    let temporary = tempfile::tempdir().unwrap();
    let output = folder
        .command(args)
        .env("TMPDIR", temporary.path())
        .output()
        .unwrap();
    let left: Vec<_> = fs::read_dir(temporary.path())
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert!(left.is_empty(), "{args:?}: {left:?}");
    Ran::from(output)
}

#[test]
fn compare_reads_each_format() {
    let folder = files();
    for (format, [a, b], metric) in FORMATS {
        let ran = run(&folder, &format!("compare --from {format} {a} {b}"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_names(&ran, &[&format!("A: {a}, "), &format!("B: {b}, "), metric]);
    }
    // There are no scores in trajectories.
    let ran = run(&folder, "compare --from atif a.atif.jsonl b.atif.jsonl");
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    let error = "error: a.atif.jsonl: no row has a score; score the rows first: `score FILE --from FORMAT -m NAME --out RUN.jsonl`\n";
    assert_eq!(ran.err, error);
}

#[test]
fn score_reads_each_format() {
    let folder = files();
    let atif = ("atif", ["a.atif.jsonl", "b.atif.jsonl"], "");
    for (format, [file, _], _) in FORMATS.into_iter().chain([atif]) {
        let metric = if ["otlp", "atif"].contains(&format) {
            "no_loops"
        } else {
            "f1"
        };
        let scored = format!("score --from {format} {file} -m {metric} --max-errors 99");
        let ran = run(&folder, &format!("{scored} --with-rows --out out.jsonl"));
        assert_eq!(ran.code, Some(0), "{format}: {}{}", ran.out, ran.err);
        assert_names(&ran, &[metric]);
        let manifest: Value =
            serde_json::from_str(&folder.read("out.jsonl.manifest.json")).unwrap();
        let data = &manifest["run"]["data"][0];
        let bytes = fs::metadata(folder.path(file)).unwrap().len();
        assert_eq!(data["name"], *file.rsplit('/').next().unwrap());
        assert_eq!(data["bytes"], bytes);
        let hash = sha2::Digest::finalize(<sha2::Sha256 as sha2::Digest>::new_with_prefix(
            fs::read(folder.path(file)).unwrap(),
        ));
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(data["sha256"], hash);
    }
}

#[test]
fn an_epoch_is_a_row_to_be_scored_and_a_repeat_to_be_compared() {
    let folder = files();
    let scored = "score --from inspect a.eval -m em --group sample --max-errors 99";
    let ran = run(&folder, &format!("{scored} --json --out out.jsonl"));
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&summary["rows"], ran.code),
        (&Value::from(72), Some(0)),
        "{}",
        ran.err
    );
    let ids = folder.read("out.jsonl");
    assert!(ids.starts_with("{\"id\":\"q0:1\""), "{ids}");
    let ran = run(
        &folder,
        "compare --from inspect a.eval b.eval --json -m match",
    );
    let compared: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(compared["metrics"]["match"]["n"], 24);
}

#[test]
fn agree_and_report_read_each_format() {
    let folder = files();
    for (format, [a, b], metric) in FORMATS {
        let label = match format {
            "inspect" => "metadata.topic",
            "lm-eval" => "gold.doc.topic",
            _ => "label",
        };
        let positive = if format == "lm-eval" {
            "large"
        } else {
            "north"
        };
        let labels = if format == "otlp" {
            "--labels labels.jsonl"
        } else {
            ""
        };
        folder.write(
            "labels.jsonl",
            "{\"id\":\"t1\",\"label\":\"north\"}\n{\"id\":\"t2\",\"label\":\"south\"}\n",
        );
        let agree = format!("agree --from {format} {a} --label {label} --positive {positive}");
        let ran = run(
            &folder,
            &format!("{agree} {labels} -m {metric} --threshold 0.5"),
        );
        assert_eq!(ran.code, Some(0), "{format}: {}", ran.err);
        assert_names(&ran, &[&format!("{metric} against {label}")]);
        let ran = run(
            &folder,
            &format!("report --from {format} {a} {b} --out report.html"),
        );
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{format}");
        let html = folder.read("report.html");
        assert!(html.contains(a) && html.contains(b) && !html.contains("dsrs-metrics-from"));
    }
}

#[test]
fn a_changed_option_of_a_scorer_is_named() {
    let (weak, other) = (log("weak.eval"), log("other_option.eval"));
    let ran = Folder::new().run(&["compare", "--from", "inspect", &weak, &other]);
    assert_eq!(ran.code, Some(2));
    let sentence =
        "not compared: match: parameter `match.ignore_case` is \"true\" in A, \"false\" in B";
    assert!(ran.out.contains(sentence), "{}", ran.out);
}

#[test]
fn trajectories_and_answers_of_a_log_can_be_scored() {
    let folder = Folder::new();
    fs::copy(log("agent.eval"), folder.path("agent.eval")).unwrap();
    let score = "score --from inspect agent.eval -m no_loops,includes";
    folder.printed(&format!("{score} --out out.jsonl --with-rows"));
    let first: Value =
        serde_json::from_str(folder.read("out.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(first["id"], "1");
    assert_eq!(
        (&first["gold"]["target"], &first["gold"]["answer"]),
        (&"Rome".into(), &"Rome".into())
    );
    let messages = first["pred"]["trajectory"].as_array().unwrap();
    let roles: Vec<_> = messages
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles[..4], ["system", "user", "assistant", "tool"]);
    assert_eq!(messages[2]["tool_calls"][0]["name"], "lookup");
    assert!(
        messages[3]["content"]
            .as_str()
            .unwrap()
            .starts_with("Rome: a long description.")
    );
    let run = ["input_tokens", "output_tokens", "latency_s"].map(|name| &first[name]);
    assert_eq!(run, [&json!(572), &json!(50), &json!(0.088)]);
}

#[test]
fn without_results_the_identity_of_samples_is_unknown() {
    let folder = files();
    fs::remove_file(folder.path("a/results_x.json")).unwrap();
    let [a, b] = FORMATS[1].1;
    let ran = run(&folder, &format!("compare --from lm-eval {a} {b}"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let warning = "warning: a/samples_sums_x.jsonl: no results_DATE.json for samples_TASK_DATE.jsonl: the version of the task and the direction of its metrics are unknown";
    assert!(ran.err.contains(warning), "{}", ran.err);
}

#[test]
fn standard_input_and_options_of_files_are_no_input_of_another_program() {
    let folder = files();
    let ran = run(&folder, "compare --from otlp - a.otlp.json");
    let error = "error: --from: expected a file, found standard input, which cannot be reordered; save it to a file\n";
    assert_eq!((ran.code, &*ran.err), (Some(2), error));
    let ran = run(&folder, "score --from otlp a.otlp.json -m em --format json");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("cannot be used with"), "{}", ran.err);
}

#[test]
fn the_guide_shows_the_output_of_its_comparison() {
    const PAGE: &str = include_str!("../../../dsrs-metrics/docs/guide/formats.md");
    let mut shown = 0;
    for line in PAGE
        .lines()
        .filter(|line| line.starts_with("dsrs-metrics compare "))
    {
        let mut command = crate::scorer();
        command
            .args(line.split(' ').skip(1))
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let ran = Ran::from(command.output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            PAGE.contains(&format!("{line}\n```\n\n```text\n{}```\n", ran.out)),
            "{}",
            ran.out
        );
        shown += 1;
    }
    assert_eq!(shown, 1);
}
