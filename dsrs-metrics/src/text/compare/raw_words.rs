//! The words of a string before normalization: the parts between ASCII white space.
//!
//! Normalization treats each of them independently of the others.

use super::ascii::{Class, class, eight, is_ascii, length_before_control, word_run};
use super::word_table::{HEAD, Key};

/// A word before normalization.
pub(super) enum RawWord {
    /// A short word in ASCII, in lower case and without punctuation.
    Short(Key),
    /// Another word, and where it starts.
    Other(usize, Key),
}

/// The words of a string in order. A word may be empty.
pub(super) struct RawWords<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> RawWords<'a> {
    #[inline]
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0 }
    }

    /// Returns the next word as it is.
    #[inline(never)]
    fn raw(&self) -> Key {
        let start = self.at;
        let low = eight(self.text, start);
        let mut len = length_before_control(low);
        let mut head = u128::from(low & low_bytes(len));
        if len == 8 {
            let high = eight(self.text, start + 8);
            let more = length_before_control(high);
            head |= u128::from(high & low_bytes(more)) << 64;
            len += more;
        }
        if self.text.get(start + len).is_some_and(|&byte| byte != b' ') {
            let end = self.end_of_long(start + len);
            if len < HEAD {
                // A control character in the head is part of the word.
                head = Key::new(&self.text[start..end]).0.head;
            }
            len = end - start;
        }
        Key { head, len }
    }

    /// Returns the end of a word that is longer than its head or has control characters. It does
    /// not end before `at`.
    #[inline(never)]
    fn end_of_long(&self, mut at: usize) -> usize {
        loop {
            at += length_before_control(eight(self.text, at));
            match self.text.get(at) {
                Some(&byte) if class(byte) == Class::Control => at += 1,
                Some(&byte) if class(byte) != Class::Space => {}
                _ => return at.min(self.text.len()),
            }
        }
    }
}

impl Iterator for RawWords<'_> {
    type Item = RawWord;

    // Inlined, so that the word stays in registers.
    #[inline(always)]
    fn next(&mut self) -> Option<RawWord> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let (lower, mut len) = word_run(eight(self.text, start));
        let mut head = u128::from(lower & low_bytes(len));
        if len == 8 {
            let (lower, more) = word_run(eight(self.text, start + 8));
            head |= u128::from(lower & low_bytes(more)) << 64;
            len += more;
        }
        if len < HEAD && self.text.get(start + len).is_none_or(|&byte| byte == b' ') {
            self.at = start + len + 1;
            return Some(RawWord::Short(Key { head, len }));
        }
        let word = self.raw();
        self.at = start + word.len + 1;
        Some(match without_punctuation(word) {
            Some(token) => RawWord::Short(token),
            None => RawWord::Other(start, word),
        })
    }
}

/// Returns a word in lower case and without punctuation, if it is a short one in ASCII.
#[inline]
fn without_punctuation(word: Key) -> Option<Key> {
    if word.len > HEAD || !is_ascii(word.head as u64 | (word.head >> 64) as u64) {
        return None;
    }
    of_letters(word)
}

/// The same for up to 16 bytes.
#[inline(never)]
fn of_letters(word: Key) -> Option<Key> {
    let mut token = Key { head: 0, len: 0 };
    for chunk in word.head.to_le_bytes()[..word.len].chunks(8) {
        let (lower, letters) = word_run(eight(chunk, 0));
        token.append(lower & low_bytes(letters), letters);
        for &byte in &chunk[letters..] {
            match class(byte) {
                Class::Word => token.append(u64::from(byte.to_ascii_lowercase()), 1),
                Class::Punctuation => {}
                _ => return None,
            }
        }
    }
    Some(token)
}

/// Returns a number in which this many low bytes have all bits set, at most 8.
#[inline]
fn low_bytes(count: usize) -> u64 {
    static MASKS: [u64; 9] = {
        let mut masks = [u64::MAX; 9];
        let mut count = 0;
        while count < 8 {
            masks[count] = !(u64::MAX << (8 * count));
            count += 1;
        }
        masks
    };
    MASKS[count]
}
