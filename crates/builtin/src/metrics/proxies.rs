//! Cheap checks that need no gold answer: format, keywords, length and syntax. They are free and take microseconds.
//!
//! Each metric reads the prediction's field that the `field` parameter names (`answer` by default); `field = "*"` reads
//! the whole prediction as JSON. Values other than strings are converted to JSON, and `null` to the empty string; a
//! value nested deeper than 128 levels is an error. A configured metric's spec names the field that it reads. Rows that
//! derive `Record` work too. But because the parameter can name any field, a missing field is detected only at run
//! time.
//!
//! The file is long because each metric has its rules, a reference and an example. The code itself is short.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::de::IgnoredAny;

use crate::contract::{Check, FeedbackMetric, Unscored};
use crate::metric;
use crate::metrics::explained::{joined, labelled};
use crate::metrics::inputs::LanguageSetting;
use crate::syntax::{BalanceOptions, check_balance};
use crate::text::{Searchable, count_tokens, count_words};

/// Passes if the output has the required format.
///
/// By default, the output must not be empty. You can also require valid JSON and certain fields.
///
/// The result is pass or fail, and the feedback names the violation.
///
/// The metric reads `pred.answer` as a string. Set `field` to a different field, or to `*` to read the whole prediction
/// as JSON.
///
/// An output of only whitespace counts as empty. JSON must follow RFC 8259, so comments, trailing commas and a
/// surrounding code fence are invalid.
///
/// ```
/// use dsrs_metrics::metrics::Format;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Format::builder().require_non_empty(true).require_valid_json(true).field("answer").build();
/// assert_eq!(metric.score(&example! {}, &prediction! { "answer" => "{\"a\": [1, 2]}" })?.value, 1.0);
/// assert_eq!(metric.score(&example! {}, &prediction! { "answer" => "{\"a\": [1, 2}" })?.value, 0.0);
///
/// let metric = Format::builder().required_fields(["name", "age"]).build();
/// assert_eq!(metric.score(&example! {}, &prediction! { "answer" => "{\"name\": \"Ada\"}" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |_, _, _, _, _, score| (score > 0.0).then_some("the output has the required format"))]
pub fn format(
    #[pred(named_by = field)] text: &str,
    /// `true` if an empty output fails.
    #[param(default = true)]
    require_non_empty: bool,
    /// `true` if an output that is not valid JSON fails.
    #[param(default = false)]
    require_valid_json: bool,
    /// The fields that the output must have. If any are set, the output must be a JSON object.
    #[param(default)]
    required_fields: &[String],
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    let empty = text.trim().is_empty();
    if empty && require_non_empty {
        return Ok(Check::fail("the output is empty"));
    }
    let json = require_valid_json.then(|| json_error(text)).flatten();
    let failure = json.or_else(|| missing_fields(text, required_fields));
    Ok(Check::unless(failure))
}

fn json_error(text: &str) -> Option<String> {
    // Ignored values are parsed without recursion, so they can be nested arbitrarily deep.
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    Some(format!("the output is not valid JSON: {error}"))
}

fn missing_fields(text: &str, fields: &[String]) -> Option<String> {
    if fields.is_empty() {
        return None;
    }
    let object = match serde_json::from_str::<HashMap<Cow<'_, str>, IgnoredAny>>(text) {
        Ok(object) => object,
        Err(error) => return Some(format!("the output is not a JSON object: {error}")),
    };
    let fields = fields.iter().map(String::as_str);
    let missing: Vec<&str> = fields
        .filter(|field| !object.contains_key(*field))
        .collect();
    (!missing.is_empty()).then(|| format!("the output lacks the fields `{}`", missing.join("`, `")))
}

