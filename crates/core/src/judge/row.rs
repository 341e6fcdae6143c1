//! Judges one row with all judges of a panel: the calls, both orders of a pair, and the cost. `members.rs` combines the
//! verdicts.

use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};

use super::contract::Judge;
use super::demos::demos;
use super::error::JudgeError;
use super::json_object::{Fields, Flaw};
use super::judged::{Judged, Judgement, Kind};
use super::members::{Member, combine, opinion};
use super::model_call::{Question, Verdict, hash_without_inputs, request, score, validated};
use super::output_spec::Offline;
use super::panel::Judges;
use super::pipeline::{Pipeline, call_model, step_prompt};
use super::prompt::{Demo, Prompt};
use super::reply::Reply;
use super::signature::Signature;
use super::unsupported_params::UnsupportedParams;
use super::untrusted::Content;
use crate::declared::Declared;
use crate::declared::requirements::{Requirement, Requires};
use crate::lm::{LanguageModel, LmError, LmRequest, Usage};
#[cfg(feature = "lm")]
use crate::lm::{panel_reservation, recording};
use crate::messages::hash;
use crate::metric::answer::Answer;
use crate::metric::settings::RepeatNumber;
use crate::rows::missing::Absent;
use crate::score::OFFLINE_JUDGE;
use crate::score::replied_by::ReplyCounts;
use crate::score::return_types::MetricReturn as _;
use crate::spec::{MetricSpec, ScoreKind};

/// Returns the answer of a judge to one call. `spec` is the spec of the call, `absent` has the fields that the prediction
/// lacks. The type of the future is erased here, since the compiler would otherwise prove for each judge that the whole
/// future is `Send`.
#[doc(hidden)]
pub fn judged<'a, J, K>(
    judge: &'a J,
    input: J::Input,
    spec: MetricSpec<'a>,
    absent: Absent,
) -> Answer<'a>
where
    J: Judge<Input: 'a> + Declared,
    K: Kind + 'a,
{
    Answer::pending(async move {
        let judged: Judged<K> = row(judge, &input).await;
        absent.mark(judged.into_scored(&spec))
    })
}

/// Judges one row.
#[doc(hidden)]
pub async fn row<J: Judge + Declared, K: Kind>(judge: &J, input: &J::Input) -> Judged<K> {
    let spec = || judge.panel().shown_spec(const { <J as Declared>::SPEC });
    let (result, cost_msats) = match &J::signature().turns {
        None => judgement(judge, input, spec).await,
        // Boxed, so that a judge of rows takes less memory.
        Some(turns) => Box::pin(super::turns::judgement(judge, input, turns, spec)).await,
    };
    Judged::new(result, cost_msats)
}

/// Returns the judgement of one row, and its cost in millisatoshis. `spec` returns the spec of the judge where it is read: a
/// future has space for what it keeps while it waits, and many rows wait at once.
pub(super) async fn judgement<J: Judge>(
    judge: &J,
    input: &J::Input,
    spec: impl Fn() -> MetricSpec<'static>,
) -> (Result<Judgement, JudgeError>, u64) {
    let mut questions = match prepared(judge, input, &spec()) {
        ControlFlow::Break(judgement) => return (judgement, 0),
        ControlFlow::Continue(questions) => questions,
    };
    match questions.ask(judge).await {
        Ok(answers) => questions.judgement(judge, answers, &spec()),
        Err(error) => (Err(error.into()), 0),
    }
}

/// Returns the questions to the models, or the judgement that needs no model.
fn prepared<J: Judge>(
    judge: &J,
    input: &J::Input,
    spec: &MetricSpec<'static>,
) -> ControlFlow<Result<Judgement, JudgeError>, Questions> {
    let contents = judge.shown(input);
    if let Some(judgement) = of_empty_input(J::signature(), &contents) {
        return ControlFlow::Break(Ok(judgement));
    }
    match checked(judge, spec) {
        Err(error) => ControlFlow::Break(Err(error)),
        Ok((_, Judges::Offline(answer))) => ControlFlow::Break(offline(judge, answer, &contents)),
        Ok((demos, Judges::Models(lms))) => {
            ControlFlow::Continue(Questions::new(judge, lms, &demos, contents, spec))
        }
    }
}

