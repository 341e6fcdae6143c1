//! The built-in metrics, under the names of the reference documents.
//!
//! Each is a `#[metric]` function over the pure functions of [`text`](crate::text), with the struct of
//! the same name beside it. All read `gold.answer` and `pred.answer`; rows with other names are mapped
//! (`--map` on the command line).

mod answers;
mod numeric;
mod text;

pub use answers::StrOrList;
pub use numeric::{NumericMatch, TextOrNumber, numeric_match};
pub use text::{
    AnswerExactMatch, AnswerPassageMatch, Em, F1, HotpotF1, Precision, Recall, answer_exact_match,
    answer_passage_match, em, f1, hotpot_f1, precision, recall,
};
