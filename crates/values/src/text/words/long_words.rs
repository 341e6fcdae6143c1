//! Keys of words that are too long for a key of their bytes.

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::hash_table::HashTable;

use super::keys::Key;

/// Different words of more than 15 bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct LongWords {
    bytes: Vec<u8>,
    /// Where each word starts and ends.
    table: HashTable<(usize, usize)>,
    hasher: RandomState,
}

impl LongWords {
    /// Returns the key of a word, which is added if it is new.
    pub(super) fn key_of(&mut self, word: &[u8]) -> Key {
        let Self {
            bytes,
            table,
            hasher,
        } = self;
        let is_equal = |&(start, end): &(usize, usize)| bytes[start..end] == *word;
        let hash = |&(start, end): &(usize, usize)| hasher.hash_one(&bytes[start..end]);
        let of_word = hasher.hash_one(word);
        if let Some(&(start, _)) = table.find(of_word, is_equal) {
            return Key::long(start..start + word.len());
        }
        let start = bytes.len();
        table.insert_unique(of_word, (start, start + word.len()), hash);
        bytes.extend_from_slice(word);
        Key::long(start..start + word.len())
    }

    /// Returns the word of a key, if it is a long one.
    pub(super) fn get(&self, key: Key) -> Option<&[u8]> {
        key.place().map(|place| &self.bytes[place])
    }

    /// Returns the number of bytes of all words.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.table.clear();
    }
}
