//! Explanations of structured extraction: the fields that are wrong, with both values.

use serde_json::Value;

use super::{MAX_ITEMS, counted, joined, more};
use crate::json::describe::found;
use crate::messages::escape;
use crate::metrics::structured::Compared;

pub(in crate::metrics) fn json_field_accuracy(compared: &Compared<'_>) -> String {
    let Compared {
        gold,
        pred,
        report,
        invalid,
    } = compared;
    let counts = report.counts;
    let wrong = report.fields().filter(|(_, share)| *share < 1.0);
    let wrong: Vec<String> = wrong
        .map(|(path, _)| difference(gold, pred, path))
        .collect();
    let shown = wrong
        .iter()
        .take(MAX_ITEMS)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    joined([
        invalid.as_ref().map_or_else(String::new, |error| {
            format!("`pred.answer` is not valid JSON: {error}")
        }),
        format!(
            "{} of {} correct",
            counts.correct,
            counted(usize(counts.expected), "field")
        ),
        match wrong.is_empty() {
            true => String::new(),
            false => format!("wrong: {}", more(shown, wrong.len())),
        },
        match counts.extra {
            0 => String::new(),
            extra => format!("{} not expected", counted(usize(extra), "field")),
        },
    ])
}

fn usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Returns a path, with the values of both sides if it is not the path of several values.
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
