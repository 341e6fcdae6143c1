//! Utilities for JSON values.
//!
//! This module covers nesting depth, the number of values, equality, duplicate keys, numbers as written, Python lists,
//! dotted paths, field-by-field comparison, and descriptions for messages.

pub mod depth;
pub mod describe;
pub mod equality;
pub mod literal;
pub mod numbers;
pub mod path;
pub mod size;
pub mod structured;
pub mod unique_keys;
pub mod written_scalar;
