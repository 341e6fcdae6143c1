//! `semantic_similarity` and `judge::embed`, over scripted embedding models.

use std::sync::Arc;

use dsrs_metrics::contract::{MetricIdentity, Settings};
use dsrs_metrics::judge::{self, Models};
use dsrs_metrics::lm::{
    Embedder, EmbeddingModel, Embeddings, LmError, LmErrorKind, ScriptedEmbedder, cosine,
};
use dsrs_metrics::metrics::SemanticSimilarity;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, rows::Pair};
use serde_json::json;

/// Vectors whose cosines with "refund" are 1, 0.96, 0.6, 0 and -0.28.
fn model() -> ScriptedEmbedder {
    ScriptedEmbedder::new()
        .when("refund", [3.0, 4.0])
        .when("money back", [4.0, 3.0])
        .when("money", [5.0, 0.0])
        .when("banana", [-4.0, 3.0])
        .when("keep it", [-8.0, 6.0 - 1.75 * 2.0])
        .when("nothing", [0.0, 0.0])
}

fn metric(model: impl EmbeddingModel + 'static) -> SemanticSimilarity {
    SemanticSimilarity::builder().embedder(model).build()
}

async fn score(gold: serde_json::Value, answer: &str) -> Result<MetricScore, String> {
    let gold = example! { "answer" => gold };
    let scored = metric(model())
        .evaluate(&gold, &prediction! { "answer" => answer })
        .await;
    scored.map_err(|error| error.to_string())
}

#[tokio::test]
async fn the_score_is_the_cosine_of_the_vectors() {
    for (answer, expected) in [
        ("refund", 1.0),
        ("money back", 0.96),
        ("money", 0.6),
        ("banana", 0.0),
    ] {
        assert_eq!(
            score(json!("refund"), answer).await.unwrap().value,
            expected,
            "{answer}"
        );
    }
    // (3 * -8 + 4 * 2.5) / (5 * sqrt(64 + 6.25)): neither scaled nor clipped.
    let negative = score(json!("refund"), "keep it").await.unwrap();
    assert_eq!(negative.value, -14.0 / (5.0 * 70.25_f64.sqrt()));
    assert_eq!(
        negative.details.as_deref(),
        Some("cosine -0.3341 with \"refund\"")
    );
}

#[tokio::test]
async fn the_best_reference_counts_and_all_are_embedded_in_one_call() {
    let model = Arc::new(model());
    let gold = example! { "answer" => ["banana", "money", "money back", "money"] };
    let pred = prediction! { "answer" => "refund" };
    let scored = metric(Arc::clone(&model))
        .evaluate(&gold, &pred)
        .await
        .unwrap();
    assert_eq!(scored.value, 0.96);
    assert_eq!(
        scored.details.as_deref(),
        Some("cosine 0.96 with \"money back\"")
    );
    assert_eq!(
        model.requests(),
        [["refund", "banana", "money", "money back"]]
    );
}

#[tokio::test]
async fn blank_answers_are_scored_without_a_call() {
    for (gold, answer, expected) in [
        (json!("refund"), " \n", 0.0),
        (json!(""), "", 1.0),
        (json!(["refund", ""]), "", 1.0),
        (json!(" "), "refund", 0.0),
    ] {
        let model = Arc::new(ScriptedEmbedder::new());
        let (gold, pred) = (
            example! { "answer" => gold },
            prediction! { "answer" => answer },
        );
        let scored = metric(Arc::clone(&model))
            .evaluate(&gold, &pred)
            .await
            .unwrap();
        assert_eq!(
            (scored.value, model.calls()),
            (expected, 0),
            "{gold:?} {answer:?}"
        );
    }
    // A blank reference is never the best one for an answer.
    assert_eq!(
        score(json!(["", "money"]), "refund").await.unwrap().value,
        0.6
    );
    let error = score(json!([]), "refund").await.unwrap_err();
    assert!(
        error.ends_with("`gold.answer` is an empty list; add at least one answer"),
        "{error}"
    );
}

#[tokio::test]
async fn a_vector_of_zeros_fails_the_row() {
    let error = score(json!("refund"), "nothing").await.unwrap_err();
    assert_eq!(
        error,
        "metric `semantic_similarity`: the vector of \"nothing\" is all zeros, so its cosine is undefined; use another model"
    );
    assert!(
        score(json!("nothing"), "refund")
            .await
            .unwrap_err()
            .contains("the vector of \"nothing\"")
    );
}

/// Returns the same vectors, whatever it is asked.
struct Wrong(Vec<Vec<f32>>);

#[async_trait]
impl EmbeddingModel for Wrong {
    fn id(&self) -> &str {
        "test:wrong"
    }

    async fn embed(&self, _: &[&str]) -> Result<Embeddings, LmError> {
        // As if it were called with as many strings as it has vectors.
        Embeddings::new(self.id(), self.0.len(), self.0.clone())
    }
}

#[tokio::test]
async fn wrong_vectors_fail_the_row_and_are_never_a_score() {
    let (gold, pred) = (
        example! { "answer" => "a" },
        prediction! { "answer" => "b" },
    );
    for (vectors, expected) in [
        (vec![vec![1.0]], "expected 2 vectors, found 1"),
        (vec![vec![1.0]; 3], "expected 2 vectors, found 3"),
        (
            vec![vec![1.0], vec![1.0, 2.0]],
            "expected vectors of the same length, found 1 and 2 numbers",
        ),
        (
            vec![vec![], vec![]],
            "expected vectors of at least 1 number, found an empty vector",
        ),
        (
            vec![vec![1.0], vec![f32::NAN]],
            "expected finite numbers, found NaN at position 1 of vector 2",
        ),
        (
            vec![vec![1.0, f32::INFINITY], vec![1.0, 0.0]],
            "expected finite numbers, found inf at position 2 of vector 1",
        ),
    ] {
        let error = metric(Wrong(vectors))
            .evaluate(&gold, &pred)
            .await
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            format!(
                "metric `semantic_similarity`: test:wrong: cannot parse the provider's response: {expected}"
            )
        );
    }
}

