//! The choice of a normalization, and the tokens of strings, as lists of words that are compared as integers.

use serde::{Deserialize, Serialize};

use super::folded::{self, Marks};
use super::normalizer::normalize_text;
use crate::text::unicode::pieces;
use crate::text::words::{Replacement, WordLists, for_each_word};

/// How strings are normalized before they are compared.
///
/// | | `Dspy` | `Folded` | `FoldedSymbols` |
/// | --- | --- | --- | --- |
/// | "C++" and "C" | same | same | differ |
/// | "-5" and "5", "3.14" and "314" | same | same | differ |
/// | "$5" and "5", "5%" and "5" | same | same | differ |
/// | "1,000" and "1000" | same | same | same |
/// | "ﬁne" (ligature), "５" (full width), "‘curly’" | not folded | folded | folded |
/// | "Straße" and "STRASSE" | differ | same | same |
/// | "A" | empty | "a" | "a" |
/// | tokens of "東京都" | one | three | three |
///
/// ```
/// # use dsrs_metrics::text::Profile;
/// assert!(Profile::Dspy.em_score("C++", "C"));
/// assert!(!Profile::FoldedSymbols.em_score("C++", "C"));
/// assert_eq!(Profile::Folded.normalize("“The” ﬁne Ｃａｆé"), "fine café");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Profile {
    /// Bit for bit as in dspy; see [`normalize_text`].
    #[default]
    Dspy,
    /// Folds Unicode and removes punctuation.
    ///
    /// NFKC, full case folding, decimal digits of all scripts to ASCII, invisible characters
    /// removed. Then punctuation of every script (categories P, Sc, Sm, Sk) and articles are
    /// removed, as `Dspy` does for ASCII. Other symbols are kept, so that two emoji differ.
    /// Articles and punctuation are kept if nothing else would be left. Each letter of a script
    /// without spaces is a token.
    Folded,
    /// As `Folded`, but numbers and symbols keep their meaning.
    ///
    /// Symbols (`+ = < > $ € ° ^ ~ |` ...) and `% ‰ # & @` are kept everywhere. Punctuation is kept
    /// where it is part of a number: between two digits (`3.14`, `10:30`, `1/2`, `2020-01-05`; a
    /// comma that groups thousands is removed) and as a sign or a decimal point before a number
    /// (`-5`, `-$5`, `.5`). A hyphen inside a word is not a sign: "COVID-19" becomes "covid19".
    /// Other punctuation is removed. `x²` becomes `x^2`.
    FoldedSymbols,
}

impl Profile {
    /// Normalizes a string for comparison. The words of the result are separated by single spaces.
    pub fn normalize(self, text: &str) -> String {
        match self {
            Self::Dspy => normalize_text(text),
            Self::Folded => folded::normalize(text, Marks::Drop),
            Self::FoldedSymbols => folded::normalize(text, Marks::Keep),
        }
    }
}

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
        let words = normalized.split(' ').filter(|word| !word.is_empty());
        words.flat_map(move |word| {
            let whole = (self == Self::Dspy).then_some(word);
            whole
                .into_iter()
                .chain(pieces(if whole.is_some() { "" } else { word }))
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
            words.push_token(&word);
        } else {
            words.push_replaced(Replacement::Normalized, &text[word.range()], normalize_text);
        }
    });
    words.end_list();
}
