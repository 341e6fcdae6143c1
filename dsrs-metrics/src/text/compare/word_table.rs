//! A table from short words to numbers.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;

use super::key::Key;

/// A hash table. A word is in the first slot from its hash on that was free. The number of slots
/// is a power of two, and at least half of them are free.
pub(super) struct WordTable {
    slots: Vec<Slot>,
    words: usize,
    hasher: RandomState,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// Two halves, since a `u128` would need more memory.
    key: [u64; 2],
    /// The number plus 1, or 0 in a free slot.
    number: u32,
}

impl WordTable {
    /// A table with memory for this many words.
    pub(super) fn with_capacity(words: usize) -> Self {
        let slots = vec![Slot::default(); (2 * words).next_power_of_two().max(2)];
        Self { slots, words: 0, hasher: RandomState::default() }
    }

    /// Returns the number of a word.
    #[inline]
    pub(super) fn find(&self, key: Key) -> Option<u32> {
        let slot = &self.slots[self.slot(key)];
        slot.number.checked_sub(1)
    }

    /// Adds a word that is not in the table.
    pub(super) fn insert(&mut self, key: Key, number: u32) {
        self.words += 1;
        if 2 * self.words > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(key);
        self.slots[slot] = Slot { key: key.halves(), number: number + 1 };
    }

    /// Returns the slot of a word, or a free one.
    #[inline]
    fn slot(&self, key: Key) -> usize {
        let key = key.halves();
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(key[0]);
        hasher.write_u64(key[1]);
        let last = self.slots.len() - 1;
        let mut slot = hasher.finish() as usize & last;
        loop {
            let found = &self.slots[slot];
            if found.key == key || found.number == 0 {
                return slot;
            }
            slot = (slot + 1) & last;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); 4 * self.slots.len()];
        for word in std::mem::replace(&mut self.slots, slots) {
            if word.number > 0 {
                let slot = self.slot(Key::of_halves(word.key));
                self.slots[slot] = word;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WordTable;
    use crate::text::compare::key::Key;

    #[test]
    fn a_word_keeps_the_number_that_it_got_first() {
        let words: Vec<String> = (0..500)
            .flat_map(|n| {
                [format!("{n}"), format!("{n}\0"), "y".repeat(n % 15), format!("x{n:014}")]
            })
            .collect();
        for capacity in [0, 1, 16, 5_000] {
            let mut distinct: Vec<&str> = Vec::new();
            let mut table = WordTable::with_capacity(capacity);
            for word in words.iter().chain(&words) {
                let key = Key::normalized(word.as_bytes()).expect("a short word");
                let known = distinct.iter().position(|other| other == word);
                assert_eq!(table.find(key), known.map(|number| number as u32));
                if known.is_none() {
                    table.insert(key, distinct.len() as u32);
                    distinct.push(word);
                }
            }
            assert_eq!(distinct.len(), 1_515);
        }
    }
}
