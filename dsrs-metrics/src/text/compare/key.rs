//! Short words as integers, which are compared and hashed without a look at their bytes.

use super::ascii::eight;
use super::chunk::Chunk;

/// A word of up to 15 bytes: the first in the lowest bits, and zeros after the last. The highest
/// byte is the length and the [`Kind`]. Equal keys of one kind are equal words, unless they are long.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Key(u128);

/// What a key contains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A normalized word.
    Token,
    /// A word that is not normalized.
    Raw,
    /// A word that is not in the key, but where it starts and its length.
    Long(usize, usize),
}

/// The lowest bit of each byte.
const EACH: u128 = u128::from_le_bytes([1; 16]);

const RAW: u128 = 0x80 << 120;
const LONG: u128 = 0xff << 120;

impl Key {
    /// The most bytes of a word.
    pub(super) const LONGEST: usize = 15;

    /// A word of ASCII letters and digits, with which the bytes begin.
    #[inline]
    pub(super) fn letters(bytes: u128, length: usize) -> Self {
        let (mask, end) = SHORT[length & 15];
        Self((bytes | EACH << 5) & mask | end)
    }

    /// A word with other bytes. It is normalized if it is in ASCII and has no control characters.
    #[inline]
    pub(super) fn of_other(bytes: u128, length: usize) -> Self {
        let (mask, end) = SHORT[length & 15];
        let raw = bytes & mask | end | RAW;
        if bytes & mask & EACH << 7 != 0 {
            return Self(raw);
        }
        without_punctuation(bytes, length).unwrap_or(Self(raw))
    }

    /// A word of more than 15 bytes.
    #[inline]
    pub(super) fn long(start: usize, length: usize) -> Self {
        Self(start as u128 | (length as u128) << 64 | LONG)
    }

    /// A normalized word, unless it is too long.
    pub(super) fn normalized(word: &[u8]) -> Option<Self> {
        let head = u128::from(eight(word, 0)) | u128::from(eight(word, 8)) << 64;
        SHORT.get(word.len()).map(|(_, end)| Self(head | end))
    }

    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self.0 >> 120 {
            0xff => Kind::Long(self.0 as u64 as usize, (self.0 >> 64) as usize & (usize::MAX >> 8)),
            0x80.. => Kind::Raw,
            _ => Kind::Token,
        }
    }

    /// Whether the word is not in the key.
    #[inline]
    pub(super) fn is_long(self) -> bool {
        self.0 >= LONG
    }

    /// Whether normalization removes this word, which is normalized.
    #[inline]
    pub(super) fn is_article_or_empty(self) -> bool {
        // No other word has the bytes of the entry of its length, which are not UTF-8.
        let [low, high] = self.halves();
        ARTICLES[(high >> 56) as usize & 15] == low
    }

    /// Returns the bytes of the word and its length.
    pub(super) fn word(self) -> ([u8; 16], usize) {
        let bytes = self.0.to_le_bytes();
        (bytes, usize::from(bytes[15] & 15))
    }

    /// Both halves of the integer.
    #[inline]
    pub(super) fn halves(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    #[inline]
    pub(super) fn of_halves([low, high]: [u64; 2]) -> Self {
        Self(u128::from(low) | u128::from(high) << 64)
    }
}

/// Returns a word in ASCII in lower case and without punctuation. `None` if it has control
/// characters.
#[inline(never)]
fn without_punctuation(bytes: u128, length: usize) -> Option<Key> {
    let chunk = Chunk::new(bytes);
    let all = (1 << length) - 1;
    if chunk.visible() & all != all {
        return None;
    }
    let lower = bytes | EACH << 5;
    let (mut left, mut token, mut kept) = (chunk.words() & all, 0, 0);
    while left != 0 {
        let start = left.trailing_zeros() as usize;
        let run = (!(left >> start)).trailing_zeros() as usize;
        token |= (lower >> (8 * start) & SHORT[run & 15].0) << (8 * kept);
        kept += run;
        left &= left + (1 << start);
    }
    Some(Key(token | SHORT[kept & 15].1))
}

/// The article with each number of letters.
static ARTICLES: [u64; 16] = {
    let mut articles = [u64::MAX; 16];
    articles[0] = 0;
    articles[1] = u64::from_le_bytes(*b"a\0\0\0\0\0\0\0");
    articles[2] = u64::from_le_bytes(*b"an\0\0\0\0\0\0");
    articles[3] = u64::from_le_bytes(*b"the\0\0\0\0\0");
    articles
};

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
