//! Rows that a judge scores without a call: the prediction lacks a field, or has an empty one.

use std::sync::Arc;

use dsrs_metrics::Evaluate;
use dsrs_metrics::judge::shipped::{
    AnswerGroundedness, AnswerRelevance, CompleteAndGrounded, DecompositionalSemanticF1,
    GEvalCompleteness, LlmJudge, PairwisePreference, SemanticEquivalence, SemanticF1,
};
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Scored, rows::Pair};
use serde_json::json;

use super::setup::says;

/// A model with a reply that every judge accepts as good, and a price.
fn generous() -> Arc<ScriptedLm> {
    Arc::new(
        ScriptedLm::new()
            .cost(7)
            .otherwise(json!({ "reasoning": "", "relevant": true })),
    )
}

fn gold() -> Example {
    example! { "question" => "Where is the Louvre?", "response" => "Paris", "answer" => "Paris" }
}

async fn judged(judge: &dyn Metric, pred: &Prediction) -> Scored {
    judge.answer(MetricCall::new(&gold(), pred)).await.unwrap()
}

#[tokio::test]
async fn an_empty_answer_is_not_relevant_and_no_model_is_called() {
    let lm = generous();
    let judge = AnswerRelevance::default().with_lm(Arc::clone(&lm));
    let words = Some("`answer` is empty; no model was called");
    for answer in ["", " \n\t"] {
        let scored = judged(&judge, &prediction! { "answer" => answer }).await;
        assert_eq!((scored.score.value, scored.passed), (0.0, Some(false)));
        assert_eq!(
            (scored.score.details.as_deref(), scored.score.cost_msats),
            (words, 0)
        );
        assert!(scored.missing_fields().is_empty(), "the field is there");
    }
    for pred in [prediction! {}, prediction! { "answer" => () }] {
        let scored = judged(&judge, &pred).await;
        assert_eq!((scored.score.value, scored.score.cost_msats), (0.0, 0));
        assert_eq!(scored.missing_fields(), ["answer"]);
    }
    assert_eq!(lm.requests().len(), 0);
    let scored = judged(&judge, &prediction! { "answer" => "In Paris." }).await;
    assert_eq!(
        (
            scored.score.value,
            scored.score.cost_msats,
            lm.requests().len()
        ),
        (1.0, 7, 1)
    );
}

#[tokio::test]
async fn an_answer_or_context_without_text_is_not_grounded_and_no_model_is_called() {
    let lm = Arc::new(says(json!({ "reasoning": "", "grounded": true })));
    let judge = AnswerGroundedness::default().with_lm(Arc::clone(&lm));
    let context = json!(["The Louvre is in Paris."]);
    for (pred, empty) in [
        (
            prediction! { "answer" => "", "context" => context },
            "answer",
        ),
        (
            prediction! { "answer" => "Paris", "context" => "" },
            "context",
        ),
        (
            prediction! { "answer" => "Paris", "context" => [(); 0] },
            "context",
        ),
        (
            prediction! { "answer" => "Paris", "context" => ["", " "] },
            "context",
        ),
    ] {
        let scored = judged(&judge, &pred).await;
        let words = format!("`{empty}` is empty; no model was called");
        assert_eq!(
            (scored.score.value, scored.score.details),
            (0.0, Some(words))
        );
    }
    let scored = judged(&judge, &prediction! { "answer" => "Paris" }).await;
    assert_eq!(
        (scored.score.value, scored.missing_fields()),
        (0.0, vec!["context"])
    );
    assert_eq!(lm.requests().len(), 0);
    // A string with the characters of an empty list is an answer.
    let scored = judged(
        &judge,
        &prediction! { "answer" => "[]", "context" => context },
    )
    .await;
    assert_eq!((scored.score.value, lm.requests().len()), (1.0, 1));
}