/// Validates the settings of a judge and returns its demonstrations.
fn checked<J: Judge>(
    judge: &J,
    spec: &MetricSpec<'_>,
) -> Result<(Vec<Demo>, Judges<'static>), JudgeError> {
    let (signature, panel) = (J::signature(), judge.panel());
    let turns = signature.turns.as_ref();
    let is_verdict = turns.is_some_and(|turns| turns.is_verdict);
    panel.check(signature, is_verdict || spec.kind == ScoreKind::Bool)?;
    signature.check_costs(spec.cost_msats)?;
    super::scoring::check(signature)?;
    judge.check_params().map_err(JudgeError::new)?;
    Ok((demos(judge)?, panel.resolve(signature)?))
}

/// Returns the score of a row with an empty input, if the judge scores it without a model.
fn of_empty_input(signature: &Signature, contents: &[Content]) -> Option<Judgement> {
    let (value, inputs) = signature.empty?;
    let is_blank = |index: &&usize| contents.get(**index).is_some_and(|input| input.is_blank);
    let (name, _) = signature.inputs.get(*inputs.iter().find(is_blank)?)?;
    let details = Some(format!("`{name}` is empty; no model was called"));
    Some(Judgement {
        details,
        ..Judgement::new(value)
    })
}

/// Requires the models of the panel, unless the offline stand-in was requested.
impl<J: Judge + Declared> Requires for J {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let (signature, spec) = (J::signature(), <J as Declared>::SPEC);
        all.extend(self.panel().invalid_setting(&spec));
        match checked(self, &spec) {
            Ok((demos, Judges::Models(lms))) => {
                let (configured, settings) = (self.configured(), self.panel().prompt());
                let prompt = Prompt::new(signature, &configured, settings, &demos, &[]);
                let hash: Arc<str> =
                    hash_of_calls(self, hash_without_inputs(signature, prompt)).into();
                let needs_logprobs = signature.scoring.logprobs().is_some();
                let requirement = |lm| {
                    let requirement = Requirement::model(spec.name, lm).with_prompt(&hash);
                    if needs_logprobs {
                        requirement.with_logprobs()
                    } else {
                        requirement
                    }
                };
                all.extend(lms.into_iter().map(requirement));
            }
            Ok((_, Judges::Offline(_))) => all.push(Requirement::offline(spec.name)),
            Err(error) if error.is_no_model() => {
                all.push(Requirement::missing_model(spec.name, error));
            }
            Err(error) => all.push(Requirement::missing(spec.name, error)),
        }
    }

    fn max_cost(&self, declared_msats: u64) -> u64 {
        self.panel().max_cost(J::signature(), declared_msats)
    }
}

fn offline<J: Judge>(
    judge: &J,
    answer: &Offline,
    contents: &[Content],
) -> Result<Judgement, JudgeError> {
    let signature = J::signature();
    let texts: Vec<Option<&str>> = contents
        .iter()
        .map(|content| content.text.as_deref())
        .collect();
    let mut answer = answer.answer(&texts);
    // One function may serve several judges, and returns no reasoning.
    answer.retain(|name, _| signature.output_spec(name).is_some());
    if signature.output_spec("reasoning").is_some() {
        answer.entry("reasoning").or_insert_with(|| json!(""));
    }
    let text = Value::Object(answer).to_string();
    let read = Reply::find(signature, &text).and_then(Reply::read::<J::Output>);
    let unreadable = |flaw: Flaw| JudgeError::unreadable(OFFLINE_JUDGE, &flaw.text, &text);
    let (output, Fields { values: answer, .. }) = read.map_err(unreadable)?;
    let mut metadata = Map::new();
    metadata.insert("judge".to_owned(), json!(OFFLINE_JUDGE));
    let reasoning = answer
        .get("reasoning")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let details = Some(
        format!("judge: {OFFLINE_JUDGE}. {reasoning}")
            .trim_end()
            .to_owned(),
    );
    metadata.insert("answer".to_owned(), Value::Object(answer));
    let value = score(judge, output, OFFLINE_JUDGE)?;
    Ok(Judgement {
        details,
        metadata,
        ..Judgement::new(value)
    })
}

