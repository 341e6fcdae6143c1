//! The groups of rows: the values of a field.

use indexmap::IndexSet;
use serde_json::Value;

use super::error::CompareError;
use super::pairs::Pair;
use crate::json::describe::found;
use crate::results::file::Results;
use crate::results::row::ResultRow;

/// The group of every pair.
pub(super) struct Groups {
    pub(super) names: IndexSet<String>,
    /// For each pair, the position of its group.
    pub(super) of_pair: Vec<usize>,
}

impl Groups {
    pub(super) fn of(field: &str, pairs: &[Pair<'_>], a: &Results) -> Result<Self, CompareError> {
        let has_field =
            |pair: &Pair<'_>| [pair.a, pair.b].iter().any(|row| row.field(field).is_some());
        if !pairs.iter().any(has_field) {
            let known = pairs.iter().flat_map(|pair| pair.a.attributes.keys());
            let known: IndexSet<String> = known.map(str::to_owned).collect();
            let (file, field) = (a.name().to_owned(), field.to_owned());
            return Err(CompareError::NoGroup { file, field, known: known.into_iter().collect() });
        }
        let mut groups = Self { names: IndexSet::new(), of_pair: Vec::with_capacity(pairs.len()) };
        for pair in pairs {
            let name = group(field, pair)?;
            groups.of_pair.push(groups.names.insert_full(name).0);
        }
        Ok(groups)
    }
}

/// The group of a row, in both runs or in the one that has the field.
fn group(field: &str, pair: &Pair<'_>) -> Result<String, CompareError> {
    let value = |row: &ResultRow| match row.field(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
        Some(other) => Err(invalid(row, field, found(other))),
    };
    match (value(pair.a)?, value(pair.b)?) {
        (Some(of_a), Some(of_b)) if of_a != of_b => {
            let (id, field) = (pair.a.id.clone(), field.to_owned());
            let (of_a, of_b) = (format!("{of_a:?}"), format!("{of_b:?}"));
            Err(CompareError::DifferentGroups { id, field, of_a, of_b })
        }
        (Some(group), _) | (None, Some(group)) => Ok(group),
        (None, None) => Err(invalid(pair.a, field, "none".to_owned())),
    }
}

fn invalid(row: &ResultRow, field: &str, found: String) -> CompareError {
    CompareError::InvalidGroup { at: row.at(), field: field.to_owned(), found }
}
