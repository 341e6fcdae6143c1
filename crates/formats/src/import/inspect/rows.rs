//! The rows of a log: a row for each sample with its epochs, or for each epoch.

use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

use super::header::Header;
use super::member::{Member, Members};
use super::sample::Sample;
use crate::contract::{Fields, Outcome};
use crate::error::FormatError;
use crate::import::format::Epochs;
use crate::import::places::{Part, Places};
use crate::import::scores::Completeness;
use crate::import::scores::MetricNames;
use crate::messages::escape;
use crate::results::{ForeignRow, ForeignRows, ForeignRun, RowAttempt};

/// Converts the samples of a log.
pub(super) struct Rows {
    header: Header,
    epochs: Epochs,
    names: MetricNames,
    /// The metrics so far: the scorer, and the element of its score.
    metrics: IndexMap<String, (String, Option<String>)>,
    complete: Completeness,
    /// The numbers of epochs that failed, and that were invalidated.
    failed: u64,
    invalidated: u64,
}

impl Rows {
    pub(super) fn new(header: Header, epochs: Epochs) -> Self {
        Self {
            header,
            epochs,
            names: MetricNames::default(),
            metrics: IndexMap::new(),
            complete: Completeness::default(),
            failed: 0,
            invalidated: 0,
        }
    }

    pub(super) fn write(
        mut self,
        members: &mut Members<'_>,
        samples: &Places<Member>,
        unread: Option<String>,
        out: &Path,
    ) -> Result<Vec<String>, FormatError> {
        let input = members.input;
        let (rows, most_epochs) = loop {
            let pass = self.pass(members, samples, out)?;
            if self.complete.is_whole() {
                break pass;
            }
            members.rewind();
        };
        let mut notes = self.notes();
        let missing = self.header.missing(samples);
        let is_partial = self.header.status() != "success" || missing.is_some();
        notes.extend(missing);
        notes.extend(unread.map(|name| {
            format!(
                "the member `{}` is not read, because its name is not that of a sample",
                escape::name(&name)
            )
        }));
        let identity = |(name, (scorer, element)): (&String, &(String, Option<String>))| {
            (
                name.clone(),
                self.header.identity(scorer, element.as_deref()),
            )
        };
        let run = ForeignRun {
            label: Some(self.header.model().to_owned()),
            metrics: self.metrics.iter().map(identity).collect(),
            repeats: (most_epochs > 1).then(|| {
                u32::try_from(most_epochs)
                    .unwrap_or(u32::MAX)
                    .max(self.header.epochs())
            }),
            is_partial,
            tags: self.header.tags(),
        };
        rows.finish(run).map_err(|error| input.output(error))?;
        Ok(notes)
    }

    /// Writes all rows, and returns the largest number of epochs of one.
    fn pass(
        &mut self,
        members: &mut Members<'_>,
        samples: &Places<Member>,
        out: &Path,
    ) -> Result<(ForeignRows, usize), FormatError> {
        let input = members.input;
        let mut rows = ForeignRows::create(out).map_err(|error| input.output(error))?;
        (self.failed, self.invalidated) = (0, 0);
        // A sample that failed has each metric of the log, and only the last sample may name the last metric.
        let (mut failed, mut most_epochs) = (Vec::new(), 1);
        for (number, parts) in self.each_row(samples).enumerate() {
            most_epochs = most_epochs.max(parts.len());
            match self.row(members, parts, false)? {
                Some(mut row) => {
                    if self.epochs == Epochs::Repeats {
                        self.complete.complete(&mut row);
                    }
                    rows.add(number as u64, row)
                        .map_err(|error| input.output(error))?;
                }
                None => failed.push((number as u64, parts)),
            }
        }
        if self.metrics.is_empty() {
            for scorer in self.header.scorers() {
                let name = self.names.name(&scorer, None);
                self.metrics.insert(name, (scorer, None));
            }
        }
        for (number, parts) in failed {
            if let Some(mut row) = self.row(members, parts, true)? {
                if self.epochs == Epochs::Repeats {
                    self.complete.complete(&mut row);
                }
                rows.add(number, row).map_err(|error| input.output(error))?;
            }
        }
        Ok((rows, most_epochs))
    }

