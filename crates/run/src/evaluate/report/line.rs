//! One row of a result as a line of JSON, the format in which rows are stored on disk and exported.
//!
//! A line is written key by key, without a copy of the row. Its scores are the records of `record.rs`.

use crate::core::score::corpus::CorpusCounts;
use crate::core::score::outcome::Outcome;
use std::borrow::Cow;
use std::hash::Hash;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Map, Value};

use super::record::{ResultRow, ResultScore, RunRecord, not_json};
use crate::core::program_run::ProgramRun;
use crate::core::score::Scored;
use crate::evaluate::row::RowResult;

/// Appends a row, without a line break. A row that cannot be serialized, such as a map with numbers as
/// keys, is still written, so that no paid score is lost.
pub(crate) type Render<G, P> = fn(&RowResult<G, P>, &[String], &mut Vec<u8>);

/// `{"id": .., "scores": {..}}`
pub(crate) fn score_line<G, P>(row: &RowResult<G, P>, metrics: &[String], line: &mut Vec<u8>) {
    let mut object = Object::begin(line);
    object.add("id", &row.id);
    object.add_results(row, metrics, |_, _| {});
}

/// `{"id": .., "gold": .., "pred": .., "scores": {..}}`, with latency, tokens and cost of the program's run
pub(crate) fn pair_line<G: Serialize, P: Serialize>(
    row: &RowResult<G, P>,
    metrics: &[String],
    line: &mut Vec<u8>,
) {
    let mut object = Object::begin(line);
    object.add("id", &row.id);
    object.add("gold", &*row.gold);
    object.add("pred", &row.pred);
    let add_pred =
        |repeat: &mut Object<'_>, number| repeat.add("pred", &row.pred_of_repeat(number));
    object.add_results(row, metrics, add_pred);
}

/// A row of a result file, as it is written again. The traceback remains.
pub(crate) fn record_line(row: &ResultRow, line: &mut Vec<u8>) {
    let no_fields = Value::Object(Map::new());
    let mut object = Object::begin(line);
    object.add("id", &row.id);
    object.add("gold", row.gold.as_ref().unwrap_or(&no_fields));
    object.add("pred", row.pred.as_ref().unwrap_or(&no_fields));
    object.add_some("latency_s", row.latency_s);
    object.add_some("input_tokens", row.input_tokens);
    object.add_some("output_tokens", row.output_tokens);
    object.add_some("cost_msats", row.cost_msats);
    object.add_some("attributes", Some(&row.attributes).filter(|fields| !fields.is_empty()));
    object.add("scores", &row.scores);
    object.add_some("traceback", row.traceback.as_deref());
    line.push(b'}');
}

/// An object of JSON that is written key by key.
struct Object<'a>(&'a mut Vec<u8>);

impl<'a> Object<'a> {
    fn begin(line: &'a mut Vec<u8>) -> Self {
        line.push(b'{');
        Self(line)
    }

    fn add_key(&mut self, key: &str) {
        let begin: &[u8] = if self.0.last() == Some(&b'{') { b"\"" } else { b",\"" };
        for part in [begin, key.as_bytes(), b"\":"] {
            self.0.extend_from_slice(part);
        }
    }

    /// Adds a key with its value, or with a note why that cannot be written.
    fn add(&mut self, key: &str, value: &impl Serialize) {
        self.add_key(key);
        let start = self.0.len();
        if let Err(error) = serde_json::to_writer(&mut *self.0, value) {
            self.0.truncate(start);
            self.0.extend_from_slice(Value::from(not_json(&error)).to_string().as_bytes());
        }
    }

    fn add_some(&mut self, key: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.add(key, &value);
        }
    }

    fn add_run(&mut self, run: Option<&ProgramRun>) {
        let run = run.map(RunRecord::of).unwrap_or_default();
        self.add_some("latency_s", run.latency_s);
        self.add_some("input_tokens", run.input_tokens);
        self.add_some("output_tokens", run.output_tokens);
        self.add_some("cost_msats", run.cost_msats);
    }

    /// Adds everything but id, gold row and prediction, and ends the object. `add_pred` adds the prediction of a repeat.
    fn add_results<G, P>(
        mut self,
        row: &RowResult<G, P>,
        metrics: &[String],
        add_pred: impl Fn(&mut Object<'_>, usize),
    ) {
        self.add_run(row.run.as_deref());
        self.add_some("attributes", Some(&row.attributes).filter(|fields| !fields.is_empty()));
        self.add("scores", &ScoreLines { metrics, outcomes: &row.outcomes });
        for (number, repeat) in row.repeats.iter().enumerate() {
            match number {
                0 => {
                    self.add_key("repeats");
                    self.0.push(b'[');
                }
                _ => self.0.push(b','),
            }
            let mut object = Object::begin(self.0);
            add_pred(&mut object, number);
            object.add_run(repeat.run.as_deref());
            object.add("scores", &ScoreLines { metrics, outcomes: &repeat.outcomes });
            object.0.push(b'}');
        }
        if !row.repeats.is_empty() {
            self.0.push(b']');
        }
        self.add_some("traceback", row.traceback.as_deref());
        self.0.push(b'}');
    }
}

/// The scores of the metrics by name.
struct ScoreLines<'a> {
    metrics: &'a [String],
    outcomes: &'a [Outcome],
}

impl Serialize for ScoreLines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let scores = self.metrics.iter().zip(self.outcomes);
        serializer.collect_map(
            scores.map(|(name, outcome)| (name, written_score::<Cow<'_, str>>(outcome))),
        )
    }
}

/// Returns the score of a metric, with its contribution to a score of all rows.
pub(crate) fn written_score<'a, S: Eq + Hash + From<Cow<'a, str>>>(
    outcome: &'a Outcome,
) -> ResultScore<S> {
    let mut score = ResultScore::of(outcome);
    score.written_corpus = match outcome {
        Outcome::Counted(counted) => counted.record(),
        outcome => outcome.scored().and_then(Scored::corpus).and_then(CorpusCounts::record),
    };
    score
}
