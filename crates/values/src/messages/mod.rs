//! Parts of messages: errors, escaped strings, suggestions for misspelt names, formulas of spreadsheets, hashes.

pub mod error;
pub mod escape;
pub mod formula;
pub mod hash;
pub mod suggest;
