//! Properties of the figures on random rows.

use dsrs_metrics::agreement::Agreement;
use dsrs_metrics::stats::{Bootstrap, Proportion, average_ranks, spearman};
use proptest::prelude::*;

use super::quick;

fn verdicts() -> impl Strategy<Value = Vec<(Option<bool>, Option<bool>)>> {
    prop::collection::vec(any::<(Option<bool>, Option<bool>)>(), 0..60)
}

proptest! {
    #[test]
    fn every_row_is_counted_once(rows in verdicts()) {
        let found = quick(rows.clone());
        let unscored: u64 = found.without_score.values().sum();
        prop_assert_eq!(found.rows, rows.len() as u64);
        prop_assert_eq!(found.compared + found.without_label + unscored, found.rows);
        prop_assert_eq!(found.passed.n, found.compared + found.without_label);
        prop_assert_eq!(found.sensitivity.n + found.specificity.n, found.compared);
        prop_assert_eq!(found.confusion.unwrap().total(), found.compared);
    }

    #[test]
    fn every_figure_has_a_note_or_a_value_within_its_interval(rows in verdicts()) {
        let found = quick(rows);
        let figures = [
            &found.accuracy, &found.kappa, &found.kappa_linear, &found.kappa_quadratic, &found.spearman,
            &found.sensitivity, &found.specificity, &found.passed, &found.corrected,
        ];
        for figure in figures {
            prop_assert!(figure.ci95.is_some() || figure.note.is_some(), "{:?}", figure);
            let Some(value) = figure.value else {
                prop_assert!(figure.ci95.is_none());
                continue;
            };
            prop_assert!(value.is_finite() && (-1.0..=1.0).contains(&value), "{:?}", figure);
            if let Some(interval) = figure.ci95 {
                prop_assert!(interval.low <= interval.high && interval.contains(value), "{:?}", figure);
            }
        }
    }

    #[test]
    fn between_two_classes_weights_make_no_difference(rows in verdicts()) {
        let found = quick(rows);
        prop_assert_eq!(&found.kappa, &found.kappa_linear);
        prop_assert_eq!(&found.kappa, &found.kappa_quadratic);
    }

    #[test]
    fn the_order_of_rows_does_not_change_the_estimates(
        (rows, shuffled) in verdicts().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
    ) {
        let (a, b) = (quick(rows), quick(shuffled));
        prop_assert_eq!(a.accuracy, b.accuracy);
        prop_assert_eq!(a.kappa, b.kappa);
        prop_assert_eq!(a.spearman.value, b.spearman.value);
        prop_assert_eq!(a.corrected, b.corrected);
        prop_assert_eq!(a.confusion, b.confusion);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval(rows in verdicts(), seed: u64) {
        let once = || Agreement::builder().seed(seed).resamples(50).of(rows.clone()).unwrap();
        prop_assert_eq!(once(), once());
    }

    #[test]
    fn spearman_depends_only_on_the_order(pairs in prop::collection::vec((-1e3..1e3, -9_i8..9), 3..50)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().map(|(x, y)| (x, f64::from(y))).unzip();
        let cubed: Vec<f64> = x.iter().map(|x| x * x * x).collect();
        let negated: Vec<f64> = y.iter().map(|y| -y).collect();
        let found = spearman(&x, &y);
        prop_assert_eq!(spearman(&cubed, &y), found);
        prop_assert_eq!(spearman(&y, &x), found);
        let mirrored = spearman(&x, &negated).map(|value| -value);
        prop_assert_eq!(mirrored.is_some(), found.is_some());
        if let (Some(mirrored), Some(found)) = (mirrored, found) {
            prop_assert!((mirrored - found).abs() < 1e-12);
        }
    }

    #[test]
    fn average_ranks_keep_the_sum_of_ranks(values in prop::collection::vec(-3_i8..3, 0..40)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let n = values.len() as f64;
        prop_assert_eq!(average_ranks(&values).iter().sum::<f64>(), n * (n + 1.0) / 2.0);
    }

    #[test]
    fn wilson_is_within_0_and_1_and_contains_the_rate(trials in 1_u64..5_000, share in 0.0..=1.0_f64) {
        let successes = (trials as f64 * share).round() as u64;
        let rate = Proportion { successes, trials };
        let interval = rate.wilson().unwrap();
        prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
        prop_assert!(interval.contains(rate.rate().unwrap()) && interval.low < interval.high);
    }
}

#[test]
fn a_statistic_that_is_mostly_undefined_or_constant_has_no_interval() {
    let bootstrap = Bootstrap::default();
    assert_eq!(bootstrap.interval(10, |_| Some(0.5)), None);
    let rarely = |rows: &[usize]| (rows[0] == 0).then_some(rows[1] as f64);
    assert_eq!(bootstrap.interval(10, rarely), None);
    let mostly = |rows: &[usize]| (rows[0] != 0).then_some(rows[1] as f64);
    assert!(bootstrap.interval(100, mostly).is_some());
}

#[test]
fn the_bootstrap_is_reproducible() {
    let first = |rows: &[usize]| Some(rows.iter().sum::<usize>() as f64);
    let interval = Bootstrap {
        resamples: 100,
        seed: 7,
    }
    .interval(50, first)
    .unwrap();
    assert_eq!((interval.low, interval.high), (1024.9, 1383.575));
}
