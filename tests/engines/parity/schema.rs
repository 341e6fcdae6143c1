//! Replays the official JSON-Schema-Test-Suite with the verdicts of Python's jsonschema.

use dsrs_metrics::metrics::{ToolParamsSchema, ToolSchemas};
use dsrs_metrics::prelude::*;
use dsrs_metrics_tests::Peer;
use serde::Deserialize;
use serde_json::Value;

const VECTORS: &[u8] = include_bytes!("../../parity/schema_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_schema_vectors.py");

#[derive(Deserialize)]
struct Vector {
    draft: String,
    of: String,
    schema: Value,
    instance: Value,
    python: bool,
    suite: bool,
}

fn vectors() -> impl Iterator<Item = Vector> {
    dsrs_metrics_tests::vectors(VECTORS)
}

/// The metric's verdict. A string is passed as JSON, because the metric parses a string that is valid JSON.
fn verdict(schema: &Value, instance: &Value) -> Result<bool, String> {
    let schemas = ToolSchemas::new([("tool", schema)]).map_err(|error| error.to_string())?;
    let metric = ToolParamsSchema::builder().schemas(schemas).build();
    let instance = match instance {
        Value::String(_) => Value::String(instance.to_string()),
        other => other.clone(),
    };
    let pred = prediction! { "tool" => "tool", "params" => instance };
    let score = metric
        .score(&example! {}, &pred)
        .map_err(|error| error.to_string())?;
    Ok(score.value == 1.0)
}

#[test]
fn the_official_suite_is_judged_as_python_judges_it() {
    let (mut compared, mut differences) = (0, Vec::new());
    for vector in vectors() {
        let found = verdict(&vector.schema, &vector.instance);
        if found != Ok(vector.python) || vector.python != vector.suite {
            let Vector {
                draft,
                of,
                python,
                suite,
                ..
            } = vector;
            differences.push(format!(
                "{draft} {of}: {found:?}, python {python}, suite {suite}"
            ));
        }
        compared += 1;
    }
    println!("{compared} vectors, {} differences", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(compared, 4654);
}

#[test]
fn the_peer_still_says_so() {
    let Some(peer) = Peer::with(&["jsonschema"]) else {
        return;
    };
    assert_eq!(
        peer.check(SCRIPT),
        format!("{} vectors, as committed", vectors().count())
    );
}
