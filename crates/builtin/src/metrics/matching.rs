//! Metrics that search an output for reference answers, strings or patterns. They have the same names as in
//! `inspect_ai` and `promptfoo`.
//!
//! `docs/metrics.md` lists these names, and how the metrics differ.
//!
//! The file is long because each metric has its rules, a reference and an example. The code itself is short.

use crate::contract::{Check, Unscored};
use crate::json::shown;
use crate::messages::escape::quoted;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::{any_of, expected_and_found, labelled, list};
use crate::metrics::proxies::format;
use crate::syntax::RegexPattern;
use crate::text::{Location, MatchOptions, Searchable, selected_choices};
use crate::{ParamGroup, metric};

/// Checks the strings to search for, which come from a row or a configuration.
///
/// # Errors
/// Returns an error if the list is empty or contains an empty string.
fn searched<T: AsRef<str>>(strings: &[T], of: &str) -> Result<(), String> {
    let is_blank = |string: &T| string.as_ref().trim().is_empty();
    match strings.iter().any(is_blank) {
        _ if strings.is_empty() => Err(format!("expected at least one string in {of}, found none")),
        true => Err(format!(
            "expected a non-empty string in {of}, found {:?}",
            ""
        )),
        false => Ok(()),
    }
}

/// Passes if the output includes one of the reference answers.
///
/// This metric is equivalent to inspect's `includes` and promptfoo's `icontains`.
///
/// To match only whole words, set `whole_words`. For example, "25" then does not include "5".
///
/// ```
/// use dsrs_metrics::metrics::Includes;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => ["Paris", "Paname"] };
/// let pred = prediction! { "answer" => "It is PARIS, of course." };
/// assert_eq!(Includes::default().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |answer, prediction, _, _, score| {
    explain_place(&answer, "in", prediction, score)
})]
pub fn includes(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// `true` if the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// `true` if a reference answer matches only whole words and numbers.
    #[param(default = false)]
    whole_words: bool,
) -> Result<bool, String> {
    searched(&answer, "`gold.answer`")?;
    let output = Searchable::new(prediction, case_sensitive, whole_words);
    Ok(answer.iter().any(|answer| output.contains(answer)))
}

/// Passes if the output matches one of the reference answers.
///
/// The output can begin with, end with, contain or equal the reference answer. Set `location` to choose.
///
/// This metric is equivalent to inspect's `match`.
///
/// Whitespace and punctuation around both strings are ignored; see [`trim_punctuation`](crate::text::trim_punctuation).
///
/// If you set `numeric`, reference answers that are numbers are compared by value. With `location = begin`, the
/// output's first number must equal the reference. With `end`, its last number must.
///
/// With `any`, one of the output's numbers must equal the reference. With `exact`, the whole output must be the number.
///
/// To allow a tolerance, use `numeric_match`.
///
/// ```
/// use dsrs_metrics::metrics::Matches;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::text::Location;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "5" }, prediction! { "answer" => "The answer is 25." });
/// assert_eq!(Matches::default().score(&gold, &pred)?.value, 0.0);
///
/// let numeric = Matches::builder().numeric(true).location(Location::Any).build();
/// let gold = example! { "answer" => "1300" };
/// let pred = prediction! { "answer" => "She earns $1,300.00 in 4 days" };
/// assert_eq!(numeric.score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |answer, prediction, location, _, _, _, score| {
    let place = match location {
        Location::Begin => "at the beginning of",
        Location::End => "at the end of",
        Location::Any => "in",
        Location::Exact => "as the whole of",
    };
    explain_place(&answer, place, prediction, score)
})]
pub fn matches(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// Where the output must contain the reference answer: `begin`, `end`, `any` or `exact`.
    #[param(default = Location::End)]
    location: Location,
    /// `true` if the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// `true` if a reference answer matches only whole words and numbers.
    #[param(default = true)]
    whole_words: bool,
    /// `true` if reference answers that are numbers are compared by value.
    #[param(default = false)]
    numeric: bool,
) -> Result<bool, String> {
    searched(&answer, "`gold.answer`")?;
    let options = MatchOptions {
        location,
        case_sensitive,
        whole_words,
        numeric,
    };
    let mut answers = answer.iter();
    Ok(answers.any(|answer| options.matches(prediction, answer)))
}

