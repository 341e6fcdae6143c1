//! Metrics of ranked retrieval, given which documents are relevant and how much.
//!
//! All are methods of a [`Ranking`]. They are defined as in `trec_eval` (`P`, `recall`,
//! `success`, `recip_rank`, `map_cut`, `ndcg_cut`). The metrics over rows in
//! `dsrs_metrics::metrics::retrieval` are built on this module.

mod cutoffs;
mod ids;
mod ranking;

pub use cutoffs::{Cutoffs, InvalidCutoffs};
pub use ids::{DocumentId, InvalidGrade, Relevant, Retrieved};
pub use ranking::{Gain, Ranking, average_precision};
