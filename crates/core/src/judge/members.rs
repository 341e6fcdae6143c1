//! Combines the verdicts of a panel's judges: position bias, quorum, the aggregated score with its confidence, and the
//! metadata.

use serde_json::{Map, Value, json};

use super::aggregation::{aggregate, agreement, majority, mean};
use super::judged::Judgement;
use super::model_call::Verdict;
use super::scoring::Weights;
use super::{JudgeError, Panel, Scoring, Signature};
use crate::score::{Critique, FAILED, JUDGES, LostJudges, ReplyCounts};
use crate::spec::{MetricSpec, ScoreKind, ScoreRange};

/// The confidence of a pairwise judge whose preferences in the two orders contradict each other (position bias).
const POSITION_BIAS_CONFIDENCE: f64 = 0.5;

/// The result of one judge in the panel, for one order of the row or for both.
pub(super) struct Member {
    pub(super) id: String,
    pub(super) replied_by: ReplyCounts,
    /// The number of keys in the judge's replies that belong to no output.
    pub(super) ignored_keys: usize,
    pub(super) verdict: Result<Opinion, JudgeError>,
}

/// One judge's verdict, independent of the order of a pair.
pub(super) struct Opinion {
    value: f64,
    confidence: f64,
    answers: Vec<Map<String, Value>>,
    /// For each order, the probabilities of an output's values, if the score is computed from them.
    probabilities: Vec<Map<String, Value>>,
}

/// Returns one judge's opinion from its verdicts on a row, one per draw, or on both orders of a pair. The score of
/// several draws is their mean. Orders that contradict each other (position bias) count as a tie.
pub(super) fn opinion(verdicts: Vec<Verdict>, draws: usize, spec: &MetricSpec<'_>) -> Opinion {
    let values: Vec<f64> = verdicts.iter().map(|verdict| verdict.value).collect();
    let weights = verdicts.iter().filter_map(|it| it.weights.as_ref());
    let probabilities = weights.map(Weights::by_text).collect();
    let answers = verdicts.into_iter().map(|verdict| verdict.answer).collect();
    let values: Vec<f64> = values.chunks(draws).map(mean).collect();
    let (value, confidence) = match values[..] {
        [straight, swapped] => of_both_orders(straight, swapped, spec.range),
        _ => (values[0], 1.0),
    };
    Opinion {
        value,
        confidence,
        answers,
        probabilities,
    }
}

/// Returns the value and confidence of a judge that was asked in both orders of a pair.
fn of_both_orders(straight: f64, swapped: f64, range: Option<ScoreRange>) -> (f64, f64) {
    let range = range.unwrap_or(ScoreRange::UNIT);
    let middle = f64::midpoint(range.min, range.max);
    let swapped = range.min + range.max - swapped;
    if (straight - middle) * (swapped - middle) < 0.0 {
        return (middle, POSITION_BIAS_CONFIDENCE);
    }
    let value = f64::midpoint(straight, swapped);
    (value, agreement(&[straight, swapped], value, Some(range)))
}

/// Returns a panel's judgement, or an error if there is no quorum.
pub(super) fn combine(
    panel: &Panel,
    signature: &Signature,
    members: &[Member],
    spec: &MetricSpec<'_>,
) -> Result<Judgement, JudgeError> {
    let verdicts = || members.iter().map(|it| (&*it.id, it.verdict.as_ref()));
    let answered = verdicts().filter_map(|(id, verdict)| Some((id, verdict.ok()?)));
    let answered: Vec<(&str, &Opinion)> = answered.collect();
    let errors = || verdicts().filter_map(|(_, verdict)| verdict.err());
    // Without the judges that the budget does not cover, this row would be judged by a different panel than the others.
    let is_final = |error: &&JudgeError| error.budget_msats().is_some() || error.is_estimated();
    if let Some(error) = errors().find(is_final) {
        return Err(error.clone());
    }
    let quorum = panel.quorum_of(signature);
    if answered.len() < quorum {
        // Judges that abstain count toward the quorum, but not toward the score.
        let abstained = |error: &&JudgeError| error.is_no_items();
        if let Some(error) = errors().find(abstained)
            && answered.len() + errors().filter(abstained).count() >= quorum
        {
            return Err(error.clone());
        }
        let first = errors().next().cloned();
        let first = first.unwrap_or_else(|| JudgeError::no_model(false));
        return Err(match members.len() {
            1 => first,
            judges => JudgeError::no_quorum(quorum, judges, answered.len(), first),
        });
    }
    let is_bool = spec.kind == ScoreKind::Bool;
    let values: Vec<f64> = answered.iter().map(|(_, opinion)| opinion.value).collect();
    let tied = || JudgeError::tied(values.len() / 2, members.len());
    let value = match is_bool {
        true => majority(&values).ok_or_else(tied)?,
        false => aggregate(&values, panel.aggregation_of(signature, is_bool)),
    };
    let confidence = answered.iter().map(|(_, opinion)| opinion.confidence);
    let sure = mean(&confidence.collect::<Vec<_>>());
    // There are far fewer than 2^52 judges.
    let share = answered.len() as f64 / members.len() as f64;
    let lost = errors().find(|error| !error.is_no_items());
    let mut judgement = Judgement::new(value, details(signature, &answered));
    judgement.score.confidence = agreement(&values, value, spec.range) * sure * share;
    judgement.critique = Critique {
        feedback: text_output(&answered, "feedback"),
        metadata: metadata(members),
        lost: lost.map(|first| LostJudges {
            is_allowed: panel.has_quorum(signature),
            first_error: first.to_string().into(),
        }),
        ..Critique::default()
    };
    Ok(judgement)
}

