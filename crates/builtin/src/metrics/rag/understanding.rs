//! The metrics of the heritage document for intents and entities.

use crate::core::score::corpus::CorpusCounts;
use crate::core::score::return_types::WithCorpus;
use crate::metric;
use crate::text::{EntityCounts, NormalForm};

use crate::core::score::check::within;
use crate::core::score::corpus::record::CountFormula;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::{number, rag as explained};
use crate::metrics::input_limits::{bounded_comparisons, bounded_pairs};

/// Returns the form in which labels are compared: NFC, lower case, without white space at the ends.
fn label(text: &str) -> String {
    let lower = NormalForm::Nfc.apply(text.trim()).to_lowercase();
    NormalForm::Nfc.apply(&lower).into_owned()
}

/// Whether the predicted intent is the expected one, ignoring case and white space at the ends.
///
/// ```
/// use dsrs_metrics::metrics::IntentAccuracy;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "expected_intent" => "temporal" };
/// assert_eq!(IntentAccuracy.score(&gold, &prediction! { "intent" => " Temporal" })?.value, 1.0);
/// assert_eq!(IntentAccuracy.score(&gold, &prediction! { "intent" => "relational" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(explain = |expected, found, _| explained::expected_and_found(expected, found))]
pub fn intent_accuracy(#[gold] expected_intent: &str, #[pred(missing)] intent: &str) -> bool {
    label(expected_intent) == label(intent)
}

/// The document's pairs of intents that are easily confused.
fn related_intents() -> Vec<(String, String)> {
    [
        ("statistical", "exploration"),
        ("entity_lookup", "relational"),
        ("temporal", "entity_lookup"),
    ]
    .map(|(a, b)| (a.to_owned(), b.to_owned()))
    .into()
}

/// Intent accuracy with partial credit for related intents.
///
/// 1 for the same intent, `credit` for a pair of `related` in either order, 0 otherwise. Intents
/// are compared as in `intent_accuracy`.
///
/// ```
/// use dsrs_metrics::metrics::IntentAccuracyWithFallback;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "expected_intent" => "statistical" };
/// let pred = prediction! { "intent" => "Exploration" };
/// assert_eq!(IntentAccuracyWithFallback::default().score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = |expected, found, _, _, score| {
    let is_related = score > 0.0 && score < 1.0;
    let related = is_related.then(|| format!(", a related intent: {}", number(score)));
    explained::expected_and_found(expected, found) + &related.unwrap_or_default()
})]
pub fn intent_accuracy_with_fallback(
    #[gold] expected_intent: &str,
    #[pred(missing)] intent: &str,
    /// Pairs of related intents, as in `[["temporal", "entity_lookup"]]`.
    #[param(default = related_intents())]
    related: Vec<(String, String)>,
    /// The score of a related intent, in [0, 1].
    #[param(default = 0.5)]
    credit: f64,
) -> f64 {
    let (expected, intent) = (label(expected_intent), label(intent));
    if expected == intent {
        return 1.0;
    }
    let is_pair = |(a, b): &(String, String)| {
        let (a, b) = (label(a), label(b));
        (a == expected && b == intent) || (b == expected && a == intent)
    };
    if related.iter().any(is_pair) {
        credit
    } else {
        0.0
    }
}

requires_valid! {
    IntentAccuracyWithFallback: |metric| within("credit", metric.credit, [0.0, 1.0]);
}

