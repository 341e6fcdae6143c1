//! Predicted SPARQL queries: syntax, and what an embedded Oxigraph answers.

mod bounds;
mod heritage;
mod stores;
mod syntax;

use std::time::Duration;

use dsrs_metrics::prelude::*;
use dsrs_metrics::sparql::{Answer, AskError, Bounds, SparqlStore};
use dsrs_metrics::{MetricCall, Scored};

/// The graph of the heritage rows.
pub(crate) const GRAPH: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/heritage/heritage.ttl");

fn graph() -> SparqlStore {
    SparqlStore::from_path(GRAPH).expect("the graph of the heritage rows")
}

fn bounds(seconds: f64) -> Bounds {
    Bounds { time: Duration::from_secs_f64(seconds), results: 10_000 }
}

#[track_caller]
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// What the heritage graph answers.
fn ask(query: &str) -> Result<Answer, AskError> {
    block_on(graph().ask(query, bounds(10.0)))
}

/// Score and feedback of a query, or why there is no score.
fn said(metric: &impl Metric, query: &str) -> Result<(f64, String), String> {
    let (gold, pred) = (example! {}, prediction! { "sparql_query" => query });
    let call = MetricCall::new(&gold, &pred);
    let scored: Result<Scored, _> = block_on(metric.answer(call).into_future());
    let told = |scored: Scored| {
        let feedback = scored.feedback().unwrap_or_default().into_owned();
        (scored.score.value, feedback)
    };
    scored.map(told).map_err(|error| error.to_string())
}
