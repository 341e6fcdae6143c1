//! The tokens of a normalized string.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use super::Profile;
use super::ascii::{eight, length_before_space};
use crate::text::unicode::piece_ranges;

/// Strings of up to this many tokens need no allocation.
pub(super) type Tokens = SmallVec<[Token; 12]>;

/// A token as a byte range of a normalized string.
///
/// `u32` saves memory. Tokens beyond 4 GiB are empty; the comparison of whole strings is not
/// affected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The whole token and its length if it is shorter than 8 bytes, otherwise how it begins.
    key: u64,
    start: u32,
    end: u32,
}

/// The last byte of the key of a token that the key does not contain.
const LONG: u64 = 0xff << 56;

impl Token {
    /// The token from `start` to `end`. `first` is what `eight` returns for its start.
    #[inline]
    fn new(first: u64, start: usize, end: usize) -> Self {
        let key = match end - start {
            length @ 0..8 => first & !(u64::MAX << (8 * length)) | (length as u64) << 56,
            _ => first | LONG,
        };
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { key, start: position(start), end: position(end) }
    }

    pub(super) fn str(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    pub(super) fn of(self, text: &[u8]) -> TokenOf<'_> {
        let bytes = text.get(self.start as usize..self.end as usize).unwrap_or_default();
        TokenOf { key: self.key, bytes }
    }
}

/// A token and its bytes. Short tokens are compared by one comparison of integers.
#[derive(Clone, Copy)]
pub(super) struct TokenOf<'a> {
    key: u64,
    pub(super) bytes: &'a [u8],
}

impl PartialEq for TokenOf<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && (self.key < LONG || self.bytes == other.bytes)
    }
}

impl Eq for TokenOf<'_> {}

impl Hash for TokenOf<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.key < LONG {
            state.write_u64(self.key);
        } else {
            state.write(self.bytes);
        }
    }
}

/// Splits a normalized string into tokens.
///
/// In the `Dspy` profile tokens are separated by spaces. In the others each letter of a script
/// without spaces is a token too, together with the combining marks that follow it.
pub(super) fn tokens(profile: Profile, normalized: &str) -> Tokens {
    let text = normalized.as_bytes();
    if profile == Profile::Dspy || normalized.is_ascii() {
        let mut out = Tokens::new();
        words(text, &mut out);
        return out;
    }
    let mut out = Tokens::new();
    let mut at = 0;
    for word in normalized.split(' ').filter(|word| !word.is_empty()) {
        let pieces = piece_ranges(word);
        out.extend(pieces.map(|range| {
            let (start, end) = (at + range.start, at + range.end);
            Token::new(eight(text, start), start, end)
        }));
        // A normalized string has exactly one space between words.
        at += word.len() + 1;
    }
    out
}

/// Splits a normalized string at its spaces.
pub(super) fn words(text: &[u8], out: &mut Tokens) {
    out.clear();
    let mut start = 0;
    while start < text.len() {
        let first = eight(text, start);
        let mut length = length_before_space(first);
        let mut end = start + length;
        while length == 8 && end < text.len() {
            length = length_before_space(eight(text, end));
            end += length;
        }
        let end = end.min(text.len());
        out.push(Token::new(first, start, end));
        start = end + 1;
    }
}
