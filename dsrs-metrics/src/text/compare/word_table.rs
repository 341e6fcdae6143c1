//! A table of distinct words with a value each. Words of up to 16 bytes are compared as integers.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;

use super::ascii::eight;

/// The bytes of [`Key::head`].
pub(super) const HEAD: usize = 16;

/// Up to this many words are searched one by one, which is faster than hashing.
const FEW: usize = 16;

/// Numbers distinct words from 0 on.
pub(super) struct WordTable<V> {
    words: Vec<Word<V>>,
    /// What the words have after their heads.
    tails: Vec<u8>,
    /// `None` as long as there are few words.
    slots: Option<Slots>,
}

/// A word as integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// The first bytes, the first in the lowest bits, and zeros after the end of the word.
    pub(super) head: u128,
    pub(super) len: usize,
}

struct Word<V> {
    key: Key,
    /// Where its tail starts.
    tail: usize,
    value: V,
}

/// A hash table of the numbers of words plus 1, or 0 in a free slot. A word is in the first slot
/// from its hash on that was free. The length is a power of two, and at least half of the slots are
/// free.
struct Slots {
    numbers: Vec<u32>,
    hasher: RandomState,
}

impl<V> WordTable<V> {
    #[inline]
    pub(super) fn value(&mut self, number: usize) -> &mut V {
        &mut self.words[number].value
    }

    /// A table with memory for this many words.
    pub(super) fn with_capacity(words: usize) -> Self {
        let words = Vec::with_capacity(words);
        let slots = (words.capacity() > FEW).then(|| Slots::new(words.capacity()));
        Self { words, tails: Vec::new(), slots }
    }

    /// Returns the number of a word, which gets `value` if it is new. `tail` has its bytes after
    /// the head.
    #[inline]
    pub(super) fn number(&mut self, key: Key, tail: &[u8], value: impl FnOnce() -> V) -> usize {
        self.find(key, tail).unwrap_or_else(|| self.push(key, tail, value()))
    }

    #[inline]
    pub(super) fn find(&self, key: Key, tail: &[u8]) -> Option<usize> {
        let words = self.words.as_slice();
        let Some(slots) = &self.slots else {
            return words.iter().position(|word| word.is(key, tail, &self.tails));
        };
        let mut slot = slots.first(key, tail);
        loop {
            let number = (slots.numbers[slot] as usize).checked_sub(1)?;
            if words[number].is(key, tail, &self.tails) {
                return Some(number);
            }
            slot = slots.next(slot);
        }
    }

    fn push(&mut self, key: Key, tail: &[u8], value: V) -> usize {
        let number = self.words.len();
        self.words.push(Word { key, tail: self.tails.len(), value });
        if !tail.is_empty() {
            self.tails.extend_from_slice(tail);
        }
        match &mut self.slots {
            Some(slots) if slots.numbers.len() / 2 > number => slots.insert(number, key, tail),
            _ if number >= FEW => self.slots = Some(self.hashed()),
            _ => {}
        }
        number
    }

    /// Returns slots for four times the words.
    #[cold]
    fn hashed(&self) -> Slots {
        let mut slots = Slots::new(4 * self.words.len());
        for (number, word) in self.words.iter().enumerate() {
            slots.insert(number, word.key, word.tail(&self.tails));
        }
        slots
    }
}

impl<V> Word<V> {
    #[inline]
    fn is(&self, key: Key, tail: &[u8], tails: &[u8]) -> bool {
        self.key == key && (tail.is_empty() || self.tail(tails) == tail)
    }

    fn tail<'a>(&self, tails: &'a [u8]) -> &'a [u8] {
        &tails[self.tail..self.tail + self.key.len.saturating_sub(HEAD)]
    }
}

impl Slots {
    /// Free slots for this many words.
    fn new(words: usize) -> Self {
        let numbers = vec![0; (2 * words).next_power_of_two()];
        Self { numbers, hasher: RandomState::default() }
    }

    #[inline]
    fn first(&self, key: Key, tail: &[u8]) -> usize {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u128(key.head);
        if !tail.is_empty() {
            hasher.write(tail);
        }
        hasher.finish() as usize & (self.numbers.len() - 1)
    }

    #[inline]
    fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.numbers.len() - 1)
    }

    fn insert(&mut self, number: usize, key: Key, tail: &[u8]) {
        let mut slot = self.first(key, tail);
        while self.numbers[slot] != 0 {
            slot = self.next(slot);
        }
        self.numbers[slot] = number as u32 + 1;
    }
}

impl Key {
    /// Appends bytes, of which `len` are not zero. There are at most 16 then.
    #[inline]
    pub(super) fn append(&mut self, bytes: u64, len: usize) {
        self.head |= u128::from(bytes).checked_shl(8 * self.len as u32).unwrap_or(0);
        self.len += len;
    }

    /// Whether normalization removes this word in lower case.
    #[inline]
    pub(super) fn is_article_or_empty(self) -> bool {
        // The length is compared too, since a word may end in null characters.
        match self.len {
            0 => true,
            1 => self.head == u128::from(b'a'),
            2 => self.head == u128::from(u16::from_le_bytes(*b"an")),
            3 => self.head == u128::from(u32::from_le_bytes(*b"the\0")),
            _ => false,
        }
    }

    /// Returns the key of a word and its tail.
    pub(super) fn new(word: &[u8]) -> (Self, &[u8]) {
        let head = u128::from(eight(word, 0)) | u128::from(eight(word, 8)) << 64;
        (Self { head, len: word.len() }, word.get(HEAD..).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Key, WordTable};

    #[test]
    fn equal_words_have_the_same_number() {
        let words: Vec<String> = (0..500)
            .flat_map(|n| [format!("{n}"), format!("{n}\0"), format!("{n:016}x{n}"), "y".repeat(n)])
            .collect();
        for capacity in [0, FEW, FEW + 1, 5_000] {
            let mut distinct: Vec<&str> = Vec::new();
            let mut table = WordTable::<usize>::with_capacity(capacity);
            for word in words.iter().chain(&words) {
                let (key, tail) = Key::new(word.as_bytes());
                let number = table.number(key, tail, || 0);
                if number == distinct.len() {
                    distinct.push(word);
                }
                assert_eq!(distinct[number], word);
                *table.value(number) += 1;
            }
            assert_eq!(distinct.len(), 2_000);
            assert!((0..2_000).all(|number| *table.value(number) == 2));
        }
    }
}
