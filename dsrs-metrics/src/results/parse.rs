//! From the object of a row to a [`ResultRow`].

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::cell::parse_cell;
use super::error::{MAX_METRICS, ResultsError};
use super::row::{ResultOutcome, ResultRow, ResultScore, has_offline_label};
use crate::core::counted::Counted;
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::Origin;
use crate::core::score::OFFLINE_JUDGE;
use crate::data::ObjectRow;
use crate::json::describe::{found, text};
use crate::metrics::corpus::record;

/// What a CSV column of an outcome ends with. A metric has one for each row.
const OUTCOME: &str = ".outcome";

/// The prefix of CSV columns of attributes.
const ATTRIBUTES: &str = "attributes.";

/// A row of any format, before its fields are checked.
pub(super) struct UncheckedRow {
    pub(super) at: Origin,
    pub(super) id: String,
    pub(super) gold: Option<Value>,
    pub(super) pred: Option<Value>,
    /// All other keys, or columns.
    pub(super) fields: Fields,
    /// Whether the row is from a format with columns.
    pub(super) is_flat: bool,
    /// The metrics, in order.
    pub(super) names: Vec<String>,
}

impl From<ObjectRow> for UncheckedRow {
    fn from(mut row: ObjectRow) -> Self {
        let names = std::mem::take(&mut row.score_names);
        let (at, is_flat) = (row.at.clone(), row.is_flat);
        let pair = row.into_pair();
        let mut fields = pair.attributes;
        let gold = side(pair.gold.data, fields.remove("gold"));
        let pred = side(pair.pred.data, fields.remove("pred"));
        Self { at, id: pair.id, gold, pred, fields, is_flat, names }
    }
}

/// The whole of a gold row or prediction: its fields, or its value if that is not an object.
fn side(fields: Fields, whole: Option<Value>) -> Option<Value> {
    let is_cell = fields.textual;
    let fields: Map<_, _> =
        fields.into_iter().filter(|(_, value)| !is_cell || !is_empty(value)).collect();
    match whole.map(|whole| if is_cell { parse_cell(&whole) } else { whole }) {
        None if fields.is_empty() => None,
        None => Some(Value::Object(fields)),
        whole => whole.filter(|value| !value.is_null()),
    }
}

fn is_empty(cell: &Value) -> bool {
    cell.as_str().is_some_and(str::is_empty)
}

impl UncheckedRow {
    pub(super) fn check(mut self) -> Result<ResultRow, ResultsError> {
        // In the order of the file, which reading the scores does not keep.
        let attributes = self.columns(|column| column.strip_prefix(ATTRIBUTES).map(str::to_owned));
        let mut scores = match self.is_flat {
            true => self.scores_of_columns()?,
            false => self.scores_of_object()?,
        };
        let repeats = parse_cell(&self.cell("repeats"));
        for (name, score) in &mut scores {
            score.is_share = score.value.is_some() && are_verdicts(&repeats, name);
        }
        let attributes = match self.is_flat {
            true => self.attribute_columns(attributes),
            false => self.attribute_object()?,
        };
        Ok(ResultRow {
            latency_s: self.number("latency_s")?,
            input_tokens: self.count("input_tokens")?,
            output_tokens: self.count("output_tokens")?,
            cost_msats: self.count("cost_msats")?,
            traceback: self.fields.swap_remove("traceback").and_then(text),
            id: self.id,
            origin: Some(self.at),
            gold: self.gold,
            pred: self.pred,
            attributes,
            scores,
            is_flat: self.is_flat,
        })
    }

    fn scores_of_object(&mut self) -> Result<IndexMap<String, ResultScore>, ResultsError> {
        let Some(Value::Object(mut scores)) = self.fields.swap_remove("scores") else {
            return Err(self.not_results());
        };
        let names = std::mem::take(&mut self.names);
        self.check_metrics(&names)?;
        let mut checked = IndexMap::with_capacity(names.len());
        for name in names {
            let path = format!("scores.{name}");
            let score = object(scores.remove(&name).unwrap_or_default(), &self.at, &path)?;
            let score =
                UncheckedScore { at: &self.at, path, column: None, fields: score }.check()?;
            checked.insert(name, score);
        }
        Ok(checked)
    }