/// F1 of the predicted entities, matched one to one with similar expected entities.
///
/// `2 found / (expected + predicted)`, where `found` is the size of a maximum matching of entities
/// whose similarity is at least `similarity`. This differs from the heritage document, which
/// searches each expected entity separately, so that one prediction can count for several. The
/// similarity is `rapidfuzz.fuzz.ratio / 100` of the names in lower case, in NFC, without white
/// space at their ends. The score is 1 if both lists are empty, 0 if one is. A string is a list
/// separated by commas, and repetitions count once, as in the document; `distinct = false` compares lists, in which
/// each repetition counts. The score of the corpus is the same formula over the sums of all rows
/// (micro F1). A row with more than 16 million pairs of entities, such as 4,001 × 4,001, or more
/// than 4,000 million pairs of their characters, is an error.
///
/// ```
/// use dsrs_metrics::metrics::EntityF1;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "expected_entities" => ["Rijksmuseum", "Rijksmuseums"] };
/// let pred = prediction! { "entities" => "rijksmuzeum" };
/// let metric = EntityF1::builder().similarity(0.85).build();
/// assert_eq!(metric.score(&gold, &pred)?.value, 2.0 / 3.0); // one found, of two and one
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, version = 2, explain = explained::entity_f1)]
pub fn entity_f1(
    #[gold] expected_entities: StrOrList<'_>,
    #[pred(missing)] entities: StrOrList<'_>,
    /// The lowest similarity, in [0, 1], of names of the same entity; 1 accepts equal names only.
    #[param(default = 0.8)]
    similarity: f64,
    /// Whether repetitions of an entity within a list count once, as in the document, or each.
    #[param(default = true)]
    distinct: bool,
) -> Result<WithCorpus<f64>, String> {
    let (expected, predicted) = (listed(&expected_entities), listed(&entities));
    let (ours, theirs) = (predicted.len(), expected.len());
    bounded_comparisons("entities", ours, theirs, "provide fewer entities")?;
    let characters = |side: &[&str]| side.iter().map(|entity| entity.chars().count()).sum();
    let (ours, theirs) = (characters(&predicted), characters(&expected));
    bounded_pairs(
        "characters of entities",
        ours,
        theirs,
        "provide fewer or shorter entities",
    )?;
    let counts = match distinct {
        true => EntityCounts::of_distinct(&predicted, &expected, similarity),
        false => EntityCounts::of(&predicted, &expected, similarity),
    };
    let sums = [counts.found, counts.expected, counts.predicted];
    Ok(WithCorpus::new(
        counts.f1(),
        CorpusCounts::new(sums, CountFormula::EntityF1),
    ))
}

requires_valid! {
    EntityF1: |metric| within("similarity", metric.similarity, [0.0, 1.0]);
}

/// Splits a string at commas; a list is returned unchanged.
pub(in crate::metrics) fn listed<'a>(entities: &'a StrOrList<'_>) -> Vec<&'a str> {
    match entities.as_one() {
        Some(text) => text.split(',').collect(),
        None => entities.iter().map(|entity| &**entity).collect(),
    }
}

/// Whether the entity's type is exactly the expected one.
///
/// A missing type is replaced by `missing`, which is `institution` in the document. If `missing` is
/// empty, a row without a type is an error. A prediction without a type is counted.
///
/// ```
/// use dsrs_metrics::metrics::EntityTypeAccuracy;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "expected_entity_type" => "person" };
/// let metric = EntityTypeAccuracy::default();
/// assert_eq!(metric.score(&gold, &prediction! { "entity_type" => "person" })?.value, 1.0);
/// assert_eq!(metric.score(&gold, &prediction! {})?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(explain = explained::entity_type_accuracy)]
pub fn entity_type_accuracy(
    #[gold] expected_entity_type: Option<&str>,
    #[pred(missing)] entity_type: Option<&str>,
    /// The type of an entity without one; empty if every entity must have a type.
    #[param(default = "institution")]
    missing: &str,
) -> Result<bool, String> {
    let or_missing = |given: Option<_>, field| match given {
        Some(given) => Ok(given),
        None if missing.is_empty() => Err(format!("`{field}` is missing, and `missing` is empty")),
        None => Ok(missing),
    };
    let expected = or_missing(expected_entity_type, "gold.expected_entity_type")?;
    Ok(expected == or_missing(entity_type, "pred.entity_type")?)
}
