//! A metric that judges a sample of the rows: the same rows at any concurrency, an estimate for all, and no score of a row
//! outside the sample.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::{
    Ending, EvaluateBuilder, EvaluationResult, Sample, TruthMethod, TruthResult,
};
use dsrs_metrics::stats::{Interval, Proportion, Stratum, prediction_powered, sampled_share};
use dsrs_metrics::{Evaluate, rows::Pair};
use serde_json::Value;

/// A row whose proxy passes unless its number ends with 0. The truth differs in one row in 20.
fn row(n: u32) -> Pair {
    let same = !n.is_multiple_of(10);
    let polite = same != (n * 7919 % 1000 < 50);
    Pair::new(
        format!("r{n}"),
        example! { "n" => n },
        prediction! { "same" => same, "polite" => polite, "wait" => n * 7 % 11 },
    )
}

fn of_field(name: &'static str) -> impl Metric {
    metric_fn(name, move |_, pred| pred.get(name).and_then(Value::as_bool))
}

fn evaluate() -> EvaluateBuilder<Example, Prediction> {
    Evaluate::builder().metric(of_field("same"))
}

fn sample(rows: u64) -> Sample {
    Sample::rows(rows).stratified_by("same")
}

fn truth(result: &EvaluationResult) -> &TruthResult {
    result.metrics[1].sampled.as_ref().unwrap()
}

fn outcomes(result: &EvaluationResult) -> Vec<Outcome> {
    let rows = result.results.iter();
    rows.map(|row| row.outcomes[1].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_rows_are_judged_at_any_concurrency() {
    let mut runs = Vec::new();
    for concurrency in [1, 8, 64] {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let polite = metric_fn("polite", move |_: &Example, pred: &Prediction| {
            let is_polite = pred.get("polite").and_then(Value::as_bool);
            let wait = pred.get("wait").and_then(Value::as_u64).unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            async move {
                tokio::time::sleep(Duration::from_millis(wait)).await;
                is_polite
            }
        });
        let result = evaluate()
            .truth(polite, sample(100))
            .concurrency(concurrency)
            .score((0..1000).map(row))
            .await
            .unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), 100);
        let summary = &result.metrics[1];
        assert_eq!(
            (summary.scored, summary.not_sampled, summary.rows()),
            (100, 900, 1000)
        );
        runs.push((
            result.to_string(),
            outcomes(&result),
            result.manifest.run.truth.clone(),
        ));
    }
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[tokio::test]
async fn verdicts_are_post_stratified_and_no_other_row_has_a_score() {
    let result = evaluate()
        .truth(of_field("polite"), sample(100))
        .score((0..1000).map(row))
        .await
        .unwrap();
    let mut strata = [Stratum::default(); 2];
    for row in &result.results {
        let passed = |metric: usize| row.outcomes[metric].value().map(|it| it == 1.0);
        let stratum = &mut strata[usize::from(passed(0).unwrap())];
        stratum.rows += 1;
        match (passed(1), &row.outcomes[1]) {
            (Some(polite), _) => stratum.labelled.record(polite),
            (None, Outcome::NotSampled { probability }) => assert_eq!(*probability, 0.1),
            (None, other) => panic!("{other:?}"),
        }
    }
    let trials = strata.map(
        |Stratum {
             labelled: Proportion { trials, .. },
             ..
         }| trials,
    );
    assert_eq!(trials, [10, 90]);
    let expected = sampled_share(&strata).unwrap();
    let found = truth(&result);
    assert_eq!(found.method, TruthMethod::PostStratified);
    assert_eq!((found.mean, found.worth), (expected.mean, expected.worth));
    assert_eq!(found.ci95, [expected.interval.low, expected.interval.high]);
    assert!(expected.worth > 150.0, "{expected:?}");
    let summary = &result.metrics[1];
    assert_eq!(
        (summary.score, summary.mean),
        (Some(expected.mean), Some(expected.mean))
    );
    assert_eq!(summary.uncertainty.ci95(), Some(expected.interval));
    let all = (0..1000)
        .filter(|n| row(*n).pred.get("polite").unwrap() == true)
        .count();
    let all = all as f64 / 1000.0;
    assert!(
        expected.interval.low < all && all < expected.interval.high,
        "{all} {expected:?}"
    );
}

#[tokio::test]
async fn numbers_are_prediction_powered() {
    let number = |name: &'static str, noise: f64| {
        let score = move |gold: &Example, _: &Prediction| {
            let n = gold.get("n").and_then(Value::as_f64).unwrap();
            (n / 1000.0 + noise * ((n * 0.618).fract() - 0.5)).clamp(0.0, 1.0)
        };
        metric_fn(name, score).with_range(0.0, 1.0)
    };
    let result = Evaluate::builder()
        .metric(number("f1", 0.0))
        .truth(number("rated", 0.2), Sample::rows(50).stratified_by("f1"))
        .score((0..1000).map(row))
        .await
        .unwrap();
    let (mut judged, mut others) = (Vec::new(), Vec::new());
    for row in &result.results {
        let proxy = row.outcomes[0].value().unwrap();
        match row.outcomes[1].value() {
            Some(value) => judged.push((value, proxy)),
            None => others.push(proxy),
        }
    }
    let unit = Interval {
        low: 0.0,
        high: 1.0,
    };
    let expected = prediction_powered(&judged, &others, unit).unwrap();
    let found = truth(&result);
    assert_eq!(found.method, TruthMethod::PredictionPowered);
    assert_eq!((found.mean, found.worth), (expected.mean, expected.worth));
    assert_eq!(found.strata.len(), 5);
    assert!(
        found
            .strata
            .iter()
            .all(|it| (it.rows, it.sampled) == (200, 10))
    );
    assert!(expected.worth > 200.0, "{expected:?}");
}