/// Returns the configured strings to search for, or the strings of the gold row if none are configured.
///
/// # Errors
/// Returns an error if the list is empty or contains an empty string.
pub(in crate::metrics) fn values_or<'a>(
    values: &'a [String],
    answer: &'a StrOrList<'_>,
) -> Result<Vec<&'a str>, String> {
    if values.is_empty() {
        searched(answer, "the parameter `values` or in `gold.answer`")?;
        return Ok(answer.iter().map(AsRef::as_ref).collect());
    }
    valid(values)?;
    Ok(values.iter().map(String::as_str).collect())
}

fn valid(values: &[String]) -> Result<(), String> {
    match values {
        [] => Ok(()),
        values => searched(values, "`values`"),
    }
}

/// Passes if the output is one of the accepted strings.
///
/// Surrounding whitespace is ignored.
///
/// Use this metric for a fixed set of labels. With one string, it is equivalent to promptfoo's `equals`.
///
/// To also ignore articles and punctuation, use `answer_exact_match` or `em`.
///
/// ```
/// use dsrs_metrics::metrics::OneOf;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = OneOf::builder().values(["positive", "negative", "neutral"]).field("label").build();
/// let score = |label: &str| metric.score(&example! {}, &prediction! { "label" => label });
/// assert_eq!((score("Neutral\n")?.value, score("mixed")?.value), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |answer, text, values, _, _, _| {
    expected_and_found(&values_or(values, &answer).unwrap_or_default(), text.trim())
})]
pub fn one_of(
    #[gold(default)] answer: StrOrList<'_>,
    #[pred(named_by = field)] text: &str,
    /// The accepted strings. If empty, the metric uses the strings of `gold.answer`.
    #[param(default)]
    values: &[String],
    /// `true` if the comparison is case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    let text = Searchable::new(text.trim(), case_sensitive, false);
    let values = values_or(values, &answer)?;
    Ok(values.iter().any(|value| text.equals(value.trim())))
}

/// Parameters for metrics that search the output for strings.
#[derive(Debug, Clone, ParamGroup)]
pub struct StringSearch {
    /// `true` if the comparison is case-sensitive.
    #[param(default = false)]
    pub case_sensitive: bool,
    /// `true` if a string matches only whole words and numbers.
    #[param(default = false)]
    pub whole_words: bool,
}

impl StringSearch {
    pub(in crate::metrics) fn of<'a>(&self, text: &'a str) -> Searchable<'a> {
        Searchable::new(text, self.case_sensitive, self.whole_words)
    }
}

/// Passes if the output contains all of the given strings.
///
/// This metric is equivalent to promptfoo's `icontains-all`, or `contains-all` if you set `case_sensitive`.
///
/// To score the fraction of strings found, or to forbid strings, use `keyword`.
///
/// ```
/// use dsrs_metrics::metrics::ContainsAll;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "answer" => ["Paris", "Seine"] };
/// let pred = prediction! { "answer" => "Paris lies on the Seine." };
/// assert_eq!(ContainsAll::default().score(&gold, &pred)?.value, 1.0);
/// let metric = ContainsAll::builder().values(["Paris", "Loire"]).build();
/// assert_eq!(metric.score(&gold, &pred)?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |answer, text, values, search, _, score| {
    let mut searched = values_or(values, &answer).unwrap_or_default();
    searched.retain(|value| score > 0.0 || !search.of(text).contains(value));
    let label = if score > 0.0 { "contains" } else { "missing" };
    labelled(label, &searched)
})]
pub fn contains_all(
    #[gold(default)] answer: StrOrList<'_>,
    #[pred(named_by = field)] text: &str,
    /// The strings that the output must contain. If empty, the metric uses the strings of `gold.answer`.
    #[param(default)]
    values: &[String],
    #[param(flatten)] search: &StringSearch,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    let text = search.of(text);
    let values = values_or(values, &answer)?;
    Ok(values.iter().all(|value| text.contains(value)))
}

/// Passes if the output contains at least one of the given strings.
///
/// This metric is equivalent to promptfoo's `icontains-any`, or `contains-any` if you set `case_sensitive`.
///
/// ```
/// use dsrs_metrics::metrics::ContainsAny;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = ContainsAny::builder().values(["sorry", "cannot"]).whole_words(true).build();
/// let pred = prediction! { "answer" => "Sorry, no." };
/// assert_eq!(metric.score(&example! {}, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |answer, text, values, _, _, score| {
    let searched = values_or(values, &answer).unwrap_or_default();
    explain_place(&searched, "in", text, score)
})]
pub fn contains_any(
    #[gold(default)] answer: StrOrList<'_>,
    #[pred(named_by = field)] text: &str,
    /// The strings to search for. The output must contain at least one of them. If empty, the metric uses the strings
    /// of `gold.answer`.
    #[param(default)]
    values: &[String],
    #[param(flatten)] search: &StringSearch,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    let text = search.of(text);
    let values = values_or(values, &answer)?;
    Ok(values.iter().any(|value| text.contains(value)))
}