/// Scores the fraction of the required keywords that the output contains.
///
/// The score is 0 if the output contains a forbidden keyword.
///
/// The score is in [0, 1], and 1 is a pass. Without `partial_credit`, a score below 1 becomes 0.
///
/// The metric reads `pred.answer` as a string. Set `field` to a different field, or to `*` to read the whole prediction
/// as JSON.
///
/// Strings are compared after Unicode normalization (NFC). Unless you set `case_sensitive`, they are also case-folded,
/// so "STRASSE" equals "straße".
///
/// If you set `whole_words`, a keyword does not match inside a longer word. For example, "TODO" does not match "TODOS".
///
/// You must configure at least one keyword, and keywords must not be empty. Otherwise, the run fails before the first
/// row.
///
/// ```
/// use dsrs_metrics::metrics::Keyword;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric =
///     Keyword::builder().required(["function", "return"]).forbidden(["TODO", "FIXME"]).field("code").build();
/// let score = |code: &str| metric.score(&example! {}, &prediction! { "code" => code });
/// assert_eq!(score("function f() { return 1 }")?.value, 1.0);
/// assert_eq!(score("function f() {}")?.value, 0.5);
/// assert_eq!(score("function f() { return 1 } // TODO")?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, threshold = 1.0, missing = 0.0)]
pub fn keyword(
    #[pred(named_by = field)] text: &str,
    /// Keywords that the output must contain.
    #[param(default)]
    required: &[String],
    /// Keywords that the output must not contain.
    #[param(default)]
    forbidden: &[String],
    /// `true` to score the fraction of required keywords found. Otherwise, a score below 1 becomes 0.
    #[param(default = true)]
    partial_credit: bool,
    /// `true` if the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// `true` if a keyword matches only whole words.
    #[param(default = false)]
    whole_words: bool,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<FeedbackMetric, Unscored> {
    validate(required, forbidden).map_err(Unscored::Because)?;
    let text = Searchable::new(text, case_sensitive, whole_words);
    let found = forbidden.iter().filter(|word| text.contains(word));
    let found: Vec<&String> = found.collect();
    let missing = required.iter().filter(|word| !text.contains(word));
    let missing: Vec<&String> = missing.collect();
    let feedback = match missing.is_empty() && found.is_empty() {
        true => "all required keywords are present and no forbidden one is".to_owned(),
        false => joined([labelled("forbidden", &found), labelled("missing", &missing)]),
    };
    // Lists of keywords are short, so their lengths are exact in a float.
    let value = match (found.is_empty(), missing.len()) {
        (true, 0) => 1.0,
        (true, lacking) if partial_credit => {
            (required.len() - lacking) as f64 / required.len() as f64
        }
        _ => 0.0,
    };
    Ok(FeedbackMetric::new(value, feedback))
}

fn validate(required: &[String], forbidden: &[String]) -> Result<(), String> {
    if required.is_empty() && forbidden.is_empty() {
        return Err("no keywords are configured; set `required`, `forbidden` or both".to_owned());
    }
    match required.iter().chain(forbidden).any(String::is_empty) {
        true => Err("an empty keyword matches every output; remove it".to_owned()),
        false => Ok(()),
    }
}

/// Scores 1 if the output's length is within the given bounds.
///
/// A length outside the bounds gets partial credit.
///
/// The score is in [0, 1], and 1 is a pass. Without `partial_credit`, a score below 1 becomes 0.
///
/// A length below a minimum scores `length / minimum`. A length above a maximum scores `maximum / length`. If the
/// output violates several bounds, the lowest of these scores counts.
///
/// The metric reads `pred.answer` as a string. Set `field` to a different field, or to `*` to read the whole prediction
/// as JSON.
///
/// Characters are Unicode scalar values, as in Python's `len`. [`count_words`] counts the words, and [`count_tokens`]
/// approximates the number of tokens.
///
/// If you set no bound, the minimum is one character. If a minimum is above its maximum, the run fails before the first
/// row.
///
/// ```
/// use dsrs_metrics::metrics::Length;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Length::builder().min_chars(4).max_chars(8).field("summary").build();
/// let score = |text: &str| metric.score(&example! {}, &prediction! { "summary" => text });
/// assert_eq!(score("東京都です")?.value, 1.0);
/// assert_eq!(score("ja")?.value, 0.5);
/// assert_eq!(score("sixteen letters!")?.value, 0.5);
/// assert_eq!(Length::default().score(&example! {}, &prediction! { "answer" => "Paris" })?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, threshold = 1.0, missing = 0.0)]
#[expect(clippy::too_many_arguments, reason = "two bounds per unit")]
pub fn length(
    #[pred(named_by = field)] text: &str,
    /// The minimum number of characters.
    #[param]
    min_chars: Option<u64>,
    /// The maximum number of characters.
    #[param]
    max_chars: Option<u64>,
    /// The minimum number of words.
    #[param]
    min_words: Option<u64>,
    /// The maximum number of words.
    #[param]
    max_words: Option<u64>,
    /// The minimum number of tokens.
    #[param]
    min_tokens: Option<u64>,
    /// The maximum number of tokens.
    #[param]
    max_tokens: Option<u64>,
    /// `true` to give partial credit to a length outside the bounds.
    #[param(default = true)]
    partial_credit: bool,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<FeedbackMetric, Unscored> {
    let (chars, words) = ([min_chars, max_chars], [min_words, max_words]);
    let bounds = bounds(chars, words, [min_tokens, max_tokens]);
    validate_bounds(&bounds).map_err(Unscored::Because)?;
    let set = bounds.iter().filter(|(.., bounds)| *bounds != [None; 2]);
    let scores = set.map(|bounds| within_bounds(text, bounds));
    let lowest = scores.reduce(|lowest, next| if next.0 < lowest.0 { next } else { lowest });
    let (score, feedback) = lowest.unwrap_or((1.0, String::new()));
    let is_counted = partial_credit || score >= 1.0;
    Ok(FeedbackMetric::new(
        if is_counted { score } else { 0.0 },
        feedback,
    ))
}

/// Returns the minimum and maximum for each unit. If none is set, the minimum is one character.
fn bounds(
    chars: [Option<u64>; 2],
    words: [Option<u64>; 2],
    tokens: [Option<u64>; 2],
) -> [Bounds; 3] {
    let unbounded = [chars, words, tokens].iter().flatten().all(Option::is_none);
    let chars = if unbounded { [Some(1), None] } else { chars };
    [
        ("characters", |text| text.chars().count(), chars),
        ("words", count_words, words),
        ("tokens", count_tokens, tokens),
    ]
}

/// A unit, its counting function, and the minimum and maximum.
type Bounds = (&'static str, fn(&str) -> usize, [Option<u64>; 2]);

/// Returns the score in [0, 1] and the feedback.
// A float represents string lengths exactly.
fn within_bounds(text: &str, (unit, count, bounds): &Bounds) -> (f64, String) {
    let found = count(text) as u64;
    let (share, expected) = match *bounds {
        [Some(min), _] if found < min => (found as f64 / min as f64, format!("at least {min}")),
        [_, Some(max)] if found > max => (max as f64 / found as f64, format!("at most {max}")),
        _ => return (1.0, format!("{found} {unit}")),
    };
    (share, format!("expected {expected} {unit}, found {found}"))
}

fn validate_bounds(bounds: &[Bounds]) -> Result<(), String> {
    for (unit, _, bounds) in bounds {
        if let [Some(min), Some(max)] = bounds
            && min > max
        {
            return Err(format!(
                "the minimum of {min} {unit} exceeds the maximum of {max}"
            ));
        }
    }
    Ok(())
}

/// Passes if the output's syntax is valid.
///
/// If you set no language, the metric checks that brackets and quotes are balanced. If you set one, it checks that the
/// code parses without error.
///
/// The result is pass or fail, and the feedback shows the first error and its position.
///
/// The language can be `rust`, `python`, `javascript`, `typescript`, `json`, `sql` or `bash`. It requires the `syntax`
/// feature.
///
/// If no language is set, brackets in strings and comments are ignored; see [`check_balance`]. If you set no language
/// and disable both checks, the run fails before the first row.
///
/// The metric reads `pred.answer` as a string. Set `field` to a different field, or to `*` to read the whole prediction
/// as JSON.
///
/// If no language is set, an empty string passes. To reject empty strings, use [`Format`].
///
/// ```
/// use dsrs_metrics::metrics::Syntax;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Syntax::builder().check_balanced_brackets(true).check_balanced_quotes(true).build();
/// let score = |code: &str| metric.score(&example! {}, &prediction! { "answer" => code });
/// assert_eq!(score("f(\"a)\") // :)")?.value, 1.0);
/// assert_eq!(score("f(a]")?.value, 0.0);
///
/// let rust = Syntax::builder().language("rust").build();
/// assert_eq!(rust.language.language(), Ok(Some(dsrs_metrics::syntax::Language::Rust)));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |_, _, _, _, _, score| (score > 0.0).then_some("the syntax is valid"))]
pub fn syntax(
    #[pred(named_by = field)] text: &str,
    /// `true` to check that `()`, `[]` and `{}` match.
    #[param(default = true)]
    check_balanced_brackets: bool,
    /// `true` to check that strings in `"` or `'` quotes are closed.
    #[param(default = true)]
    check_balanced_quotes: bool,
    /// The language of the code. If set, a parser checks the code, and brackets and quotes are not checked.
    #[param(default, into)]
    language: &LanguageSetting,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    let error = match language.language().map_err(Unscored::Because)? {
        Some(language) => language.first_error(text).map_err(Unscored::because)?,
        None => {
            let (brackets, quotes) = (check_balanced_brackets, check_balanced_quotes);
            check_balance(text, BalanceOptions { brackets, quotes })
        }
    };
    Ok(Check::unless(error.map(|error| error.to_string())))
}

requires_valid! {
    Keyword: |metric| validate(&metric.required, &metric.forbidden);
    Length: |it| validate_bounds(&bounds(
        [it.min_chars, it.max_chars],
        [it.min_words, it.max_words],
        [it.min_tokens, it.max_tokens],
    ));
    Syntax: |metric| metric.language.parser().and_then(|parser| {
        let is_checked = metric.check_balanced_brackets || metric.check_balanced_quotes;
        match parser.is_some() || is_checked {
            true => Ok(()),
            false => Err(NOTHING_TO_CHECK.to_owned()),
        }
    });
}

const NOTHING_TO_CHECK: &str = "nothing to check, so every output would pass; set `check_balanced_brackets`, `check_balanced_quotes` or `language`";
