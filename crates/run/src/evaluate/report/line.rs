//! One row of a result as a line of JSON, the format in which rows are stored on disk and exported.
//!
//! A line is written key by key, without a copy of the row. Its scores are the records of `record.rs`.

use crate::core::score::corpus::CorpusCounts;
use crate::core::score::outcome::Outcome;
use std::borrow::Cow;
use std::hash::Hash;

use serde::Serialize;
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
        self.add_value(value);
    }

    fn add_value(&mut self, value: &impl Serialize) {
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

    /// Adds the scores of the metrics by name.
    fn add_scores(&mut self, metrics: &[String], outcomes: &[Outcome]) {
        self.add_key("scores");
        let mut scores = Object::begin(self.0);
        for (name, outcome) in metrics.iter().zip(outcomes) {
            let separator = if scores.0.last() == Some(&b'{') { "" } else { "," };
            scores.0.extend_from_slice(separator.as_bytes());
            scores.add_value(name);
            scores.0.push(b':');
            Object::begin(scores.0).add_score(&written_score(outcome));
        }
        scores.0.push(b'}');
    }

    /// Adds what serde writes of a score, and ends the object. Of a row with short fields, serde needs longer for the keys than
    /// for the values.
    fn add_score(mut self, score: &ResultScore<Cow<'_, str>>) {
        self.add_key("outcome");
        for part in ["\"", score.outcome.name(), "\""] {
            self.0.extend_from_slice(part.as_bytes());
        }
        self.add("value", &score.value);
        self.add("passed", &score.passed);
        self.add("confidence", &score.confidence);
        self.add("details", &score.details);
        self.add("feedback", &score.feedback);
        self.add("cost_msats", &score.cost_msats);
        self.add_some("missing", Some(&score.missing).filter(|fields| !fields.is_empty()));
        self.add_some("error", score.error.as_deref());
        self.add_some("gated_by", score.gated_by.as_deref());
        self.add_some("budget_msats", score.budget_msats);
        self.add_some("parts", Some(&score.parts).filter(|parts| !parts.is_empty()));
        self.add_some("metadata", Some(&score.metadata).filter(|fields| !fields.is_empty()));
        self.add_some("components", Some(&score.components).filter(|all| !all.is_empty()));
        self.add_some("corpus", score.written_corpus.as_ref());
        self.0.push(b'}');
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
        self.add_scores(metrics, &row.outcomes);
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
            object.add_scores(metrics, &repeat.outcomes);
            object.0.push(b'}');
        }
        if !row.repeats.is_empty() {
            self.0.push(b']');
        }
        self.add_some("traceback", row.traceback.as_deref());
        self.0.push(b'}');
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::report::record::ResultOutcome;

    #[test]
    fn a_score_is_written_as_serde_writes_it() {
        let written = |score: &ResultScore<Cow<'_, str>>| {
            let mut line = Vec::new();
            Object::begin(&mut line).add_score(score);
            assert_eq!(String::from_utf8(line).unwrap(), serde_json::to_string(score).unwrap());
        };
        let outcomes = [
            Outcome::Gated { by: "a \"cheap\" one".to_owned() },
            Outcome::Skipped { budget: 7, cost_msats: 3 },
            Outcome::Abstained,
            Outcome::ProgramFailed { error: "no\n".into() },
        ];
        outcomes.iter().for_each(|outcome| written(&written_score(outcome)));
        let mut all = written_score::<Cow<'_, str>>(&Outcome::Abstained);
        all.outcome = ResultOutcome::Scored;
        (all.value, all.passed, all.confidence) = (Some(0.1), Some(false), Some(1.0));
        (all.details, all.feedback) = (Some("a \"b\"".into()), Some("\u{1}".into()));
        all.missing.push("answer".into());
        all.error = Some("failed".into());
        all.parts.insert("precision".into(), 0.25);
        all.metadata.insert("reasoning".to_owned(), Value::from("because"));
        all.components.insert("part".into(), written_score(&Outcome::Abstained));
        all.written_corpus = Some(Value::from(3));
        written(&all);
    }
}
