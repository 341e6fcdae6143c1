//! Replays the official JSON-Schema-Test-Suite with the verdicts of Python's jsonschema.

use std::io::{BufRead, BufReader};
use std::process::Command;

use dsrs_metrics::metrics::{ToolParamsSchema, ToolSchemas};
use dsrs_metrics::prelude::*;
use serde::Deserialize;
use serde_json::Value;

const VECTORS: &[u8] = include_bytes!("schema_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_schema_vectors.py");
const PEERS: &str = include_str!("../../.ci/peers.txt");

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
    BufReader::new(flate2::read::GzDecoder::new(VECTORS)).lines().map(|line| {
        serde_json::from_str(&line.expect("readable vectors")).expect("a vector a line")
    })
}

/// The metric's verdict. Text is given as JSON, because the metric reads text that is JSON as what it says.
fn verdict(schema: &Value, instance: &Value) -> Result<bool, String> {
    let schemas = ToolSchemas::new([("tool", schema)]).map_err(|error| error.to_string())?;
    let metric = ToolParamsSchema::builder().schemas(schemas).build();
    let instance = match instance {
        Value::String(_) => Value::String(instance.to_string()),
        other => other.clone(),
    };
    let pred = prediction! { "tool" => "tool", "params" => instance };
    let score = metric.score(&example! {}, &pred).map_err(|error| error.to_string())?;
    Ok(score.value == 1.0)
}

#[test]
fn the_official_suite_is_judged_as_python_judges_it() {
    let (mut compared, mut differences) = (0, Vec::new());
    for vector in vectors() {
        let found = verdict(&vector.schema, &vector.instance);
        if found != Ok(vector.python) || vector.python != vector.suite {
            let Vector { draft, of, python, suite, .. } = vector;
            differences.push(format!("{draft} {of}: {found:?}, python {python}, suite {suite}"));
        }
        compared += 1;
    }
    println!("{compared} vectors, {} differences", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert_eq!(compared, 4654);
}

#[test]
fn the_peer_still_says_so() {
    let program = std::env::var("DSRS_METRICS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let wanted = PEERS.lines().find(|line| line.starts_with("jsonschema")).unwrap();
    let probe = "import importlib.metadata as m; print('jsonschema==' + m.version('jsonschema'))";
    let said = Command::new(&program).args(["-c", probe]).output().map_or_else(
        |error| error.to_string(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    if said != wanted {
        let required = std::env::var("DSRS_METRICS_REQUIRE").is_ok_and(|value| value == "1");
        assert!(!required, "{program} has {said:?}, not {wanted:?}");
        println!("skipped: {program} has not {wanted:?}; set DSRS_METRICS_PYTHON to one that has");
        return;
    }
    let ran = Command::new(&program).args([SCRIPT, "--check"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(said.trim(), format!("{} vectors, as committed", vectors().count()));
}
