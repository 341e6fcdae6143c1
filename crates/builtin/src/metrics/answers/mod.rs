//! Metrics that compare an answer with reference answers: exact match, token F1, passages, numbers.

mod numeric;
mod text;

pub use crate::core::rows::field_types::{StrOrList, StrOrNumber};
pub use numeric::{NumericMatch, numeric_match};
pub use text::{
    AnswerExactMatch, AnswerPassageMatch, Em, F1, HotpotF1, Precision, Recall, answer_exact_match,
    answer_passage_match, em, f1, hotpot_f1, precision, recall,
};
