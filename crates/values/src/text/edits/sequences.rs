//! Strings and lists as the sequences of items that `bits` compares: without common ends, ASCII as bytes, other
//! characters as consecutive numbers.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::EditDistance;
use super::bits::{self, Item};

/// The number of ASCII characters.
const ASCII: usize = 128;

impl EditDistance {
    /// Returns the number of edits between the characters of two strings.
    pub(super) fn of_strings(self, a: &str, b: &str) -> usize {
        if a == b {
            return 0;
        }
        let (a, b) = differing_chars(a, b);
        if a.is_ascii() && b.is_ascii() {
            return self.of_items(a.as_bytes(), b.as_bytes(), ASCII);
        }
        let mut numbers = Numbers::default();
        let [a, b] = [a, b].map(|text| {
            let mut items = Vec::with_capacity(text.len());
            items.extend(text.chars().map(|c| numbers.of(c)));
            items
        });
        self.of_items(&a, &b, numbers.len())
    }

    /// Returns the number of edits between two lists of numbers, which are below `numbers`.
    pub(crate) fn of_numbers(self, a: &[u32], b: &[u32], numbers: usize) -> usize {
        let (a, b) = differing(a, b);
        self.of_items(a, b, numbers)
    }

    fn of_items<T: Item>(self, a: &[T], b: &[T], rows: usize) -> usize {
        match self {
            Self::Levenshtein => bits::levenshtein(a, b, rows),
            Self::Indel => a.len() + b.len() - 2 * bits::common_subsequence(a, b, rows),
        }
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

/// Consecutive numbers of characters: ASCII characters have their own.
#[derive(Default)]
pub(in crate::text) struct Numbers(HashMap<char, u32, RandomState>);

impl Numbers {
    #[inline]
    pub(in crate::text) fn of(&mut self, c: char) -> u32 {
        if c.is_ascii() {
            return u32::from(c);
        }
        let next = self.len() as u32;
        *self.0.entry(c).or_insert(next)
    }

    /// Returns the smallest number that is larger than all of them.
    pub(in crate::text) fn len(&self) -> usize {
        ASCII + self.0.len()
    }
}

/// Returns two strings without their common prefix and suffix.
fn differing_chars<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    let mut start = common_start(a.as_bytes().iter(), b.as_bytes().iter());
    // Two different characters may begin with equal bytes.
    while !a.is_char_boundary(start) {
        start -= 1;
    }
    let (a, b) = (&a[start..], &b[start..]);
    let mut end = common_start(a.as_bytes().iter().rev(), b.as_bytes().iter().rev());
    while !a.is_char_boundary(a.len() - end) {
        end -= 1;
    }
    (&a[..a.len() - end], &b[..b.len() - end])
}

/// Returns two lists without their common prefix and suffix.
fn differing<'a, T: PartialEq>(a: &'a [T], b: &'a [T]) -> (&'a [T], &'a [T]) {
    let start = common_start(a.iter(), b.iter());
    let (a, b) = (&a[start..], &b[start..]);
    let end = common_start(a.iter().rev(), b.iter().rev());
    (&a[..a.len() - end], &b[..b.len() - end])
}

/// Returns the number of leading items that are equal.
fn common_start<T: PartialEq>(a: impl Iterator<Item = T>, b: impl Iterator<Item = T>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::{differing, differing_chars};

    #[test]
    fn the_common_beginning_and_end_are_left_out_at_whole_characters() {
        for (a, b, differing) in [
            ("abcd", "axcd", ("b", "x")),
            ("abc", "abc", ("", "")),
            ("aa", "a", ("a", "")),
            ("", "ab", ("", "ab")),
            // é is the bytes C3 A9, è C3 A8, and ũ C5 A9.
            ("aéb", "aèb", ("é", "è")),
            ("aéb", "aũb", ("é", "ũ")),
        ] {
            assert_eq!(differing_chars(a, b), differing, "{a} {b}");
        }
        assert_eq!(
            differing(&[1, 2, 3, 4], &[1, 5, 3, 4]),
            (&[2][..], &[5][..])
        );
    }
}
