//! The metrics of the heritage document for a reply as a whole: whether there is an answer, whether
//! there are sources, and the composites (`sparql`).

#[cfg(feature = "sparql")]
use super::understanding::{EntityF1, IntentAccuracy};
use crate::core::score::check::Check;
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::rag as explained;
#[cfg(feature = "sparql")]
use crate::metrics::sparql::SparqlSyntaxValid;

/// Whether there is an answer, right or wrong.
///
/// Passes unless `pred.answer` is missing, `null`, or a string or list of strings with nothing but
/// white space. In the heritage document white space is an answer.
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
#[metric(explain = explained::answer_present)]
pub fn answer_present(#[pred(missing)] answer: Option<StrOrList<'_>>) -> Check {
    check_not_blank("answer", answer)
}

/// Whether the reply names a source, a real one or not.
///
/// Passes unless `pred.sources_used` is missing, `null`, or a string or list of strings with
/// nothing but white space. In the heritage document a list of empty strings is a source.
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
#[metric(explain = explained::sources_used)]
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

/// A reply of a heritage question-answering system as a whole: intent and entities a quarter each,
/// the query a fifth, answer and sources the rest.
///
/// `0.25 intent_accuracy + 0.25 entity_f1 + 0.20 sparql_syntax_valid + 0.15 answer_present + 0.15 sources_used`,
/// in [0, 1], and a pass from 0.8 on: the document's `heritage_rag_metric`, whose
/// verdict depends on whether there is a trace. The documentation of each component states how it
/// differs from the document: the query is read by a parser, and one predicted entity counts for
/// one expected entity. The feedback joins the feedback of the components, worst first. A component whose field the
/// prediction lacks scores 0, or as its documentation states: `{intent, answer}` is 0.4.
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

/// Whether a reply of a heritage question-answering system is good enough to learn from: right
/// intent, entities with an F1 from 0.8 on, a valid query, and an answer.
///
/// Passes or fails: the document's `heritage_rag_strict`, with the components of `heritage_rag`
/// except the sources.
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
