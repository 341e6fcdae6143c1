//! Samples of lm-eval: `samples_TASK_DATE.jsonl`, with `results_DATE.json` beside it.
//!
//! Written by <https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/loggers/evaluation_tracker.py>. A line has one
//! document and one filter, and the lines of a filter follow those of another one: `mod.rs` joins them, and
//! `run.rs` reads the results.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde::Deserialize;
use serde_json::{Map, Value};

use self::run::{OfTask, Run};
use super::detect::other_format;
use super::places::{Part, Places};
use super::scores::{Completeness, MetricNames, invalid, scored};
use super::text::{Lines, Unique, parse};
use crate::contract::{Fields, Outcome};
use crate::error::{FormatError, Input};
use crate::messages::escape;
use crate::results::{ForeignRow, ForeignRows, RowAttempt};

mod run;

/// What a file of this format is, in messages.
const EXPECTED: &str = "samples of lm-eval, which have `doc_id`";

/// The filter of tasks without filters.
const NO_FILTER: &str = "none";

/// The most filters of a task.
const MAX_FILTERS: usize = 1_000;

/// A line of the file.
#[derive(Clone, Copy)]
struct Line {
    offset: u64,
    length: u32,
    number: u64,
}

pub(super) fn import(file: &Path, out: &Path) -> Result<Vec<String>, FormatError> {
    let input = Input { file };
    let opened = File::open(file).map_err(|error| input.unreadable(error))?;
    let (lines, filters) = index(input, &opened)?;
    let mut converter = Converter {
        input,
        file: opened,
        filters,
        names: MetricNames::default(),
        metrics: IndexMap::new(),
        complete: Completeness::default(),
        skipped: IndexSet::new(),
        line: Vec::new(),
    };
    let rows = loop {
        let mut rows = ForeignRows::create(out).map_err(|error| input.output(error))?;
        for row in lines.rows() {
            let mut row = converter.row(&row[0].id, row)?;
            converter.complete.complete(&mut row);
            rows.add(rows.len(), row)
                .map_err(|error| input.output(error))?;
        }
        if converter.complete.is_whole() {
            break rows;
        }
    };
    let Converter {
        metrics,
        mut skipped,
        ..
    } = converter;
    skipped.retain(|skipped| metrics.values().all(|it| it.metric != *skipped));
    let (run, mut notes) = Run::read(input)?.finish(&metrics);
    if metrics.is_empty() {
        notes.push("no metric has a number in any sample".to_owned());
    }
    if !skipped.is_empty() {
        notes.push(format!(
            "left out, since their values are not numbers: {}",
            escape::names(skipped.iter().map(String::as_str))
        ));
    }
    rows.finish(run).map_err(|error| input.output(error))?;
    Ok(notes)
}

/// Finds the lines of each document, and the filters in the order of the file.
fn index(input: Input<'_>, file: &File) -> Result<(Places<Line>, IndexSet<String>), FormatError> {
    #[derive(Deserialize)]
    struct Key {
        doc_id: Option<Value>,
        filter: Option<String>,
    }
    let (mut places, mut filters) = (Places::new(), IndexSet::new());
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, file));
    while lines.read_next().map_err(|error| input.unreadable(error))? {
        let at = format_args!("line {}", lines.number);
        let parsed = parse::<Key>(&lines.line);
        let is_first = places.len() == 0;
        let key = match parsed {
            Ok(key) => key,
            Err(reason) => {
                let own = input.invalid(at, reason);
                return Err(if is_first {
                    other_format(input, EXPECTED, own)
                } else {
                    own
                });
            }
        };
        let id = match key.doc_id {
            Some(Value::String(id)) => id,
            Some(Value::Number(id)) => id.to_string(),
            _ => {
                let reason = "no `doc_id`; expected a sample of lm-eval, whose `doc_id` is a number or a string";
                let own = input.invalid(at, reason);
                return Err(if is_first {
                    other_format(input, EXPECTED, own)
                } else {
                    own
                });
            }
        };
        let filter = key.filter.unwrap_or_else(|| NO_FILTER.to_owned());
        let (filter, _) = filters.insert_full(filter);
        if filters.len() > MAX_FILTERS {
            return Err(input.invalid(at, format_args!("more than {MAX_FILTERS} filters")));
        }
        let (length, offset) = (lines.line.len() as u32, lines.offset);
        places.push(
            &id,
            filter as u32,
            Line {
                offset,
                length,
                number: lines.number,
            },
        );
    }
    if places.len() == 0 {
        return Err(other_format(
            input,
            EXPECTED,
            input.whole("no sample in the file"),
        ));
    }
    places.sort();
    if let Some([first, second]) = places.duplicate() {
        return Err(input.invalid(
            format_args!("line {}", second.place.number),
            format_args!(
                "a second sample of document `{}`, first in line {}; write the samples of one task",
                escape::name(&first.id),
                first.place.number
            ),
        ));
    }
    Ok((places, filters))
}

