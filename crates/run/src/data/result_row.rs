//! Removes the results from rows of result files that are scored again.

use std::borrow::Cow;
#[cfg(feature = "csv")]
use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Map, Value};
use twox_hash::XxHash3_128;

use super::error::DataError;
use super::row::RowObject;
use crate::contract::{Fields, Origin, ProgramRun, ProgramUsage};
use crate::json::read::{Shape, parse_literal};
use crate::json::sorted;

/// The prefix of attribute columns.
const ATTRIBUTES: &str = "attributes.";

/// The suffix of the column with a metric's outcomes.
const OUTCOME: &str = ".outcome";

/// The suffix of the column with a metric's costs.
#[cfg(feature = "csv")]
const COST: &str = ".cost_msats";

/// The keys for the program's latency, tokens and cost.
const USAGE: [&str; 4] = ["latency_s", "input_tokens", "output_tokens", "cost_msats"];

/// The key for the gold row's hash.
pub(crate) const GOLD_HASH: &str = "gold_hash";

/// The key for the prediction's hash.
pub(crate) const PRED_HASH: &str = "pred_hash";

/// The key whose value is `true` if a row's id is its position.
pub(crate) const POSITIONAL: &str = "positional";

/// The outcome of a row without a prediction.
pub(super) const PROGRAM_FAILED: &str = "program_failed";

/// The results that a run added to a row.
pub(super) struct Added {
    /// The program's latency, tokens and cost, if it returned them.
    pub(super) run: Option<Box<ProgramRun>>,
    /// All keys or columns of the file except the id, gold row and prediction. Mappings can read them.
    pub(super) fields: Fields,
}

impl Added {
    /// Returns `true` if the scored row had no id.
    pub(super) fn is_positional(&self) -> bool {
        cell(&self.fields, POSITIONAL) == Value::Bool(true)
    }
}

/// Returns the metric whose outcomes are in this column of a result file.
pub(crate) fn metric_of(column: &str) -> Option<&str> {
    column
        .strip_suffix(OUTCOME)
        .filter(|_| !column.starts_with(ATTRIBUTES))
}

/// Returns `true` if these are the columns of a result file: `id`, and a metric's value, `NAME.outcome` and
/// `NAME.cost_msats`.
#[cfg(feature = "csv")]
pub(super) fn are_of_results(names: &[String]) -> bool {
    let names: HashSet<_> = names.iter().map(String::as_str).collect();
    let has_costs = |metric: &str| names.contains(&*format!("{metric}{COST}"));
    let mut metrics = names.iter().filter_map(|name| metric_of(name));
    names.contains("id") && metrics.any(|metric| names.contains(metric) && has_costs(metric))
}

impl RowObject {
    /// Returns `true` if the row is from a result file: it has an outcome for each of its metrics, or no metrics.
    pub(super) fn is_result(&self) -> bool {
        let scores = self.attributes.get("scores").and_then(Value::as_object);
        let has_no_metric = !self.is_flat && scores.is_some_and(Map::is_empty);
        has_no_metric || self.outcomes().next().is_some()
    }

    /// Returns each metric's outcome, or nothing if the row is not from a result file.
    fn outcomes(&self) -> impl Iterator<Item = &Value> {
        // In a Parquet row, a missing score has no value.
        let columns = self.attributes.iter();
        let columns = columns.filter(|(name, _)| self.is_of_results && metric_of(name).is_some());
        let scores = self.attributes.get("scores").and_then(Value::as_object);
        let scores = scores.filter(|scores| {
            !self.is_flat
                && scores
                    .values()
                    .all(|it| it.get("outcome").is_some_and(Value::is_string))
        });
        let of_scores = scores
            .into_iter()
            .flat_map(Map::values)
            .filter_map(|it| it.get("outcome"));
        columns.map(|(_, value)| value).chain(of_scores)
    }

    /// Removes and returns the results that a run added: scores, repeats, manifest and backtraces. The attributes
    /// become those of the scored row. Other rows stay unchanged. `is_mapped` is `true` if mappings may read all fields
    /// from the scores.
    ///
    /// # Errors
    /// Returns a [`DataError`] if the row does not have exactly one prediction to score.
    pub(super) fn take_results(
        &mut self,
        at: &Origin,
        is_mapped: bool,
    ) -> Result<Option<Box<Added>>, DataError> {
        if !self.is_result() {
            return Ok(None);
        }
        let has_row = self.gold.is_some() || self.pred.is_some();
        if !has_row && !is_mapped {
            return Err(DataError::invalid(
                at,
                "the row has scores, but neither gold row nor prediction to score again; write the results with \
                 `score --out FILE --with-rows`",
            ));
        }
        let is_null = matches!(self.pred, Some(Shape::Other(Value::Null)));
        let has_failed = || self.outcomes().any(|outcome| outcome == PROGRAM_FAILED);
        if has_row && (is_null || has_failed()) {
            return Err(DataError::invalid(
                at,
                "the program failed on this row, so it has no prediction to score; remove the row",
            ));
        }
        if has_several_predictions(&cell(&self.attributes, "repeats")) {
            return Err(DataError::invalid(
                at,
                "expected one prediction to score, found repeats with different predictions; write each prediction as a \
                 row of its own",
            ));
        }
        let run = program_run(&self.attributes);
        let attributes = match self.is_flat {
            true => attribute_columns(&self.attributes),
            false => match self.attributes.get("attributes") {
                Some(Value::Object(attributes)) => attributes.clone().into_iter().collect(),
                _ => Fields::default(),
            },
        };
        let fields = std::mem::replace(&mut self.attributes, attributes);
        Ok(Some(Box::new(Added {
            run: run.map(Box::new),
            fields,
        })))
    }
}

