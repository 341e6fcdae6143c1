//! One row of a result as a line of JSON, the format in which rows are stored on disk and exported.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::core::corpus::CorpusCounts;
use crate::core::outcome::Outcome;
use crate::core::program_run::ProgramRun;
use crate::core::rows::dynamic::Fields;
use crate::core::score::{Part, Scored};
use crate::evaluate::{Repeat, RowResult};

/// Appends a row, without a line break. A row that cannot be serialized, such as a map with numbers as
/// keys, is still written, so that no paid score is lost.
pub(crate) type Render<G, P> = fn(&RowResult<G, P>, &[String], &mut Vec<u8>);

/// `{"id": .., "scores": {..}}`
pub(crate) fn score_line<G, P>(row: &RowResult<G, P>, metrics: &[String], line: &mut Vec<u8>) {
    let written = write(row, metrics, None::<&((), Option<()>)>, &[] as &[Option<()>], line);
    debug_assert!(written.is_ok(), "a score line contains only strings and numbers");
}

/// `{"id": .., "gold": .., "pred": .., "scores": {..}}`, and what the program returned about its run
pub(crate) fn pair_line<G: Serialize, P: Serialize>(
    row: &RowResult<G, P>,
    metrics: &[String],
    line: &mut Vec<u8>,
) {
    let start = line.len();
    let preds = (0..row.repeats.len()).map(|number| row.pred_of_repeat(number).map(Side::or_note));
    let preds: Vec<_> = preds.collect();
    let whole = (Side::Whole(&*row.gold), row.pred.as_ref().map(Side::Whole));
    if write(row, metrics, Some(&whole), &preds, line).is_err() {
        line.truncate(start);
        let sides = (Side::or_note(&*row.gold), row.pred.as_ref().map(Side::or_note));
        let written = write(row, metrics, Some(&sides), &preds, line);
        debug_assert!(written.is_ok(), "a row that is not JSON was replaced by a note");
    }
}

/// The row of [`pair_line`] as a value.
pub(crate) fn pair_value<G: Serialize, P: Serialize>(
    row: &RowResult<G, P>,
    metrics: &[String],
) -> Value {
    let side = |side: serde_json::Result<Value>| side.unwrap_or_else(|error| note(&error).into());
    let gold = side(serde_json::to_value(&*row.gold));
    let pred = row.pred.as_ref().map(|pred| side(serde_json::to_value(pred)));
    let preds = (0..row.repeats.len()).map(|number| row.pred_of_repeat(number).map(Side::or_note));
    let preds: Vec<_> = preds.collect();
    serde_json::to_value(line_of(row, metrics, Some(&(gold, pred)), &preds)).unwrap_or_default()
}

/// A gold row or prediction, or a note why it cannot be serialized; each is handled separately.
#[derive(Serialize)]
#[serde(untagged)]
enum Side<'a, T> {
    Whole(&'a T),
    Note(String),
}

impl<'a, T: Serialize> Side<'a, T> {
    fn or_note(side: &'a T) -> Self {
        match serde_json::to_writer(std::io::sink(), side) {
            Ok(()) => Self::Whole(side),
            Err(error) => Self::Note(note(&error)),
        }
    }
}

fn note(error: &serde_json::Error) -> String {
    format!("cannot be written as JSON: {error}")
}

fn write<G, P>(
    row: &RowResult<G, P>,
    metrics: &[String],
    pair: Option<&(impl Serialize, Option<impl Serialize>)>,
    preds: &[Option<impl Serialize>],
    line: &mut Vec<u8>,
) -> serde_json::Result<()> {
    serde_json::to_writer(line, &line_of(row, metrics, pair, preds))
}

fn line_of<'a, G, P, A, B, R>(
    row: &'a RowResult<G, P>,
    metrics: &'a [String],
    pair: Option<&'a (A, Option<B>)>,
    preds: &'a [Option<R>],
) -> Line<'a, A, B, R> {
    let repeats = row.repeats.iter().enumerate();
    let repeats =
        repeats.map(|(number, repeat)| RepeatLine::new(repeat, preds.get(number), metrics));
    Line {
        id: &row.id,
        gold: pair.map(|(gold, _)| gold),
        pred: pair.map(|(_, pred)| pred.as_ref()),
        run: row.run.as_deref().map(RunLine::new).unwrap_or_default(),
        attributes: (!row.attributes.is_empty()).then_some(&row.attributes),
        scores: ScoresByName { metrics, outcomes: &row.outcomes },
        repeats: repeats.collect(),
        traceback: row.traceback.as_deref(),
    }
}

