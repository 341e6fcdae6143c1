//! The errors of judges.

use crate::lm::LmError;
use crate::messages::escape;
use crate::spec::ScoreRange;

/// Why a judge has no verdict. No such error depends on the quality of the judged answer, so none becomes a
/// score.
///
/// ```
/// use dsrs_metrics::judge::shipped::SemanticEquivalence;
/// use dsrs_metrics::lm::ScriptedLm;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let vote = |equivalent: bool| {
///     ScriptedLm::new().otherwise(json!({ "reasoning": "", "equivalent": equivalent }))
/// };
/// let judge = SemanticEquivalence::builder().models([vote(true), vote(false)]).build();
/// let (gold, pred) = (example! { "answer" => "5 km" }, prediction! { "answer" => "5,000 m" });
/// assert_eq!(
///     judge.evaluate(&gold, &pred).await.unwrap_err().to_string(),
///     "metric `semantic_equivalence`: the votes of 2 judges are tied, 1 yes and 1 no; \
///      use an odd number of judges"
/// );
/// # }
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// No language model is configured, and the offline stand-in was not requested.
    #[error("no language model is configured; {SET_MODEL}{}", or_offline(*has_stand_in))]
    NoModel {
        /// Whether the judge has an offline stand-in.
        has_stand_in: bool,
    },
    /// The offline stand-in was requested, but the judge has no stand-in.
    #[error(
        "the judge has no offline stand-in; {SET_MODEL}, or declare one with `#[judge(offline = path::to::function)]`"
    )]
    NoStandIn,
    /// The judge names a model in a scope in which none is called.
    #[error(
        "the judge names the model `{id}`, which is not called with `--offline`; remove `--offline` (in code `Models::offline()`), or the name of the model"
    )]
    NamedOffline {
        /// The model.
        id: String,
    },
    /// The settings of the panel are invalid; checked before any model is called.
    #[error("{0}")]
    Panel(String),
    /// The instruction, a demonstration or the extra context is invalid; checked before any model is called.
    #[error("{0}")]
    Prompt(String),
    /// An input is missing or has another type, in a judge that is run as a [`Module`](crate::Module).
    #[error("{0}")]
    Input(String),
    /// The judge names a model that cannot be connected to.
    #[error(
        "cannot connect to the model `{id}`; build with feature `lm`, or set a model with `.with_lm(..)`"
    )]
    NoConnection {
        /// The model.
        id: String,
    },
    /// The call to the model failed.
    #[error("{0}")]
    Model(#[from] LmError),
    /// A conversation has more turns than the judge scores.
    #[error(
        "the conversation has more than {max} turns; shorten it, or set `max_turns` in `#[judge(..)]`"
    )]
    TooManyTurns {
        /// The most turns.
        max: usize,
    },
    /// A turn of a conversation has no verdict.
    #[error("message {message}: {error}")]
    InTurn {
        /// The number of the message.
        message: usize,
        /// Why the turn has no verdict.
        error: Box<JudgeError>,
    },
    /// The model declined to judge.
    #[error("{lm} declined to judge: {}", escape::escaped(reply))]
    Refused {
        /// The model.
        lm: String,
        /// The beginning of its reply.
        reply: String,
    },
    /// A filter of the provider withheld the reply.
    #[error("{lm}: the provider's filter withheld the reply")]
    Filtered {
        /// The model.
        lm: String,
    },
    /// The token limit truncated the reply.
    #[error("{lm}: the reply was truncated before the verdict; raise `max_tokens`")]
    CutShort {
        /// The model.
        lm: String,
    },
    /// Neither the reply nor the repaired reply is a verdict.
    #[error("{lm} returned no verdict after one repair: {flaws}; the reply was {reply:?}")]
    Unreadable {
        /// The model.
        lm: String,
        /// The flaws of the last reply.
        flaws: String,
        /// The beginning of the last reply.
        reply: String,
    },
    /// The score is the mean by probabilities, which the reply does not have.
    #[error(
        "{lm}: {reason}; use a model that returns log probabilities, or write `scoring = text` in `#[judge(..)]`"
    )]
    NoProbabilities {
        /// The model.
        lm: String,
        /// What is missing.
        reason: String,
    },
    /// The score computed by `score = ..` is NaN or infinite.
    #[error("{lm}: the score computed from the answer must be a finite number, found {value}")]
    NotFinite {
        /// The model.
        lm: String,
        /// The score.
        value: f64,
    },
    /// The score computed by `score = ..` is outside the metric's range.
    #[error("{lm}: the score computed from the answer must be in {range}, found {value}")]
    OutOfRange {
        /// The model.
        lm: String,
        /// The score.
        value: f64,
        /// The metric's range.
        range: ScoreRange,
    },
    /// The expression of `score = ..` overflows its integer type.
    #[error(
        "{lm}: `{expression}` overflows with this answer; write `f64::from(..)` around integers, and `1.0` instead of `1`"
    )]
    Overflow {
        /// The model.
        lm: String,
        /// The subexpression that overflows.
        expression: &'static str,
    },
    /// The expression of `score = ..` panicked.
    #[error("{lm}: computing the score from the answer panicked: {message}")]
    ScorePanicked {
        /// The model.
        lm: String,
        /// The panic's message.
        message: String,
    },
    /// A list has no item to judge, for which the judge abstains.
    #[error("`{list}` has no items")]
    NoItems {
        /// The list.
        list: &'static str,
    },
    /// As many judges voted yes as no.
    #[error(
        "the votes of {judges} judges are tied, {votes} yes and {votes} no; use an odd number of judges{}",
        missing(*votes, *judges)
    )]
    Tied {
        /// The number of votes for yes, and for no.
        votes: usize,
        /// The number of judges called.
        judges: usize,
    },
    /// Fewer judges than the quorum returned a verdict.
    #[error(
        "expected verdicts of at least {quorum} of {judges} judges, found {answered}; first error: {first}"
    )]
    NoQuorum {
        /// The number of judges with a verdict.
        answered: usize,
        /// The number of judges called.
        judges: usize,
        /// The number of verdicts required.
        quorum: usize,
        /// The error of the first judge without a verdict.
        #[source]
        first: Box<JudgeError>,
    },
}

