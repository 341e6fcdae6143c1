//! Labels: in the rows of the result file, or in a separate file, joined by id.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexSet;
use serde_json::Value;

use super::error::AgreeError;
use super::results::Results;
use crate::agreement::Label;
use crate::core::rows::pair::Origin;
use crate::data::ObjectRows;
use crate::hint::Hint;
use crate::json::describe::found;
use crate::results::{ResultRow, parse_cell};

/// A label for each row of the results.
#[derive(Default)]
pub(crate) struct Labels {
    pub(crate) labels: Vec<Label>,
    /// The place of each label that is in a separate file.
    pub(crate) places: Vec<Option<Origin>>,
    /// The number of labels whose id is not in the results.
    pub(crate) without_row: u64,
    /// All fields that could contain a label, for suggestions.
    known: IndexSet<String>,
}

impl Labels {
    /// Adds the label of a row of results.
    pub(crate) fn add(&mut self, label: Label, row: &ResultRow) {
        self.labels.push(label);
        for name in row.attributes.keys() {
            if !self.known.contains(name) {
                self.known.insert(name.to_owned());
            }
        }
    }

    /// Adds the labels of more rows.
    pub(crate) fn append(&mut self, mut more: Self) {
        self.labels.append(&mut more.labels);
        self.known.extend(more.known);
    }

    /// Checks that at least one row has a label.
    pub(crate) fn check(&self, file: &Path, field: &str) -> Result<(), AgreeError> {
        if self.labels.iter().any(|label| *label != Label::Missing) {
            return Ok(());
        }
        let hint = Hint::nearest(field, self.known.iter().map(String::as_str))
            .or(Hint::Only(self.known.iter().cloned().collect()));
        Err(AgreeError::NoLabel { file: file.to_path_buf(), field: field.to_owned(), hint })
    }
}

/// The label in a row of results: an attribute, or `gold.FIELD` or `pred.FIELD` if the file
/// contains them.
pub(crate) fn in_result(row: &ResultRow, field: &str) -> Result<Label, AgreeError> {
    label(&row.at(), field, row.attributes.textual, row.field(field))
}

/// Reads the labels of a file, and returns them in the order of these ids.
pub(super) fn read(file: &Path, field: &str, of: &Results) -> Result<Labels, AgreeError> {
    let mut labels = Labels::default();
    let mut by_id = HashMap::new();
    let (mut first, mut different) = (None, Vec::new());
    let (results, rows) = (&of.file, &of.rows);
    for (place, row) in ObjectRows::open(file, None)?.enumerate() {
        let row = row?;
        let label = label(&row.at, field, row.textual, row.find(field))?;
        labels.known.extend(row.keys().map(str::to_owned));
        let other = row.gold().filter(|gold| rows.differs(&row.id, place, gold, row.is_flat));
        different.extend(other.map(|_| row.id.clone()));
        let (id, at) = (row.id, row.at);
        first.get_or_insert_with(|| id.clone());
        if let Some((_, before)) = by_id.insert(id.clone(), (label, at.clone())) {
            return Err(AgreeError::DuplicateId { at, id, first: before.line });
        }
    }
    for row in 0..rows.len() {
        let (label, place) = match by_id.remove(rows.id(row)) {
            Some((label, at)) => (label, Some(at)),
            None => (Label::Missing, None),
        };
        labels.labels.push(label);
        labels.places.push(place);
    }
    if labels.places.iter().all(Option::is_none) {
        return Err(AgreeError::NoCommonIds {
            labels: file.to_path_buf(),
            results: results.clone(),
            label: first.unwrap_or_default(),
            result: if rows.is_empty() { String::new() } else { rows.id(0).to_owned() },
        });
    }
    if !different.is_empty() {
        let (labels, results) = (file.to_path_buf(), results.clone());
        return Err(AgreeError::DifferentGold { labels, results, ids: different });
    }
    labels.without_row = by_id.len() as u64;
    Ok(labels)
}

fn label(
    at: &Origin,
    field: &str,
    is_textual: bool,
    value: Option<&Value>,
) -> Result<Label, AgreeError> {
    let value = match value {
        Some(value) if is_textual => parse_cell(value),
        Some(value) => value.clone(),
        None => Value::Null,
    };
    Label::try_from(&value).map_err(|value| AgreeError::InvalidField {
        at: at.clone(),
        field: field.to_owned(),
        expected: "a bool, a number or a string",
        found: found(value),
    })
}
