//! Judges of turns: a conversation is judged reply by reply, and its turns' verdicts form one score.

use futures_util::StreamExt as _;
use serde_json::{Map, Value};

use super::aggregation::Turns;
use super::contract::AnyJudge;
use super::error::JudgeError;
use super::judged::Judgement;
use super::row;
use super::row::SpecOf;
use super::signature::Signature;
use super::untrusted::Content;
use crate::spec::{MetricSpec, ScoreKind, ScoreRange};

/// The number of turns of one row that are judged concurrently.
const CONCURRENT: usize = 8;

/// Returns the spec of one question: that of a turn, if the judge scores turns.
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

/// Returns the judgement of a conversation and its cost in millisatoshis. `positions` are those of the turns, and `shown`
/// returns the inputs of the turn at a position.
pub(super) async fn judgement(
    judge: &dyn AnyJudge,
    turns: &Turns,
    positions: Vec<usize>,
    shown: &(dyn Fn(usize) -> Vec<Content> + Sync),
    spec: SpecOf<'_>,
) -> (Result<Judgement, JudgeError>, u64) {
    if positions.len() > turns.max {
        return (Err(too_many_turns(turns.max)), 0);
    }
    let spec = &|| spec_of_question(judge.signature(), spec());
    // Only the turns in progress hold a copy of the messages before them.
    let judged = positions.into_iter().map(|position| async move {
        let (result, cost_msats) = row::judgement(judge, shown(position), spec).await;
        (position + 1, result, cost_msats)
    });
    let judged = futures_util::stream::iter(judged.collect::<Vec<_>>()).buffered(CONCURRENT);
    let judged: Vec<_> = judged.collect().await;
    let cost_msats = judged
        .iter()
        .fold(0, |sum: u64, (_, _, cost)| sum.saturating_add(*cost));
    (reduced(judged, turns), cost_msats)
}

fn too_many_turns(max: usize) -> JudgeError {
    JudgeError::new(format!(
        "the conversation has more than {max} turns; shorten it, or set `max_turns` in `#[judge(..)]`"
    ))
}

/// Combines the judgements of the turns. A turn that abstains does not count; any other turn without a verdict fails
/// the row.
fn reduced(
    judged: Vec<(usize, Result<Judgement, JudgeError>, u64)>,
    turns: &Turns,
) -> Result<Judgement, JudgeError> {
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    let (mut confidence, mut lost) = (1.0_f64, None);
    let mut metadata = Map::new();
    for (number, result, _) in judged {
        let judgement = match result {
            Err(error) if error.is_no_items() => {
                lines.push(format!("message {number}: nothing to judge"));
                continue;
            }
            Err(error) => return Err(error.in_turn(number)),
            Ok(judgement) => judgement,
        };
        let Judgement { value, details, .. } = &judgement;
        let words = details.as_deref().filter(|details| !details.is_empty());
        let words = words
            .map(|details| format!(": {details}"))
            .unwrap_or_default();
        lines.push(format!("message {number} ({value}){words}"));
        values.push(judgement.value);
        confidence = confidence.min(judgement.confidence);
        lost = lost.or(judgement.lost);
        if let Some(label) = judgement.metadata.get("judge") {
            metadata.insert("judge".to_owned(), label.clone());
        }
        metadata.insert(
            format!("message {number}"),
            Value::Object(judgement.metadata),
        );
    }
    if values.is_empty() {
        return Err(JudgeError::no_items("turns"));
    }
    Ok(Judgement {
        confidence,
        details: Some(lines.join("\n")),
        metadata,
        lost,
        ..Judgement::new(turns.reduction.of(&values))
    })
}
