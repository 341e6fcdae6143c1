//! Parts of messages: escaped strings, suggestions for misspelt names, formulas of spreadsheets, hashes, rounded numbers.

pub mod decimals;
pub mod escape;
pub mod formula;
pub mod hash;
pub mod suggest;
