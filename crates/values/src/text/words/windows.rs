//! Finds the words between white space, 64 bytes at a time.

use std::ops::Range;

use wide::i8x16;

/// A word without most of the punctuation around it.
#[derive(Clone, Copy)]
pub(in crate::text) struct Word<'w> {
    start: usize,
    pub(super) length: usize,
    /// The first bytes of the word, and bytes after it.
    pub(super) bytes: &'w [u8; LOADED],
    /// `true` if the word consists of up to 15 ASCII letters and digits.
    pub(in crate::text) is_simple: bool,
}

impl Word<'_> {
    /// Returns the word's position in the string.
    pub(in crate::text) fn range(&self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

/// How many bytes are searched for words at once.
const SEARCHED: usize = 64;

/// How many bytes of a word are read at once.
const LOADED: usize = 16;

type Window = [u8; SEARCHED + LOADED];

/// How much punctuation is removed from each side of a word.
const TRIMMED: usize = 2;

/// Calls `visit` with each word between ASCII white space. Words are never empty.
// Inlined, so a word's fields stay in registers.
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
        let Some(last) = spaces.checked_ilog2() else {
            // A word that fills the window.
            let length = first_space(rest);
            visit(Word {
                start: at,
                length,
                bytes: &[0; LOADED],
                is_simple: false,
            });
            at += length;
            continue;
        };
        // The next window starts with the word after the last space, so no word crosses windows.
        let mut left = !with_punctuation(spaces, punctuation) & ((1 << last) - 1);
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
                bytes,
                is_simple,
            });
        }
        at += last as usize + 1;
    }
}

/// Adds punctuation next to spaces and at the start.
#[inline(always)]
fn with_punctuation(mut spaces: u64, punctuation: u64) -> u64 {
    for _ in 0..TRIMMED {
        spaces |= punctuation & (spaces << 1 | spaces >> 1 | 1);
    }
    spaces
}

/// Returns the bytes of a run that precede 15 others.
#[inline(always)]
fn long_runs(mut runs: u64) -> u64 {
    for shift in [1, 2, 4, 8] {
        runs &= runs >> shift;
    }
    runs
}

/// Returns `true` if a word, which has the bits of `left` that are not in `after`, has none of the other bytes.
#[inline(always)]
fn is_without(left: u64, after: u64, others: u64) -> bool {
    left & !after & others == 0
}

/// Returns the length of the part before the first white space.
#[cold]
fn first_space(text: &[u8]) -> usize {
    let is_space = |byte: &u8| matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ');
    text.iter().position(is_space).unwrap_or(text.len())
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
        for (at, bytes) in window[..SEARCHED]
            .as_chunks::<LOADED>()
            .0
            .iter()
            .enumerate()
        {
            // Uses a loop, because a call to `map` is not inlined.
            let mut signed = [0; LOADED];
            for (signed, byte) in signed.iter_mut().zip(bytes) {
                *signed = byte.cast_signed();
            }
            let bytes = i8x16::new(signed);
            // In lower case, all letters are in one range.
            let lower = bytes | i8x16::splat(0x20);
            let words = in_range(lower, b'a', b'z') | in_range(bytes, b'0', b'9');
            let spaces = in_range(bytes, b'\t', b'\r') | in_range(bytes, 0x1c, b' ');
            let mask = |bytes: i8x16| u64::from(bytes.to_bitmask()) << (16 * at);
            all.spaces |= mask(spaces);
            all.words |= mask(words);
            all.punctuation |= mask(in_range(bytes, b'!', b'~') ^ words);
        }
        all
    }
}

/// Compares signed numbers in a single instruction, after the addition has made `last` the largest. Non-ASCII bytes are
/// in no range.
#[inline]
fn in_range(bytes: i8x16, first: u8, last: u8) -> i8x16 {
    let largest = i8::MAX.cast_unsigned();
    let shifted = bytes + i8x16::splat((largest - last).cast_signed());
    shifted.simd_gt(i8x16::splat((largest - (last - first) - 1).cast_signed()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the words and their positions, by definition.
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
                if word.is_simple {
                    assert_eq!(word.bytes[..word.length], text.as_bytes()[word.range()]);
                }
                found.push((word.range(), word.is_simple));
            });
            prop_assert_eq!(found, expected(text.as_bytes()));
        }
    }
}
