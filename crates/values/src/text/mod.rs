//! Text metrics as pure functions of strings: exact match, token overlap, answers in passages,
//! BLEU, chrF, ROUGE, edit distances, and numeric match.
//!
//! Arguments come in the order (prediction, references), as in DSPy's
//! `EM(prediction, answers_list)`.
//!
//! The free functions for exact match and token overlap return the same values as dspy 3.4.1, bit for bit, for any
//! string of characters of Unicode 14. [`Profile`] has the same functions for other normalizations. [`PassageAnswers`]
//! normalizes answers once, to compare them with many predictions. [`numeric_match`] compares numbers instead of words.
//! The metrics over rows in `dsrs_metrics::metrics` use this module.

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

/// Compiles a pattern of this module.
fn regex(pattern: &str) -> regex::Regex {
    regex::Regex::new(pattern).expect("a valid pattern")
}

/// The error returned when there is no reference answer to compare with.
///
/// dspy raises a `ValueError` here, because it takes the maximum of an empty list. A score of 0 would be wrong, because
/// nothing was compared.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no reference answer to compare the prediction with; give at least one")]
pub struct NoReferences;

crate::debug_as_display!(NoReferences);
