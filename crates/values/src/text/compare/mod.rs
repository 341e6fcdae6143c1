//! Compares an answer with reference answers.
//!
//! The functions compare answers by exact match, by token overlap, or by searching for them in passages.
//!
//! The free functions use the `Dspy` profile. [`Profile`] has the same functions for every profile. This table shows
//! which files each function uses:
//!
//! | function | files, in the order they are called |
//! | --- | --- |
//! | `f1`, `hotpot_f1`, `precision`, `recall` | `profile`: a list of integers for each string; `overlap`: counts, score |
//! | `em`, `answer_exact_match` with a `frac` of 1 | `profile` |
//! | [`normalize_text`] | this one |
//! | `answer_passage_match`, [`PassageAnswers`] | `profile` |
//!
//! `profile` reads words of ASCII letters and digits as integers and normalizes other words one by one with
//! [`normalize_text`]. The folding profiles normalize whole strings with `folded` instead, even for exact match.
//! [`words`](super::words) contains lists of words and reads bytes.

#[cfg(test)]
mod definition;
mod folded;
mod overlap;
mod profile;

pub use profile::{PassageAnswers, Profile, dpr_normalize};

use unicode_normalization::UnicodeNormalization as _;

use super::NoReferences;
use super::unicode::{is_space, is_word};

/// Returns `true` if the prediction equals any of the references after normalization.
///
/// Strings are normalized with [`normalize_text`]. This function is equivalent to dspy's `EM`.
///
/// # Errors
/// Returns [`NoReferences`] if `answers` is empty.
///
/// ```
/// # use dsrs_metrics::text::em;
/// assert_eq!(em("The Eiffel Tower", &["Eiffel Tower", "Louvre"]), Ok(true));
/// assert_eq!(em("paris", &["Paris, France"]), Ok(false));
/// ```
pub fn em<S: AsRef<str>>(prediction: &str, answers: &[S]) -> Result<bool, NoReferences> {
    Profile::Dspy.em(prediction, answers)
}

/// Returns the best token-level F1 over all references, in [0, 1].
///
/// This function is equivalent to dspy's `F1`.
///
/// Tokens are the words of the normalized strings. A word that occurs several times is counted several times. F1 is
/// `2pr / (p + r)`. If the strings have no token in common, it is 0, even if both are empty.
///
/// # Errors
/// Returns [`NoReferences`] if `answers` is empty.
///
/// ```
/// # use dsrs_metrics::text::f1;
/// assert_eq!(f1("Eiffel Tower in Paris", &["Paris"]), Ok(0.4));
/// ```
pub fn f1<S: AsRef<str>>(prediction: &str, answers: &[S]) -> Result<f64, NoReferences> {
    Profile::Dspy.f1(prediction, answers)
}

/// Returns the best HotPotQA F1 over all references, in [0, 1].
///
/// This function is equivalent to dspy's `HotPotF1`.
///
/// The score is computed as in [`f1`], with one exception. If one of the normalized strings is `yes`, `no` or
/// `noanswer` and the other is different, the score is 0.
///
/// # Errors
/// Returns [`NoReferences`] if `answers` is empty.
///
/// ```
/// # use dsrs_metrics::text::{f1, hotpot_f1};
/// assert_eq!(hotpot_f1("yes", &["yes it is"]), Ok(0.0));
/// assert_eq!(f1("yes", &["yes it is"]), Ok(0.5));
/// ```
pub fn hotpot_f1<S: AsRef<str>>(prediction: &str, answers: &[S]) -> Result<f64, NoReferences> {
    Profile::Dspy.hotpot_f1(prediction, answers)
}

/// Returns the best token-level precision over all references, in [0, 1].
///
/// Precision is the fraction of the prediction's tokens that are found in the reference. The result is the maximum of
/// dspy's `precision_score` over all references.
///
/// # Errors
/// Returns [`NoReferences`] if `answers` is empty.
///
/// ```
/// # use dsrs_metrics::text::precision;
/// assert_eq!(precision("eiffel tower in paris", &["Eiffel Tower"]), Ok(0.5));
/// ```
pub fn precision<S: AsRef<str>>(prediction: &str, answers: &[S]) -> Result<f64, NoReferences> {
    Profile::Dspy.precision(prediction, answers)
}

/// Returns the best token-level recall over all references, in [0, 1].
///
/// Recall is the fraction of the reference's tokens that are found in the prediction. dspy has no separate function for
/// recall, but computes it in its `f1_score`.
///
/// # Errors
/// Returns [`NoReferences`] if `answers` is empty.
///
/// ```
/// # use dsrs_metrics::text::recall;
/// assert_eq!(recall("Paris", &["Paris, France"]), Ok(0.5));
/// ```
pub fn recall<S: AsRef<str>>(prediction: &str, answers: &[S]) -> Result<f64, NoReferences> {
    Profile::Dspy.recall(prediction, answers)
}

/// Returns `true` if the prediction equals the reference after normalization.
///
/// Strings are normalized with [`normalize_text`]. This function is equivalent to dspy's `em_score`.
pub fn em_score(prediction: &str, reference: &str) -> bool {
    Profile::Dspy.em_score(prediction, reference)
}

/// Returns the token-level F1 between a prediction and a reference, in [0, 1].
///
/// This function is equivalent to dspy's `f1_score`.
pub fn f1_score(prediction: &str, reference: &str) -> f64 {
    Profile::Dspy.f1_score(prediction, reference)
}

