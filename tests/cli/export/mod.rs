//! `export --to`: what the other programs read from the files, and errors.

mod every_eval_ever;
mod guide;
mod inspect;
mod lines;

use std::fs;

use dsrs_metrics_tests::{Peer, data};
use serde_json::Value;

use crate::{Folder, Ran};

/// Rows with every outcome, a trajectory, and ids of traces.
const ROWS: &str = r#"{"id":"q1","attributes":{"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331","topic":"north"},"gold":{"question":"Capital of Italy?","answer":["Rome","Roma"]},"pred":{"answer":"Rome"},"latency_s":0.5,"input_tokens":7,"output_tokens":3,"scores":{"em":{"outcome":"scored","value":1,"passed":true,"details":"equal"},"f1":{"outcome":"scored","value":0.25,"passed":false,"details":"1 word \"in\" common","cost_msats":40,"metadata":{"words":2}}}}
{"id":"q2","attributes":{"trace_id":"t2"},"gold":{"question":"Capital of France?"},"pred":{"answer":"Lyon"},"scores":{"em":{"outcome":"scored","value":0,"passed":false},"f1":{"outcome":"metric_failed","error":"no words"}}}
{"id":"q3","attributes":{"trace_id":"t3"},"gold":{"question":"Capital of Spain?","answer":"Madrid"},"scores":{"em":{"outcome":"program_failed","error":"timed out"},"f1":{"outcome":"program_failed","error":"timed out"}}}
{"id":"a/4","attributes":{"trace_id":"t4"},"gold":{"question":"Is it sunny?","answer":"yes"},"pred":{"answer":"yes","trajectory":[{"role":"user","content":"Is it sunny?"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"weather","args":{"city":"Rome","days":2}}]},{"role":"tool","tool_call_id":"c1","content":"21 C"},{"role":"assistant","content":"yes"}]},"scores":{"em":{"outcome":"abstained"},"f1":{"outcome":"gated","gated_by":"em"}}}
"#;

/// The tags that `eee` needs.
const TAGS: &str = "--tag model=acme/small --tag organization=Acme";

#[track_caller]
fn export(folder: &Folder, to: &str, out: &str, more: &str) -> Ran {
    let ran = folder.run(&format!("export run.jsonl --to {to} --out {out} {more}"));
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
fn a_second_export_writes_the_same_files() {
    let folder = Folder::with("run.jsonl", ROWS);
    for (to, out) in [
        ("inspect", "eval"),
        ("langfuse", "scores"),
        ("mlflow", "assessments"),
        ("openinference", "spans"),
    ] {
        export(&folder, to, out, "");
        let first = fs::read(folder.path(out)).unwrap();
        export(&folder, to, out, "");
        assert_eq!(fs::read(folder.path(out)).unwrap(), first, "{to}");
    }
    let [first, second] = [0, 1].map(|_| export(&folder, "eee", "eee", TAGS).out);
    assert_eq!(first, second);

    // The scores of another run do not replace the scores of this one.
    let ids = || -> Vec<Value> {
        export(&folder, "langfuse", "scores", "");
        let ids = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].take();
        folder.read("scores").lines().map(ids).collect()
    };
    let of_run = ids();
    folder.write("run.jsonl", ROWS.replace("1 word", "2 words"));
    assert!(
        ids().iter().zip(&of_run).all(|(other, id)| other != id),
        "{of_run:?}"
    );
}

#[test]
fn what_cannot_be_written_is_an_error_that_says_what_to_do() {
    let folder = Folder::with("run.jsonl", ROWS);
    let scored = r#"{"id":"ID","scores":{"em":{"outcome":"scored","value":1,"passed":true}}}"#;
    folder.write("untraced.jsonl", scored);
    folder.write("odd.jsonl", scored.replace("ID", "../q1"));
    folder.write("data.jsonl", "{\"id\":\"q1\",\"gold\":{},\"pred\":{}}\n");
    let no_destination = "export: missing destination; pass --to FORMAT --out PATH, or --otlp URL, as in --otlp http://localhost:4318";
    assert_eq!(folder.error("export", "run.jsonl"), no_destination);
    let add = "; add it to the data beside `gold` and `pred`, and score the data again";
    for (file, to, more, expected) in [
        ("untraced.jsonl", "langfuse", "", format!("untraced.jsonl:1: missing attribute `trace_id` or `session_id`{add}")),
        ("untraced.jsonl", "mlflow", "", format!("untraced.jsonl:1: missing attribute `trace_id`{add}")),
        (
            "odd.jsonl",
            "inspect",
            "",
            "odd.jsonl:1: invalid id for an inspect_ai log, which uses ids as file names: expected a relative path; change the id".into(),
        ),
        (
            "data.jsonl",
            "inspect",
            "",
            "data.jsonl:1: expected a row with `scores`, as written by `score --out`, found none".into(),
        ),
        (
            "-",
            "inspect",
            "",
            "--to: expected a result file, found standard input, which cannot be read more than once; save it to a file".into(),
        ),
        (
            "run.jsonl",
            "openinference",
            "--input gold.query",
            "run.jsonl:1: --input: missing field `gold.query`; write the name of an attribute, gold.FIELD or pred.FIELD".into(),
        ),
    ] {
        assert_eq!(folder.error("export", &format!("{file} --to {to} --out out {more}")), expected);
    }
    let same = "--out run.jsonl and RUN run.jsonl are the same file; choose another file for --out";
    assert_eq!(
        folder.error("export", "run.jsonl --to inspect --out run.jsonl"),
        same
    );
}

#[test]
fn real_rows_have_the_same_figures_in_every_format() {
    let Some(peer) = Peer::with(&["inspect-ai", "every-eval-ever"]) else {
        return;
    };
    let Some(data) = data("qa/xquad-en.bert.jsonl") else {
        return;
    };
    let folder = Folder::new();
    let rows = data.join("qa/xquad-en.bert.jsonl");
    let rows = rows.to_str().unwrap();
    let score = [
        "score",
        rows,
        "-m",
        "answer_exact_match,f1",
        "--with-rows",
        "-q",
        "--json",
    ];
    let scored = folder.json(&[&score[..], &["--out", "run.jsonl"]].concat());
    export(&folder, "inspect", "run.eval", "");
    export(&folder, "eee", "eee", TAGS);
    let read = read(&peer, &folder);
    assert_eq!(read["eee"]["valid"], true);
    for (place, (name, mean)) in [("answer_exact_match", "accuracy"), ("f1", "mean")]
        .into_iter()
        .enumerate()
    {
        let summary = &scored["metrics"][name];
        let details = &read["eee"]["run"]["evaluation_results"][place]["score_details"];
        let of_log = &read["run.eval"]["results"][name][2];
        let near = |found: &Value, expected: &Value| {
            let [found, expected] =
                [found, expected].map(|it| it.as_f64().unwrap_or_else(|| panic!("{name}: {it}")));
            assert!(
                (found - expected).abs() < 1e-12,
                "{name}: {found}, not {expected}"
            );
        };
        near(&details["score"], &summary["score"]);
        near(
            &details["uncertainty"]["standard_error"]["value"],
            &summary["stderr"],
        );
        near(
            &details["uncertainty"]["confidence_interval"]["lower"],
            &summary["ci95"][0],
        );
        near(
            &details["uncertainty"]["confidence_interval"]["upper"],
            &summary["ci95"][1],
        );
        near(&of_log[mean], &summary["score"]);
        near(&of_log["stderr"], &summary["stderr"]);
    }
}
