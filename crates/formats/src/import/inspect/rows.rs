//! Turns samples into rows: one row for each sample with all its epochs, or one row for each epoch.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

use super::header::Header;
use super::member::{Member, Members, Samples};
use super::sample::Sample;
use crate::contract::{Fields, Outcome};
use crate::error::FormatError;
use crate::import::format::{Converted, Epochs};
use crate::import::scores::{MetricNames, complete};
use crate::messages::escape;
use crate::results::{ForeignRow, ForeignRun, RowAttempt};

/// Converts the samples of a log.
pub(super) struct Rows {
    header: Header,
    epochs: Epochs,
    names: MetricNames,
    /// The scorer, and the element of its score, of each metric so far.
    metrics: IndexMap<String, (String, Option<String>)>,
    /// The row, attempt and error of each sample that failed.
    errors: Vec<(usize, usize, String)>,
    /// How many epochs failed, and how many were invalidated.
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
            errors: Vec::new(),
            failed: 0,
            invalidated: 0,
        }
    }

    pub(super) fn convert(
        mut self,
        members: &mut Members<'_>,
        samples: &Samples<'_>,
        unread: Option<String>,
    ) -> Result<Converted, FormatError> {
        let rows = self.rows(members, samples)?;
        let most_epochs = rows.iter().map(|row| row.attempts.len()).max();
        let most_epochs = most_epochs.unwrap_or(1);
        let mut notes = self.notes();
        let missing = self.header.missing(samples);
        if missing.is_none() && self.epochs == Epochs::Repeats {
            notes.extend(self.header.other_means(&rows));
        }
        let is_partial = self.header.status() != "success" || missing.is_some();
        notes.extend(missing);
        notes.extend(unread.map(|name| {
            format!(
                "the member `{}` is skipped, because its name is not a sample's name",
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
        Ok(Converted { rows, run, notes })
    }

    fn rows(
        &mut self,
        members: &mut Members<'_>,
        samples: &Samples<'_>,
    ) -> Result<Vec<ForeignRow>, FormatError> {
        let mut rows = Vec::new();
        for (id, epochs) in samples {
            let epochs: Vec<_> = epochs
                .iter()
                .map(|(epoch, member)| (*epoch, *member))
                .collect();
            let size = match self.epochs {
                Epochs::Repeats => epochs.len(),
                Epochs::Rows => 1,
            };
            for epochs in epochs.chunks(size) {
                rows.push(self.row(members, (rows.len(), id), epochs)?);
            }
        }
        if self.metrics.is_empty() {
            for scorer in self.header.scorers() {
                let name = self.names.name(&scorer, None);
                self.metrics.insert(name, (scorer, None));
            }
        }
        if self.epochs == Epochs::Repeats {
            // A failed sample gets every metric of the log, and the last metric may appear only in the last sample.
            for (row, attempt, error) in std::mem::take(&mut self.errors) {
                let failed = Outcome::ProgramFailed {
                    error: error.into(),
                };
                let names = self.metrics.keys().cloned();
                rows[row].attempts[attempt].outcomes =
                    names.map(|name| (name, failed.clone())).collect();
            }
            complete(&mut rows, &HashSet::new());
        }
        Ok(rows)
    }

    fn row(
        &mut self,
        members: &mut Members<'_>,
        (number, id): (usize, &str),
        epochs: &[(u32, Member<'_>)],
    ) -> Result<ForeignRow, FormatError> {
        let mut row = ForeignRow::default();
        let (mut limits, mut invalidated) = (Vec::new(), Vec::new());
        let is_numbered = self.header.epochs() > 1 || epochs.len() > 1;
        let mut failed = false;
        for (epoch, member) in epochs {
            let place = format!("sample {}, epoch {epoch}", escape::name(id));
            let text = members.fields(*member, &Sample::FIELDS, &place)?;
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
                    is_numbered && epochs.len() > 1,
                ));
            }
            if sample.is_invalidated() {
                invalidated.push(Value::from(sample.epoch));
            }
            failed |= sample.error().is_some();
            let run = sample.run(self.header.model());
            let (outcomes, pred) = match (sample.error(), self.epochs) {
                (None, _) => (self.outcomes(&mut sample), sample.pred()),
                (Some(error), Epochs::Repeats) => {
                    let error = error.to_owned();
                    self.errors.push((number, row.attempts.len(), error));
                    (IndexMap::new(), None)
                }
                // It will be scored again, but has no prediction.
                (Some(error), Epochs::Rows) => {
                    row.attributes.insert("error", error);
                    (IndexMap::new(), Some(Value::Object(Map::new())))
                }
            };
            row.attempts.push(RowAttempt {
                pred,
                run,
                outcomes,
            });
        }
        self.failed += u64::from(failed);
        self.invalidated += invalidated.len() as u64;
        add_notes(&mut row.attributes, "limit", limits);
        add_notes(&mut row.attributes, "invalidated_epochs", invalidated);
        Ok(row)
    }

    /// Sets the row's id. If each epoch is a row, the id ends with the number of the epoch.
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
                "the log's status is `{}`, so samples may be missing",
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
                    "the log reduces the epochs of `{}` by `{}`; here, a sample's score is the mean over its epochs",
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
                "{epochs} samples were invalidated but are still scored; {them}"
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

/// Adds an attribute: the value if there is one, or the list of several.
fn add_notes(attributes: &mut Fields, name: &str, mut values: Vec<Value>) {
    match values.len() {
        0 => {}
        1 => drop(attributes.insert(name, values.remove(0))),
        _ => drop(attributes.insert(name, values)),
    }
}