#[tokio::test]
async fn every_shipped_judge_scores_a_missing_field_0_without_a_call() {
    let lm = generous();
    let with = || Arc::clone(&lm);
    let judges: [(Box<dyn Metric>, &[&str]); 9] = [
        (
            Box::new(SemanticF1::default().with_lm(with())),
            &["response"],
        ),
        (
            Box::new(DecompositionalSemanticF1::default().with_lm(with())),
            &["response"],
        ),
        (
            Box::new(CompleteAndGrounded::default().with_lm(with())),
            &["response", "context"],
        ),
        (Box::new(LlmJudge::default().with_lm(with())), &["answer"]),
        (
            Box::new(AnswerRelevance::default().with_lm(with())),
            &["answer"],
        ),
        (
            Box::new(AnswerGroundedness::default().with_lm(with())),
            &["context", "answer"],
        ),
        (
            Box::new(GEvalCompleteness::default().with_lm(with())),
            &["response"],
        ),
        (
            Box::new(PairwisePreference::default().with_lm(with())),
            &["response"],
        ),
        (
            Box::new(SemanticEquivalence::default().with_lm(with())),
            &["answer"],
        ),
    ];
    for (judge, fields) in judges {
        let scored = judged(&*judge, &prediction! {}).await;
        assert_eq!(
            (scored.score.value, scored.score.cost_msats),
            (0.0, 0),
            "{}",
            judge.name()
        );
        assert_eq!(scored.missing_fields(), fields, "{}", judge.name());
        assert!(
            judge.can_evaluate(&gold(), &prediction! {}),
            "{}",
            judge.name()
        );
    }
    assert_eq!(lm.requests().len(), 0);
}

#[tokio::test]
async fn a_judge_asks_about_an_empty_response_where_its_document_says_nothing() {
    let lm = Arc::new(says(
        json!({ "reasoning": "", "recall": 0.0, "precision": 1.0 }),
    ));
    let judge = SemanticF1::default().with_lm(Arc::clone(&lm));
    let scored = judged(&judge, &prediction! { "response" => "" }).await;
    assert_eq!((scored.score.value, lm.requests().len()), (0.0, 1));
}

#[tokio::test]
async fn rows_without_an_answer_are_counted_in_the_headline() {
    let judge = AnswerRelevance::default().with_lm(generous());
    let rows = [
        prediction! { "answer" => "In Paris." },
        prediction! {},
        prediction! { "answer" => "" },
    ];
    let rows = rows.into_iter().enumerate();
    let rows = rows
        .map(|(id, pred)| Pair::new(id.to_string(), gold(), pred))
        .collect::<Vec<_>>();
    let result = Evaluate::builder().metric(judge).score(rows).await.unwrap();
    assert_eq!(
        result.to_string(),
        "answer_relevance  33.33% [6.15, 79.23] (1/3, 0 failed, 1 without `answer`)"
    );
}

/// Say whether the reply and the sources are fine.
#[judge(score = grade, range = 1.0..=5.0, missing = 1, empty = 2.0)]
struct Fine {
    #[input(gold)]
    question: String,
    #[input(pred)]
    reply: String,
    #[input(pred)]
    sources: Option<Vec<String>>,
    #[output]
    grade: f64,
}

#[tokio::test]
async fn a_judge_of_ones_own_declares_both_scores() {
    let lm = Arc::new(says(json!({ "reasoning": "", "grade": 5.0 })));
    let judge = FineJudge::default().with_lm(Arc::clone(&lm));
    assert_eq!(judged(&judge, &prediction! {}).await.score.value, 1.0);
    assert_eq!(
        judged(&judge, &prediction! { "reply" => "" })
            .await
            .score
            .value,
        2.0
    );
    let blank = prediction! { "reply" => "a", "sources" => [""] };
    assert_eq!(judged(&judge, &blank).await.score.value, 2.0);
    assert_eq!(lm.requests().len(), 0);
    // An optional input may be absent.
    assert_eq!(
        judged(&judge, &prediction! { "reply" => "a" })
            .await
            .score
            .value,
        5.0
    );
    let full = prediction! { "reply" => "a", "sources" => ["b"] };
    let scored = judge
        .answer(MetricCall::new(&example! { "question" => "" }, &full))
        .await;
    assert_eq!((scored.unwrap().score.value, lm.requests().len()), (5.0, 2));
}
