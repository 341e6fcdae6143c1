//! The traits that `#[judge]` and `#[judge_output]` implement, including those for a judge whose only output is an
//! enum. A decision tree can branch on that output.

use indexmap::IndexMap;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Content, Conversation, JudgeOutput, Overflow, Panel, Reply, Signature};
use crate::score::{JUDGES, Scored};

/// A metric that asks a language model to judge each row.
///
/// A judge has inputs, outputs and a rule for scoring an answer. `#[judge]` implements this trait.
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

    /// Returns the judge's configuration as it appears in the prompt.
    fn configured(&self) -> Vec<(&'static str, Content)> {
        Vec::new()
    }

    /// Checks the judge's parameters.
    ///
    /// The parameters are checked before the first row and before each call.
    ///
    /// # Errors
    /// Returns a message that says what is wrong and what to write instead.
    #[doc(hidden)]
    fn check_params(&self) -> Result<(), String> {
        Ok(())
    }

    /// Reads a step's output from the reply.
    ///
    /// Returns `false` if the output is missing or invalid, and records the reason in the reply.
    #[doc(hidden)]
    fn reads_step(&self, step: usize, reply: &mut Reply<'_>) -> bool {
        let _ = (step, reply);
        false
    }

    /// Returns the conversation to judge turn by turn.
    ///
    /// Also returns a function that replaces the conversation in the judge's inputs.
    #[doc(hidden)]
    fn conversation(input: &Self::Input) -> Option<Conversation<'_, Self::Input>> {
        let _ = input;
        None
    }

    /// Returns an answer's score.
    fn score_output(&self, output: Self::Output, overflow: &Overflow) -> f64;
}

/// A closure that computes an output's score.
pub(super) type ScoreOf<'a> = Box<dyn FnOnce(&Overflow) -> f64 + Send + 'a>;

/// [`Judge`] as a trait object, without its inputs and outputs. As a result, the code that calls models is compiled
/// once instead of once per judge.
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
    /// Checks the parameters.
    ///
    /// [`Judge::check_params`] calls this method.
    ///
    /// # Errors
    /// Returns a message that says what is wrong and what to write instead.
    fn check(&self) -> Result<(), String>;
}

/// An enum that lists a judge's possible answers.
///
/// The enum is fieldless.
///
/// `#[judge_output]` implements this trait.
///
/// ```
/// use dsrs_metrics::judge::Choice as _;
/// use dsrs_metrics::prelude::*;
///
/// #[judge_output]
/// enum Tone {
///     Friendly,
///     Rude,
/// }
///
/// assert_eq!(Tone::VARIANTS, ["Friendly", "Rude"]);
/// assert_eq!(Tone::Rude.name(), "Rude");
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a fieldless enum, found `{Self}`",
    label = "its answers cannot be branches",
    note = "each branch is a variant of the enum that the judge answers with: write `#[judge_output]` above the enum, and remove\nthe fields of its variants"
)]
pub trait Choice: DeserializeOwned + Copy + Eq {
    /// The names of the variants, as written in the source code.
    const VARIANTS: &'static [&'static str];

    /// Returns the name of the variant, as written in the source code.
    fn name(self) -> &'static str;
}

/// A judge that answers with a single output of your own type.
///
/// The judge can also have the outputs `reasoning` and `feedback`.
///
/// `#[judge]` implements this trait.
///
/// If the type is a [`Choice`], the judge can be a node of a decision tree with a branch for each answer.
///
/// ```
/// use dsrs_metrics::judge::{Answers, Choice};
/// use dsrs_metrics::prelude::*;
///
/// #[judge_output]
/// enum Tone {
///     Friendly,
///     Rude,
/// }
///
/// /// Judge the tone of the reply.
/// #[judge(score = tone != Tone::Rude)]
/// struct ReplyTone {
///     #[input(pred)]
///     reply: String,
///     #[output]
///     tone: Tone,
/// }
///
/// fn is_a_node<J: Answers<Answer: Choice>>() -> &'static str {
///     J::OUTPUT
/// }
/// assert_eq!(is_a_node::<ReplyToneJudge>(), "tone");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer with an enum",
    label = "not a judge with an enum as its only output",
    note = "each branch is a variant of the enum in the judge's only output; write `yes => ..` and `no => ..`\nfor a metric that returns a `bool`, and no branches for a metric whose score is the tree's score"
)]
pub trait Answers {
    /// The type of the output that contains the judge's answer.
    type Answer;

    /// The name of the output that contains the judge's answer.
    const OUTPUT: &'static str;
}

const NO_ANSWER: &str = "it was scored without an answer, but the tree branches on the answer";

/// Returns a judge's answer for a row.
///
/// For a panel, this is the answer that more than half of the judges gave. Judges without an answer are not counted.
///
/// If a judge changes its answer when the pair is swapped, it votes for neither answer.
///
/// # Errors
/// Returns an error if no answer has a majority, or if the row was scored without an answer.
#[doc(hidden)]
pub fn answer_of<J: Answers<Answer: Choice>>(scored: &Scored) -> Result<&'static str, String> {
    let metadata = scored.metadata().ok_or(NO_ANSWER)?;
    let read = |answer: &Value| {
        let answer = J::Answer::deserialize(answer.get(J::OUTPUT)?);
        answer.ok().map(Choice::name)
    };
    let of_judge = |judge: &Value| judge["answers"].as_array()?.iter().map(read).collect();
    let votes: Option<Vec<_>> = match metadata.get(JUDGES).and_then(Value::as_array) {
        Some(judges) => judges.iter().map(of_judge).collect(),
        // The offline stand-in's answer.
        None => metadata
            .get("answer")
            .and_then(read)
            .map(|answer| vec![vec![answer]]),
    };
    majority(&votes.ok_or(NO_ANSWER)?)
}

/// Returns the answer that more than half of the judges gave. Each judge has one answer, or one for each order of a
/// pair.
fn majority(judges: &[Vec<&'static str>]) -> Result<&'static str, String> {
    let mut counts: IndexMap<&'static str, usize> = IndexMap::new();
    for answers in judges {
        match (&answers[..], judges) {
            ([first, rest @ ..], _) if rest.iter().all(|other| other == first) => {
                *counts.entry(first).or_default() += 1;
            }
            ([first, second, ..], [_]) => {
                return Err(format!(
                    "its answers differ between the two orders of the pair: `{first}` and `{second}`"
                ));
            }
            _ => {}
        }
    }
    if let Some((answer, _)) = counts.iter().find(|(_, count)| 2 * **count > judges.len()) {
        return Ok(answer);
    }
    let votes = counts
        .iter()
        .map(|(answer, count)| format!("{count} `{answer}`"));
    let votes = votes.collect::<Vec<_>>().join(", ");
    match judges.len() {
        0 => Err(NO_ANSWER.to_owned()),
        judges => Err(format!(
            "no answer has a majority among {judges} judges: {votes}; use an odd number of judges, or more judges"
        )),
    }
}

/// Gives a type another name.
///
/// A public impl can use this name for a less visible type.
#[doc(hidden)]
pub trait Itself {
    type Itself;
}

impl<T> Itself for T {
    type Itself = T;
}
