//! Tests of `#[metric]` and of composites at run time.

mod composite;
mod documents;
mod file_access;
mod layers;
mod metric;
