//! Exact match in the `Dspy` profile, which stops at the first difference.

use super::normalizer::{STEP, Writer, normalize};
use crate::text::unicode::Lowered;
use crate::text::words::ascii::{Class, class, common_prefix};

/// The longest normalized word that is compared by itself.
const LONGEST: usize = 64;

type Word = [u8; LONGEST + STEP];

/// Whether two strings are equal after normalization.
///
/// White space in ASCII separates words that are normalized independently of each other, so equal
/// words at the beginning do not change the result of the rest.
pub(super) fn same(mut left: &str, mut right: &str) -> bool {
    let (mut left_word, mut right_word): (Word, Word) = ([0; _], [0; _]);
    loop {
        let equal = equal_prefix(left, right);
        if let Some(left_end) = word_end(left, equal)
            && let Some(right_end) = word_end(right, equal)
        {
            (left, right) = (&left[left_end..], &right[right_end..]);
            if left.is_empty() && right.is_empty() {
                return true;
            }
            if left_end + right_end > 0 {
                continue;
            }
        }
        // The words that have ended.
        let is_space = |byte: &u8| class(*byte) == Class::Space;
        let equal = left.as_bytes()[..equal]
            .iter()
            .rposition(is_space)
            .map_or(0, |at| at + 1);
        (left, right) = (&left[equal..], &right[equal..]);
        let words = (
            first_word(left, &mut left_word),
            first_word(right, &mut right_word),
        );
        let (Some((one, after_left)), Some((other, after_right))) = words else {
            break;
        };
        if one != other {
            // A word may contain other white space, and then more words than its counterpart.
            let shorter = one.len().min(other.len());
            if shorter == 0 || one[..shorter] != other[..shorter] {
                return false;
            }
            break;
        }
        (left, right) = (after_left, after_right);
    }
    normalize(left) == normalize(right)
}

/// Returns the end of the word from `at` on, if only punctuation is left of it.
#[inline]
fn word_end(text: &str, at: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[at..];
    let length = bytes
        .iter()
        .take_while(|byte| class(**byte) == Class::Punctuation)
        .count();
    let is_end = bytes
        .get(length)
        .is_none_or(|byte| class(*byte) == Class::Space);
    is_end.then_some(at + length)
}

/// Returns the length of the characters at the beginning that differ at most in the case of letters.
fn equal_prefix(left: &str, right: &str) -> usize {
    let (ones, others) = (left.as_bytes(), right.as_bytes());
    let mut equal = 0;
    loop {
        equal += common_prefix(&ones[equal..], &others[equal..]);
        let is_over = |bytes: &[u8]| bytes.get(equal).is_none_or(u8::is_ascii);
        if is_over(ones) || is_over(others) {
            break;
        }
        // The first bytes of the characters may be equal. The characters begin at the same place.
        while !left.is_char_boundary(equal) {
            equal -= 1;
        }
        match equal_chars(&left[equal..], &right[equal..]) {
            0 => break,
            length => equal += length,
        }
    }
    equal
}

/// Returns the length of the characters at the beginning that are outside of ASCII, as long on both sides, and normalized
/// equally.
fn equal_chars(left: &str, right: &str) -> usize {
    let is_equal = |(one, other): &(char, char)| {
        let is_copy = || Lowered::of(*one).is_copy_of(Lowered::of(*other));
        !one.is_ascii() && (one == other || one.len_utf8() == other.len_utf8() && is_copy())
    };
    left.chars()
        .zip(right.chars())
        .take_while(is_equal)
        .map(|(one, _)| one.len_utf8())
        .sum()
}

/// Returns the first word that is not empty after normalization, or an empty word, and the rest of the
/// string. `None` if the word is too long.
fn first_word<'a, 'b>(mut text: &'a str, buffer: &'b mut Word) -> Option<(&'b [u8], &'a str)> {
    loop {
        let space = text.bytes().position(|byte| class(byte) == Class::Space);
        let (word, rest) = text.split_at(space.map_or(text.len(), |space| space + 1));
        let mut writer = Writer::new(buffer);
        if writer.fill(word, 0) < word.len() {
            return None;
        }
        let length = writer.finish();
        if length > 0 || rest.is_empty() {
            return Some((&buffer[..length], rest));
        }
        text = rest;
    }
}
