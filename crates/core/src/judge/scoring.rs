//! How the answer of a model becomes a score: as it is written, by the probabilities of its first token, or as the mean of several
//! draws. The last two are those of G-Eval (Liu et al. 2023, section 2.3).

use crate::lm::Logprobs;

/// How the answer of a model becomes a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Scoring {
    /// The score of the answer as it is written.
    Text,
    /// The mean of the scores of all values of this output, weighted by their probabilities.
    Logprobs(&'static str),
    /// The mean of the scores of so many answers.
    Draws(u32),
}

impl Scoring {
    /// Returns what a request asks for, if the score is computed from probabilities.
    pub(super) fn logprobs(self) -> Option<Logprobs> {
        match self {
            Self::Logprobs(output) => Some(Logprobs::of(output)),
            Self::Text | Self::Draws(_) => None,
        }
    }

    /// Returns how often each model answers about a row, or about each order of a pair.
    pub(super) fn draws(self) -> u32 {
        match self {
            Self::Draws(draws) => draws.max(1),
            Self::Text | Self::Logprobs(_) => 1,
        }
    }
}
