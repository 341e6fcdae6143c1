//! Explanations of the metrics that search an output: the expected and the found strings.
#![allow(
    clippy::needless_pass_by_value,
    reason = "an explanation takes the parameters of its metric function"
)]

use super::{any_of, list};
use crate::messages::escape::quoted;
use crate::metrics::answers::StrOrList;
use crate::metrics::matching::{StringSearch, expected_labels, values_or};
use crate::syntax::RegexPattern;
use crate::text::{Location, Searchable, selected_choices};

pub(in crate::metrics) fn includes(
    answer: StrOrList<'_>,
    prediction: &str,
    case_sensitive: bool,
    whole_words: bool,
    score: f64,
) -> String {
    let output = Searchable::new(prediction, case_sensitive, whole_words);
    match answer
        .iter()
        .find(|answer| score > 0.0 && output.contains(answer))
    {
        Some(found) => format!("the output includes {}", quoted(found)),
        None => format!("expected {} in {}", any_of(&answer), quoted(prediction)),
    }
}

pub(in crate::metrics) fn matches(
    answer: &StrOrList<'_>,
    prediction: &str,
    location: Location,
    score: f64,
) -> String {
    let place = match location {
        Location::Begin => "at the beginning of",
        Location::End => "at the end of",
        Location::Any => "in",
        Location::Exact => "as the whole of",
    };
    let verb = if score > 0.0 { "found" } else { "expected" };
    format!("{verb} {} {place} {}", any_of(answer), quoted(prediction))
}

pub(in crate::metrics) fn one_of(
    answer: StrOrList<'_>,
    text: &str,
    values: &[String],
    _: bool,
    _: &str,
    score: f64,
) -> String {
    let accepted = values_or(values, &answer).unwrap_or_default();
    match score > 0.0 {
        true => format!("{} is one of the accepted strings", quoted(text.trim())),
        false => format!(
            "expected {}, found {}",
            any_of(&accepted),
            quoted(text.trim())
        ),
    }
}

pub(in crate::metrics) fn contains_all(
    answer: StrOrList<'_>,
    text: &str,
    values: &[String],
    search: &StringSearch,
    _: &str,
    score: f64,
) -> String {
    let text = search.of(text);
    let searched = values_or(values, &answer).unwrap_or_default();
    let missing: Vec<&str> = searched
        .iter()
        .copied()
        .filter(|value| !text.contains(value))
        .collect();
    match score > 0.0 {
        true => format!("the output contains {}", list(&searched)),
        false => format!("missing: {}", list(&missing)),
    }
}

pub(in crate::metrics) fn contains_any(
    answer: StrOrList<'_>,
    text: &str,
    values: &[String],
    search: &StringSearch,
    _: &str,
    score: f64,
) -> String {
    let found = search.of(text);
    let searched = values_or(values, &answer).unwrap_or_default();
    match searched
        .iter()
        .find(|value| score > 0.0 && found.contains(value))
    {
        Some(found) => format!("the output contains {}", quoted(found)),
        None => format!("expected {} in {}", any_of(&searched), quoted(text)),
    }
}

pub(in crate::metrics) fn pattern(
    answer: StrOrList<'_>,
    prediction: &str,
    pattern: &RegexPattern,
    case_sensitive: bool,
    match_all: bool,
    score: f64,
) -> String {
    let Ok(Some(groups)) = pattern.captures(prediction, case_sensitive) else {
        return format!("the pattern does not match {}", quoted(prediction));
    };
    let extracted: Vec<&str> = groups.into_iter().flatten().collect();
    let scope = if match_all { "each to be " } else { "" };
    match (extracted.is_empty(), score > 0.0) {
        (true, _) => "the pattern matches, but none of its groups does".to_owned(),
        (_, true) => format!("extracted {}", list(&extracted)),
        (_, false) => {
            format!(
                "extracted {}, expected {scope}{}",
                list(&extracted),
                any_of(&answer)
            )
        }
    }
}

pub(in crate::metrics) fn choice(
    answer: StrOrList<'_>,
    choices: &[String],
    prediction: &str,
    _: f64,
) -> String {
    let expected = expected_labels(&answer, choices)
        .unwrap_or_default()
        .join(", ");
    match selected_choices(prediction, choices) {
        none if none.is_empty() => {
            format!(
                "expected {expected}, found no choice in {}",
                quoted(prediction)
            )
        }
        found => format!("expected {expected}, found {}", found.join(", ")),
    }
}