/// Returns the attributes from the columns of a result file, in column order and without empty cells.
pub(crate) fn attribute_columns(columns: &Fields) -> Fields {
    let is_textual = columns.textual;
    // If there are too many attribute names for columns, a single column holds the attributes as JSON objects.
    let mut attributes: Fields = if let Value::Object(packed) = cell(columns, "attributes") {
        packed.into_iter().collect()
    } else {
        let attribute = |(name, value): (&str, &Value)| {
            let is_empty = is_textual && value.as_str().is_some_and(str::is_empty);
            let name = name.strip_prefix(ATTRIBUTES).filter(|_| !is_empty)?;
            Some((name.to_owned(), value.clone()))
        };
        columns.iter().filter_map(attribute).collect()
    };
    attributes.textual = is_textual;
    let name = |column: &String| column.strip_prefix(ATTRIBUTES).map(str::to_owned);
    for name in columns.strings().iter().filter_map(name) {
        attributes.special_mut().strings.push(name);
    }
    attributes
}

/// Returns the value of a key, which a string-only format stores as JSON.
fn cell(fields: &Fields, key: &str) -> Value {
    match fields.get(key) {
        Some(Value::String(text)) if fields.textual => {
            serde_json::from_str(text).unwrap_or_default()
        }
        value => value.cloned().unwrap_or_default(),
    }
}

/// Returns `true` if the repeats of a row have different predictions.
fn has_several_predictions(repeats: &Value) -> bool {
    let repeats = repeats.as_array().map(Vec::as_slice).unwrap_or_default();
    repeats
        .windows(2)
        .any(|two| two[0].get("pred") != two[1].get("pred"))
}

fn program_run(fields: &Fields) -> Option<ProgramRun> {
    let [latency, input, output, cost] = USAGE.map(|key| cell(fields, key));
    let latency = latency.as_f64();
    let tokens = [input, output].map(|tokens| tokens.as_u64());
    let usage = tokens.iter().any(Option::is_some).then(|| {
        let [input, output] = tokens.map(Option::unwrap_or_default);
        let usage = ProgramUsage::new(input, output);
        cost.as_u64()
            .map_or(usage, |cost| usage.with_cost_msats(cost))
    });
    let mut run = ProgramRun::default();
    run.latency = latency.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    run.usage = usage;
    (run.latency.is_some() || run.usage.is_some()).then_some(run)
}

/// Returns the hash of a gold row or prediction, or `None` if it has no value.
pub(crate) fn row_hash(row: &Value) -> Option<u64> {
    let mut hashed = Vec::with_capacity(256);
    let mut add = |name: &str, value: &Value| {
        let text = text(value);
        if !text.is_empty() {
            for part in [name, &text] {
                hashed.extend_from_slice(&(part.len() as u64).to_le_bytes());
                hashed.extend_from_slice(part.as_bytes());
            }
        }
    };
    match row {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            fields
                .into_iter()
                .for_each(|(name, value)| add(name, value));
        }
        value => add("", value),
    }
    #[expect(clippy::cast_possible_truncation, reason = "half of the hash")]
    (!hashed.is_empty()).then(|| XxHash3_128::oneshot(&hashed) as u64)
}

/// Parses a hash from a row of a file.
pub(crate) fn parse_hash(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16)
        .ok()
        .filter(|_| text.len() == 16)
}

/// Returns a value as it appears in a CSV cell, which is empty for `null`. A cell with a list or object in JSON or
/// Python notation is converted to that value's JSON.
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => "".into(),
        Value::String(cell) => match parse_literal(cell) {
            Some(value) => sorted(&value).to_string().into(),
            None => cell.into(),
        },
        Value::Bool(_) | Value::Number(_) => value.to_string().into(),
        Value::Array(_) | Value::Object(_) => sorted(value).to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_the_same_in_every_format() {
        let row = json!({"q": "6 * 7?", "n": 42, "ok": true, "all": ["a", {"x": 1, "b": 2.5}], "none": null});
        let cells = json!({
            "all": "[\"a\", {\"b\": 2.5, \"x\": 1}]", "n": "42", "none": "", "ok": "true", "q": "6 * 7?"
        });
        assert_eq!(row_hash(&row), row_hash(&cells));
        assert_eq!(row_hash(&json!("42")), row_hash(&json!(42)));
        let of_python = json!({"answers": "['Rome', \"it's\", None]"});
        assert_eq!(
            row_hash(&of_python),
            row_hash(&json!({"answers": ["Rome", "it's", null]}))
        );
    }

    #[test]
    fn other_rows_have_other_hashes() {
        let rows = [
            json!({"a": "x", "b": "y"}),
            json!({"a": "xb", "": "y"}),
            json!({"a": "y", "b": "x"}),
            json!({"a": "x"}),
            json!({"a": ["x"]}),
            json!({"a": "[x]"}),
            json!({"a": " x"}),
            json!("x"),
        ];
        let hashes: std::collections::HashSet<_> = rows.iter().map(row_hash).collect();
        assert_eq!(hashes.len(), rows.len());
        assert_eq!(row_hash(&json!({"a": null, "b": ""})), None);
        assert_eq!(row_hash(&json!({})), None);
    }
}
