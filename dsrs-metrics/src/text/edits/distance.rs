//! Distances between texts and between lists of words: similarities in [0, 1] and error rates.
//!
//! The distances are computed by `rapidfuzz`; what is counted, and what an empty side means, is here.

use serde::{Deserialize, Serialize};

use crate::text::unicode::is_space;
use crate::text::words::{WordIds, split};

/// Which edits a similarity counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EditDistance {
    /// Insertions, deletions and substitutions (Levenshtein 1966); the longer text is the whole.
    #[default]
    Levenshtein,
    /// Insertions and deletions; both texts together are the whole. `rapidfuzz.fuzz.ratio` is this
    /// similarity times 100.
    Indel,
}

impl EditDistance {
    /// One minus the edits as a share of the whole, in [0, 1], over characters (code points).
    ///
    /// Two empty texts are the same: 1. What `rapidfuzz` calls `normalized_similarity`, but rounded once,
    /// so that 17 of 20 is the number 0.85 and a threshold of 0.85 is met.
    ///
    /// ```
    /// use dsrs_metrics::text::EditDistance;
    ///
    /// assert_eq!(EditDistance::Levenshtein.similarity("kitten", "sitting"), 4.0 / 7.0);
    /// assert_eq!(EditDistance::Indel.similarity("kitten", "sitting"), 8.0 / 13.0);
    /// assert_eq!(EditDistance::Indel.similarity("", ""), 1.0);
    /// ```
    #[must_use]
    pub fn similarity(self, prediction: &str, reference: &str) -> f64 {
        let (a, b) = (prediction, reference);
        let whole = self.whole(a.chars().count(), b.chars().count());
        let distance = match self {
            _ if a == b => 0,
            Self::Levenshtein => rapidfuzz::distance::levenshtein::distance(a.chars(), b.chars()),
            Self::Indel => rapidfuzz::distance::indel::distance(a.chars(), b.chars()),
        };
        share_left(distance, whole)
    }

    fn whole(self, length_a: usize, length_b: usize) -> usize {
        match self {
            Self::Levenshtein => length_a.max(length_b),
            Self::Indel => length_a + length_b,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of texts stay far below 2^53")]
pub(super) fn share_left(distance: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { whole.saturating_sub(distance) as f64 / whole as f64 }
}

/// How many edits make the reference of a prediction, and how long the reference is.
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
    /// Substitutions, deletions and insertions.
    pub edits: u64,
    /// Words, or characters, of the reference.
    pub length: u64,
}

impl EditCounts {
    /// Edits between the words of two texts; words are what stands between white space of any kind.
    #[must_use]
    pub fn of_words(prediction: &str, reference: &str) -> Self {
        let mut words = WordIds::default();
        let mut ids = |text| words.ids(split(text));
        let (prediction, reference) = (ids(prediction), ids(reference));
        Self::of(&prediction, &reference)
    }

    /// Edits between the characters (code points) of two texts, white space at their ends left out.
    #[must_use]
    pub fn of_characters(prediction: &str, reference: &str) -> Self {
        let (prediction, reference) =
            (prediction.trim_matches(is_space), reference.trim_matches(is_space));
        let distance =
            |a: &str, b: &str| rapidfuzz::distance::levenshtein::distance(a.chars(), b.chars());
        let edits = if prediction == reference { 0 } else { distance(prediction, reference) };
        Self { edits: edits as u64, length: reference.chars().count() as u64 }
    }

    fn of(prediction: &[u32], reference: &[u32]) -> Self {
        let edits = rapidfuzz::distance::levenshtein::distance(
            prediction.iter().copied(),
            reference.iter().copied(),
        );
        Self { edits: edits as u64, length: reference.len() as u64 }
    }

    /// Edits per word or character of the reference; 0 for the same text, and above 1 where more was
    /// inserted than there is. With an empty reference it is the number of edits, as in `jiwer`: every
    /// word of the prediction is one too many.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "lengths of texts stay far below 2^53")]
    pub fn rate(self) -> f64 {
        self.edits as f64 / self.length.max(1) as f64
    }

    /// The reference with the lowest rate, the first of those; `None` without references.
    #[must_use]
    pub fn best(counts: impl IntoIterator<Item = Self>) -> Option<Self> {
        counts.into_iter().reduce(|best, next| if next.rate() < best.rate() { next } else { best })
    }
}
