//! The choice of a normalization, and exact match and token overlap under it.

use serde::{Deserialize, Serialize};

use super::counted::{Counted, Few};
use super::folded::{self, Marks};
use super::references::References;
use super::token_overlap::{Overlap, Prepared, Score, hotpot_f1};
use super::{exact, normalize_text, tokens};
use crate::text::NoReferences;

/// Strings with this many bytes in total are not counted word by word.
const SHORT: usize = 200;

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
    #[must_use]
    pub fn normalize(self, text: &str) -> String {
        match self {
            Self::Dspy => normalize_text(text),
            Self::Folded => folded::normalize(text, Marks::Drop),
            Self::FoldedSymbols => folded::normalize(text, Marks::Keep),
        }
    }

    /// Returns the tokens that the token-level scores count, in the order of the string.
    ///
    /// ```
    /// # use dsrs_metrics::text::Profile;
    /// assert_eq!(Profile::Dspy.tokens("The Eiffel Tower"), ["eiffel", "tower"]);
    /// assert_eq!(Profile::Folded.tokens("東京 Tower"), ["東", "京", "tower"]);
    /// ```
    #[must_use]
    pub fn tokens(self, text: &str) -> Vec<String> {
        let normalized = self.normalize(text);
        let tokens = tokens::tokens(self, &normalized);
        tokens.iter().map(|token| token.str(&normalized).to_owned()).collect()
    }

    /// Normalizes references once, for many predictions.
    ///
    /// # Errors
    /// [`NoReferences`] if there is none.
    pub fn references<S: AsRef<str>>(self, answers: &[S]) -> Result<References, NoReferences> {
        References::new(self, answers)
    }

    /// Whether the prediction equals the reference after normalization; dspy's `em_score`.
    #[must_use]
    pub fn em_score(self, prediction: &str, reference: &str) -> bool {
        if self == Self::Dspy {
            return exact::same(prediction, reference);
        }
        self.normalize(prediction) == self.normalize(reference)
    }

    /// Returns the token-level F1 in [0, 1] with one reference; dspy's `f1_score`.
    #[must_use]
    pub fn f1_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, Overlap::f1)
    }

    /// Returns HotPotQA's F1 in [0, 1] with one reference; dspy's `hotpot_f1_score`.
    #[must_use]
    pub fn hotpot_f1_score(self, prediction: &str, reference: &str) -> f64 {
        self.hotpot_f1(prediction, &[reference]).unwrap_or_default()
    }

    /// Returns the token-level precision in [0, 1] with one reference; dspy's `precision_score`.
    #[must_use]
    pub fn precision_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, Overlap::precision)
    }

    /// Returns the token-level recall in [0, 1] with one reference, as computed in dspy's
    /// `f1_score`.
    #[must_use]
    pub fn recall_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, Overlap::recall)
    }

    fn pair(self, prediction: &str, reference: &str, score: Score) -> f64 {
        self.best(prediction, &[reference], score).unwrap_or_default()
    }

    fn best<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
        score: Score,
    ) -> Result<f64, NoReferences> {
        if self == Self::Dspy {
            let few = Few::new(prediction);
            let mut counted = None;
            return best(answers, |answer| {
                let overlap = few.as_ref().and_then(|few| few.overlap(answer));
                score(match overlap {
                    Some(overlap) => overlap,
                    None if prediction.len() + answer.len() <= SHORT => {
                        overlap_of_short(prediction, answer)
                    }
                    None => counted.get_or_insert_with(|| Counted::new(prediction)).overlap(answer),
                })
            });
        }
        let (mut left, mut right) = (Prepared::new(), Prepared::new());
        let prediction = left.answer(self, prediction);
        best(answers, |answer| score(prediction.overlap(right.answer(self, answer))))
    }

    /// Whether the prediction equals any reference after normalization; dspy's `EM`. See
    /// [`em`](super::em).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn em<S: AsRef<str>>(self, prediction: &str, answers: &[S]) -> Result<bool, NoReferences> {
        if answers.is_empty() {
            return Err(NoReferences);
        }
        if self == Self::Dspy {
            return Ok(answers.iter().any(|answer| exact::same(prediction, answer.as_ref())));
        }
        let prediction = self.normalize(prediction);
        Ok(answers.iter().any(|answer| self.normalize(answer.as_ref()) == prediction))
    }

    /// Returns the best token-level F1 over the references; dspy's `F1`. See [`f1`](super::f1).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn f1<S: AsRef<str>>(self, prediction: &str, answers: &[S]) -> Result<f64, NoReferences> {
        self.best(prediction, answers, Overlap::f1)
    }

    /// Returns the best HotPotQA F1 over the references; dspy's `HotPotF1`. See
    /// [`hotpot_f1`](super::hotpot_f1).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn hotpot_f1<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
    ) -> Result<f64, NoReferences> {
        let (mut left, mut right) = (Prepared::new(), Prepared::new());
        let prediction = left.answer(self, prediction);
        best(answers, |answer| hotpot_f1(prediction, right.answer(self, answer)))
    }

    /// Returns the best token-level precision over the references. See
    /// [`precision`](super::precision).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn precision<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
    ) -> Result<f64, NoReferences> {
        self.best(prediction, answers, Overlap::precision)
    }

    /// Returns the best token-level recall over the references. See [`recall`](super::recall).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn recall<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
    ) -> Result<f64, NoReferences> {
        self.best(prediction, answers, Overlap::recall)
    }

    /// Whether a reference matches exactly, or with an F1 of at least `frac`. See
    /// [`answer_exact_match`](super::answer_exact_match).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn answer_exact_match<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
        frac: f64,
    ) -> Result<bool, NoReferences> {
        if frac >= 1.0 {
            return self.em(prediction, answers);
        }
        Ok(self.f1(prediction, answers)? >= frac)
    }

    /// Whether any passage contains any answer. See
    /// [`answer_passage_match`](super::answer_passage_match).
    ///
    /// The folding profiles compare their own tokens, and find an answer without tokens nowhere.
    pub fn answer_passage_match<P: AsRef<str>, A: AsRef<str>>(
        self,
        passages: &[P],
        answers: &[A],
    ) -> bool {
        super::PassageAnswers::new(self, answers).any_in(passages)
    }
}

/// Normalizes both strings, which needs less memory than to count their words.
#[inline(never)]
fn overlap_of_short(prediction: &str, answer: &str) -> Overlap {
    let (mut left, mut right) = (Prepared::new(), Prepared::new());
    left.answer(Profile::Dspy, prediction).overlap(right.answer(Profile::Dspy, answer))
}

/// Returns the best score over the answers.
fn best<S: AsRef<str>>(
    answers: &[S],
    mut score: impl FnMut(&str) -> f64,
) -> Result<f64, NoReferences> {
    if answers.is_empty() {
        return Err(NoReferences);
    }
    Ok(answers.iter().map(|answer| score(answer.as_ref())).fold(0.0, f64::max))
}
