//! Lists of words. The words are compared as integers and counted as consecutive numbers.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use super::windows::Word;

/// The key of a word. For a word of up to 15 bytes, the key contains the bytes, with the first one in the lowest bits
/// and zeros after the last, and the length in the highest byte. For a longer word, the key is its position among the
/// long words of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::text) struct Key(u128);

/// The highest byte in the key of a word with more than 15 bytes.
const LONG: u128 = 0xff << 120;

impl Key {
    /// The key of an empty word.
    const EMPTY: Self = Self(0);

    /// Creates the word made of the first `length` bytes.
    #[inline]
    fn new(bytes: u128, length: usize) -> Self {
        Self(bytes & !(u128::MAX << (8 * length)) | (length as u128) << 120)
    }

    /// Creates the key of a word, unless it is too long.
    #[inline]
    pub(in crate::text) fn of(word: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        bytes[..15].get_mut(..word.len())?.copy_from_slice(word);
        Some(Self::new(u128::from_le_bytes(bytes), word.len()))
    }

    /// Creates a word of up to 15 ASCII letters and digits, in lower case.
    #[inline]
    pub(in crate::text) fn lower(word: &Word<'_>) -> Self {
        // This bit turns an ASCII letter into lower case, and leaves a digit unchanged.
        const LOWER: u128 = u128::from_le_bytes([0x20; 16]);
        Self::new(u128::from_le_bytes(*word.bytes) | LOWER, word.length)
    }

    /// Returns `true` if a word of ASCII letters and digits is empty, `a`, `an` or `the`.
    #[inline]
    fn is_article_or_empty(self) -> bool {
        const A: u64 = u64::from_le_bytes(*b"a\0\0\0\0\0\0\0");
        const AN: u64 = u64::from_le_bytes(*b"an\0\0\0\0\0\0");
        const THE: u64 = u64::from_le_bytes(*b"the\0\0\0\0\0");
        self.0 >> 120 < 4 && [0, A, AN, THE].contains(&(self.0 as u64))
    }
}

/// Lists of words. Keys and numbers are equal only for equal words.
#[derive(Clone, Debug, Default)]
pub(in crate::text) struct WordLists {
    keys: Vec<Key>,
    /// Where each list ends.
    ends: Vec<usize>,
    /// The words with more than 15 bytes, and their total length in bytes.
    long: IndexSet<Box<[u8]>, RandomState>,
    long_bytes: usize,
    /// The replacement of each word, by [`Replacement`]. It and `long` are kept for the thread's next lists, which
    /// often have the same words.
    replaced: [HashMap<Box<str>, Key, RandomState>; 2],
    numbers: Vec<u32>,
    distinct: usize,
}

/// How words are replaced.
#[derive(Clone, Copy)]
pub(in crate::text) enum Replacement {
    /// Replaces a word with its normalized form in the `Dspy` profile.
    Normalized,
    /// Replaces a word with its stem.
    Stem,
}

thread_local! {
    /// Memory for the next lists of this thread.
    static SPARE: Cell<Option<Box<WordLists>>> = const { Cell::new(None) };
}

/// If the lists have more words than this, their memory is not kept.
const MAX_KEPT: usize = 10_000;

/// More replaced words than this are not kept, nor are words longer than [`MAX_REPLACED_BYTES`].
const MAX_REPLACED: usize = 4_096;
const MAX_REPLACED_BYTES: usize = 64;

/// Long words with more bytes than this in total are not kept.
const MAX_LONG_BYTES: usize = 1 << 17;

impl WordLists {
    /// Calls `compute` with empty lists.
    #[inline]
    pub(in crate::text) fn with<T>(compute: impl FnOnce(&mut Self) -> T) -> T {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut lists = spare.unwrap_or_default();
        let result = compute(&mut lists);
        if lists.keys.capacity() <= MAX_KEPT {
            lists.clear();
            // When a thread ends, its variables no longer exist.
            _ = SPARE.try_with(|spare| spare.set(Some(lists)));
        }
        result
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.ends.clear();
        let is_full = |replaced: &HashMap<_, _, _>| replaced.len() > MAX_REPLACED;
        if self.replaced.iter().any(is_full) || self.long_bytes > MAX_LONG_BYTES {
            *self = Self::default();
        }
    }

