//! Logs of inspect_ai, read by inspect_ai and by this program.

use dsrs_metrics_tests::Peer;
use serde_json::{Value, json};

use super::{ROWS, export, read};
use crate::Folder;

#[test]
fn inspect_ai_reads_the_log_with_every_outcome() {
    let Some(peer) = Peer::with(&["inspect-ai"]) else {
        return;
    };
    let folder = Folder::with("run.jsonl", ROWS);
    let ran = export(&folder, "inspect", "run.eval", "--tag model=acme/small");
    assert_eq!((&*ran.out, &*ran.err), ("run.eval\n", ""));
    let log = &read(&peer, &folder)["run.eval"];
    assert_eq!(
        (&log["status"], &log["model"]),
        (&json!("success"), &json!("acme/small"))
    );
    assert_eq!(
        (&log["task"], &log["dataset"]),
        (&json!("run"), &json!("run"))
    );
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
    let sample = |id: &str| {
        log["samples"]
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["id"] == id)
            .unwrap()
    };
    let first = sample("q1");
    assert_eq!(
        (&first["input"], &first["target"]),
        (&json!("Capital of Italy?"), &json!(["Rome", "Roma"]))
    );
    assert_eq!(
        (&first["completion"], &first["working_time"]),
        (&json!("Rome"), &json!(0.5))
    );
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
    export(&folder, "inspect", "run.eval", "");
    let of_log = folder.run("report --from inspect run.eval --out log.html");
    assert_eq!(of_log.code, Some(0), "{}", of_log.err);
    let compared = folder.run("compare --from inspect run.eval run.eval --json");
    let compared: Value = serde_json::from_str(&compared.out).unwrap();
    let own = folder.compare_json("run.jsonl run.jsonl");
    for metric in ["em", "f1"] {
        for figure in ["n", "a", "b"] {
            assert_eq!(
                compared["metrics"][metric][figure], own["metrics"][metric][figure],
                "{metric}"
            );
        }
    }
}
