//! Explanations of the metrics of retrieval-augmented generation: expected and found labels, entities and contexts that are
//! missing.
#![allow(
    clippy::needless_pass_by_value,
    reason = "an explanation takes the parameters of its metric function"
)]

use std::borrow::Cow;
use std::collections::HashSet;

use super::{counted, joined, labelled};
use crate::messages::escape::quoted;
use crate::metrics::StrOrList;
use crate::metrics::rag::{listed, resembling, texts};
use crate::retrieval::{Relevant, Retrieved};
use crate::text::EntityCounts;

pub(in crate::metrics) fn expected_and_found(expected: &str, found: &str) -> String {
    format!(
        "expected {}, found {}",
        quoted(expected.trim()),
        quoted(found.trim())
    )
}

pub(in crate::metrics) fn entity_f1(
    expected_entities: StrOrList<'_>,
    entities: StrOrList<'_>,
    similarity: f64,
    distinct: bool,
    _: f64,
) -> String {
    let (expected, predicted) = (listed(&expected_entities), listed(&entities));
    let counts = match distinct {
        true => EntityCounts::of_distinct(&predicted, &expected, similarity),
        false => EntityCounts::of(&predicted, &expected, similarity),
    };
    let [missing, unexpected] =
        EntityCounts::unmatched(&predicted, &expected, similarity, distinct);
    let expected = usize::try_from(counts.expected).unwrap_or(usize::MAX);
    let entities = if expected == 1 { "entity" } else { "entities" };
    joined([
        format!("{} of {expected} expected {entities} found", counts.found),
        labelled("missing", &missing),
        labelled("unexpected", &unexpected),
    ])
}

pub(in crate::metrics) fn entity_type_accuracy(
    expected_entity_type: Option<&str>,
    entity_type: Option<&str>,
    missing: &str,
    _: f64,
) -> String {
    let of = |given: Option<&str>| match given {
        Some(given) => quoted(given),
        None => format!("{} (no type)", quoted(missing)),
    };
    format!(
        "expected {}, found {}",
        of(expected_entity_type),
        of(entity_type)
    )
}

/// A failure has its reason.
pub(in crate::metrics) fn answer_present(
    answer: Option<StrOrList<'_>>,
    score: f64,
) -> Option<String> {
    let characters = answer?
        .iter()
        .map(|answer| answer.trim().chars().count())
        .sum();
    (score > 0.0).then(|| format!("the answer has {}", counted(characters, "character")))
}

/// A failure has its reason.
pub(in crate::metrics) fn sources_used(
    sources_used: Option<StrOrList<'_>>,
    score: f64,
) -> Option<String> {
    let sources = sources_used?;
    let named: Vec<_> = sources
        .iter()
        .filter(|source| !source.trim().is_empty())
        .collect();
    (score > 0.0).then(|| labelled("sources", &named))
}

/// Relevant contexts that were retrieved, and those that were not, by id.
pub(in crate::metrics) fn by_id(relevant: &Relevant<'_>, retrieved: &Retrieved<'_>) -> String {
    let distinct: HashSet<&str> = retrieved.iter().collect();
    let ids = relevant.ids();
    let (found, missing): (Vec<&str>, Vec<&str>) =
        ids.iter().partition(|id| distinct.contains(*id));
    joined([
        format!(
            "{} of {} among {} retrieved",
            found.len(),
            counted(ids.len(), "relevant context"),
            distinct.len()
        ),
        labelled("not found", &missing),
    ])
}

pub(in crate::metrics) fn precision_by_distance(
    reference: StrOrList<'_>,
    retrieved: StrOrList<'_>,
    similarity: f64,
    _: f64,
) -> String {
    let words = ["retrieved context", "relevant", "not relevant"];
    by_distance([&retrieved, &reference], similarity, words)
}

pub(in crate::metrics) fn recall_by_distance(
    reference: StrOrList<'_>,
    retrieved: StrOrList<'_>,
    similarity: f64,
    _: f64,
) -> String {
    by_distance(
        [&reference, &retrieved],
        similarity,
        ["reference context", "retrieved", "not found"],
    )
}

/// The number of contexts that resemble one of the others, and the contexts that do not.
fn by_distance(
    [contexts, others]: [&StrOrList<'_>; 2],
    similarity: f64,
    [noun, found, missing]: [&str; 3],
) -> String {
    let [contexts, others] = [texts(contexts), texts(others)];
    let unlike = unlike(&contexts, &others, similarity);
    let all = counted(contexts.len(), noun);
    joined([
        format!("{} of {all} {found}", contexts.len() - unlike.len()),
        labelled(missing, &unlike),
    ])
}

/// Returns the strings that do not resemble any of the others.
fn unlike<'a>(
    texts: &'a [Cow<'a, str>],
    others: &'a [Cow<'a, str>],
    similarity: f64,
) -> Vec<&'a str> {
    let pairs = texts.iter().zip(resembling(texts, others, similarity));
    pairs
        .filter(|(_, is_like)| !is_like)
        .map(|(text, _)| &**text)
        .collect()
}
