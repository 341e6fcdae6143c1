//! Defines the normalization profiles, and converts strings to lists of words that are compared as integers.
//!
//! The file is long because each profile is documented and adds its words here.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use super::folded::{self, Marks};
use super::normalize_text;
use super::overlap::{self, Score};
use crate::text::NoReferences;
use crate::text::unicode::{in_dpr_run, is_skipped, pieces};
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
    /// Normalizes strings exactly as dspy does.
    ///
    /// See [`normalize_text`] for the steps.
    #[default]
    Dspy,
    /// Folds Unicode characters and removes punctuation.
    ///
    /// Strings are normalized with NFKC and full case folding. Decimal digits of all scripts become ASCII digits, and
    /// invisible characters are removed.
    ///
    /// Articles and punctuation are removed as in `Dspy`, but for every script (categories P, Sc, Sm, Sk). They are
    /// kept if nothing else would be left. Other symbols are always kept, so two emoji differ.
    ///
    /// Each letter of a script without spaces is a token.
    Folded,
    /// Works like `Folded`, but keeps numbers and symbols that carry meaning.
    ///
    /// Punctuation and symbols are treated as follows:
    ///
    /// - Symbols (`+ = < > $ € ° ^ ~ |` ...) and `% ‰ # & @` are always kept.
    /// - Punctuation between two digits is kept (`3.14`, `10:30`, `1/2`, `2020-01-05`), except for a comma that groups
    ///   thousands.
    /// - A sign or a decimal point before a number is kept (`-5`, `-$5`, `.5`). A hyphen inside a word is not a sign:
    ///   "COVID-19" becomes "covid19".
    /// - Other punctuation is removed.
    ///
    /// A superscript keeps its meaning: `x²` becomes `x^2`.
    FoldedSymbols,
}

impl Profile {
    /// Normalizes a string for comparison.
    ///
    /// The words in the result are separated by single spaces.
    pub fn normalize(self, text: &str) -> String {
        match self {
            Self::Dspy => normalize_text(text),
            Self::Folded => folded::normalize(text, Marks::Drop),
            Self::FoldedSymbols => folded::normalize(text, Marks::Keep),
        }
    }
}

impl Profile {
    /// Returns the tokens of a string, in order.
    ///
    /// Token-level scores, such as F1, count these tokens.
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
    /// The `Dspy` profile splits the string at spaces. In the other profiles, each letter of a script without spaces is
    /// also a token. Combining marks belong to the letter before them.
    #[doc(hidden)]
    pub fn split(self, normalized: &str) -> Box<dyn Iterator<Item = &str> + '_> {
        let words = normalized.split(' ').filter(|word| !word.is_empty());
        match self {
            Self::Dspy => Box::new(words),
            _ => Box::new(words.flat_map(pieces)),
        }
    }
}

/// Adds the tokens of a string as a list.
#[inline(always)]
fn add(profile: Profile, text: &str, words: &mut WordLists) {
    match profile {
        Profile::Dspy => add_dspy(text, words),
        _ => words.add(profile.split(&profile.normalize(text))),
    }
}

/// Normalizes the words of a string one by one, because normalization treats the parts between ASCII white space
/// independently.
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

impl Profile {
    /// Returns `true` if the prediction equals the reference after normalization.
    ///
    /// With the `Dspy` profile, this method is equivalent to dspy's `em_score`.
    pub fn em_score(self, prediction: &str, reference: &str) -> bool {
        match self {
            _ if prediction == reference => true,
            Self::Dspy => WordLists::with(|words| {
                add(self, prediction, words);
                add(self, reference, words);
                words.keys(0) == words.keys(1)
            }),
            _ => self.normalize(prediction) == self.normalize(reference),
        }
    }

