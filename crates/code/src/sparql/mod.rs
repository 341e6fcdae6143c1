//! SPARQL queries: syntax checks, and execution on an embedded Oxigraph or on an endpoint.
//!
//! Queries are predictions, so they are untrusted. Their size and nesting are checked before they are parsed, each on
//! its own stack. Before a query runs, its algebra is analyzed for network access and cost. While it runs, its time,
//! the number of terms that it processes, and their memory are limited. The metrics over rows are in
//! `dsrs_metrics::metrics::sparql`.

mod analysis;
#[cfg(feature = "sparql-http")]
mod endpoint;
mod execute;
mod instrument;
mod metered;
mod query;
mod store;

pub use query::{MAX_BYTES, MAX_DEPTH, QueryLimits, QueryResults, SparqlError, check_query};
pub use store::SparqlStore;
