//! Edit distances between strings and between lists of words.
//!
//! The module computes similarities in [0, 1] and error rates.
//!
//! The distances come from the `rapidfuzz` crate. This module decides which units are counted and how empty strings are
//! scored.

use rapidfuzz::distance::{indel, lcs_seq, levenshtein};
use serde::{Deserialize, Serialize};

use crate::stats::share;
use crate::text::unicode::is_space;
use crate::text::words::{WordLists, split};

/// The kind of edit distance that a similarity is based on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EditDistance {
    /// The number of insertions, deletions and substitutions.
    ///
    /// The similarity is relative to the length of the longer string (Levenshtein 1966).
    #[default]
    Levenshtein,
    /// The number of insertions and deletions.
    ///
    /// The similarity is relative to the total length of both strings. `rapidfuzz.fuzz.ratio` is this similarity times
    /// 100.
    Indel,
}

impl EditDistance {
    /// Returns the similarity of two strings, in [0, 1].
    ///
    /// The similarity is `1 - edits / length`. Edits and length are counted in characters (code points).
    ///
    /// Two empty strings have a similarity of 1. Apart from rounding, the result is the same as `normalized_similarity`
    /// in `rapidfuzz`.
    ///
    /// ```
    /// use dsrs_metrics::text::EditDistance;
    ///
    /// assert_eq!(EditDistance::Levenshtein.similarity("kitten", "sitting"), 4.0 / 7.0);
    /// assert_eq!(EditDistance::Indel.similarity("kitten", "sitting"), 8.0 / 13.0);
    /// assert_eq!(EditDistance::Indel.similarity("", ""), 1.0);
    /// ```
    pub fn similarity(self, prediction: &str, reference: &str) -> f64 {
        let whole = self.whole(length(prediction), length(reference));
        share_left(self.of_strings(prediction, reference), whole)
    }

    /// Returns the number of character edits between two strings.
    pub(super) fn of_strings(self, a: &str, b: &str) -> usize {
        match (self, a.is_ascii() && b.is_ascii()) {
            _ if a == b => 0,
            (Self::Levenshtein, true) => levenshtein::distance(a.bytes(), b.bytes()),
            (Self::Levenshtein, false) => levenshtein::distance(a.chars(), b.chars()),
            (Self::Indel, true) => indel::distance(a.bytes(), b.bytes()),
            (Self::Indel, false) => indel::distance(a.chars(), b.chars()),
        }
    }

    fn whole(self, length_a: usize, length_b: usize) -> usize {
        match self {
            Self::Levenshtein => length_a.max(length_b),
            Self::Indel => length_a + length_b,
        }
    }
}

pub(super) fn share_left(distance: usize, whole: usize) -> f64 {
    share(whole.saturating_sub(distance) as u64, whole as u64)
}

/// The number of edits between a prediction and its reference.
///
/// Includes the reference's length, so you can compute an error rate.
///
/// ```
/// use dsrs_metrics::text::EditCounts;
///
/// let words = EditCounts::of_words("the cat sit", "the cat sat down");
/// assert_eq!((words.edits, words.length, words.rate()), (2, 4, 0.5));
/// assert_eq!(EditCounts::of_characters("日本人", "日本語").rate(), 1.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditCounts {
    /// The number of substitutions, deletions and insertions.
    pub edits: u64,
    /// The length of the reference, in words or characters.
    pub length: u64,
}

impl EditCounts {
    /// Counts the word edits between two strings.
    ///
    /// Words are separated by any whitespace.
    pub fn of_words(prediction: &str, reference: &str) -> Self {
        WordLists::with(|words| {
            words.add(split(prediction));
            words.add(split(reference));
            words.number();
            let [prediction, reference] = [words.list(0), words.list(1)];
            let (ours, theirs) = (prediction.iter().copied(), reference.iter().copied());
            Self {
                edits: levenshtein::distance(ours, theirs) as u64,
                length: reference.len() as u64,
            }
        })
    }

    /// Counts the character edits between two strings.
    ///
    /// Characters are code points. Whitespace at the start and end of a string is ignored.
    pub fn of_characters(prediction: &str, reference: &str) -> Self {
        let [prediction, reference] = [prediction, reference].map(|it| it.trim_matches(is_space));
        let edits = EditDistance::Levenshtein.of_strings(prediction, reference);
        Self {
            edits: edits as u64,
            length: length(reference) as u64,
        }
    }

    /// Returns the number of edits per word or character in the reference.
    ///
    /// The rate is 0 for equal strings. It is above 1 if there are more edits than words or characters in the
    /// reference.
    ///
    /// If the reference is empty, the rate is the number of edits, as in `jiwer`.
    pub fn rate(self) -> f64 {
        self.edits as f64 / self.length.max(1) as f64
    }

    /// Returns the counts with the lowest error rate.
    ///
    /// If several counts have the same error rate, the first one is returned. Returns `None` if there are no
    /// references.
    pub fn best(counts: impl IntoIterator<Item = Self>) -> Option<Self> {
        let counts = counts.into_iter();
        counts.min_by(|one, other| one.rate().total_cmp(&other.rate()))
    }
}

/// Returns the number of characters.
pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

/// Returns the length of a longest common subsequence.
pub(crate) fn common_subsequence(a: &[u32], b: &[u32]) -> usize {
    lcs_seq::similarity(a.iter().copied(), b.iter().copied())
}

#[cfg(test)]
mod tests;
