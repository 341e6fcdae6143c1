//! A scorer runs a program several times on each example.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{ScriptedMetric, cheap_and_dear};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Outcome,
    composite::OnMissing,
    contract::Settings,
    runs::{Module, ProgramError, ProgramOutput, ProgramRun, ProgramUsage, RolloutNumber},
    scoring::{AggregationMethod, RowStatus, Scorer},
};

/// Returns the score of the current rollout, from the input `scores`; fails at -1 and panics at -2.
#[derive(Default)]
struct Guess {
    calls: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Module for Guess {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.most.fetch_max(
            1 + self.running.fetch_add(1, Ordering::SeqCst),
            Ordering::SeqCst,
        );
        tokio::task::yield_now().await;
        self.running.fetch_sub(1, Ordering::SeqCst);
        let RolloutNumber(number) = *Settings::get().ok_or("not a rollout")?;
        let score = inputs
            .get("scores")
            .and_then(|scores| scores.get(number)?.as_f64());
        let score = score.ok_or("no score for this rollout")?;
        assert!(score > -2.0, "told to panic");
        if score < 0.0 {
            return Err("told to fail".into());
        }
        Ok(prediction! { "cheap" => 1.0, "dear" => score, "label" => inputs.get("label") })
    }
}

fn gold<const N: usize>(scores: [f64; N]) -> Example {
    let scores = scores.to_vec();
    example! { "scores" => scores, "label" => 1 }.with_inputs(["scores"])
}

#[tokio::test]
async fn a_program_runs_num_rollouts_times_on_each_example() {
    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer
        .num_rollouts(3)
        .aggregation(AggregationMethod::Median)
        .build()
        .unwrap();
    let program = Arc::new(Guess::default());
    let examples = vec![gold([0.1, 0.9, 0.5]), gold([1.0, 1.0, 0.0])];
    let result = scorer.run(Arc::clone(&program), examples, 2).await.unwrap();
    assert_eq!(program.calls.load(Ordering::SeqCst), 6);
    let scores: Vec<_> = result
        .rows
        .iter()
        .map(dsrs_metrics::scoring::RowScore::score)
        .collect();
    assert_eq!(scores, [Some(0.5), Some(1.0)]);
    assert_eq!((result.summary.rollouts, result.summary.short), (6, 0));
    assert_eq!(result.summary.mean, Some(0.75));
    assert!(
        program.most.load(Ordering::SeqCst) <= 2,
        "at most `concurrency` runs at once"
    );

    let row = scorer.run_row(&*program, &gold([0.25, 0.25, 0.5])).await;
    assert_eq!(row.into_score().unwrap().value, 0.25);
}

#[tokio::test]
async fn an_async_function_is_a_program_and_sees_no_labels() {
    let scorer = Scorer::builder().metric(metric_fn("leak", |_, pred| pred.get("label").is_none()));
    let scorer = scorer.num_rollouts(2).build().unwrap();
    let program = |inputs: Example| async move {
        let label = inputs.get("label").cloned();
        label.map_or(prediction! {}, |label| prediction! { "label" => label })
    };
    let result = scorer.run(program, vec![gold([0.0])], 1).await.unwrap();
    assert_eq!(
        (result.summary.mean, result.summary.rollouts),
        (Some(1.0), 2)
    );
}

#[tokio::test]
async fn a_run_that_fails_is_a_rollout_without_a_score() {
    for (on_missing, expected) in [
        (OnMissing::Fail, None),
        (OnMissing::Skip, Some(0.8)),
        (OnMissing::Zero, Some(0.4)),
    ] {
        let (scorer, _, dear) = cheap_and_dear();
        let scorer = scorer.num_rollouts(2).aggregation(AggregationMethod::Mean);
        let scorer = scorer
            .on_missing(on_missing)
            .budget_msats(1000)
            .build()
            .unwrap();
        let row = scorer.run_row(&Guess::default(), &gold([-1.0, 0.8])).await;
        assert_eq!(
            (row.score(), row.failed(), dear.calls()),
            (expected, 1, 1),
            "{on_missing:?}"
        );
        let failed = Outcome::ProgramFailed {
            error: "told to fail".into(),
        };
        assert_eq!(row.rollouts[0].outcomes, [failed.clone(), failed]);
        assert_eq!(row.rollouts[1].status, RowStatus::Scored { score: 0.8 });
    }
    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer.num_rollouts(2).build().unwrap();
    let result = scorer
        .run(Guess::default(), vec![gold([0.5, -2.0])], 1)
        .await
        .unwrap();
    assert_eq!(
        result.rows[0].status.to_string(),
        "no score: rollout 2 of 2: the program failed: the program panicked: told to panic"
    );
    assert_eq!(
        (result.summary.failed, result.summary.rollouts_failed),
        (1, 1)
    );
}