#[derive(Serialize)]
struct Line<'a, G, P, R> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold: Option<&'a G>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pred: Option<Option<&'a P>>,
    #[serde(flatten)]
    run: RunLine,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a Fields>,
    scores: ScoresByName<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<RepeatLine<'a, R>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceback: Option<&'a str>,
}

/// One of several evaluations of a row.
#[derive(Serialize)]
struct RepeatLine<'a, R> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pred: Option<&'a Option<R>>,
    #[serde(flatten)]
    run: RunLine,
    scores: ScoresByName<'a>,
}

impl<'a, R> RepeatLine<'a, R> {
    fn new<P>(repeat: &'a Repeat<P>, pred: Option<&'a Option<R>>, metrics: &'a [String]) -> Self {
        let run = repeat.run.as_deref().map(RunLine::new).unwrap_or_default();
        Self { pred, run, scores: ScoresByName { metrics, outcomes: &repeat.outcomes } }
    }
}

/// Latency and usage of the program, as it returned them. A latency that the harness measured is not written, so that
/// the same rows give the same file.
#[derive(Default, Serialize)]
struct RunLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_msats: Option<u64>,
}

impl RunLine {
    fn new(run: &ProgramRun) -> Self {
        Self {
            latency_s: run.returned_latency().map(|latency| latency.as_secs_f64()),
            input_tokens: run.usage.map(|usage| usage.input_tokens),
            output_tokens: run.usage.map(|usage| usage.output_tokens),
            cost_msats: run.usage.and_then(|usage| usage.cost_msats),
        }
    }
}

struct ScoresByName<'a> {
    metrics: &'a [String],
    outcomes: &'a [Outcome],
}

impl Serialize for ScoresByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scores = self.metrics.iter().zip(self.outcomes);
        serializer
            .collect_map(scores.map(|(name, outcome)| (name, OutcomeLine::of_metric(outcome))))
    }
}

/// The outcome of one metric. The first seven keys are always present.
#[derive(Serialize)]
struct OutcomeLine<'a> {
    outcome: &'static str,
    value: Option<f64>,
    passed: Option<bool>,
    confidence: Option<f64>,
    details: Option<&'a str>,
    feedback: Option<Cow<'a, str>>,
    cost_msats: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gated_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_msats: Option<u64>,
    #[serde(skip_serializing_if = "<[Part]>::is_empty", serialize_with = "parts_by_name")]
    parts: &'a [Part],
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<ComponentLines<'a>>,
    /// The contribution to the score of all rows, from which `compare` computes it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    corpus: Option<Value>,
}

impl<'a> OutcomeLine<'a> {
    fn of_metric(outcome: &'a Outcome) -> Self {
        let corpus = match outcome {
            Outcome::Counted(counted) => counted.record(),
            outcome => outcome.scored().and_then(Scored::corpus).and_then(CorpusCounts::record),
        };
        Self { corpus, ..Self::new(outcome) }
    }

    fn new(outcome: &'a Outcome) -> Self {
        let scored = outcome.scored();
        Self {
            outcome: outcome.name(),
            value: outcome.value(),
            passed: scored.and_then(|scored| scored.passed),
            confidence: scored.map(|scored| scored.score.confidence),
            details: scored.and_then(Scored::own_details),
            feedback: scored.and_then(Scored::feedback),
            cost_msats: outcome.cost_msats(),
            missing: scored.map(Scored::missing_fields).unwrap_or_default(),
            error: outcome.error(),
            gated_by: match outcome {
                Outcome::Gated { by } => Some(by),
                _ => None,
            },
            budget_msats: match outcome {
                Outcome::Skipped { budget, .. } => Some(*budget),
                _ => None,
            },
            parts: scored.map_or(&[], Scored::parts),
            metadata: scored.and_then(Scored::metadata),
            components: scored
                .filter(|scored| scored.components().next().is_some())
                .map(ComponentLines),
            corpus: None,
        }
    }
}

fn parts_by_name<S: Serializer>(parts: &[Part], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(parts.len()))?;
    for part in parts {
        map.serialize_entry(&part.name, &part.value)?;
    }
    map.end()
}

/// The components of a composite, as `{"NAME": {"outcome": ..}}`.
struct ComponentLines<'a>(&'a Scored);

impl Serialize for ComponentLines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lines = self.0.components();
        serializer
            .collect_map(lines.map(|component| (component.name, ComponentLine(component.outcome))))
    }
}

struct ComponentLine<'a>(Cow<'a, Outcome>);

impl Serialize for ComponentLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        OutcomeLine::new(&self.0).serialize(serializer)
    }
}