/// Returns the HotPotQA F1 between a prediction and a reference, in [0, 1].
///
/// This function is equivalent to dspy's `hotpot_f1_score`.
pub fn hotpot_f1_score(prediction: &str, reference: &str) -> f64 {
    Profile::Dspy.hotpot_f1_score(prediction, reference)
}

/// Returns the token-level precision of a prediction against a reference, in [0, 1].
///
/// This function is equivalent to dspy's `precision_score`.
pub fn precision_score(prediction: &str, reference: &str) -> f64 {
    Profile::Dspy.precision_score(prediction, reference)
}

/// Returns the token-level recall of a prediction against a reference, in [0, 1].
///
/// The recall is computed as in dspy's `f1_score`.
pub fn recall_score(prediction: &str, reference: &str) -> f64 {
    Profile::Dspy.recall_score(prediction, reference)
}

/// Returns `true` if the prediction matches any of the references.
///
/// If `frac` is at least 1, the match must be exact. Otherwise, the token-level F1 must be at least `frac`. This
/// function is equivalent to dspy's `answer_exact_match`.
///
/// If `frac` is 0 or less, every prediction is accepted. If it is NaN, every prediction is rejected.
///
/// # Errors
/// Returns [`NoReferences`] if `answers` is empty.
///
/// ```
/// # use dsrs_metrics::text::answer_exact_match;
/// assert_eq!(answer_exact_match("paris", &["Paris, France"], 1.0), Ok(false));
/// assert_eq!(answer_exact_match("paris", &["Paris, France"], 0.6), Ok(true));
/// ```
pub fn answer_exact_match<S: AsRef<str>>(
    prediction: &str,
    answers: &[S],
    frac: f64,
) -> Result<bool, NoReferences> {
    Profile::Dspy.answer_exact_match(prediction, answers, frac)
}

/// Returns `true` if any of the passages contains any of the answers.
///
/// A passage contains an answer if the answer's tokens occur in it consecutively. This function is equivalent to dspy's
/// `answer_passage_match`.
///
/// Passages and answers are normalized with [`normalize_text`] and then split into tokens with [`dpr_normalize`]. The
/// result is `false` if there are no answers or no passages.
///
/// As in dspy, an answer that normalizes to an empty string is found in every passage. With other profiles, it is never
/// found.
///
/// ```
/// # use dsrs_metrics::text::answer_passage_match;
/// let passages = ["The Louvre is a museum.", "The Eiffel Tower is in Paris."];
/// assert!(answer_passage_match(&passages, &["Eiffel Tower"]));
/// assert!(!answer_passage_match(&passages, &["Tower Eiffel"]));
/// ```
pub fn answer_passage_match<P: AsRef<str>, A: AsRef<str>>(passages: &[P], answers: &[A]) -> bool {
    Profile::Dspy.answer_passage_match(passages, answers)
}

/// The English articles that normalization removes, in lower case.
pub const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Normalizes a string for comparison, exactly as dspy's `normalize_text` does.
///
/// Normalization has these steps, in this order:
///
/// - The string is converted to Unicode NFD.
/// - It is converted to lower case.
/// - The 32 ASCII punctuation characters are removed.
/// - The English articles `a`, `an` and `the` are removed.
/// - Whitespace is collapsed to single spaces.
///
/// For any string of Unicode 14 characters, the result is the same as in dspy 3.4.1 on CPython 3.11.
///
/// Normalizing the result again can change it. If punctuation was removed between two combining marks, the second
/// normalization can reorder the marks.
///
/// ```
/// # use dsrs_metrics::text::normalize_text;
/// assert_eq!(normalize_text("The,  Eiffel  Tower!"), "eiffel tower");
/// assert_eq!(normalize_text("C++"), "c");
/// assert_eq!(normalize_text("A"), "");
/// ```
pub fn normalize_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if text.chars().all(is_plain) {
        write_words(text.chars().map(|c| c.to_ascii_lowercase()), &mut out);
    } else {
        let lower = text.nfd().collect::<String>().to_lowercase();
        write_words(lower.chars(), &mut out);
    }
    out
}

/// Returns `true` if a character is ASCII or common in Chinese. Such a character is its own NFD form, and only ASCII
/// letters have a different lower-case form.
fn is_plain(c: char) -> bool {
    c.is_ascii()
        || matches!(c, '\u{2010}'..='\u{205e}' | '\u{3001}'..='\u{3029}' | '\u{3400}'..='\u{9fff}' | '\u{ff01}'..='\u{ff20}')
}

/// Removes punctuation and articles, and collapses white space.
///
/// `\b(a|an|the)\b` matches exactly if a whole run of word characters is an article, and the match becomes a space. So
/// an article is removed at the end of its run.
#[inline]
fn write_words(chars: impl Iterator<Item = char>, out: &mut String) {
    // Where the current run of ASCII letters and digits starts.
    let mut run = 0;
    for c in chars.filter(|c| !c.is_ascii_punctuation()) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
            continue;
        }
        end_run(out, run, Some(c));
        if is_space(c) {
            separate(out);
        } else {
            out.push(c);
        }
        run = out.len();
    }
    end_run(out, run, None);
    out.truncate(out.trim_end_matches(' ').len());
}

/// Removes a run that is an article, unless it is part of a longer run of word characters.
fn end_run(out: &mut String, run: usize, next: Option<char>) {
    let is_outside = |c: Option<char>| !c.is_some_and(is_word);
    if ARTICLES.contains(&&out[run..])
        && is_outside(next)
        && is_outside(out[..run].chars().next_back())
    {
        out.truncate(run);
        separate(out);
    }
}

fn separate(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}
