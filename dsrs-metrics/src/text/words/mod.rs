//! Words of a text: splitting it into words, numbering and counting them, looking for keywords.

mod counts;
mod ids;
mod keywords;

pub use counts::{count_tokens, count_words};
pub(in crate::text) use ids::WordIds;
pub use keywords::Searchable;

use super::unicode::is_space;

/// The words of a text: what stands between white space, as Python's `str.split` has it.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}
