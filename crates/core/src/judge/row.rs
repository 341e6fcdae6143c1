//! Judges one row with all judges of a panel: the calls, both orders of a pair, and the cost. `members.rs` combines the
//! verdicts.

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::contract::AnyJudge;
use super::json_object::Flaw;
use super::judged::{Judgement, scored};
use super::members::{Member, combine, opinion};
use super::model_call::{
    Question, Tally, UnsupportedParams, Verdict, hash_without_inputs, known_for, request, score,
    validated,
};
use super::panel::Judges;
use super::pipeline::{last_prompt, step_prompt};
use super::prompt::demos;
use super::{Content, Demo, Judge, JudgeError, Judged, Offline, Reply, Signature};
use crate::declared::{Declared, Requirement, Requires};
use crate::lm::{LanguageModel, LmError, Usage};
#[cfg(feature = "lm")]
use crate::lm::{recording, reserve_for_panel};
use crate::messages::hash;
use crate::metric::{Answer, RepeatNumber};
use crate::rows::Absent;
use crate::score::{OFFLINE_JUDGE, ReplyCounts};
use crate::spec::{MetricSpec, ScoreKind};

/// Returns a judge's answer to one call.
///
/// `spec` is the spec of the call, and `absent` lists the fields that the prediction lacks.
///
/// This function erases the future's type. Otherwise, the compiler would check that the whole future is `Send` once for
/// every judge.
#[doc(hidden)]
pub fn judged<'a, J>(
    judge: &'a J,
    input: J::Input,
    spec: MetricSpec<'a>,
    absent: Absent,
) -> Answer<'a>
where
    J: Judge<Input: 'a> + Declared,
{
    Answer::pending(async move {
        let (result, cost_msats) = of_row(judge, &input).await;
        absent.mark(scored(result, cost_msats, &spec))
    })
}

/// Judges one row.
#[doc(hidden)]
pub async fn row<J: Judge + Declared, K>(judge: &J, input: &J::Input) -> Judged<K> {
    let (result, cost_msats) = of_row(judge, input).await;
    Judged::new(result, cost_msats)
}

/// A judgement and its cost in millisatoshis.
pub(super) type Costed = (Result<Judgement, JudgeError>, u64);

async fn of_row<J: Judge + Declared>(judge: &J, input: &J::Input) -> Costed {
    let spec = || judge.panel().shown_spec(const { <J as Declared>::SPEC });
    let Some(turns) = &J::signature().turns else {
        return judgement(judge, judge.shown(input), &spec).await;
    };
    let Some((conversation, with)) = J::conversation(input) else {
        return (Err(JudgeError::no_items("turns")), 0);
    };
    let shown = |position| judge.shown(&with(input, turns.window(conversation, position)));
    let positions = turns.of(conversation);
    // Boxed, so a judge that scores whole rows takes less memory.
    Box::pin(super::pipeline::turns_judgement(
        judge, turns, positions, &shown, &spec,
    ))
    .await
}

/// A function that returns the spec of a judge's value. A future reserves space for what it keeps while it waits, and
/// many rows wait at once, so it doesn't keep the spec itself.
pub(super) type SpecOf<'a> = &'a (dyn Fn() -> MetricSpec<'static> + Sync);

/// Returns the judgement of one row and its cost in millisatoshis. `contents` are the inputs as they appear in the
/// prompt.
pub(super) async fn judgement(
    judge: &dyn AnyJudge,
    contents: Vec<Content>,
    spec: SpecOf<'_>,
) -> Costed {
    if let Some(judgement) = of_empty_input(judge.signature(), &contents) {
        return (Ok(judgement), 0);
    }
    let mut questions = match checked(judge, &spec()) {
        Err(error) => return (Err(error), 0),
        Ok((_, Judges::Offline(answer))) => return (offline(judge, answer, &contents), 0),
        Ok((demos, Judges::Models(lms))) => questions(judge, &lms, &demos, contents, &spec()),
    };
    match ask(judge, &mut questions).await {
        Ok(verdicts) => combined(judge, &questions, verdicts, &spec()),
        Err(error) => (Err(error.into()), 0),
    }
}

/// Validates a judge's settings and returns its demonstrations and models.
fn checked(
    judge: &dyn AnyJudge,
    spec: &MetricSpec<'_>,
) -> Result<(Vec<Demo>, Judges<'static>), JudgeError> {
    let (signature, panel) = (judge.signature(), judge.panel());
    let turns = signature.turns.as_ref();
    let is_verdict = turns.is_some_and(|turns| turns.is_verdict);
    panel.check(signature, is_verdict || spec.kind == ScoreKind::Bool)?;
    signature.check_costs(spec.cost_msats)?;
    super::scoring::check(signature)?;
    judge.check_params().map_err(JudgeError::new)?;
    Ok((demos(judge)?, panel.resolve(signature)?))
}

/// Returns the score for a row with an empty input, if the judge scores it without a model.
fn of_empty_input(signature: &Signature, contents: &[Content]) -> Option<Judgement> {
    let (value, inputs) = signature.empty?;
    let is_blank = |index: &&usize| contents.get(**index).is_some_and(|input| input.is_blank);
    let (name, _) = signature.inputs.get(*inputs.iter().find(is_blank)?)?;
    let details = format!("`{name}` is empty; no model was called");
    Some(Judgement::new(value, Some(details)))
}

/// Requires the models of the panel, unless the offline stand-in was chosen.
impl<J: Judge + Declared> Requires for J {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        requirements(self, const { &<J as Declared>::SPEC }, all);
    }

    fn max_cost(&self, declared_msats: u64) -> u64 {
        self.panel().max_cost(J::signature(), declared_msats)
    }
}