/// The verdict on a question, and what it cost.
type Answered = (Result<Verdict, JudgeError>, Question);

/// The questions about a row: each model of the panel is asked about the row, or about both orders of a pair.
struct Questions {
    lms: Vec<Arc<dyn LanguageModel>>,
    /// By model.
    requests: Vec<LmRequest>,
    /// Of a judge with steps or lists, for each request.
    pipelines: Vec<Pipeline>,
    /// The declared cost of one call.
    declared_msats: u64,
}

impl Questions {
    fn new<J: Judge>(
        judge: &J,
        lms: Vec<Arc<dyn LanguageModel>>,
        demos: &[Demo],
        contents: Vec<Content>,
        spec: &MetricSpec<'static>,
    ) -> Self {
        let signature = J::signature();
        let has_pipeline = signature.has_steps_or_lists();
        let orders = orders(signature, contents);
        let prompts: Vec<Prompt> = orders
            .iter()
            .map(|contents| prompt(judge, demos, contents))
            .collect();
        let draws = signature.scoring.draws();
        let mut requests = Vec::with_capacity(lms.len() * prompts.len() * draws as usize);
        let mut pipelines = Vec::new();
        let first = signature.steps.first().map_or(signature, |step| &step.call);
        for (index, lm) in lms.iter().enumerate() {
            let first_draw = draw(&lms, index, draws);
            let of_member = || first_draw..first_draw.saturating_add(draws);
            for (prompt, contents) in prompts.iter().zip(&orders) {
                requests.extend(of_member().map(|draw| {
                    request(
                        first,
                        signature.sampling_of(draw),
                        &**lm,
                        prompt.clone(),
                        draw,
                    )
                }));
                if has_pipeline {
                    let contents = of_member().map(|draw| (contents.clone(), draw));
                    pipelines.extend(contents.map(|(contents, draw)| Pipeline { contents, draw }));
                }
            }
        }
        let declared_msats = signature.cost_of_question(spec);
        Self {
            requests,
            pipelines,
            declared_msats,
            lms,
        }
    }

    /// Calls all models of a panel, or none if a budget does not cover all of them.
    async fn ask<J: Judge>(&mut self, judge: &J) -> Result<Vec<Answered>, LmError> {
        let Self {
            lms,
            requests,
            pipelines,
            declared_msats,
        } = self;
        // One question needs no list of futures.
        if let ([lm], [request]) = (&**lms, &mut **requests) {
            let pipeline = pipelines.first_mut();
            let answered = call_model(judge, &**lm, request, pipeline, *declared_msats).await;
            return Ok(vec![answered]);
        }
        let questions = requests.len() / lms.len();
        let lms = || {
            lms.iter()
                .flat_map(|lm| std::iter::repeat_n(&**lm, questions))
        };
        #[cfg(feature = "lm")]
        let quotes = recording::quotes(lms().zip(&*requests));
        let questions = lms().zip(requests);
        let mut pipelines = pipelines.iter_mut();
        let calls = questions
            .map(|(lm, request)| call_model(judge, lm, request, pipelines.next(), *declared_msats));
        let limit = judge.panel().limit(J::signature());
        let calls = futures_util::stream::iter(calls.collect::<Vec<_>>())
            .buffered(limit)
            .collect();
        // Boxed, so that one question takes less memory.
        #[cfg(feature = "lm")]
        return Box::pin(panel_reservation::run(quotes, calls)).await;
        #[cfg(not(feature = "lm"))]
        Ok(Box::pin(calls).await)
    }

