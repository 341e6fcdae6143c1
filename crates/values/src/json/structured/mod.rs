//! Comparison of structured values field by field, for extraction tasks.
//!
//! The path of a field is a JSON pointer (RFC 6901) in which `*` matches any index of a list:
//! `/items/*/price`. The metric over rows in `dsrs_metrics::metrics::structured` is
//! built on this module.

mod compare;
mod leaves;
mod pairing;

pub use compare::{FieldCounts, FieldOptions, FieldReport};
pub use pairing::ListOrder;
