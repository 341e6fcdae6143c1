//! For CI jobs: summaries in Markdown (GitHub's flavor), and annotations, which are workflow commands of GitHub Actions.

use std::borrow::Cow;

use crate::contract::{Outcome, ScoreKind, Scored};
use crate::evaluate::{Ending, EvaluationResult, RowResult};
use crate::messages::escape;
use crate::stats::decimals;

/// The maximum number of rows in the second table of [`markdown`].
#[doc(hidden)]
pub const MAX_MARKDOWN_ROWS: usize = 20;

/// The maximum number of characters in an explanation.
const MAX_EXPLANATION: usize = 300;

/// Returns an evaluation's headlines as a Markdown table.
///
/// The table has one row per metric.
///
/// If the evaluation kept its rows, a second table shows the first 20 rows that failed or did not pass. It includes
/// their details, feedback or error.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, results, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let same = metric_fn("same", |gold, pred| gold.get("x") == pred.get("x"));
/// let row = Pair::new("q1", example! { "x" => 4 }, prediction! { "x" => 4 });
/// let result = Evaluate::builder().metric(same).build()?.score([row]).await?;
/// assert!(results::markdown(&result).starts_with("| metric | score |\n| --- | --- |\n| same | 100.00%"));
/// # Ok(())
/// # }
/// ```
pub fn markdown<G, P>(result: &EvaluationResult<G, P>) -> String {
    markdown_with_rows(result, &result.results)
}

/// Returns an evaluation's headlines and a table of the given rows as Markdown.
///
/// This is like [`markdown`], but takes the rows for the second table from `evaluated`.
#[doc(hidden)]
pub fn markdown_with_rows<G, P>(
    result: &EvaluationResult<G, P>,
    evaluated: &[RowResult<G, P>],
) -> String {
    let summaries = result.metric_names().filter_map(|name| result.metric(name));
    let rows = summaries.map(|it| vec![escape::name(&it.name).into_owned(), it.to_string()]);
    let mut text = table(["metric", "score"].into_iter(), rows);
    if let (Ending::Decided, Some(early)) = (&result.ending, &result.early) {
        text.push_str(&format!("\n{}\n", early.sentence()));
    } else if !result.is_complete() {
        text.push_str(&format!(
            "\nafter {} rows: {}\n",
            result.rows,
            escaped(&result.ending.to_string())
        ));
    }
    text.push_str(&not_passed(result, evaluated));
    text
}

/// Returns `true` if the outcome's verdict is `false` or the row failed.
#[doc(hidden)]
pub fn does_not_pass(outcome: &Outcome) -> bool {
    outcome.is_failure()
        || outcome
            .scored()
            .is_some_and(|scored| scored.passed == Some(false))
}

/// Returns a table of the first rows that do not pass, or an empty string if all do.
fn not_passed<G, P>(result: &EvaluationResult<G, P>, rows: &[RowResult<G, P>]) -> String {
    let names: Vec<&str> = result.metric_names().collect();
    let is_bool = |name: &str| {
        result
            .metric(name)
            .is_some_and(|metric| metric.kind == ScoreKind::Bool)
    };
    let mut rows = rows
        .iter()
        .filter(|row| row.outcomes.iter().any(does_not_pass));
    let shown: Vec<_> = rows.by_ref().take(MAX_MARKDOWN_ROWS).collect();
    if shown.is_empty() {
        return String::new();
    }
    let cells = |row: &RowResult<G, P>, name: &str, outcome: &Outcome| {
        let score = match outcome.value() {
            Some(0.0) if is_bool(name) => "false".to_owned(),
            Some(value) => decimals(value, 4),
            None => outcome.name().replace('_', " "),
        };
        vec![
            escape::name(&row.id).into_owned(),
            escape::name(name).into_owned(),
            score,
            explanation(outcome),
        ]
    };
    let lines = shown.into_iter().flat_map(|row| {
        let outcomes = names
            .iter()
            .zip(&row.outcomes)
            .filter(|(_, outcome)| does_not_pass(outcome));
        outcomes.map(move |(name, outcome)| cells(row, name, outcome))
    });
    let header = ["row", "metric", "score", "explanation"].into_iter();
    let title = match rows.next() {
        Some(_) => format!("The first {MAX_MARKDOWN_ROWS} rows"),
        None => "Rows".to_owned(),
    };
    format!("\n{title} that do not pass:\n\n{}", table(header, lines))
}

/// Returns the score's feedback or details, or the error.
fn explanation(outcome: &Outcome) -> String {
    let scored = outcome.scored();
    let details = scored.and_then(Scored::own_details).map(str::to_owned);
    let feedback = || scored.and_then(Scored::feedback).map(Cow::into_owned);
    let mut text = details
        .or_else(feedback)
        .or_else(|| outcome.error())
        .unwrap_or_default();
    if let Some((end, _)) = text.char_indices().nth(MAX_EXPLANATION) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Formats a table. Cells are escaped.
pub(crate) fn table<'a>(
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

/// Returns the text on one line, with the characters that are special in Markdown or HTML escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in escape::escaped(text).chars() {
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

/// Returns an annotation on a GitHub Actions run in one line: `::error file=src/lib.rs,line=7,title=eval f1::failed`.
///
/// GitHub's runners also read annotations from standard error.
///
/// The kind is `error`, `warning` or `notice`. The annotation is `at` a line of a file, whose path is relative to the
/// root of the repository. The message can contain line breaks.
#[doc(hidden)]
pub fn annotation(kind: &str, title: &str, at: Option<(&str, u32)>, message: &str) -> String {
    let at = at.map_or(String::new(), |(file, line)| {
        format!("file={},line={line},", property(file))
    });
    let (title, message) = (property(title), data(message));
    format!("::{kind} {at}title={title}::{message}")
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::annotation;

    #[test]
    fn a_message_cannot_end_the_command_or_add_a_property() {
        let message = "50% of `a,b`::warning\r\n::stop-commands::x";
        assert_eq!(
            annotation("error", "a:b,c\n%", None, message),
            "::error title=a%3Ab%2Cc%0A%25::50%25 of `a,b`::warning%0D%0A::stop-commands::x"
        );
    }
}
