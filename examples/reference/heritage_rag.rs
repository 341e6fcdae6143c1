//! "DSPy Evaluation Metrics" of a heritage question-answering system.
//!
//! Its functions are written here as a user of the library would write them. The library ships them too; both are
//! compared.

use std::collections::BTreeSet;
use std::sync::Arc;

use dsrs_metrics::judge::shipped::{AnswerGroundedness, AnswerRelevance};
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::metrics::{
    EntityF1, EntityTypeAccuracy, HeritageRag, HeritageRagStrict, IntentAccuracy,
    IntentAccuracyWithFallback, SparqlExecutes, SparqlReturnsResults, SparqlSyntaxValid,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sparql::SparqlStore;
use dsrs_metrics::{
    Evaluate,
    runs::{Module, ProgramError},
};
use serde_json::{Value, json};

use crate::{Result, passed};

pub(crate) async fn run() -> Result {
    signature().await?;
    intents()?;
    entities()?;
    sparql().await?;
    judges().await?;
    composites().await?;
    using_evaluate().await?;
    passed("heritage_rag", "7 examples");
    Ok(())
}

/// "Metric Function Signature": `metric(example, pred, trace=None) -> float | bool`.
#[metric(range = 0.0..=1.0, threshold = 1.0, struct = Signature)]
fn metric(example: &Example, pred: &Prediction, trace: Option<&Trace>) -> f64 {
    let _ = trace;
    f64::from(example.get("answer") == pred.get("answer"))
}

async fn signature() -> Result {
    let (example, pred) = (
        example! { "answer" => "1793" },
        prediction! { "answer" => "1793" },
    );
    let call = MetricCall::new(&example, &pred);
    assert_eq!(
        Signature.grade(call).await?,
        Grade::Score(MetricScore::new(1.0))
    );
    assert_eq!(
        Signature.grade(call.with_trace(&Trace::default())).await?,
        Grade::Verdict(true)
    );
    Ok(())
}

/// `getattr(pred, field, '')`
fn text(pred: &Prediction, field: &str) -> String {
    pred.get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Check if predicted intent matches expected intent.
#[metric(name = "own_intent_accuracy", struct = OwnIntentAccuracy)]
fn intent_accuracy(#[gold] expected_intent: &str, pred: &Prediction) -> f64 {
    let expected = expected_intent.to_lowercase();
    let predicted = text(pred, "intent").to_lowercase();
    if expected.trim() == predicted.trim() {
        1.0
    } else {
        0.0
    }
}

/// Intent accuracy with partial credit for related intents.
#[metric(name = "own_intent_accuracy_with_fallback", struct = OwnIntentAccuracyWithFallback)]
fn intent_accuracy_with_fallback(#[gold] expected_intent: &str, pred: &Prediction) -> f64 {
    let expected = expected_intent.to_lowercase();
    let predicted = text(pred, "intent").to_lowercase();
    if expected == predicted {
        return 1.0;
    }

    // Partial credit for related intents
    let related_pairs = [
        ("statistical", "exploration"),
        ("entity_lookup", "relational"),
        ("temporal", "entity_lookup"),
    ];
    for (a, b) in related_pairs {
        if BTreeSet::from([&*expected, &*predicted]) == BTreeSet::from([a, b]) {
            return 0.5;
        }
    }
    0.0
}

fn intents() -> Result {
    let shipped = (IntentAccuracy, IntentAccuracyWithFallback::default());
    let cases = [
        ("temporal", Some("Temporal "), 1.0, None),
        ("temporal", Some("relational"), 0.0, Some(0.0)),
        ("statistical", Some("exploration"), 0.0, Some(0.5)),
        ("relational", Some("entity_lookup"), 0.0, Some(0.5)),
        ("temporal", Some("entity_lookup"), 0.0, Some(0.5)),
        ("temporal", Some("TEMPORAL"), 1.0, Some(1.0)),
        // getattr(pred, 'intent', '')
        ("temporal", None, 0.0, Some(0.0)),
    ];
    for (expected, predicted, accuracy, fallback) in cases {
        let example = example! { "expected_intent" => expected };
        let pred = predicted.map_or_else(
            || prediction! {},
            |intent| prediction! { "intent" => intent },
        );
        assert_eq!(OwnIntentAccuracy.score(&example, &pred)?.value, accuracy);
        assert_eq!(shipped.0.score(&example, &pred)?.value, accuracy);
        // The document's second function keeps white space, the shipped one does not.
        if let Some(fallback) = fallback {
            assert_eq!(
                OwnIntentAccuracyWithFallback.score(&example, &pred)?.value,
                fallback
            );
            assert_eq!(shipped.1.score(&example, &pred)?.value, fallback);
        }
    }
    Ok(())
}

fn entities() -> Result {
    let score = |expected: &[&str], pred: Prediction| {
        let example = example! { "expected_entities" => expected };
        EntityF1::default()
            .score(&example, &pred)
            .map(|score| score.value)
    };
    assert_eq!(
        score(
            &["Rijksmuseum", "Louvre"],
            prediction! { "entities" => ["rijksmuseum", "louvre"] }
        )?,
        1.0
    );
    // A comma-separated string; fuzz.ratio("rijksmuseum", "rijksmuzeum") >= 80.
    assert_eq!(
        score(
            &["Rijksmuseum", "Louvre"],
            prediction! { "entities" => "Rijksmuzeum, Prado" }
        )?,
        0.5
    );
    // Sets: "Louvre" and "louvre" count once.
    assert_eq!(
        score(
            &["louvre"],
            prediction! { "entities" => ["Louvre", "louvre"] }
        )?,
        1.0
    );
    // Both empty, one empty, and `getattr(pred, 'entities', [])`.
    assert_eq!(
        score(&[], prediction! { "entities" => [] as [&str; 0] })?,
        1.0
    );
    assert_eq!(score(&["Louvre"], prediction! { "entities" => "" })?, 0.0);
    assert_eq!(
        (
            score(&[], prediction! {})?,
            score(&["Louvre"], prediction! {})?
        ),
        (1.0, 0.0)
    );

    // entity_type_accuracy: both default to 'institution'.
    let score = |example: Example, pred: Prediction| {
        EntityTypeAccuracy::default()
            .score(&example, &pred)
            .map(|score| score.value)
    };
    assert_eq!(score(example! {}, prediction! {})?, 1.0);
    assert_eq!(
        score(
            example! { "expected_entity_type" => "person" },
            prediction! {}
        )?,
        0.0
    );
    Ok(())
}

const QUERY: &str = "SELECT ?museum WHERE { ?museum <https://schema.org/location> 'Paris' }";

async fn sparql() -> Result {
    let example = example! {};
    // sparql_syntax_valid: required clauses, balanced braces, no `???`, not empty.
    let valid = |query: &str| {
        SparqlSyntaxValid
            .score(&example, &prediction! { "sparql_query" => query })
            .map(|score| score.value)
    };
    assert_eq!(valid(QUERY)?, 1.0);
    for invalid in [
        "",
        "WHERE { ?s ?p ?o }",
        "SELECT ?s WHERE { ?s ?p ?o",
        "SELECT ??? WHERE { ?s ?p ?o }",
    ] {
        assert_eq!(valid(invalid)?, 0.0, "{invalid}");
    }
    assert_eq!(
        SparqlSyntaxValid.score(&example, &prediction! {})?.value,
        0.0
    );

    // sparql_executes and sparql_returns_results, over a graph instead of a live endpoint.
    let graph = SparqlStore::from_turtle("<h:louvre> <https://schema.org/location> 'Paris' .")?;
    let executes = SparqlExecutes::builder()
        .data(graph.clone())
        .timeout_secs(10)
        .build();
    let returns = SparqlReturnsResults::builder()
        .data(graph)
        .timeout_secs(10)
        .build();
    let pred = |query: &str| prediction! { "sparql_query" => query };
    assert_eq!(executes.evaluate(&example, &pred(QUERY)).await?.value, 1.0);
    assert_eq!(returns.evaluate(&example, &pred(QUERY)).await?.value, 1.0);
    let none = QUERY.replace("Paris", "Lyon");
    assert_eq!(executes.evaluate(&example, &pred(&none)).await?.value, 1.0);
    assert_eq!(returns.evaluate(&example, &pred(&none)).await?.value, 0.0);
    assert_eq!(
        executes.evaluate(&example, &pred("SELECT")).await?.value,
        0.0
    );
    assert_eq!(returns.evaluate(&example, &pred("")).await?.value, 0.0);
    Ok(())
}

// The document has `reasoning` last. A model that reasons after its verdict only defends it.
/// Judge if an answer is relevant to the question.
#[judge(score = relevant)]
struct AnswerRelevanceJudge {
    /// The original question
    #[input(gold)]
    question: String,
    /// The generated answer
    #[input(pred)]
    answer: String,
    /// Brief explanation of relevance judgment
    #[output]
    reasoning: String,
    /// Is the answer relevant to the question?
    #[output]
    relevant: bool,
}

/// Judge if an answer is grounded in retrieved context.
#[judge(score = grounded)]
struct AnswerGroundednessJudge {
    /// The retrieved context
    #[input(pred)]
    context: String,
    /// The generated answer
    #[input(pred)]
    answer: String,
    /// Brief explanation
    #[output]
    reasoning: String,
    /// Is the answer grounded in the context?
    #[output]
    grounded: bool,
}

/// A model that answers yes.
fn yes(output: &str) -> ScriptedLm {
    ScriptedLm::new().otherwise(json!({ "reasoning": "It names the year.", output: true }))
}

async fn judges() -> Result {
    let example = example! { "question" => "When did the Louvre open?" };
    let pred = prediction! { "answer" => "In 1793.", "context" => "The Louvre opened in 1793." };

    let judge = AnswerRelevanceJudge::default().with_lm(yes("relevant"));
    let score = judge.evaluate(&example, &pred).await?;
    assert_eq!(
        (score.value, score.details.as_deref()),
        (1.0, Some("It names the year."))
    );
    let judge = AnswerGroundednessJudge::default().with_lm(yes("grounded"));
    assert_eq!(judge.evaluate(&example, &pred).await?.value, 1.0);

    // answer_relevance_llm and answer_groundedness_llm: an empty answer or context is 0.0 without a call.
    let (relevant, grounded) = (Arc::new(yes("relevant")), Arc::new(yes("grounded")));
    let relevance = AnswerRelevance::default().with_lm(Arc::clone(&relevant));
    let groundedness = AnswerGroundedness::default().with_lm(Arc::clone(&grounded));
    let without_answer = prediction! { "answer" => "", "context" => "The Louvre opened in 1793." };
    for empty in [without_answer, prediction! {}] {
        assert_eq!(relevance.evaluate(&example, &empty).await?.value, 0.0);
        assert_eq!(groundedness.evaluate(&example, &empty).await?.value, 0.0);
    }
    let without_context = prediction! { "answer" => "In 1793.", "context" => "" };
    assert_eq!(
        groundedness
            .evaluate(&example, &without_context)
            .await?
            .value,
        0.0
    );
    assert_eq!((relevant.calls(), grounded.calls()), (0, 0));
    assert_eq!(relevance.evaluate(&example, &pred).await?.value, 1.0);
    assert_eq!(groundedness.evaluate(&example, &pred).await?.value, 1.0);
    Ok(())
}

fn row() -> (Example, Prediction) {
    let example = example! { "question" => "When did the Louvre open?", "expected_intent" => "temporal", "expected_entities" => ["Louvre"] };
    let pred = prediction! {
        "intent" => "temporal", "entities" => ["Louvre"], "sparql_query" => QUERY, "answer" => "In 1793.", "sources_used" => ["h:louvre"],
    };
    (example, pred)
}

async fn composites() -> Result {
    let (example, pred) = row();
    assert_eq!(HeritageRag.score(&example, &pred)?.value, 1.0);
    assert!(
        HeritageRagStrict
            .accepts(&example, &pred, &Trace::default())
            .await?
    );

    // if trace is not None: return weighted_score >= 0.8
    let mut without_query = pred.clone();
    without_query.data.remove("sparql_query");
    assert_eq!(HeritageRag.score(&example, &without_query)?.value, 0.8);
    let call = MetricCall::new(&example, &without_query);
    assert_eq!(
        HeritageRag
            .grade(call.with_trace(&Trace::default()))
            .await?,
        Grade::Verdict(true)
    );
    assert!(
        !HeritageRagStrict
            .accepts(&example, &without_query, &Trace::default())
            .await?
    );

    // A missing component is 0 of its share.
    let partial = prediction! { "intent" => "temporal", "answer" => "In 1793." };
    assert_eq!(HeritageRag.score(&example, &partial)?.value, 0.4);
    assert!(
        !HeritageRagStrict
            .accepts(&example, &partial, &Trace::default())
            .await?
    );
    Ok(())
}

/// The pipeline under evaluation: it knows one question.
struct Pipeline;

#[async_trait]
impl Module for Pipeline {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        let (known, answer) = row();
        Ok(if inputs.get("question") == known.get("question") {
            answer
        } else {
            prediction! { "intent" => "relational" }
        })
    }
}

/// "Using Metrics with dspy.Evaluate": the headline, and the loop with the score of each metric.
async fn using_evaluate() -> Result {
    let other = example! { "question" => "Who founded the Prado?", "expected_intent" => "relational", "expected_entities" => ["Prado"] };
    let dev_set = [row().0, other];

    // Create evaluator
    let evaluator = Evaluate::builder()
        .devset(dev_set)
        .inputs(["question"])
        .metric(HeritageRag)
        .concurrency(4)
        .display_progress(true)
        .display_table(5) // Show top 5 results
        .build()?;

    // Run evaluation
    let result = evaluator.run(Pipeline).await?;
    let percent = result.percent().ok_or("no score")?;
    assert_eq!(format!("Overall score: {percent}%"), "Overall score: 62.5%");

    // Detailed per-metric breakdown
    let mut lines = Vec::new();
    for (example, pred, score) in result.triples() {
        let (pred, score) = (pred.ok_or("no prediction")?, score.ok_or("no score")?);
        let question = example
            .get("question")
            .and_then(Value::as_str)
            .ok_or("no question")?;
        let intent = IntentAccuracy.score(example, pred)?.value;
        let entities = EntityF1::default().score(example, pred)?.value;
        let question: String = question.chars().take(50).collect();
        lines.push(format!(
            "Question: {question}... Intent: {intent} Entities: {entities:.2} Score: {score:.2}"
        ));
    }
    assert_eq!(
        lines,
        [
            "Question: When did the Louvre open?... Intent: 1 Entities: 1.00 Score: 1.00",
            "Question: Who founded the Prado?... Intent: 1 Entities: 0.00 Score: 0.25",
        ]
    );
    Ok(())
}
