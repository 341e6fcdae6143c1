//! Lists of words, whose words are compared as integers and counted as consecutive numbers.

use std::cell::Cell;
use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::fast::RandomState;

use super::chunks::Chunks;
use super::keys::{Key, LOWER, WordKey};
use super::long_words::LongWords;
use super::replaced::ReplacedWords;

/// Lists of words. Keys and numbers are equal for equal words only.
#[derive(Clone, Debug, Default)]
pub(in crate::text) struct WordLists {
    keys: Vec<Key>,
    /// Where each list ends.
    ends: Vec<usize>,
    long: LongWords,
    /// The positions of the words of the last list.
    positions: Vec<Range<usize>>,
    /// The word that replaces a word, for each [`Replacement`]. It and `long` are kept for the next lists of the thread, which
    /// often have the same words.
    replaced: [ReplacedWords; 2],
    numbers: Vec<u32>,
    distinct: usize,
    /// The list that was counted, the count of each word at its first position, and how many of them are left.
    counted: usize,
    counts: Vec<u32>,
    left: Vec<u32>,
    /// The position of a word plus 1, or 0 in a free slot. A word is in the first slot from its hash on that was free.
    slots: Vec<u32>,
    hasher: RandomState,
}

/// How words are replaced.
#[derive(Clone, Copy)]
pub(in crate::text) enum Replacement {
    /// By the normalized word of the `Dspy` profile.
    Normalized,
    /// By the stem.
    Stem,
}

thread_local! {
    /// Memory for the next lists of this thread.
    static SPARE: Cell<Option<Box<WordLists>>> = const { Cell::new(None) };
}

/// The memory of more words is not kept.
const MAX_KEPT: usize = 10_000;

/// Long words with more bytes in all are not kept.
const MAX_LONG_BYTES: usize = 1 << 17;

impl WordLists {
    /// Calls `compute` with no lists.
    #[inline]
    pub(in crate::text) fn with<T>(compute: impl FnOnce(&mut Self) -> T) -> T {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut lists = spare.unwrap_or_default();
        let result = compute(&mut lists);
        if lists.keys.capacity() <= MAX_KEPT && lists.positions.capacity() <= MAX_KEPT {
            lists.clear();
            // At the end of a thread its variables do not exist any more.
            _ = SPARE.try_with(|spare| spare.set(Some(lists)));
        }
        result
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.ends.clear();
        if self.replaced.iter().any(ReplacedWords::is_full) || self.long.len() > MAX_LONG_BYTES {
            self.long.clear();
            self.replaced.iter_mut().for_each(ReplacedWords::clear);
        }
    }

    /// Adds all lists of `others`, before any other list.
    pub(in crate::text) fn add_all(&mut self, others: &Self) {
        let own = |key: &Key| {
            others
                .long
                .get(*key)
                .map_or(*key, |word| self.long.key_of(word))
        };
        self.keys.extend(others.keys.iter().map(own));
        self.ends.clone_from(&others.ends);
    }