/// Passes if the output is valid JSON.
///
/// This metric is equivalent to promptfoo's `is-json` without a schema. A value that is not a string is always valid.
///
/// To also check for required fields, use `format` with `require_valid_json`.
///
/// ```
/// use dsrs_metrics::metrics::IsJson;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let score = |answer: &str| IsJson::default().score(&example! {}, &prediction! { "answer" => answer });
/// assert_eq!((score("{\"a\": [1, 2]}")?.value, score("{'a': 1}")?.value), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |_, _, score| (score > 0.0).then_some("the output is valid JSON"))]
pub fn is_json(
    #[pred(named_by = field)] text: &str,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<Check, Unscored> {
    format(text, true, true, &[], field)
}

/// Passes if a regular expression extracts a reference answer from the output.
///
/// This metric is equivalent to inspect's `pattern`. Only the first match in the output is used.
///
/// One of the capture groups must equal a reference answer. If you set `match_all`, every capture group must equal a
/// reference answer. Groups that don't participate in the match are ignored.
///
/// If the expression has no groups, the whole match must equal a reference answer.
///
/// Expressions are compiled by the `regex` crate, so they match in linear time and don't support look-around. If the
/// expression is invalid, the run fails before the first row.
///
/// To find the last of several answers, use `(?s).*ANSWER: (\w)`.
///
/// ```
/// use dsrs_metrics::metrics::Pattern;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Pattern::builder().pattern(r"ANSWER:\s*(\w+)").build();
/// let gold = example! { "answer" => "yes" };
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => "I think so. Answer: YES." })?.value, 1.0);
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => "yes" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explain_pattern)]
pub fn pattern(
    #[gold] answer: StrOrList<'_>,
    #[pred("answer")] prediction: &str,
    /// The regular expression, with a capture group around the answer.
    #[param(into)]
    pattern: &RegexPattern,
    /// `true` if the expression and the comparison are case-sensitive.
    #[param(default = false)]
    case_sensitive: bool,
    /// `true` if every capture group must equal a reference answer. Otherwise, one group is enough.
    #[param(default = false)]
    match_all: bool,
) -> Result<bool, String> {
    searched(&answer, "`gold.answer`")?;
    let is_answer = |group: &str| {
        let group = Searchable::new(group.trim(), case_sensitive, false);
        answer.iter().any(|answer| group.equals(answer.trim()))
    };
    let groups = pattern.captures(prediction, case_sensitive)?;
    let mut groups = groups.into_iter().flatten().flatten().peekable();
    Ok(match match_all {
        true => groups.peek().is_some() && groups.all(is_answer),
        false => groups.any(is_answer),
    })
}

/// Passes if a regular expression matches anywhere in the output.
///
/// This metric is equivalent to promptfoo's `regex`.
///
/// The anchors `^` and `$` match the beginning and end of the whole output. To ignore case, start the expression with
/// `(?i)`.
///
/// Expressions are compiled by the `regex` crate, so they match in linear time and don't support look-around. If the
/// expression is invalid, the run fails before the first row.
///
/// ```
/// use dsrs_metrics::metrics::Regex;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Regex::builder().pattern(r"^\d{4}-\d{2}-\d{2}$").field("date").build();
/// let score = |date: &str| metric.score(&example! {}, &prediction! { "date" => date });
/// assert_eq!((score("2026-11-22")?.value, score("22 November")?.value), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |text, pattern, _, score| {
    let does = if score > 0.0 { "matches" } else { "does not match" };
    format!("{} {does} the pattern {}", quoted(text), quoted(pattern.as_str()))
})]
pub fn regex(
    #[pred(named_by = field)] text: &str,
    /// The regular expression.
    #[param(into)]
    pattern: &RegexPattern,
    /// The field of the prediction to check, or `*` for the whole prediction.
    #[param(default = "answer")]
    field: &str,
) -> Result<bool, String> {
    pattern.is_match(text, true)
}