#[test]
fn rounding_never_moves_a_cosine_out_of_its_range() {
    // In double precision the quotient of this vector with itself is above 1.
    let beyond = (1..2000).map(|seed| {
        let vector: Vec<f32> = (0..7)
            .map(|at| ((seed * 31 + at * 17) as f32).sin())
            .collect();
        let dot: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        (
            dot / (dot.sqrt() * dot.sqrt()) > 1.0,
            cosine(&vector, &vector).unwrap(),
        )
    });
    let beyond: Vec<_> = beyond.filter(|(is_beyond, _)| *is_beyond).collect();
    assert!(!beyond.is_empty());
    assert!(beyond.iter().all(|(_, cosine)| *cosine == 1.0));
    assert_eq!(cosine(&[1.0], &[1.0, 2.0]), None);
    // The square of the smallest numbers is not lost in double precision.
    assert_eq!(cosine(&[f32::MIN_POSITIVE], &[-f32::MAX]), Some(-1.0));
}

#[tokio::test]
async fn a_metric_without_a_model_is_an_error_before_the_first_row() {
    if std::env::var_os("DSRS_EMBED").is_some() {
        return;
    }
    let rows = std::iter::from_fn(|| -> Option<Pair> { panic!("no row is read") });
    let evaluate = Evaluate::builder()
        .metric(SemanticSimilarity::default())
        .build()
        .unwrap();
    let error = evaluate.score(rows).await.unwrap_err().to_string();
    for part in [
        "semantic_similarity",
        "--embed",
        "DSRS_EMBED",
        "static:FOLDER",
        ".embedder(..)",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn the_model_of_the_scope_is_used_unless_the_metric_has_its_own() {
    let (gold, pred) = (
        example! { "answer" => "a" },
        prediction! { "answer" => "b" },
    );
    let constant = |x: f32| {
        ScriptedEmbedder::new()
            .when("a", [1.0, 0.0])
            .when("b", [x, 1.0 - x])
    };
    let settings = || Settings::new().with(Models::default().with_embedder(constant(0.0)));
    let scored = settings()
        .scope(SemanticSimilarity::default().evaluate(&gold, &pred))
        .await;
    assert_eq!(scored.unwrap().value, 0.0);
    let scored = settings()
        .scope(metric(constant(1.0)).evaluate(&gold, &pred))
        .await;
    assert_eq!(scored.unwrap().value, 1.0);
    let embeddings = settings()
        .scope(judge::embed(&Embedder::Configured, &["a", "a"]))
        .await;
    assert_eq!(embeddings.unwrap().vectors(), [[1.0, 0.0], [1.0, 0.0]]);
}

#[tokio::test]
async fn offline_calls_no_provider() {
    let error = Settings::new().with(Models::offline()).scope(async {
        judge::embedding_model(&Embedder::from("openai:text-embedding-3-small")).map(|_| ())
    });
    let error = error.await.unwrap_err().to_string();
    assert_eq!(
        error,
        "invalid embedding model `openai:text-embedding-3-small`: no provider is called with `--offline` (in code `Models::offline()`); name a folder as static:FOLDER"
    );
}

#[test]
fn the_model_is_part_of_the_identity() {
    let of = |id: &str| {
        let metric = metric(ScriptedEmbedder::new().named(id));
        MetricIdentity::of::<Example, Prediction>(&metric)
    };
    let (small, large) = (of("openai:small"), of("openai:large"));
    assert!(
        small.to_string().ends_with("; embeddings of openai:small"),
        "{small}"
    );
    let places: Vec<_> = small
        .differences(&large)
        .into_iter()
        .map(|it| it.place)
        .collect();
    assert_eq!(
        places,
        ["`embedders`", "parameter `SemanticSimilarity.embedder`"]
    );
    assert!(
        small.models().is_empty(),
        "an embedding model does not judge"
    );
}

fn passed(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::Scored(scored) => scored.passed,
        _ => None,
    }
}

#[tokio::test]
async fn a_failed_call_fails_its_row_and_a_threshold_gives_a_verdict() {
    let failing = ScriptedEmbedder::new().otherwise(|text| match text {
        "lost" => Err(LmError::new(
            "scripted:embedder",
            LmErrorKind::Disconnected("reset".into()),
        )),
        text => Ok(vec![1.0, text.len() as f32 - 1.0]),
    });
    let rows = [("a", "b"), ("a", "bb"), ("a", "lost")].map(|(gold, answer)| {
        Pair::new(
            answer,
            example! { "answer" => gold },
            prediction! { "answer" => answer },
        )
    });
    let metric = metric(failing.cost(5)).with_threshold(0.9);
    let result = Evaluate::builder()
        .metric(metric)
        .score(rows)
        .await
        .unwrap();
    let summary = &result.metrics[0];
    assert_eq!((summary.failed, result.failed_rows), (1, 1));
    let passed: Vec<_> = result
        .results
        .iter()
        .map(|row| passed(&row.outcomes[0]))
        .collect();
    assert_eq!(passed, [Some(true), Some(false), None]);
    assert_eq!(
        summary.cost_msats, 10,
        "the cost of a call is the cost of its row"
    );
}
