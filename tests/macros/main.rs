//! Tests of `#[metric]` and of composites at run time.

mod composite;
mod documents;
mod layers;
mod metric;
