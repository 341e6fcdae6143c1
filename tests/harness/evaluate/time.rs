//! Timeouts and second attempts, on tokio's paused clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{saying, scoring};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, MetricError, contract::MetricErrorKind, rows::Fields, runs::EvaluationResult,
};

const SECOND: Duration = Duration::from_secs(1);

struct Sleeps(u64);

#[async_trait]
impl Metric for Sleeps {
    fn name(&self) -> &'static str {
        "sleeps"
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        tokio::time::sleep(SECOND * u32::try_from(self.0).unwrap()).await;
        Ok(MetricScore::new(1.0))
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_that_hangs_times_out_alone() {
    let devset = (0..3).map(|n| example! { "n" => n });
    let evaluate = scoring()
        .devset(devset)
        .inputs(["n"])
        .timeout(30 * SECOND)
        .build()
        .unwrap();
    let run = evaluate.run(|inputs: Example| async move {
        if inputs.get("n").unwrap() == 1 {
            std::future::pending::<()>().await;
        }
        prediction! { "say" => "1" }
    });
    let run = tokio::time::timeout(100 * SECOND, run);
    let result = run.await.expect("row 1 never ends").unwrap();
    let error = result.results[1].outcomes[0].error().unwrap();
    assert_eq!(
        error,
        "the program returned no prediction within 30 s; raise `timeout`"
    );
    assert_eq!((result.metrics[0].scored, result.metrics[0].failed), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn program_and_metrics_share_the_time_and_what_is_finished_counts() {
    let evaluate = scoring()
        .metric(Sleeps(6))
        .devset([example! {}])
        .timeout(10 * SECOND);
    let result = evaluate
        .build()
        .unwrap()
        .run(|_: Example| async {
            tokio::time::sleep(5 * SECOND).await;
            prediction! { "say" => "1" }
        })
        .await
        .unwrap();
    let outcomes = &result.results[0].outcomes;
    assert_eq!(outcomes[0].value(), Some(1.0));
    let error = MetricError::new("sleeps", MetricErrorKind::TimedOut { seconds: 10.0 });
    assert_eq!(outcomes[1], Outcome::MetricFailed { error });
    let evaluate = scoring()
        .metric(Sleeps(6))
        .timeout(10 * SECOND)
        .build()
        .unwrap();
    assert_eq!(evaluate.score(saying(&["1"])).await.unwrap().failed_rows, 0);
}

/// Counts calls started and calls finished.
struct Call(Arc<[AtomicUsize; 3]>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0[2].fetch_add(1, Ordering::SeqCst);
    }
}

/// One row whose n-th call takes `seconds[n]`; returns the calls started, finished and dropped.
async fn straggling(seconds: [u64; 3], after: Duration) -> (EvaluationResult, [usize; 3]) {
    let calls = Arc::new([const { AtomicUsize::new(0) }; 3]);
    let counted = Arc::clone(&calls);
    let evaluate = scoring()
        .devset([example! {}])
        .failures(|failures| failures.resubmit_stragglers(after))
        .build()
        .unwrap();
    let result = evaluate
        .run(move |_: Example| {
            let nth = counted[0].fetch_add(1, Ordering::SeqCst);
            let call = Call(Arc::clone(&counted));
            async move {
                tokio::time::sleep(SECOND * u32::try_from(seconds[nth]).unwrap()).await;
                call.0[1].fetch_add(1, Ordering::SeqCst);
                prediction! { "say" => format!("{nth}") }
            }
        })
        .await
        .unwrap();
    (
        result,
        std::array::from_fn(|count| calls[count].load(Ordering::SeqCst)),
    )
}

#[tokio::test(start_paused = true)]
async fn a_straggler_is_resubmitted_exactly_once() {
    let started = tokio::time::Instant::now();
    let (result, [begun, finished, dropped]) = straggling([1_000, 700, 0], 120 * SECOND).await;
    assert_eq!(
        (begun, finished, dropped),
        (2, 1, 2),
        "the loser is cancelled"
    );
    assert_eq!(result.score, Some(1.0), "the second attempt finished first");
    assert_eq!(started.elapsed(), 820 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_may_still_win() {
    let (result, counts) = straggling([130, 500, 0], 120 * SECOND).await;
    assert_eq!((result.score, counts), (Some(0.0), [2, 1, 2]));
}

#[tokio::test(start_paused = true)]
async fn a_fast_call_is_not_resubmitted() {
    let (result, counts) = straggling([119, 0, 0], 120 * SECOND).await;
    assert_eq!((result.score, counts), (Some(0.0), [1, 1, 1]));
}

#[tokio::test(start_paused = true)]
async fn a_straggling_metric_is_resubmitted_too() {
    struct SlowAtFirst(AtomicUsize);
    #[async_trait]
    impl Metric for SlowAtFirst {
        fn name(&self) -> &'static str {
            "slow_at_first"
        }
        async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
            if self.0.fetch_add(1, Ordering::SeqCst) == 0 {
                std::future::pending::<()>().await;
            }
            Ok(MetricScore::new(0.5))
        }
    }
    let evaluate = scoring()
        .metric(SlowAtFirst(AtomicUsize::new(0)))
        .failures(|failures| failures.resubmit_stragglers(SECOND));
    let evaluate = evaluate.build().unwrap();
    let run = tokio::time::timeout(100 * SECOND, evaluate.score(saying(&["1"])));
    let result = run.await.expect("the first attempt never ends").unwrap();
    assert_eq!(result.metrics[1].mean, Some(0.5));
}

type Output = fn() -> Result<Prediction, String>;

/// One row with two calls, the second started after one second, each with its duration in seconds.
async fn two_attempts(calls: [(u64, Output); 2]) -> EvaluationResult {
    let begun = Arc::new(AtomicUsize::new(0));
    let evaluate = scoring()
        .devset([example! {}])
        .failures(|failures| failures.resubmit_stragglers(SECOND))
        .build()
        .unwrap();
    let program = move |_: Example| {
        let (seconds, output) = calls[begun.fetch_add(1, Ordering::SeqCst)];
        async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            output()
        }
    };
    evaluate.run(program).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_second_attempt_that_fails_does_not_win() {
    let good = || Ok(prediction! { "say" => "1" });
    let (fails, panics) = (|| Err("429".to_owned()), || panic!("out of memory"));
    for failure in [fails as Output, panics as Output] {
        for calls in [
            [(9, good as Output), (0, failure)],
            [(3, failure), (9, good)],
        ] {
            let started = tokio::time::Instant::now();
            let result = two_attempts(calls).await;
            assert_eq!((result.score, result.failed_rows), (Some(1.0), 0));
            assert!(started.elapsed() >= 9 * SECOND);
        }
    }
    for calls in [
        [(5, fails as Output), (0, panics as Output)],
        [(2, fails), (9, panics)],
    ] {
        let result = two_attempts(calls).await;
        assert_eq!(
            result.first_error.as_deref(),
            Some("row `0`: 429"),
            "both failed"
        );
    }
    let result = two_attempts([(0, fails), (0, good)]).await;
    assert_eq!(
        result.failed_rows, 1,
        "what fails in time is not resubmitted"
    );
}

/// Blocks its thread for a second on row 1, at the given place.
fn blocks(place: &'static str) -> impl Fn(&str, &Fields) + Send + Sync + Copy {
    move |here, row| {
        if here == place && row.get("n").unwrap() == 1 {
            std::thread::sleep(SECOND);
        }
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_interrupted_still_times_out() {
    struct Later<F>(F);
    #[async_trait]
    impl<F: Fn(&str, &Fields) + Send + Sync> Metric for Later<F> {
        fn name(&self) -> &'static str {
            "later"
        }
        async fn evaluate(
            &self,
            gold: &Example,
            _: &Prediction,
        ) -> dsrs_metrics::Result<MetricScore> {
            (self.0)("later", &gold.data);
            Ok(MetricScore::new(1.0))
        }
    }
    for (place, failed) in [("now", [1, 1]), ("later", [0, 1]), ("program", [1, 1])] {
        let block = blocks(place);
        let now = metric_fn("now", move |gold: &Example, _| {
            block("now", &gold.data);
            true
        });
        let evaluate = Evaluate::builder()
            .metric(now)
            .metric(Later(block))
            .concurrency(1);
        let evaluate = evaluate
            .devset((0..3).map(|n| example! { "n" => n }))
            .inputs(["n"]);
        let evaluate = evaluate.timeout(SECOND / 2);
        let program = move |inputs: Example| async move {
            block("program", &inputs.data);
            prediction! {}
        };
        let result = evaluate.build().unwrap().run(program).await.unwrap();
        let counts = [0, 1].map(|metric| result.metrics[metric].failed);
        assert_eq!(counts, failed, "{place}: {result}");
        if place != "program" {
            let error = result.results[1].outcomes[usize::from(place == "later")].error();
            assert_eq!(
                error.unwrap(),
                format!("metric `{place}` returned no score within 0.5 s")
            );
        }
    }
}
