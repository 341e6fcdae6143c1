//! SPARQL queries: parsing, the survey before the run, and execution within its limits.
#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use dsrs_metrics::sparql::{MAX_BYTES, QueryLimits, QueryResults, SparqlStore, check_query};
use dsrs_metrics_fuzz::{assert_one_line, block_on};
use libfuzzer_sys::fuzz_target;

static STORE: LazyLock<SparqlStore> =
    LazyLock::new(|| SparqlStore::from_turtle(include_str!("museums.ttl")).expect("Turtle"));

const LIMITS: QueryLimits = QueryLimits {
    timeout: Duration::from_secs(2),
    max_results: 100,
};

fuzz_target!(|query: &str| {
    let checked = check_query(query);
    if let Err(error) = &checked {
        assert_one_line(error);
    }
    let is_too_long = query.len() > MAX_BYTES && !query.trim().is_empty();
    let too_long = format!("the query has {} bytes; ", query.len());
    let is_refused = checked
        .as_ref()
        .is_err_and(|error| error.to_string().starts_with(&too_long));
    assert_eq!(is_refused, is_too_long);
    let started = Instant::now();
    let result = block_on(STORE.execute(query, LIMITS));
    // Longer than the timeout and the grace period of an evaluation that cannot be interrupted.
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    match (checked, result) {
        (Err(parsed), Err(executed)) => {
            assert_eq!(parsed.to_string(), executed.to_string());
        }
        (Ok(()), Ok(results)) => check(results),
        (Ok(()), Err(error)) => {
            assert_one_line(&error);
            assert!(error.is_query_error(), "{error}");
        }
        (checked, result) => panic!("{checked:?}, but {result:?}"),
    }
});

fn check(results: QueryResults) {
    match results {
        QueryResults::Solutions(count) | QueryResults::Triples(count) => {
            assert!(count <= LIMITS.max_results, "{count} results");
            assert_eq!(results.has_results(), count > 0);
        }
        other => assert!(other.has_results()),
    }
}