#[tokio::test]
async fn a_proxy_that_says_nothing_leaves_the_sample_alone() {
    let headline = |proxy: fn(u32) -> bool, truth: fn(u32) -> Option<bool>| async move {
        let number = |gold: &Example| gold.get("n").and_then(Value::as_u64).unwrap() as u32;
        let proxy = metric_fn("same", move |gold: &Example, _: &Prediction| {
            proxy(number(gold))
        });
        let truth = metric_fn("polite", move |gold: &Example, _: &Prediction| {
            truth(number(gold))
        });
        let evaluate = Evaluate::builder().metric(proxy).truth(truth, sample(100));
        let result = evaluate.score((0..1000).map(row)).await.unwrap();
        result.metrics[1].to_string()
    };
    let is_polite = |n: u32| Some(!n.is_multiple_of(10));
    insta::assert_snapshot!(headline(|_| true, is_polite).await, @"93.00% [86.68, 96.44] (100 of 1,000 judged, 0 failed; `same` is the same for nearly all rows, so it is not used)");
    insta::assert_snapshot!(headline(|n| n.is_multiple_of(10), is_polite).await, @"90.00% [86.67, 92.59] (100 of 1,000 judged, worth 288, 0 failed)");
    let half = |n: u32| n.is_multiple_of(2).then_some(!n.is_multiple_of(10));
    insta::assert_snapshot!(headline(|n| !n.is_multiple_of(10), half).await, @"80.00% [67.69, 88.42] (50 of 1,000 judged, 0 failed, 50 abstained; 50 of 100 sampled rows have no score, so `same` is not used)");
    insta::assert_snapshot!(headline(|n| !n.is_multiple_of(10), |_| None).await, @"not enough rows (0/1000 scored, 0 failed, 100 abstained, 900 not sampled)");
}

#[tokio::test]
async fn failed_programs_are_counted_and_not_judged() {
    let devset = (0..400).map(|n| example! { "n" => n, "question" => n });
    let program = |inputs: Example| async move {
        let n = inputs.get("question").and_then(Value::as_u64).unwrap();
        match n % 4 {
            0 => Err("connection refused"),
            _ => Ok(prediction! { "same" => true, "polite" => true }),
        }
    };
    let result = evaluate()
        .truth(of_field("polite"), sample(50))
        .devset(devset)
        .inputs("question")
        .run(program)
        .await
        .unwrap();
    let summary = &result.metrics[1];
    assert_eq!(
        (summary.scored, summary.failed, summary.not_sampled),
        (50, 100, 250)
    );
    let found = truth(&result);
    assert_eq!((found.rows, found.judged, found.mean), (300, 50, 0.75));
    assert!(found.ci95[1] == 0.75 && found.ci95[0] > 0.68, "{found:?}");
}

