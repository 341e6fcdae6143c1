//! `score --otlp` and `export` of the command line.

use std::fs;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::receiver::{Receiver, Record, Reply, free_address};

const ROWS: &str = r#"{"id": "a", "gold": {"answer": "1"}, "pred": {"answer": "1"}, "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
{"id": "b", "gold": {"answer": "1"}, "pred": {"answer": "0.25"}}
{"id": "c", "gold": {"answer": "x"}, "pred": {"answer": "fail"}}
{"id": "d", "gold": {"answer": "x"}, "pred": {"answer": "x", "note": "short"}, "response_id": "r-1"}
"#;

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.jsonl"), ROWS).unwrap();
    folder
}

/// Runs `scorer ARGS` with a time limit of half a second.
fn run(folder: &TempDir, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scorer"));
    for name in [
        "DSRS_LM",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(name);
    }
    command
        .env("OTEL_EXPORTER_OTLP_TIMEOUT", "500")
        .env("NO_PROXY", "127.0.0.1");
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .args(args)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        code: status.code(),
        out: text(stdout),
        err: text(stderr),
    }
}

const SCORE: [&str; 7] = [
    "score",
    "rows.jsonl",
    "-m",
    "obeys,same_text,short_note",
    "--param",
    "short_note.limit=3",
    "-q",
];

/// The records without their times.
fn without_times(records: Vec<Record>) -> Vec<Record> {
    let mut records: Vec<_> = records
        .into_iter()
        .map(|it| Record {
            time: 0,
            observed: 0,
            ..it
        })
        .collect();
    let source = "gen_ai.evaluation.evaluator.source";
    for record in &mut records {
        let text = record.attributes[source].as_str().unwrap();
        let parsed: Value = serde_json::from_str(text).unwrap();
        record.attributes.insert(source.to_owned(), parsed);
    }
    records.sort_by_key(|it| {
        let key = |name: &str| it.attributes[name].as_str().unwrap().to_owned();
        (key("dsrs.row.id"), key("gen_ai.evaluation.name"))
    });
    records
}

#[test]
fn a_run_and_the_export_of_its_file_send_the_same_events() {
    for (file, texts) in [("run.jsonl", true), ("run.json", false), ("run.csv", true)] {
        let folder = folder();
        let [of_run, of_export] = [Reply::Accept; 2].map(Receiver::start);
        let texts: &[&str] = if texts { &["--otlp-texts"] } else { &[] };
        let otlp = ["--otlp", &of_run.url];
        let named = ["--out", file, "--label", "v2"];
        let ran = run(&folder, &[&SCORE, &named[..], &otlp, texts].concat());
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{}", ran.out);
        let ran = run(
            &folder,
            &[&["export", file, "--otlp", &of_export.url], texts].concat(),
        );
        let sentence = format!("9 events were delivered to {}\n", of_export.url);
        assert_eq!((ran.code, ran.out, &*ran.err), (Some(0), sentence, ""));
        let mut expected = without_times(of_run.records());
        for record in &mut expected {
            if let Some(kind) = record.attributes.get_mut("error.type") {
                // A file has no kind of an error.
                *kind = json!("metric_failed");
            }
        }
        assert_eq!(expected.len(), 9);
        assert_eq!(without_times(of_export.records()), expected, "{file}");
        let times: Vec<u64> = of_export.records().iter().map(|it| it.time).collect();
        assert!(
            times[0] > 0 && times.iter().all(|time| *time == times[0]),
            "the end of the run"
        );
    }
}

#[test]
fn the_output_is_the_same_with_and_without_a_collector() {
    let (plain, observed) = (folder(), folder());
    let receiver = Receiver::start(Reply::Never);
    let args = [&SCORE[..], &["--out", "run.jsonl", "--with-rows", "--json"]].concat();
    let expected = run(&plain, &args);
    let ran = run(&observed, &[&args[..], &["--otlp", &receiver.url]].concat());
    assert_eq!(ran.code, expected.code);
    let read = |folder: &TempDir| fs::read(folder.path().join("run.jsonl")).unwrap();
    assert!(read(&plain) == read(&observed));
    let json = |text: &str| {
        let mut json: Value = serde_json::from_str(text).unwrap();
        // What differs from run to run.
        json.as_object_mut()
            .unwrap()
            .retain(|key, _| !["elapsed_s", "manifest"].contains(&&**key));
        json
    };
    assert_eq!(json(&ran.out), json(&expected.out));
}