    /// Returns the judgement, and its cost in millisatoshis.
    fn judgement<J: Judge>(
        &self,
        judge: &J,
        results: Vec<Answered>,
        spec: &MetricSpec<'static>,
    ) -> (Result<Judgement, JudgeError>, u64) {
        let Self { lms, requests, .. } = self;
        let questions = requests.len() / lms.len();
        let draws = J::signature().scoring.draws() as usize;
        let mut cost_msats: u64 = 0;
        let (mut calls, mut usage) = (0, Usage::default());
        let mut omitted = UnsupportedParams::new();
        for (_, question) in &results {
            omitted.extend(&question.omitted);
            cost_msats = cost_msats.saturating_add(question.msats);
            calls += question.calls;
            usage += question.usage;
        }
        let mut results = results.into_iter();
        let members = lms.iter().map(|lm| {
            // All draws and both orders, also if the first one has no verdict.
            let of_member: Vec<Answered> = results.by_ref().take(questions).collect();
            let mut replied_by = ReplyCounts::default();
            let ignored_keys = of_member
                .iter()
                .map(|(_, question)| question.ignored_keys)
                .sum();
            of_member
                .iter()
                .for_each(|(_, question)| replied_by.add_all(&question.replied_by));
            let verdicts: Result<Vec<Verdict>, _> = of_member
                .into_iter()
                .map(|(verdict, _)| validated(lm, verdict?, spec.range))
                .collect();
            let verdict = verdicts.map(|verdicts| opinion(verdicts, draws, spec));
            Member {
                id: lm.id().to_owned(),
                replied_by,
                ignored_keys,
                verdict,
            }
        });
        let members: Vec<Member> = members.collect();
        let judgement =
            combine(judge.panel(), J::signature(), &members, spec).map(|mut judgement| {
                judgement.metadata.insert("calls".to_owned(), json!(calls));
                if usage != Usage::default() {
                    judgement.metadata.insert("usage".to_owned(), json!(usage));
                }
                report_omitted(&mut judgement, &omitted);
                judgement
            });
        (judgement, cost_msats)
    }
}

/// Reports the sampling parameters that a model does not support.
fn report_omitted(judgement: &mut Judgement, omitted: &UnsupportedParams) {
    if omitted.is_empty() {
        return;
    }
    let names: Vec<_> = omitted.iter().map(|parameter| parameter.name()).collect();
    let note = format!(
        "(called without {}, which the model does not support)",
        names.join(" and ")
    );
    judgement.details = Some(match judgement.details.take() {
        Some(details) => format!("{details}\n{note}"),
        None => note,
    });
    judgement
        .metadata
        .insert("omitted_params".to_owned(), json!(names));
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

/// Returns the prompt of the first call.
fn prompt<J: Judge>(judge: &J, demos: &[Demo], contents: &[Content]) -> Prompt {
    let signature = J::signature();
    if let Some(step) = signature.steps.first() {
        return step_prompt(judge, step, contents);
    }
    Prompt::new(
        signature,
        &judge.configured(),
        judge.panel().prompt(),
        demos,
        contents,
    )
}

/// Returns the hash of the prompts of all calls, where `last` is the hash of the last one.
fn hash_of_calls<J: Judge>(judge: &J, last: String) -> String {
    let hashes = J::signature()
        .steps
        .iter()
        .map(|step| hash_without_inputs(&step.call, step_prompt(judge, step, &[])));
    let mut all = last;
    for hash in hashes {
        all = hash::of_bytes(format!("{hash}{all}").as_bytes());
    }
    match J::signature().scoring.draws() {
        1 => all,
        draws => hash::of_bytes(format!("{draws} {all}").as_bytes()),
    }
}

/// Returns the first draw of a judge: the number of draws of earlier judges with the same model, which is different in each
/// repeat of the row.
fn draw(lms: &[Arc<dyn LanguageModel>], index: usize, draws: u32) -> u32 {
    let same = |lm: &&Arc<dyn LanguageModel>| {
        lm.id() == lms[index].id() && lm.endpoint() == lms[index].endpoint()
    };
    let earlier = u32::try_from(lms[..index].iter().filter(same).count()).unwrap_or(u32::MAX);
    let of_repeat = RepeatNumber::current().0.saturating_mul(MAX_JUDGES);
    of_repeat.saturating_add(earlier).saturating_mul(draws)
}

/// More judges than a panel has.
const MAX_JUDGES: u32 = 1 << 10;
