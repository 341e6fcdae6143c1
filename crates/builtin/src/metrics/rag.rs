//! Metrics for retrieval-augmented question answering: intents, entities, answers with sources, and composites of them.
//!
//! They implement the metrics in the heritage document.
//!
//! The file is long because each metric has its rules, a reference and an example. The code itself is short.

use std::collections::HashSet;

use crate::contract::{Check, CorpusCounts, CountFormula, WithCorpus, within};
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::{compared_ids, expected_and_found, joined, labelled};
use crate::metrics::inputs::bounded_lists;
#[cfg(feature = "sparql")]
use crate::metrics::sparql::SparqlSyntaxValid;
use crate::retrieval::{Relevant, Retrieved, average_precision};
use crate::text::{EditDistance, EntityCounts, NormalForm};

/// Returns a label in the form used to compare it: NFC, lower case, without surrounding whitespace.
fn label(text: &str) -> String {
    let lower = NormalForm::Nfc.apply(text.trim()).to_lowercase();
    NormalForm::Nfc.apply(&lower).into_owned()
}

/// Passes if the predicted intent is the expected one.
///
/// Case and surrounding whitespace are ignored.
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
#[metric(explain = |expected, found, _| expected_and_found(&[expected], found))]
pub fn intent_accuracy(#[gold] expected_intent: &str, #[pred(missing)] intent: &str) -> bool {
    label(expected_intent) == label(intent)
}

/// Returns the document's pairs of easily confused intents.
fn related_intents() -> Vec<(String, String)> {
    [
        ("statistical", "exploration"),
        ("entity_lookup", "relational"),
        ("temporal", "entity_lookup"),
    ]
    .map(|(a, b)| (a.to_owned(), b.to_owned()))
    .into()
}

/// Scores the predicted intent, with partial credit for related intents.
///
/// The score is 1 if the intents are the same. It is `credit` if the two intents are a pair in `related`, in either
/// order. Otherwise, the score is 0.
///
/// Intents are compared as in `intent_accuracy`.
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
#[metric(range = 0.0..=1.0, explain = |expected, found, _, _, _| expected_and_found(&[expected], found))]
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
    match related.iter().any(is_pair) {
        true => credit,
        false => 0.0,
    }
}

/// Computes the F1 of the predicted entities.
///
/// Each predicted entity is matched with at most one similar expected entity.
///
/// The score is `2 found / (expected + predicted)`. `found` is the number of pairs in a maximum matching. Two entities
/// can be paired if their similarity is at least `similarity`.
///
/// The heritage document instead searches for each expected entity separately, so one prediction can count several
/// times.
///
/// The similarity is `rapidfuzz.fuzz.ratio / 100` of the two names. Names are first converted to lower case and NFC,
/// and trimmed.
///
/// The score is 1 if both lists are empty, and 0 if only one is empty.
///
/// A string is read as a comma-separated list. Repeated entities count once unless you set `distinct = false`.
///
/// The corpus score applies the same formula to the sums over all rows (micro F1).
///
/// A row fails with an error if it has more than 16 million pairs of entities, or more than 4 billion pairs of
/// characters.
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
#[metric(range = 0.0..=1.0, version = 2, explain = explain_entity_f1)]
pub fn entity_f1(
    #[gold] expected_entities: StrOrList<'_>,
    #[pred(missing)] entities: StrOrList<'_>,
    /// The lowest similarity at which two names are the same entity, in [0, 1]. A value of 1 accepts only equal names.
    #[param(default = 0.8)]
    similarity: f64,
    /// `true` to count repeated entities in a list only once, as in the heritage document.
    #[param(default = true)]
    distinct: bool,
) -> Result<WithCorpus<f64>, String> {
    let (expected, predicted) = (listed(&expected_entities), listed(&entities));
    let instead = [
        "entities",
        "provide fewer entities",
        "provide fewer or shorter entities",
    ];
    bounded_lists(instead, &predicted, &expected)?;
    let (counts, _) = EntityCounts::compared(&predicted, &expected, similarity, distinct);
    let sums = [counts.found, counts.expected, counts.predicted];
    let sums = CorpusCounts::new(sums, CountFormula::EntityF1);
    Ok(WithCorpus::new(counts.f1(), sums))
}

/// Splits a string at commas. Returns a list unchanged.
pub(in crate::metrics) fn listed<'a>(entities: &'a StrOrList<'_>) -> Vec<&'a str> {
    match entities.as_one() {
        Some(text) => text.split(',').collect(),
        None => entities.iter().map(|entity| &**entity).collect(),
    }
}