#[test]
fn what_was_not_delivered_is_named_with_the_command_that_sends_it() {
    let folder = folder();
    let url = format!("http://{}", free_address());
    let started = Instant::now();
    let ran = run(
        &folder,
        &[&SCORE[..], &["--out", "run.jsonl", "--otlp", &url]].concat(),
    );
    assert!(started.elapsed() < Duration::from_secs(5));
    let refused = "Connection refused (os error 111)";
    let lost = format!("9 of 9 events were not delivered to {url}: {refused}");
    let next = format!(
        "; send all events again with `export FILE --otlp {url}`, where --out writes FILE\n"
    );
    assert_eq!((ran.code, ran.err), (Some(0), format!("{lost}{next}")));

    let ran = run(&folder, &["export", "run.jsonl", "--otlp", &url]);
    let next = "; run the same command again later\n";
    assert_eq!(
        (ran.code, &*ran.out, ran.err),
        (Some(1), "", format!("{lost}{next}"))
    );
}

#[test]
fn the_same_run_again_sends_the_events_of_all_rows() {
    let folder = folder();
    let [first, second] = [Reply::Accept; 2].map(Receiver::start);
    for receiver in [&first, &second] {
        let args = [&SCORE[..], &["--otlp", &receiver.url]].concat();
        assert_eq!(run(&folder, &args).code, Some(0));
    }
    let records = without_times(second.records());
    assert_eq!(
        (records.len(), records),
        (9, without_times(first.records()))
    );
}

#[test]
fn keys_are_headers_of_the_environment() {
    let folder = folder();
    let receiver = Receiver::start(Reply::Accept);
    let mut command = Command::new(env!("CARGO_BIN_EXE_scorer"));
    command.env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20key");
    command
        .env("OTEL_SERVICE_NAME", "answers")
        .env("NO_PROXY", "127.0.0.1");
    let args = [&SCORE[..], &["--otlp", &receiver.url]].concat();
    let ran = command
        .args(args)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(receiver.headers()[0]["authorization"], "Bearer key");
    assert_eq!(
        receiver.headers()[0]["content-type"],
        "application/x-protobuf"
    );
    assert!(receiver.records().iter().all(|it| it.service == "answers"));
}

#[test]
fn variables_of_the_exporters_are_read_as_they_are_written() {
    let folder = folder();
    let run = |variable: &str, value: &str| {
        let receiver = Receiver::start(Reply::Accept);
        let mut command = Command::new(env!("CARGO_BIN_EXE_scorer"));
        command
            .env(variable, value)
            .env("NO_PROXY", "127.0.0.1")
            .current_dir(folder.path());
        let ran = command
            .args([&SCORE[..], &["--otlp", &receiver.url]].concat())
            .output()
            .unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "GZIP"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "none"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", " "),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=b%20c, d=100% ,"),
    ] {
        let accepted = (Some(0), String::new());
        assert_eq!(run(variable, value), accepted, "{variable}={value}");
    }
}

#[test]
fn invalid_usage_is_one_line() {
    let folder = folder();
    for (args, expected) in [
        (
            &["export", "rows.jsonl"][..],
            "error: export: missing destination; pass --to FORMAT --out PATH, or --otlp URL, as in --otlp http://localhost:4318\n",
        ),
        (
            &["export", "missing.jsonl", "--otlp", "http://127.0.0.1:9"],
            "error: missing.jsonl: cannot be read: No such file or directory (os error 2)\n",
        ),
        (
            &[
                "export",
                "rows.jsonl",
                "--otlp",
                "http://127.0.0.1:9/v1/logs",
            ],
            "error: --otlp: invalid collector URL `http://127.0.0.1:9/v1/logs`: expected the base URL; remove /v1/logs or /v1/traces\n",
        ),
        (
            &["score", "rows.jsonl", "-m", "obeys", "--otlp", "localhost"],
            "error: --otlp: invalid collector URL `localhost`: relative URL without a base; use a URL like http://localhost:4318\n",
        ),
    ] {
        let ran = run(&folder, args);
        assert_eq!((ran.code, &*ran.out, &*ran.err), (Some(2), "", expected));
    }
}
