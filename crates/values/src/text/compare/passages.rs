//! The DPR tokenizer, and the search for answers in passages.

use unicode_normalization::UnicodeNormalization as _;

use super::profile::Profile;
use crate::text::unicode::{DprClass, dpr_class};
use crate::text::words::WordLists;

/// Splits a string into lower-cased tokens, exactly as dspy's `DPR_normalize` does.
///
/// After NFD, a token is a run of letters, numbers and combining marks, or a single other character that is neither a
/// separator nor a control character. Characters are classified as in Python's `regex` package.
///
/// ```
/// # use dsrs_metrics::text::dpr_normalize;
/// assert_eq!(dpr_normalize("U.S. $5"), ["u", ".", "s", ".", "$", "5"]);
/// ```
pub fn dpr_normalize(text: &str) -> Vec<String> {
    // Each token separately, because a final sigma depends only on its own token.
    dpr_tokens(&text.nfd().collect::<String>())
        .map(str::to_lowercase)
        .collect()
}

/// Splits a string in NFD.
fn dpr_tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| dpr_class(c) == DprClass::Skip);
        let first = rest.chars().next()?;
        let after = rest.trim_start_matches(|c| dpr_class(c) == DprClass::Run);
        let length = usize::max(rest.len() - after.len(), first.len_utf8());
        let (token, others) = rest.split_at(length);
        rest = others;
        Some(token)
    })
}

/// Answers to search for in passages. The answers are normalized and split into tokens only once.
///
/// ```
/// # use dsrs_metrics::text::{PassageAnswers, Profile};
/// let answers = PassageAnswers::new(Profile::Dspy, &["Eiffel Tower"]);
/// assert!(answers.in_passage("See the Eiffel-Tower? No: the Eiffel Tower."));
/// ```
#[derive(Clone, Debug)]
pub struct PassageAnswers {
    profile: Profile,
    answers: WordLists,
}

impl PassageAnswers {
    /// Normalizes the answers. As in dspy, the list of answers can be empty. No passage matches an empty list.
    pub fn new<S: AsRef<str>>(profile: Profile, answers: &[S]) -> Self {
        let mut lists = WordLists::default();
        for answer in answers {
            add(profile, answer.as_ref(), &mut lists);
        }
        Self {
            profile,
            answers: lists,
        }
    }

    /// Returns `true` if the passage contains any of the answers as consecutive tokens.
    pub fn in_passage(&self, passage: &str) -> bool {
        WordLists::with(|lists| {
            lists.add_all(&self.answers);
            add(self.profile, passage, lists);
            let (answers, passage) = (self.answers.len(), lists.keys(self.answers.len()));
            (0..answers).any(|at| match lists.keys(at) {
                // dspy finds an answer without tokens in every passage.
                [] => self.profile == Profile::Dspy,
                answer => passage.windows(answer.len()).any(|here| here == answer),
            })
        })
    }

    /// Returns `true` if any of the passages contains any of the answers.
    pub fn any_in<S: AsRef<str>>(&self, passages: &[S]) -> bool {
        passages
            .iter()
            .any(|passage| self.in_passage(passage.as_ref()))
    }
}

/// Adds the tokens of a string as a list.
fn add(profile: Profile, text: &str, lists: &mut WordLists) {
    let normalized = profile.normalize(text);
    match profile {
        Profile::Dspy if normalized.is_ascii() => lists.add(dpr_tokens(&normalized)),
        Profile::Dspy => lists.add(dpr_tokens(&normalized.nfd().collect::<String>())),
        _ => lists.add(profile.split(&normalized)),
    }
}

#[cfg(test)]
mod tests {
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
