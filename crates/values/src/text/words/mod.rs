//! Words: splitting strings into words, words as integers, counting words, searching keywords.

pub(in crate::text) mod ascii;
mod chunks;
mod counts;
mod keys;
mod keywords;
mod lists;
mod long_words;
mod replaced;
mod runs;
mod windows;

use std::ops::Range;

pub use counts::{count_tokens, count_words};
pub(in crate::text) use keys::{Key, WordKey};
pub use keywords::Searchable;
pub(in crate::text) use lists::{Replacement, WordLists};
pub(in crate::text) use runs::for_each_run;
pub(in crate::text) use windows::for_each_word;

use super::unicode::is_space;

/// Splits a string at white space, as Python's `str.split`.
#[doc(hidden)]
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Returns the positions of the words between separators.
pub(in crate::text) fn split_ranges(
    text: &str,
    is_separator: impl Fn(char) -> bool + Copy,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    let ranges = text.split_inclusive(is_separator).map(move |piece| {
        let start = at;
        at += piece.len();
        start..start + piece.trim_end_matches(is_separator).len()
    });
    ranges.filter(|range| !range.is_empty())
}
