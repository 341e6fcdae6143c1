//! The labels that several sections of the page have: runs, counts, numbers of rows.

use serde::Serialize;

use crate::results::thousands;

/// Letter and style of each run.
pub(super) const LABELS: [(&str, &str); 2] = [("A", "a"), ("B", "b")];

/// A figure that a run does not have.
pub(super) const NOTHING: &str = "–";

#[derive(Debug, PartialEq, Serialize)]
pub(super) struct CountView {
    pub(super) number: String,
    pub(super) text: String,
    pub(super) is_alarm: bool,
}

impl CountView {
    pub(super) fn new(number: u64, text: impl Into<String>) -> Self {
        Self {
            number: thousands(number),
            text: text.into(),
            is_alarm: false,
        }
    }
}

/// `1 row`, `1,190 rows`
pub(super) fn plural(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {noun}{end}", thousands(count))
}
