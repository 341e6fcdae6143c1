//! One row of a result as a line of JSON, the format in which rows are stored on disk and exported.
//!
//! A line is written key by key, without a copy of the row. Its scores are the records of `record.rs`.

use crate::core::score::corpus::CorpusCounts;
use crate::core::score::outcome::Outcome;
use std::borrow::Cow;
use std::hash::Hash;

use serde::Serialize;
use serde_json::Value;

use super::record::{ResultOutcome, ResultScore, RunRecord, not_json};
use crate::core::program_run::ProgramRun;
use crate::core::score::Scored;
use crate::data::{GOLD_HASH, POSITIONAL, PRED_HASH, row_hash};
use crate::evaluate::row::RowResult;
use crate::json::scanner::find_quote_or_backslash;

/// Appends a row, without a line break. A row that cannot be serialized, such as a map with numbers as
/// keys, is still written, so that no paid score is lost.
pub(crate) type Render<G, P> = fn(&RowResult<G, P>, &[String], &mut Vec<u8>);

/// `{"id": .., "scores": {..}}`, for rows that are not written to files or that cannot be serialized
pub(crate) fn score_line<G, P>(row: &RowResult<G, P>, metrics: &[String], line: &mut Vec<u8>) {
    let mut object = Object::begin(line);
    object.add_string("id", &row.id);
    object.add_results(row, metrics, [None; 2], |_, _| {});
}

/// `{"id": .., "scores": {..}, "gold_hash": "..", "pred_hash": ".."}`
pub(crate) fn scored_line<G: Serialize, P: Serialize>(
    row: &RowResult<G, P>,
    metrics: &[String],
    line: &mut Vec<u8>,
) {
    let mut object = Object::begin(line);
    object.add_string("id", &row.id);
    object.add_results(row, metrics, hashes(row), |_, _| {});
}

/// `{"id": .., "gold": .., "pred": .., "scores": {..}, "gold_hash": "..", "pred_hash": ".."}`, with latency, tokens and cost of the program's run
pub(crate) fn pair_line<G: Serialize, P: Serialize>(
    row: &RowResult<G, P>,
    metrics: &[String],
    line: &mut Vec<u8>,
) {
    let mut object = Object::begin(line);
    object.add_string("id", &row.id);
    object.add("gold", &*row.gold);
    object.add("pred", &row.pred);
    let add_pred =
        |repeat: &mut Object<'_>, number| repeat.add("pred", &row.pred_of_repeat(number));
    object.add_results(row, metrics, hashes(row), add_pred);
}

/// The hashes of the gold row and of the prediction.
fn hashes<G: Serialize, P: Serialize>(row: &RowResult<G, P>) -> [Option<u64>; 2] {
    let pred = row
        .pred
        .as_ref()
        .and_then(|pred| serde_json::to_value(pred).ok());
    [serde_json::to_value(&*row.gold).ok(), pred].map(|side| row_hash(&side?))
}

/// An object of JSON that is written key by key.
struct Object<'a>(&'a mut Vec<u8>);

impl<'a> Object<'a> {
    fn begin(line: &'a mut Vec<u8>) -> Self {
        line.push(b'{');
        Self(line)
    }

    fn add_key(&mut self, key: &str) {
        let begin: &[u8] = if self.0.last() == Some(&b'{') {
            b"\""
        } else {
            b",\""
        };
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
            self.0
                .extend_from_slice(Value::from(not_json(&error)).to_string().as_bytes());
        }
    }

    fn add_string(&mut self, key: &str, text: &str) {
        self.add_key(key);
        push_string(self.0, text);
    }

    fn add_some(&mut self, key: &str, value: Option<impl Serialize>) {
        if let Some(value) = value {
            self.add(key, &value);
        }
    }

    /// Adds the scores of the metrics by name.
    fn add_scores(&mut self, metrics: &[String], outcomes: &[Outcome]) {
        self.add_key("scores");
        self.0.push(b'{');
        for (number, (name, outcome)) in metrics.iter().zip(outcomes).enumerate() {
            if number > 0 {
                self.0.push(b',');
            }
            push_string(self.0, name);
            self.0.push(b':');
            match outcome.scored().filter(|scored| scored.is_simple()) {
                Some(scored) => {
                    Head::of(scored).write(self.0);
                    self.0.push(b'}');
                }
                None => add_score(self.0, &written_score(outcome)),
            }
        }
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
        hashes: [Option<u64>; 2],
        add_pred: impl Fn(&mut Object<'_>, usize),
    ) {
        self.add_run(row.run.as_deref());
        self.add_some(
            "attributes",
            Some(&row.attributes).filter(|fields| !fields.is_empty()),
        );
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
        self.add_pairing(hashes, row.is_positional);
        self.add_some("traceback", row.traceback.as_deref());
        self.0.push(b'}');
    }

    /// Adds what identifies the row in another file, besides its id.
    fn add_pairing(&mut self, hashes: [Option<u64>; 2], is_positional: bool) {
        for (key, hash) in [GOLD_HASH, PRED_HASH].into_iter().zip(hashes) {
            self.add_some(key, hash.map(|hash| format!("{hash:016x}")));
        }
        self.add_some(POSITIONAL, is_positional.then_some(true));
    }
}

