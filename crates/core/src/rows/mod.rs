//! Rows, and how metric parameters are read from their fields.

#[doc(hidden)]
pub mod absent;
#[doc(hidden)]
pub mod by_name;
#[doc(hidden)]
pub mod dynamic;
#[doc(hidden)]
pub mod field_error;
#[doc(hidden)]
pub mod field_types;
#[doc(hidden)]
pub mod fields;
pub(crate) mod from_serialize;
#[doc(hidden)]
pub mod inputs;
#[doc(hidden)]
pub mod missing;
#[doc(hidden)]
pub mod named_values;
#[doc(hidden)]
pub mod pair;
mod pointers;
#[doc(hidden)]
pub mod provide;
mod required;
pub(crate) mod text_cell;
