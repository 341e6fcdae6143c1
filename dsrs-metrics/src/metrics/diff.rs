//! Whether an answer is the expected one, by letters, by words or by syntax tree.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::check::{Check, Unscored};
use super::field;
use crate::metric;
use crate::row::{Example, Prediction};
use crate::spec::Side;
use crate::syntax::{Comparison, Language};

/// How much two texts may differ and still be the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DiffStrictness {
    /// Not at all: character by character.
    Exact,
    /// In white space: a run of it is one space, and around the text it is nothing. `a b` is not `ab`.
    #[default]
    NormalizedWhitespace,
    /// In layout and comments: the syntax trees must be the same. Needs a language, and the feature `syntax`.
    AstEquivalent,
    // Equal in meaning, judged by a language model, is the next step; it stands here once there is a judge to ask.
}

/// Whether the answer equals the expected one, with a line diff in the feedback where it does not.
///
/// Passes or fails. Reads the text of `gold.answer` and `pred.answer`, or of the field that `field` names, on both sides; a gold list
/// holds texts of which any will do, and the diff is with the first. `ast_equivalent` compares syntax trees in the
/// given `language` (`rust`, `python`, `javascript`, `typescript`, `json`, `sql`, `bash`), by the rules of
/// [`Language::compare`]; an answer that does not parse fails, an expected one that does not is an error.
///
/// ```
/// use dsrs_metrics::metrics::{Diff, DiffStrictness};
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Diff::builder().strictness(DiffStrictness::NormalizedWhitespace).field("answer").build();
/// let gold = example! { "answer" => "one two\nthree" };
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => " one  two three\n" })?.value, 1.0);
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => "one twothree" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(tier = truth)]
pub fn diff(
    example: &Example,
    pred: &Prediction,
    /// How much may differ: `exact`, `normalized_whitespace` or `ast_equivalent`.
    #[param(default = DiffStrictness::NormalizedWhitespace)]
    strictness: DiffStrictness,
    /// The language of both sides, for `ast_equivalent`.
    #[param]
    language: Option<Language>,
    /// The field that is compared, on both sides.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    let expected = expected(field::value(&example.data, Side::Gold, field)?)?;
    let found = field::text(&pred.data, Side::Pred, field)?;
    let mut broken = None;
    for text in &expected {
        match same(strictness, language, text, &found)? {
            Same::Yes => return Ok(Check::pass()),
            Same::No => {}
            Same::Broken(fault) => broken = Some(fault),
        }
    }
    let lines = readable(&expected[0], &found);
    Ok(Check::fail(match broken {
        Some(fault) => format!("the answer does not parse: {fault}\n{lines}"),
        None => lines,
    }))
}

fn expected(gold: &Value) -> Result<Vec<Cow<'_, str>>, Unscored> {
    match gold {
        Value::Array(texts) if texts.is_empty() => {
            Err(Unscored::because("the list of expected answers is empty: give at least one"))
        }
        Value::Array(texts) if texts.iter().all(Value::is_string) => {
            Ok(texts.iter().map(field::written).collect())
        }
        one => Ok(vec![field::written(one)]),
    }
}

enum Same {
    Yes,
    No,
    Broken(String),
}

fn same(
    strictness: DiffStrictness,
    language: Option<Language>,
    expected: &str,
    found: &str,
) -> Result<Same, Unscored> {
    let same = match strictness {
        DiffStrictness::Exact => expected == found,
        DiffStrictness::NormalizedWhitespace => {
            expected.split_whitespace().eq(found.split_whitespace())
        }
        DiffStrictness::AstEquivalent => {
            let language = language.ok_or_else(no_language)?;
            return same_tree(language, expected, found);
        }
    };
    Ok(if same { Same::Yes } else { Same::No })
}

fn no_language() -> Unscored {
    Unscored::because("`ast_equivalent` needs to know the language: set `language`")
}

fn same_tree(language: Language, expected: &str, found: &str) -> Result<Same, Unscored> {
    match language.compare(expected, found).map_err(Unscored::because)? {
        Comparison::Same => Ok(Same::Yes),
        Comparison::Different => Ok(Same::No),
        Comparison::RightBroken(fault) => Ok(Same::Broken(fault.to_string())),
        Comparison::LeftBroken(fault) => {
            Err(Unscored::Because(format!("the expected answer does not parse: {fault}")))
        }
    }
}

/// How many lines of a diff are shown.
const SHOWN: usize = 60;

/// The lines that differ, each with its neighbours, as `diff -u` has them.
fn readable(expected: &str, found: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(std::time::Duration::from_millis(200))
        .diff_lines(expected, found);
    let mut lines = vec!["--- expected".to_owned(), "+++ answer".to_owned()];
    for group in diff.grouped_ops(2) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line: String = change.value().trim_end_matches('\n').chars().take(400).collect();
            lines.push(format!("{sign}{line}"));
        }
    }
    if lines.len() > SHOWN {
        let more = lines.len() - SHOWN;
        lines.truncate(SHOWN);
        lines.push(format!("... {more} lines more"));
    }
    lines.join("\n")
}
