//! Predicted SPARQL queries: syntax, and results of the embedded Oxigraph.

mod bounds;
mod heritage;
mod stores;
mod syntax;

use std::time::Duration;

use dsrs_metrics::prelude::*;
use dsrs_metrics::sparql::{QueryLimits, QueryResults, SparqlError, SparqlStore};
use dsrs_metrics::{Scored, contract::MetricCall};

/// The graph of the heritage rows.
pub(crate) const GRAPH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/data/heritage/heritage.ttl"
);

fn graph() -> SparqlStore {
    SparqlStore::from_path(GRAPH).expect("the graph of the heritage rows")
}

fn limits(seconds: f64) -> QueryLimits {
    QueryLimits {
        timeout: Duration::from_secs_f64(seconds),
        max_results: 10_000,
    }
}

#[track_caller]
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Executes a query on the heritage graph.
fn execute(query: &str) -> Result<QueryResults, SparqlError> {
    block_on(graph().execute(query, limits(10.0)))
}

/// The score and feedback of a query, or the error.
fn evaluate(metric: &impl Metric, query: &str) -> Result<(f64, String), String> {
    let (gold, pred) = (example! {}, prediction! { "sparql_query" => query });
    let call = MetricCall::new(&gold, &pred);
    let scored: Result<Scored, _> = block_on(metric.answer(call).into_future());
    let value_and_feedback = |scored: Scored| {
        let feedback = scored.feedback().unwrap_or_default().into_owned();
        (scored.score.value, feedback)
    };
    scored
        .map(value_and_feedback)
        .map_err(|error| error.to_string())
}
