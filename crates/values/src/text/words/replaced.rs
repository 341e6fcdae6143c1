//! Words that replace words.

use std::hash::BuildHasher as _;
use std::mem;

use foldhash::fast::RandomState;

use super::keys::{Key, WordKey};

/// A map from words to the word that replaces each.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplacedWords {
    /// A word is in the first slot from its hash on that was free. A free slot has an empty word.
    slots: Vec<(WordKey, Key)>,
    len: usize,
    hasher: RandomState,
}

/// More words are not kept for the next lists.
const MAX_LEN: usize = 4_096;

impl ReplacedWords {
    #[inline]
    pub(super) fn get(&self, word: &WordKey) -> Option<Key> {
        let last = self.slots.len().wrapping_sub(1);
        let mut at = self.hasher.hash_one(word) as usize;
        loop {
            let (found, replaced) = self.slots.get(at & last)?;
            if found.is_equal(word) {
                return Some(*replaced);
            }
            if found.is_empty() {
                return None;
            }
            at += 1;
        }
    }

    /// Adds a word that is not in the map.
    pub(super) fn insert(&mut self, word: WordKey, replaced: Key) {
        // At most a quarter, since most words are then in the first slot.
        if 4 * self.len >= self.slots.len() {
            let slots = vec![<_>::default(); usize::max(2 * self.slots.len(), 1_024)];
            for slot in mem::replace(&mut self.slots, slots) {
                if !slot.0.is_empty() {
                    self.fill_slot(slot);
                }
            }
        }
        self.fill_slot((word, replaced));
        self.len += 1;
    }

    fn fill_slot(&mut self, slot: (WordKey, Key)) {
        let last = self.slots.len() - 1;
        let mut at = self.hasher.hash_one(slot.0) as usize & last;
        while !self.slots[at].0.is_empty() {
            at = (at + 1) & last;
        }
        self.slots[at] = slot;
    }

    pub(super) fn is_full(&self) -> bool {
        self.len > MAX_LEN
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_found_with_its_replacement_until_the_map_is_cleared() {
        let word = |n: usize| WordKey::of(format!("word {n}").as_bytes()).unwrap();
        let replacement = |n: usize| Key::of(n.to_string().as_bytes());
        let mut map = ReplacedWords::default();
        assert_eq!(map.get(&word(0)), None);
        for n in 0..=MAX_LEN {
            assert!(!map.is_full());
            map.insert(word(n), replacement(n).unwrap());
        }
        assert!(map.is_full());
        assert!((0..=MAX_LEN).all(|n| map.get(&word(n)) == replacement(n)));
        assert!((MAX_LEN + 1..2 * MAX_LEN).all(|n| map.get(&word(n)).is_none()));
        map.clear();
        assert_eq!((map.get(&word(0)), map.is_full()), (None, false));
    }
}
