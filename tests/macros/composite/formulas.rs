//! The built-in composites of the reference documents, and the same composites built at run time, compared with the
//! documents' formulas, which are copied here.

use std::collections::HashSet;

use dsrs_metrics::composite::{Composite, all, component, weighted};
use dsrs_metrics::metrics::{
    AnswerPresent, Combined, EntityF1, HeritageRag, HeritageRagStrict, IntentAccuracy, SourcesUsed,
    SparqlSyntaxValid, SubtaskPlanning, Synthesis,
};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use super::score;

/// One generated row, as a struct so that the formulas below can read its fields directly.
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
    let entities = [
        names(&[]),
        names(&["louvre"]),
        names(&["louvre", "paris", "orsay"]),
    ];
    let mut rows = Vec::new();
    for intent in ["temporal", " Temporal", "relational", ""] {
        for expected in &entities {
            for found in entities
                .iter()
                .chain([&names(&["paris", "rome"]), &names(&["rome"])])
            {
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

    fn formula(&self) -> Formula {
        Formula {
            intent: document::intent_accuracy(self.expected_intent, self.intent),
            entities: document::entity_f1(&self.expected, &self.found),
            sparql: document::sparql_syntax_valid(self.sparql),
            answer: !self.answer.is_empty(),
            sources: !self.sources.is_empty(),
        }
    }
}

/// The results of the document's functions on a row.
struct Formula {
    intent: f64,
    entities: f64,
    sparql: f64,
    answer: bool,
    sources: bool,
}

impl Formula {
    fn heritage_rag(&self) -> f64 {
        let truth = |is_so| if is_so { 1.0 } else { 0.0 };
        0.25 * self.intent
            + 0.25 * self.entities
            + 0.20 * self.sparql
            + 0.15 * truth(self.answer)
            + 0.15 * truth(self.sources)
    }

    fn heritage_rag_strict(&self) -> bool {
        self.intent >= 0.9 && self.entities >= 0.8 && self.sparql >= 1.0 && self.answer
    }
}

fn heritage_rag() -> Composite {
    let whole = weighted([
        (component(IntentAccuracy), 0.25),
        (component(EntityF1::default()), 0.25),
        (component(SparqlSyntaxValid), 0.20),
        (component(AnswerPresent), 0.15),
        (component(SourcesUsed), 0.15),
    ]);
    Composite::builder("heritage_rag", whole)
        .threshold(0.8)
        .build()
        .unwrap()
}

fn heritage_rag_strict() -> Composite {
    let whole = all([
        component(IntentAccuracy).at_least(0.9),
        component(EntityF1::default()).at_least(0.8),
        component(SparqlSyntaxValid).at_least(1.0),
        component(AnswerPresent),
    ]);
    Composite::builder("heritage_rag_strict", whole)
        .build()
        .unwrap()
}

fn call(composite: &dyn Metric, row: &Row) -> dsrs_metrics::Scored {
    let (gold, pred) = (row.gold(), row.pred());
    composite
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .expect("synchronous")
        .unwrap()
}

#[test]
fn the_heritage_composite_gives_the_documents_values() {
    let set_up = heritage_rag();
    for composite in [&HeritageRag as &dyn Metric, &set_up] {
        let (rows, mut passed) = (rows(), 0);
        assert_eq!(rows.len(), 720);
        for row in &rows {
            let (scored, expected) = (call(composite, row), row.formula().heritage_rag());
            let value = scored.score.value;
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
            assert_eq!(scored.passed, Some(expected >= 0.8), "{value} {expected}");
            passed += usize::from(scored.passed == Some(true));
        }
        assert!(
            (20..700).contains(&passed),
            "the rows tell passing from failing: {passed}"
        );
    }
    let required: Vec<_> = HeritageRag::SPEC.required_fields().collect();
    let gold = ["gold.expected_intent", "gold.expected_entities"];
    let pred = [
        "pred.intent",
        "pred.entities",
        "pred.sparql_query",
        "pred.answer",
        "pred.sources_used",
    ];
    assert_eq!(required, [&gold[..], &pred].concat());
    assert_eq!(
        set_up.spec().required_fields().collect::<Vec<_>>(),
        required
    );
}

#[test]
fn the_strict_composite_gives_the_documents_verdicts() {
    let set_up = heritage_rag_strict();
    for composite in [&HeritageRagStrict as &dyn Metric, &set_up] {
        let mut passed = 0;
        for row in &rows() {
            let scored = call(composite, row);
            assert_eq!(scored.passed, Some(row.formula().heritage_rag_strict()));
            passed += usize::from(scored.passed == Some(true));
        }
        assert!(passed > 5, "{passed}");
    }
}

/// The values of the document's metrics, by the number of four checks that pass.
fn quarters(checks: [bool; 4]) -> f64 {
    checks
        .iter()
        .map(|&passes| if passes { 0.25 } else { 0.0 })
        .sum()
}

fn either(is_first: bool, first: Value, second: Value) -> Value {
    if is_first { first } else { second }
}

#[test]
fn adjutants_combined_metric_is_sixty_forty() {
    let whole = weighted([
        (component(SubtaskPlanning::default()), 0.6),
        (component(Synthesis::default()), 0.4),
    ]);
    let set_up = Composite::builder("combined", whole).build().unwrap();
    let bits = |step: u32| [0, 1, 2, 3].map(|bit| step >> bit & 1 == 1);
    for step in 0..256 {
        let (plan, reply) = (bits(step), bits(step >> 4));
        let subtask = json!({
            "id": either(plan[0], json!(1), Value::Null),
            "action": either(plan[1], json!("edit"), json!("fly")),
            "target": either(plan[2], json!("src/lib.rs"), json!("the library")),
            "instruction": either(plan[3], json!("Add a test"), json!("A test")),
        });
        let pred = prediction! {
            "subtasks" => [subtask],
            "success" => either(reply[0], json!(true), json!("yes")),
            "summary" => either(reply[1], json!("Added a test of the parser"), json!("Done")),
            "modified_files" => either(reply[2], json!(["src/lib.rs"]), json!("src/lib.rs")),
            "confidence" => either(reply[3], json!(0.9), json!(90)),
        };
        let expected = 0.6 * quarters(plan) + 0.4 * quarters(reply);
        let found = Combined.score(&example! {}, &pred).unwrap().value;
        assert!(
            (found - expected).abs() < 1e-12,
            "{step}: {found} {expected}"
        );
        assert_eq!(score(&set_up, &pred).unwrap().score.value, found);
    }
}

/// Returns the value of a component of a composite's score, by name.
fn component_value(scored: &dsrs_metrics::Scored, name: &str) -> f64 {
    let of_name = scored.components().find(|component| component.name == name);
    of_name.unwrap().outcome.value().unwrap()
}

/// The document's function searches the query string, whereas the metric parses it. The number of rows on which they differ
/// is known from an independent check of the data (`examples/data/heritage/README.md`).
#[test]
fn on_real_rows_only_the_queries_are_judged_otherwise() {
    for (system, refused_by_the_parser, fine_for_the_parser) in
        [("baseline", 13, 11), ("tuned", 3, 9)]
    {
        let file = format!(
            "{}/../examples/data/heritage/heritage.{system}.jsonl",
            env!("CARGO_MANIFEST_DIR")
        );
        let pairs = dsrs_metrics::data::DataReader::new().read([file]).unwrap();
        let (mut rows, mut refused, mut fine) = (0, 0, 0);
        for pair in pairs {
            let pair = pair.unwrap();
            let formula = formula_of(&pair.gold, &pair.pred);
            let scored = HeritageRag
                .answer(MetricCall::new(&pair.gold, &pair.pred))
                .ready()
                .unwrap()
                .unwrap();
            let truth = |is_so| if is_so { 1.0 } else { 0.0 };
            assert_eq!(
                component_value(&scored, "intent_accuracy"),
                formula.intent,
                "{}",
                pair.id
            );
            assert!(
                (component_value(&scored, "entity_f1") - formula.entities).abs() < 1e-12,
                "{}",
                pair.id
            );
            assert_eq!(
                component_value(&scored, "answer_present"),
                truth(formula.answer),
                "{}",
                pair.id
            );
            assert_eq!(
                component_value(&scored, "sources_used"),
                truth(formula.sources),
                "{}",
                pair.id
            );
            let parsed = component_value(&scored, "sparql_syntax_valid");
            rows += 1;
            refused += usize::from(parsed < formula.sparql);
            fine += usize::from(parsed > formula.sparql);
            let expected = Formula {
                sparql: parsed,
                ..formula
            };
            assert!(
                (scored.score.value - expected.heritage_rag()).abs() < 1e-12,
                "{}",
                pair.id
            );
            let strict = HeritageRagStrict
                .score(&pair.gold, &pair.pred)
                .unwrap()
                .value;
            assert_eq!(strict, truth(expected.heritage_rag_strict()), "{}", pair.id);
        }
        assert_eq!(
            (rows, refused, fine),
            (142, refused_by_the_parser, fine_for_the_parser)
        );
    }
}

fn formula_of(gold: &Example, pred: &Prediction) -> Formula {
    let text = |value: Option<&Value>| value.unwrap().as_str().unwrap().to_owned();
    let list = |value: Option<&Value>| -> Vec<String> {
        value
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|item| text(Some(item)))
            .collect()
    };
    Formula {
        intent: document::intent_accuracy(
            &text(gold.get("expected_intent")),
            &text(pred.get("intent")),
        ),
        entities: document::entity_f1(
            &list(gold.get("expected_entities")),
            &list(pred.get("entities")),
        ),
        sparql: document::sparql_syntax_valid(&text(pred.get("sparql_query"))),
        answer: !text(pred.get("answer")).is_empty(),
        sources: !list(pred.get("sources_used")).is_empty(),
    }
}

/// The heritage document's functions, line by line.
mod document {
    use super::HashSet;

    pub(super) fn intent_accuracy(expected: &str, predicted: &str) -> f64 {
        let normal = |intent: &str| intent.to_lowercase().trim().to_owned();
        if normal(expected) == normal(predicted) {
            1.0
        } else {
            0.0
        }
    }

    pub(super) fn entity_f1(expected: &[String], predicted: &[String]) -> f64 {
        let expected: HashSet<String> = expected.iter().map(|name| name.to_lowercase()).collect();
        let predicted = predicted.iter().filter(|name| !name.is_empty());
        let predicted: HashSet<String> = predicted.map(|name| name.to_lowercase()).collect();
        if expected.is_empty() && predicted.is_empty() {
            return 1.0;
        }
        if expected.is_empty() || predicted.is_empty() {
            return 0.0;
        }
        let is_found = |name: &&String| predicted.iter().any(|other| ratio(name, other) >= 80.0);
        let true_positives = expected.iter().filter(is_found).count() as f64;
        let precision = true_positives / predicted.len() as f64;
        let recall = true_positives / expected.len() as f64;
        if precision + recall == 0.0 {
            return 0.0;
        }
        2.0 * (precision * recall) / (precision + recall)
    }

    pub(super) fn sparql_syntax_valid(sparql: &str) -> f64 {
        let upper = sparql.to_uppercase();
        let is_valid = !sparql.is_empty()
            && upper.contains("SELECT")
            && upper.contains("WHERE")
            && sparql.matches('{').count() == sparql.matches('}').count()
            && !sparql.contains("???");
        if is_valid { 1.0 } else { 0.0 }
    }

    /// `rapidfuzz.fuzz.ratio`: twice the longest common subsequence over both lengths, in percent.
    fn ratio(a: &str, b: &str) -> f64 {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let mut longest = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
        for (i, left) in a.iter().enumerate() {
            for (j, right) in b.iter().enumerate() {
                longest[i + 1][j + 1] = match left == right {
                    true => longest[i][j] + 1,
                    false => longest[i][j + 1].max(longest[i + 1][j]),
                };
            }
        }
        200.0 * longest[a.len()][b.len()] as f64 / (a.len() + b.len()) as f64
    }
}
