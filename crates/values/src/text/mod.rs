//! Text metrics that compare a prediction with reference strings.
//!
//! This module contains exact match, token overlap, answers in passages, BLEU, chrF, ROUGE, edit distances, and numeric
//! match.
//!
//! The prediction is the first argument, and the references are the second, as in DSPy's `EM(prediction,
//! answers_list)`.
//!
//! The free functions for exact match and token overlap return the same values as dspy 3.4.1, bit for bit. This holds
//! for any string of Unicode 14 characters. [`Profile`] has the same functions for other normalizations.
//!
//! [`PassageAnswers`] normalizes answers once, so they can be compared with many predictions. [`numeric_match`]
//! compares numbers instead of words.
//!
//! For metrics that score rows, see `dsrs_metrics::metrics`.

mod compare;
#[cfg(test)]
mod definition;
mod edits;
mod entities;
mod matching;
mod numbers;
mod overlap;
mod unicode;
mod words;

pub use compare::{
    ARTICLES, PassageAnswers, Profile, answer_exact_match, answer_passage_match, dpr_normalize, em,
    em_score, f1, f1_score, hotpot_f1, hotpot_f1_score, normalize_text, precision, precision_score,
    recall, recall_score,
};
pub(crate) use edits::common_subsequence;
pub use edits::{EditCounts, EditDistance};
pub use entities::EntityCounts;
pub use matching::{Location, MatchOptions, choice_labels, selected_choices, trim_punctuation};
pub use numbers::{DecimalMark, Number, NumericOptions, last_number, numeric_match};
#[doc(hidden)]
pub use overlap::MAX_ORDER;
pub use overlap::{
    BleuOptions, BleuSmoothing, BleuTokens, ChrfOptions, Rouge, RougeOptions, RougeScore,
    RougeTokens,
};
pub use unicode::NormalForm;
#[doc(hidden)]
pub use unicode::digit_value;
#[doc(hidden)]
pub use words::split;
pub use words::{Searchable, count_tokens, count_words};

/// Compiles one of this module's patterns.
pub(crate) fn regex(pattern: &str) -> regex::Regex {
    regex::Regex::new(pattern).expect("a valid pattern")
}

/// The error returned when there is no reference answer to compare with.
///
/// A score of 0 would be wrong, because nothing was compared. dspy raises a `ValueError` in this case.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no reference answer to compare the prediction with; give at least one")]
pub struct NoReferences;

crate::debug_as_display!(NoReferences);
