//! Compares strings by characters, words and syntax trees, and renders the line diff. `mod.rs` calls the judge.

use std::borrow::Cow;

use serde_json::Value;
use similar::TextDiff;

use super::DiffStrictness;
use crate::contract::{Check, FieldType as _, Fields, Side, Unscored};
use crate::metrics::inputs as field;
use crate::syntax::{Comparison, Language};

/// Passes if the answer equals one of the expected strings. The reason for a failure is written only if somebody reads
/// it, because a line diff takes longer than the comparison.
pub(super) fn compare(
    strictness: DiffStrictness,
    language: Option<Language>,
    expected: &[Cow<'_, str>],
    found: &str,
    is_explained: bool,
) -> Result<Check, Unscored> {
    let mut broken = None;
    for text in expected {
        match same(strictness, language, text, found)? {
            Comparison::Same => return Ok(Check::pass()),
            Comparison::Different => {}
            Comparison::RightBroken(fault) => broken = Some(fault),
            Comparison::LeftBroken(fault) => {
                return Err(Unscored::Because(format!(
                    "the expected answer does not parse: {fault}"
                )));
            }
        }
    }
    if !is_explained {
        return Ok(Check {
            passed: false,
            feedback: None,
        });
    }
    let lines = line_diff(&expected[0], found);
    Ok(Check::fail(match broken {
        Some(fault) => format!("the answer does not parse: {fault}\n{lines}"),
        None => lines,
    }))
}

/// Returns the gold row's expected strings, which are never empty. If a cell is not a list of strings, it is a single
/// string.
pub(super) fn expected<'r>(row: &'r Fields, field: &str) -> Result<Vec<Cow<'r, str>>, Unscored> {
    let gold = field::value(row, Side::Gold, field)?;
    let is_cell = gold.is_string() && row.is_cell(field);
    let cell = || <Vec<String>>::read(gold, true).ok().filter(|_| is_cell);
    let texts = match gold {
        Value::Array(texts) if texts.iter().all(Value::is_string) => {
            texts.iter().map(field::written).collect()
        }
        gold => match cell() {
            Some(texts) => texts.into_iter().map(Cow::Owned).collect(),
            None => vec![field::written(gold)],
        },
    };
    if texts.is_empty() {
        let reason = "the list of expected answers is empty; add at least one";
        return Err(Unscored::because(reason));
    }
    Ok(texts)
}

fn same(
    strictness: DiffStrictness,
    language: Option<Language>,
    expected: &str,
    found: &str,
) -> Result<Comparison, Unscored> {
    let same = match strictness {
        DiffStrictness::Exact => expected == found,
        // Strings that differ only in whitespace have the same meaning. For all other strings, a judge decides.
        DiffStrictness::NormalizedWhitespace | DiffStrictness::Semantic => {
            expected.split_whitespace().eq(found.split_whitespace())
        }
        DiffStrictness::AstEquivalent => {
            let language = language.ok_or_else(|| Unscored::because(NO_LANGUAGE))?;
            return language.compare(expected, found).map_err(Unscored::because);
        }
    };
    Ok(match same {
        true => Comparison::Same,
        false => Comparison::Different,
    })
}

pub(super) const NO_LANGUAGE: &str = "`ast_equivalent` requires a language; set `language`";

/// The maximum number of lines in a diff.
const MAX_LINES: usize = 60;

/// Returns the differing lines with two lines of context, like `diff -u`.
fn line_diff(expected: &str, found: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(std::time::Duration::from_millis(200))
        .diff_lines(expected, found);
    let mut lines = vec!["--- expected".to_owned(), "+++ answer".to_owned()];
    for group in diff.grouped_ops(2) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value().trim_end_matches('\n');
            let line: String = line.chars().take(400).collect();
            lines.push(format!("{}{line}", change.tag()));
        }
    }
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("... {more} more lines"));
    }
    lines.join("\n")
}
