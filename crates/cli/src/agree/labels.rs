//! Labels: in the rows of the result file, or in a separate file, joined by id.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::agreement::Label;
use crate::contract::Origin;
use crate::data::{DataReader, Mapping, ObjectRow};
use crate::json::{found, text};
use crate::messages::escape;
use crate::messages::suggest::known_names;
use crate::output::{CliError, Result, err};
use crate::results::{Results, parse_cell};

/// A label for each row of the results.
#[derive(Default)]
pub(crate) struct Labels {
    pub(crate) labels: Vec<Label>,
    /// The location of each label that comes from a separate file.
    pub(crate) places: Vec<Option<Origin>>,
    /// The number of labels whose id is not in the results.
    pub(crate) without_row: u64,
    /// All fields that could contain a label, for suggestions.
    known: IndexSet<String>,
}

impl Labels {
    /// Returns the labels in the rows of the results.
    pub(super) fn in_results(results: &Results, field: &str) -> Result<Self> {
        let mut labels = Self::default();
        for row in results.rows() {
            let (is_textual, value) = (row.attributes.textual, row.field(field));
            let label = label(&row.at(), field, is_textual, value)?;
            labels.labels.push(label);
            let known = row.attributes.keys().map(str::to_owned);
            labels.known.extend(known);
        }
        Ok(labels)
    }

    /// Checks that at least one row has a label.
    pub(super) fn checked(self, file: &str, field: &str) -> Result<Self> {
        if self.labels.iter().any(|label| !label.is_missing()) {
            return Ok(self);
        }
        if self.known.contains(field) {
            return Err(err!(
                "{file}: expected a label `{field}` in at least one row, found only null or NaN; add the labels"
            ));
        }
        let known = known_names(field, self.known.iter().map(String::as_str));
        Err(err!("{file}: no row has a label `{field}`{known}"))
    }
}

/// A file of labels, read for these results.
pub(super) struct LabelFile<'a> {
    pub(super) file: &'a Path,
    pub(super) reader: DataReader,
    /// The mapping of the labels' ids.
    pub(super) id: Option<&'a Mapping>,
    pub(super) of: &'a Results,
}

