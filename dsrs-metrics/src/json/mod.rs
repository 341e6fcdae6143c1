//! JSON values: nesting depth, equality, duplicate keys, and how a value is named in a message.

pub(crate) mod depth;
pub(crate) mod describe;
pub(crate) mod equality;
pub(crate) mod unique_keys;
