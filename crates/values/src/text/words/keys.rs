//! Words as integers, which are compared and hashed without a look at their bytes.

use super::ascii::is_article_or_empty;
use super::chunks::{Chunk, Chunks};

/// A word of up to 15 bytes: the first in the lowest bits, zeros after the last, and the length in the highest byte.
/// The key of a longer word is a number instead, which [`WordLists`](super::WordLists) assigns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::text) struct Key(u128);

/// The lowest bit of each byte.
const EACH: u128 = u128::from_le_bytes([1; 16]);

/// This bit turns an ASCII letter into lower case, and leaves a digit as it is.
pub(super) const LOWER: u128 = EACH << 5;

/// The length in the key of a word of more than 15 bytes.
const LONG: u128 = 0xff << 120;

impl Key {
    /// The most bytes of a word that is in its key.
    pub(in crate::text) const LONGEST: usize = 15;

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

    /// The same word of ASCII letters and digits, in lower case.
    #[inline]
    pub(in crate::text) fn lower(bytes: u128, length: usize) -> Self {
        Self::new(bytes | LOWER, length)
    }

    /// The word of this length in lower case and without punctuation. `None` if it has other characters than letters,
    /// digits and punctuation in ASCII.
    #[inline]
    pub(in crate::text) fn without_punctuation(bytes: u128, length: usize) -> Option<Self> {
        // A single operation for most words in other scripts.
        if bytes & SHORT[length & 15].0 & EACH << 7 != 0 {
            return None;
        }
        let chunk = Chunk::new(bytes);
        let all = (1 << length) - 1;
        if chunk.visible() & all != all {
            return None;
        }
        let lower = bytes | LOWER;
        let (mut left, mut token, mut kept) = (chunk.words() & all, 0, 0);
        while left != 0 {
            let start = left.trailing_zeros() as usize;
            let run = (!(left >> start)).trailing_zeros() as usize;
            token |= (lower >> (8 * start) & SHORT[run & 15].0) << (8 * kept);
            kept += run;
            left &= left + (1 << start);
        }
        Some(Self::new(token, kept))
    }

    /// The key of a word of more than 15 bytes.
    pub(super) fn long(number: usize) -> Self {
        Self(LONG | number as u128)
    }

    /// Whether the word is an article or empty.
    #[inline]
    pub(in crate::text) fn is_article_or_empty(self) -> bool {
        self.0 >> 120 < 4 && is_article_or_empty(self.0 as u64)
    }
}

/// The bytes of a word of each length, and the length in the highest byte.
static SHORT: [(u128, u128); 16] = {
    let mut masks = [(0, 0); 16];
    let mut length = 1;
    while length < 16 {
        masks[length] = (u128::MAX >> (128 - 8 * length), (length as u128) << 120);
        length += 1;
    }
    masks
};
