//! Functions for checking and running SPARQL queries.
//!
//! A query can run on an embedded Oxigraph database or on a remote endpoint.
//!
//! The queries are predictions of a program, so they are untrusted. Before a query runs, its size, nesting, network
//! access and cost are checked. While it runs, its time and memory are limited.
//!
//! For metrics that score rows, see `dsrs_metrics::metrics::sparql`.

mod analysis;
#[cfg(feature = "sparql-http")]
mod endpoint;
mod execute;
mod metered;
mod query;
mod store;

pub use query::{MAX_BYTES, MAX_DEPTH, QueryLimits, QueryResults, SparqlError, check_query};
pub use store::SparqlStore;