fn requirements(judge: &dyn AnyJudge, spec: &MetricSpec<'_>, all: &mut Vec<Requirement>) {
    all.extend(judge.panel().invalid_setting(spec));
    match checked(judge, spec) {
        Ok((demos, Judges::Models(lms))) => {
            let (signature, prompt) = (judge.signature(), last_prompt(judge, &demos, &[]));
            let hash: Arc<str> =
                hash_of_calls(judge, hash_without_inputs(signature, prompt)).into();
            let needs_logprobs = signature.scoring.logprobs().is_some();
            let requirement = |lm| Requirement::judge(spec.name, lm, &hash, needs_logprobs);
            all.extend(lms.into_iter().map(requirement));
        }
        Ok((_, Judges::Offline(_))) => all.push(Requirement::offline(spec.name)),
        Err(error) if error.is_no_model() => {
            all.push(Requirement::missing_model(spec.name, error));
        }
        Err(error) => all.push(Requirement::missing(spec.name, error)),
    }
}

fn offline(
    judge: &dyn AnyJudge,
    answer: &Offline,
    contents: &[Content],
) -> Result<Judgement, JudgeError> {
    let signature = judge.signature();
    let texts = contents.iter().map(|content| content.text.as_deref());
    let mut answer = answer.answer(&texts.collect::<Vec<_>>());
    // One function may serve several judges, and it returns no reasoning.
    answer.retain(|name, _| signature.output_spec(name).is_some());
    if signature.output_spec("reasoning").is_some() {
        answer.entry("reasoning").or_insert_with(|| json!(""));
    }
    let text = Value::Object(answer).to_string();
    let read =
        Reply::find(signature, &text).and_then(|reply| reply.read(|reply| judge.read(reply)));
    let unreadable = |flaw: Flaw| JudgeError::unreadable(OFFLINE_JUDGE, &flaw.text, &text);
    let (output, answer, _) = read.map_err(unreadable)?;
    let reasoning = answer.get("reasoning").and_then(Value::as_str);
    let details = format!("judge: {OFFLINE_JUDGE}. {}", reasoning.unwrap_or_default());
    let details = details.trim_end().to_owned();
    let mut judgement = Judgement::new(score(output, OFFLINE_JUDGE)?, Some(details));
    let metadata = &mut judgement.critique.metadata;
    metadata.insert("judge".to_owned(), json!(OFFLINE_JUDGE));
    metadata.insert("answer".to_owned(), Value::Object(answer));
    Ok(judgement)
}

/// Returns the questions about a row, by model. Each model of the panel is asked about the row, or about both orders of
/// a pair, once per draw.
fn questions(
    judge: &dyn AnyJudge,
    lms: &[Arc<dyn LanguageModel>],
    demos: &[Demo],
    contents: Vec<Content>,
    spec: &MetricSpec<'static>,
) -> Vec<Question> {
    let signature = judge.signature();
    let (draws, declared_msats) = (signature.scoring.draws(), signature.cost_of_question(spec));
    let first = signature.steps.first();
    let call = first.map_or(signature, |step| &step.call);
    let orders = orders(signature, contents).into_iter().map(|contents| {
        let prompt = match first {
            Some(step) => step_prompt(judge, step, &contents),
            None => last_prompt(judge, demos, &contents),
        };
        let contents = signature.has_steps_or_lists().then_some(contents);
        (prompt, contents.unwrap_or_default())
    });
    let orders: Vec<_> = orders.collect();
    let mut questions = Vec::with_capacity(lms.len() * orders.len() * draws as usize);
    for (index, lm) in lms.iter().enumerate() {
        let first_draw = first_draw(lms, index, draws);
        for (prompt, contents) in &orders {
            questions.extend(
                (first_draw..first_draw.saturating_add(draws)).map(|draw| Question {
                    request: request((signature, call), &**lm, prompt.clone(), draw),
                    omitted: known_for(&**lm),
                    lm: Arc::clone(lm),
                    contents: contents.clone(),
                    draw,
                    declared_msats,
                    tally: Tally::default(),
                }),
            );
        }
    }
    questions
}

