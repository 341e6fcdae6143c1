//! JSON values: nesting depth, number of values, equality, duplicate keys, numbers as they are written, lists as Python writes them,
//! dotted paths, comparison field by field, and how a value is named in a message.

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
