//! Runs a judge as a program from its inputs to its outputs, so the judge itself can be evaluated and tuned. `#[judge]`
//! emits the [`Module`](crate::Module) impl, which calls [`forward`]. [`rescored`] makes further calls to compute a
//! judge's score from its answers.

use std::error::Error;

use futures_util::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::aggregation::{aggregate, agreement};
use super::contract::AnyJudge;
use super::judged::Judgement;
use super::pipeline::spec_of_question;
use super::row::judgement;
use super::steps::Step;
use super::{Content, Judge, JudgeError, Judged, Signature, Untrusted};
use crate::declared::Declared;
use crate::lm::Usage;
use crate::messages::escape;
use crate::program_run::{ProgramOutput, ProgramUsage};
use crate::rows::{Example, FieldType, Prediction, Trace, TraceStep};
use crate::score::{JUDGES, MetricScore};
use crate::spec::{MetricSpec, ScoreKind};

/// Reads one of a judge's inputs from an example.
///
/// # Errors
/// Returns an error if the input is missing or has the wrong type.
pub fn read_input<T>(inputs: &Example, name: &'static str) -> Result<Untrusted<T>, JudgeError>
where
    T: for<'read> FieldType<'read>,
{
    let value = inputs.get(name).unwrap_or(&Value::Null);
    let input = T::read(value, inputs.data.is_cell(name)).map_err(|error| match inputs.get(name) {
        Some(_) => JudgeError::new(format!("cannot read the input `{name}`: {error}")),
        None => {
            let found = match inputs.data.is_empty() {
                true => "no field".to_owned(),
                false => escape::names(inputs.keys()),
            };
            JudgeError::new(format!(
                "expected the input `{name}`, found {found}; add the field `{name}` to the example"
            ))
        }
    });
    input.map(Untrusted::new)
}

/// Reads one of a judge's inputs, or uses a default if the input is missing.
///
/// See [`read_input`].
///
/// # Errors
/// Returns an error if the field has the wrong type.
pub fn read_input_or<T>(
    inputs: &Example,
    name: &'static str,
    default: impl FnOnce() -> T,
) -> Result<Untrusted<T>, JudgeError>
where
    T: for<'read> FieldType<'read>,
{
    match inputs.get(name) {
        None | Some(Value::Null) => Ok(Untrusted::new(default())),
        Some(_) => read_input(inputs, name),
    }
}

/// Judges one example and returns the outputs.
///
/// The result also contains the usage and a trace of the calls.
///
/// # Errors
/// Returns an error if a setting is invalid, an input is missing, or the judge returns no verdict.
pub fn forward<'a, J: Judge<Input: 'a>>(
    judge: &'a J,
    inputs: Example,
    input: Result<J::Input, JudgeError>,
    declared: &'a MetricSpec<'static>,
) -> BoxFuture<'a, Result<ProgramOutput, Box<dyn Error + Send + Sync>>> {
    let contents = input.map(|input| judge.shown(&input));
    Box::pin(judged(judge, inputs, contents, declared))
}

async fn judged(
    judge: &dyn AnyJudge,
    inputs: Example,
    contents: Result<Vec<Content>, JudgeError>,
    declared: &MetricSpec<'static>,
) -> Result<ProgramOutput, Box<dyn Error + Send + Sync>> {
    let spec = spec_of_question(judge.signature(), judge.panel().spec(declared)?);
    let (result, cost_msats) = judgement(judge, contents?, &|| spec).await;
    let result = result?;
    let usage = result.critique.metadata.get("usage");
    let usage = usage.and_then(|usage| Usage::deserialize(usage).ok());
    let usage = usage.unwrap_or_default();
    let prediction = prediction(judge.signature(), result, spec.kind);
    let mut steps = steps(judge.signature(), spec.name, &inputs, &prediction);
    steps.push(TraceStep {
        predictor: spec.name.to_owned(),
        inputs,
        outputs: prediction.clone(),
    });
    let usage = ProgramUsage {
        input_tokens: usage.prompt_tokens.unwrap_or(0),
        output_tokens: usage.completion_tokens.unwrap_or(0),
        cost_msats: Some(cost_msats),
    };
    Ok(ProgramOutput::new(prediction)
        .with_trace(Trace { steps })
        .with_usage(usage))
}

/// Returns the calls made before the last one.
fn steps(signature: &Signature, name: &str, inputs: &Example, all: &Prediction) -> Vec<TraceStep> {
    let step = |step: &Step| {
        let value = all.get(step.name())?.clone();
        let read = step.call.inputs.iter().filter_map(|(name, _)| {
            Some((*name, inputs.get(name).or_else(|| all.get(name))?.clone()))
        });
        let predictor = format!("{name}.{}", step.name());
        let outputs = Prediction::from_iter([(step.name(), value)]);
        Some(TraceStep {
            predictor,
            inputs: read.collect(),
            outputs,
        })
    };
    signature.steps.iter().filter_map(step).collect()
}

