//! The groups of the rows, by a field.

use serde_json::Value;

use super::error::HtmlError;
use crate::json::describe;
use crate::results::{ResultRow, Results};

/// The group of each row of each run.
#[derive(Debug)]
pub(super) struct GroupOf {
    pub(super) of_rows: Vec<Vec<Option<String>>>,
}

impl GroupOf {
    /// # Errors
    /// [`HtmlError::NoGroup`] if no row has the field.
    pub(super) fn new(field: &str, runs: &[&Results]) -> Result<Self, HtmlError> {
        let groups = |run: &&Results| run.rows().iter().map(|row| group(row, field)).collect();
        let of_rows: Vec<Vec<_>> = runs.iter().map(groups).collect();
        if of_rows.iter().flatten().all(Option::is_none) {
            let known = runs.iter().flat_map(|run| run.rows()).map(known_fields);
            let known = known.max_by_key(Vec::len).unwrap_or_default();
            return Err(HtmlError::NoGroup { field: field.to_owned(), known });
        }
        Ok(Self { of_rows })
    }
}

/// The group of a row; `None` if the row does not have the field.
fn group(row: &ResultRow, field: &str) -> Option<String> {
    describe::text(row.field(field)?.clone())
}

fn known_fields(row: &ResultRow) -> Vec<String> {
    let side = |name: &str, value: &Option<Value>| {
        let fields = value.as_ref().and_then(Value::as_object).into_iter().flatten();
        fields.map(|(field, _)| format!("{name}.{field}")).collect::<Vec<_>>()
    };
    let attributes = row.attributes.keys().map(str::to_owned);
    attributes.chain(side("gold", &row.gold)).chain(side("pred", &row.pred)).collect()
}
