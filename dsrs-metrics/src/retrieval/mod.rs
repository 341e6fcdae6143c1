//! Ranked retrieval: how good a ranking is, given which documents are relevant and how much.
//!
//! Pure functions of a [`Ranking`]; metrics over rows are built from them elsewhere. Definitions are
//! those of `trec_eval` (`P`, `recall`, `success`, `recip_rank`, `map_cut`, `ndcg_cut`).

mod cutoffs;
mod ids;
mod ranking;

pub use cutoffs::{Cutoffs, InvalidCutoffs};
pub use ids::{DocumentId, InvalidGrade, Relevant, Retrieved};
pub use ranking::{Gain, Ranking};
