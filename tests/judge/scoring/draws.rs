//! Scores that are the mean of several answers.

use std::sync::Arc;

use dsrs_metrics::Evaluate;
use dsrs_metrics::lm::{LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use super::{error_of, pred, scored};

/// Grade the text.
#[judge(score = grade, scoring(by = draws(4)), reasoning = false, cost = "8 msat")]
pub(super) struct Drawn {
    #[input(pred)]
    text: String,
    #[output(range = 0..=9)]
    grade: u8,
}

#[tokio::test]
async fn draws_are_several_answers_of_each_model_and_the_score_is_their_mean() {
    let grades = [3, 4, 4, 9].map(|grade| json!({ "grade": grade }));
    let lm = Arc::new(ScriptedLm::new().replies(grades).cost(2));
    let judge = DrawnJudge::default().with_lm(Arc::clone(&lm));
    let scored = scored(&judge).await;
    assert_eq!((scored.score.value, scored.score.cost_msats), (5.0, 8));
    let answers = scored.metadata().unwrap()["judges"][0]["answers"]
        .as_array()
        .map(Vec::len);
    assert_eq!(answers, Some(4));
    let requests = lm.requests();
    let sampled = requests
        .iter()
        .map(|it| (it.draw, it.sampling.seed, it.sampling.temperature));
    let expected = [42, 43, 44, 45].map(|seed| (seed as u32 - 42, Some(seed), Some(1.0)));
    assert_eq!(sampled.collect::<Vec<_>>(), expected);
    assert!(requests.iter().all(|request| request.logprobs.is_none()));
}

#[tokio::test]
async fn equal_models_of_a_panel_have_other_draws() {
    let lm = Arc::new(
        ScriptedLm::new().otherwise(|request: &LmRequest| json!({ "grade": request.draw })),
    );
    let judge = DrawnJudge::builder()
        .models([Arc::clone(&lm), Arc::clone(&lm)])
        .build();
    let score = judge.evaluate(&example! {}, &pred()).await.unwrap();
    assert_eq!(score.value, f64::midpoint(1.5, 5.5));
    let mut draws: Vec<_> = lm.requests().iter().map(|request| request.draw).collect();
    draws.sort_unstable();
    assert_eq!(draws, [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Each repeat of a row has draws of its own, so that a store does not answer them.
#[tokio::test]
async fn repeats_of_a_row_have_other_draws() {
    let lm = Arc::new(ScriptedLm::new().otherwise(json!({ "grade": 1 })));
    let judge = DrawnJudge::default().with_lm(Arc::clone(&lm));
    let evaluate = Evaluate::builder()
        .devset([example! {}])
        .metric(judge)
        .repeats(3);
    let evaluate = evaluate.build().unwrap();
    let result = evaluate.run(|_: Example| async { pred() }).await.unwrap();
    assert_eq!(result.score, Some(1.0));
    let mut draws: Vec<_> = lm.requests().iter().map(|request| request.draw).collect();
    draws.sort_unstable();
    draws.dedup();
    assert_eq!(draws.len(), 12);
}

#[tokio::test]
async fn a_failed_draw_is_not_left_out() {
    let bad = json!({ "grade": 12 });
    let good = json!({ "grade": 3 });
    let lm = ScriptedLm::new().replies([&good, &good, &good, &bad, &bad].map(Value::clone));
    let error = error_of(DrawnJudge::default().with_lm(lm)).await;
    assert!(error.contains("scripted:lm returned no verdict after one repair: expected `grade` between 0 and 9, found 12"), "{error}");
}

/// Say whether the text is polite.
#[judge(scoring(by = draws(5), temperature = 0.7), threshold = 0.6)]
struct MostlyPolite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}

#[tokio::test]
async fn draws_of_a_bool_are_the_share_of_true() {
    let answers =
        [true, true, false, true, false].map(|it| json!({ "reasoning": "", "polite": it }));
    let lm = Arc::new(ScriptedLm::new().replies(answers));
    let judge = MostlyPoliteJudge::default().with_lm(Arc::clone(&lm));
    let scored = scored(&judge).await;
    assert_eq!((scored.score.value, scored.passed), (0.6, Some(true)));
    assert_eq!(lm.requests()[0].sampling.temperature, Some(0.7));
}
