//! What `#[metric]` and composites do at run time.

mod composite;
mod documents;
mod layers;
mod metric;
