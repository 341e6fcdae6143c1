//! Words as numbers, which are compared and counted as cheaply as characters.

use std::collections::HashMap;

/// Assigns a number to each distinct word.
#[derive(Default)]
pub(in crate::text) struct WordIds<'a> {
    ids: HashMap<&'a str, u32>,
}

impl<'a> WordIds<'a> {
    pub(in crate::text) fn ids(&mut self, words: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
        words.into_iter().map(|word| self.id(word)).collect()
    }

    /// Returns the number of distinct words.
    pub(in crate::text) fn len(&self) -> usize {
        self.ids.len()
    }

    fn id(&mut self, word: &'a str) -> u32 {
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        *self.ids.entry(word).or_insert(next)
    }
}