struct Converter<'a> {
    input: Input<'a>,
    file: File,
    filters: IndexSet<String>,
    names: MetricNames,
    metrics: IndexMap<String, OfTask>,
    complete: Completeness,
    /// Metrics whose values are not numbers, such as pairs for a score of all rows.
    skipped: IndexSet<String>,
    line: Vec<u8>,
}

impl Converter<'_> {
    fn row(&mut self, id: &str, parts: &[Part<Line>]) -> Result<ForeignRow, FormatError> {
        let (mut row, mut attempt) = (ForeignRow::default(), RowAttempt::default());
        let mut answers = Map::new();
        let mut pred = Map::new();
        for (place, part) in parts.iter().enumerate() {
            let mut sample = self.sample(part.place)?;
            let filter = self
                .filters
                .get_index(part.number as usize)
                .map_or("", String::as_str);
            let filter = filter.to_owned();
            let element = Some(&*filter).filter(|it| self.filters.len() > 1 || *it != NO_FILTER);
            for (metric, value) in sample.scores() {
                let name = self.names.name(&metric, element);
                let outcome = match outcome(&metric, &value) {
                    Some(outcome) => outcome,
                    // Other rows have numbers.
                    None if self.complete.contains(&name) => invalid(&metric, &value),
                    None => {
                        self.skipped.insert(metric);
                        continue;
                    }
                };
                self.metrics.entry(name.clone()).or_insert_with(|| OfTask {
                    metric,
                    filter: filter.clone(),
                });
                attempt.outcomes.insert(name, outcome);
            }
            let answer = sample.prediction();
            answers.insert(filter, answer.get("answer").cloned().unwrap_or_default());
            if place == 0 {
                row.gold = sample.gold();
                row.attributes = Fields::from_iter(sample.hashes());
                pred = answer;
            }
        }
        if parts.len() > 1 {
            pred.insert("filters".to_owned(), Value::Object(answers));
        }
        attempt.pred = Some(Value::Object(pred));
        id.clone_into(&mut row.id);
        row.attempts = vec![attempt];
        Ok(row)
    }

    fn sample(&mut self, line: Line) -> Result<Sample, FormatError> {
        let Line {
            offset,
            length,
            number,
        } = line;
        self.line.resize(length as usize, 0);
        let read = self.file.seek(SeekFrom::Start(offset));
        read.and_then(|_| self.file.read_exact(&mut self.line))
            .map_err(|error| self.input.unreadable(error))?;
        let invalid = |reason| self.input.invalid(format_args!("line {number}"), reason);
        parse(&self.line).map_err(invalid)
    }
}

/// A sample, with its metrics among the other keys.
#[derive(Deserialize)]
pub(super) struct Sample {
    #[serde(default)]
    doc: Value,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    filtered_resps: Value,
    /// The names of the metrics, since lm-eval 0.4.8.
    metrics: Option<Vec<String>>,
    doc_hash: Option<String>,
    prompt_hash: Option<String>,
    target_hash: Option<String>,
    // Not read, and no metrics.
    #[serde(default, rename = "doc_id")]
    _doc_id: Value,
    #[serde(default, rename = "resps")]
    _resps: Value,
    #[serde(default, rename = "filter")]
    _filter: Value,
    #[serde(flatten)]
    others: Unique<Value>,
}

