//! One row before all judges of a panel: both orders of a pair, the quorum, one score with its confidence,
//! and what it all cost.

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};

use super::ask::{Asked, Calls, Paid, Verdict, ask};
use super::error::JudgeError;
use super::fold::{agreement, fold, majority};
use super::judged::{Judged, Judgement, Kind};
use super::left_out::LeftOut;
use super::offline::Offline;
use super::panel::Panel;
use super::prompt::Prompt;
use super::reply::{JudgeOutput, Reply};
use super::signature::Signature;
use super::untrusted::Content;
use super::worth::{Overflow, worth};
use crate::core::declared::Declared;
use crate::core::requirements::{Requirement, Requires};
use crate::core::score::OFFLINE_JUDGE;
use crate::core::spec::{MetricSpec, ScoreKind};
use crate::lm::{LanguageModel, Usage};

/// The confidence of a pairwise judge that prefers the first of two answers, whichever it is.
const TORN: f64 = 0.5;

/// A judge: what it is shown, what it answers, and what that is worth. Written by `#[judge]`.
pub trait Judge: Send + Sync {
    /// What it is shown of a row.
    type Input: Send + Sync;
    /// What it answers.
    type Output: JudgeOutput;

    /// What it asks.
    fn signature() -> &'static Signature;

    /// Which models it asks.
    fn panel(&self) -> &Panel;

    /// The inputs as they will stand in the prompt.
    fn shown(&self, input: &Self::Input) -> Vec<Content>;

    /// The configuration as it will stand in the prompt.
    fn configured(&self) -> Vec<(&'static str, Content)>;

    /// What an answer is worth.
    fn worth(&self, output: Self::Output, overflow: &Overflow) -> f64;
}

/// Judges one row.
#[doc(hidden)]
pub async fn row<J: Judge, K: Kind>(
    judge: &J,
    input: &J::Input,
    spec: &MetricSpec<'static>,
) -> Judged<K> {
    let signature = J::signature();
    let contents = judge.shown(input);
    let lms = judge.panel().check(signature, spec.kind == ScoreKind::Bool);
    let (result, paid) = match lms.and_then(|()| judge.panel().resolve(signature)) {
        Err(error) => (Err(error), Paid::default()),
        Ok(Some(lms)) => ask_all(judge, &lms, contents, spec).await,
        Ok(None) => match &signature.offline {
            Some(answer) => (offline(judge, answer, &contents), Paid::default()),
            None => (Err(JudgeError::NoModel), Paid::default()),
        },
    };
    Judged::new(result, paid)
}

/// The models of a judge's panel. A judge that answers offline where none is configured needs none.
impl<J: Judge + Declared> Requires for J {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let (signature, spec) = (J::signature(), <J as Declared>::SPEC);
        let lms = self.panel().check(signature, spec.kind == ScoreKind::Bool);
        match lms.and_then(|()| self.panel().resolve(signature)) {
            Ok(Some(lms)) => {
                all.extend(lms.into_iter().map(|lm| Requirement::model(spec.name, lm)))
            }
            Ok(None) if signature.offline.is_some() => {}
            Ok(None) => all.push(Requirement::missing(spec.name, JudgeError::NoModel)),
            Err(error) => all.push(Requirement::missing(spec.name, error)),
        }
    }
}

fn offline<J: Judge>(
    judge: &J,
    answer: &Offline,
    contents: &[Content],
) -> Result<Judgement, JudgeError> {
    let signature = J::signature();
    let texts: Vec<Option<&str>> = contents.iter().map(|content| content.0.as_deref()).collect();
    let mut answer = answer.answer(&texts);
    // A function may answer for several judges, and has no thoughts to write down.
    answer.retain(|name, _| signature.output_spec(name).is_some());
    if signature.output_spec("reasoning").is_some() {
        answer.entry("reasoning").or_insert_with(|| json!(""));
    }
    let text = Value::Object(answer).to_string();
    let read = Reply::find(signature, &text).and_then(Reply::read::<J::Output>);
    let (output, answer) = read.map_err(|flaw| JudgeError::Unreadable {
        lm: OFFLINE_JUDGE.to_owned(),
        flaws: flaw.said,
        said: text,
    })?;
    let mut metadata = Map::new();
    metadata.insert("judge".to_owned(), json!(OFFLINE_JUDGE));
    let reasoning = answer.get("reasoning").and_then(Value::as_str).unwrap_or_default();
    let details = Some(format!("judge: {OFFLINE_JUDGE}. {reasoning}").trim_end().to_owned());
    metadata.insert("answer".to_owned(), Value::Object(answer));
    let value = worth(judge, output, OFFLINE_JUDGE)?;
    Ok(Judgement { value, confidence: 1.0, details, feedback: None, metadata })
}