/// Passes if the predicted entity type is exactly the expected one.
///
/// If the expected or the predicted type is missing, the metric uses the value of `missing` instead. The default is
/// `institution`, as in the heritage document.
///
/// If you set `missing` to an empty string, a row fails with an error if either type is missing.
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
#[metric(explain = |expected, found, missing, _| {
    expected_and_found(&[expected.unwrap_or(missing)], found.unwrap_or(missing))
})]
pub fn entity_type_accuracy(
    #[gold] expected_entity_type: Option<&str>,
    #[pred(missing)] entity_type: Option<&str>,
    /// The type to use if an entity has none. If empty, every entity must have a type.
    #[param(default = "institution")]
    missing: &str,
) -> Result<bool, String> {
    let or_missing = |given: Option<_>, field| match given {
        Some(given) => Ok(given),
        None if missing.is_empty() => {
            Err(format!("`{field}` is missing; add it, or set `missing`"))
        }
        None => Ok(missing),
    };
    let expected = or_missing(expected_entity_type, "gold.expected_entity_type")?;
    Ok(expected == or_missing(entity_type, "pred.entity_type")?)
}

/// Computes the fraction of the retrieved contexts that are relevant.
///
/// Contexts are compared by id.
///
/// `gold.context_ids` and `pred.context_ids` are lists of ids, which can be strings or numbers. Repeated ids count
/// once.
///
/// The score is 0 if nothing was retrieved. The metric abstains if the row has no relevant contexts.
///
/// This metric is equivalent to ragas's `IDBasedContextPrecision`, except for empty lists. In ragas, the score is NaN
/// if nothing was retrieved, and 0 if there are no relevant contexts.
///
/// To score only the first k results, use `precision_at_k`.
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
#[metric(range = 0.0..=1.0, explain = |relevant, retrieved, _| compared_ids(&relevant, &retrieved, None))]
pub fn context_precision_by_id(
    #[gold("context_ids")] relevant: Relevant<'_>,
    #[pred("context_ids", missing)] retrieved: Retrieved<'_>,
) -> Option<f64> {
    let (found, retrieved) = found(&relevant, &retrieved)?;
    Some(share_of(found, retrieved))
}

/// Computes the fraction of the relevant contexts that were retrieved.
///
/// Contexts are compared by id.
///
/// The metric reads the same fields as `context_precision_by_id`. It abstains if the row has no relevant contexts.
///
/// This metric is equivalent to ragas's `IDBasedContextRecall`.
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
#[metric(range = 0.0..=1.0, explain = |relevant, retrieved, _| compared_ids(&relevant, &retrieved, None))]
pub fn context_recall_by_id(
    #[gold("context_ids")] relevant: Relevant<'_>,
    #[pred("context_ids", missing)] retrieved: Retrieved<'_>,
) -> Option<f64> {
    let (found, _) = found(&relevant, &retrieved)?;
    Some(share_of(found, relevant.relevant()))
}

/// Returns how many of the retrieved contexts are relevant, and how many were retrieved. Returns `None` if there are no
/// relevant contexts.
fn found(relevant: &Relevant<'_>, retrieved: &Retrieved<'_>) -> Option<(usize, usize)> {
    let distinct: HashSet<&str> = retrieved.iter().collect();
    let found = distinct.iter().filter(|id| relevant.grade(id) > 0.0);
    (relevant.relevant() > 0).then(|| (found.count(), distinct.len()))
}

/// Computes the average precision of the retrieved contexts.
///
/// A retrieved context is relevant if it is similar to a reference context.
///
/// The score is the mean of the precision at the rank of each relevant context. If no context is relevant, the score is
/// 0.
///
/// The reference contexts are the strings of `gold.context`. Two contexts are similar if their similarity is at least
/// `similarity`.
///
/// The similarity is one minus the Levenshtein distance divided by the length of the longer string. Strings are
/// compared in NFC.
///
/// The metric abstains on a row without reference contexts.
///
/// A row fails with an error if its contexts have more than 4 billion pairs of characters.
///
/// This metric is equivalent to ragas's `NonLLMContextPrecisionWithReference`, which adds 1e-10 to the denominator.
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
#[metric(range = 0.0..=1.0, explain = |reference, retrieved, similarity, _| {
    explain_unlike("not relevant", [&retrieved, &reference], similarity)
})]
pub fn context_precision_by_distance(
    #[gold("context")] reference: StrOrList<'_>,
    #[pred("context", missing)] retrieved: StrOrList<'_>,
    /// The lowest similarity at which two contexts are the same, in [0, 1].
    #[param(default = 0.5)]
    similarity: f64,
) -> Result<Option<f64>, String> {
    bounded_lists(CONTEXTS, &retrieved, &reference)?;
    let relevant = || compared(&retrieved, &reference, similarity).map(|(_, is_like)| is_like);
    Ok((!reference.is_empty()).then(|| average_precision(relevant())))
}

