//! Words as numbers, so that they are compared and counted as cheaply as characters.

use std::collections::HashMap;

/// Gives each word a number, the same word the same.
#[derive(Default)]
pub(super) struct Words<'a> {
    ids: HashMap<&'a str, u32>,
}

impl<'a> Words<'a> {
    pub(super) fn ids(&mut self, words: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
        words.into_iter().map(|word| self.id(word)).collect()
    }

    fn id(&mut self, word: &'a str) -> u32 {
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        *self.ids.entry(word).or_insert(next)
    }
}
