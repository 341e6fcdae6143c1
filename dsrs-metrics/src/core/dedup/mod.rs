//! Deduplication: a metric that is used in several places of one run is evaluated once per row.

pub(crate) mod key;
pub(crate) mod memo;
pub(crate) mod shared_answer;
