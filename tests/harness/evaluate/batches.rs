//! Lists of rows at once: `evaluate_batch`, its overrides in runs, and `Module::batch`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::saying;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, MetricError, Outcome, Result,
    contract::MetricSpec,
    rows::Pair,
    runs::{Module, ProgramError},
    scoring::Scorer,
};

/// Counts calls in progress.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    async fn pass(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

fn pairs(rows: usize) -> Vec<(Example, Prediction)> {
    (0..rows)
        .map(|row| (example! { "row" => row }, prediction! { "row" => row }))
        .collect()
}

fn number(row: Option<&serde_json::Value>) -> f64 {
    row.and_then(serde_json::Value::as_f64).unwrap()
}

#[derive(Default)]
struct Slow(Gauge);

#[async_trait]
impl Metric for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn evaluate(&self, gold: &Example, _: &Prediction) -> Result<MetricScore> {
        self.0.pass().await;
        match number(gold.get("row")) {
            row if row % 10.0 == 7.0 => Err(MetricError::failed("slow", "seven")),
            row => Ok(MetricScore::new(row / 1000.0)),
        }
    }
}

#[tokio::test]
async fn evaluate_batch_is_concurrent_and_keeps_the_order() {
    let slow = Slow::default();
    let scores = slow.evaluate_batch(&pairs(100)).await;
    assert_eq!(slow.0.most(), 32);
    assert_eq!(scores.len(), 100);
    for (row, score) in scores.iter().enumerate() {
        match score {
            Ok(score) => assert_eq!(score.value, row as f64 / 1000.0),
            Err(error) => assert!(
                row % 10 == 7 && error.to_string().contains("seven"),
                "{error}"
            ),
        }
    }
    assert!(slow.evaluate_batch(&[]).await.is_empty());
    let sync = metric_fn("odd", |gold, _| number(gold.get("row")) % 2.0 == 1.0);
    let scores = sync.evaluate_batch(&pairs(3)).await;
    let values: Vec<f64> = scores
        .into_iter()
        .map(|score| score.unwrap().value)
        .collect();
    assert_eq!(values, [0.0, 1.0, 0.0]);
}

/// A metric that scores several rows at once, and remembers how many.
#[derive(Default)]
struct Remote {
    sizes: Mutex<Vec<usize>>,
    alone: AtomicUsize,
}

impl Remote {
    fn sizes(&self) -> Vec<usize> {
        self.sizes.lock().unwrap().clone()
    }
}

#[async_trait]
impl Metric for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    async fn evaluate(&self, _: &Example, pred: &Prediction) -> Result<MetricScore> {
        self.alone.fetch_add(1, Ordering::SeqCst);
        Ok(MetricScore::new(
            pred.get("say").unwrap().as_str().unwrap().parse().unwrap(),
        ))
    }

    fn spec(&self) -> MetricSpec<'_> {
        MetricSpec::new("remote").with_async().with_range(0.0, 1.0)
    }

    fn batch_size(&self) -> usize {
        8
    }

    async fn evaluate_batch(&self, pairs: &[(Example, Prediction)]) -> Vec<Result<MetricScore>> {
        self.sizes.lock().unwrap().push(pairs.len());
        tokio::task::yield_now().await;
        let words = pairs
            .iter()
            .map(|(_, pred)| pred.get("say").unwrap().as_str().unwrap());
        let words: Vec<&str> = words.collect();
        assert!(!words.contains(&"panic"), "told to panic");
        if words.contains(&"lose") {
            return Vec::new();
        }
        let score = |word: &str| match word {
            "fail" => Err(MetricError::failed("remote", "told to fail")),
            number => Ok(MetricScore::new(number.parse().unwrap())),
        };
        words.into_iter().map(score).collect()
    }
}