    /// Adds a list of words.
    pub(in crate::text) fn add<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        words.into_iter().for_each(|word| {
            let key = self.key_of(word.as_bytes());
            self.keys.push(key);
        });
        self.end_list();
    }

    /// Adds a list of slices of a string, whose positions `find` returns. With `is_lower`, they have ASCII letters and
    /// digits only, and are compared in lower case.
    pub(in crate::text) fn add_slices(
        &mut self,
        text: &str,
        is_lower: bool,
        find: impl FnOnce(&mut Vec<Range<usize>>),
    ) {
        self.positions.clear();
        find(&mut self.positions);
        let case = if is_lower { LOWER } else { 0 };
        let chunks = Chunks::new(text.as_bytes());
        let long = &mut self.long;
        self.keys.extend(
            self.positions
                .iter()
                .map(|word| match word.end - word.start {
                    length @ 0..=Key::LONGEST => Key::new(chunks.at(word.start) | case, length),
                    _ if is_lower => {
                        long.key_of(&text.as_bytes()[word.clone()].to_ascii_lowercase())
                    }
                    _ => long.key_of(&text.as_bytes()[word.clone()]),
                }),
        );
        self.end_list();
    }

    /// Adds a word to the list that has not ended yet, unless it is an article or empty.
    #[inline]
    pub(in crate::text) fn push_token(&mut self, word: Key) {
        if !word.is_article_or_empty() {
            self.keys.push(word);
        }
    }

    /// Adds the word that replaces a word, if it was replaced before. Returns whether it was.
    #[inline]
    pub(in crate::text) fn push_known(&mut self, by: Replacement, word: &WordKey) -> bool {
        let found = self.replaced[by as usize].get(word);
        if let Some(replaced) = found
            && replaced != Key::EMPTY
        {
            self.keys.push(replaced);
        }
        found.is_some()
    }

    /// Adds the words between the spaces of the string that `replace` returns for a word. It is called once for equal words,
    /// unless it returns several words.
    pub(in crate::text) fn push_replaced<R: AsRef<[u8]>>(
        &mut self,
        by: Replacement,
        word: &str,
        replace: impl FnOnce(&str) -> R,
    ) {
        let key = WordKey::of(word.as_bytes())
            .unwrap_or_else(|| WordKey::long(self.long.key_of(word.as_bytes())));
        if self.push_known(by, &key) {
            return;
        }
        let start = self.keys.len();
        let replaced = replace(word);
        for word in replaced
            .as_ref()
            .split(|byte| *byte == b' ')
            .filter(|word| !word.is_empty())
        {
            let key = self.key_of(word);
            self.keys.push(key);
        }
        if let [] | [_] = self.keys[start..] {
            let replaced = self.keys.get(start).copied().unwrap_or(Key::EMPTY);
            self.replaced[by as usize].insert(key, replaced);
        }
    }

    /// Adds a copy of a list.
    pub(in crate::text) fn repeat(&mut self, at: usize) {
        self.keys.extend_from_within(self.range(at));
        self.end_list();
    }

    /// Ends the last list.
    pub(in crate::text) fn end_list(&mut self) {
        self.ends.push(self.keys.len());
    }

    /// Returns the key of a word.
    pub(in crate::text) fn key_of(&mut self, word: &[u8]) -> Key {
        Key::of(word).unwrap_or_else(|| self.long.key_of(word))
    }

    /// Assigns a number to each word. Equal words have equal numbers, in the order in which they occur first.
    pub(in crate::text) fn number(&mut self) {
        self.slots.clear();
        self.slots
            .resize((4 * self.keys.len()).next_power_of_two(), 0);
        self.numbers.clear();
        self.numbers.reserve(self.keys.len());
        let mut distinct = 0;
        for (key, position) in self.keys.iter().zip(1..) {
            let slot = find(&mut self.slots, &self.keys, key, &self.hasher);
            let number = match *slot as usize {
                0 => {
                    *slot = position;
                    distinct += 1;
                    distinct - 1
                }
                taken => self.numbers[taken - 1],
            };
            self.numbers.push(number);
        }
        self.distinct = distinct as usize;
    }

    /// Counts the words of a list, for [`count_same`](Self::count_same).
    pub(in crate::text) fn count(&mut self, at: usize) {
        let keys = &self.keys[self.range(at)];
        self.slots.clear();
        self.slots.resize((2 * keys.len()).next_power_of_two(), 0);
        self.counts.clear();
        self.counts.resize(keys.len(), 0);
        for (key, position) in keys.iter().zip(1..) {
            let slot = find(&mut self.slots, keys, key, &self.hasher);
            if *slot == 0 {
                *slot = position;
            }
            self.counts[*slot as usize - 1] += 1;
        }
        self.counted = at;
    }

    /// Returns the size of the multiset intersection of a list and the counted list.
    pub(in crate::text) fn count_same(&mut self, at: usize) -> usize {
        let (counted, keys) = (
            &self.keys[self.range(self.counted)],
            &self.keys[self.range(at)],
        );
        self.left.clone_from(&self.counts);
        let take = |key| match find(&mut self.slots, counted, key, &self.hasher) {
            0 => 0,
            position => {
                let left = &mut self.left[*position as usize - 1];
                let is_left = u32::from(*left > 0);
                *left -= is_left;
                is_left as usize
            }
        };
        keys.iter().map(take).sum()
    }

    /// Returns how many different words have a number. All numbers are smaller.
    pub(in crate::text) fn distinct(&self) -> usize {
        self.distinct
    }

    /// Returns how many lists there are.
    pub(in crate::text) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the words of a list.
    pub(in crate::text) fn keys(&self, at: usize) -> &[Key] {
        &self.keys[self.range(at)]
    }

    /// Returns the numbers of the words of a list.
    pub(in crate::text) fn list(&self, at: usize) -> &[u32] {
        &self.numbers[self.range(at)]
    }

    fn range(&self, at: usize) -> Range<usize> {
        at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]
    }

    /// Returns the numbers of the words of each list.
    pub(in crate::text) fn lists(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|at| self.list(at))
    }
}

/// Returns the slot of a word of `keys`, or the free slot for it.
#[inline]
fn find<'s>(slots: &'s mut [u32], keys: &[Key], key: &Key, hasher: &RandomState) -> &'s mut u32 {
    let last = slots.len() - 1;
    let mut slot = hasher.hash_one(key) as usize & last;
    while slots[slot] != 0 && keys[slots[slot] as usize - 1] != *key {
        slot = (slot + 1) & last;
    }
    &mut slots[slot]
}

#[cfg(test)]
mod tests;
