//! Words: splitting strings into words, words as integers, counting words, searching for keywords.

mod keywords;
mod lists;
mod windows;

pub use keywords::Searchable;
pub use keywords::{count_tokens, count_words};
pub(in crate::text) use lists::{Key, Replacement, WordLists};
pub(in crate::text) use windows::for_each_word;

use super::unicode::is_space;

/// Splits a string at whitespace, like Python's `str.split()`.
#[doc(hidden)]
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}
