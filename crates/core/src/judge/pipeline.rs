//! Makes a judge's calls to one model: the steps, then the last call. If a judge scores turns, it judges a conversation
//! reply by reply, and the verdicts on the turns form one score.

use futures_util::StreamExt as _;

use super::contract::AnyJudge;
use super::judged::Judgement;
use super::model_call::{Question, Verdict, request};
use super::prompt::demos;
use super::row::{self, Costed, SpecOf};
use super::steps::{Earlier, Step};
use super::{Content, Demo, Each, Empty, JudgeError, Prompt, Signature, Turns};
#[cfg(feature = "lm")]
use crate::lm::estimate;
use crate::score::MetricScore;
use crate::spec::{MetricSpec, ScoreKind, ScoreRange};

/// Returns the prompt for the last call.
pub(super) fn last_prompt(judge: &dyn AnyJudge, demos: &[Demo], contents: &[Content]) -> Prompt {
    let settings = &judge.panel().prompt;
    Prompt::new(judge, judge.signature(), settings, demos, contents)
}

/// Returns the prompt for a step.
pub(super) fn step_prompt(judge: &dyn AnyJudge, step: &Step, contents: &[Content]) -> Prompt {
    let settings = judge.panel().prompt.of_step();
    Prompt::new(judge, &step.call, &settings, &[], &step.read(contents))
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
            let of_question = |cost: u64| cost.div_ceil(signature.questions());
            self.declared_msats = step.cost_msats.map_or(last_msats, of_question);
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

/// Returns the verdict on a row whose list is empty.
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

/// The number of a row's turns that are judged concurrently.
const CONCURRENT: usize = 8;

/// Returns the spec for one question: a turn's spec if the judge scores turns.
pub(super) fn spec_of_question(
    signature: &Signature,
    spec: MetricSpec<'static>,
) -> MetricSpec<'static> {
    match &signature.turns {
        Some(Turns {
            is_verdict: true, ..
        }) => MetricSpec {
            kind: ScoreKind::Bool,
            range: Some(ScoreRange { min: 0.0, max: 1.0 }),
            ..spec
        },
        _ => spec,
    }
}

/// Returns the judgement of a conversation and its cost in millisatoshis. `positions` contains the turns' positions,
/// and `shown` returns the inputs for the turn at a position.
pub(super) async fn turns_judgement(
    judge: &dyn AnyJudge,
    turns: &Turns,
    positions: Vec<usize>,
    shown: &(dyn Fn(usize) -> Vec<Content> + Sync),
    spec: SpecOf<'_>,
) -> Costed {
    if positions.len() > turns.max {
        let error = JudgeError::new(format!(
            "the conversation has more than {} turns; shorten it, or set `max_turns` in `#[judge(..)]`",
            turns.max
        ));
        return (Err(error), 0);
    }
    let spec = &|| spec_of_question(judge.signature(), spec());
    // Only the turns in progress hold a copy of the messages before them.
    let judged = positions.into_iter().map(|position| async move {
        let (result, cost_msats) = row::judgement(judge, shown(position), spec).await;
        (position + 1, result, cost_msats)
    });
    let judged = futures_util::stream::iter(judged.collect::<Vec<_>>()).buffered(CONCURRENT);
    let judged: Vec<_> = judged.collect().await;
    let costs = judged.iter().map(|(_, _, cost)| *cost);
    let cost_msats = costs.fold(0, u64::saturating_add);
    (reduced(judged, turns), cost_msats)
}

/// Combines the judgements of the turns. A turn that abstains does not count; any other turn without a verdict fails
/// the row.
fn reduced(
    judged: Vec<(usize, Result<Judgement, JudgeError>, u64)>,
    turns: &Turns,
) -> Result<Judgement, JudgeError> {
    let (mut values, mut lines, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for (number, result, _) in judged {
        let name = format!("message {number}");
        match result {
            Ok(judgement) => {
                let MetricScore { value, details, .. } = &judgement.score;
                let words = details.as_deref().filter(|details| !details.is_empty());
                let words = words.map_or_else(String::new, |details| format!(": {details}"));
                lines.push(format!("{name} ({value}){words}"));
                values.push(*value);
                parts.push((name, judgement));
            }
            Err(error) if error.is_no_items() => lines.push(format!("{name}: nothing to judge")),
            Err(error) => return Err(error.in_turn(number)),
        }
    }
    if values.is_empty() {
        return Err(JudgeError::no_items("turns"));
    }
    let value = turns.reduction.of(&values);
    Ok(Judgement::joined(value, &lines, parts))
}
