//! Means do not depend on the order of rows, to the last digit.

use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, rows::Pair};
use proptest::prelude::*;

fn mean(values: &[f64]) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let value = typed_metric_fn("value", |(): &(), value: &f64| *value);
    let evaluate = Evaluate::typed().metric(value).build().unwrap();
    let pair = |(row, value): (usize, &f64)| Pair::new(row.to_string(), (), *value);
    let rows: Vec<_> = values.iter().enumerate().map(pair).collect();
    runtime
        .block_on(evaluate.score(rows))
        .unwrap()
        .score
        .unwrap()
}

/// Shewchuk's exact sum, as in Python's `math.fsum`, for numbers that stay far from overflow.
fn fsum(values: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for value in values {
        let mut x = *value;
        let mut kept = Vec::new();
        for mut y in partials {
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                kept.push(low);
            }
            x = high;
        }
        kept.push(x);
        partials = kept;
    }
    let mut high = partials.pop().unwrap_or(0.0);
    while let Some(y) = partials.pop() {
        let x = high;
        high = x + y;
        let low = y - (high - x);
        if low != 0.0 {
            let same_side = partials
                .last()
                .is_some_and(|next| (*next < 0.0) == (low < 0.0));
            if same_side && (high + 2.0 * low) - high == 2.0 * low {
                high += 2.0 * low;
            }
            break;
        }
    }
    high
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![
        -1.0..1.0_f64,
        -1e16..1e16_f64,
        (-300..300_i32, -10.0..10.0_f64)
            .prop_map(|(exponent, digits)| digits * 10_f64.powi(exponent)),
        Just(0.1),
        Just(5e-324),
    ];
    prop::collection::vec(number, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_mean_is_the_correctly_rounded_sum_over_the_count(values in numbers()) {
        prop_assert_eq!(mean(&values), fsum(&values) / values.len() as f64);
    }

    #[test]
    fn a_mean_does_not_depend_on_the_order(values in numbers(), seed in any::<u64>()) {
        let mut shuffled = values.clone();
        let mut state = seed | 1;
        for last in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(last, (state >> 33) as usize % (last + 1));
        }
        prop_assert_eq!(mean(&values).to_bits(), mean(&shuffled).to_bits());
    }
}

/// Rows with a pass, a number, an explained number, an abstention and a failure.
fn mixed(row: usize) -> Pair<usize, usize> {
    Pair::new(row.to_string(), row, row % 11)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_are_only_counted_have_the_summary_of_rows_that_are_kept() {
    let passes = || typed_metric_fn("passes", |gold: &usize, _: &usize| gold.is_multiple_of(3));
    let share = || {
        let share = typed_metric_fn("share", |_: &usize, pred: &usize| 0.1 * *pred as f64);
        share.with_range(0.0, 1.0).with_threshold(0.5)
    };
    let explained = || {
        typed_metric_fn("explained", |_: &usize, pred: &usize| {
            FeedbackMetric::new(1.0 / (*pred + 1) as f64, "as expected")
        })
    };
    let sometimes = || {
        typed_metric_fn("sometimes", |gold: &usize, pred: &usize| {
            match (gold % 100, pred) {
                (99, _) => Err("not a number".to_owned()),
                (_, 5) => Ok(None),
                _ => Ok(Some(true)),
            }
        })
    };
    let mut summaries = Vec::new();
    for (keep, concurrency) in [(true, 1), (true, 8), (false, 1), (false, 8)] {
        let evaluate = Evaluate::<usize, usize>::typed()
            .metric(passes())
            .metric(share());
        let evaluate = evaluate
            .metric(explained())
            .metric(sometimes())
            .keep_results(keep);
        let evaluate = evaluate.concurrency(concurrency).build().unwrap();
        let result = evaluate.score((0..2_000).map(mixed)).await.unwrap();
        assert_eq!(
            (result.rows, result.failed_rows, result.results.len()),
            (2_000, 20, if keep { 2_000 } else { 0 })
        );
        summaries.push((result.metrics, result.first_error));
    }
    let (first, others) = summaries.split_first().unwrap();
    assert!(others.iter().all(|other| other == first), "{summaries:#?}");
    let histogram = first.0[1].histogram.as_ref().unwrap().counts();
    assert_eq!(
        (histogram.iter().sum::<u64>(), first.0[3].abstained),
        (2_000, 180)
    );
}
