//! Deduplication: a metric that is used in several places of one run is evaluated once per row.

#[doc(hidden)]
pub mod key;
#[doc(hidden)]
pub mod memo;
