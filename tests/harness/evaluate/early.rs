//! A run that ends once its gates are decided: the same rows decide at any concurrency, and the others are counted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::{Ending, EvaluateBuilder, EvaluationResult};
use dsrs_metrics::{Evaluate, metrics, rows::Pair};

/// Returns rows; one in `wrong` has a different answer. Each row says how long its program takes.
fn devset(rows: usize, wrong: usize) -> Vec<Example> {
    (0..rows)
        .map(|n| example! { "n" => n, "answer" => usize::from(n % wrong == wrong - 1), "wait" => n * 7 % 11 })
        .collect()
}

fn right() -> impl Metric {
    metric_fn("right", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    })
}

async fn answer(inputs: Example) -> Prediction {
    let wait = inputs.get("wait").unwrap().as_u64().unwrap();
    tokio::time::sleep(Duration::from_millis(wait)).await;
    prediction! { "answer" => 0 }
}

fn evaluate(rows: usize, wrong: usize) -> EvaluateBuilder<Example, Prediction> {
    Evaluate::builder()
        .devset(devset(rows, wrong))
        .inputs(["wait"])
        .metric(right())
}

/// The outcomes, in input order.
fn outcomes(result: &EvaluationResult) -> Vec<&'static str> {
    result
        .results
        .iter()
        .map(|row| row.outcomes[0].name())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_rows_decide_at_any_concurrency() {
    let mut runs = Vec::new();
    for concurrency in [1, 8, 64] {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let program = move |inputs: Example| {
            counted.fetch_add(1, Ordering::SeqCst);
            answer(inputs)
        };
        let evaluate = evaluate(1000, 25).concurrency(concurrency);
        let evaluate = evaluate.stop(|stop| stop.when_decided(["right >= 0.9"], 0.01));
        let result = evaluate.run(program).await.unwrap();
        assert_eq!(result.ending, Ending::Decided);
        let early = result.early.clone().unwrap();
        assert_eq!((early.rows, early.gates[0].passed), (1000, Some(true)));
        assert!(early.evaluated < 300, "{early:?}");
        // No more rows are in progress than the concurrency allows, apart from those that wait for an earlier one.
        let spent = calls.load(Ordering::SeqCst) as u64;
        assert!(spent < early.evaluated + 2 * concurrency as u64, "{spent}");
        let summary = &result.metrics[0];
        assert_eq!(
            (summary.scored, summary.not_needed),
            (early.evaluated, 1000 - early.evaluated)
        );
        assert!(
            result
                .results
                .iter()
                .all(|row| row.pred.is_none() == (row.outcomes[0] == Outcome::NotNeeded))
        );
        runs.push((early, result.to_string(), outcomes(&result).join(",")));
    }
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_when_the_deciding_row_is_the_last_of_many_to_finish() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&calls);
    let run = |concurrency, slow: Option<u64>| {
        let record = Arc::clone(&record);
        let program = move |inputs: Example| {
            let n = inputs.get("n").unwrap().as_u64().unwrap();
            record.lock().unwrap().push(n);
            async move {
                let wait = if Some(n) == slow { 10_000 } else { 1 };
                tokio::time::sleep(Duration::from_millis(wait)).await;
                prediction! { "answer" => 0 }
            }
        };
        let evaluate = evaluate(1000, 25).inputs(["n"]).concurrency(concurrency);
        let evaluate = evaluate.stop(|stop| stop.when_decided(["right >= 0.9"], 0.01));
        tokio::time::timeout(Duration::from_secs(600), evaluate.run(program))
    };
    let one_by_one = run(1, None).await.unwrap().unwrap().early.unwrap();
    let deciding = calls.lock().unwrap()[one_by_one.evaluated as usize - 1];
    // The rows after it finish first, as many as may wait.
    let result = run(4, Some(deciding)).await.expect("the run ends").unwrap();
    assert_eq!(result.early.unwrap(), one_by_one);
}

#[tokio::test]
async fn another_seed_takes_other_rows_and_all_rows_are_counted() {
    let rows = || {
        (0..400).map(|n| {
            Pair::new(
                format!("r{n}"),
                example! {"answer" => n % 20},
                prediction! {"answer" => n % 20},
            )
        })
    };
    let run = |seed| async move {
        let evaluate = Evaluate::builder()
            .metric(right())
            .statistics(|it| it.seed(seed));
        evaluate
            .stop(|stop| stop.when_decided(["right >= 0.9"], 0.05))
            .score(rows())
            .await
            .unwrap()
    };
    let (a, b) = (run(0).await, run(1).await);
    assert_eq!((a.rows, b.rows), (400, 400));
    assert_ne!(outcomes(&a), outcomes(&b));
    assert_eq!(outcomes(&a), outcomes(&run(0).await));
}

