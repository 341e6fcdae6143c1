//! n-grams and word sequences that a text shares with its references: BLEU, chrF, ROUGE.

mod bleu;
mod chrf;
mod ngrams;
mod rouge;

pub use bleu::{BleuOptions, BleuSmoothing, BleuTokens};
pub use chrf::ChrfOptions;
pub(crate) use ngrams::MOST_ORDERS;
pub use rouge::{Rouge, RougeOptions, RougeScore, RougeTokens};
