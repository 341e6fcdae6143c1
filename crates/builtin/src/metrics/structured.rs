//! Metrics for structured extraction over rows.

use std::borrow::Cow;

use serde_json::Value;

use crate::contract::{CorpusCounts, CountFormula, Scores, WithCorpus, at_least};
use crate::json::structured::{FieldOptions, FieldReport, ListOrder};
use crate::json::{TooDeep, found, is_too_deep};
use crate::messages::escape;
use crate::metric;
use crate::metrics::explained::{MAX_ITEMS, joined, more};
use crate::metrics::inputs::bounded_pairing;
use crate::text::NormalForm;

/// Returns the value, parsed if it is a string.
fn parsed(value: &Value) -> serde_json::Result<Cow<'_, Value>> {
    match value {
        Value::String(text) => serde_json::from_str(text).map(Cow::Owned),
        value => Ok(Cow::Borrowed(value)),
    }
}

/// Computes the fraction of JSON fields that are correct.
///
/// The score is in [0, 1]. The metric also reports precision, recall and, for each field, the fraction that are
/// correct.
///
/// The gold answer and the prediction are JSON values, or strings that contain JSON. The fields are the leaves of a
/// value, at any depth.
///
/// The score is `correct / (expected + extra)`. Missing, wrong and unexpected fields lower it. If neither side has a
/// field, the score is 1.
///
/// The corpus score applies the same formula to the sums over all rows.
///
/// A field's score is named by the field's path, such as `/address/city`. The name `/items/*/price` covers all items in
/// a list.
///
/// A field that is `null` or `{}` counts as missing. Numbers are compared by value, so 1 equals 1.0, but not "1".
///
/// A prediction that is not valid JSON counts as one unexpected field. If the gold answer is not valid JSON, the row
/// fails with an error.
///
/// ```
/// use dsrs_metrics::metrics::JsonFieldAccuracy;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = serde_json::json!({"name": "Louvre", "city": "Paris", "floors": 3});
/// let gold = example! { "answer" => gold };
/// let pred = prediction! { "answer" => r#"{"name": "Louvre", "city": "Lyon", "floors": 3.0}"# };
/// assert_eq!(JsonFieldAccuracy::default().score(&gold, &pred)?.value, 2.0 / 3.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |gold, pred, fields, abs, rel, ignore_case, lists, _| {
    compared(gold, pred, fields, [abs, rel], ignore_case, lists).ok().map(|it| explain_json_field_accuracy(&it))
})]
pub fn json_field_accuracy(
    #[gold] answer: &Value,
    #[pred("answer")] prediction: &Value,
    /// The fields to compare, as JSON pointers like `["/name","/address/city"]`. If empty, all fields are compared.
    #[param(default = &[])]
    fields: &[String],
    /// The largest accepted difference between two numbers.
    #[param(default = 0.0)]
    abs_tolerance: f64,
    /// The largest accepted difference, as a fraction of the gold number. For example, 0.01 is one percent.
    #[param(default = 0.0)]
    rel_tolerance: f64,
    /// `true` to ignore case and surrounding whitespace when comparing strings.
    #[param(default = false)]
    ignore_case: bool,
    /// How list items are compared: `ordered` or `unordered`. Unordered lists can have at most a few thousand values.
    #[param(default = ListOrder::Ordered)]
    lists: ListOrder,
) -> Result<WithCorpus<Scores>, String> {
    let tolerances = [abs_tolerance, rel_tolerance];
    let Compared { report, .. } =
        compared(answer, prediction, fields, tolerances, ignore_case, lists)?;
    let counts = report.counts;
    let scores = Scores::new("accuracy", counts.accuracy())
        .with("precision", counts.precision())
        .with("recall", counts.recall());
    let scores = report.fields().fold(scores, |scores, (path, share)| {
        scores.with(if path.is_empty() { "/" } else { path }, share)
    });
    let sums = [
        counts.correct,
        counts.expected,
        counts.predicted,
        counts.extra,
    ];
    let sums = CorpusCounts::new(sums, CountFormula::FieldAccuracy);
    Ok(WithCorpus::new(scores, sums))
}

