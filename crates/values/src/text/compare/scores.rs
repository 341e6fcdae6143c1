//! Exact match and token overlap under each profile.

use super::overlap::{self, Score};
use super::passages::PassageAnswers;
use super::profile::{self, Profile};
use crate::text::NoReferences;
use crate::text::words::WordLists;

impl Profile {
    /// Returns `true` if the prediction equals the reference after normalization; dspy's `em_score`.
    pub fn em_score(self, prediction: &str, reference: &str) -> bool {
        match self {
            _ if prediction == reference => true,
            Self::Dspy => WordLists::with(|words| {
                profile::add(self, prediction, words);
                profile::add(self, reference, words);
                words.keys(0) == words.keys(1)
            }),
            _ => self.normalize(prediction) == self.normalize(reference),
        }
    }

    /// Returns the token-level F1 in [0, 1] with one reference; dspy's `f1_score`.
    pub fn f1_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, overlap::f1)
    }

    /// Returns HotPotQA's F1 in [0, 1] with one reference; dspy's `hotpot_f1_score`.
    pub fn hotpot_f1_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, overlap::hotpot_f1)
    }

    /// Returns the token-level precision in [0, 1] with one reference; dspy's `precision_score`.
    pub fn precision_score(self, prediction: &str, reference: &str) -> f64 {
        self.pair(prediction, reference, overlap::precision)
    }

    /// Returns the token-level recall in [0, 1] with one reference, as computed in dspy's
    /// `f1_score`.
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
            profile::add(self, prediction, words);
            for answer in answers {
                match answer.as_ref() {
                    answer if answer == prediction => words.repeat(0),
                    answer => profile::add(self, answer, words),
                }
            }
            overlap::best(words, 0, score)
        }))
    }

    /// Returns `true` if the prediction equals any reference after normalization; dspy's `EM`. See
    /// [`em`](super::em).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn em<S: AsRef<str>>(self, prediction: &str, answers: &[S]) -> Result<bool, NoReferences> {
        if answers.is_empty() {
            return Err(NoReferences);
        }
        Ok(answers
            .iter()
            .any(|answer| self.em_score(prediction, answer.as_ref())))
    }

    /// Returns the best token-level F1 over the references; dspy's `F1`. See [`f1`](super::f1).
    ///
    /// # Errors
    /// [`NoReferences`] if `answers` is empty.
    pub fn f1<S: AsRef<str>>(self, prediction: &str, answers: &[S]) -> Result<f64, NoReferences> {
        self.best(prediction, answers, overlap::f1)
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
        self.best(prediction, answers, overlap::hotpot_f1)
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
        self.best(prediction, answers, overlap::precision)
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
        self.best(prediction, answers, overlap::recall)
    }

    /// Returns `true` if a reference matches exactly, or with an F1 of at least `frac`. See
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

    /// Returns `true` if any passage contains any answer. See
    /// [`answer_passage_match`](super::answer_passage_match).
    ///
    /// The folding profiles compare their own tokens, and find an answer without tokens nowhere.
    pub fn answer_passage_match<P: AsRef<str>, A: AsRef<str>>(
        self,
        passages: &[P],
        answers: &[A],
    ) -> bool {
        PassageAnswers::new(self, answers).any_in(passages)
    }
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