/// What one judge of the panel said, from one order of the row or from both.
struct Member {
    id: String,
    verdict: Result<Opinion, JudgeError>,
}

struct Opinion {
    value: f64,
    confidence: f64,
    answers: Vec<Map<String, Value>>,
}

async fn ask_all<J: Judge>(
    judge: &J,
    lms: &[Arc<dyn LanguageModel>],
    contents: Vec<Content>,
    spec: &MetricSpec<'static>,
) -> (Result<Judgement, JudgeError>, Paid) {
    let signature = J::signature();
    let prompts = prompts(signature, &judge.configured(), contents);
    let mut questions = Vec::with_capacity(lms.len() * prompts.len());
    for (index, lm) in lms.iter().enumerate() {
        for prompt in &prompts {
            questions.push(ask(judge, &**lm, prompt, draw(lms, index), spec.range));
        }
    }
    let limit = judge.panel().limit(signature);
    let asked: Vec<Asked> = futures_util::stream::iter(questions).buffered(limit).collect().await;
    let mut paid = Paid::default();
    let (mut calls, mut left_out) = (Calls::default(), LeftOut::new());
    for asked in &asked {
        left_out.extend(&asked.left_out);
        paid.add(asked.paid);
        calls.add(asked.calls);
    }
    let mut asked = asked.into_iter();
    let members = lms.iter().map(|lm| {
        let verdicts: Result<Vec<Verdict>, _> =
            asked.by_ref().take(prompts.len()).map(|asked| asked.verdict).collect();
        Member { id: lm.id().to_owned(), verdict: verdicts.map(|verdicts| opinion(verdicts, spec)) }
    });
    let members: Vec<Member> = members.collect();
    let judgement = settle(judge.panel(), signature, &members, spec).map(|mut judgement| {
        judgement.metadata.insert("calls".to_owned(), json!(calls.made));
        judgement.metadata.insert("cached".to_owned(), json!(calls.cached));
        if calls.usage != Usage::default() {
            judgement.metadata.insert("usage".to_owned(), json!(calls.usage));
        }
        say_left_out(&mut judgement, &left_out);
        judgement
    });
    (judgement, paid)
}

/// Says that a model was asked otherwise than the judge's author wrote.
fn say_left_out(judgement: &mut Judgement, left_out: &LeftOut) {
    if left_out.is_empty() {
        return;
    }
    let names: Vec<_> = left_out.iter().map(|parameter| parameter.name()).collect();
    let said = format!("(asked without {}, which the model does not take)", names.join(" and "));
    judgement.details = Some(match judgement.details.take() {
        Some(details) => format!("{details}\n{said}"),
        None => said,
    });
    judgement.metadata.insert("left_out".to_owned(), json!(names));
}

