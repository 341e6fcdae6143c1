//! The trait that `#[judge]` implements.

use super::aggregation::{Conversation, Overflow};
use super::panel::Panel;
use super::reply::{JudgeOutput, Reply};
use super::signature::Signature;
use super::untrusted::Content;

/// A judge: its inputs, its outputs, and how to score an answer. `#[judge]` implements this trait.
///
/// ```
/// use dsrs_metrics::judge::{Judge, Panel, shipped::SemanticEquivalence};
///
/// let judge = SemanticEquivalence::builder().threshold(1.0).build();
/// assert_eq!(judge.panel(), &Panel::new().threshold(1.0));
/// assert_eq!(SemanticEquivalence::signature().inputs().collect::<Vec<_>>(), ["expected", "actual"]);
/// ```
pub trait Judge: Send + Sync {
    /// The type of the inputs, which are read from a row.
    type Input: Send + Sync;
    /// The type of the outputs.
    type Output: JudgeOutput;

    /// Returns the judge's signature.
    fn signature() -> &'static Signature;

    /// Returns the judge's panel.
    fn panel(&self) -> &Panel;

    /// Returns the inputs as they appear in the prompt.
    fn shown(&self, input: &Self::Input) -> Vec<Content>;

    /// Returns the configuration as it appears in the prompt.
    fn configured(&self) -> Vec<(&'static str, Content)> {
        Vec::new()
    }

    /// Checks the parameters before the first row and before each call.
    ///
    /// # Errors
    /// Returns a message that says what is wrong and what to write instead.
    #[doc(hidden)]
    fn check_params(&self) -> Result<(), String> {
        Ok(())
    }

    /// Reads a step's output from the reply. Returns `false` if the output is missing or invalid, and records the
    /// reason in the reply.
    #[doc(hidden)]
    fn reads_step(&self, step: usize, reply: &mut Reply<'_>) -> bool {
        let _ = (step, reply);
        false
    }

    /// Returns the conversation whose turns are judged, and a function that replaces the conversation in the inputs.
    #[doc(hidden)]
    fn conversation(input: &Self::Input) -> Option<Conversation<'_, Self::Input>> {
        let _ = input;
        None
    }

    /// Returns the score of an answer.
    fn score_output(&self, output: Self::Output, overflow: &Overflow) -> f64;
}

/// The score of an output, computed when it is called.
pub(super) type ScoreOf<'a> = Box<dyn FnOnce(&Overflow) -> f64 + Send + 'a>;

/// [`Judge`] as a trait object, without its inputs and outputs. The code that asks models is thus compiled once, and not
/// for each judge.
pub(super) trait AnyJudge: Send + Sync {
    fn signature(&self) -> &'static Signature;
    fn panel(&self) -> &Panel;
    fn configured(&self) -> Vec<(&'static str, Content)>;
    fn check_params(&self) -> Result<(), String>;
    fn reads_step(&self, step: usize, reply: &mut Reply<'_>) -> bool;
    /// Reads the outputs from a reply; see [`JudgeOutput::read`].
    fn read(&self, reply: &mut Reply<'_>) -> Option<ScoreOf<'_>>;
}

impl<J: Judge> AnyJudge for J {
    fn signature(&self) -> &'static Signature {
        J::signature()
    }

    fn panel(&self) -> &Panel {
        Judge::panel(self)
    }

    fn configured(&self) -> Vec<(&'static str, Content)> {
        Judge::configured(self)
    }

    fn check_params(&self) -> Result<(), String> {
        Judge::check_params(self)
    }

    fn reads_step(&self, step: usize, reply: &mut Reply<'_>) -> bool {
        Judge::reads_step(self, step, reply)
    }

    fn read(&self, reply: &mut Reply<'_>) -> Option<ScoreOf<'_>> {
        let output = J::Output::read(reply)?;
        Some(Box::new(|overflow| self.score_output(output, overflow)))
    }
}

/// A judge that checks its parameters.
#[doc(hidden)]
pub trait ChecksParams {
    /// Checks the parameters. [`Judge::check_params`] calls this method.
    ///
    /// # Errors
    /// Returns a message that says what is wrong and what to write instead.
    fn check(&self) -> Result<(), String>;
}