requires_valid! {
    OneOf: |metric| valid(&metric.values);
    ContainsAll: |metric| valid(&metric.values);
    ContainsAny: |metric| valid(&metric.values);
    Pattern: |metric| metric.pattern.validate();
    Regex: |metric| metric.pattern.validate();
}

/// Passes if the output selects exactly the right choices of a multiple-choice question.
///
/// This metric is equivalent to inspect's `choice`. Choices are labelled with the letters A, B and so on, or with
/// numbers.
///
/// `gold.answer` contains the labels of the right choices (`"B"`, `"A,C"`, `["A", "C"]`).
///
/// The metric reads the text after the last `ANSWER:`, as in `ANSWER: B`. If there is none, it reads the start of the
/// output, as in "B", "(B) Paris" or "A and C". [`choice_labels`](crate::text::choice_labels) describes the rules.
///
/// If `gold.choices` contains the text of each choice, an answer can also be a choice's text. For example, if the
/// choices are 3, 1, 4 and 2, then "3" is choice A. [`selected_choices`] describes these rules.
///
/// If `gold.answer` contains a letter beyond the last choice, the row fails with an error. If the output contains such
/// a letter, the answer is wrong.
///
/// ```
/// use dsrs_metrics::metrics::Choice;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "choices" => ["Rome", "Paris"], "answer" => "B" };
/// let score = |answer: &str| Choice.score(&gold, &prediction! { "answer" => answer });
/// assert_eq!((score("Well ...\nANSWER: B")?.value, score("Paris")?.value), (1.0, 1.0));
/// assert_eq!((score("A")?.value, score("ANSWER: A, B")?.value), (0.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explain_choice)]
pub fn choice(
    #[gold] answer: StrOrList<'_>,
    #[gold(default = &[])] choices: &[String],
    #[pred("answer")] prediction: &str,
) -> Result<bool, String> {
    let expected = expected_labels(&answer, choices)?;
    Ok(selected_choices(prediction, choices) == expected)
}

/// Returns the labels of the right choices in sorted order.
///
/// # Errors
/// Returns an error if the gold answer is not a choice.
pub(in crate::metrics) fn expected_labels(
    answer: &StrOrList<'_>,
    choices: &[String],
) -> Result<Vec<String>, String> {
    let mut labels = Vec::new();
    for answer in answer.iter() {
        let selected = selected_choices(answer, choices);
        if selected.is_empty() {
            let known = match choices.len() {
                0 => String::new(),
                count => format!(" from the {count} in `gold.choices`"),
            };
            return Err(format!(
                "expected a choice{known}, such as `B`, in `gold.answer`, found {}",
                shown(answer)
            ));
        }
        labels.extend(selected);
    }
    labels.sort();
    labels.dedup();
    match labels.is_empty() {
        true => Err("expected a choice, such as `B`, in `gold.answer`, found none".to_owned()),
        false => Ok(labels),
    }
}

/// Says which strings were found or expected at this place in the output.
fn explain_place<T: AsRef<str>>(strings: &[T], place: &str, output: &str, score: f64) -> String {
    let verb = if score > 0.0 { "found" } else { "expected" };
    format!("{verb} {} {place} {}", any_of(strings), quoted(output))
}

fn explain_pattern(
    answer: StrOrList<'_>,
    prediction: &str,
    pattern: &RegexPattern,
    case_sensitive: bool,
    match_all: bool,
    _: f64,
) -> String {
    let Ok(Some(groups)) = pattern.captures(prediction, case_sensitive) else {
        return format!("the pattern does not match {}", quoted(prediction));
    };
    let extracted: Vec<&str> = groups.into_iter().flatten().collect();
    let scope = if match_all { "each to be " } else { "" };
    match extracted.is_empty() {
        true => "the pattern matches, but none of its groups does".to_owned(),
        false => {
            let (extracted, expected) = (list(&extracted), any_of(&answer));
            format!("extracted {extracted}, expected {scope}{expected}")
        }
    }
}

fn explain_choice(answer: StrOrList<'_>, choices: &[String], prediction: &str, _: f64) -> String {
    let expected = expected_labels(&answer, choices).unwrap_or_default();
    let expected = expected.join(", ");
    match selected_choices(prediction, choices) {
        none if none.is_empty() => {
            let prediction = quoted(prediction);
            format!("expected {expected}, found no choice in {prediction}")
        }
        found => format!("expected {expected}, found {}", found.join(", ")),
    }
}
