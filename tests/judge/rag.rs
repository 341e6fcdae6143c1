//! The judges of retrieval-augmented generation against ragas, whose scores from the same verdicts are in
//! `tests/parity/rag_vectors.jsonl.gz`. Each difference is one of the documented ones, and counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsrs_metrics::Outcome;
use dsrs_metrics::contract::Settings;
use dsrs_metrics::judge::Models;
use dsrs_metrics::judge::shipped::{
    AnswerCorrectness, AnswerRelevancy, ContextEntityRecall, ContextPrecision, ContextRecall,
    ContextUtilization, FactualCorrectness, FactualScore, Faithfulness, Noise, NoiseSensitivity,
    TopicAdherence, TopicScore,
};
use dsrs_metrics::lm::{LanguageModel, ScriptedEmbedder, ScriptedLm};
use dsrs_metrics::metrics::{
    ContextPrecisionByDistance, ContextPrecisionById, ContextRecallByDistance, ContextRecallById,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics_tests::vectors;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::setup::{items, lm, named};

const VECTORS: &[u8] = include_bytes!("../parity/rag_vectors.jsonl.gz");

/// A statement of one text: the contexts that support it, and whether the other text does.
#[derive(Debug, Deserialize)]
struct Statement {
    contexts: Vec<bool>,
    other: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Vector {
    answer: Vec<Statement>,
    reference: Vec<Statement>,
    useful: Vec<bool>,
    entities: Vec<String>,
    found: Vec<String>,
    texts: Vec<String>,
    reference_texts: Vec<String>,
    ids: Vec<u32>,
    reference_ids: Vec<u32>,
    questions: Vec<Vec<f32>>,
    noncommittal: bool,
    topics: Vec<(bool, bool)>,
    scores: BTreeMap<String, Option<f64>>,
}

impl Vector {
    fn rows(&self) -> (Example, Prediction) {
        let contexts: Vec<String> = self
            .useful
            .iter()
            .map(|_| "A context.".to_owned())
            .collect();
        let gold =
            example! { "question" => "Where?", "answer" => "In Paris.", "topics" => ["travel"] };
        let conversation = json!([{ "role": "user", "content": "Where?" }]);
        (
            gold,
            prediction! { "answer" => "In Lyon.", "context" => contexts, "conversation" => conversation },
        )
    }
}

/// The numbers of the contexts that support a statement.
fn numbers(contexts: &[bool]) -> Vec<usize> {
    (1..)
        .zip(contexts)
        .filter(|(_, supports)| **supports)
        .map(|(number, _)| number)
        .collect()
}

fn support(statement: &Statement) -> Value {
    json!({ "reason": "", "contexts": numbers(&statement.contexts) })
}

fn claim(statement: &Statement) -> Value {
    json!({ "reason": "", "supported": statement.other })
}

/// The score; `None` for an abstention, also of a component.
async fn value(
    metric: impl Metric<Example, Prediction>,
    (gold, pred): &(Example, Prediction),
) -> Option<f64> {
    match metric.evaluate(gold, pred).await {
        Ok(score) => Some(score.value),
        Err(error) => {
            let text = error.to_string();
            let is_component =
                text.ends_with("its component `factual_correctness` has no score: it abstained");
            assert!(
                is_component || matches!(Outcome::from(error), Outcome::Abstained),
                "{text}"
            );
            None
        }
    }
}

fn noise_sensitivity(vector: &Vector, noise: Noise) -> NoiseSensitivity {
    let (answer, reference) = (&vector.answer, &vector.reference);
    let of_answer = |it: &Statement| {
        let mut verdict = support(it);
        verdict["in_reference"] = json!(it.other);
        verdict
    };
    let model = lm(
        [
            ("statements", named(answer)),
            ("reference_statements", named(reference)),
        ],
        json!({ "verdicts": items(answer, of_answer), "reference_verdicts": items(reference, support) }),
    );
    NoiseSensitivity::builder()
        .noise(noise)
        .with_lm(model)
        .build()
}

fn factual_lm(vector: &Vector) -> Arc<dyn LanguageModel> {
    let (answer, reference) = (&vector.answer, &vector.reference);
    lm(
        [
            ("claims", named(answer)),
            ("reference_claims", named(reference)),
        ],
        json!({ "verdicts": items(answer, claim), "reference_verdicts": items(reference, claim) }),
    )
}

fn answer_relevancy(vector: &Vector) -> AnswerRelevancy {
    let written = json!({
        "question_1": "q1", "question_2": "q2", "question_3": "q3", "noncommittal": vector.noncommittal,
    });
    let embedder = ["Where?", "q1", "q2", "q3"]
        .into_iter()
        .zip(&vector.questions);
    let embedder = embedder.fold(ScriptedEmbedder::new(), |model, (text, vector)| {
        model.when(text, vector.clone())
    });
    AnswerRelevancy::builder()
        .embedder(embedder)
        .with_lm(lm([], written))
        .build()
}

async fn answer_correctness(vector: &Vector, model: Arc<dyn LanguageModel>) -> Option<f64> {
    let embedder = ["In Lyon.", "In Paris."].into_iter().zip(&vector.questions);
    let embedder = embedder.fold(ScriptedEmbedder::new(), |model, (text, vector)| {
        model.when(text, vector.clone())
    });
    let models = Models::new(model).with_embedder(embedder);
    Settings::new()
        .with(models)
        .scope(value(AnswerCorrectness, &vector.rows()))
        .await
}

/// All scores of a row, by the names of the vectors.
async fn scores(vector: &Vector) -> Vec<(&'static str, Option<f64>)> {
    let rows = &vector.rows();
    let (answer, reference) = (&vector.answer, &vector.reference);
    let supported = lm(
        [("statements", named(answer))],
        json!({ "verdicts": items(answer, support) }),
    );
    let recalled = lm(
        [("statements", named(reference))],
        json!({ "verdicts": items(reference, support) }),
    );
    let useful = || {
        let verdict = |useful: &bool| json!({ "reason": "", "useful": useful });
        lm([], json!({ "verdicts": items(&vector.useful, verdict) }))
    };
    let entities = lm(
        [("entities", json!(vector.entities))],
        json!({ "mentions": items(&vector.entities, |entity| {
            json!({ "contexts": if vector.found.contains(entity) { vec![1] } else { vec![] } })
        }) }),
    );
    let factual = |headline: FactualScore, beta: f64| {
        let lm = factual_lm(vector);
        FactualCorrectness::builder()
            .headline(headline)
            .beta(beta)
            .with_lm(lm)
            .build()
    };
    let topics = |headline: TopicScore| {
        let verdict = |(answered, allowed): &(bool, bool)| json!({ "reason": "", "answered": answered, "allowed": allowed });
        let model = lm(
            [("topics", named(&vector.topics))],
            json!({ "verdicts": items(&vector.topics, verdict) }),
        );
        TopicAdherence::builder()
            .headline(headline)
            .with_lm(model)
            .build()
    };
    let texts = &(
        example! { "context" => vector.reference_texts.clone() },
        prediction! { "context" => vector.texts.clone() },
    );
    let ids = &(
        example! { "context_ids" => vector.reference_ids.clone() },
        prediction! { "context_ids" => vector.ids.clone() },
    );
    vec![
        (
            "faithfulness",
            value(Faithfulness::default().with_lm(supported), rows).await,
        ),
        (
            "context_precision",
            value(ContextPrecision::default().with_lm(useful()), rows).await,
        ),
        (
            "context_utilization",
            value(ContextUtilization::default().with_lm(useful()), rows).await,
        ),
        (
            "context_recall",
            value(ContextRecall::default().with_lm(recalled), rows).await,
        ),
        (
            "context_entity_recall",
            value(ContextEntityRecall::default().with_lm(entities), rows).await,
        ),
        (
            "noise_relevant",
            value(noise_sensitivity(vector, Noise::Relevant), rows).await,
        ),
        (
            "noise_irrelevant",
            value(noise_sensitivity(vector, Noise::Irrelevant), rows).await,
        ),
        (
            "factual_precision",
            value(factual(FactualScore::Precision, 1.0), rows).await,
        ),
        (
            "factual_recall",
            value(factual(FactualScore::Recall, 1.0), rows).await,
        ),
        (
            "factual_f1",
            value(factual(FactualScore::F, 1.0), rows).await,
        ),
        (
            "factual_f2",
            value(factual(FactualScore::F, 2.0), rows).await,
        ),
        (
            "answer_relevancy",
            value(answer_relevancy(vector), rows).await,
        ),
        (
            "answer_correctness",
            answer_correctness(vector, factual_lm(vector)).await,
        ),
        (
            "topic_precision",
            value(topics(TopicScore::Precision), rows).await,
        ),
        (
            "topic_recall",
            value(topics(TopicScore::Recall), rows).await,
        ),
        ("topic_f1", value(topics(TopicScore::F1), rows).await),
        (
            "factual_f1_rounded",
            value(factual(FactualScore::F, 1.0), rows).await,
        ),
        (
            "precision_by_distance",
            value(ContextPrecisionByDistance::default(), texts).await,
        ),
        (
            "recall_by_distance",
            value(ContextRecallByDistance::default(), texts).await,
        ),
        ("precision_by_id", value(ContextPrecisionById, ids).await),
        ("recall_by_id", value(ContextRecallById, ids).await),
    ]
}

const NO_STATEMENTS: &str = "no statements: taken as correct, here not";
const NO_CLAIMS: &str = "no claims of the reference: a score, here an abstention";

/// Returns the documented difference between a score and ragas', or `""`.
fn difference(name: &str, vector: &Vector, ours: Option<f64>, theirs: Option<f64>) -> &'static str {
    let is_equal = |ours: f64, theirs: f64| (ours - theirs).abs() <= 1e-9;
    match (ours, theirs) {
        (None, None) => return "",
        (Some(ours), Some(theirs)) if is_equal(ours, theirs) => return "",
        _ => {}
    }
    let almost = |digits: f64| {
        ours.zip(theirs)
            .is_some_and(|(a, b)| (a - b).abs() <= digits)
    };
    match name {
        "context_entity_recall" if vector.entities.is_empty() => {
            "no entities: 0, here an abstention"
        }
        "context_entity_recall" | "factual_precision" | "factual_recall" if almost(1e-8) => {
            "1e-8 in the denominator"
        }
        name if name.starts_with("factual") && vector.reference.is_empty() => NO_CLAIMS,
        "answer_correctness" if vector.answer.is_empty() || vector.reference.is_empty() => {
            NO_STATEMENTS
        }
        "factual_f1_rounded" if almost(0.005) => "rounded to two digits",
        "recall_by_distance" => "a similarity of exactly 0.5 is not recalled",
        "precision_by_id" if vector.reference_ids.is_empty() => {
            "no reference: 0, here an abstention"
        }
        "precision_by_id" if vector.ids.is_empty() => "nothing retrieved: NaN, here 0",
        name => panic!("{name}: {ours:?}, ragas {theirs:?}"),
    }
}

#[tokio::test]
async fn every_score_is_ragas_but_for_the_documented_differences() {
    let (mut compared, mut differences) = (0, BTreeMap::<(&str, &str), usize>::new());
    for vector in vectors::<Vector>(VECTORS) {
        for (name, ours) in scores(&vector).await {
            let theirs = vector.scores[name];
            match difference(name, &vector, ours, theirs) {
                "" => compared += 1,
                reason => *differences.entry((name, reason)).or_default() += 1,
            }
        }
    }
    let expected = [
        ("answer_correctness", NO_STATEMENTS, 149),
        ("context_entity_recall", "1e-8 in the denominator", 202),
        (
            "context_entity_recall",
            "no entities: 0, here an abstention",
            74,
        ),
        ("factual_f1", NO_CLAIMS, 81),
        ("factual_f1_rounded", NO_CLAIMS, 81),
        ("factual_f1_rounded", "rounded to two digits", 159),
        ("factual_f2", NO_CLAIMS, 81),
        ("factual_precision", "1e-8 in the denominator", 216),
        ("factual_precision", NO_CLAIMS, 81),
        ("factual_recall", "1e-8 in the denominator", 260),
        ("factual_recall", NO_CLAIMS, 81),
        ("precision_by_id", "no reference: 0, here an abstention", 90),
        ("precision_by_id", "nothing retrieved: NaN, here 0", 65),
        (
            "recall_by_distance",
            "a similarity of exactly 0.5 is not recalled",
            46,
        ),
    ];
    let found = differences
        .iter()
        .map(|((name, reason), count)| (*name, *reason, *count));
    assert_eq!(
        (compared, found.collect::<Vec<_>>()),
        (8834, expected.to_vec())
    );
}

/// The share of the wrong statements that relevant contexts support, and of those that only irrelevant ones do, as in ragas'
/// documentation: over all pairs of statement and context.
fn defined_noise(vector: &Vector) -> [f64; 2] {
    let relevant: Vec<bool> = (0..vector.useful.len())
        .map(|context| {
            vector
                .reference
                .iter()
                .any(|statement| statement.contexts[context])
        })
        .collect();
    let supported = |statement: &Statement, by: bool| {
        statement
            .contexts
            .iter()
            .zip(&relevant)
            .any(|(supports, relevant)| *supports && *relevant == by)
    };
    let share = |counts: &dyn Fn(&Statement) -> bool| {
        let counted = vector
            .answer
            .iter()
            .filter(|it| !it.other && counts(it))
            .count();
        counted as f64 / vector.answer.len() as f64
    };
    let by_relevant = share(&|it| supported(it, true));
    [
        by_relevant,
        share(&|it| supported(it, false) && !supported(it, true)),
    ]
}

fn matrix(rows: usize, contexts: usize) -> impl Strategy<Value = Vec<Statement>> {
    let statement = (
        proptest::collection::vec(any::<bool>(), contexts),
        any::<bool>(),
    )
        .prop_map(|(contexts, other)| Statement { contexts, other });
    proptest::collection::vec(statement, 1..=rows)
}

fn vector() -> impl Strategy<Value = Vector> {
    (1..=5_usize).prop_flat_map(|contexts| {
        (matrix(6, contexts), matrix(4, contexts)).prop_map(move |(answer, reference)| Vector {
            answer,
            reference,
            useful: vec![true; contexts],
            ..Vector::default()
        })
    })
}

proptest! {
    /// Both kinds of noise are their definition on any boolean matrices, and together at most the share of wrong statements.
    #[test]
    fn noise_sensitivity_is_its_definition_on_boolean_matrices(vector in vector()) {
        let found = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let rows = &vector.rows();
            [
                value(noise_sensitivity(&vector, Noise::Relevant), rows).await.unwrap(),
                value(noise_sensitivity(&vector, Noise::Irrelevant), rows).await.unwrap(),
            ]
        });
        prop_assert_eq!(found, defined_noise(&vector));
        let wrong = vector.answer.iter().filter(|it| !it.other).count() as f64;
        prop_assert!(found[0] + found[1] <= wrong / vector.answer.len() as f64 + 1e-12);
    }
}

