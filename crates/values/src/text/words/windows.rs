//! Words between white space, found in windows of 64 bytes.

use std::ops::Range;

use super::ascii::{Class, class};
use super::chunks::Chunk;

/// A word without most of the punctuation around it.
#[derive(Clone, Copy)]
pub(in crate::text) struct Word<'w> {
    start: usize,
    pub(in crate::text) length: usize,
    /// The length of a word that fills its window, else 0. A maximum with `length` for each word would take 2% of F1.
    long: usize,
    /// The first bytes, and bytes after the word.
    pub(super) bytes: &'w [u8; LOADED],
    /// Whether the word has up to 15 bytes, which are ASCII letters and digits.
    pub(in crate::text) is_simple: bool,
}

impl Word<'_> {
    /// Returns the position in the string.
    pub(in crate::text) fn range(&self) -> Range<usize> {
        self.start..self.start + usize::max(self.length, self.long)
    }
}

/// The bytes that are searched for words at once.
const SEARCHED: usize = 64;

/// The bytes of a word that are read at once.
pub(super) const LOADED: usize = 32;

type Window = [u8; SEARCHED + LOADED];

/// More punctuation on a side of a word is not removed.
const TRIMMED: usize = 2;

/// Calls `visit` with each word between ASCII white space. Words are not empty.
// Inlined, so that the fields of a word stay in registers.
#[inline(always)]
pub(in crate::text) fn for_each_word(text: &[u8], mut visit: impl FnMut(Word<'_>)) {
    let mut padded: Window;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let window = if let Some(window) = rest.first_chunk() {
            window
        } else {
            padded = [b' '; _];
            padded[..rest.len()].copy_from_slice(rest);
            &padded
        };
        let Classes { mut spaces, words, punctuation } = Classes::of(window);
        // The next window starts with the word after the last space, so that no word continues in the next window.
        let (ended, next, long) = match spaces.checked_ilog2() {
            Some(last) => ((1 << last) - 1, last as usize + 1, 0),
            None => {
                let length = first_space(rest);
                (0, length, length)
            }
        };
        for _ in 0..TRIMMED {
            spaces |= punctuation & (spaces << 1 | spaces >> 1 | 1);
        }
        let mut left = !spaces & ended;
        if long > 0 {
            // One word, with any length that is too long for a key.
            left = u64::MAX >> 1;
        }
        // The bytes before 15 others of a word.
        let mut long_runs = left & left >> 1;
        for shift in [2, 4, 8] {
            long_runs &= long_runs >> shift;
        }
        let others = !words | long_runs;
        while left != 0 {
            // The addition clears the bits of the first word, and sets the bit after it.
            let after = left + (left & left.wrapping_neg());
            let is_simple = left & !after & others == 0;
            let start = left.trailing_zeros() as usize;
            let length = after.trailing_zeros() as usize - start;
            left &= after;
            let bytes = window[start % SEARCHED..].first_chunk().unwrap_or(&[0; LOADED]);
            visit(Word { start: at + start, length, long, bytes, is_simple });
        }
        at += next;
    }
}

/// Returns the length of the part before the first white space.
#[cold]
fn first_space(text: &[u8]) -> usize {
    let (chunks, _) = text.as_chunks();
    let spaces = |chunk: &[u8; 16]| Chunk::new(u128::from_le_bytes(*chunk)).spaces();
    let start = 16 * chunks.iter().take_while(|chunk| spaces(chunk) == 0).count();
    let is_space = |byte: &u8| class(*byte) == Class::Space;
    start + text[start..].iter().position(is_space).unwrap_or(text.len() - start)
}

/// The classes of 64 bytes as masks: bit 0 is the first byte.
#[derive(Clone, Copy, Default)]
struct Classes {
    spaces: u64,
    /// Letters and digits.
    words: u64,
    punctuation: u64,
}

impl Classes {
    #[inline]
    fn of(window: &Window) -> Self {
        let mut all = Self::default();
        for (at, bytes) in window[..SEARCHED].as_chunks().0.iter().enumerate() {
            let chunk = Chunk::new(u128::from_le_bytes(*bytes));
            let words = chunk.words();
            all.spaces |= chunk.spaces() << (16 * at);
            all.words |= words << (16 * at);
            all.punctuation |= (chunk.visible() ^ words) << (16 * at);
        }
        all
    }
}