#[tokio::test]
async fn an_override_is_used_by_evaluate() {
    let words: Vec<String> = (0..50)
        .map(|row| format!("{:?}", f64::from(row) / 50.0))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for concurrency in [1, 5, 32] {
        let remote = std::sync::Arc::new(Remote::default());
        let evaluate = Evaluate::builder()
            .metric(remote.clone())
            .concurrency(concurrency);
        let result = evaluate.score(saying(&words)).await.unwrap();
        let scores: Vec<_> = result
            .triples()
            .map(|(_, _, score)| score.unwrap())
            .collect();
        assert_eq!(
            scores,
            (0..50).map(|row| f64::from(row) / 50.0).collect::<Vec<_>>()
        );
        let sizes = remote.sizes();
        assert_eq!(sizes.iter().sum::<usize>(), 50, "{sizes:?}");
        assert_eq!(
            *sizes.iter().max().unwrap(),
            concurrency.min(8),
            "{sizes:?}"
        );
        assert_eq!(remote.alone.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn an_override_is_used_by_the_scorer() {
    let remote = std::sync::Arc::new(Remote::default());
    let scorer = Scorer::builder().metric(remote.clone()).build().unwrap();
    let rows: Vec<Pair> = saying(&["0.5"; 40]);
    let scored = futures_util::future::join_all(
        rows.iter()
            .map(|row| scorer.score_row(&row.gold, &row.pred)),
    );
    assert_eq!(scored.await.len(), 40);
    let sizes = remote.sizes();
    assert_eq!(
        (sizes.iter().sum::<usize>(), sizes.len()),
        (40, 5),
        "{sizes:?}"
    );
}

#[tokio::test]
async fn a_panic_or_a_wrong_count_in_a_batch_affects_its_own_rows_only() {
    let run = async |words: &[&str]| {
        let evaluate = Evaluate::builder().metric(Remote::default()).concurrency(8);
        let result = evaluate.score(saying(words)).await.unwrap();
        let outcome = |row: &dsrs_metrics::runs::RowResult| match &row.outcomes[0] {
            Outcome::Scored(scored) => Ok(scored.score.value),
            outcome => Err(outcome.error().unwrap().to_string()),
        };
        result.results.iter().map(outcome).collect::<Vec<_>>()
    };
    let outcomes = run(&["0.5", "fail", "1", "0"]).await;
    assert_eq!(
        (&outcomes[0], &outcomes[2], &outcomes[3]),
        (&Ok(0.5), &Ok(1.0), &Ok(0.0))
    );
    assert!(outcomes[1].as_ref().unwrap_err().contains("told to fail"));
    for outcome in run(&["0.5", "lose", "1"]).await {
        let error = outcome.unwrap_err();
        assert!(
            error.contains("expected 3 results from `evaluate_batch`, found 0"),
            "{error}"
        );
    }
    let outcomes = run(&["0.5", "panic", "1", "0"]).await;
    // Only the row that panics fails; the others are evaluated again, alone.
    assert!(
        outcomes[1].as_ref().unwrap_err().contains("told to panic"),
        "{outcomes:?}"
    );
    let others = [&outcomes[0], &outcomes[2], &outcomes[3]];
    assert_eq!(others, [&Ok(0.5), &Ok(1.0), &Ok(0.0)], "{outcomes:?}");
}

#[tokio::test]
async fn a_cancelled_leader_does_not_keep_the_others_waiting() {
    let remote = std::sync::Arc::new(Remote::default());
    let scorer = Scorer::builder().metric(remote.clone()).build().unwrap();
    let rows = saying(&["0.5", "1"]);
    let mut first = Box::pin(scorer.score_row(&rows[0].gold, &rows[0].pred));
    let mut second = Box::pin(scorer.score_row(&rows[1].gold, &rows[1].pred));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    drop(first);
    assert_eq!(second.await.score(), Some(1.0));
    assert_eq!(remote.sizes(), [1]);
}

#[derive(Default)]
struct Shout(Gauge);

#[async_trait]
impl Module for Shout {
    async fn forward(&self, inputs: Example) -> std::result::Result<Prediction, ProgramError> {
        self.0.pass().await;
        let text = inputs
            .get("text")
            .and_then(|text| text.as_str())
            .ok_or("no text")?;
        assert!(inputs.get("label").is_none(), "only inputs are passed");
        assert_ne!(text, "panic", "told to panic");
        Ok(prediction! { "text" => text.to_uppercase() })
    }
}

#[tokio::test]
async fn a_module_runs_a_batch_concurrently_and_in_order() {
    let example = |row: usize| match row {
        3 => example! { "label" => 1 }.with_inputs(["text"]),
        5 => example! { "text" => "panic" }.with_inputs(["text"]),
        row => example! { "text" => format!("t{row}"), "label" => 1 }.with_inputs(["text"]),
    };
    let module: Box<dyn Module> = Box::new(Shout::default());
    let results = module.batch((0..40).map(example).collect(), 8).await;
    assert_eq!(results.len(), 40);
    for (row, result) in results.iter().enumerate() {
        match (row, result) {
            (3, Err(error)) => {
                assert_eq!(error.to_string(), "no input `text`; the row has `label`");
            }
            (5, Err(error)) => assert!(error.to_string().starts_with("the program panicked: ")),
            (row, result) => {
                assert_eq!(
                    result.as_ref().unwrap().get("text").unwrap(),
                    &format!("T{row}")
                );
            }
        }
    }
    let counted = Shout::default();
    for (concurrency, most) in [(0, 1), (1, 1), (8, 8)] {
        counted
            .batch((10..40).map(example).collect(), concurrency)
            .await;
        assert_eq!(counted.0.most(), most);
    }
}
