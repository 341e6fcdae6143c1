//! Deduplication: a metric that is used in several places of one run is evaluated once per row.

pub mod key;
pub mod memo;
