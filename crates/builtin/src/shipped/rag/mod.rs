//! Judges of retrieval-augmented generation, after ragas 0.4. The guide page `rag` has their formulas, and how they differ from
//! ragas.
//!
//! All read `gold.question`, `gold.answer`, `pred.answer` and `pred.context`, a list of strings in the order of retrieval, or some of
//! these. A statement that is judged has exactly one verdict, or the row fails.

mod contexts;
mod correctness;
mod relevancy;
mod statements;

pub use self::contexts::*;
pub use self::correctness::*;
pub use self::relevancy::*;
pub use self::statements::*;

use dsrs_metrics::judge_output;

/// The verdict on a statement: the contexts that support it.
#[judge_output]
#[derive(Debug, Clone)]
pub struct StatementSupport {
    /// why, in one sentence
    pub reason: String,
    /// the contexts from which the statement follows; empty if there is none
    pub contexts: Vec<u32>,
}

impl StatementSupport {
    /// Whether a context supports the statement.
    fn is_supported(&self) -> bool {
        !self.contexts.is_empty()
    }
}

/// The verdict on a claim.
#[judge_output]
#[derive(Debug, Clone)]
pub struct ClaimVerdict {
    /// why, in one sentence
    pub reason: String,
    /// whether the claim follows from the other text
    pub supported: bool,
}
