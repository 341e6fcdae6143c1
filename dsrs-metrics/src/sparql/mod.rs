//! SPARQL queries: whether a text is one, and what an embedded Oxigraph answers.
//!
//! Queries are predictions, so nobody vouches for them: their size is bounded before they are read, and each is read on a
//! stack of its own. The metrics over rows are elsewhere.

mod nesting;
mod query;
mod stack;

pub use query::{MAX_BYTES, MAX_DEPTH, QueryError, check_query};
