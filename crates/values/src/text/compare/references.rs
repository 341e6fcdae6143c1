//! Reference answers, normalized once for many predictions.

use super::overlap::{self, Score, best};
use super::profile::Profile;
use super::tokens;
use crate::text::NoReferences;
use crate::text::words::WordLists;

/// One or more reference answers, normalized and split into tokens once.
///
/// ```
/// # use dsrs_metrics::text::Profile;
/// let gold = Profile::Dspy.references(&["Paris", "Paris, France"])?;
/// assert!(gold.em("paris!"));
/// assert_eq!(gold.f1("Paris in France"), 0.8);
/// # Ok::<(), dsrs_metrics::text::NoReferences>(())
/// ```
#[derive(Clone, Debug)]
pub struct References {
    profile: Profile,
    /// The normalized references.
    answers: Vec<String>,
    tokens: WordLists,
}

impl References {
    /// Normalizes the references.
    ///
    /// # Errors
    /// [`NoReferences`] if there is none.
    pub fn new<S: AsRef<str>>(profile: Profile, answers: &[S]) -> Result<Self, NoReferences> {
        if answers.is_empty() {
            return Err(NoReferences);
        }
        let normalize = |answer: &S| profile.normalize(answer.as_ref());
        let answers: Vec<String> = answers.iter().map(normalize).collect();
        let mut tokens = WordLists::default();
        answers
            .iter()
            .for_each(|answer| tokens.add(profile.split(answer)));
        Ok(Self {
            profile,
            answers,
            tokens,
        })
    }

    /// Returns the profile that the references were normalized with.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Whether the prediction equals any reference after normalization.
    pub fn em(&self, prediction: &str) -> bool {
        self.answers.contains(&self.profile.normalize(prediction))
    }

    /// Returns the best token-level F1 in [0, 1].
    pub fn f1(&self, prediction: &str) -> f64 {
        self.best(prediction, overlap::f1)
    }

    /// Returns the best HotPotQA F1 in [0, 1].
    pub fn hotpot_f1(&self, prediction: &str) -> f64 {
        self.best(prediction, overlap::hotpot_f1)
    }

    /// Returns the best token-level precision in [0, 1].
    pub fn precision(&self, prediction: &str) -> f64 {
        self.best(prediction, overlap::precision)
    }

    /// Returns the best token-level recall in [0, 1].
    pub fn recall(&self, prediction: &str) -> f64 {
        self.best(prediction, overlap::recall)
    }

    /// Whether a reference matches exactly (`frac` of at least 1) or with an F1 of at least `frac`.
    pub fn matches(&self, prediction: &str, frac: f64) -> bool {
        if frac >= 1.0 {
            self.em(prediction)
        } else {
            self.f1(prediction) >= frac
        }
    }

    fn best(&self, prediction: &str, score: Score) -> f64 {
        WordLists::with(|words| {
            words.add_all(&self.tokens);
            tokens::add(self.profile, prediction, words);
            best(words, self.answers.len(), score)
        })
    }
}