    fn scores_of_columns(&mut self) -> Result<IndexMap<String, ResultScore>, ResultsError> {
        let names: Vec<String> = self.columns(|column| {
            let name = column.strip_suffix(OUTCOME)?;
            (!column.starts_with(ATTRIBUTES)).then(|| name.to_owned())
        });
        if names.is_empty() {
            return Err(self.not_results());
        }
        self.check_metrics(&names)?;
        let mut checked = IndexMap::with_capacity(names.len());
        for name in names {
            let mut fields = Map::new();
            for (key, is_text) in KEYS {
                let column = if key == "value" { name.clone() } else { format!("{name}.{key}") };
                let cell = self.fields.swap_remove(&column).filter(|cell| !is_empty(cell));
                if let Some(cell) = cell {
                    fields.insert(key.to_owned(), if is_text { cell } else { parse_cell(&cell) });
                }
            }
            let (at, path) = (&self.at, name.clone());
            let score = UncheckedScore { at, path, column: Some(&name), fields }.check()?;
            checked.insert(name, score);
        }
        Ok(checked)
    }

    fn check_metrics(&self, names: &[String]) -> Result<(), ResultsError> {
        match names.len() > MAX_METRICS {
            true => Err(ResultsError::too_many_metrics(&self.at)),
            false => Ok(()),
        }
    }

    fn attribute_columns(&mut self, names: Vec<String>) -> Fields {
        let is_textual = self.fields.textual;
        // Attributes with too many names for columns.
        let mut attributes: Fields = if let Value::Object(packed) = self.cell("attributes") {
            packed.into_iter().collect()
        } else {
            let attribute = |name: String| {
                let cell = self.fields.swap_remove(&format!("{ATTRIBUTES}{name}"))?;
                (!is_textual || !is_empty(&cell)).then_some((name, cell))
            };
            names.into_iter().filter_map(attribute).collect()
        };
        attributes.textual = is_textual;
        attributes
    }

    fn attribute_object(&mut self) -> Result<Fields, ResultsError> {
        let attributes = self.fields.swap_remove("attributes").unwrap_or_default();
        Ok(object(attributes, &self.at, "attributes")?.into_iter().collect())
    }

    fn columns(&self, named: impl Fn(&str) -> Option<String>) -> Vec<String> {
        self.fields.keys().filter_map(named).collect()
    }

    fn number(&mut self, key: &str) -> Result<Option<f64>, ResultsError> {
        let value = self.cell(key);
        typed(&value, Value::as_f64, &self.at, key, "a number or null")
    }

    fn count(&mut self, key: &str) -> Result<Option<u64>, ResultsError> {
        let value = self.cell(key);
        typed(&value, Value::as_u64, &self.at, key, WHOLE)
    }

    fn cell(&mut self, key: &str) -> Value {
        let value = self.fields.swap_remove(key).unwrap_or_default();
        if self.fields.textual { parse_cell(&value) } else { value }
    }

    fn not_results(&self) -> ResultsError {
        let keys = self.fields.keys().map(str::to_owned).collect();
        ResultsError::NotResults { at: self.at.clone(), keys }
    }
}

const WHOLE: &str = "a whole number, at least 0";

/// The keys of a score, and whether the cell of a CSV file is the string itself.
const KEYS: [(&str, bool); 15] = [
    ("outcome", true),
    ("value", false),
    ("passed", false),
    ("confidence", false),
    ("details", true),
    ("feedback", true),
    ("cost_msats", false),
    ("missing", false),
    ("error", true),
    ("gated_by", true),
    ("budget_msats", false),
    ("parts", false),
    ("metadata", false),
    ("components", false),
    ("corpus", false),
];

/// A score before its fields are checked.
struct UncheckedScore<'a> {
    at: &'a Origin,
    /// The path of the score, for errors.
    path: String,
    /// The column of the value, if the file is CSV.
    column: Option<&'a str>,
    fields: Map<String, Value>,
}

