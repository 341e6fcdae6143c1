//! Formats with a JSON document in each line, read by the packages of the services.

use dsrs_metrics_tests::Peer;
use serde_json::{Value, json};

use super::{ROWS, export, read};
use crate::Folder;

#[test]
fn langfuse_mlflow_and_opentelemetry_read_the_lines() {
    let Some(peer) = Peer::with(&["langfuse", "mlflow-skinny"]) else {
        return;
    };
    let folder = Folder::with("run.jsonl", ROWS);
    let ran = export(&folder, "langfuse", "scores.jsonl", "");
    let left_out = "note: run.jsonl: results without a score are not in the output: 1 abstained, 1 gated, 1 metric_failed, 2 program_failed\n";
    assert_eq!(ran.err, left_out);
    let ran = export(&folder, "mlflow", "assessments.jsonl", "");
    assert_eq!(
        ran.err,
        "note: run.jsonl: results without a score are not in the output: 1 abstained, 1 gated\n"
    );
    export(&folder, "openinference", "spans.jsonl", "");
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
        [
            trace,
            "b7ad6b7169203331",
            "f1",
            0.25,
            "NUMERIC",
            "1 word \"in\" common"
        ],
        ["t2", null, "em", 0.0, "BOOLEAN", null],
    ]);
    assert_eq!(json!(shown), expected);
    let metadata =
        json!({ "row_id": "q1", "passed": false, "cost_msats": 40, "details": { "words": 2 } });
    assert_eq!(scores[1]["metadata"], metadata);

    let assessments = read["assessments.jsonl"].as_array().unwrap();
    let shown: Vec<Value> = assessments
        .iter()
        .map(|it| {
            json!([
                it["trace_id"],
                it["span_id"],
                it["name"],
                it["value"],
                it["error"]
            ])
        })
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
    assert_eq!(
        spans[1]["parent"], "",
        "`t2` is not a valid id of OpenTelemetry"
    );
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
    assert_eq!(
        failed["evaluations.1.evaluation.score"],
        Value::Null,
        "a failure is never 0"
    );
}
