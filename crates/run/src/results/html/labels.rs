//! Text that several sections of the page share: labels of runs, counts and metrics.

use serde_json::{Value, json};

use crate::contract::ScoreKind;
use crate::results::thousands;

/// The letter and CSS class of each run.
pub(super) const LABELS: [(&str, &str); 2] = [("A", "a"), ("B", "b")];

/// Shown for a figure that a run does not have.
pub(super) const NOTHING: &str = "–";

/// `1 row`, `1,190 rows`
pub(super) fn plural(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {noun}{end}", thousands(count))
}

/// Returns a number, and what it counts.
pub(super) fn count(number: u64, text: impl Into<String>) -> Value {
    json!({"number": thousands(number), "text": text.into(), "is_alarm": false})
}

/// A metric of the runs.
pub(super) struct Metric<'a> {
    pub(super) name: &'a str,
    pub(super) kind: ScoreKind,
    /// `true` if the metric is the same in both runs.
    pub(super) is_compared: bool,
    pub(super) is_lower_better: bool,
}