    /// Adds a list of words.
    pub(in crate::text) fn add<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        for word in words {
            let key = self.key_of(word.as_bytes());
            self.keys.push(key);
        }
        self.end_list();
    }

    /// Adds a word of ASCII letters and digits in lower case to the current list, unless it is an article.
    #[inline]
    pub(in crate::text) fn push_token(&mut self, word: &Word<'_>) {
        let key = Key::lower(word);
        if !key.is_article_or_empty() {
            self.keys.push(key);
        }
    }

    /// Replaces a word with the string that `replace` returns, and adds the words in this string. `replace` is called
    /// only once for equal words, unless it returns several words.
    pub(in crate::text) fn push_replaced(
        &mut self,
        by: Replacement,
        word: &str,
        replace: impl FnOnce(&str) -> String,
    ) {
        if let Some(replaced) = self.replaced[by as usize].get(word) {
            self.keys
                .extend((*replaced != Key::EMPTY).then_some(*replaced));
            return;
        }
        let start = self.keys.len();
        for replaced in replace(word).split(' ').filter(|word| !word.is_empty()) {
            let key = self.key_of(replaced.as_bytes());
            self.keys.push(key);
        }
        if let [] | [_] = self.keys[start..]
            && word.len() <= MAX_REPLACED_BYTES
        {
            let replaced = self.keys.get(start).copied().unwrap_or(Key::EMPTY);
            self.replaced[by as usize].insert(word.into(), replaced);
        }
    }

    /// Adds a copy of a list.
    pub(in crate::text) fn repeat(&mut self, at: usize) {
        self.keys.extend_from_within(self.range(at));
        self.end_list();
    }

    /// Ends the current list.
    pub(in crate::text) fn end_list(&mut self) {
        self.ends.push(self.keys.len());
    }

    /// Returns the key of a word.
    #[inline]
    fn key_of(&mut self, word: &[u8]) -> Key {
        Key::of(word).unwrap_or_else(|| self.long_key_of(word))
    }

    fn long_key_of(&mut self, word: &[u8]) -> Key {
        let place = self.long.get_index_of(word).unwrap_or_else(|| {
            self.long_bytes += word.len();
            self.long.insert_full(word.into()).0
        });
        Key(LONG | place as u128)
    }

    /// Numbers the words in order of their first occurrence. Equal words have equal numbers.
    pub(in crate::text) fn number(&mut self) {
        let mut numbers =
            HashMap::with_capacity_and_hasher(self.keys.len(), RandomState::default());
        let mut number_of = |key| {
            let next = numbers.len() as u32;
            *numbers.entry(key).or_insert(next)
        };
        self.numbers.clear();
        self.numbers.extend(self.keys.iter().map(&mut number_of));
        self.distinct = numbers.len();
    }

    /// Returns the number of distinct words. All words have smaller numbers.
    pub(in crate::text) fn distinct(&self) -> usize {
        self.distinct
    }

    /// Returns the number of lists.
    pub(in crate::text) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the words in a list.
    pub(in crate::text) fn keys(&self, at: usize) -> &[Key] {
        &self.keys[self.range(at)]
    }

    /// Returns the numbers of the words in a list.
    pub(in crate::text) fn list(&self, at: usize) -> &[u32] {
        &self.numbers[self.range(at)]
    }

    fn range(&self, at: usize) -> Range<usize> {
        at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]
    }

    /// Returns the numbers of the words in each list.
    pub(in crate::text) fn lists(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|at| self.list(at))
    }
}

#[cfg(test)]
mod tests;
