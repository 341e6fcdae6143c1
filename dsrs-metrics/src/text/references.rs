//! The gold side of a comparison, normalized once for many predictions.

use super::passage::TokenList;
use super::score::Prepared;
use super::{NoReferences, Profile};

/// One or more reference answers, normalized and cut into tokens once.
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
    answers: Vec<Prepared>,
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
        let prepare = |answer: &S| Prepared::new(profile, answer.as_ref());
        Ok(Self { profile, answers: answers.iter().map(prepare).collect() })
    }

    pub(super) fn one(profile: Profile, answer: &str) -> Self {
        Self { profile, answers: vec![Prepared::new(profile, answer)] }
    }

    /// The profile that the references were normalized with.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Whether the prediction is the same as any reference after normalization.
    #[must_use]
    pub fn em(&self, prediction: &str) -> bool {
        let normalized = self.profile.normalize(prediction);
        self.answers.iter().any(|answer| answer.text() == normalized)
    }

    /// The best token-level F1 in [0, 1].
    #[must_use]
    pub fn f1(&self, prediction: &str) -> f64 {
        self.best(prediction, Prepared::f1)
    }

    /// The best HotPotQA F1 in [0, 1].
    #[must_use]
    pub fn hotpot_f1(&self, prediction: &str) -> f64 {
        self.best(prediction, Prepared::hotpot_f1)
    }

    /// The best token-level precision in [0, 1].
    #[must_use]
    pub fn precision(&self, prediction: &str) -> f64 {
        self.best(prediction, Prepared::precision)
    }

    /// The best token-level recall in [0, 1].
    #[must_use]
    pub fn recall(&self, prediction: &str) -> f64 {
        self.best(prediction, Prepared::recall)
    }

    /// Exact match where `frac` is at least 1, otherwise whether the best F1 is at least `frac`.
    #[must_use]
    pub fn matches(&self, prediction: &str, frac: f64) -> bool {
        if frac >= 1.0 { self.em(prediction) } else { self.f1(prediction) >= frac }
    }

    fn best(&self, prediction: &str, score: fn(&Prepared, &Prepared) -> f64) -> f64 {
        let prediction = Prepared::new(self.profile, prediction);
        let scores = self.answers.iter().map(|answer| score(&prediction, answer));
        scores.fold(0.0, f64::max)
    }
}

/// Answers to look for in passages, normalized and cut into tokens once.
///
/// ```
/// # use dsrs_metrics::text::{PassageAnswers, Profile};
/// let answers = PassageAnswers::new(Profile::Dspy, &["Eiffel Tower"]);
/// assert!(answers.in_passage("See the Eiffel-Tower? No: the Eiffel Tower."));
/// ```
#[derive(Clone, Debug)]
pub struct PassageAnswers {
    profile: Profile,
    answers: Vec<TokenList>,
}

impl PassageAnswers {
    /// Normalizes the answers. None at all is no error here: nothing is then found, as in dspy.
    pub fn new<S: AsRef<str>>(profile: Profile, answers: &[S]) -> Self {
        let tokens = |answer: &S| passage_tokens(profile, answer.as_ref());
        Self { profile, answers: answers.iter().map(tokens).collect() }
    }

    /// Whether the passage contains any of the answers as consecutive tokens.
    #[must_use]
    pub fn in_passage(&self, passage: &str) -> bool {
        if self.answers.is_empty() {
            return false;
        }
        let tokens = passage_tokens(self.profile, passage);
        // dspy finds an answer without tokens in every passage.
        let empty_matches = self.profile == Profile::Dspy;
        self.answers
            .iter()
            .any(|answer| (empty_matches || !answer.is_empty()) && tokens.contains(answer))
    }

    /// Whether any of the passages contains any of the answers.
    pub fn any_in<S: AsRef<str>>(&self, passages: &[S]) -> bool {
        passages.iter().any(|passage| self.in_passage(passage.as_ref()))
    }
}

fn passage_tokens(profile: Profile, text: &str) -> TokenList {
    let normalized = profile.normalize(text);
    if profile == Profile::Dspy {
        return TokenList::dpr(normalized);
    }
    let spans = super::scripts::tokens(profile, &normalized).into_iter();
    TokenList::from_tokens(
        spans.filter_map(|(start, end)| normalized.get(start as usize..end as usize)),
    )
}
