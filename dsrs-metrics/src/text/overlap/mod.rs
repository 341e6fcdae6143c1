//! Metrics of n-grams and word sequences shared with references: BLEU, chrF, ROUGE.

mod bleu;
mod chrf;
mod ngrams;
mod rouge;

pub use bleu::{BleuOptions, BleuSmoothing, BleuTokens};
pub use chrf::ChrfOptions;
pub(crate) use ngrams::MAX_ORDER;
pub use rouge::{Rouge, RougeOptions, RougeScore, RougeTokens};

/// Returns about how many words a string of this many bytes has, for the memory that is reserved for them: few words have
/// less than four bytes with the space after them.
fn about(bytes: usize) -> usize {
    (bytes / 4).min(1_000)
}
