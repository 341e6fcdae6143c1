//! Utilities for messages.
//!
//! This module covers errors, escaped strings, suggestions for misspelt names, spreadsheet formulas and hashes.

pub mod error;
pub mod escape;
pub mod formula;
pub mod hash;
pub mod suggest;

/// Returns a count as text with thousands separators, such as `1,190`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}
