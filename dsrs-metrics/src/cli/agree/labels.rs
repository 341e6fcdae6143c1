//! Labels: in the rows of a result file, or in a file of their own, joined by id.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexSet;
use serde_json::Value;

use super::error::AgreeError;
use crate::agreement::Label;
use crate::cli::error::CliError;
use crate::core::rows::pair::Origin;
use crate::data::{LooseRow, LooseRows};
use crate::json::describe::found;
use crate::text::suggest::nearest;

/// A label for each row of the results.
#[derive(Default)]
pub(super) struct Labels {
    pub(super) labels: Vec<Label>,
    /// Where each stands, if not in the results.
    pub(super) places: Vec<Option<Origin>>,
    /// Labels of rows that the results do not have.
    pub(super) without_row: u64,
    /// What the field could have been called.
    known: IndexSet<String>,
}

impl Labels {
    /// Adds the label of a row.
    pub(super) fn add(&mut self, label: Label, row: &LooseRow) {
        self.labels.push(label);
        for key in row.keys() {
            if let Some(attribute) = key.strip_prefix("attributes.") {
                self.known.insert(attribute.to_owned());
            }
        }
        if let Some(Value::Object(attributes)) = row.find("attributes") {
            self.known.extend(attributes.keys().cloned());
        }
    }

    /// That there is any.
    pub(super) fn check(&self, file: &Path, field: &str) -> Result<(), AgreeError> {
        if self.labels.iter().any(|label| *label != Label::Missing) {
            return Ok(());
        }
        let nearest = nearest(field, self.known.iter().map(String::as_str)).map(str::to_owned);
        Err(AgreeError::NoLabel {
            file: file.to_path_buf(),
            field: field.to_owned(),
            nearest: nearest.filter(|nearest| nearest != field),
            known: self.known.iter().cloned().collect(),
        })
    }
}

/// The label in a row of results: an attribute, or `gold.FIELD` and `pred.FIELD` where they are kept.
pub(super) fn in_result(row: &LooseRow, field: &str) -> Result<Label, AgreeError> {
    let whole = || row.find("attributes")?.get(field);
    let path = format!("attributes.{field}");
    let value = whole().or_else(|| row.find(&path));
    let is_side = field.starts_with("gold.") || field.starts_with("pred.");
    label(row, field, value.or_else(|| row.find(field).filter(|_| is_side)))
}

/// The labels of a file, in the order of these ids.
pub(super) fn read(
    file: &Path,
    field: &str,
    results: &Path,
    ids: &[String],
) -> Result<Labels, CliError> {
    let mut labels = Labels::default();
    let mut by_id = HashMap::new();
    let mut first = None;
    for row in LooseRows::open(file, None)? {
        let row = row?;
        let label = label(&row, field, row.find(field))?;
        labels.known.extend(row.keys().map(str::to_owned));
        let (id, at) = (row.id, row.at);
        first.get_or_insert_with(|| id.clone());
        if let Some((_, before)) = by_id.insert(id.clone(), (label, at.clone())) {
            return Err(AgreeError::IdTwice { at, id, first: before.line }.into());
        }
    }
    for id in ids {
        let (label, place) = match by_id.remove(id) {
            Some((label, at)) => (label, Some(at)),
            None => (Label::Missing, None),
        };
        labels.labels.push(label);
        labels.places.push(place);
    }
    if labels.places.iter().all(Option::is_none) {
        return Err(AgreeError::NoCommonIds {
            labels: file.to_path_buf(),
            results: results.to_path_buf(),
            label: first.unwrap_or_default(),
            result: ids.first().cloned().unwrap_or_default(),
        }
        .into());
    }
    labels.without_row = by_id.len() as u64;
    Ok(labels)
}

fn label(row: &LooseRow, field: &str, value: Option<&Value>) -> Result<Label, AgreeError> {
    let value = match value {
        Some(value) if row.textual => from_cell(value),
        Some(value) => value.clone(),
        None => Value::Null,
    };
    Label::try_from(&value).map_err(|value| AgreeError::BadField {
        at: row.at.clone(),
        field: field.to_owned(),
        expected: "a bool, a number or text",
        found: found(value),
    })
}

/// What a cell stands for: nothing where it is empty, a bool as Python and spreadsheets write it too,
/// a number, a list or an object as JSON, and else text.
pub(super) fn from_cell(cell: &Value) -> Value {
    let Value::String(text) = cell else {
        return cell.clone();
    };
    match text.trim() {
        "" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        trimmed => match serde_json::from_str(trimmed) {
            Ok(value @ (Value::Number(_) | Value::Array(_) | Value::Object(_))) => value,
            _ => cell.clone(),
        },
    }
}