/// Adds what serde writes of a score.
fn add_score(line: &mut Vec<u8>, score: &ResultScore<Cow<'_, str>>) {
    Head::of_record(score).write(line);
    let mut object = Object(line);
    object.add_some(
        "missing",
        Some(&score.missing).filter(|fields| !fields.is_empty()),
    );
    object.add_some("error", score.error.as_deref());
    object.add_some("gated_by", score.gated_by.as_deref());
    object.add_some("budget_msats", score.budget_msats);
    object.add_some(
        "parts",
        Some(&score.parts).filter(|parts| !parts.is_empty()),
    );
    object.add_some(
        "metadata",
        Some(&score.metadata).filter(|fields| !fields.is_empty()),
    );
    object.add_some(
        "components",
        Some(&score.components).filter(|all| !all.is_empty()),
    );
    object.add_some("corpus", score.written_corpus.as_ref());
    object.0.push(b'}');
}

/// The keys that each score has. Most scores have no others: with a record of each of them, a file takes an eighth longer. Of a row
/// with short fields, serde needs longer for the keys than for the values.
struct Head<'a> {
    outcome: ResultOutcome,
    value: Option<f64>,
    passed: Option<bool>,
    confidence: Option<f64>,
    details: Option<&'a str>,
    feedback: Option<Cow<'a, str>>,
    cost_msats: u64,
}

impl<'a> Head<'a> {
    fn of(scored: &'a Scored) -> Self {
        Self {
            outcome: ResultOutcome::Scored,
            value: Some(scored.score.value),
            passed: scored.passed,
            confidence: Some(scored.score.confidence),
            details: scored.own_details(),
            feedback: scored.feedback(),
            cost_msats: scored.score.cost_msats,
        }
    }

    fn of_record(score: &'a ResultScore<Cow<'_, str>>) -> Self {
        Self {
            outcome: score.outcome,
            value: score.value,
            passed: score.passed,
            confidence: score.confidence,
            details: score.details.as_deref(),
            feedback: score.feedback.as_deref().map(Cow::Borrowed),
            cost_msats: score.cost_msats,
        }
    }

    /// Begins an object with these keys.
    fn write(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(b"{\"outcome\":\"");
        line.extend_from_slice(self.outcome.name().as_bytes());
        line.extend_from_slice(b"\",\"value\":");
        push_number(line, self.value);
        line.extend_from_slice(match self.passed {
            Some(true) => b",\"passed\":true,\"confidence\":",
            Some(false) => b",\"passed\":false,\"confidence\":",
            None => b",\"passed\":null,\"confidence\":",
        });
        push_number(line, self.confidence);
        line.extend_from_slice(b",\"details\":");
        push_some_string(line, self.details);
        line.extend_from_slice(b",\"feedback\":");
        push_some_string(line, self.feedback.as_deref());
        line.extend_from_slice(b",\"cost_msats\":");
        match self.cost_msats {
            0 => line.push(b'0'),
            cost => line.extend_from_slice(cost.to_string().as_bytes()),
        }
    }
}

fn push_number(line: &mut Vec<u8>, number: Option<f64>) {
    match number {
        None => line.extend_from_slice(b"null"),
        // The score of most rows that pass, and the confidence of most scores.
        Some(1.0) => line.extend_from_slice(b"1.0"),
        // Writing a number to a vector cannot fail.
        Some(number) => drop(serde_json::to_writer(line, &number)),
    }
}

fn push_some_string(line: &mut Vec<u8>, text: Option<&str>) {
    match text {
        None => line.extend_from_slice(b"null"),
        Some(text) => push_string(line, text),
    }
}