    /// Returns the token-level F1 between a prediction and a reference, in [0, 1].
    ///
    /// This function is equivalent to dspy's `f1_score`.
    pub fn f1_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, overlap::f1)
    }

    /// Returns the HotPotQA F1 between a prediction and a reference, in [0, 1].
    ///
    /// This function is equivalent to dspy's `hotpot_f1_score`.
    pub fn hotpot_f1_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, overlap::hotpot_f1)
    }

    /// Returns the token-level precision of a prediction against a reference, in [0, 1].
    ///
    /// This function is equivalent to dspy's `precision_score`.
    pub fn precision_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, overlap::precision)
    }

    /// Returns the token-level recall of a prediction against a reference, in [0, 1].
    ///
    /// The recall is computed as in dspy's `f1_score`.
    pub fn recall_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, overlap::recall)
    }

    fn pair(self, prediction: &str, reference: &str, score: Score) -> f64 {
        self.best(prediction, &[reference], score)
            .unwrap_or_default()
    }

    fn best<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
        score: Score,
    ) -> Result<f64, NoReferences> {
        if answers.is_empty() {
            return Err(NoReferences);
        }
        Ok(WordLists::with(|words| {
            add(self, prediction, words);
            for answer in answers {
                match answer.as_ref() {
                    answer if answer == prediction => words.repeat(0),
                    answer => add(self, answer, words),
                }
            }
            overlap::best(words, 0, score)
        }))
    }

    /// Returns `true` if the prediction equals any of the references after normalization.
    ///
    /// See [`em`](super::em) for details. With the `Dspy` profile, this method is equivalent to dspy's `EM`.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if `answers` is empty.
    pub fn em<S: AsRef<str>>(self, prediction: &str, answers: &[S]) -> Result<bool, NoReferences> {
        if answers.is_empty() {
            return Err(NoReferences);
        }
        Ok(answers
            .iter()
            .any(|answer| self.em_score(prediction, answer.as_ref())))
    }

    /// Returns the best token-level F1 over all references.
    ///
    /// See [`f1`](super::f1) for details. With the `Dspy` profile, this method is equivalent to dspy's `F1`.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if `answers` is empty.
    pub fn f1<S: AsRef<str>>(self, prediction: &str, answers: &[S]) -> Result<f64, NoReferences> {
        self.best(prediction, answers, overlap::f1)
    }

    /// Returns the best HotPotQA F1 over all references.
    ///
    /// See [`hotpot_f1`](super::hotpot_f1) for details. With the `Dspy` profile, this method is equivalent to dspy's
    /// `HotPotF1`.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if `answers` is empty.
    pub fn hotpot_f1<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
    ) -> Result<f64, NoReferences> {
        self.best(prediction, answers, overlap::hotpot_f1)
    }

    /// Returns the best token-level precision over all references.
    ///
    /// See [`precision`](super::precision) for details.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if `answers` is empty.
    pub fn precision<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
    ) -> Result<f64, NoReferences> {
        self.best(prediction, answers, overlap::precision)
    }

    /// Returns the best token-level recall over all references.
    ///
    /// See [`recall`](super::recall) for details.
    ///
    /// # Errors
    /// Returns [`NoReferences`] if `answers` is empty.
    pub fn recall<S: AsRef<str>>(
        self,
        prediction: &str,
        answers: &[S],
    ) -> Result<f64, NoReferences> {
        self.best(prediction, answers, overlap::recall)
    }

    /// Returns `true` if the prediction matches any of the references.
    ///
    /// The match must be exact, or have a token-level F1 of at least `frac`. See
    /// [`answer_exact_match`](super::answer_exact_match).
    ///
    /// # Errors
    /// Returns [`NoReferences`] if `answers` is empty.
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

    /// Returns `true` if any of the passages contains any of the answers.
    ///
    /// See [`answer_passage_match`](super::answer_passage_match) for details.
    ///
    /// The `Folded` and `FoldedSymbols` profiles split strings into their own tokens. With these profiles, an answer
    /// without any tokens is never found.
    pub fn answer_passage_match<P: AsRef<str>, A: AsRef<str>>(
        self,
        passages: &[P],
        answers: &[A],
    ) -> bool {
        PassageAnswers::new(self, answers).any_in(passages)
    }
}

/// Splits a string into lower-case tokens, exactly as dspy's `DPR_normalize` does.
///
/// The string is first converted to NFD. A token is then a run of letters, numbers and combining marks, or any other
/// single character. Separators and control characters are not tokens. Characters are classified as in Python's `regex`
/// package.
///
/// ```
/// # use dsrs_metrics::text::dpr_normalize;
/// assert_eq!(dpr_normalize("U.S. $5"), ["u", ".", "s", ".", "$", "5"]);
/// ```
pub fn dpr_normalize(text: &str) -> Vec<String> {
    // Converts each token separately, because a final sigma depends only on its own token.
    dpr_tokens(&text.nfd().collect::<String>())
        .map(str::to_lowercase)
        .collect()
}

