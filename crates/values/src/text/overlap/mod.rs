//! Metrics of n-grams and word sequences shared with references: BLEU, chrF, ROUGE.

mod bleu;
mod chrf;
mod ngrams;
mod rouge;
#[cfg(test)]
mod tests;

pub use bleu::{BleuOptions, BleuSmoothing, BleuTokens};
pub use chrf::ChrfOptions;
pub use ngrams::MAX_ORDER;
pub use rouge::{Rouge, RougeOptions, RougeScore, RougeTokens};
