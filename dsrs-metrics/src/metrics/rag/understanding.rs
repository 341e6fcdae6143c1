//! The metrics of the heritage document that compare intents and entities.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a field parameter is held for the call and passed on as it was read"
)]

use crate::core::corpus::{CorpusCounts, WithCorpus};
use crate::core::requirements::{Requirement, Requires};
use crate::metric;
use crate::text::{EntityCounts, NormalForm};

use crate::metrics::answers::StrOrList;
use crate::metrics::check::within;
use crate::metrics::input_limits::{bounded_comparisons, bounded_pairs};

/// A label as it is compared: without white space at its ends, in lower case, composed.
fn label(text: &str) -> String {
    let lower = NormalForm::Nfc.apply(text.trim()).to_lowercase();
    NormalForm::Nfc.apply(&lower).into_owned()
}

/// Whether the predicted intent is the expected one, but for case and white space at its ends.
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
#[metric]
pub fn intent_accuracy(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
    label(expected_intent) == label(intent)
}

/// The pairs of the document: intents that are easily taken for each other.
fn related_intents() -> Vec<(String, String)> {
    [("statistical", "exploration"), ("entity_lookup", "relational"), ("temporal", "entity_lookup")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .into()
}

/// Intent accuracy with partial credit where the predicted intent is related to the expected one.
///
/// 1 for the same intent, `credit` for a pair of `related` in either order, 0 otherwise. Intents are
/// compared as by `intent_accuracy`.
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
#[metric(range = 0.0..=1.0)]
pub fn intent_accuracy_with_fallback(
    #[gold] expected_intent: &str,
    #[pred] intent: &str,
    /// Pairs of intents that are related, as in `[["temporal", "entity_lookup"]]`.
    #[param(default = related_intents())]
    related: Vec<(String, String)>,
    /// What a related intent is worth, in [0, 1].
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
    if related.iter().any(is_pair) { credit } else { 0.0 }
}

impl Requires for IntentAccuracyWithFallback {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(Self::SPEC.name, within("credit", self.credit, [0.0, 1.0])));
    }
}

/// F1 of the predicted entities, matched with the expected ones by likeness, one to one.
///
/// `2 found / (expected + predicted)`, where `found` is the size of the largest set of pairs that are at
/// least `similarity` alike and share no entity. The heritage document's loop looks for each expected
/// entity alone, so there one prediction can be counted for several; that is the difference. Alike is
/// `rapidfuzz.fuzz.ratio / 100` of the names in lower case, in NFC, without white space at their ends.
/// Both lists empty: 1; one of them: 0. A text is a list separated by commas. The corpus's score is
/// the same formula over the sums of all rows (micro F1). More than 16 million pairs of entities, as 4,000 on
/// each side make, or 4,000 million of their characters are too many: such a row has no score.
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
#[metric(range = 0.0..=1.0)]
pub fn entity_f1(
    #[gold] expected_entities: StrOrList<'_>,
    #[pred] entities: StrOrList<'_>,
    /// From which likeness on, in [0, 1], two names mean the same entity; 1 takes equal ones only.
    #[param(default = 0.8)]
    similarity: f64,
    /// Whether an entity that a side repeats counts once, as in the document; otherwise each counts.
    #[param(default = false)]
    distinct: bool,
) -> Result<WithCorpus<f64>, String> {
    let (expected, predicted) = (listed(&expected_entities), listed(&entities));
    let (ours, theirs) = (predicted.len(), expected.len());
    bounded_comparisons("entities", ours, theirs, "give fewer of them")?;
    let characters = |side: &[&str]| side.iter().map(|entity| entity.chars().count()).sum();
    let (ours, theirs) = (characters(&predicted), characters(&expected));
    bounded_pairs("characters of entities", ours, theirs, "give fewer or shorter ones")?;
    let counts = match distinct {
        true => EntityCounts::of_distinct(&expected, &predicted, similarity),
        false => EntityCounts::of(&expected, &predicted, similarity),
    };
    let sums = [counts.found, counts.expected, counts.predicted];
    Ok(WithCorpus::new(counts.f1(), CorpusCounts::new(sums, micro_f1)))
}

impl Requires for EntityF1 {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(
            Self::SPEC.name,
            within("similarity", self.similarity, [0.0, 1.0]),
        ));
    }
}

fn micro_f1(counts: &[u64]) -> Option<f64> {
    let [found, expected, predicted] = *counts else { return None };
    Some(EntityCounts { found, expected, predicted }.f1())
}

/// A text is a list separated by commas; a list stays what it is.
fn listed<'a>(entities: &'a StrOrList<'_>) -> Vec<&'a str> {
    match entities.as_one() {
        Some(text) => text.split(',').collect(),
        None => entities.iter().map(|entity| &**entity).collect(),
    }
}

/// Whether the entity's type is the expected one, letter for letter.
///
/// Where a side has no type, `missing` stands for it, in the document `institution`; with an empty
/// `missing` a row without a type fails.
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
#[metric]
pub fn entity_type_accuracy(
    #[gold] expected_entity_type: Option<&str>,
    #[pred] entity_type: Option<&str>,
    /// The type of an entity that has none; empty if it must have one.
    #[param(default = "institution")]
    missing: &str,
) -> Result<bool, String> {
    let or_missing = |given: Option<_>, field| match given {
        Some(given) => Ok(given),
        None if missing.is_empty() => {
            Err(format!("there is no `{field}`, and no type for `missing`"))
        }
        None => Ok(missing),
    };
    let expected = or_missing(expected_entity_type, "gold.expected_entity_type")?;
    Ok(expected == or_missing(entity_type, "pred.entity_type")?)
}