/// Returns the panel's score, and the outputs of the judge whose score is nearest to it.
fn prediction(signature: &Signature, judgement: Judgement, kind: ScoreKind) -> Prediction {
    let value = judgement.score.value;
    let mut answer = answer(judgement.critique.metadata, value);
    let names = signature.steps.iter().map(Step::name);
    let names = names.chain(signature.outputs.iter().map(|output| output.name));
    let outputs = names.filter_map(|name| Some((name, answer.remove(name)?)));
    let mut prediction: Prediction = outputs.collect();
    if signature.output_spec("score").is_none() {
        let score = match kind {
            ScoreKind::Bool => json!(value > 0.5),
            ScoreKind::Number | ScoreKind::Corpus => json!(value),
        };
        prediction.data.insert("score", score);
    }
    prediction
}

fn answer(mut metadata: Map<String, Value>, value: f64) -> Map<String, Value> {
    let distance = |judge: &Value| (judge["value"].as_f64().unwrap_or(f64::INFINITY) - value).abs();
    let judges = metadata.get_mut("judges").and_then(Value::as_array_mut);
    let judges = judges.into_iter().flatten();
    let nearest = judges.min_by(|one, other| distance(one).total_cmp(&distance(other)));
    let answer = match nearest {
        Some(judge) => judge["answers"].get_mut(0).map(Value::take),
        // The offline stand-in is not part of a panel.
        None => metadata.remove("answer"),
    };
    match answer {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The score of one answer, computed with an additional call.
#[derive(Debug)]
#[doc(hidden)]
pub struct Rescored {
    pub value: f64,
    /// The cost of the additional call, in millisatoshis.
    pub cost_msats: u64,
    pub details: String,
}

/// Judges one row with a custom score.
///
/// Each judge's answer is scored with `score` instead of the declared score.
#[doc(hidden)]
pub async fn rescored<J, F>(
    judge: &J,
    input: &J::Input,
    score: impl Fn(Map<String, Value>) -> F,
) -> Judged<f64>
where
    J: Judge + Declared,
    F: Future<Output = Result<Rescored, JudgeError>>,
{
    let spec = || judge.panel().shown_spec(const { <J as Declared>::SPEC });
    let (result, mut cost_msats) = judgement(judge, judge.shown(input), &spec).await;
    let result = match result {
        Ok(judgement) => of_answers(judge, judgement, score, &mut cost_msats).await,
        Err(error) => {
            #[cfg(feature = "lm")]
            if error.is_estimated() {
                estimate_scores(judge, score).await;
            }
            Err(error)
        }
    };
    Judged::new(result, cost_msats)
}

/// Counts the calls that score each judge's longest possible answer.
#[cfg(feature = "lm")]
async fn estimate_scores<J: Judge, F: Future>(judge: &J, score: impl Fn(Map<String, Value>) -> F) {
    let longest = crate::lm::estimate::longest_reply(J::signature().max_tokens);
    for _ in 0..judge.panel().num_judges(J::signature()) {
        let outputs = J::signature().outputs.iter();
        let answer = outputs.map(|output| (output.name.to_owned(), json!(longest)));
        score(answer.collect()).await;
    }
}

async fn of_answers<J, F>(
    judge: &J,
    mut judgement: Judgement,
    score: impl Fn(Map<String, Value>) -> F,
    cost_msats: &mut u64,
) -> Result<Judgement, JudgeError>
where
    J: Judge + Declared,
    F: Future<Output = Result<Rescored, JudgeError>>,
{
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    let judges = judgement.critique.metadata.get_mut(JUDGES);
    let judges = judges.and_then(Value::as_array_mut);
    for member in judges.into_iter().flatten() {
        let Value::Object(answer) = member["answers"][0].clone() else {
            continue;
        };
        let rescored = score(answer).await?;
        *cost_msats = cost_msats.saturating_add(rescored.cost_msats);
        member["value"] = json!(rescored.value);
        values.push(rescored.value);
        lines.push(rescored.details);
    }
    let value = aggregate(&values, judge.panel().aggregation_of(J::signature(), false));
    let confidence = agreement(&values, value, <J as Declared>::SPEC.range);
    judgement.score = MetricScore::new(value)
        .with_confidence(confidence)
        .with_details(lines.join("\n"));
    Ok(judgement)
}
