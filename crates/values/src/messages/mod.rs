//! Parts of messages: errors, escaped strings, suggestions for misspelt names, spreadsheet formulas, hashes.

pub mod error;
pub mod escape;
pub mod formula;
pub mod hash;
pub mod suggest;
