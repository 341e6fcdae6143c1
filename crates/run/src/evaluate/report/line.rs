//! One result row as a line of JSON, the format used to store rows on disk and to export them.

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::record::{ResultScore, RunRecord, not_json};
use crate::contract::{Fields, Outcome, ProgramRun};
use crate::data::row_hash;
use crate::evaluate::row::RowResult;

/// A function that appends a row, without a line break. If the third argument is `true`, the line has the gold row and
/// the prediction. A row that cannot be serialized, such as a map with numeric keys, is still written, so no paid score
/// is lost.
pub(crate) type Render<G, P> = fn(&RowResult<G, P>, &[String], bool, &mut Vec<u8>);

/// Appends `{"id": .., "scores": {..}}`, for rows that are not written to files or that cannot be serialized.
pub(crate) fn score_line<G, P>(
    row: &RowResult<G, P>,
    metrics: &[String],
    _: bool,
    line: &mut Vec<u8>,
) {
    drop(serde_json::to_writer(line, &Line::of(row, metrics)));
}

/// Appends `{"id": .., "gold": .., "pred": .., "scores": {..}, "gold_hash": "..", "pred_hash": ".."}`, plus the
/// latency, tokens and cost of the program's run.
pub(crate) fn row_line<G: Serialize, P: Serialize>(
    row: &RowResult<G, P>,
    metrics: &[String],
    has_sides: bool,
    line: &mut Vec<u8>,
) {
    let mut written = Line::of(row, metrics);
    written.gold_hash = hash(&*row.gold);
    written.pred_hash = row.pred.as_ref().and_then(hash);
    if has_sides {
        (written.gold, written.pred) = (Some(raw(&*row.gold)), Some(raw(&row.pred)));
        for (number, repeat) in written.repeats.iter_mut().enumerate() {
            repeat.pred = Some(raw(&row.pred_of_repeat(number)));
        }
    }
    drop(serde_json::to_writer(line, &written));
}

fn hash(side: &impl Serialize) -> Option<String> {
    let hash = row_hash(&serde_json::to_value(side).ok()?)?;
    Some(format!("{hash:016x}"))
}

/// Returns a value as JSON, or a note that says why it cannot be written.
pub(super) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value)
        .or_else(|error| to_raw_value(&not_json(&error)))
        .unwrap_or_default()
}

/// The keys of a line, in order. The line of a repeat omits the keys that belong to its row.
#[derive(Default, Serialize)]
struct Line<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pred: Option<Box<RawValue>>,
    #[serde(flatten)]
    run: RunRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'r Fields>,
    scores: Scores<'r>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<Self>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pred_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    positional: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceback: Option<&'r str>,
}

#[derive(Default)]
struct Scores<'r> {
    metrics: &'r [String],
    outcomes: &'r [Outcome],
}

impl Serialize for Scores<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outcomes = self.outcomes.iter().map(ResultScore::of);
        serializer.collect_map(self.metrics.iter().zip(outcomes))
    }
}

impl<'r> Line<'r> {
    fn of<G, P>(row: &'r RowResult<G, P>, metrics: &'r [String]) -> Self {
        let results = |run: Option<&ProgramRun>, outcomes: &'r [Outcome]| Self {
            run: run.map(RunRecord::of).unwrap_or_default(),
            scores: Scores { metrics, outcomes },
            ..Self::default()
        };
        let repeats = row.repeats.iter();
        let repeats = repeats.map(|it| results(it.run.as_deref(), &it.outcomes));
        Self {
            id: Some(&row.id),
            attributes: Some(&row.attributes).filter(|fields| !fields.is_empty()),
            repeats: repeats.collect(),
            positional: row.is_positional.then_some(true),
            traceback: row.traceback.as_deref(),
            ..results(row.run.as_deref(), &row.outcomes)
        }
    }
}
