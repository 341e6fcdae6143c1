//! `export --to`: what the other programs read from the files, and what cannot be written.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

use dsrs_metrics_tests::{Peer, data};
use serde_json::{Value, json};

use crate::{Folder, Ran};

/// Rows with every outcome, a trajectory, and ids of traces.
const ROWS: &str = r#"{"id":"q1","attributes":{"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","topic":"north"},"gold":{"question":"Capital of Italy?","answer":["Rome","Roma"]},"pred":{"answer":"Rome"},"latency_s":0.5,"input_tokens":7,"output_tokens":3,"scores":{"em":{"outcome":"scored","value":1,"passed":true,"details":"equal"},"f1":{"outcome":"scored","value":0.25,"passed":false,"details":"1 word \"in\" common","cost_msats":40,"metadata":{"words":2}}}}
{"id":"q2","attributes":{"trace_id":"t2"},"gold":{"question":"Capital of France?"},"pred":{"answer":"Lyon"},"scores":{"em":{"outcome":"scored","value":0,"passed":false},"f1":{"outcome":"metric_failed","error":"no words"}}}
{"id":"q3","attributes":{"trace_id":"t3"},"gold":{"question":"Capital of Spain?","answer":"Madrid"},"scores":{"em":{"outcome":"program_failed","error":"timed out"},"f1":{"outcome":"program_failed","error":"timed out"}}}
{"id":"a/4","attributes":{"trace_id":"t4"},"gold":{"question":"Is it sunny?","answer":"yes"},"pred":{"answer":"yes","trajectory":[{"role":"user","content":"Is it sunny?"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"weather","args":{"city":"Rome","days":2}}]},{"role":"tool","tool_call_id":"c1","content":"21 C"},{"role":"assistant","content":"yes"}]},"scores":{"em":{"outcome":"abstained"},"f1":{"outcome":"gated","gated_by":"em"}}}
"#;

/// The tags that `eee` needs.
const TAGS: [&str; 4] = ["--tag", "model=acme/small", "--tag", "organization=Acme"];

