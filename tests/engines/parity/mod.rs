//! The same verdicts and answers as Python's packages.

mod schema;
mod sparql;
