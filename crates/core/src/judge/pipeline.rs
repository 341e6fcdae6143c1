//! Makes the calls of a judge to one model: the steps, and then the last one.

use super::contract::Judge;
use super::demos::demos;
use super::error::JudgeError;
use super::model_call::{Question, Verdict, request};
use super::prompt::Prompt;
use super::signature::PromptSettings;
use super::steps::{Each, Earlier, Empty, Step};
use super::untrusted::Content;
#[cfg(feature = "lm")]
use crate::lm::estimate;
use crate::lm::{LanguageModel, LmRequest};

/// Sends the questions, each once more with a repair message if the reply is not an answer.
pub(super) async fn call_model<J: Judge>(
    judge: &J,
    lm: &dyn LanguageModel,
    request: &mut LmRequest,
    pipeline: Option<&mut Pipeline>,
    declared_msats: u64,
) -> (Result<Verdict, JudgeError>, Question) {
    let mut question = Question::new(lm, declared_msats);
    let verdict = match pipeline {
        None => question.verdict(judge, lm, request, None).await,
        // Boxed, so that a judge of one call takes less memory.
        Some(pipeline) => Box::pin(verdict(judge, lm, pipeline, &mut question, request)).await,
    };
    (verdict, question)
}

/// The inputs of a row in one order, from which the prompts of all calls are made.
pub(super) struct Pipeline {
    pub(super) contents: Vec<Content>,
    pub(super) draw: u32,
}

/// Returns the prompt of a step.
pub(super) fn step_prompt<J: Judge>(judge: &J, step: &Step, contents: &[Content]) -> Prompt {
    let settings = judge.panel().prompt().map(PromptSettings::of_step);
    let read = step.read(contents);
    Prompt::new(
        &step.call,
        &judge.configured(),
        settings.as_ref(),
        &[],
        &read,
    )
}

/// Makes the calls of the steps, and then the last one.
async fn verdict<J: Judge>(
    judge: &J,
    lm: &dyn LanguageModel,
    pipeline: &mut Pipeline,
    question: &mut Question,
    first: &mut LmRequest,
) -> Result<Verdict, JudgeError> {
    let signature = J::signature();
    let Pipeline { contents, draw } = pipeline;
    let mut earlier = Earlier::new(signature, contents);
    let last_msats = question.declared_msats;
    for (index, step) in signature.steps.iter().enumerate() {
        if let Some(each) = earlier.empty(&step.call) {
            return of_empty(each, earlier);
        }
        if index > 0 {
            let prompt = step_prompt(judge, step, contents);
            *first = request(&step.call, signature.sampling_of(*draw), lm, prompt, *draw);
        }
        let own_msats = step
            .cost_msats
            .map(|cost| cost.div_ceil(signature.questions()));
        question.declared_msats = own_msats.unwrap_or(last_msats);
        let value = match question
            .step(judge, lm, first, (index, step), &earlier)
            .await
        {
            // Every later call is estimated too.
            #[cfg(feature = "lm")]
            Err(error) if error.is_estimated() => {
                serde_json::json!([estimate::longest_reply(signature.max_tokens)])
            }
            value => value?,
        };
        contents.push(Content::numbered(value.clone()));
        earlier.add(step.name(), value);
    }
    if let Some(each) = earlier.empty(signature) {
        return of_empty(each, earlier);
    }
    if !signature.steps.is_empty() {
        let demos = demos(judge)?;
        let settings = judge.panel().prompt();
        let prompt = Prompt::new(signature, &judge.configured(), settings, &demos, contents);
        *first = request(signature, signature.sampling_of(*draw), lm, prompt, *draw);
    }
    question.declared_msats = last_msats;
    question.verdict(judge, lm, first, Some(&earlier)).await
}

/// Returns the verdict on a row with an empty list.
fn of_empty(each: Each, earlier: Earlier) -> Result<Verdict, JudgeError> {
    match each.empty {
        Empty::Score(value) => Ok(Verdict {
            value,
            answer: earlier.values,
            weights: None,
        }),
        Empty::Abstain => Err(JudgeError::no_items(each.list)),
    }
}
