//! The errors that judges return.

use std::error::Error;
use std::fmt;

use crate::lm::LmError;

/// The error returned when a judge gives no verdict.
///
/// This error says nothing about the quality of the judged answer, so it never becomes a score.
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
#[derive(Clone, PartialEq)]
pub struct JudgeError {
    kind: Kind,
    message: String,
}

dsrs_metrics_values::debug_as_display!(JudgeError);

#[derive(Clone, PartialEq)]
enum Kind {
    /// No language model is configured, and the offline stand-in was not requested.
    NoModel,
    /// The call to a model failed.
    Model(LmError),
    /// Too few judges in the panel returned a verdict. Contains the first of their errors.
    NoQuorum(Box<JudgeError>),
    /// There is nothing to judge, so the judge abstains.
    NoItems,
    /// A setting, an input or a reply is wrong.
    Other,
}

#[cfg(feature = "lm")]
const SET_MODEL: &str = "set DSRS_LM=provider:model, such as openai:gpt-6-luna, or pass `--lm provider:model` (in code `.with_lm(..)`)";
#[cfg(not(feature = "lm"))]
const SET_MODEL: &str = "build with the `lm` feature, and set DSRS_LM=provider:model or pass `--lm provider:model`; or set a model in code with `.with_lm(..)`";

impl JudgeError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Other,
            message: message.into(),
        }
    }

    pub(super) fn no_model(has_stand_in: bool) -> Self {
        let or_offline = match has_stand_in {
            true => "; to score by token overlap instead, pass `--offline` (in code `.offline()`)",
            false => "",
        };
        Self {
            kind: Kind::NoModel,
            message: format!("no language model is configured; {SET_MODEL}{or_offline}"),
        }
    }

    pub(super) fn no_stand_in() -> Self {
        Self::new(format!(
            "the judge has no offline stand-in; {SET_MODEL}, or declare one with `#[judge(offline = path::to::function)]`"
        ))
    }

    pub(super) fn no_connection(id: &str) -> Self {
        Self::new(format!(
            "cannot connect to the model `{id}`; build with the `lm` feature, or set a model with `.with_lm(..)`"
        ))
    }

    pub(super) fn no_items(list: &str) -> Self {
        Self {
            kind: Kind::NoItems,
            message: format!("`{list}` has no items"),
        }
    }

    pub(super) fn no_quorum(quorum: usize, judges: usize, answered: usize, first: Self) -> Self {
        Self {
            message: format!(
                "expected verdicts from at least {quorum} of {judges} judges, found {answered}; first error: {first}"
            ),
            kind: Kind::NoQuorum(Box::new(first)),
        }
    }

    pub(super) fn tied(votes: usize, judges: usize) -> Self {
        let missing = match judges.saturating_sub(2 * votes) {
            0 => String::new(),
            1 => " (one returned no verdict)".to_owned(),
            missing => format!(" ({missing} returned no verdict)"),
        };
        Self::new(format!(
            "the votes of {judges} judges are tied, {votes} yes and {votes} no; use an odd number of judges{missing}"
        ))
    }

    pub(super) fn cut_short(lm: &str) -> Self {
        Self::new(format!(
            "{lm}: the reply was truncated before the verdict; raise `max_tokens`"
        ))
    }

    pub(super) fn unreadable(lm: &str, flaws: &str, reply: &str) -> Self {
        Self::new(format!(
            "{lm} returned no verdict after one repair: {flaws}; the reply was {reply:?}"
        ))
    }

    /// Returns `true` if no language model is configured.
    pub(super) fn is_no_model(&self) -> bool {
        matches!(self.kind, Kind::NoModel)
    }

    /// Returns `true` if there is nothing to judge, so the judge abstains.
    pub(super) fn is_no_items(&self) -> bool {
        matches!(self.kind, Kind::NoItems)
    }

    /// Returns `true` if the call was only estimated, so there is no reply.
    pub(super) fn is_estimated(&self) -> bool {
        matches!(&self.kind, Kind::Model(error) if error.is_estimated())
    }

    /// Adds the turn to the message. A model's error stays unchanged.
    pub(super) fn in_turn(self, message: usize) -> Self {
        match self.kind {
            Kind::Model(_) => self,
            _ => Self::new(format!("message {message}: {self}")),
        }
    }

    /// Returns the budget in msat, if the call failed because it would have exceeded the budget.
    pub(super) fn budget_msats(&self) -> Option<u64> {
        match &self.kind {
            Kind::Model(error) => error.budget_msats(),
            _ => None,
        }
    }

    /// Returns the model's error if a model call failed; otherwise, returns this error.
    pub(super) fn into_model_error(self) -> Result<LmError, Self> {
        match self.kind {
            Kind::Model(error) => Ok(error),
            kind => Err(Self { kind, ..self }),
        }
    }
}

impl From<LmError> for JudgeError {
    fn from(error: LmError) -> Self {
        Self {
            message: error.to_string(),
            kind: Kind::Model(error),
        }
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for JudgeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::Model(error) => Some(error),
            Kind::NoQuorum(first) => Some(&**first),
            _ => None,
        }
    }
}
