//! The demonstrations of a judge: examples from its panel, as messages of its prompt.

use indexmap::IndexMap;
use serde_json::Value;

use super::contract::Judge;
use super::error::JudgeError;
use super::output_spec::OutputSpec;
use super::prompt::{Demo, user};
use super::reply::Reply;
use super::signature::Signature;
use super::steps::{Earlier, with_numbers};
use super::trace::shown_trace;
use super::untrusted::{Content, Shown, Untrusted};
use crate::rows::dynamic::{Example, Trace};

/// The reasoning of a demonstration that has none. DSPy writes the same.
const NO_REASONING: &str = "Not supplied for this particular example.";

/// Returns the demonstrations of a judge as messages.
///
/// # Errors
/// If a field of one is unknown, if it has no input, or if its outputs are not a valid answer.
pub(super) fn demos<J: Judge>(judge: &J) -> Result<Vec<Demo>, JudgeError> {
    let demos = judge
        .panel()
        .prompt()
        .map_or(&[][..], |settings| &settings.demos);
    let demo = |(index, demo): (usize, &Example)| {
        message::<J>(demo)
            .map_err(|error| JudgeError::new(format!("demonstration {}: {error}", index + 1)))
    };
    demos.iter().enumerate().map(demo).collect()
}

fn message<J: Judge>(demo: &Example) -> Result<Demo, String> {
    let signature = J::signature();
    let inputs = || signature.inputs.iter().map(|(name, _)| *name);
    let outputs = || signature.outputs.iter().map(|output| output.name);
    if let Some(unknown) = demo
        .keys()
        .find(|key| inputs().chain(outputs()).all(|name| name != *key))
    {
        let known: Vec<_> = inputs().chain(outputs()).collect();
        return Err(format!(
            "unknown field `{unknown}`; expected `{}`",
            known.join("`, `")
        ));
    }
    let contents: Vec<Content> = inputs()
        .map(|name| content(signature, name, demo.get(name)))
        .collect::<Result<_, _>>()?;
    if contents.iter().all(|content| content.text.is_none()) {
        let known: Vec<_> = inputs().collect();
        return Err(format!(
            "expected an input, found none; write `{}`",
            known.join("`, `")
        ));
    }
    // In the order of the signature: a model that reasons writes its reasoning first.
    let mut answer: IndexMap<&str, Value> = IndexMap::new();
    for name in outputs() {
        let default = (name == "reasoning").then(|| Value::from(NO_REASONING));
        if let Some(value) = demo.get(name).cloned().or(default) {
            let each = signature
                .output_spec(name)
                .filter(|output| output.each.is_some());
            let numbered = |output: &OutputSpec| with_numbers(&output.schema, value.clone());
            answer.insert(name, each.map_or_else(|| value.clone(), numbered));
        }
    }
    let assistant = serde_json::to_string(&answer).map_err(|error| error.to_string())?;
    let mut earlier = Earlier::new(signature, &contents);
    for step in &signature.steps {
        let value = demo.get(step.name()).cloned();
        let missing = || {
            format!(
                "expected the step `{}`, found none; add its value",
                step.name()
            )
        };
        earlier
            .values
            .insert(step.name().to_owned(), value.ok_or_else(missing)?);
    }
    let read = Reply::find(signature, &assistant);
    let read = read.and_then(|reply| reply.after(&earlier).read::<J::Output>());
    let (_, fields) = read.map_err(|flaw| flaw.text)?;
    if fields.ignored_keys > 0 {
        return Err(format!(
            "expected the fields of the outputs, found others in {assistant}; remove them"
        ));
    }
    Ok(Demo {
        user: user(signature, &contents).into(),
        assistant: assistant.into(),
    })
}

/// Returns an input of a demonstration as in the prompt of a row.
fn content(signature: &Signature, name: &str, value: Option<&Value>) -> Result<Content, String> {
    let value = value.cloned().unwrap_or_default();
    if signature.is_list(name) {
        return Ok(Content::numbered(value));
    }
    if !signature.traces.contains(&name) {
        return Ok(Shown::shown(&Untrusted::new(value)));
    }
    let trace: Option<Trace> = serde_json::from_value(value)
        .map_err(|error| format!("expected a trace in `{name}`, found another value: {error}"))?;
    Ok(shown_trace(&Untrusted::new(trace)))
}