impl Sample {
    /// Removes the metrics with their values: those that the sample names, or else all numbers.
    pub(super) fn scores(&mut self) -> Vec<(String, Value)> {
        let others = std::mem::take(&mut self.others.0);
        match &self.metrics {
            Some(names) => names
                .iter()
                .map(|name| (name.clone(), others.get(name).cloned().unwrap_or_default()))
                .collect(),
            None => {
                let is_number = |value: &Value| value.is_number() || value.is_boolean();
                others
                    .into_iter()
                    .filter(|(_, value)| is_number(value))
                    .collect()
            }
        }
    }

    /// Returns the gold row: the target, also under the name that the metrics of the library read, the document, and the prompt.
    pub(super) fn gold(&mut self) -> Value {
        let mut gold = Map::new();
        let target = std::mem::take(&mut self.target);
        if !target.is_null() {
            gold.insert("answer".to_owned(), target.clone());
            gold.insert("target".to_owned(), target);
        }
        if !self.doc.is_null() {
            gold.insert("doc".to_owned(), std::mem::take(&mut self.doc));
        }
        // `{"gen_args_0": {"arg_0": PROMPT, ..}, ..}`
        let prompt = self
            .arguments
            .get("gen_args_0")
            .and_then(|first| first.get("arg_0"));
        if let Some(prompt) = prompt.filter(|prompt| prompt.is_string()) {
            gold.insert("prompt".to_owned(), prompt.clone());
        }
        Value::Object(gold)
    }

    /// Returns the prediction: the first filtered response, and all of them if there are several. Of a choice it is the number of the
    /// likeliest one.
    pub(super) fn prediction(&mut self) -> Map<String, Value> {
        let mut pred = Map::new();
        let mut responses = match std::mem::take(&mut self.filtered_resps) {
            Value::Array(responses) => responses,
            Value::Null => return pred,
            one => vec![one],
        };
        let likelihoods: Option<Vec<f64>> = responses.iter().map(likelihood).collect();
        if let Some(likelihoods) = likelihoods.filter(|all| !all.is_empty()) {
            let best = (0..likelihoods.len())
                .rev()
                .max_by(|a, b| likelihoods[*a].total_cmp(&likelihoods[*b]));
            pred.insert("answer".to_owned(), best.unwrap_or_default().into());
            pred.insert("log_likelihoods".to_owned(), likelihoods.into());
            return pred;
        }
        if let Some(first) = responses.first() {
            // A filter that takes all responses of a repeated task returns a list of them.
            let answer = match first {
                Value::Array(several) => several.first().cloned().unwrap_or_default(),
                one => one.clone(),
            };
            pred.insert("answer".to_owned(), answer);
        }
        if responses.len() > 1 {
            pred.insert("responses".to_owned(), responses.into());
        } else if let Some(Value::Array(several)) = responses.pop().filter(Value::is_array) {
            pred.insert("responses".to_owned(), several.into());
        }
        pred
    }

    /// Returns the hashes of document, prompt and target.
    pub(super) fn hashes(&self) -> Vec<(&'static str, Value)> {
        let hashes = [
            ("doc_hash", &self.doc_hash),
            ("prompt_hash", &self.prompt_hash),
            ("target_hash", &self.target_hash),
        ];
        hashes
            .into_iter()
            .filter_map(|(name, hash)| Some((name, hash.clone()?.into())))
            .collect()
    }
}

/// The log likelihood of `["-1.25", "False"]`, where the second is whether greedy decoding returns the choice.
fn likelihood(response: &Value) -> Option<f64> {
    let [likelihood, is_greedy] = response.as_array()?.as_slice() else {
        return None;
    };
    let is_bool = is_greedy.is_boolean() || matches!(is_greedy.as_str(), Some("True" | "False"));
    let likelihood = match likelihood {
        Value::String(text) => text.parse().ok()?,
        other => other.as_f64()?,
    };
    Some(likelihood).filter(|it: &f64| is_bool && it.is_finite())
}

/// Returns the outcome of a metric's value; `None` if the value is not a number.
pub(super) fn outcome(metric: &str, value: &Value) -> Option<Outcome> {
    let number = |number| scored(number, value.as_bool(), None, Map::new());
    match value {
        Value::Bool(passed) => Some(number(f64::from(u8::from(*passed)))),
        Value::Number(score) => Some(
            score
                .as_f64()
                .map_or_else(|| invalid(metric, value), number),
        ),
        _ => None,
    }
}
