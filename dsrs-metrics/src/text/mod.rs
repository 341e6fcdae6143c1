//! Text metrics: exact match, token overlap, passage match and numeric match, as pure functions of strings.
//!
//! The free functions give what dspy 3.4.1 gives, bit for bit, for any Unicode text. The same functions on
//! [`Profile`] take another normalization; [`References`] and [`PassageAnswers`] keep the gold side normalized for
//! many predictions. [`numeric_match`] compares numbers instead of text. Metrics over rows are built from these
//! elsewhere.

mod compare;
mod edits;
mod numbers;
mod overlap;
#[cfg(any(feature = "cli", feature = "lm"))]
pub(crate) mod suggest;
mod unicode;
mod words;

pub use compare::{
    ARTICLES, HOTPOT_LABELS, PassageAnswers, Profile, References, answer_exact_match,
    answer_passage_match, dpr_normalize, em, em_score, f1, f1_score, hotpot_f1, hotpot_f1_score,
    normalize_text, precision, precision_score, recall, recall_score,
};
pub use edits::{EditCounts, EditDistance, EntityCounts};
pub use numbers::{DecimalMark, Number, NumericOptions, last_number, numeric_match};
pub(crate) use overlap::MOST_ORDERS;
pub use overlap::{
    BleuOptions, BleuSmoothing, BleuTokens, ChrfOptions, Rouge, RougeOptions, RougeScore,
    RougeTokens,
};
pub use unicode::NormalForm;
pub(crate) use words::split;
pub use words::{Searchable, count_tokens, count_words};

/// There was no reference answer to compare with.
///
/// dspy raises a `ValueError` here (the maximum of an empty list); a score of 0 would be a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no reference answer to compare the prediction with: give at least one")]
pub struct NoReferences;
