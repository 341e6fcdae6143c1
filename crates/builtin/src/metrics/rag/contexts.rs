//! Precision and recall of retrieved contexts without a model: by ids, and by the distance of their texts.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::core::score::check::within;
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::rag as explained;
use crate::metrics::input_limits::{bounded_comparisons, bounded_pairs};
use crate::retrieval::{Relevant, Retrieved, average_precision};
use crate::text::{EditDistance, NormalForm};

/// Share of the retrieved contexts that are relevant, by id.
///
/// Both fields are lists of ids, strings or numbers; repetitions of an id count once. 0 if nothing was retrieved. Abstains from a row
/// without relevant contexts. `IDBasedContextPrecision` of ragas, where a row without retrieved contexts is NaN, and one without
/// relevant contexts 0. `precision_at_k` counts ranks.
///
/// ```
/// use dsrs_metrics::metrics::ContextPrecisionById;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "context_ids" => ["d1", "d2"] };
/// let pred = prediction! { "context_ids" => ["d2", "d7", "d9", "d2"] };
/// assert_eq!(ContextPrecisionById.score(&gold, &pred)?.value, 1.0 / 3.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = |relevant, retrieved, _| explained::by_id(&relevant, &retrieved))]
pub fn context_precision_by_id(
    #[gold("context_ids")] relevant: Relevant<'_>,
    #[pred("context_ids", missing)] retrieved: Retrieved<'_>,
) -> Option<f64> {
    let (found, retrieved) = found(&relevant, &retrieved)?;
    Some(share_of(found, retrieved))
}

/// Share of the relevant contexts that were retrieved, by id.
///
/// Fields as in `context_precision_by_id`. Abstains from a row without relevant contexts. `IDBasedContextRecall` of ragas.
///
/// ```
/// use dsrs_metrics::metrics::ContextRecallById;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "context_ids" => [1, 2] };
/// assert_eq!(ContextRecallById.score(&gold, &prediction! { "context_ids" => [2, 7, 9] })?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = |relevant, retrieved, _| explained::by_id(&relevant, &retrieved))]
pub fn context_recall_by_id(
    #[gold("context_ids")] relevant: Relevant<'_>,
    #[pred("context_ids", missing)] retrieved: Retrieved<'_>,
) -> Option<f64> {
    let (found, _) = found(&relevant, &retrieved)?;
    Some(share_of(found, relevant.relevant()))
}

/// Returns the numbers of retrieved contexts that are relevant, and of all; `None` without relevant contexts.
fn found(relevant: &Relevant<'_>, retrieved: &Retrieved<'_>) -> Option<(usize, usize)> {
    let distinct: HashSet<&str> = retrieved.iter().collect();
    let found = distinct
        .iter()
        .filter(|id| relevant.grade(id) > 0.0)
        .count();
    (relevant.relevant() > 0).then_some((found, distinct.len()))
}

/// Average precision of the retrieved contexts. A retrieved context is relevant if it resembles a reference context.
///
/// The mean of the precisions at the ranks of the relevant contexts, 0 without relevant contexts. A context resembles a
/// string of `gold.context` if their similarity is at least `similarity`: one minus the Levenshtein distance relative to the longer text, in NFC. Abstains
/// from a row without reference contexts. `NonLLMContextPrecisionWithReference` of ragas, which adds 1e-10 to the denominator.
/// Fails if the contexts have more than 4,000 million pairs of characters.
///
/// ```
/// use dsrs_metrics::metrics::ContextPrecisionByDistance;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "context" => ["Paris is the capital of France."] };
/// let pred = prediction! { "context" => ["Bananas grow in the tropics.", "Paris is the capital of France!"] };
/// assert_eq!(ContextPrecisionByDistance::default().score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = explained::precision_by_distance)]
pub fn context_precision_by_distance(
    #[gold("context")] reference: StrOrList<'_>,
    #[pred("context", missing)] retrieved: StrOrList<'_>,
    /// The lowest similarity, in [0, 1], of strings that are the same context.
    #[param(default = 0.5)]
    similarity: f64,
) -> Result<Option<f64>, String> {
    let [reference, retrieved] = [texts(&reference), texts(&retrieved)];
    bounded(&retrieved, &reference)?;
    let relevant = resembling(&retrieved, &reference, similarity);
    Ok((!reference.is_empty()).then(|| average_precision(relevant)))
}

/// Share of the reference contexts that a retrieved context resembles.
///
/// Fields and similarity as in `context_precision_by_distance`; 0 if nothing was retrieved. `NonLLMContextRecall` of ragas, where a
/// similarity of exactly 0.5 counts for precision, but not for recall.
///
/// ```
/// use dsrs_metrics::metrics::ContextRecallByDistance;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "context" => ["Paris is the capital of France.", "The Louvre opened in 1793."] };
/// let pred = prediction! { "context" => ["Paris is the capital of France!"] };
/// assert_eq!(ContextRecallByDistance::default().score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, explain = explained::recall_by_distance)]
pub fn context_recall_by_distance(
    #[gold("context")] reference: StrOrList<'_>,
    #[pred("context", missing)] retrieved: StrOrList<'_>,
    /// The lowest similarity, in [0, 1], of strings that are the same context.
    #[param(default = 0.5)]
    similarity: f64,
) -> Result<Option<f64>, String> {
    let [reference, retrieved] = [texts(&reference), texts(&retrieved)];
    bounded(&retrieved, &reference)?;
    let found = resembling(&reference, &retrieved, similarity).filter(|is_found| *is_found);
    Ok((!reference.is_empty()).then(|| share_of(found.count(), reference.len())))
}

requires_valid! {
    ContextPrecisionByDistance: |metric| within("similarity", metric.similarity, [0.0, 1.0]);
    ContextRecallByDistance: |metric| within("similarity", metric.similarity, [0.0, 1.0]);
}

/// Returns strings in the form in which they are compared.
pub(in crate::metrics) fn texts<'a>(texts: &'a StrOrList<'_>) -> Vec<Cow<'a, str>> {
    texts
        .iter()
        .map(|text| NormalForm::Nfc.apply(text))
        .collect()
}

/// Returns for each text whether one of the others resembles it.
pub(in crate::metrics) fn resembling<'a>(
    texts: &'a [Cow<'a, str>],
    others: &'a [Cow<'a, str>],
    similarity: f64,
) -> impl Iterator<Item = bool> {
    let resembles = move |text: &str, other: &str| {
        EditDistance::Levenshtein.similarity(text, other) >= similarity
    };
    texts
        .iter()
        .map(move |text| others.iter().any(|other| resembles(text, other)))
}

/// Fails if there are too many strings or characters to compare.
fn bounded(retrieved: &[Cow<'_, str>], reference: &[Cow<'_, str>]) -> Result<(), String> {
    let instead = "retrieve fewer contexts";
    bounded_comparisons("contexts", retrieved.len(), reference.len(), instead)?;
    let characters = |side: &[Cow<'_, str>]| side.iter().map(|text| text.chars().count()).sum();
    let (ours, theirs) = (characters(retrieved), characters(reference));
    bounded_pairs(
        "characters of contexts",
        ours,
        theirs,
        "retrieve fewer or shorter contexts",
    )
}

/// Returns `count / of`, and 0 if `of` is 0.
pub(crate) fn share_of(count: usize, of: usize) -> f64 {
    if of == 0 {
        0.0
    } else {
        count as f64 / of as f64
    }
}