/// Appends a string of JSON as serde writes it. With serde, a file takes a third longer.
fn push_string(line: &mut Vec<u8>, text: &str) {
    // Without an early return, the loop is vectorized.
    if text
        .bytes()
        .fold(false, |found, byte| found | (byte < b' '))
    {
        // Writing a string to a vector cannot fail.
        return drop(serde_json::to_writer(line, text));
    }
    line.reserve(text.len() + 2);
    line.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = find_quote_or_backslash(rest) {
        line.extend_from_slice(&rest[..at]);
        line.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    line.extend_from_slice(rest);
    line.push(b'"');
}

/// Returns the score of a metric, with its contribution to a score of all rows.
pub(crate) fn written_score<'a, S: Eq + Hash + From<Cow<'a, str>>>(
    outcome: &'a Outcome,
) -> ResultScore<S> {
    let mut score = ResultScore::of(outcome);
    score.written_corpus = match outcome {
        Outcome::Counted(counted) => counted.record(),
        outcome => outcome
            .scored()
            .and_then(Scored::corpus)
            .and_then(CorpusCounts::record),
    };
    score
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_and_numbers_are_written_as_serde_writes_them() {
        let long = "x".repeat(100);
        let parts = [
            "",
            "a",
            "\"",
            "\\",
            "\n",
            "\u{1}",
            "\u{7f}",
            "é\u{2028}",
            "/",
            &long,
        ];
        for first in parts {
            for second in parts {
                let (text, mut line) = (format!("{first}{second}\"{first}"), Vec::new());
                push_string(&mut line, &text);
                assert_eq!(
                    String::from_utf8(line).unwrap(),
                    serde_json::to_string(&text).unwrap()
                );
            }
        }
        for number in [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            2.0 / 3.0,
            1e300,
            5e-324,
            123_456_789.0,
        ] {
            let mut line = Vec::new();
            push_number(&mut line, Some(number));
            assert_eq!(
                String::from_utf8(line).unwrap(),
                serde_json::to_string(&number).unwrap()
            );
        }
    }

    #[test]
    fn a_simple_score_is_written_as_its_record() {
        let scores = [
            json!({"value": 0.25}),
            json!({"value": 1.0, "passed": true, "confidence": 0.5, "details": "a \"b\"\n"}),
            json!({"value": 0.0, "passed": false, "details": "worse", "note": "feedback", "cost_msats": 7}),
        ];
        for score in scores {
            let outcome = Outcome::Scored(serde_json::from_value(score).unwrap());
            let mut line = Vec::new();
            let metric = ["a\"b".to_owned()];
            Object::begin(&mut line).add_scores(&metric, std::slice::from_ref(&outcome));
            let record = written_score::<Cow<'_, str>>(&outcome);
            let record = serde_json::to_string(&record).unwrap();
            let expected = format!(r#"{{"scores":{{"a\"b":{record}}}"#);
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }

    #[test]
    fn a_score_is_written_as_serde_writes_it() {
        let written = |score: &ResultScore<Cow<'_, str>>| {
            let mut line = Vec::new();
            add_score(&mut line, score);
            assert_eq!(
                String::from_utf8(line).unwrap(),
                serde_json::to_string(score).unwrap()
            );
        };
        let outcomes = [
            Outcome::Gated {
                by: "a \"cheap\" one".to_owned(),
            },
            Outcome::Skipped {
                budget: 7,
                cost_msats: 3,
            },
            Outcome::Abstained,
            Outcome::ProgramFailed {
                error: "no\n".into(),
            },
        ];
        outcomes
            .iter()
            .for_each(|outcome| written(&written_score(outcome)));
        let mut all = written_score::<Cow<'_, str>>(&Outcome::Abstained);
        all.outcome = ResultOutcome::Scored;
        (all.value, all.passed, all.confidence) = (Some(0.1), Some(false), Some(1.0));
        (all.details, all.feedback) = (Some("a \"b\"".into()), Some("\u{1}".into()));
        all.missing.push("answer".into());
        all.error = Some("failed".into());
        all.parts.insert("precision".into(), 0.25);
        all.metadata
            .insert("reasoning".to_owned(), Value::from("because"));
        all.components
            .insert("part".into(), written_score(&Outcome::Abstained));
        all.written_corpus = Some(Value::from(3));
        written(&all);
    }
}
