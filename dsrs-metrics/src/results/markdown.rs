//! Markdown (GitHub's), for the summary of a CI job.

use crate::evaluate::EvaluationResult;
use crate::text::shown;

/// Returns the headlines of an evaluation as a Markdown table with a row for each metric.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, Pair, results};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::EvaluateError> {
/// let same = metric_fn("same", |gold, pred| gold.get("x") == pred.get("x"));
/// let row = Pair::new("q1", example! { "x" => 4 }, prediction! { "x" => 4 });
/// let result = Evaluate::builder().metric(same).build()?.score([row]).await?;
/// assert!(results::markdown(&result).starts_with("| metric | score |\n| --- | --- |\n| same | 100.00%"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn markdown<G, P>(result: &EvaluationResult<G, P>) -> String {
    let summaries = result.metric_names().filter_map(|name| result.metric(name));
    let rows = summaries.map(|it| vec![shown::name(&it.name).into_owned(), it.to_string()]);
    let mut text = table(["metric", "score"].into_iter(), rows);
    if !result.is_complete() {
        text.push_str(&format!(
            "\nafter {} rows: {}\n",
            result.rows,
            escaped(&result.ending.to_string())
        ));
    }
    text
}

/// A table; cells are escaped.
pub(super) fn table<'a>(
    header: impl Iterator<Item = &'a str>,
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
    let header: Vec<&str> = header.collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header.iter().map(|it| (*it).to_owned()).collect());
    text.push_str(&line(vec!["---".to_owned(); header.len()]));
    for cells in rows {
        text.push_str(&line(cells.iter().map(|cell| escaped(cell)).collect()));
    }
    text
}

/// One line in which no character has a meaning in Markdown or HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in shown::escaped(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '|' | '#' | '~' | '$' | '!' => {
                escaped.extend(['\\', character]);
            }
            other => escaped.push(other),
        }
    }
    escaped
}
