//! The choice of a normalization.

use serde::{Deserialize, Serialize};

use super::folded::{self, Marks};
use super::normalizer::normalize_text;

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
