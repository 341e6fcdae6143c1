//! The trait that `#[judge]` implements.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::panel::Panel;
use super::reply::{JudgeOutput, Reply};
use super::score::Overflow;
use super::signature::Signature;
use super::turns::Conversation;
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

/// The offline stand-in of a judge, set by `#[judge(offline = path)]`.
#[derive(Clone)]
#[doc(hidden)]
pub struct Offline(Arc<OfflineFn>);

type OfflineFn = dyn Fn(&[Option<&str>]) -> Map<String, Value> + Send + Sync;

impl Offline {
    pub(super) fn answer(&self, inputs: &[Option<&str>]) -> Map<String, Value> {
        (self.0)(inputs)
    }
}

impl fmt::Debug for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Offline(..)")
    }
}

/// Functions that can replace a judge's model with `.offline()` or `--offline`: from the inputs as strings, in the order of
/// the signature, to the outputs by name. `None` is an input that the row does not have; `reasoning` may be omitted.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use serde_json::{Map, Value, json};
///
/// fn by_length(inputs: &[Option<&str>]) -> Map<String, Value> {
///     let words = inputs[0].unwrap_or_default().split_whitespace().count();
///     Map::from_iter([("brief".to_owned(), json!(words < 20))])
/// }
///
/// /// Say whether the answer is brief.
/// #[judge(offline = by_length)]
/// struct Brief {
///     #[input(pred)]
///     answer: String,
///     #[output]
///     brief: bool,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let judge = BriefJudge::builder().offline().build();
/// let score = judge.evaluate(&example! {}, &prediction! { "answer" => "Paris" }).await?;
/// assert_eq!(score.details.as_deref(), Some("judge: offline-lexical."));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`offline` must name a function from the inputs to the outputs of the judge",
    label = "not a function from the inputs to the outputs",
    note = "write `fn name(inputs: &[Option<&str>]) -> serde_json::Map<String, serde_json::Value>`: the inputs as strings, in\nthe order of the struct, and the outputs by name"
)]
pub trait AnswersOffline {
    /// Converts the function.
    #[doc(hidden)]
    fn offline(self) -> Offline;
}

#[diagnostic::do_not_recommend]
impl<F> AnswersOffline for F
where
    F: Fn(&[Option<&str>]) -> Map<String, Value> + Send + Sync + 'static,
{
    fn offline(self) -> Offline {
        Offline(Arc::new(self))
    }
}
