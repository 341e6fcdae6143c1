//! Rows, and how metric parameters are read from their fields.

pub mod by_name;
pub mod dynamic;
mod entries;
pub mod field_error;
pub mod field_types;
pub mod fields;
pub mod inputs;
pub mod missing;
pub mod named_values;
pub mod pair;
pub mod provide;
pub(crate) mod text_cell;