/// Both sides as JSON values, and the comparison between their fields.
pub(super) struct Compared<'a> {
    pub(super) gold: Cow<'a, Value>,
    pub(super) pred: Cow<'a, Value>,
    pub(super) report: FieldReport,
    /// The reason why the prediction is not JSON.
    pub(super) invalid: Option<serde_json::Error>,
}

/// Compares the fields of both sides.
///
/// # Errors
/// Returns an error if a path is not a pointer, if the gold answer is not JSON, or if the values are nested too deep or
/// take too long to compare.
pub(super) fn compared<'a>(
    answer: &'a Value,
    prediction: &'a Value,
    fields: &[String],
    [abs_tolerance, rel_tolerance]: [f64; 2],
    ignore_case: bool,
    lists: ListOrder,
) -> Result<Compared<'a>, String> {
    let options = FieldOptions {
        abs_tolerance,
        rel_tolerance,
        ignore_case,
        lists,
        form: NormalForm::Nfc,
    };
    fields.iter().try_for_each(|field| pointer(field))?;
    for (field, value) in [("gold.answer", answer), ("pred.answer", prediction)] {
        if is_too_deep(value) {
            return Err(format!("field `{field}` contains {TooDeep}"));
        }
    }
    let gold =
        parsed(answer).map_err(|error| format!("`gold.answer` is not valid JSON: {error}"))?;
    let (pred, invalid) = match parsed(prediction) {
        Ok(pred) => (pred, None),
        Err(error) => (Cow::Owned(Value::Null), Some(error)),
    };
    if lists == ListOrder::Unordered {
        bounded_pairing(&pred, &gold)?;
    }
    let mut report = match fields {
        [] => options.compare(&pred, &gold),
        fields => options.compare_at(&pred, &gold, fields),
    };
    if invalid.is_some() {
        report.counts.predicted += 1;
        report.counts.extra += 1;
    }
    Ok(Compared {
        gold,
        pred,
        report,
        invalid,
    })
}

requires_valid! {
    JsonFieldAccuracy: |metric| at_least("abs_tolerance", metric.abs_tolerance, 0.0),
        at_least("rel_tolerance", metric.rel_tolerance, 0.0),
        metric.fields.iter().try_for_each(|field| pointer(field));
}

/// Checks a pointer. A path without a leading slash would name a field that no value has, so it would count as right in
/// every row.
fn pointer(field: &str) -> Result<(), String> {
    match field.is_empty() || field.starts_with('/') {
        true => Ok(()),
        false => Err(format!(
            "expected a JSON pointer in `fields`, found `{field}`; write `/{field}`"
        )),
    }
}

fn explain_json_field_accuracy(compared: &Compared<'_>) -> String {
    let wrong = compared.report.fields().filter(|(_, share)| *share < 1.0);
    let wrong = wrong.map(|(path, _)| difference(&compared.gold, &compared.pred, path));
    let wrong: Vec<String> = wrong.collect();
    let shown = &wrong[..wrong.len().min(MAX_ITEMS)];
    let invalid = compared.invalid.as_ref();
    let invalid = invalid.map(|error| format!("`pred.answer` is not valid JSON: {error}"));
    let counts = &compared.report.counts;
    joined([
        invalid.unwrap_or_default(),
        format!("{} of {} fields correct", counts.correct, counts.expected),
        match wrong.is_empty() {
            true => String::new(),
            false => format!("wrong: {}", more(shown.join(", "), wrong.len())),
        },
    ])
}

/// Returns a path, with the values on both sides unless the path stands for several values.
fn difference(gold: &Value, pred: &Value, path: &str) -> String {
    let name = escape::name(if path.is_empty() { "/" } else { path });
    match (gold.pointer(path), pred.pointer(path)) {
        (Some(gold), Some(pred)) => {
            format!("`{name}` (expected {}, found {})", found(gold), found(pred))
        }
        (Some(gold), None) => format!("`{name}` (expected {}, found nothing)", found(gold)),
        (None, _) => format!("`{name}`"),
    }
}
