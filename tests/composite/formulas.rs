//! The composites of the reference documents, value for value against their formulas.

use dsrs_metrics::composite::{Composite, all, part, weighted};
use dsrs_metrics::prelude::*;

use crate::score;

#[metric(range = 0.0..=1.0)]
fn intent_accuracy(#[gold] expected_intent: &str, #[pred] intent: &str) -> f64 {
    f64::from(u8::from(expected_intent.to_lowercase().trim() == intent.to_lowercase().trim()))
}

#[metric(range = 0.0..=1.0)]
fn entity_f1(#[gold] expected_entities: &[String], #[pred] entities: &[String]) -> f64 {
    overlap_f1(expected_entities, entities)
}

#[metric(range = 0.0..=1.0)]
fn sparql_syntax_valid(#[pred] sparql_query: &str) -> f64 {
    let upper = sparql_query.to_uppercase();
    let balanced = sparql_query.matches('{').count() == sparql_query.matches('}').count();
    f64::from(u8::from(upper.contains("SELECT") && upper.contains("WHERE") && balanced))
}

#[metric]
fn answer_present(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric]
fn sources_used(#[pred] sources_used: &[String]) -> bool {
    !sources_used.is_empty()
}

fn overlap_f1(expected: &[String], found: &[String]) -> f64 {
    if expected.is_empty() && found.is_empty() {
        return 1.0;
    }
    let common = expected.iter().filter(|entity| found.contains(entity)).count() as f64;
    if common == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (common / found.len() as f64, common / expected.len() as f64);
    2.0 * (precision * recall) / (precision + recall)
}

/// One generated row, kept apart from `Example` so that the formulas below read it directly.
struct Row {
    expected_intent: &'static str,
    intent: &'static str,
    expected: Vec<String>,
    found: Vec<String>,
    sparql: &'static str,
    answer: &'static str,
    sources: Vec<String>,
}

/// 720 rows: every combination of a few values of each field.
fn rows() -> Vec<Row> {
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
    let entities = [names(&[]), names(&["louvre"]), names(&["louvre", "paris", "orsay"])];
    let mut rows = Vec::new();
    for intent in ["temporal", " Temporal", "relational", ""] {
        for expected in &entities {
            for found in entities.iter().chain([&names(&["paris", "rome"]), &names(&["rome"])]) {
                for sparql in ["SELECT ?x WHERE { ?x ?y ?z }", "select ?x where {", ""] {
                    for answer in ["Paris", ""] {
                        for sources in [names(&["h:louvre"]), names(&[])] {
                            rows.push(Row {
                                expected_intent: "temporal",
                                intent,
                                expected: expected.clone(),
                                found: found.clone(),
                                sparql,
                                answer,
                                sources,
                            });
                        }
                    }
                }
            }
        }
    }
    rows
}

impl Row {
    fn gold(&self) -> Example {
        example! { "expected_intent" => self.expected_intent, "expected_entities" => self.expected }
    }

    fn pred(&self) -> Prediction {
        prediction! {
            "intent" => self.intent, "entities" => self.found, "sparql_query" => self.sparql,
            "answer" => self.answer, "sources_used" => self.sources,
        }
    }

    fn intent(&self) -> f64 {
        intent_accuracy(self.expected_intent, self.intent)
    }

    /// `heritage_rag_metric` as the document writes it.
    fn heritage_rag(&self) -> f64 {
        0.25 * self.intent()
            + 0.25 * overlap_f1(&self.expected, &self.found)
            + 0.20 * sparql_syntax_valid(self.sparql)
            + 0.15 * f64::from(u8::from(!self.answer.is_empty()))
            + 0.15 * f64::from(u8::from(!self.sources.is_empty()))
    }

    /// `heritage_rag_strict` as the document writes it.
    fn heritage_rag_strict(&self) -> bool {
        self.intent() >= 0.9
            && overlap_f1(&self.expected, &self.found) >= 0.8
            && sparql_syntax_valid(self.sparql) >= 1.0
            && !self.answer.is_empty()
    }
}

