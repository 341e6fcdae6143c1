//! Labels from the rows of the result file, or from a separate file that is joined by id.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexSet;
use serde_json::Value;

use crate::agreement::Label;
use crate::args::FileArguments;
use crate::contract::Origin;
use crate::data::Mapping;
use crate::json::found;
use crate::messages::escape;
use crate::messages::suggest::known_names;
use crate::output::{CliError, Result, err};
use crate::own_scores::id_of;
use crate::results::{Results, parse_cell};

/// A label for each row of the results.
#[derive(Default)]
pub(crate) struct Labels {
    pub(crate) labels: Vec<Label>,
    /// The location of each label that comes from a separate file.
    pub(crate) places: Vec<Option<Origin>>,
    /// The number of labels whose ids are not in the results.
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

    /// Reads the labels in a file, in the order of the results. The ids are in `id`, or in the column that the mapping
    /// names.
    pub(super) fn in_file(
        file: &Path,
        files: &FileArguments,
        id: Option<&Mapping>,
        of: &Results,
        field: &str,
    ) -> Result<Self> {
        let mut labels = Self::default();
        let mut by_id = HashMap::new();
        let (mut first, mut gold, mut pred) = (None, Vec::new(), None);
        let (results, rows) = (of.name(), of.index());
        for row in files.reader().read_objects(file)? {
            let row = row?;
            let label = label(&row.at, field, row.textual, row.find(field).as_deref())?;
            labels.known.extend(row.keys().map(str::to_owned));
            let (id, hashes) = (id_of(&row, id, true)?, row.hashes());
            let at = row.at;
            if let Some(place) = rows.find(&id) {
                let own = [rows.gold_hash(place), of.rows()[place].pred_hash()];
                let is_other = |side: usize| {
                    let both = own[side].zip(hashes[side]);
                    both.is_some_and(|(own, other)| own != other)
                };
                gold.extend(is_other(0).then(|| id.clone()));
                if is_other(1) && !label.is_missing() {
                    pred.get_or_insert_with(|| (at.clone(), place));
                }
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
            let path = escape::name(id.map_or("id", Mapping::path));
            let advice = match rows.has_positional() {
                true => {
                    "the results have no ids either, so score again with --map id=COLUMN, and pass it here too"
                }
                false => {
                    "pass --map id=COLUMN, with a column that identifies the row in both files"
                }
            };
            return Err(err!(
                "{at}: `{path}`: expected ids from {results} such as `{of_results}`, found `{found}`, and no label has a matching id; {advice}"
            ));
        }
        if !gold.is_empty() {
            let (file, gold) = (
                file.display(),
                escape::names(gold.iter().map(String::as_str)),
            );
            return Err(err!(
                "the gold rows of {gold} in {file} differ from the gold rows in {results}; compare scores with labels for the same data"
            ));
        }
        if let Some((label, place)) = pred {
            let (id, at) = (escape::name(rows.id(place)), rows.at(place));
            return Err(err!(
                "{label}: the label of `{id}` is for a different prediction than the one at {at}; label the predictions in these results, or, if the label applies to both, remove `pred` and `pred_hash` from the labels"
            ));
        }
        labels.without_row = by_id.len() as u64;
        Ok(labels)
    }
}

fn label(at: &Origin, field: &str, is_textual: bool, value: Option<&Value>) -> Result<Label> {
    let value = match value {
        Some(value) if is_textual => parse_cell(value),
        // Scored rows keep an empty cell as an empty string.
        Some(value) if value.as_str() != Some("") => value.clone(),
        _ => Value::Null,
    };
    Label::try_from(&value).map_err(|value| invalid_field(at, field, value))
}

/// Creates the error for a field that is neither a label nor a rating.
pub(super) fn invalid_field(at: &Origin, field: &str, value: &Value) -> CliError {
    let found = found(value);
    err!("{at}: `{field}`: expected a bool, a number or a string, found {found}")
}
