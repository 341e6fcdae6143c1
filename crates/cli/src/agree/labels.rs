//! Labels: in the rows of the result file, or in a separate file, joined by id.

use std::collections::HashMap;
use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::error::AgreeError;
use super::results::Results;
use crate::agreement::Label;
use crate::core::rows::pair::Origin;
use crate::data::{ObjectRow, ObjectRows};
use crate::hint::Hint;
use crate::json::describe::{found, text};
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

    /// Checks that at least one row has a label.
    pub(crate) fn check(&self, file: &Path, field: &str) -> Result<(), AgreeError> {
        if self.labels.iter().any(|label| *label != Label::Missing) {
            return Ok(());
        }
        let hint = Hint::nearest(field, self.known.iter().map(String::as_str))
            .or(Hint::Only(self.known.iter().cloned().collect()));
        Err(AgreeError::NoLabel {
            file: file.to_path_buf(),
            field: field.to_owned(),
            hint,
        })
    }
}

/// The label in a row of results: an attribute, or `gold.FIELD` or `pred.FIELD` if the file
/// contains them.
pub(crate) fn in_result(row: &ResultRow, field: &str) -> Result<Label, AgreeError> {
    label(&row.at(), field, row.attributes.textual, row.field(field))
}

/// Reads the labels of a file, and returns them in the order of these ids. `id` is the path to the id of a label.
pub(super) fn read(
    file: &Path,
    field: &str,
    id: Option<&str>,
    of: &Results,
) -> Result<Labels, AgreeError> {
    let mut labels = Labels::default();
    let mut by_id = HashMap::new();
    let (mut first, mut gold, mut preds) = (None, Vec::new(), Vec::new());
    let (results, rows) = (&of.file, &of.rows);
    for row in ObjectRows::open(file, None)? {
        let row = row?;
        let label = label(&row.at, field, row.textual, row.find(field))?;
        labels.known.extend(row.keys().map(str::to_owned));
        let id = id_of(&row, id, file, of)?;
        let place = rows.find(&id);
        let hashes = row.hashes();
        let at = row.at;
        if let Some(place) = place {
            let own = of.hashes(place);
            let is_other = |side: usize| {
                own[side]
                    .zip(hashes[side])
                    .is_some_and(|(own, other)| own != other)
            };
            gold.extend(is_other(0).then(|| id.clone()));
            preds.extend((is_other(1) && !label.is_missing()).then(|| (at.clone(), place)));
        }
        first.get_or_insert_with(|| id.clone());
        if let Some((_, before)) = by_id.insert(id.clone(), (label, at.clone())) {
            return Err(AgreeError::DuplicateId {
                at,
                id,
                first: before.line,
            });
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
            result: if rows.is_empty() {
                String::new()
            } else {
                rows.id(0).to_owned()
            },
        });
    }
    if !gold.is_empty() {
        let (labels, results) = (file.to_path_buf(), results.clone());
        return Err(AgreeError::DifferentGold {
            labels,
            results,
            ids: gold,
        });
    }
    if let Some((label, place)) = preds.first() {
        return Err(AgreeError::DifferentPreds {
            id: rows.id(*place).to_owned(),
            label: label.clone(),
            result: rows.at(*place),
            others: preds.len() - 1,
        });
    }
    labels.without_row = by_id.len() as u64;
    Ok(labels)
}

/// Returns the id of a label: its own, or the value at a path.
///
/// # Errors
/// A row has no id. Its position is not one: the results may have other rows, in another order.
fn id_of(
    row: &ObjectRow,
    path: Option<&str>,
    file: &Path,
    of: &Results,
) -> Result<String, AgreeError> {
    let found = match path {
        None if row.has_id => return Ok(row.id.clone()),
        None => None,
        Some(path) => row.find(path),
    };
    match (found, path) {
        (Some(Value::String(id)), _) if !id.is_empty() => Ok(id.clone()),
        (Some(Value::Number(id)), _) => Ok(id.to_string()),
        (_, Some(path)) => {
            let (at, path) = (row.at.clone(), path.to_owned());
            Err(AgreeError::NoId {
                at,
                path,
                keys: row.keys().map(str::to_owned).collect(),
            })
        }
        (_, None) => {
            let at = row.at.clone();
            let has_positional = of.rows.has_positional();
            Err(AgreeError::LabelWithoutId {
                at,
                column: fitting_column(file, of)?,
                has_positional,
            })
        }
    }
}

/// Returns the column of a file with the most ids of these results, if it has any.
fn fitting_column(file: &Path, of: &Results) -> Result<Option<String>, AgreeError> {
    let mut known: IndexMap<String, u64> = IndexMap::new();
    for row in ObjectRows::open(file, None)? {
        let row = row?;
        for column in row.keys() {
            let id = row.find(column).cloned().and_then(text);
            let is_id = id.is_some_and(|id| of.rows.find(&id).is_some());
            *known.entry(column.to_owned()).or_default() += u64::from(is_id);
        }
    }
    let best = known.into_iter().filter(|(_, ids)| *ids > 0);
    Ok(best
        .reduce(|a, b| if b.1 > a.1 { b } else { a })
        .map(|(column, _)| column))
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
