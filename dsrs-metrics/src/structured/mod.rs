//! Structured values compared field by field: which fields of an extraction are right.
//!
//! Pure functions of JSON values; the metric over rows is elsewhere. Fields are named by their path as a
//! JSON pointer (RFC 6901), in which `*` stands for any place of a list: `/items/*/price`.

mod compare;
mod leaves;
mod pairing;

pub use compare::{FieldCounts, FieldOptions, FieldReport};
pub use pairing::ListOrder;