/// Computes the fraction of the reference contexts that were retrieved.
///
/// A reference context was retrieved if a retrieved context is similar to it.
///
/// The fields and the similarity are the same as in `context_precision_by_distance`.
///
/// The score is 0 if nothing was retrieved.
///
/// This metric is equivalent to ragas's `NonLLMContextRecall`. In ragas, a similarity of exactly 0.5 counts for
/// precision but not for recall.
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
#[metric(range = 0.0..=1.0, explain = |reference, retrieved, similarity, _| {
    explain_unlike("not found", [&reference, &retrieved], similarity)
})]
pub fn context_recall_by_distance(
    #[gold("context")] reference: StrOrList<'_>,
    #[pred("context", missing)] retrieved: StrOrList<'_>,
    /// The lowest similarity at which two contexts are the same, in [0, 1].
    #[param(default = 0.5)]
    similarity: f64,
) -> Result<Option<f64>, String> {
    bounded_lists(CONTEXTS, &retrieved, &reference)?;
    let found = compared(&reference, &retrieved, similarity).filter(|(_, is_found)| *is_found);
    Ok((!reference.is_empty()).then(|| share_of(found.count(), reference.len())))
}

requires_valid! {
    IntentAccuracyWithFallback: |metric| within("credit", metric.credit, [0.0, 1.0]);
    EntityF1: |metric| within("similarity", metric.similarity, [0.0, 1.0]);
    ContextPrecisionByDistance: |metric| within("similarity", metric.similarity, [0.0, 1.0]);
    ContextRecallByDistance: |metric| within("similarity", metric.similarity, [0.0, 1.0]);
}

/// Compares each text with the others. Returns each text with `true` if it resembles one of them.
fn compared<'a>(
    texts: &'a [impl AsRef<str>],
    others: &'a [impl AsRef<str>],
    similarity: f64,
) -> impl Iterator<Item = (&'a str, bool)> {
    let normal = |text: &'a str| NormalForm::Nfc.apply(text);
    let others: Vec<_> = others.iter().map(|other| normal(other.as_ref())).collect();
    texts.iter().map(move |text| {
        let normal = normal(text.as_ref());
        let mut others = others.iter();
        let is_like = |other| EditDistance::Levenshtein.similarity(&normal, other) >= similarity;
        (text.as_ref(), others.any(|other| is_like(other)))
    })
}

/// Names what has too many items to compare, and gives advice for both limits.
const CONTEXTS: [&str; 3] = [
    "contexts",
    "retrieve fewer contexts",
    "retrieve fewer or shorter contexts",
];

/// Returns `count / of`, or 0 if `of` is 0.
pub(crate) fn share_of(count: usize, of: usize) -> f64 {
    if of == 0 {
        0.0
    } else {
        count as f64 / of as f64
    }
}

/// Passes if the prediction contains an answer.
///
/// The metric does not check whether the answer is right.
///
/// The metric fails if `pred.answer` is missing or `null`. It also fails if the answer is a string or a list of strings
/// that contains only whitespace. In the heritage document, whitespace counts as an answer.
///
/// ```
/// use dsrs_metrics::metrics::AnswerPresent;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let score = |answer: &str| AnswerPresent.score(&example! {}, &prediction! { "answer" => answer });
/// assert_eq!((score("A")?.value, score(" \n")?.value), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(explain = |_, score| (score > 0.0).then_some("there is an answer"))]
pub fn answer_present(#[pred(missing)] answer: Option<StrOrList<'_>>) -> Check {
    check_not_blank("answer", answer)
}

/// Passes if the reply names a source.
///
/// The metric does not check whether the source exists.
///
/// The metric fails if `pred.sources_used` is missing or `null`. It also fails if the value is a string or list of
/// strings that contains only whitespace. In the heritage document, a list of empty strings counts as a source.
///
/// ```
/// use dsrs_metrics::metrics::SourcesUsed;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let score = |pred| SourcesUsed.score(&example! {}, &pred);
/// assert_eq!(score(prediction! { "sources_used" => ["h:louvre"] })?.value, 1.0);
/// assert_eq!(score(prediction! { "sources_used" => [""] })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(explain = |_, score| (score > 0.0).then_some("sources are named"))]
pub fn sources_used(#[pred(missing)] sources_used: Option<StrOrList<'_>>) -> Check {
    check_not_blank("sources_used", sources_used)
}