/// Splits an NFD string into tokens.
fn dpr_tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_skipped);
        let first = rest.chars().next()?;
        let after = rest.trim_start_matches(in_dpr_run);
        let length = usize::max(rest.len() - after.len(), first.len_utf8());
        let (token, others) = rest.split_at(length);
        rest = others;
        Some(token)
    })
}

/// A set of answers to search for in passages.
///
/// The answers are normalized and split into tokens only once.
///
/// ```
/// # use dsrs_metrics::text::{PassageAnswers, Profile};
/// let answers = PassageAnswers::new(Profile::Dspy, &["Eiffel Tower"]);
/// assert!(answers.in_passage("See the Eiffel-Tower? No: the Eiffel Tower."));
/// ```
#[derive(Clone, Debug)]
pub struct PassageAnswers {
    profile: Profile,
    /// The tokens of each answer, with a space before and after each token.
    answers: Vec<String>,
}

impl PassageAnswers {
    /// Creates a set of answers, which are normalized with the given profile.
    ///
    /// As in dspy, the list of answers can be empty. In this case, no passage matches.
    pub fn new<S: AsRef<str>>(profile: Profile, answers: &[S]) -> Self {
        let answers = answers
            .iter()
            .map(|answer| spaced(profile, answer.as_ref()));
        Self {
            profile,
            answers: answers.collect(),
        }
    }

    /// Returns `true` if the passage contains any of the answers.
    ///
    /// A passage contains an answer if the answer's tokens occur in it consecutively.
    pub fn in_passage(&self, passage: &str) -> bool {
        let passage = spaced(self.profile, passage);
        self.answers.iter().any(|answer| match &**answer {
            // dspy finds an answer without tokens in every passage.
            " " => self.profile == Profile::Dspy,
            answer => passage.contains(answer),
        })
    }

    /// Returns `true` if any of the passages contains any of the answers.
    pub fn any_in<S: AsRef<str>>(&self, passages: &[S]) -> bool {
        passages
            .iter()
            .any(|passage| self.in_passage(passage.as_ref()))
    }
}

/// Returns the tokens of a string, which contain no spaces, with a space before and after each.
fn spaced(profile: Profile, text: &str) -> String {
    let mut spaced = String::from(" ");
    let add = |token: &str| spaced.extend([token, " "]);
    let normalized = profile.normalize(text);
    match profile {
        Profile::Dspy if normalized.is_ascii() => dpr_tokens(&normalized).for_each(add),
        Profile::Dspy => dpr_tokens(&normalized.nfd().collect::<String>()).for_each(add),
        _ => profile.split(&normalized).for_each(add),
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn only_folding_profiles_equate_a_ligature_with_its_letters() {
        for (profile, equal) in [
            (Profile::Dspy, false),
            (Profile::Folded, true),
            (Profile::FoldedSymbols, true),
        ] {
            assert_eq!(profile.em_score("ﬁne", "fine"), equal, "{profile:?}");
            assert_eq!(
                profile.em("ﬁne", &["five", "fine"]),
                Ok(equal),
                "{profile:?}"
            );
            assert!(!profile.em_score("ﬁne", "five"), "{profile:?}");
            assert_eq!(profile.em("ﬁne", &["five"]), Ok(false), "{profile:?}");
        }
    }
}

#[cfg(test)]
mod passages_tests {
    use super::dpr_normalize;

    #[test]
    fn a_token_is_a_run_of_letters_numbers_and_marks_or_another_visible_character() {
        for (text, tokens) in [
            ("U.S.\t$5\0B2", &["u", ".", "s", ".", "$", "5", "b2"][..]),
            (
                "São Paulo’s\u{a0}½\0",
                &["sa\u{303}o", "paulo", "’", "s", "½"],
            ),
            ("", &[]),
            (" \n", &[]),
        ] {
            assert_eq!(dpr_normalize(text), tokens, "{text:?}");
        }
    }
}
