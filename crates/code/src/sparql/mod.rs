//! SPARQL queries: syntax checks, and execution on an embedded Oxigraph or an endpoint.
//!
//! Queries are predictions, so they are untrusted. The size and nesting of a query are checked before the query is
//! parsed, and each query is parsed on its own stack. Before a query runs, its algebra is analyzed for network access
//! and cost. While it runs, its time, the number of terms it processes, and the memory of those terms are limited. The
//! metrics over rows are in `dsrs_metrics::metrics::sparql`.

mod analysis;
#[cfg(feature = "sparql-http")]
mod endpoint;
mod execute;
mod metered;
mod query;
mod store;

pub use query::{MAX_BYTES, MAX_DEPTH, QueryLimits, QueryResults, SparqlError, check_query};
pub use store::SparqlStore;