/// The document's composite.
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
struct HeritageRag;

/// The document's strict metric.
#[metric(all(
    intent_accuracy >= 0.9,
    entity_f1 >= 0.8,
    sparql_syntax_valid >= 1.0,
    answer_present,
))]
struct HeritageRagStrict;

fn heritage_rag() -> Composite {
    let whole = weighted([
        (part(IntentAccuracy), 0.25),
        (part(EntityF1), 0.25),
        (part(SparqlSyntaxValid), 0.20),
        (part(AnswerPresent), 0.15),
        (part(SourcesUsed), 0.15),
    ]);
    Composite::builder("heritage_rag", whole).threshold(0.8).build().unwrap()
}

fn heritage_rag_strict() -> Composite {
    let whole = all([
        part(IntentAccuracy).at_least(0.9),
        part(EntityF1).at_least(0.8),
        part(SparqlSyntaxValid).at_least(1.0),
        part(AnswerPresent),
    ]);
    Composite::builder("heritage_rag_strict", whole).build().unwrap()
}

fn call(composite: &dyn Metric, row: &Row) -> dsrs_metrics::Scored {
    let (gold, pred) = (row.gold(), row.pred());
    composite.call_now(MetricCall::new(&gold, &pred)).expect("synchronous").unwrap()
}

#[test]
fn the_heritage_composite_gives_the_documents_values() {
    let set_up = heritage_rag();
    for composite in [&HeritageRag as &dyn Metric, &set_up] {
        let (rows, mut passed) = (rows(), 0);
        assert_eq!(rows.len(), 720);
        for row in &rows {
            let (scored, expected) = (call(composite, row), row.heritage_rag());
            let value = scored.score.value;
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
            assert_eq!(scored.passed, Some(expected >= 0.8), "{value} {expected}");
            passed += usize::from(scored.passed == Some(true));
        }
        assert!((20..700).contains(&passed), "the rows tell passing from failing: {passed}");
    }
    let required: Vec<_> = HeritageRag::SPEC.required_fields().collect();
    assert_eq!(required[..2], ["gold.expected_intent", "gold.expected_entities"]);
    assert_eq!(required.len(), 7);
    assert_eq!(set_up.spec().required_fields().collect::<Vec<_>>(), required);
}

#[test]
fn the_strict_composite_gives_the_documents_verdicts() {
    let set_up = heritage_rag_strict();
    for composite in [&HeritageRagStrict as &dyn Metric, &set_up] {
        let mut passed = 0;
        for row in &rows() {
            let scored = call(composite, row);
            assert_eq!(scored.passed, Some(row.heritage_rag_strict()));
            passed += usize::from(scored.passed == Some(true));
        }
        assert!(passed > 5, "{passed}");
    }
}

#[metric(range = 0.0..=1.0)]
fn subtask_planning(#[pred] planning: f64) -> f64 {
    planning
}

#[metric(range = 0.0..=1.0)]
fn synthesis(#[pred] synthesis: f64) -> f64 {
    synthesis
}

/// Planning and synthesis, sixty to forty.
#[metric(weighted(subtask_planning = 0.6, synthesis = 0.4))]
struct Combined;

#[test]
fn adjutants_combined_metric_is_sixty_forty() {
    let whole = weighted([(part(SubtaskPlanning), 0.6), (part(Synthesis), 0.4)]);
    let set_up = Composite::builder("combined", whole).build().unwrap();
    for step in 0..=624_u32 {
        let (planning, synthesis) = (f64::from(step % 25) / 24.0, f64::from(step / 25) / 24.0);
        let pred = prediction! { "planning" => planning, "synthesis" => synthesis };
        let expected = 0.6 * planning + 0.4 * synthesis;
        assert_eq!(Combined.score(&example! {}, &pred).unwrap().value, expected);
        assert_eq!(score(&set_up, &pred).unwrap().score.value, expected);
    }
}
