//! Words as numbers, which are compared and counted as cheaply as characters.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::RandomState;

/// Assigns a number to each distinct word: a hash table whose slots are numbers only.
#[derive(Default)]
pub(in crate::text) struct WordIds<'a> {
    words: Vec<&'a str>,
    /// The number of a word plus 1, or 0 in a free slot. A word is in the first slot from its hash on that was free.
    /// The length is 0 or a power of two, and at least a third of the slots are free.
    slots: Vec<u32>,
    hasher: RandomState,
}

impl<'a> WordIds<'a> {
    /// With room for this many words.
    pub(in crate::text) fn with_capacity(words: usize) -> Self {
        let slots = vec![0; (words + words / 2).next_power_of_two()];
        Self { words: Vec::with_capacity(words), slots, hasher: RandomState::default() }
    }

    pub(in crate::text) fn ids(&mut self, words: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
        words.into_iter().map(|word| self.id(word)).collect()
    }

    /// Returns the distinct words, in the order of their numbers.
    pub(in crate::text) fn words(&self) -> &[&'a str] {
        &self.words
    }

    /// Returns the number of a word, which is its position in [`words`](Self::words).
    pub(in crate::text) fn id(&mut self, word: &'a str) -> u32 {
        if self.words.len() * 3 >= self.slots.len() * 2 {
            self.grow();
        }
        let mut slot = self.first_slot(word);
        loop {
            match self.slots[slot] {
                0 => break,
                taken if self.words[taken as usize - 1] == word => return taken - 1,
                _ => slot = self.next_slot(slot),
            }
        }
        self.words.push(word);
        let number = self.words.len() as u32;
        self.slots[slot] = number;
        number - 1
    }

    fn grow(&mut self) {
        self.slots = vec![0; (2 * self.slots.len()).max(16)];
        for number in 1..=self.words.len() {
            let mut slot = self.first_slot(self.words[number - 1]);
            while self.slots[slot] != 0 {
                slot = self.next_slot(slot);
            }
            self.slots[slot] = number as u32;
        }
    }

    fn first_slot(&self, word: &str) -> usize {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(word.as_bytes());
        hasher.finish() as usize & (self.slots.len() - 1)
    }

    fn next_slot(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::WordIds;

    #[test]
    fn equal_words_have_the_same_number() {
        let text: Vec<String> = (0..3_000).map(|n| format!("{}", n % 1_000)).collect();
        let expected: Vec<u32> = (0..3_000).map(|n| n % 1_000).collect();
        for mut words in [WordIds::default(), WordIds::with_capacity(0), WordIds::with_capacity(7)]
        {
            assert_eq!(words.ids(text.iter().map(String::as_str)), expected);
            assert_eq!(words.words()[999], "999");
            assert_eq!((words.id(""), words.id("a"), words.id("")), (1_000, 1_001, 1_000));
        }
    }
}