#[tokio::test]
async fn the_certain_stop_waits_until_no_row_can_change_the_verdict() {
    let scored = |result: &EvaluationResult| result.metrics[0].scored;
    let run = |gate: &'static str, rows: usize| async move {
        let evaluate = evaluate(rows, rows + 5).stop(|stop| stop.when_decided([gate], None));
        evaluate
            .run(|_: Example| async {
                prediction! { "answer" => 0 }
            })
            .await
            .unwrap()
    };
    // All of 10 rows are right: 5 could still be a half, 6 cannot.
    let half = run("right >= 0.5", 10).await;
    assert_eq!((half.ending.clone(), scored(&half)), (Ending::Decided, 6));
    assert!(
        half.to_string()
            .ends_with("decided after 6 of 10 rows; no remaining row can change it")
    );
    // A devset of 3 rows is too short for anything else.
    let three = run("right >= 0.9", 3).await;
    assert_eq!(
        (three.ending.clone(), scored(&three)),
        (Ending::Complete, 3)
    );
    assert_eq!(three.early.unwrap().gates[0].passed, Some(true));
    let failed = run("failed <= 0.2", 10).await;
    assert_eq!(scored(&failed), 9);
}

#[tokio::test]
async fn rows_without_a_score_do_not_count() {
    let rows = (0..500).map(|n| {
        let say = if n % 2 == 0 { "abstain" } else { "1" };
        Pair::new(format!("r{n}"), example! {}, prediction! { "say" => say })
    });
    let metric = metric_fn("said", |_, pred| {
        pred.get("say")
            .is_some_and(|say| *say == "1")
            .then_some(true)
    });
    let evaluate = Evaluate::builder()
        .metric(metric)
        .stop(|stop| stop.when_decided(["said >= 0.8"], 0.01));
    let result = evaluate.score(rows).await.unwrap();
    let summary = &result.metrics[0];
    assert_eq!((result.ending, summary.score), (Ending::Decided, Some(1.0)));
    assert!(summary.abstained > 10 && summary.scored < 100, "{summary}");
}

#[test]
fn what_no_row_decides_is_an_error_before_the_first_row() {
    let error = |gates: &[&str], alpha: f64| {
        let evaluate =
            evaluate(3, 2).metric(typed_metric_fn("size", |_: &Example, _: &Prediction| 2.0));
        let evaluate = evaluate
            .metric(metrics::Bleu::default())
            .metric(metrics::Accuracy::default());
        evaluate
            .stop(|stop| stop.when_decided(gates, alpha))
            .build()
            .unwrap_err()
            .to_string()
    };
    let cases = [
        (
            "size >= 1",
            "gate `size >= 1`: `size` has no range, so a single row could change any verdict; write `range = 0.0..=1.0` in its `#[metric]`",
        ),
        (
            "accuracy >= 0.5",
            "gate `accuracy >= 0.5`: `accuracy` scores all rows together, so it needs all of them; gate on a metric that scores each row",
        ),
        (
            "rihgt >= 0.5",
            "gate `rihgt >= 0.5`: expected a metric in the run (`right`, `size`, `bleu`, `accuracy`), found `rihgt`",
        ),
        (
            "right >= 90",
            "gate `right >= 90`: expected a limit from 0 to 1, found 90",
        ),
        (
            "right > 0.9",
            "expected a gate such as `polite >= 0.9`, `lower(polite) >= 90%` or `failed <= 0.02`, found `right > 0.9`",
        ),
    ];
    for (gate, expected) in cases {
        assert_eq!(error(&[gate], 0.01), expected);
    }
    for alpha in [0.0, -0.1, 0.51, f64::NAN] {
        let expected =
            format!("expected an alpha above 0 and at most 0.5, found {alpha}; write 0.01");
        assert_eq!(error(&["right >= 0.9"], alpha), expected);
    }
    assert_eq!(
        error(&[], 0.01),
        "expected at least one gate, found none; write `polite >= 0.9`"
    );
    let certain = evaluate(3, 2).stop(|stop| stop.when_decided(["lower(right) >= 0.5"], None));
    let expected = "gate `lower(right) >= 0.5`: it cannot be decided for certain before all rows are evaluated; set an alpha such as 0.01";
    assert_eq!(certain.build().unwrap_err().to_string(), expected);
    let grouped = evaluate(3, 2)
        .statistics(|it| it.group("gold.n"))
        .stop(|stop| stop.when_decided(["lower(right) >= 0.5"], 0.05));
    let expected = "gate `lower(right) >= 0.5`: its test needs independent rows, but the rows are grouped; remove the grouping, or evaluate all rows";
    assert_eq!(grouped.build().unwrap_err().to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_first_decides_nothing_and_keeps_its_rows() {
    let signal = tokio::time::sleep(Duration::from_millis(40));
    let evaluate = evaluate(1000, 25).concurrency(4);
    let evaluate = evaluate.stop(|stop| stop.when_decided(["right >= 0.9"], 0.01).when(signal));
    let result = evaluate.run(answer).await.unwrap();
    assert_eq!(result.ending, Ending::Stopped);
    assert_eq!(result.early.as_ref().unwrap().gates[0].passed, None);
    let summary = &result.metrics[0];
    assert_eq!((summary.not_needed, summary.scored), (0, result.rows));
    assert!((10..100).contains(&result.rows), "{}", result.rows);
}