#[track_caller]
fn export(folder: &Folder, to: &str, out: &str, more: &[&str]) -> Ran {
    let ran = folder.run(&[&["export", "run.jsonl", "--to", to, "--out", out], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran
}

/// What the programs read.
fn read(peer: &Peer, folder: &Folder) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/read_exports.py");
    let read = peer.output(&[script, folder.path("").to_str().unwrap()]);
    serde_json::from_str(&read.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

#[test]
fn inspect_ai_reads_the_log_with_every_outcome() {
    let Some(peer) = Peer::with(&["inspect-ai"]) else { return };
    let folder = Folder::with("run.jsonl", ROWS);
    let ran = export(&folder, "inspect", "run.eval", &["--tag", "model=acme/small"]);
    assert_eq!((&*ran.out, &*ran.err), ("run.eval\n", ""));
    let log = &read(&peer, &folder)["run.eval"];
    assert_eq!((&log["status"], &log["model"]), (&json!("success"), &json!("acme/small")));
    assert_eq!((&log["task"], &log["dataset"]), (&json!("run"), &json!("run")));
    let scores: Vec<Value> = log["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| json!([it["id"], it["scores"]]))
        .collect();
    let expected = json!([
        ["a/4", { "em": ["NaN", null, "abstained"], "f1": ["NaN", null, "gated"] }],
        ["q1", { "em": ["C", "equal", null], "f1": [0.25, "1 word \"in\" common", null] }],
        ["q2", { "em": ["I", null, null], "f1": ["NaN", "no words", "metric_failed"] }],
        ["q3", { "em": ["NaN", "timed out", "program_failed"], "f1": ["NaN", "timed out", "program_failed"] }],
    ]);
    assert_eq!(json!(scores), expected);
    let sample =
        |id: &str| log["samples"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap();
    let first = sample("q1");
    assert_eq!(
        (&first["input"], &first["target"]),
        (&json!("Capital of Italy?"), &json!(["Rome", "Roma"]))
    );
    assert_eq!((&first["completion"], &first["working_time"]), (&json!("Rome"), &json!(0.5)));
    assert_eq!(
        (&first["tokens"], &first["metadata"]["topic"]),
        (&json!({ "acme/small": 10 }), &json!("north"))
    );
    assert_eq!(
        (&sample("q3")["error"], &sample("q2")["error"]),
        (&json!("timed out"), &Value::Null)
    );
    let messages = json!([
        ["user", "Is it sunny?", []],
        ["assistant", "", [["weather", { "city": "Rome", "days": 2 }]]],
        ["tool", "21 C", []],
        ["assistant", "yes", []],
    ]);
    assert_eq!(sample("a/4")["messages"], messages);
    // em: 1, 0 and a failed row; f1: 0.25 and two.
    assert_eq!(log["results"]["em"][0], 3);
    let accuracy = log["results"]["em"][2]["accuracy"].as_f64().unwrap();
    assert!((accuracy - 1.0 / 3.0).abs() < 1e-12, "{accuracy}");
    assert_eq!(log["results"]["f1"][0], 3);
    let mean = log["results"]["f1"][2]["mean"].as_f64().unwrap();
    assert!((mean - 0.25 / 3.0).abs() < 1e-12, "{mean}");
}

/// Our own reader finds the run in the log again.
#[test]
fn an_exported_log_is_read_as_the_run_that_it_was() {
    let folder = Folder::with("run.jsonl", ROWS);
    export(&folder, "inspect", "run.eval", &[]);
    let of_log = folder.run(&["report", "--from", "inspect", "run.eval", "--out", "log.html"]);
    assert_eq!(of_log.code, Some(0), "{}", of_log.err);
    let compared = folder.run(&["compare", "--from", "inspect", "run.eval", "run.eval", "--json"]);
    let compared: Value = serde_json::from_str(&compared.out).unwrap();
    let own = folder.compare_json(&["run.jsonl", "run.jsonl"]);
    for metric in ["em", "f1"] {
        for figure in ["n", "a", "b"] {
            assert_eq!(
                compared["metrics"][metric][figure], own["metrics"][metric][figure],
                "{metric}"
            );
        }
    }
}

#[test]
fn the_validator_of_every_eval_ever_accepts_both_files() {
    let Some(peer) = Peer::with(&["every-eval-ever"]) else { return };
    let folder = Folder::with("run.jsonl", ROWS);
    let ran = export(&folder, "eee", "eee", &TAGS);
    assert_eq!(
        ran.err,
        "note: run.jsonl: 2 results without a score are not in the output: 1 abstained, 1 gated\n"
    );
    let read = &read(&peer, &folder)["eee"];
    assert_eq!(read["valid"], true, "{read}");
    let written: Vec<&str> =
        ran.out.lines().map(|line| line.strip_prefix("eee/").unwrap()).collect();
    assert_eq!(read["files"], json!(written));
    let run = &read["run"];
    assert_eq!(run["source_metadata"]["source_organization_name"], "Acme");
    let [em, f1] = &run["evaluation_results"].as_array().unwrap()[..] else { panic!("{run}") };
    assert_eq!(
        (&em["metric_config"]["score_type"], &f1["metric_config"]["score_type"]),
        (&json!("binary"), &json!("continuous"))
    );
    let details = json!({
        "scored": "2", "failed": "1", "gated": "0", "skipped": "0", "abstained": "1", "failure_score": "0",
    });
    assert_eq!(em["score_details"]["details"], details);
    let uncertainty = &em["score_details"]["uncertainty"];
    assert_eq!(
        (&uncertainty["num_samples"], &uncertainty["confidence_interval"]["method"]),
        (&json!(3), &json!("Wilson"))
    );
    // Wilson's interval of 1 of 3.
    let low = uncertainty["confidence_interval"]["lower"].as_f64().unwrap();
    assert!((low - 0.061_491_943_949_738_57).abs() < 1e-9, "{low}");
    assert_eq!(f1["metric_config"]["min_score"], "-Infinity");
    let rows: Vec<Value> = read["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            json!([
                row["sample_id"],
                row["evaluation_name"],
                row["evaluation"]["score"],
                row["evaluation"]["is_correct"],
                row["error"]
            ])
        })
        .collect();
    let expected = json!([
        ["q1", "em", 1.0, true, null],
        ["q1", "f1", 0.25, false, null],
        ["q2", "em", 0.0, false, null],
        ["q2", "f1", 0.0, false, "no words"],
        ["q3", "em", 0.0, false, "timed out"],
        ["q3", "f1", 0.0, false, "timed out"],
    ]);
    assert_eq!(json!(rows), expected);
    assert_eq!(run["detailed_evaluation_results"]["total_rows"], 6);
}

#[test]
fn the_validator_accepts_a_run_with_its_manifest_and_with_an_agent() {
    let Some(peer) = Peer::with(&["every-eval-ever"]) else { return };
    let data = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/data/heritage/heritage.baseline.jsonl");
    let agent = r#"{"id":"a1","gold":{"question":"Is it sunny?","answer":"yes"},"pred":{"answer":"yes","trajectory":[{"role":"user","content":"Is it sunny?"},{"role":"assistant","content":"","tool_calls":[{"name":"weather","args":{"city":"Rome","days":2}}]},{"role":"assistant","content":"yes"}]}}"#;
    for rows in [fs::read_to_string(data).unwrap(), format!("{agent}\n")] {
        let folder = Folder::with("rows.jsonl", rows);
        let args = [
            "score",
            "rows.jsonl",
            "-m",
            "em,f1",
            "--with-rows",
            "--out",
            "run.jsonl",
            "-q",
            "--label",
            "base",
        ];
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        export(
            &folder,
            "eee",
            "eee",
            &[&TAGS[..], &["--tag", "dataset=heritage/v1", "--tag", "relationship=first_party"]]
                .concat(),
        );
        let read = &read(&peer, &folder)["eee"];
        assert_eq!(read["valid"], true, "{read}");
        assert_eq!(read["run"]["source_metadata"]["evaluator_relationship"], "first_party");
        let description =
            &read["run"]["evaluation_results"][1]["metric_config"]["evaluation_description"];
        assert_eq!(description, "f1 of dsrs-metrics: version 1; F1.profile = dspy");
        assert!(
            read["files"][0].as_str().unwrap().starts_with("data/heritage_v1/acme/small/"),
            "{read}"
        );
    }
}

#[test]
fn a_second_export_writes_the_same_files() {
    let folder = Folder::with("run.jsonl", ROWS);
    for (to, out) in [
        ("inspect", "eval"),
        ("langfuse", "scores"),
        ("mlflow", "assessments"),
        ("openinference", "spans"),
    ] {
        export(&folder, to, out, &[]);
        let first = fs::read(folder.path(out)).unwrap();
        export(&folder, to, out, &[]);
        assert_eq!(fs::read(folder.path(out)).unwrap(), first, "{to}");
    }
    let [first, second] = [0, 1].map(|_| export(&folder, "eee", "eee", &TAGS).out);
    assert_eq!(first, second);
}

#[test]
fn langfuse_mlflow_and_opentelemetry_read_the_lines() {
    let Some(peer) = Peer::with(&["langfuse", "mlflow-skinny"]) else { return };
    let folder = Folder::with("run.jsonl", ROWS);
    let ran = export(&folder, "langfuse", "scores.jsonl", &[]);
    let left_out = "note: run.jsonl: 5 results without a score are not in the output: 1 abstained, 1 gated, 1 metric_failed, 2 program_failed\n";
    assert_eq!(ran.err, left_out);
    let ran = export(&folder, "mlflow", "assessments.jsonl", &[]);
    assert_eq!(
        ran.err,
        "note: run.jsonl: 2 results without a score are not in the output: 1 abstained, 1 gated\n"
    );
    export(&folder, "openinference", "spans.jsonl", &[]);
    let read = read(&peer, &folder);

    let scores = read["scores.jsonl"].as_array().unwrap();
    let shown: Vec<Value> = scores
        .iter()
        .map(|it| {
            json!([
                it["traceId"],
                it["observationId"],
                it["name"],
                it["value"],
                it["dataType"],
                it["comment"]
            ])
        })
        .collect();
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let expected = json!([
        [trace, "b7ad6b7169203331", "em", 1.0, "BOOLEAN", "equal"],
        [trace, "b7ad6b7169203331", "f1", 0.25, "NUMERIC", "1 word \"in\" common"],
        ["t2", null, "em", 0.0, "BOOLEAN", null],
    ]);
    assert_eq!(json!(shown), expected);
    let metadata =
        json!({ "row_id": "q1", "passed": false, "cost_msats": 40, "details": { "words": 2 } });
    assert_eq!(scores[1]["metadata"], metadata);

    let assessments = read["assessments.jsonl"].as_array().unwrap();
    let shown: Vec<Value> = assessments
        .iter()
        .map(|it| json!([it["trace_id"], it["span_id"], it["name"], it["value"], it["error"]]))
        .collect();
    let expected = json!([
        [trace, "b7ad6b7169203331", "em", true, null],
        [trace, "b7ad6b7169203331", "f1", 0.25, null],
        ["t2", null, "em", false, null],
        ["t2", null, "f1", null, ["metric_failed", "no words"]],
        ["t3", null, "em", null, ["program_failed", "timed out"]],
        ["t3", null, "f1", null, ["program_failed", "timed out"]],
    ]);
    assert_eq!(json!(shown), expected);
    assert_eq!(assessments[0]["source"], json!(["CODE", "dsrs-metrics:em"]));

    let spans = read["spans.jsonl"].as_array().unwrap();
    assert_eq!(spans.len(), 3, "a row without any result has no span");
    assert_eq!(
        (&spans[0]["trace"], &spans[0]["parent"]),
        (&json!(trace), &json!("b7ad6b7169203331"))
    );
    assert_eq!(spans[1]["parent"], "", "`t2` is no id of OpenTelemetry");
    let attributes = &spans[0]["attributes"];
    let of = |field: &str| &attributes[format!("evaluations.1.evaluation.{field}")];
    assert_eq!(
        (of("name"), of("score"), of("label")),
        (&json!("f1"), &json!(0.25), &json!("fail"))
    );
    assert_eq!(
        (of("annotator_kind"), &attributes["input.value"]),
        (&json!("CODE"), &json!("Capital of Italy?"))
    );
    let failed = &spans[1]["attributes"];
    assert_eq!(failed["evaluations.1.evaluation.explanation"], "no words");
    assert_eq!(failed["evaluations.1.evaluation.score"], Value::Null, "a failure is never 0");
}

#[test]
fn the_offline_judge_is_no_model() {
    let Some(peer) = Peer::with(&["every-eval-ever", "mlflow-skinny"]) else { return };
    let rows = r#"{"id":"r1","trace_id":"t1","gold":{"question":"q","response":"a b"},"pred":{"response":"a b"}}"#;
    let folder = Folder::with("rows.jsonl", rows);
    let args = ["score", "rows.jsonl", "-m", "semantic_f1", "--offline", "--with-rows", "-q"];
    let ran = folder.run(&[&args[..], &["--out", "run.jsonl"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    export(&folder, "mlflow", "assessments.jsonl", &[]);
    export(&folder, "eee", "eee", &TAGS);
    let read = read(&peer, &folder);
    assert_eq!(read["eee"]["valid"], true, "{read}");
    assert_eq!(read["assessments.jsonl"][0]["source"], json!(["CODE", "dsrs-metrics:semantic_f1"]));
    let config = &read["eee"]["run"]["evaluation_results"][0]["metric_config"];
    assert_eq!(config["additional_details"], json!({ "judge": "offline-lexical" }));
    assert_eq!(config["llm_scoring"], Value::Null);
}

#[track_caller]
fn error(folder: &Folder, args: &[&str]) -> String {
    let before = folder.files();
    let ran = folder.run(&[&["export"], args].concat());
    assert_eq!((ran.code, &*ran.out), (Some(2), ""), "{}", ran.err);
    assert_eq!(folder.files(), before, "no file is left behind");
    ran.err.strip_prefix("error: ").unwrap().trim_end().to_owned()
}

#[test]
fn what_cannot_be_written_is_an_error_that_says_what_to_do() {
    let folder = Folder::with("run.jsonl", ROWS);
    let scored = r#"{"id":"ID","scores":{"em":{"outcome":"scored","value":1,"passed":true}}}"#;
    folder.write("untraced.jsonl", scored);
    folder.write("odd.jsonl", scored.replace("ID", "../q1"));
    folder.write("data.jsonl", "{\"id\":\"q1\",\"gold\":{},\"pred\":{}}\n");
    let no_destination = "export: missing destination; write --to FORMAT --out PATH, or --otlp URL, as in --otlp http://localhost:4318";
    assert_eq!(error(&folder, &["run.jsonl"]), no_destination);
    let add = "so its scores belong to nothing; add the ids to the data beside `gold` and `pred`, and score it again";
    for (file, to, more, expected) in [
        ("untraced.jsonl", "langfuse", &[][..], format!("untraced.jsonl:1: no `trace_id` and no `session_id`, {add}")),
        ("untraced.jsonl", "mlflow", &[], format!("untraced.jsonl:1: no `trace_id`, {add}")),
        (
            "odd.jsonl",
            "inspect",
            &[],
            "odd.jsonl:1: inspect_ai makes the name of a file of its id, and this one is no relative path; give the rows other ids".into(),
        ),
        (
            "data.jsonl",
            "inspect",
            &[],
            "data.jsonl:1: no `scores` in the row; expected a file written by `score --out`".into(),
        ),
        (
            "-",
            "inspect",
            &[],
            "--to: expected a result file, found standard input, which cannot be read several times; write it to a file".into(),
        ),
        (
            "run.jsonl",
            "openinference",
            &["--input", "gold.query"],
            "run.jsonl:1: --input: no field `gold.query`; name an attribute, gold.FIELD or pred.FIELD".into(),
        ),
    ] {
        assert_eq!(error(&folder, &[&[file, "--to", to, "--out", "out"], more].concat()), expected);
    }
    let same = "--out run.jsonl and RUN run.jsonl are the same file; choose another file for --out";
    assert_eq!(error(&folder, &["run.jsonl", "--to", "inspect", "--out", "run.jsonl"]), same);
}

#[test]
fn what_every_eval_ever_needs_is_named_all_at_once() {
    let folder = Folder::with("run.jsonl", ROWS);
    let unscored = r#"{"id":"q1","scores":{"em":{"outcome":"abstained"}}}"#;
    folder.write("unscored.jsonl", unscored);
    let eee = |run: &str, tags: &[&str]| {
        let tags = tags.iter().flat_map(|tag| ["--tag", *tag]);
        let args: Vec<&str> =
            [run, "--to", "eee", "--out", "eee"].into_iter().chain(tags).collect();
        error(&folder, &args).strip_prefix("--to eee: ").unwrap().to_owned()
    };
    let (model, organization) = (
        "--tag model=DEVELOPER/NAME, the model that was evaluated",
        "--tag organization=NAME, who evaluated it",
    );
    let missing = format!("missing facts of the run; write {model}, and {organization}");
    assert_eq!(eee("run.jsonl", &[]), missing);
    for found in ["small", "acme/..", "acme/", "acme/a:b", "con/small"] {
        let message =
            format!("missing facts of the run (found the model `{found}`); write {model}");
        assert_eq!(eee("run.jsonl", &[&format!("model={found}"), "organization=Acme"]), message);
    }
    let tags = ["model=acme/small", "organization=Acme"];
    let dataset = "the data `..\\x` is no name of a folder; write --tag dataset=NAME";
    assert_eq!(eee("run.jsonl", &[&tags[..], &["dataset=..\\x"]].concat()), dataset);
    assert_eq!(eee("unscored.jsonl", &tags), "no metric has a score");
}

#[test]
fn without_gold_rows_only_the_run_is_written() {
    let folder = Folder::with(
        "run.jsonl",
        r#"{"id":"q1","scores":{"em":{"outcome":"scored","value":1,"passed":true}}}"#,
    );
    let ran = export(&folder, "eee", "eee", &TAGS);
    assert_eq!(ran.out.lines().count(), 1);
    let note = "note: run.jsonl: the rows are not exported, since the result file has no gold rows; write it with `score --with-rows`\n";
    assert_eq!(ran.err, note);
}

#[test]
fn real_rows_have_the_same_figures_in_every_format() {
    let Some(peer) = Peer::with(&["inspect-ai", "every-eval-ever"]) else { return };
    let Some(data) = data("qa/xquad-en.bert.jsonl") else { return };
    let folder = Folder::new();
    let rows = data.join("qa/xquad-en.bert.jsonl");
    let args = [
        "score",
        rows.to_str().unwrap(),
        "-m",
        "answer_exact_match,f1",
        "--with-rows",
        "--out",
        "run.jsonl",
        "-q",
        "--json",
    ];
    let ran = folder.run(&args);
    let scored: Value = serde_json::from_str(&ran.out).unwrap();
    export(&folder, "inspect", "run.eval", &[]);
    export(&folder, "eee", "eee", &TAGS);
    let read = read(&peer, &folder);
    assert_eq!(read["eee"]["valid"], true);
    for (place, (name, mean)) in
        [("answer_exact_match", "accuracy"), ("f1", "mean")].into_iter().enumerate()
    {
        let summary = &scored["metrics"][name];
        let details = &read["eee"]["run"]["evaluation_results"][place]["score_details"];
        let of_log = &read["run.eval"]["results"][name][2];
        let near = |found: &Value, expected: &Value| {
            let [found, expected] =
                [found, expected].map(|it| it.as_f64().unwrap_or_else(|| panic!("{name}: {it}")));
            assert!((found - expected).abs() < 1e-12, "{name}: {found}, not {expected}");
        };
        near(&details["score"], &summary["score"]);
        near(&details["uncertainty"]["standard_error"]["value"], &summary["stderr"]);
        near(&details["uncertainty"]["confidence_interval"]["lower"], &summary["ci95"][0]);
        near(&details["uncertainty"]["confidence_interval"]["upper"], &summary["ci95"][1]);
        near(&of_log[mean], &summary["score"]);
        near(&of_log["stderr"], &summary["stderr"]);
    }
}

const PAGE: &str = include_str!("../../dsrs-metrics/docs/guide/formats.md");

#[test]
fn the_first_commands_of_the_guide_write_a_log_and_a_folder() {
    let (folder, data) = (Folder::new(), concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/"));
    let (_, block) =
        PAGE.split_once("## Export\n").and_then(|(_, it)| it.split_once("```sh\n")).unwrap();
    for line in block.split_once("```").unwrap().0.lines() {
        let line = line.replace("examples/", data);
        let args: Vec<&str> = line.split(' ').skip(1).collect();
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
    }
    assert_eq!(folder.files(), ["data", "run.eval", "run.jsonl", "run.jsonl.manifest.json"]);
}

/// The commands of the guide with curl, each sent to a server that keeps what it received.
#[test]
fn the_commands_of_the_guide_send_each_line() {
    let folder = Folder::with("run.jsonl", ROWS);
    let mut sent = 0;
    let loops = PAGE.split("```sh\n").filter_map(|it| it.split_once("\n```"));
    for (command, _) in loops.filter(|(command, _)| command.starts_with("while ")) {
        let (file, to, path) = match command {
            it if it.contains("< scores.jsonl") => {
                ("scores.jsonl", "langfuse", "/api/public/scores")
            }
            it if it.contains("< spans.jsonl") => ("spans.jsonl", "openinference", "/v1/traces"),
            _ => ("assessments.jsonl", "mlflow", "/api/3.0/mlflow/traces/"),
        };
        export(&folder, to, file, &[]);
        let expected = folder.read(file);
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", server.local_addr().unwrap());
        let count = expected.lines().count();
        let received = std::thread::spawn(move || {
            server.incoming().take(count).map(|stream| request(stream.unwrap())).collect::<Vec<_>>()
        });
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(folder.path("")).env("no_proxy", "*");
        for name in ["LANGFUSE_BASE_URL", "MLFLOW_TRACKING_URI", "OTEL_EXPORTER_OTLP_ENDPOINT"] {
            shell.env(name, &url);
        }
        let ran = shell.env("LANGFUSE_PUBLIC_KEY", "pk").env("LANGFUSE_SECRET_KEY", "sk").output();
        let ran = ran.unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        for ((target, body), line) in received.join().unwrap().iter().zip(expected.lines()) {
            let [target, body]: [&str; 2] = [target, body];
            assert_eq!(body, line, "{to}");
            let trace: Value = serde_json::from_str(line).unwrap();
            let expected = match trace["assessment"]["trace_id"].as_str() {
                Some(trace) => format!("{path}{trace}/assessments"),
                None => path.to_owned(),
            };
            assert_eq!(target, expected);
            sent += 1;
        }
    }
    // Three scores, six assessments and three spans.
    assert_eq!(sent, 12);
}

/// Reads a request, and answers it. Returns its path and its body.
fn request(stream: TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = reader.into_inner();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        .unwrap();
    (first.split(' ').nth(1).unwrap().to_owned(), String::from_utf8(body).unwrap())
}
