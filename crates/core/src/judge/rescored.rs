//! Judges whose score is computed from their answers by further calls.

use serde_json::{Map, Value, json};

use super::aggregation::{aggregate, agreement};
use super::contract::Judge;
use super::error::JudgeError;
use super::judged::{Judged, Judgement};
use super::row::judgement;
use crate::declared::Declared;
use crate::score::JUDGES;

/// The score of one answer.
#[derive(Debug)]
#[doc(hidden)]
pub struct Rescored {
    pub value: f64,
    /// The cost of the additional call, in millisatoshis.
    pub cost_msats: u64,
    pub details: String,
}

/// Judges one row, and scores each judge's answer with `score` instead of the declared score.
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
    let outputs = || {
        J::signature()
            .outputs
            .iter()
            .map(|output| output.name.to_owned())
    };
    for _ in 0..judge.panel().num_judges(J::signature()) {
        score(outputs().map(|name| (name, json!(longest))).collect()).await;
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
    let judges = judgement
        .metadata
        .get_mut(JUDGES)
        .and_then(Value::as_array_mut);
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
    Ok(Judgement {
        value,
        confidence,
        details: Some(lines.join("\n")),
        ..judgement
    })
}
