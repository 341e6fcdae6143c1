//! Rows, and how metric parameters are read from their fields.

pub(crate) mod by_name;
pub(crate) mod dynamic;
mod entries;
pub(crate) mod fields;
pub(crate) mod from_serialize;
pub(crate) mod inputs;
pub(crate) mod pair;
mod pointers;
pub(crate) mod provide;
pub(crate) mod text_cell;
pub(crate) mod typed;