/// Returns the judges' string output. If there are several judges, each gets one line with its model.
fn text_output(answered: &[(&str, &Opinion)], output: &str) -> Option<String> {
    let mut all: Vec<(&str, f64, &str)> = Vec::new();
    for (id, opinion) in answered {
        let answers = opinion.answers.iter();
        let words = answers.filter_map(|answer| answer.get(output)?.as_str());
        all.extend(words.map(|words| (*id, opinion.value, words)));
    }
    let line = |(id, value, words): &(_, _, _)| format!("{id} ({value}): {words}");
    match &all[..] {
        [] => None,
        [(_, _, words)] => Some((*words).to_owned()),
        all => Some(all.iter().map(line).collect::<Vec<_>>().join("\n")),
    }
}

/// Returns the judges' reasoning and their answers about each item of a list.
fn details(signature: &Signature, answered: &[(&str, &Opinion)]) -> Option<String> {
    let reasoning = text_output(answered, "reasoning");
    let mut lines: Vec<String> = reasoning.iter().cloned().collect();
    lines.retain(|line| !line.is_empty());
    for (id, opinion) in answered {
        let of_judge = match answered.len() {
            1 => String::new(),
            _ => format!("{id}: "),
        };
        for answer in &opinion.answers {
            lines.extend(items(signature, answer).map(|line| format!("{of_judge}{line}")));
        }
        lines.extend(probabilities(signature, opinion).map(|line| format!("{of_judge}{line}")));
    }
    (!lines.is_empty() || reasoning.is_some()).then(|| lines.join("\n"))
}

/// Iterates over one line per order, with the most probable value first: `probabilities of grade: 8 0.62, 7 0.31`.
fn probabilities<'a>(
    signature: &'a Signature,
    opinion: &'a Opinion,
) -> impl Iterator<Item = String> + 'a {
    let output = match signature.scoring {
        Scoring::Logprobs(output) => output,
        Scoring::Text | Scoring::Draws(_) => "",
    };
    opinion.probabilities.iter().map(move |values| {
        let values = values.iter();
        let values = values.map(|(value, weight)| (weight.as_f64().unwrap_or(0.0), value));
        let mut values: Vec<(f64, &String)> = values.collect();
        values.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
        let shown = |(weight, value): &(f64, &String)| format!("{value} {weight:.2}");
        let shown: Vec<String> = values.iter().map(shown).collect();
        format!("probabilities of {output}: {}", shown.join(", "))
    })
}

/// Iterates over one line per item of the outputs: `2. "Paris is large." (supported: false)`, with the list's name if
/// there are several, and `contexts 2 (useful: false)` for an item of the row.
fn items<'a>(
    signature: &'a Signature,
    answer: &'a Map<String, Value>,
) -> impl Iterator<Item = String> + 'a {
    let judged = signature.outputs.iter().filter(|it| it.each.is_some());
    let has_several = judged.clone().count() > 1;
    let lists = judged.filter_map(move |output| {
        let each = output.each?;
        let judged = answer.get(output.name)?.as_array()?;
        let list = answer.get(each.list).and_then(Value::as_array);
        Some(judged.iter().enumerate().map(move |(index, verdict)| {
            let (number, of) = (index + 1, list.and_then(|list| list.get(index)));
            let of = match of {
                Some(of) if has_several => format!("{} {number}. {of}", each.list),
                Some(of) => format!("{number}. {of}"),
                None => format!("{} {number}", each.list),
            };
            format!("{of} ({})", fields(verdict))
        }))
    });
    lists.flatten()
}

/// Returns an item's fields sorted by name, because a map's order depends on the features of `serde_json`.
fn fields(item: &Value) -> String {
    let Value::Object(fields) = item else {
        return item.to_string();
    };
    let fields = fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    let mut fields: Vec<_> = fields.collect();
    fields.sort();
    fields.join(", ")
}

fn metadata(members: &[Member]) -> Map<String, Value> {
    let (mut judges, mut failed) = (Vec::new(), Vec::new());
    for member in members {
        match &member.verdict {
            Ok(opinion) => {
                let mut judge = json!({ "judge": member.id, "value": opinion.value, "answers": opinion.answers });
                if !opinion.probabilities.is_empty() {
                    judge["probabilities"] = json!(opinion.probabilities);
                }
                if member.ignored_keys > 0 {
                    judge["ignored_keys"] = json!(member.ignored_keys);
                }
                judges.push(member.replied_by.add_to(judge));
            }
            Err(error) => {
                let judge = json!({ "judge": member.id, "error": error.to_string() });
                failed.push(member.replied_by.add_to(judge));
            }
        }
    }
    let mut metadata = Map::new();
    metadata.insert(JUDGES.to_owned(), judges.into());
    if !failed.is_empty() {
        metadata.insert(FAILED.to_owned(), failed.into());
    }
    metadata
}
