//! Words: splitting strings into words, numbering and counting words, searching keywords.

mod counts;
mod ids;
mod keywords;

pub use counts::{count_tokens, count_words};
pub(in crate::text) use ids::WordIds;
pub use keywords::Searchable;

use super::unicode::is_space;

/// Splits a string at white space, as Python's `str.split`.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}