dsrs_metrics_values::debug_as_display!(JudgeError);

/// How a model is set.
#[cfg(feature = "lm")]
const SET_MODEL: &str = "set DSRS_LM=provider:model, such as openai:gpt-6-luna, or write `--lm provider:model` (in code `.with_lm(..)`)";
#[cfg(not(feature = "lm"))]
const SET_MODEL: &str = "build with feature `lm` and set DSRS_LM=provider:model or write `--lm provider:model`, or set a model in code with `.with_lm(..)`";

fn or_offline(has_stand_in: bool) -> &'static str {
    match has_stand_in {
        true => "; to score by token overlap instead, write `--offline` (in code `.offline()`)",
        false => "",
    }
}

/// How many judges returned no verdict, as a part of the message about a tie.
fn missing(votes: usize, judges: usize) -> String {
    match judges.saturating_sub(2 * votes) {
        0 => String::new(),
        1 => " (one returned no verdict)".to_owned(),
        missing => format!(" ({missing} returned no verdict)"),
    }
}

impl JudgeError {
    /// Returns whether the call was only estimated.
    pub(super) fn is_estimated(&self) -> bool {
        matches!(self, Self::Model(error) if error.is_estimated())
    }

    /// Adds the number of the message that has no verdict. Errors of the model remain as they are, since their kind counts.
    pub(super) fn in_turn(self, message: usize) -> Self {
        match self {
            Self::Model(_) => self,
            error => Self::InTurn {
                message,
                error: Box::new(error),
            },
        }
    }

    /// Returns the budget, if exceeding it is the reason of the error.
    pub(super) fn budget_msats(&self) -> Option<u64> {
        match self {
            Self::Model(error) => error.budget_msats(),
            _ => None,
        }
    }
}
