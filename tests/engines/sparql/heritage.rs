//! The predicted queries of the heritage rows, over their graph.

use dsrs_metrics::metrics::{SparqlExecutes, SparqlReturnsResults, SparqlSyntaxValid};
use dsrs_metrics::prelude::*;
use serde_json::Value;

use super::{evaluate, graph};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/heritage");

fn queries(system: &str) -> Vec<String> {
    let rows = std::fs::read_to_string(format!("{FOLDER}/heritage.{system}.jsonl")).unwrap();
    let query = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["pred"]["sparql_query"].as_str().unwrap().to_owned()
    };
    rows.lines().map(query).collect()
}

fn passed(metric: &impl Metric, queries: &[String]) -> usize {
    queries
        .iter()
        .filter(|query| evaluate(metric, query).unwrap().0 == 1.0)
        .count()
}

#[test]
fn both_systems_score_as_in_the_readme_and_by_rdflib() {
    let executes = SparqlExecutes::builder().data(graph()).build();
    let returns = SparqlReturnsResults::builder().data(graph()).build();
    for (system, expected) in [("baseline", [119, 119, 109]), ("tuned", [136, 136, 126])] {
        let queries = queries(system);
        assert_eq!(queries.len(), 142);
        let found = [
            passed(&SparqlSyntaxValid, &queries),
            passed(&executes, &queries),
            passed(&returns, &queries),
        ];
        assert_eq!(found, expected, "{system}");
    }
}