    /// Returns the epochs of each row.
    fn each_row<'p>(
        &self,
        samples: &'p Places<Member>,
    ) -> Box<dyn Iterator<Item = &'p [Part<Member>]> + 'p> {
        match self.epochs {
            Epochs::Repeats => Box::new(samples.rows()),
            Epochs::Rows => Box::new(samples.rows().flat_map(|parts| parts.chunks(1))),
        }
    }

    /// Returns a row, or `None` if an epoch failed and not all metrics are known yet.
    fn row(
        &mut self,
        members: &mut Members<'_>,
        parts: &[Part<Member>],
        are_all_known: bool,
    ) -> Result<Option<ForeignRow>, FormatError> {
        let mut row = ForeignRow::default();
        let (mut limits, mut invalidated) = (Vec::new(), Vec::new());
        let is_numbered = self.header.epochs() > 1 || parts.len() > 1;
        let mut failed = false;
        for part in parts {
            let place = format!("sample {}, epoch {}", escape::name(&part.id), part.number);
            let text = members.fields(part.place, &Sample::FIELDS, &place)?;
            let parsed = Sample::parse(&text).and_then(|sample| Ok((sample.id()?, sample)));
            let (id, mut sample) =
                parsed.map_err(|reason| members.input.invalid(&place, reason))?;
            if row.attempts.is_empty() {
                row.gold = sample.gold();
                let metadata = sample.metadata();
                if metadata
                    .as_object()
                    .is_some_and(|fields| !fields.is_empty())
                {
                    row.attributes.insert("metadata", metadata);
                }
                self.set_id(&mut row, id, sample.epoch, is_numbered);
            }
            if let Some(limit) = sample.limit() {
                limits.push(numbered(
                    limit,
                    sample.epoch,
                    is_numbered && parts.len() > 1,
                ));
            }
            if sample.is_invalidated() {
                invalidated.push(Value::from(sample.epoch));
            }
            failed |= sample.error().is_some();
            let run = sample.run(self.header.model());
            let (outcomes, pred) = match (sample.error(), self.epochs) {
                // It is scored again, and has nothing to score.
                (Some(error), Epochs::Rows) => {
                    row.attributes.insert("error", error);
                    (IndexMap::new(), Some(Value::Object(Map::new())))
                }
                _ => (self.outcomes(&mut sample), sample.pred()),
            };
            row.attempts.push(RowAttempt {
                pred,
                run,
                outcomes,
            });
        }
        self.failed += u64::from(failed);
        if failed && !are_all_known && self.epochs == Epochs::Repeats {
            return Ok(None);
        }
        self.invalidated += invalidated.len() as u64;
        add_notes(&mut row.attributes, "limit", limits);
        add_notes(&mut row.attributes, "invalidated_epochs", invalidated);
        Ok(Some(row))
    }

    /// Sets the id. A row for one epoch has the sample's id and the number of the epoch.
    fn set_id(&self, row: &mut ForeignRow, id: String, epoch: u32, is_numbered: bool) {
        row.id = match self.epochs {
            Epochs::Rows if is_numbered => {
                row.attributes.insert("epoch", epoch);
                row.attributes.insert("sample", id.clone());
                format!("{id}:{epoch}")
            }
            _ => id,
        };
    }

    fn outcomes(&mut self, sample: &mut Sample) -> IndexMap<String, Outcome> {
        if let Some(error) = sample.error() {
            let error = Outcome::ProgramFailed {
                error: error.into(),
            };
            return self
                .metrics
                .keys()
                .map(|name| (name.clone(), error.clone()))
                .collect();
        }
        let mut outcomes = IndexMap::new();
        for (scorer, score) in sample.scores.take().into_iter().flat_map(|scores| scores.0) {
            for (element, outcome) in score.outcomes(&scorer) {
                let name = self.names.name(&scorer, element.as_deref());
                self.metrics
                    .entry(name.clone())
                    .or_insert_with(|| (scorer.clone(), element));
                outcomes.insert(name, outcome);
            }
        }
        outcomes
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let status = self.header.status();
        if status != "success" {
            notes.push(format!(
                "the status of the log is `{}`, so samples may be missing",
                escape::name(status)
            ));
        }
        if self.metrics.is_empty() {
            notes.push("no sample has a score".to_owned());
        }
        if self.epochs == Epochs::Repeats {
            let other: IndexSet<_> = self.header.other_reducers().into_iter().collect();
            for (metric, reducer) in other {
                notes.push(format!(
                    "the log reduces the epochs of `{}` by `{}`; here the score of a sample is their mean",
                    escape::name(metric),
                    escape::name(reducer)
                ));
            }
        }
        if self.failed > 0 && self.epochs == Epochs::Rows {
            notes.push(format!(
                "{} samples failed and have no answer; metrics that need one end the run, unless --max-errors counts them as failed rows",
                self.failed
            ));
        }
        if self.invalidated > 0 {
            let (epochs, them) = (self.invalidated, "see the attribute `invalidated_epochs`");
            notes.push(format!(
                "{epochs} samples were invalidated, and are scored; {them}"
            ));
        }
        notes
    }
}

/// `token`, or `token (epoch 2)`
fn numbered(limit: &str, epoch: u32, is_numbered: bool) -> Value {
    match is_numbered {
        true => format!("{limit} (epoch {epoch})").into(),
        false => limit.into(),
    }
}

/// Adds an attribute: the only value, or a list.
fn add_notes(attributes: &mut Fields, name: &str, mut values: Vec<Value>) {
    match values.len() {
        0 => {}
        1 => drop(attributes.insert(name, values.remove(0))),
        _ => drop(attributes.insert(name, values)),
    }
}
