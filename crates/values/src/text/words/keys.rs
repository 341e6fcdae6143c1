//! Words as integers, which are compared and hashed without a look at their bytes.

use std::ops::Range;

use wide::u8x16;

use super::ascii::is_article_or_empty;
use super::chunks::Chunks;
use super::windows::{LOADED, Word};

/// A word of up to 15 bytes: the first in the lowest bits, zeros after the last, and the length in the highest byte.
/// The key of a longer word has its place in [`LongWords`](super::long_words::LongWords) instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::text) struct Key(u128);

/// The lowest bit of each byte.
const EACH: u128 = u128::from_le_bytes([1; 16]);

/// This bit turns an ASCII letter into lower case, and leaves a digit as it is.
pub(super) const LOWER: u128 = EACH << 5;

/// The length in the key of a word of more than 15 bytes.
const LONG: u128 = 0xff << 120;

impl Key {
    /// The key of an empty word.
    pub(super) const EMPTY: Self = Self(0);

    /// The most bytes of a word that is in its key.
    pub(super) const LONGEST: usize = 15;

    /// The key of a word, unless it is too long.
    #[inline]
    pub(in crate::text) fn of(word: &[u8]) -> Option<Self> {
        let is_short = word.len() <= Self::LONGEST;
        is_short.then(|| Self::new(Chunks::new(word).at(0), word.len()))
    }

    /// The word of this length with which the bytes begin.
    #[inline]
    pub(in crate::text) fn new(bytes: u128, length: usize) -> Self {
        let (mask, end) = SHORT[length & 15];
        Self(bytes & mask | end)
    }

    /// A word of ASCII letters and digits, in lower case.
    #[inline]
    pub(in crate::text) fn lower(word: &Word<'_>) -> Self {
        let bytes = word
            .bytes
            .first_chunk()
            .map_or(0, |bytes| u128::from_le_bytes(*bytes));
        Self::new(bytes | LOWER, word.length)
    }

    /// The key of a word of more than 15 bytes, which is at this place.
    pub(super) fn long(place: Range<usize>) -> Self {
        Self(LONG | (place.len() as u128) << 64 | place.start as u128)
    }

    /// Returns the place of a word of more than 15 bytes.
    pub(super) fn place(self) -> Option<Range<usize>> {
        let (start, length) = (self.0 as u64 as usize, ((self.0 & !LONG) >> 64) as usize);
        (self.0 >= LONG).then(|| start..start + length)
    }

    /// Whether the word is an article or empty.
    #[inline]
    pub(in crate::text) fn is_article_or_empty(self) -> bool {
        self.0 >> 120 < 4 && is_article_or_empty(self.0 as u64)
    }
}

/// A word of up to 31 bytes: the bytes, zeros after the last, and the length in the highest byte. Or the [`Key`] of a
/// longer word.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(in crate::text) struct WordKey(u128, u128);

impl WordKey {
    /// The key of a word, unless it is too long.
    pub(super) fn of(word: &[u8]) -> Option<Self> {
        let mut bytes = [0; LOADED];
        bytes.get_mut(..word.len())?.copy_from_slice(word);
        Self::new(&bytes, word.len())
    }

    /// The key of a word of a string, unless it is too long.
    #[inline]
    pub(in crate::text) fn of_word(word: &Word<'_>) -> Option<Self> {
        Self::new(word.bytes, word.length)
    }

    #[inline]
    fn new(bytes: &[u8; LOADED], length: usize) -> Option<Self> {
        let (low, high, end) = MASKS.get(length)?;
        let half = |at: usize| {
            bytes[at..]
                .first_chunk()
                .map_or(0, |half| u128::from_le_bytes(*half))
        };
        Some(Self(half(0) & low, half(16) & high | end))
    }

    /// Whether both are the same word, with two instructions for the bytes of both and a single branch.
    #[inline]
    pub(super) fn is_equal(&self, other: &Self) -> bool {
        let equal = |one: u128, other: u128| {
            u8x16::new(one.to_le_bytes()).simd_eq(u8x16::new(other.to_le_bytes()))
        };
        (equal(self.0, other.0) & equal(self.1, other.1)).all()
    }

    /// Whether the word is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.1 >> 120 == 0
    }

    pub(super) fn long(word: Key) -> Self {
        Self(word.0, LONG)
    }
}

/// The bytes of a word of each length, and the length in the highest byte.
const SHORT: [(u128, u128); 16] = {
    let mut masks = [(0, 0); 16];
    let mut length = 1;
    while length < 16 {
        masks[length] = (u128::MAX >> (128 - 8 * length), (length as u128) << 120);
        length += 1;
    }
    masks
};

/// The bytes of a word of each length in both halves of its [`WordKey`], and the length in the highest byte.
static MASKS: [(u128, u128, u128); 32] = {
    let mut masks = [(0, 0, 0); 32];
    let mut length = 1;
    while length < 32 {
        let low = if length < 16 {
            SHORT[length].0
        } else {
            u128::MAX
        };
        let high = SHORT[length.saturating_sub(16)].0;
        masks[length] = (low, high, (length as u128) << 120);
        length += 1;
    }
    masks
};

#[cfg(test)]
mod tests {
    use super::{Key, WordKey};
    use crate::text::words::for_each_word;

    #[test]
    fn articles_have_up_to_three_letters() {
        for (word, is_article) in [
            ("", true),
            ("a", true),
            ("an", true),
            ("the", true),
            ("The", false),
            ("then", false),
            ("the\0", false),
            ("at", false),
        ] {
            let key = Key::of(word.as_bytes());
            assert_eq!(
                key.map(Key::is_article_or_empty),
                Some(is_article),
                "{word:?}"
            );
        }
    }

    #[test]
    fn keys_of_up_to_31_bytes_are_equal_if_the_words_are() {
        let mut words: Vec<String> = ["", "Paris", "paris", "Pari"].map(str::to_owned).to_vec();
        for length in 0..31 {
            words.extend(["a", "b"].map(|last| "l".repeat(length) + last));
        }
        let keys: Vec<_> = words
            .iter()
            .map(|word| WordKey::of(word.as_bytes()))
            .collect();
        for (word, key) in words.iter().zip(&keys) {
            let key = key.as_ref().unwrap();
            assert_eq!(key.is_empty(), word.is_empty(), "{word:?}");
            for (other, other_key) in words.iter().zip(&keys) {
                let is_equal = key.is_equal(other_key.as_ref().unwrap());
                assert_eq!(is_equal, word == other, "{word:?} {other:?}");
            }
        }
        assert!(WordKey::of("l".repeat(32).as_bytes()).is_none());
    }

    #[test]
    fn a_word_of_a_string_has_the_key_of_the_word_alone() {
        let all: Vec<String> = (1..32).map(|length| "l".repeat(length)).collect();
        let mut words = all.iter();
        for_each_word(all.join(" ").as_bytes(), |word| {
            let alone = words.next().and_then(|word| WordKey::of(word.as_bytes()));
            let is_equal = WordKey::of_word(&word)
                .zip(alone)
                .map(|(key, alone)| key.is_equal(&alone));
            assert_eq!(is_equal, Some(true));
        });
        assert_eq!(words.next(), None);
    }
}