/// Calls all models of a panel, or none if a budget does not cover all of them.
async fn ask(
    judge: &dyn AnyJudge,
    questions: &mut [Question],
) -> Result<Vec<Result<Verdict, JudgeError>>, LmError> {
    // A single question needs no list of futures.
    if let [question] = questions {
        return Ok(vec![question.verdict(judge).await]);
    }
    #[cfg(feature = "lm")]
    let quotes = recording::quotes(questions.iter().map(|it| (&*it.lm, &it.request)));
    let calls = questions.iter_mut().map(|question| question.verdict(judge));
    let calls = futures_util::stream::iter(calls.collect::<Vec<_>>())
        .buffered(judge.panel().limit(judge.signature()))
        .collect();
    // Boxed, so a single question takes less memory.
    #[cfg(feature = "lm")]
    return Box::pin(reserve_for_panel(quotes, calls)).await;
    #[cfg(not(feature = "lm"))]
    Ok(Box::pin(calls).await)
}

/// Returns the judgement and its cost in millisatoshis.
fn combined(
    judge: &dyn AnyJudge,
    questions: &[Question],
    mut verdicts: Vec<Result<Verdict, JudgeError>>,
    spec: &MetricSpec<'static>,
) -> Costed {
    let signature = judge.signature();
    let draws = signature.scoring.draws() as usize;
    let of_judge = signature.questions() as usize;
    let members = questions.chunks(of_judge).map(|questions| {
        let lm = &questions[0].lm;
        let mut replied_by = ReplyCounts::default();
        for question in questions {
            replied_by.add_all(&question.tally.replied_by);
        }
        // All draws and both orders, even if the first one has no verdict.
        let verdicts = verdicts.drain(..of_judge);
        let verdicts = verdicts.map(|verdict| validated(lm, verdict?, spec.range));
        let verdicts: Result<Vec<Verdict>, _> = verdicts.collect();
        Member {
            id: lm.id().to_owned(),
            replied_by,
            ignored_keys: questions.iter().map(|it| it.tally.ignored_keys).sum(),
            verdict: verdicts.map(|verdicts| opinion(verdicts, draws, spec)),
        }
    });
    let members: Vec<Member> = members.collect();
    let (mut cost_msats, mut calls, mut usage) = (0_u64, 0, Usage::default());
    let mut omitted = UnsupportedParams::new();
    for question in questions {
        omitted.extend(&question.omitted);
        cost_msats = cost_msats.saturating_add(question.tally.msats);
        calls += question.tally.calls;
        usage += question.tally.usage;
    }
    let judgement = combine(judge.panel(), signature, &members, spec).map(|mut judgement| {
        let metadata = &mut judgement.critique.metadata;
        metadata.insert("calls".to_owned(), json!(calls));
        if usage != Usage::default() {
            metadata.insert("usage".to_owned(), json!(usage));
        }
        if !omitted.is_empty() {
            metadata.insert("omitted_params".to_owned(), json!(omitted));
        }
        judgement
    });
    (judgement, cost_msats)
}

/// Returns the inputs of a row, or both orders of a pair.
fn orders(signature: &Signature, mut contents: Vec<Content>) -> Vec<Vec<Content>> {
    let Some((first, second)) = signature.pairwise else {
        return vec![contents];
    };
    let straight = contents.clone();
    contents.swap(first, second);
    vec![straight, contents]
}

/// Returns the hash of all calls' prompts. `last` is the hash of the last prompt.
fn hash_of_calls(judge: &dyn AnyJudge, last: String) -> String {
    let signature = judge.signature();
    let mut all = last;
    for step in &signature.steps {
        let hash = hash_without_inputs(&step.call, step_prompt(judge, step, &[]));
        all = hash::of_bytes(format!("{hash}{all}").as_bytes());
    }
    match signature.scoring.draws() {
        1 => all,
        draws => hash::of_bytes(format!("{draws} {all}").as_bytes()),
    }
}

/// Returns a judge's first draw: the number of draws by earlier judges with the same model. It differs in each repeat
/// of the row.
fn first_draw(lms: &[Arc<dyn LanguageModel>], index: usize, draws: u32) -> u32 {
    let same = |lm: &&Arc<dyn LanguageModel>| {
        lm.id() == lms[index].id() && lm.endpoint() == lms[index].endpoint()
    };
    let earlier = u32::try_from(lms[..index].iter().filter(same).count()).unwrap_or(u32::MAX);
    let of_repeat = RepeatNumber::current().0.saturating_mul(MAX_JUDGES);
    of_repeat.saturating_add(earlier).saturating_mul(draws)
}

/// A number larger than any panel's number of judges.
const MAX_JUDGES: u32 = 1 << 10;