fn check_not_blank(field: &str, strings: Option<StrOrList<'_>>) -> Check {
    let Some(strings) = strings else {
        return Check::fail(format!("`{field}` is missing"));
    };
    let has_text = strings.iter().any(|string| !string.trim().is_empty());
    Check::unless((!has_text).then(|| format!("`{field}` is empty")))
}

/// Scores a whole reply of a heritage question-answering system.
///
/// The score is a weighted sum of the scores for the intent, the entities, the query, the answer and the sources.
///
/// The formula is `0.25 intent_accuracy + 0.25 entity_f1 + 0.20 sparql_syntax_valid + 0.15 answer_present + 0.15
/// sources_used`. The score is in [0, 1], and a score of 0.8 or more is a pass.
///
/// This metric is based on `heritage_rag_metric` in the heritage document. That metric's verdict also depends on
/// whether there is a trace.
///
/// Each component's documentation describes how the component differs from the document. For example, a parser checks
/// the query, and each predicted entity matches at most one expected entity.
///
/// The feedback combines the components' feedback, lowest score first.
///
/// If the prediction lacks a component's field, the component scores 0 unless its documentation says otherwise. For
/// example, `{intent, answer}` scores 0.4.
///
/// ```
/// use dsrs_metrics::metrics::HeritageRag;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"] };
/// let pred = prediction! {
///     "intent" => "temporal", "entities" => ["Louvre"], "sparql_query" => "SELECT ?year {", "answer" => "1793", "sources_used" => ["h:louvre"],
/// };
/// assert_eq!(HeritageRag.score(&gold, &pred)?.value, 0.8); // all but the query
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "sparql")]
#[metric(
    weighted(
        intent_accuracy = 0.25,
        entity_f1 = 0.25,
        sparql_syntax_valid = 0.20,
        answer_present = 0.15,
        sources_used = 0.15,
    ),
    threshold = 0.8
)]
pub struct HeritageRag;

/// Passes if a reply of a heritage question-answering system is a good training example.
///
/// The reply must have the right intent, entities with an F1 of at least 0.8, a valid query, and an answer.
///
/// This metric is based on `heritage_rag_strict` in the heritage document. It has the components of `heritage_rag`
/// except the sources, and its result is pass or fail.
///
/// ```
/// use dsrs_metrics::metrics::HeritageRagStrict;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "expected_intent" => "temporal", "expected_entities" => ["Louvre"] };
/// let pred = |query: &str| prediction! {
///     "intent" => "temporal", "entities" => ["Louvre"], "sparql_query" => query, "answer" => "1793",
/// };
/// assert_eq!(HeritageRagStrict.score(&gold, &pred("SELECT ?year { ?louvre ?opened ?year }"))?.value, 1.0);
/// assert_eq!(HeritageRagStrict.score(&gold, &pred("SELECT ?year {"))?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "sparql")]
#[metric(all(
    intent_accuracy >= 0.9,
    entity_f1 >= 0.8,
    sparql_syntax_valid >= 1.0,
    answer_present,
))]
pub struct HeritageRagStrict;

fn explain_entity_f1(
    expected_entities: StrOrList<'_>,
    entities: StrOrList<'_>,
    similarity: f64,
    distinct: bool,
    _: f64,
) -> Option<String> {
    let (expected, predicted) = (listed(&expected_entities), listed(&entities));
    let (_, [missing, unexpected]) =
        EntityCounts::compared(&predicted, &expected, similarity, distinct);
    let missing = labelled("missing", &missing);
    let both = joined([missing, labelled("unexpected", &unexpected)]);
    Some(both).filter(|it| !it.is_empty())
}

/// Lists the contexts that resemble none of the others.
fn explain_unlike(
    label: &str,
    [contexts, others]: [&StrOrList<'_>; 2],
    similarity: f64,
) -> Option<String> {
    let unlike = compared(contexts, others, similarity).filter(|(_, is_like)| !is_like);
    let unlike: Vec<_> = unlike.map(|(text, _)| text).collect();
    (!unlike.is_empty()).then(|| labelled(label, &unlike))
}