/// The prompt, or for a pair both orders of it.
fn prompts(
    signature: &Signature,
    configured: &[(&'static str, Content)],
    mut contents: Vec<Content>,
) -> Vec<Prompt> {
    let mut prompts = vec![Prompt::new(signature, configured, &contents)];
    if let Some((first, second)) = signature.pairwise {
        contents.swap(first, second);
        prompts.push(Prompt::new(signature, configured, &contents));
    }
    prompts
}

/// How many judges before this one are the same model.
fn draw(lms: &[Arc<dyn LanguageModel>], index: usize) -> u32 {
    let same = |lm: &&Arc<dyn LanguageModel>| {
        lm.id() == lms[index].id() && lm.endpoint() == lms[index].endpoint()
    };
    u32::try_from(lms[..index].iter().filter(same).count()).unwrap_or(u32::MAX)
}

/// One opinion from the verdict on a row, or from those on both orders of a pair. Who prefers the first
/// place prefers neither answer.
fn opinion(verdicts: Vec<Verdict>, spec: &MetricSpec<'_>) -> Opinion {
    let (values, answers): (Vec<f64>, Vec<_>) =
        verdicts.into_iter().map(|verdict| (verdict.value, verdict.answer)).unzip();
    let [straight, swapped] = values[..] else {
        return Opinion { value: values[0], confidence: 1.0, answers };
    };
    let (min, max) = spec.range.map_or((0.0, 1.0), |range| (range.min, range.max));
    let middle = f64::midpoint(min, max);
    let swapped = min + max - swapped;
    if (straight - middle) * (swapped - middle) < 0.0 {
        return Opinion { value: middle, confidence: TORN, answers };
    }
    let value = f64::midpoint(straight, swapped);
    let confidence =
        agreement(&[straight, swapped], value, Some(crate::core::spec::ScoreRange { min, max }));
    Opinion { value, confidence, answers }
}

fn settle(
    panel: &Panel,
    signature: &Signature,
    members: &[Member],
    spec: &MetricSpec<'_>,
) -> Result<Judgement, JudgeError> {
    let heard: Vec<(&str, &Opinion)> = members
        .iter()
        .filter_map(|member| Some((member.id.as_str(), member.verdict.as_ref().ok()?)))
        .collect();
    let lost = || members.iter().filter_map(|member| member.verdict.as_ref().err());
    let quorum = panel.quorum_of(signature);
    if heard.len() < quorum {
        // If money is what was missing, that is why: the row could still be judged.
        let unpaid = lost().find(|error| error.budget_msats().is_some());
        let first = unpaid.or_else(|| lost().next()).cloned().unwrap_or(JudgeError::NoModel);
        return Err(match members.len() {
            1 => first,
            asked => {
                JudgeError::NoQuorum { heard: heard.len(), asked, quorum, first: Box::new(first) }
            }
        });
    }
    let is_bool = spec.kind == ScoreKind::Bool;
    let values: Vec<f64> = heard.iter().map(|(_, opinion)| opinion.value).collect();
    let divided = JudgeError::Divided { votes: values.len() / 2, asked: members.len() };
    let value = match is_bool {
        true => majority(&values).ok_or(divided)?,
        false => fold(&values, panel.aggregation_of(signature, is_bool)),
    };
    let own: Vec<f64> = heard.iter().map(|(_, opinion)| opinion.confidence).collect();
    #[expect(clippy::cast_precision_loss, reason = "nobody asks 2^52 judges")]
    let (sure, share) =
        (own.iter().sum::<f64>() / own.len() as f64, heard.len() as f64 / members.len() as f64);
    Ok(Judgement {
        value,
        confidence: agreement(&values, value, spec.range) * sure * share,
        details: details(&heard),
        feedback: words(&heard, "feedback"),
        metadata: metadata(&heard, members),
    })
}

/// What the judges wrote down; of several, a paragraph each with its model.
fn words(heard: &[(&str, &Opinion)], output: &str) -> Option<String> {
    let all: Vec<(&str, f64, &str)> = heard
        .iter()
        .flat_map(|(id, opinion)| {
            opinion.answers.iter().map(move |answer| (*id, opinion.value, answer))
        })
        .filter_map(|(id, value, answer)| Some((id, value, answer.get(output)?.as_str()?)))
        .collect();
    match &all[..] {
        [] => None,
        [(_, _, words)] => Some((*words).to_owned()),
        all => {
            let lines = all.iter().map(|(id, value, words)| format!("{id} ({value}): {words}"));
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

fn details(heard: &[(&str, &Opinion)]) -> Option<String> {
    words(heard, "reasoning")
}

fn metadata(heard: &[(&str, &Opinion)], members: &[Member]) -> Map<String, Value> {
    let mut metadata = Map::new();
    let answers = heard.iter().map(
        |(id, opinion)| json!({ "judge": id, "value": opinion.value, "answers": opinion.answers }),
    );
    metadata.insert("judges".to_owned(), Value::Array(answers.collect()));
    let lost = members.iter().filter_map(|member| {
        let error = member.verdict.as_ref().err()?;
        Some(json!({ "judge": member.id, "error": error.to_string() }))
    });
    let lost: Vec<Value> = lost.collect();
    if !lost.is_empty() {
        metadata.insert("lost".to_owned(), Value::Array(lost));
    }
    metadata
}
