//! The part of a judge's prompt that can be set at run time: instruction, demonstrations, extra context. A judge has them
//! in its panel, so they are part of its identity; the prompt itself, and with it the key of the cache, is in `prompt.rs`.

use indexmap::IndexMap;
use serde_json::Value;

use super::error::JudgeError;
use super::prompt::{Demo, user};
use super::reply::Reply;
use super::row::Judge;
use super::signature::Signature;
use super::trace::shown_trace;
use super::untrusted::{Content, Shown, Untrusted};
use crate::rows::dynamic::{Example, Trace};

/// The reasoning of a demonstration that has none. DSPy writes the same.
const NO_REASONING: &str = "Not supplied for this particular example.";

/// Instruction, demonstrations and context of one judge; `None` and an empty list are those of the signature.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PromptSettings {
    pub(super) instruction: Option<String>,
    pub(super) demos: Vec<Example>,
    pub(super) context: Option<String>,
    /// Whether the judge is one of two that are combined into one score.
    pub(super) is_half: bool,
}

impl PromptSettings {
    /// Validates all but the demonstrations, which [`demos`] does.
    pub(super) fn check(&self) -> Result<(), JudgeError> {
        let is_empty =
            |text: &Option<String>| text.as_deref().is_some_and(|it| it.trim().is_empty());
        if is_empty(&self.instruction) {
            return Err(prompt(
                "expected an instruction, found an empty string; write what to judge",
            ));
        }
        if is_empty(&self.context) {
            return Err(prompt(
                "expected extra context, found an empty string; write it, or do not set it",
            ));
        }
        if self.is_half && (self.instruction.is_some() || !self.demos.is_empty()) {
            return Err(prompt(
                "expected no instruction and no demonstrations for two judges with one score, found some; set them on each of the two",
            ));
        }
        Ok(())
    }
}

/// Returns the demonstrations of a judge as messages.
///
/// # Errors
/// [`JudgeError::Prompt`] if a field of one is unknown, if it has no input, or if its outputs are not a valid answer.
pub(super) fn demos<J: Judge>(judge: &J) -> Result<Vec<Demo>, JudgeError> {
    let demos = judge.panel().prompt().map_or(&[][..], |settings| &settings.demos);
    let demo = |(index, demo): (usize, &Example)| {
        message::<J>(demo).map_err(|error| prompt(format!("demonstration {}: {error}", index + 1)))
    };
    demos.iter().enumerate().map(demo).collect()
}

fn message<J: Judge>(demo: &Example) -> Result<Demo, String> {
    let signature = J::signature();
    let inputs = || signature.inputs.iter().map(|(name, _)| *name);
    let outputs = || signature.outputs.iter().map(|output| output.name);
    if let Some(unknown) =
        demo.keys().find(|key| inputs().chain(outputs()).all(|name| name != *key))
    {
        let known: Vec<_> = inputs().chain(outputs()).collect();
        return Err(format!("unknown field `{unknown}`; expected `{}`", known.join("`, `")));
    }
    let contents: Vec<Content> =
        inputs().map(|name| content(signature, name, demo.get(name))).collect::<Result<_, _>>()?;
    if contents.iter().all(|content| content.text.is_none()) {
        let known: Vec<_> = inputs().collect();
        return Err(format!("expected an input, found none; write `{}`", known.join("`, `")));
    }
    // In the order of the signature: a model that reasons writes its reasoning first.
    let mut answer: IndexMap<&str, Value> = IndexMap::new();
    for name in outputs() {
        let default = (name == "reasoning").then(|| Value::from(NO_REASONING));
        if let Some(value) = demo.get(name).cloned().or(default) {
            answer.insert(name, value);
        }
    }
    let assistant = serde_json::to_string(&answer).map_err(|error| error.to_string())?;
    let read = Reply::find(signature, &assistant).and_then(Reply::read::<J::Output>);
    read.map_err(|flaw| flaw.text)?;
    Ok(Demo { user: user(signature, &contents), assistant })
}

/// Returns an input of a demonstration as in the prompt of a row.
fn content(signature: &Signature, name: &str, value: Option<&Value>) -> Result<Content, String> {
    let value = value.cloned().unwrap_or_default();
    if !signature.traces.contains(&name) {
        return Ok(Shown::shown(&Untrusted::new(value)));
    }
    let trace: Option<Trace> = serde_json::from_value(value)
        .map_err(|error| format!("expected a trace in `{name}`, found another value: {error}"))?;
    Ok(shown_trace(&Untrusted::new(trace)))
}

fn prompt(message: impl Into<String>) -> JudgeError {
    JudgeError::Prompt(message.into())
}
