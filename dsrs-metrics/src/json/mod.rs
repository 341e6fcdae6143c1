//! JSON values: nesting depth, number of values, equality, duplicate keys, numbers as they are written, a scanner that skips values, dotted paths, comparison field
//! by field, and how a value is named in a message.

pub(crate) mod depth;
pub(crate) mod describe;
pub(crate) mod equality;
pub(crate) mod numbers;
pub(crate) mod path;
pub(crate) mod scanner;
pub(crate) mod size;
pub mod structured;
pub(crate) mod unique_keys;
pub(crate) mod written_scalar;
