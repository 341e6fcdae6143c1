//! Reference answers, normalized once for many predictions.

use super::Profile;
use super::token_overlap::{Answer, Kept, Prepared, hotpot_f1};
use crate::text::NoReferences;

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
    answers: Vec<Kept>,
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
        let prepare = |answer: &S| Kept::new(profile, answer.as_ref());
        Ok(Self { profile, answers: answers.iter().map(prepare).collect() })
    }

    /// Returns the profile that the references were normalized with.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Whether the prediction equals any reference after normalization.
    #[must_use]
    pub fn em(&self, prediction: &str) -> bool {
        let normalized = self.profile.normalize(prediction);
        self.answers.iter().any(|answer| answer.answer().text == normalized.as_bytes())
    }

    /// Returns the best token-level F1 in [0, 1].
    #[must_use]
    pub fn f1(&self, prediction: &str) -> f64 {
        self.best(prediction, |one, other| one.overlap(other).f1())
    }

    /// Returns the best HotPotQA F1 in [0, 1].
    #[must_use]
    pub fn hotpot_f1(&self, prediction: &str) -> f64 {
        self.best(prediction, hotpot_f1)
    }

    /// Returns the best token-level precision in [0, 1].
    #[must_use]
    pub fn precision(&self, prediction: &str) -> f64 {
        self.best(prediction, |one, other| one.overlap(other).precision())
    }

    /// Returns the best token-level recall in [0, 1].
    #[must_use]
    pub fn recall(&self, prediction: &str) -> f64 {
        self.best(prediction, |one, other| one.overlap(other).recall())
    }

    /// Whether a reference matches exactly (`frac` of at least 1) or with an F1 of at least `frac`.
    #[must_use]
    pub fn matches(&self, prediction: &str, frac: f64) -> bool {
        if frac >= 1.0 { self.em(prediction) } else { self.f1(prediction) >= frac }
    }

    fn best(&self, prediction: &str, score: impl Fn(Answer<'_>, Answer<'_>) -> f64) -> f64 {
        let mut prepared = Prepared::new();
        let prediction = prepared.answer(self.profile, prediction);
        let scores = self.answers.iter().map(|answer| score(prediction, answer.answer()));
        scores.fold(0.0, f64::max)
    }
}
