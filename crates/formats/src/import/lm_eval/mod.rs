//! Samples of lm-eval: `samples_TASK_DATE.jsonl`, with `results_DATE.json` beside it.
//!
//! Written by <https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/loggers/evaluation_tracker.py>. A line has one
//! document and one filter, and the lines of a filter follow those of another one: `mod.rs` joins them, `sample.rs` reads a line,
//! `run.rs` the results.

mod run;
mod sample;

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde::Deserialize;
use serde_json::{Map, Value};

use self::run::{OfTask, Run};
use self::sample::{Sample, outcome};
use super::detect::other_format;
use super::places::{Part, Places};
use super::scores::MetricNames;
use super::scores::{Completeness, invalid};
use super::text::{Lines, parse};
use crate::core::Fields;
use crate::error::{FormatError, Input};
use crate::messages::escape;
use crate::results::{ForeignRow, ForeignRows, RowAttempt};

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
            let mut row = converter.row(lines.id(&row[0]), row)?;
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
                escape::name(places.id(first)),
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
