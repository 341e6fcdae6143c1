//! The tokens of strings, as lists of words that are compared as integers.

use super::normalizer::normalize;
use super::profile::Profile;
use crate::text::unicode::piece_ranges;
use crate::text::words::{Key, Replacement, WordKey, WordLists, for_each_word};

impl Profile {
    /// Returns the tokens that the token-level scores count, in the order of the string.
    ///
    /// ```
    /// # use dsrs_metrics::text::Profile;
    /// assert_eq!(Profile::Dspy.tokens("The Eiffel Tower"), ["eiffel", "tower"]);
    /// assert_eq!(Profile::Folded.tokens("東京 Tower"), ["東", "京", "tower"]);
    /// ```
    pub fn tokens(self, text: &str) -> Vec<String> {
        self.split(&self.normalize(text))
            .map(str::to_owned)
            .collect()
    }

    /// Splits a normalized string into tokens.
    ///
    /// In the `Dspy` profile tokens are separated by spaces. In the others each letter of a script
    /// without spaces is a token too, together with the combining marks that follow it.
    #[doc(hidden)]
    pub fn split(self, normalized: &str) -> impl Iterator<Item = &str> {
        normalized
            .split(' ')
            .filter(|word| !word.is_empty())
            .flat_map(move |word| {
                let is_whole = self == Self::Dspy || word.is_ascii();
                let pieces = (!is_whole)
                    .then(|| piece_ranges(word))
                    .into_iter()
                    .flatten();
                is_whole
                    .then_some(word)
                    .into_iter()
                    .chain(pieces.map(|piece| &word[piece]))
            })
    }
}

/// Adds the tokens of a string as a list.
#[inline(always)]
pub(super) fn add(profile: Profile, text: &str, words: &mut WordLists) {
    match profile {
        Profile::Dspy => add_dspy(text, words),
        _ => words.add(profile.split(&profile.normalize(text))),
    }
}

/// Normalizes the words of a string one by one: normalization treats the parts between ASCII white space independently of
/// each other.
fn add_dspy(text: &str, words: &mut WordLists) {
    for_each_word(text.as_bytes(), |word| {
        if word.is_simple {
            words.push_token(Key::lower(&word));
        } else if !WordKey::of_word(&word)
            .is_some_and(|key| words.push_known(Replacement::Normalized, &key))
        {
            words.push_replaced(Replacement::Normalized, &text[word.range()], normalize);
        }
    });
    words.end_list();
}