impl LabelFile<'_> {
    /// Reads the labels in the order of the results.
    pub(super) fn read(&self, field: &str) -> Result<Labels> {
        let mut labels = Labels::default();
        let mut by_id = HashMap::new();
        let (mut first, mut gold, mut preds) = (None, Vec::new(), Vec::new());
        let (results, rows, file) = (self.of.name(), self.of.index(), self.file.display());
        for row in self.reader.read_objects(self.file)? {
            let row = row?;
            let label = label(&row.at, field, row.textual, row.find(field).as_deref())?;
            labels.known.extend(row.keys().map(str::to_owned));
            let (id, hashes) = (self.id_of(&row)?, row.hashes());
            let at = row.at;
            if let Some(place) = rows.find(&id) {
                let own = [rows.gold_hash(place), self.of.rows()[place].pred_hash()];
                let is_other = |side: usize| {
                    let both = own[side].zip(hashes[side]);
                    both.is_some_and(|(own, other)| own != other)
                };
                gold.extend(is_other(0).then(|| id.clone()));
                preds.extend((is_other(1) && !label.is_missing()).then(|| (at.clone(), place)));
            }
            first.get_or_insert_with(|| (at.clone(), id.clone()));
            if let Some((_, before)) = by_id.insert(id.clone(), (label, at.clone())) {
                return Err(err!(
                    "{at}: duplicate id `{id}`, first on line {}; ids must be unique within a file",
                    before.line
                ));
            }
        }
        for row in 0..rows.len() {
            let (label, place) = by_id.remove(rows.id(row)).unzip();
            labels.labels.push(label.unwrap_or(Label::Missing));
            labels.places.push(place);
        }
        if let (true, Some((at, found))) = (labels.places.iter().all(Option::is_none), first) {
            let of_results = if rows.is_empty() { "" } else { rows.id(0) };
            let (of_results, found) = (escape::name(of_results), escape::name(&found));
            let path = escape::name(self.id.map_or("id", Mapping::path));
            let advice = self.advice()?;
            return Err(err!(
                "{at}: `{path}`: expected ids from {results} such as `{of_results}`, found `{found}`, and no label has a matching id; {advice}"
            ));
        }
        if !gold.is_empty() {
            let gold = escape::names(gold.iter().map(String::as_str));
            return Err(err!(
                "the gold rows of {gold} in {file} differ from the gold rows in {results}; compare scores with labels for the same data"
            ));
        }
        if let Some((label, place)) = preds.first() {
            let others_too = match preds.len() - 1 {
                0 => String::new(),
                1 => ", and so is 1 more label".to_owned(),
                others => format!(", and so are {others} more labels"),
            };
            let (id, at) = (escape::name(rows.id(*place)), rows.at(*place));
            return Err(err!(
                "{label}: the label of `{id}` is for a different prediction than the one at {at}{others_too}; label the predictions in these results, or, if the label applies to both, remove `pred` and `pred_hash` from the labels"
            ));
        }
        labels.without_row = by_id.len() as u64;
        Ok(labels)
    }

    /// Returns the id of a label: its own, or the value of the mapping.
    ///
    /// # Errors
    /// Returns an error if a row has no id. Its position is not used, because the results may have other rows, in another
    /// order.
    fn id_of(&self, row: &ObjectRow) -> Result<String> {
        let at = &row.at;
        let Some(mapping) = self.id else {
            return match row.has_id {
                true => Ok(row.id.clone()),
                false => Err(err!(
                    "{at}: expected an `id`, found a label without one; {}",
                    self.advice()?
                )),
            };
        };
        match row.mapped(mapping) {
            Some(Value::String(id)) if !id.is_empty() => Ok(id),
            Some(Value::Number(id)) => Ok(id.to_string()),
            _ => {
                let keys: Vec<&str> = row.keys().collect();
                let (path, keys) = (
                    escape::name(mapping.path()),
                    escape::names(keys.into_iter()),
                );
                Err(err!(
                    "{at}: expected an id at `{path}`, found neither a string nor a number; the row has {keys}"
                ))
            }
        }
    }

    /// Returns what to write to give labels ids. Row positions do not work as ids, because a label may be at another one.
    fn advice(&self) -> Result<String> {
        if self.of.index().has_positional() {
            let again = "the results have no ids either, so score again with --map id=COLUMN, and pass it here too";
            return Ok(again.to_owned());
        }
        Ok(match self.fitting_column()? {
            Some(column) => format!("pass --map id={}", escape::name(&column)),
            None => {
                "no column contains ids from the results, so pass --map id=COLUMN to both commands"
                    .to_owned()
            }
        })
    }

    /// Returns the column with the most ids of these results, if any.
    fn fitting_column(&self) -> Result<Option<String>> {
        let mut known: IndexMap<String, u64> = IndexMap::new();
        for row in self.reader.read_objects(self.file)? {
            let row = row?;
            for column in row.keys() {
                let id = row.find(column).map(Cow::into_owned).and_then(text);
                let is_id = id.is_some_and(|id| self.of.index().find(&id).is_some());
                *known.entry(column.to_owned()).or_default() += u64::from(is_id);
            }
        }
        let fitting = known.into_iter().filter(|(_, ids)| *ids > 0).rev();
        let best = fitting.max_by_key(|(_, ids)| *ids);
        Ok(best.map(|(column, _)| column))
    }
}

fn label(at: &Origin, field: &str, is_textual: bool, value: Option<&Value>) -> Result<Label> {
    let value = match value {
        Some(value) if is_textual => parse_cell(value),
        Some(value) => value.clone(),
        None => Value::Null,
    };
    Label::try_from(&value).map_err(|value| invalid_field(at, field, value))
}

/// Returns the error for a field that is neither a label nor a rating.
pub(super) fn invalid_field(at: &Origin, field: &str, value: &Value) -> CliError {
    let found = found(value);
    err!("{at}: `{field}`: expected a bool, a number or a string, found {found}")
}