#[tokio::test]
async fn the_explanation_names_each_statement_and_the_contexts_that_support_it() {
    let model = lm(
        [(
            "statements",
            json!(["The Louvre is in Paris.", "It opened in 1973."]),
        )],
        json!({ "verdicts": [
            { "item": 1, "reason": "stated", "contexts": [2] },
            { "item": 2, "reason": "the context says 1793", "contexts": [] },
        ] }),
    );
    let pred = prediction! { "answer" => "In Paris, since 1973.", "context" => ["Bananas.", "The Louvre, Paris, 1793."] };
    let judge = Faithfulness::default().with_lm(model);
    let score = judge
        .evaluate(&example! { "question" => "Where?" }, &pred)
        .await
        .unwrap();
    assert_eq!((score.value, score.cost_msats), (0.5, 200));
    let expected = "1. \"The Louvre is in Paris.\" (contexts: [2], reason: \"stated\")\n\
                    2. \"It opened in 1973.\" (contexts: [], reason: \"the context says 1793\")";
    assert_eq!(score.details.as_deref(), Some(expected));
}

#[tokio::test]
async fn a_prediction_without_answer_or_contexts_has_the_worst_score_without_a_call() {
    let never = || ScriptedLm::new().otherwise("never");
    let (gold, pred) = (
        example! { "question" => "Where?", "answer" => "Paris" },
        prediction! {},
    );
    let rows = &(gold, pred);
    assert_eq!(
        value(Faithfulness::default().with_lm(never()), rows).await,
        Some(0.0)
    );
    assert_eq!(
        value(ContextRecall::default().with_lm(never()), rows).await,
        Some(0.0)
    );
    assert_eq!(
        value(NoiseSensitivity::default().with_lm(never()), rows).await,
        Some(1.0)
    );
    let nothing = prediction! { "answer" => "Paris", "context" => Vec::<String>::new() };
    let rows = &(rows.0.clone(), nothing);
    assert_eq!(
        value(ContextPrecision::default().with_lm(never()), rows).await,
        Some(0.0)
    );
}

#[tokio::test]
async fn ten_thousand_statements_are_a_failed_row() {
    let many = json!(vec!["A statement."; 10_000]);
    let model = lm([("statements", many)], json!({ "verdicts": [] }));
    let (gold, pred) = Vector {
        useful: vec![true],
        ..Vector::default()
    }
    .rows();
    let judge = Faithfulness::default().with_lm(model);
    let error = judge.evaluate(&gold, &pred).await.unwrap_err().to_string();
    assert!(
        error.contains("`statements` must have at most 100 items, found 10000"),
        "{error}"
    );
}
