//! Words as numbers, which are compared and counted as cheaply as characters.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::fast::RandomState;

use crate::text::compare::ascii::eight;

/// An integer that is equal for equal words only. It contains the bytes of a short word and their count, and the position
/// of a longer one among the longer words.
type Key = u128;

/// The count in the key of a word that has more than 15 bytes.
const LONG: Key = 0xff << 120;

/// This bit turns an ASCII letter into lower case, and leaves a digit as it is.
const LOWER: Key = u128::from_le_bytes([0x20; 16]);

/// The bytes of a word of each length, and the length.
const SHORT: [(Key, Key); 16] = {
    let mut masks = [(0, 0); 16];
    let mut length = 1;
    while length < 16 {
        masks[length] = (Key::MAX >> (128 - 8 * length), (length as Key) << 120);
        length += 1;
    }
    masks
};

/// Lists of words, whose words are compared as integers.
#[derive(Default)]
pub(in crate::text) struct WordLists {
    keys: Vec<Key>,
    /// Where each list ends.
    ends: Vec<usize>,
    /// The words of more than 15 bytes.
    long: HashMap<String, Key, RandomState>,
    /// The positions of the words of the last list.
    positions: Vec<Range<usize>>,
    /// What other words replace a word.
    replaced: HashMap<Key, Key, RandomState>,
    numbers: Vec<u32>,
    distinct: usize,
    /// The position of a word plus 1, or 0 in a free slot. A word is in the first slot from its hash on that was free.
    slots: Vec<u32>,
    hasher: RandomState,
}

thread_local! {
    /// Memory for the next lists of this thread.
    static SPARE: Cell<Option<Box<WordLists>>> = const { Cell::new(None) };
}

/// The memory of more words is not kept.
const MAX_KEPT: usize = 10_000;

impl WordLists {
    /// Calls `compute` with no lists.
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
        self.long.clear();
        self.replaced.clear();
    }

    /// Adds a list of words.
    pub(in crate::text) fn add<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        for word in words {
            let key = self.key_of(word);
            self.keys.push(key);
        }
        self.ends.push(self.keys.len());
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
        let bytes = Bytes::of(text.as_bytes());
        let long = &mut self.long;
        self.keys.extend(self.positions.iter().map(
            |word| match SHORT.get(word.end - word.start) {
                Some((mask, length)) => (bytes.from(word.start) | case) & mask | length,
                None => long_key(long, &text[word.clone()], is_lower),
            },
        ));
        self.ends.push(self.keys.len());
    }

    /// Replaces the words of the last list, which are slices of `text`. Equal words are replaced by the same word.
    pub(in crate::text) fn replace(&mut self, text: &str, by: impl Fn(&str) -> String) {
        let positions = std::mem::take(&mut self.positions);
        let start = self.keys.len() - positions.len();
        for (at, position) in (start..).zip(&positions) {
            let key = self.keys[at];
            self.keys[at] = match self.replaced.get(&key) {
                Some(replaced) => *replaced,
                None => {
                    let replaced = self.key_of(&by(&text[position.clone()]));
                    self.replaced.insert(key, replaced);
                    replaced
                }
            };
        }
        self.positions = positions;
    }

    fn key_of(&mut self, word: &str) -> Key {
        match SHORT.get(word.len()) {
            Some((_, length)) => Bytes::of(word.as_bytes()).last | length,
            None => long_key(&mut self.long, word, false),
        }
    }

    /// Assigns a number to each word. Equal words have equal numbers, in the order in which they occur first.
    pub(in crate::text) fn number(&mut self) {
        let keys = &self.keys[..];
        self.slots.clear();
        self.slots.resize((4 * keys.len()).next_power_of_two(), 0);
        self.numbers.clear();
        self.numbers.reserve(keys.len());
        let slots = &mut self.slots[..];
        let last = slots.len() - 1;
        let mut distinct = 0;
        for (key, position) in keys.iter().zip(1..) {
            let mut slot = self.hasher.hash_one(key) as usize & last;
            let number = loop {
                match slots[slot] as usize {
                    0 => {
                        slots[slot] = position;
                        distinct += 1;
                        break distinct - 1;
                    }
                    taken if keys[taken - 1] == *key => break self.numbers[taken - 1],
                    _ => slot = (slot + 1) & last,
                }
            };
            self.numbers.push(number);
        }
        self.distinct = distinct as usize;
    }

    /// Returns how many different words have a number. All numbers are smaller.
    pub(in crate::text) fn distinct(&self) -> usize {
        self.distinct
    }

    /// Returns how many lists there are.
    pub(in crate::text) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the numbers of the words of a list.
    pub(in crate::text) fn list(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[start..self.ends[at]]
    }

    /// Returns the numbers of the words of each list.
    pub(in crate::text) fn lists(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|at| self.list(at))
    }
}

