//! Parts of messages: escaped strings, suggestions for misspelt names, formulas of spreadsheets, hashes.

pub mod escape;
pub mod formula;
pub mod hash;
pub mod suggest;
