//! The DPR tokenizer, and the search for answers in passages.

use super::profile::Profile;
use crate::text::unicode::{DprClass, dpr_class, lower, nfd};

/// Tokens in one buffer: a passage has hundreds of tokens, and an allocation for each would be
/// slow.
#[derive(Clone, Debug, Default)]
struct TokenList {
    text: String,
    spans: Vec<(usize, usize)>,
}

impl TokenList {
    /// dspy's `DPR_normalize`: NFD, then runs of letters, numbers and marks, or other visible
    /// characters one by one, in lower case.
    fn dpr(text: String) -> Self {
        if text.is_ascii() {
            return Self::dpr_ascii(text);
        }
        let chars = nfd(&text);
        let mut list = Self::default();
        let mut at = 0;
        while at < chars.len() {
            let length = match dpr_class(chars[at]) {
                DprClass::Skip => {
                    at += 1;
                    continue;
                }
                DprClass::Single => 1,
                DprClass::Run => chars[at..]
                    .iter()
                    .take_while(|&&c| dpr_class(c) == DprClass::Run)
                    .count(),
            };
            let start = list.text.len();
            // Each token separately: a final sigma depends on its own token only.
            lower(&chars[at..at + length], |c| list.text.push(c));
            list.spans.push((start, list.text.len()));
            at += length;
        }
        list
    }

    /// Lower-cases in place, so that a passage is not copied.
    fn dpr_ascii(mut text: String) -> Self {
        text.make_ascii_lowercase();
        let bytes = text.as_bytes();
        let mut spans = Vec::with_capacity(text.len() / 4);
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes[at..].iter();
            let run = rest.take_while(|b| b.is_ascii_alphanumeric()).count();
            if bytes[at].is_ascii_graphic() {
                spans.push((at, at + run.max(1)));
            }
            at += run.max(1);
        }
        Self { text, spans }
    }

    fn from_tokens<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        let mut list = Self::default();
        for token in tokens {
            let start = list.text.len();
            list.text.push_str(token);
            list.spans.push((start, list.text.len()));
        }
        list
    }

    fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans
            .iter()
            .map(|&(start, end)| &self.text[start..end])
    }

    /// Whether the tokens of `other` are consecutive tokens of this list. An empty list is
    /// contained in every list.
    fn contains(&self, other: &Self) -> bool {
        if other.is_empty() {
            return true;
        }
        self.spans.windows(other.spans.len()).any(|window| {
            let here = window.iter().map(|&(start, end)| &self.text[start..end]);
            here.eq(other.iter())
        })
    }
}

/// Splits a string into lower-cased tokens, exactly as dspy's `DPR_normalize`.
///
/// After NFD a token is a run of letters, numbers and combining marks, or a single other character
/// that is neither a separator nor a control character. The character classes are defined as in
/// the Python package `regex`.
///
/// ```
/// # use dsrs_metrics::text::dpr_normalize;
/// assert_eq!(dpr_normalize("U.S. $5"), ["u", ".", "s", ".", "$", "5"]);
/// ```
pub fn dpr_normalize(text: &str) -> Vec<String> {
    TokenList::dpr(text.to_owned())
        .iter()
        .map(str::to_owned)
        .collect()
}

/// Answers to search for in passages, normalized and split into tokens once.
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
    /// Normalizes the answers. An empty list is not an error: nothing is found then, as in dspy.
    pub fn new<S: AsRef<str>>(profile: Profile, answers: &[S]) -> Self {
        let tokens = |answer: &S| passage_tokens(profile, answer.as_ref());
        Self {
            profile,
            answers: answers.iter().map(tokens).collect(),
        }
    }

    /// Whether the passage contains any of the answers as consecutive tokens.
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
        passages
            .iter()
            .any(|passage| self.in_passage(passage.as_ref()))
    }
}

fn passage_tokens(profile: Profile, text: &str) -> TokenList {
    let normalized = profile.normalize(text);
    if profile == Profile::Dspy {
        return TokenList::dpr(normalized);
    }
    TokenList::from_tokens(profile.split(&normalized))
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
