//! SPARQL queries: whether a text is one, and what an embedded Oxigraph or an endpoint answers.
//!
//! Queries are predictions, so nobody vouches for them: their size is bounded before they are read, each is read on a
//! stack of its own, what they would do is known before they run, and while they run they are watched. The metrics over
//! rows are elsewhere.

mod ask;
#[cfg(feature = "sparql-http")]
mod endpoint;
mod nesting;
mod query;
mod stack;
mod store;
mod survey;
mod watched;

pub use ask::{Answer, AskError, Bounds};
pub use query::{MAX_BYTES, MAX_DEPTH, QueryError, check_query};
pub use store::{SparqlStore, StoreError};
