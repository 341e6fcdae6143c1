//! Replays the results of Python's rdflib for SPARQL queries over the heritage graph.

use std::time::Duration;

use dsrs_metrics::sparql::{QueryLimits, QueryResults, SparqlStore, check_query};
use dsrs_metrics_tests::Peer;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::sparql::GRAPH;

const VECTORS: &[u8] = include_bytes!("../../parity/sparql_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_sparql_vectors.py");

#[derive(Deserialize)]
struct Vector {
    of: String,
    query: String,
    valid: bool,
    answer: Value,
}

fn vectors() -> impl Iterator<Item = Vector> {
    dsrs_metrics_tests::vectors(VECTORS)
}

/// Where Oxigraph and rdflib differ, and why.
const DIFFERENCES: [(&str, &str); 7] = [
    (
        "valid 62",
        "CONSTRUCT { } makes no triples; rdflib takes an empty template for a missing one",
    ),
    (
        "valid 65",
        "an empty pattern has one solution (SPARQL 1.1, 18.2.4.1); rdflib leaves it out",
    ),
    ("valid 66", "the same with SELECT *"),
    (
        "invalid 37",
        "a row of VALUES has as many values as there are variables (19.8, note 11)",
    ),
    (
        "invalid 41",
        "what is selected is grouped by or aggregated (19.8, note 12)",
    ),
    (
        "invalid 42",
        "a variable is assigned once (19.8, note 12); rdflib takes the last",
    ),
    (
        "invalid 43",
        "BIND assigns a new variable (18.2.1); rdflib compares",
    ),
];

#[test]
fn queries_are_judged_and_answered_as_rdflib_does_it() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let store = SparqlStore::from_path(GRAPH).unwrap();
    let limits = QueryLimits {
        timeout: Duration::from_secs(10),
        max_results: 10_000,
    };
    let (mut compared, mut differences) = (0, Vec::new());
    for vector in vectors() {
        let valid = check_query(&vector.query).is_ok();
        let answer = match runtime.block_on(store.execute(&vector.query, limits)) {
            Ok(QueryResults::Boolean(value)) => json!(value),
            Ok(QueryResults::Solutions(count) | QueryResults::Triples(count)) => json!(count),
            _ => Value::Null,
        };
        if (valid, &answer) != (vector.valid, &vector.answer) {
            let Vector {
                of,
                valid: theirs,
                answer: their_answer,
                query,
            } = vector;
            differences.push((
                of,
                format!("{valid} {answer}, rdflib {theirs} {their_answer}: {query}"),
            ));
        }
        compared += 1;
    }
    let unexpected =
        |(of, _): &&(String, String)| !DIFFERENCES.iter().any(|(known, _)| known == of);
    println!("{compared} vectors, {} differences", differences.len());
    let told: Vec<_> = differences.iter().filter(unexpected).collect();
    assert!(told.is_empty(), "{told:#?}");
    assert_eq!((compared, differences.len()), (556, DIFFERENCES.len()));
}

#[test]
fn the_peer_still_says_so() {
    let Some(peer) = Peer::with(&["rdflib"]) else {
        return;
    };
    assert_eq!(
        peer.check(SCRIPT),
        format!("{} vectors, as committed", vectors().count())
    );
}
