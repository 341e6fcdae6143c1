//! The SPARQL metrics on the command line.

use std::process::Output;

use serde_json::Value;

use crate::scorer;

const GRAPH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/data/heritage/heritage.ttl"
);

const ROWS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/data/heritage/heritage.tuned.jsonl"
);

fn run(arguments: &[&str]) -> Output {
    scorer().args(arguments).output().unwrap()
}

#[test]
fn the_graph_is_a_parameter() {
    let (executes, returns) = (
        format!("sparql_executes.data={GRAPH}"),
        format!("sparql_returns_results.data={GRAPH}"),
    );
    let metrics = "sparql_syntax_valid,sparql_executes,sparql_returns_results";
    let ran = run(&[
        "score", ROWS, "-m", metrics, "--json", "--param", &executes, "--param", &returns,
    ]);
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let summary: Value = dsrs_metrics_tests::schema::parsed(&ran.stdout);
    let mean = |name: &str| summary["metrics"][name]["mean"].as_f64().unwrap();
    assert_eq!(mean("sparql_syntax_valid"), 136.0 / 142.0);
    assert_eq!(mean("sparql_executes"), 136.0 / 142.0);
    assert_eq!(mean("sparql_returns_results"), 126.0 / 142.0);
    assert_eq!(summary["metrics"]["sparql_executes"]["failed"], 0);
}

#[test]
fn an_invalid_graph_is_an_error_before_the_first_row() {
    let error = |arguments: &[&str]| {
        let ran = run(&[&["score", ROWS, "-m", "sparql_executes"], arguments].concat());
        assert_eq!(ran.status.code(), Some(2));
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    let none = error(&[]);
    assert!(
        none.contains("metric `sparql_executes` requires the parameter `data`"),
        "{none}"
    );
    let missing = error(&["--param", "sparql_executes.data=nowhere.ttl"]);
    assert!(missing.contains("nowhere.ttl: No such file"), "{missing}");
}

#[test]
fn the_metrics_are_listed() {
    let ran = run(&["list", "--json"]);
    let listed: Value = dsrs_metrics_tests::schema::parsed(&ran.stdout);
    let text = listed.to_string();
    for name in [
        "sparql_syntax_valid",
        "sparql_executes",
        "sparql_returns_results",
    ] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}
