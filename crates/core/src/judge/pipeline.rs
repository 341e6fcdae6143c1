//! Makes a judge's calls to one model: the steps, then the last call.

use super::contract::AnyJudge;
use super::error::JudgeError;
use super::model_call::{Question, Verdict, request};
use super::prompt::{Demo, Prompt, demos};
use super::signature::PromptSettings;
use super::steps::{Each, Earlier, Empty, Step};
use super::untrusted::Content;
#[cfg(feature = "lm")]
use crate::lm::estimate;

/// Returns the prompt of the last call.
pub(super) fn last_prompt(judge: &dyn AnyJudge, demos: &[Demo], contents: &[Content]) -> Prompt {
    let settings = judge.panel().prompt();
    Prompt::new(
        judge.signature(),
        &judge.configured(),
        settings,
        demos,
        contents,
    )
}

/// Returns the prompt of a step.
pub(super) fn step_prompt(judge: &dyn AnyJudge, step: &Step, contents: &[Content]) -> Prompt {
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

impl Question {
    /// Makes all calls, repeating each once with a repair message if the reply is not an answer.
    pub(super) async fn verdict(&mut self, judge: &dyn AnyJudge) -> Result<Verdict, JudgeError> {
        match judge.signature().has_steps_or_lists() {
            false => self.last(judge, None).await,
            // Boxed, so a judge with one call takes less memory.
            true => Box::pin(self.after_steps(judge)).await,
        }
    }

    async fn after_steps(&mut self, judge: &dyn AnyJudge) -> Result<Verdict, JudgeError> {
        let signature = judge.signature();
        let mut earlier = Earlier::new(signature, &self.contents);
        let last_msats = self.declared_msats;
        for (index, step) in signature.steps.iter().enumerate() {
            if let Some(each) = earlier.empty(&step.call) {
                return of_empty(each, earlier);
            }
            if index > 0 {
                let prompt = step_prompt(judge, step, &self.contents);
                self.request = request((signature, &step.call), &*self.lm, prompt, self.draw);
            }
            let own_msats = step
                .cost_msats
                .map(|cost| cost.div_ceil(signature.questions()));
            self.declared_msats = own_msats.unwrap_or(last_msats);
            let value = match self.step(judge, (index, step), &earlier).await {
                // Every later call is estimated too.
                #[cfg(feature = "lm")]
                Err(error) if error.is_estimated() => {
                    serde_json::json!([estimate::longest_reply(signature.max_tokens)])
                }
                value => value?,
            };
            self.contents.push(Content::numbered(value.clone()));
            earlier.add(step.name(), value);
        }
        if let Some(each) = earlier.empty(signature) {
            return of_empty(each, earlier);
        }
        if !signature.steps.is_empty() {
            let prompt = last_prompt(judge, &demos(judge)?, &self.contents);
            self.request = request((signature, signature), &*self.lm, prompt, self.draw);
        }
        self.declared_msats = last_msats;
        self.last(judge, Some(&earlier)).await
    }
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
