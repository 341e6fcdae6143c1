//! Words: splitting strings into words, words as integers, counting words, searching for keywords.

mod keywords;

use std::collections::HashMap;

use foldhash::fast::RandomState;

pub use keywords::Searchable;
pub use keywords::{count_tokens, count_words};

use super::unicode::is_space;

/// Splits a string at whitespace, like Python's `str.split()`.
#[doc(hidden)]
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Lists of words as consecutive numbers, in the order in which the words first occur. Only equal words have equal
/// numbers.
#[derive(Debug, Default)]
pub(super) struct WordLists {
    numbers: HashMap<String, u32, RandomState>,
    lists: Vec<Vec<u32>>,
}

impl WordLists {
    /// Adds a list of words.
    pub(super) fn add(&mut self, words: impl IntoIterator<Item: AsRef<str>>) {
        let numbers = &mut self.numbers;
        let mut number_of = |word: &str| match numbers.get(word) {
            Some(number) => *number,
            None => {
                let next = numbers.len() as u32;
                numbers.insert(word.to_owned(), next);
                next
            }
        };
        let list = words.into_iter().map(|word| number_of(word.as_ref()));
        self.lists.push(list.collect());
    }

    /// Returns the number of a word, if a list has it.
    pub(super) fn number(&self, word: &str) -> Option<u32> {
        self.numbers.get(word).copied()
    }

    /// Returns how many different words there are. All numbers are smaller.
    pub(super) fn distinct(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn lists(&self) -> Vec<&[u32]> {
        self.lists.iter().map(Vec::as_slice).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::WordLists;

    /// Returns the numbers of each list, and how many there are, using a map of strings.
    fn by_map(lists: &[Vec<String>]) -> (Vec<Vec<u32>>, usize) {
        let mut numbers = HashMap::new();
        let mut number = |word| {
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        };
        let lists = lists
            .iter()
            .map(|list| list.iter().map(&mut number).collect())
            .collect();
        (lists, numbers.len())
    }

    proptest! {
        #[test]
        fn equal_words_have_equal_numbers(
            lists in prop::collection::vec(prop::collection::vec("[ab\0]{0,3}|\\PC{0,6}", 0..50), 0..5),
        ) {
            let mut words = WordLists::default();
            lists.iter().for_each(|list| words.add(list));
            prop_assert_eq!((words.lists.clone(), words.distinct()), by_map(&lists));
        }
    }
}
