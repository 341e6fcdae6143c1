//! The trait that `#[judge]` implements.

use super::aggregation::Conversation;
use super::aggregation::Overflow;
use super::panel::Panel;
use super::reply::{JudgeOutput, Reply};
use super::signature::Signature;
use super::untrusted::Content;

/// A judge: its inputs, its outputs, and the score of an answer. Implemented by `#[judge]`.
///
/// ```
/// use dsrs_metrics::judge::{Judge, Panel, shipped::SemanticEquivalence};
///
/// let judge = SemanticEquivalence::builder().threshold(1.0).build();
/// assert_eq!(judge.panel(), &Panel::new().threshold(1.0));
/// assert_eq!(SemanticEquivalence::signature().inputs().collect::<Vec<_>>(), ["expected", "actual"]);
/// ```
pub trait Judge: Send + Sync {
    /// The inputs, from a row.
    type Input: Send + Sync;
    /// The outputs.
    type Output: JudgeOutput;

    /// Returns the signature.
    fn signature() -> &'static Signature;

    /// Returns the panel.
    fn panel(&self) -> &Panel;

    /// Returns the inputs for the prompt.
    fn shown(&self, input: &Self::Input) -> Vec<Content>;

    /// Returns the configuration for the prompt.
    fn configured(&self) -> Vec<(&'static str, Content)> {
        Vec::new()
    }

    /// Checks the parameters, before the first row and before each call.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    #[doc(hidden)]
    fn check_params(&self) -> Result<(), String> {
        Ok(())
    }

    /// Reads the output of a step from its reply; `false` if it is missing or invalid, in which case the reply records why.
    #[doc(hidden)]
    fn reads_step(&self, step: usize, reply: &mut Reply<'_>) -> bool {
        let _ = (step, reply);
        false
    }

    /// Returns the conversation whose turns are judged, and a function that replaces it in the inputs.
    #[doc(hidden)]
    fn conversation(input: &Self::Input) -> Option<Conversation<'_, Self::Input>> {
        let _ = input;
        None
    }

    /// Returns the score of an answer.
    fn score_output(&self, output: Self::Output, overflow: &Overflow) -> f64;
}

/// A judge whose parameters are checked.
#[doc(hidden)]
pub trait ChecksParams {
    /// As [`Judge::check_params`], which calls it.
    ///
    /// # Errors
    /// What is wrong, and what to write.
    fn check(&self) -> Result<(), String>;
}