#[tokio::test]
async fn the_interval_covers_the_mean_of_all_rows() {
    let polite = |n: u32| row(n).pred.get("polite").unwrap() == true;
    let all = (0..1000).filter(|n| polite(*n)).count() as f64 / 1000.0;
    let (mut covered, mut rows) = (0, BTreeSet::new());
    for seed in 0..100 {
        let evaluate = evaluate().statistics(|statistics| statistics.seed(seed));
        let evaluate = evaluate.truth(of_field("polite"), sample(100));
        let result = evaluate.score((0..1000).map(row)).await.unwrap();
        let [low, high] = truth(&result).ci95;
        covered += u32::from(low <= all && all <= high);
        let judged = result
            .results
            .iter()
            .filter(|row| row.outcomes[1].scored().is_some());
        rows.extend(judged.map(|row| row.id.clone()));
    }
    assert!(covered >= 90, "{covered} of 100 intervals cover {all}");
    assert!(rows.len() > 990, "{} rows were ever judged", rows.len());
}

#[tokio::test]
async fn a_run_that_stops_judges_no_row() {
    let devset = (0..400).map(|n| example! { "question" => n });
    let program = |_: Example| async { Err::<Prediction, _>("connection refused") };
    let stopped = evaluate()
        .truth(of_field("polite"), sample(50))
        .max_errors(5)
        .concurrency(1)
        .devset(devset)
        .inputs("question")
        .run(program)
        .await
        .unwrap();
    assert_eq!((stopped.rows, stopped.ending), (5, Ending::MaxErrors));
    let stopped = evaluate()
        .truth(of_field("polite"), sample(50))
        .stop(|stop| stop.when(std::future::ready(())))
        .score((0..1000).map(row))
        .await
        .unwrap();
    let unsampled = Outcome::NotSampled { probability: 0.0 };
    assert!(outcomes(&stopped).iter().all(|it| *it == unsampled));
    assert_eq!(stopped.metrics[1].sampled, None);
    assert_eq!(stopped.ending, Ending::Stopped);
}

#[tokio::test]
async fn a_large_sample_takes_all_rows() {
    let run = |evaluate: EvaluateBuilder<Example, Prediction>| evaluate.score((0..60).map(row));
    let all = run(evaluate().metric(of_field("polite"))).await.unwrap();
    let sampled = run(evaluate().truth(of_field("polite"), sample(100)));
    let sampled = sampled.await.unwrap();
    assert_eq!(sampled.metrics[1], all.metrics[1]);
    assert_eq!(sampled.metrics[1].sampled, None);
    assert_eq!(
        sampled.notes,
        ["`polite` judged all 60 rows, because its sample size is 100"]
    );
}

#[test]
fn an_impossible_sample_is_an_error_before_the_first_row() {
    let error = |builder: EvaluateBuilder<Example, Prediction>| {
        builder.build().map(|_| ()).unwrap_err().to_string()
    };
    let polite = || of_field("polite");
    insta::assert_snapshot!(error(evaluate().truth(polite(), sample(3))), @"truth `polite`: expected a sample of at least 10 rows, found 3; write 100");
    insta::assert_snapshot!(error(evaluate().truth(polite(), Sample::rows(100).stratified_by("f1"))), @"truth `polite`: expected another metric in the run to stratify by, found `f1`; write `same`");
    insta::assert_snapshot!(error(Evaluate::builder().truth(polite(), sample(100))), @"truth `polite`: expected another metric in the run to stratify by, found `same`; add the metric `same`");
    insta::assert_snapshot!(error(evaluate().truth(polite(), sample(100)).repeats(2)), @"truth `polite`: it judges a row once; remove the repeats, or judge all rows");
    let early = evaluate().truth(polite(), sample(100));
    insta::assert_snapshot!(error(early.stop(|stop| stop.when_decided(["same >= 0.5"], 0.01))), @"truth `polite`: a run that ends once its gates are decided takes rows in another order; remove the gates, or judge all rows");
    let accuracy = dsrs_metrics::metrics::Accuracy::default();
    insta::assert_snapshot!(error(evaluate().truth(accuracy, sample(100))), @"truth `accuracy`: it scores all rows together, so it needs all of them");
    let unbounded = metric_fn("error", |_, _| 3.0);
    insta::assert_snapshot!(error(evaluate().truth(unbounded, sample(100))), @"truth `error`: it has no range; a sample needs bounded scores");
}