#[cold]
fn long_key(long: &mut HashMap<String, Key, RandomState>, word: &str, is_lower: bool) -> Key {
    let word = if is_lower { word.to_ascii_lowercase() } else { word.to_owned() };
    let next = LONG | long.len() as Key;
    *long.entry(word).or_insert(next)
}

/// A text of which 16 bytes are read at once.
struct Bytes<'t> {
    text: &'t [u8],
    /// Up to 16 bytes at the end, the first in the lowest bits, and where they start.
    last: Key,
    last_start: usize,
}

impl<'t> Bytes<'t> {
    #[inline]
    fn of(text: &'t [u8]) -> Self {
        let last = match text.last_chunk() {
            Some(last) => Key::from_le_bytes(*last),
            None => Key::from(eight(text, 0)) | Key::from(eight(text, 8)) << 64,
        };
        Self { text, last, last_start: text.len().saturating_sub(16) }
    }

    /// Returns 16 bytes from a position on, and zeros after the end.
    #[inline]
    fn from(&self, at: usize) -> Key {
        match self.text.get(at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => Key::from_le_bytes(*bytes),
            None => self.last.unbounded_shr(8 * (at - self.last_start) as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::WordLists;

    /// The numbers of each list, and how many there are, by a map of strings.
    fn by_map(lists: &[Vec<String>]) -> (Vec<Vec<u32>>, usize) {
        let mut numbers = HashMap::new();
        let mut number = |word| {
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        };
        let lists = lists.iter().map(|list| list.iter().map(&mut number).collect()).collect();
        (lists, numbers.len())
    }

    fn numbered(words: &mut WordLists) -> (Vec<Vec<u32>>, usize) {
        words.number();
        (words.lists().map(<[u32]>::to_vec).collect(), words.distinct())
    }

    #[test]
    fn many_words_are_numbered_as_they_occur() {
        let text: Vec<String> = (0..12_000).map(|n| format!("{}", n % 1_000)).collect();
        let expected: Vec<u32> = (0..12_000).map(|n| n % 1_000).collect();
        for _ in 0..2 {
            WordLists::with(|words| {
                words.add(text.iter().map(String::as_str));
                words.add([]);
                words.add(["999", "", "a"]);
                let lists = vec![expected.clone(), vec![], vec![999, 1_000, 1_001]];
                assert_eq!(numbered(words), (lists, 1_002));
                let inner = WordLists::with(|others| {
                    others.add(["b"]);
                    numbered(others)
                });
                assert_eq!(inner, (vec![vec![0]], 1));
            });
        }
    }

    /// Words of all lengths that keys treat differently, which share their bytes.
    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            "[ab\0]{0,3}",
            "a{6,9}\0?",
            "(ab){7,9}[a\0]?",
            "é{3,9}",
            "[A-Za-z0-9]{0,20}",
            "\\PC{0,6}",
        ]
    }

    /// Returns the words of each list as slices of a string.
    fn slices(lists: &[Vec<String>], is_lower: bool) -> (Vec<Vec<u32>>, usize) {
        WordLists::with(|words| {
            for list in lists {
                let mut end = 0;
                let mut position = |word: &String| {
                    end += word.len();
                    end - word.len()..end
                };
                let positions = list.iter().map(&mut position);
                words.add_slices(&list.concat(), is_lower, |found| found.extend(positions));
            }
            numbered(words)
        })
    }

    proptest! {
        #[test]
        fn equal_words_have_equal_numbers(
            lists in prop::collection::vec(prop::collection::vec(word(), 0..50), 0..5),
        ) {
            let expected = by_map(&lists);
            let found = WordLists::with(|words| {
                lists.iter().for_each(|list| words.add(list.iter().map(String::as_str)));
                numbered(words)
            });
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(slices(&lists, false), expected);
        }

        #[test]
        fn words_may_be_compared_in_lower_case(
            words in prop::collection::vec("[a-cA-C0-9]{0,3}|[aA]{14,18}", 0..50),
        ) {
            let lower = words.iter().map(|word| word.to_ascii_lowercase()).collect();
            prop_assert_eq!(slices(&[words], true), by_map(&[lower]));
        }

        #[test]
        fn words_are_replaced(words in prop::collection::vec("[a-c]{1,3}|[ab]{14,18}", 0..50)) {
            let by = |word: &str| word[..word.len() / 2].repeat(2);
            let replaced = words.iter().map(|word| by(word)).collect();
            let found = WordLists::with(|lists| {
                let mut end = 0;
                let mut position = |word: &String| {
                    end += word.len();
                    end - word.len()..end
                };
                let positions = words.iter().map(&mut position);
                let text = words.concat();
                lists.add_slices(&text, false, |found| found.extend(positions));
                lists.replace(&text, by);
                numbered(lists)
            });
            prop_assert_eq!(found, by_map(&[replaced]));
        }
    }
}
