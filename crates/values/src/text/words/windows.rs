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
        let Classes {
            spaces,
            words,
            punctuation,
        } = Classes::of(window);
        // The next window starts with the word after the last space, so that no word continues in the next window.
        let (ended, next, long) = match spaces.checked_ilog2() {
            Some(last) => ((1 << last) - 1, last as usize + 1, 0),
            None => {
                let length = first_space(rest);
                (0, length, length)
            }
        };
        let mut left = !with_punctuation(spaces, punctuation) & ended;
        if long > 0 {
            // One word, with any length that is too long for a key.
            left = u64::MAX >> 1;
        }
        let others = !words | long_runs(left);
        while left != 0 {
            // The addition clears the bits of the first word, and sets the bit after it.
            let after = left + (left & left.wrapping_neg());
            let is_simple = is_without(left, after, others);
            let start = left.trailing_zeros() as usize;
            let length = after.trailing_zeros() as usize - start;
            left &= after;
            let bytes = window[start % SEARCHED..]
                .first_chunk()
                .unwrap_or(&[0; LOADED]);
            visit(Word {
                start: at + start,
                length,
                long,
                bytes,
                is_simple,
            });
        }
        at += next;
    }
}

/// Adds punctuation beside spaces and at the start.
#[inline(always)]
fn with_punctuation(mut spaces: u64, punctuation: u64) -> u64 {
    for _ in 0..TRIMMED {
        spaces |= punctuation & (spaces << 1 | spaces >> 1 | 1);
    }
    spaces
}

/// Returns the bytes before 15 others of a run.
#[inline(always)]
fn long_runs(mut runs: u64) -> u64 {
    for shift in [1, 2, 4, 8] {
        runs &= runs >> shift;
    }
    runs
}

/// Whether a word, which has the bits of `left` that are not in `after`, has none of the other bytes.
#[inline(always)]
fn is_without(left: u64, after: u64, others: u64) -> bool {
    left & !after & others == 0
}

/// Returns the length of the part before the first white space.
#[cold]
fn first_space(text: &[u8]) -> usize {
    let (chunks, _) = text.as_chunks();
    let spaces = |chunk: &[u8; 16]| Chunk::new(u128::from_le_bytes(*chunk)).spaces();
    let start = 16 * chunks.iter().take_while(|chunk| spaces(chunk) == 0).count();
    let is_space = |byte: &u8| matches!(class(*byte), Class::Space);
    start
        + text[start..]
            .iter()
            .position(is_space)
            .unwrap_or(text.len() - start)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The words with their positions in the text, by definition.
    fn expected(text: &[u8]) -> Vec<(Range<usize>, bool)> {
        let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ');
        let trimmed = |run: &mut dyn Iterator<Item = &u8>| {
            run.take(TRIMMED)
                .take_while(|byte| byte.is_ascii_punctuation())
                .count()
        };
        let mut end = 0;
        let words = text.split(is_space).filter_map(|word| {
            let start = end;
            end += word.len() + 1;
            let [left, right] = match word.len() < SEARCHED {
                true => [trimmed(&mut word.iter()), trimmed(&mut word.iter().rev())],
                false => [0, 0],
            };
            let inner = word
                .get(left..word.len() - right)
                .filter(|inner| !inner.is_empty())?;
            let is_simple = inner.len() <= 15 && inner.iter().all(u8::is_ascii_alphanumeric);
            Some((start + left..start + left + inner.len(), is_simple))
        });
        words.collect()
    }

    proptest! {
        #[test]
        fn words_are_those_between_spaces_without_two_marks_on_each_side(
            text in prop_oneof![
                "([a-z0-9]{0,18}[ \n\x1c]{0,2}[,.]{0,3}){0,12}",
                "([A-Z]{14,17} ){0,5}|[,. ]{0,4}",
                "( {0,2}[!-~]{55,70}){0,4}",
                "([\"é日a-z]{0,9} {0,3}){0,20}",
            ],
        ) {
            let mut found = Vec::new();
            for_each_word(text.as_bytes(), |word| {
                let loaded = word.range().len().min(LOADED);
                assert_eq!(word.bytes[..loaded], text.as_bytes()[word.range()][..loaded]);
                found.push((word.range(), word.is_simple));
            });
            prop_assert_eq!(found, expected(text.as_bytes()));
        }
    }
}
