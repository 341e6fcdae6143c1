//! Why a judge gave no verdict.

use crate::core::spec::ScoreRange;
use crate::lm::{LmError, LmErrorKind};

/// Why a judge gave no verdict. None of these says anything of the answer that was to be judged, so none
/// becomes a score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// Nothing says which model to ask.
    #[cfg_attr(
        feature = "lm",
        error(
            "no language model is configured: set DSRS_LM=provider:model, such as openai:gpt-5-mini"
        )
    )]
    #[cfg_attr(
        not(feature = "lm"),
        error(
            "no language model is configured: build with feature `lm` and set DSRS_LM=provider:model, or give the judge one with `.with_lm(..)`"
        )
    )]
    NoModel,
    /// The panel was set up in a way that can give no score; said before any model is asked.
    #[error("{0}")]
    Panel(String),
    /// The judge names a model, and nothing can connect to it.
    #[error(
        "nothing here can connect to `{id}`: build with feature `lm`, or give the judge a model with `.with_lm(..)`"
    )]
    NoConnection {
        /// The model.
        id: String,
    },
    /// The model gave no reply.
    #[error(transparent)]
    Model(#[from] LmError),
    /// The model declined to judge.
    #[error("{lm} declined to judge: {said}")]
    Refused {
        /// The model.
        lm: String,
        /// What it said.
        said: String,
    },
    /// A filter of the provider withheld the reply.
    #[error("{lm}: the provider's filter withheld the reply")]
    Filtered {
        /// The model.
        lm: String,
    },
    /// The limit on tokens cut the reply short.
    #[error("{lm} was cut short before its verdict: raise `max_tokens`")]
    CutShort {
        /// The model.
        lm: String,
    },
    /// The reply is no verdict, and neither is the one after it was told so.
    #[error("{lm} gave no verdict, also when told why: {flaws}; it said {said:?}")]
    Unreadable {
        /// The model.
        lm: String,
        /// What is wrong with the last reply.
        flaws: String,
        /// How the last reply begins.
        said: String,
    },
    /// The outputs were read, but what `score = ..` makes of them is no finite number.
    #[error("{lm}: the score that follows from its answer is {value}, which is no finite number")]
    NotFinite {
        /// The model.
        lm: String,
        /// The score.
        value: f64,
    },
    /// The outputs were read, but what `score = ..` makes of them lies outside the metric's range.
    #[error("{lm}: the score that follows from its answer is {value}, which lies outside {range}")]
    OutOfRange {
        /// The model.
        lm: String,
        /// The score.
        value: f64,
        /// Where the metric's scores lie.
        range: ScoreRange,
    },
    /// What `score = ..` computes of the outputs does not fit into its type.
    #[error(
        "{lm}: `{expression}` overflows with its answer: write `f64::from(..)` around whole numbers, and `1.0` instead of `1`"
    )]
    Overflow {
        /// The model.
        lm: String,
        /// The part of the score that overflows.
        expression: &'static str,
    },
    /// What `score = ..` makes of the outputs panicked.
    #[error("{lm}: the score that follows from its answer panicked: {message}")]
    ScorePanicked {
        /// The model.
        lm: String,
        /// The panic's message.
        message: String,
    },
    /// As many judges say yes as say no.
    #[error(
        "of {asked} judges {votes} said yes and {votes} said no, which is no verdict: ask an odd number of judges{}",
        Lost(*votes, *asked)
    )]
    Divided {
        /// How many say yes, and how many no.
        votes: usize,
        /// How many were asked.
        asked: usize,
    },
    /// Too few judges answered.
    #[error(
        "{heard} of {asked} judges answered, and {quorum} must; the first that did not: {first}"
    )]
    NoQuorum {
        /// How many answered.
        heard: usize,
        /// How many were asked.
        asked: usize,
        /// How many must answer.
        quorum: usize,
        /// Why the first of the others did not.
        first: Box<JudgeError>,
    },
}

/// Those who say neither.
struct Lost(usize, usize);

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.1.saturating_sub(2 * self.0) {
            0 => Ok(()),
            1 => f.write_str(" (one did not answer)"),
            lost => write!(f, " ({lost} did not answer)"),
        }
    }
}

impl JudgeError {
    /// The budget, if that is why there is no verdict.
    pub(super) fn budget_msats(&self) -> Option<u64> {
        match self {
            Self::Model(error) => match error.kind() {
                LmErrorKind::BudgetExceeded { budget_msats, .. } => Some(*budget_msats),
                _ => None,
            },
            Self::NoQuorum { first, .. } => first.budget_msats(),
            _ => None,
        }
    }
}