impl UncheckedScore<'_> {
    fn check(mut self) -> Result<ResultScore, ResultsError> {
        let outcome = self.outcome()?;
        let value = match outcome {
            ResultOutcome::Scored => Some(self.value()?),
            _ => None,
        };
        let passed = self
            .typed("passed", Value::as_bool, "true, false or null")?
            .filter(|_| value.is_some());
        let metadata = self.object("metadata")?;
        let components = self.components()?;
        let details = self.fields.remove("details").and_then(text);
        let is_judged_offline = has_offline_label(&metadata)
            || components.values().any(|component| component.is_judged_offline)
            || self.column.is_some() && details.as_deref().is_some_and(shows_offline_label);
        Ok(ResultScore {
            outcome,
            value,
            passed,
            confidence: self.typed("confidence", Value::as_f64, "a number or null")?,
            details,
            feedback: self.fields.remove("feedback").and_then(text),
            error: self.fields.remove("error").and_then(text),
            cost_msats: self.typed("cost_msats", Value::as_u64, WHOLE)?.unwrap_or(0),
            missing: self.missing()?,
            gated_by: self.fields.remove("gated_by").and_then(text),
            budget_msats: self.typed("budget_msats", Value::as_u64, WHOLE)?,
            parts: self.parts()?,
            metadata,
            components,
            corpus: self.corpus()?,
            is_share: false,
            is_judged_offline,
        })
    }

    fn outcome(&mut self) -> Result<ResultOutcome, ResultsError> {
        let value = self.fields.remove("outcome").unwrap_or_default();
        let named = |outcome: &ResultOutcome| value == outcome.name();
        ResultOutcome::ALL.into_iter().find(named).ok_or_else(|| {
            let expected =
                "scored, counted, gated, skipped, abstained, metric_failed or program_failed";
            ResultsError::invalid(self.at, self.name("outcome"), expected, found(&value))
        })
    }

    fn value(&mut self) -> Result<f64, ResultsError> {
        let value = self.fields.remove("value").unwrap_or_default();
        value.as_f64().filter(|value| value.is_finite()).ok_or_else(|| {
            ResultsError::invalid(self.at, self.name("value"), "a finite number", found(&value))
        })
    }

    fn missing(&mut self) -> Result<Vec<String>, ResultsError> {
        let names = |value: &Value| {
            value.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned())).collect()
        };
        Ok(self.typed("missing", names, "a list of fields")?.unwrap_or_default())
    }

    fn parts(&mut self) -> Result<IndexMap<String, f64>, ResultsError> {
        let numbers = |value: &Value| {
            let parts = value.as_object()?.iter();
            parts.map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
        };
        Ok(self.typed("parts", numbers, "an object of numbers")?.unwrap_or_default())
    }

    fn components(&mut self) -> Result<IndexMap<String, ResultScore>, ResultsError> {
        let components = self.object("components")?;
        let component = |(name, value): (String, Value)| {
            let path = format!("{}.{name}", self.name("components"));
            let fields = object(value, self.at, &path)?;
            let score = UncheckedScore { at: self.at, path, column: None, fields }.check()?;
            Ok((name, score))
        };
        components.into_iter().map(component).collect()
    }

    fn corpus(&mut self) -> Result<Option<Counted>, ResultsError> {
        let expected = "what a row contributes to a score of all rows, as `score --out` writes it";
        self.typed("corpus", record::restore, expected)
    }

    fn object(&mut self, key: &str) -> Result<Map<String, Value>, ResultsError> {
        let value = self.fields.remove(key).unwrap_or_default();
        object(value, self.at, &self.name(key))
    }

    fn typed<T>(
        &mut self,
        key: &str,
        read: impl Fn(&Value) -> Option<T>,
        expected: &'static str,
    ) -> Result<Option<T>, ResultsError> {
        let value = self.fields.remove(key).unwrap_or_default();
        typed(&value, read, self.at, &self.name(key), expected)
    }

    /// The path of a key, or the column.
    fn name(&self, key: &str) -> String {
        match self.column {
            Some(column) if key == "value" => column.to_owned(),
            _ => format!("{}.{key}", self.path),
        }
    }
}

/// Whether every repeat with a score of the metric has pass or fail as its score, and one does.
fn are_verdicts(repeats: &Value, metric: &str) -> bool {
    let repeats = repeats.as_array().into_iter().flatten();
    let scores = repeats.filter_map(|repeat| repeat.get("scores")?.get(metric));
    let is_verdict = |score: &Value| {
        let value = score.get("value")?.as_f64()?;
        let passed = score.get("passed").and_then(Value::as_bool);
        Some(passed.is_some_and(|passed| value == f64::from(u8::from(passed))))
    };
    scores.filter_map(is_verdict).reduce(|a, b| a && b).unwrap_or(false)
}

fn shows_offline_label(details: &str) -> bool {
    details.contains(&format!("judge: {OFFLINE_JUDGE}"))
}

/// Reads a value that may be null.
fn typed<T>(
    value: &Value,
    read: impl Fn(&Value) -> Option<T>,
    at: &Origin,
    field: &str,
    expected: &'static str,
) -> Result<Option<T>, ResultsError> {
    if value.is_null() {
        return Ok(None);
    }
    let invalid = || ResultsError::invalid(at, field.to_owned(), expected, found(value));
    read(value).map(Some).ok_or_else(invalid)
}

/// Reads an object; empty if the value is null.
fn object(value: Value, at: &Origin, field: &str) -> Result<Map<String, Value>, ResultsError> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(object) => Ok(object),
        other => Err(ResultsError::invalid(at, field.to_owned(), "an object", found(&other))),
    }
}