#[tokio::test]
async fn the_budget_covers_all_rollouts_of_an_example_or_none() {
    for (budget, spent, concurrency) in [(599, 300, 1), (600, 600, 1), (599, 300, 512), (299, 0, 8)]
    {
        let dear = ScriptedMetric::truth("dear", 100).waiting();
        let scorer = Scorer::builder()
            .metric(dear.clone())
            .num_rollouts(3)
            .budget_msats(budget);
        let scorer = scorer.build().unwrap();
        let examples = vec![gold([0.1, 0.9, 0.5]), gold([1.0, 1.0, 0.0])];
        let result = scorer
            .run(Guess::default(), examples, concurrency)
            .await
            .unwrap();
        assert_eq!(
            (scorer.budget().spent, scorer.budget().overrun),
            (spent, 0),
            "of {budget}"
        );
        assert_eq!(result.summary.scored, spent / 300);
        assert_eq!(result.summary.skipped, 2 - spent / 300);
    }
}

#[tokio::test]
async fn a_run_without_rows_or_concurrency_is_an_error() {
    let (scorer, ..) = cheap_and_dear();
    let scorer = scorer.build().unwrap();
    let none = scorer
        .run(Guess::default(), Vec::new(), 1)
        .await
        .unwrap_err();
    let no_rows = "expected at least 1 row, found none; check the source of the rows";
    assert_eq!(none.to_string(), no_rows);
    let zero = scorer
        .run(Guess::default(), vec![gold([0.0])], 0)
        .await
        .unwrap_err();
    assert_eq!(
        zero.to_string(),
        "expected `concurrency` to be at least 1, found 0"
    );
}

/// The tokens of the program, as a share of 100.
#[metric(range = 0.0..=1.0)]
fn tokens_of_100(pred: &Prediction, run: Option<&ProgramRun>) -> Option<f64> {
    let _ = pred;
    Some(run?.usage?.tokens() as f64 / 100.0)
}

#[tokio::test]
async fn metrics_read_the_usage_of_each_rollout() {
    let scorer = Scorer::builder()
        .metric(TokensOf100)
        .aggregation(AggregationMethod::Max);
    let scorer = scorer.threshold(0.0).num_rollouts(3).build().unwrap();
    let program = |_: Example| async {
        let RolloutNumber(number) = *Settings::get().unwrap();
        ProgramOutput::new(prediction! {}).with_usage(ProgramUsage::new(20, 10 * number as u64))
    };
    let row = scorer.run_row(&program, &gold([0.0])).await;
    let scores: Vec<_> = row
        .rollouts
        .iter()
        .map(|rollout| rollout.status.score())
        .collect();
    assert_eq!(scores, [Some(0.2), Some(0.3), Some(0.4)]);
    assert_eq!(row.score(), Some(0.4));
}

#[tokio::test]
async fn an_error_that_starts_like_a_panic_message_is_still_an_error_that_the_program_returned() {
    let dir = tempfile::tempdir().unwrap();
    let program = |_: Example| async {
        let RolloutNumber(number) = *Settings::get().unwrap();
        assert!(number == 0, "told to panic");
        Err::<Prediction, _>("the program counter overflowed")
    };
    for _ in 0..2 {
        let metric = metric_fn("any", |_, _| true);
        let scorer = Scorer::builder().metric(metric).num_rollouts(2);
        let scorer = scorer
            .evaluate(|run| run.models(|models| models.store(dir.path())))
            .build()
            .unwrap();
        let result = scorer.run(program, vec![gold([0.5])], 1).await.unwrap();
        let status = result.rows[0].status.to_string();
        assert_eq!(
            status,
            "no score: rollout 1 of 2: the program failed: the program counter overflowed; \
             rollout 2 of 2: the program failed: the program panicked: told to panic"
        );
        assert_eq!(result.store.unwrap().found, 0, "a failure is not kept");
    }
}
