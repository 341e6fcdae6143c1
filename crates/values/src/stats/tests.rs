//! Values of the short formulas. The comparisons with other libraries are in `tests/harness/stats`.

use super::{
    ConfusionMatrix, Interval, KappaWeights, Proportion, cohen_kappa, f_beta, harmonic_mean,
};

#[test]
fn harmonic_means_of_numbers_above_1_and_of_opposite_signs() {
    assert_eq!(
        (harmonic_mean(2.0, 6.0), harmonic_mean(0.25, 0.75)),
        (3.0, 0.375)
    );
    assert_eq!(
        (harmonic_mean(3.0, -3.0), harmonic_mean(0.0, 0.0)),
        (0.0, 0.0)
    );
}

#[test]
fn f_beta_weighs_missed_and_wrong() {
    // Precision 3/4, recall 3/8: (1 + b²) 3/4 3/8 / (b² 3/4 + 3/8).
    assert_eq!(f_beta(3, 1, 5, 1.0), 0.5);
    assert_eq!(f_beta(3, 1, 5, 2.0), 15.0 / 36.0);
    assert_eq!(f_beta(3, 1, 5, 0.5), 3.75 / 6.0);
    assert_eq!(
        (
            f_beta(0, 0, 0, 1.0),
            f_beta(0, 2, 3, 2.0),
            f_beta(4, 0, 0, 3.0)
        ),
        (0.0, 0.0, 1.0)
    );
}

#[test]
fn an_interval_has_its_ends_and_is_clamped_on_each_side() {
    let interval = Interval {
        low: -0.5,
        high: 1.5,
    };
    assert_eq!(
        [-0.75, -0.5, 0.0, 1.5, 1.75].map(|value| interval.contains(value)),
        [false, true, true, true, false]
    );
    assert_eq!(
        interval.within(0.0, 1.0),
        Interval {
            low: 0.0,
            high: 1.0
        }
    );
    assert_eq!(interval.within(-1.0, 2.0), interval);
    assert_eq!(
        format!("{interval} {interval:.2}"),
        "[-0.5, 1.5] [-0.50, 1.50]"
    );
    assert_eq!(serde_json::to_string(&interval).unwrap(), "[-0.5,1.5]");
}

/// If 3 of 7 attempts succeeded: the fractions of draws of `k` attempts that contain a success, and that contain only
/// successes.
#[test]
fn attempts_are_drawn_without_replacement() {
    let attempts = Proportion {
        successes: 3,
        trials: 7,
    };
    let shares = [
        (15, 15),
        (25, 5),
        (31, 1),
        (34, 0),
        (35, 0),
        (35, 0),
        (35, 0),
    ];
    for (k, (any, all)) in (1..).zip(shares) {
        assert!(
            (attempts.pass_at(k).unwrap() - f64::from(any) / 35.0).abs() < 1e-12,
            "{k}"
        );
        assert!(
            (attempts.pass_hat(k).unwrap() - f64::from(all) / 35.0).abs() < 1e-12,
            "{k}"
        );
    }
    for k in [0, 8] {
        assert_eq!((attempts.pass_at(k), attempts.pass_hat(k)), (None, None));
    }
    let all = Proportion {
        successes: 2,
        trials: 2,
    };
    assert_eq!((all.pass_at(2), all.pass_hat(2)), (Some(1.0), Some(1.0)));
}

#[test]
fn a_confusion_matrix_of_three_classes_counts_labels_in_rows() {
    let pairs = [
        (0, 0),
        (0, 2),
        (0, 2),
        (1, 1),
        (1, 1),
        (1, 1),
        (2, 0),
        (2, 1),
    ];
    let matrix = ConfusionMatrix::of(3, pairs);
    assert_eq!(
        (matrix.classes(), matrix.total(), matrix.agreeing()),
        (3, 8, 4)
    );
    assert_eq!([0, 1, 2].map(|class| matrix.labelled(class)), [3, 3, 2]);
    assert_eq!([0, 1, 2].map(|class| matrix.given(class)), [2, 4, 2]);
    assert_eq!((matrix.count(0, 2), matrix.count(2, 0)), (2, 1));
    assert_eq!(
        serde_json::to_string(&matrix).unwrap(),
        "[[1,0,2],[0,3,0],[1,1,0]]"
    );
}

#[test]
fn a_label_without_a_class_is_refused() {
    for pair in [(3, 0), (0, 3)] {
        assert!(
            std::panic::catch_unwind(|| ConfusionMatrix::of(3, [pair])).is_err(),
            "{pair:?}"
        );
        let matrix = ConfusionMatrix::of(3, []);
        assert!(
            std::panic::catch_unwind(|| matrix.count(pair.0, pair.1)).is_err(),
            "{pair:?}"
        );
    }
}

/// Values from statsmodels' `cohens_kappa`.
#[test]
fn kappa_of_three_classes_with_each_weight() {
    let counts = [[8, 2, 1], [1, 5, 3], [0, 2, 6]];
    let cells = (0..3).flat_map(|label| (0..3).map(move |given| (label, given)));
    let pairs =
        cells.flat_map(|(label, given)| std::iter::repeat_n((label, given), counts[label][given]));
    let matrix = ConfusionMatrix::of(3, pairs);
    for (weights, value, error) in [
        (
            KappaWeights::Unweighted,
            0.519_083_969_465_648_9,
            0.130_234_569_813_890_84,
        ),
        (
            KappaWeights::Linear,
            0.603_399_433_427_762_1,
            0.117_481_993_930_869_4,
        ),
        (
            KappaWeights::Quadratic,
            0.685_981_308_411_215,
            0.116_472_172_720_202_94,
        ),
    ] {
        let kappa = cohen_kappa(&matrix, weights).unwrap();
        assert!((kappa.value - value).abs() < 1e-12, "{kappa:?}");
        assert!((kappa.standard_error - error).abs() < 1e-12, "{kappa:?}");
        let interval = kappa.interval().unwrap();
        let half = 1.959_963_984_540_054 * error;
        assert!(
            (interval.low - (value - half)).abs() < 1e-12
                && (interval.high - (value + half)).abs() < 1e-12
        );
    }
}

#[test]
fn kappa_without_a_spread_has_no_error() {
    let kappa = |pairs: &[(usize, usize)]| {
        cohen_kappa(
            &ConfusionMatrix::of(2, pairs.iter().copied()),
            KappaWeights::Unweighted,
        )
    };
    assert_eq!((kappa(&[]), kappa(&[(1, 1), (1, 1)])), (None, None));
    for (pairs, value) in [
        (&[(0, 0), (1, 1)][..], 1.0),
        (&[(0, 1), (1, 0)], -1.0),
        (&[(0, 0), (1, 0)], 0.0),
    ] {
        let kappa = kappa(pairs).unwrap();
        assert_eq!(
            (kappa.value, kappa.standard_error, kappa.interval()),
            (value, 0.0, None),
            "{pairs:?}"
        );
    }
}

#[test]
fn kappa_of_perfect_agreement_or_of_one_label_has_no_error_whatever_the_counts() {
    for counts in (1..=6).flat_map(|a| (1..=6).map(move |b| [a, b, 7])) {
        for (is_one, value) in [(false, 1.0), (true, 0.0)] {
            let label = |given| if is_one { 2 } else { given };
            let pairs =
                (0..3).flat_map(|given| std::iter::repeat_n((label(given), given), counts[given]));
            let matrix = ConfusionMatrix::of(3, pairs);
            for weights in [
                KappaWeights::Unweighted,
                KappaWeights::Linear,
                KappaWeights::Quadratic,
            ] {
                let kappa = cohen_kappa(&matrix, weights).unwrap();
                assert_eq!(
                    (kappa.value, kappa.standard_error),
                    (value, 0.0),
                    "{matrix:?}"
                );
            }
        }
    }
}

/// Binomial probabilities, exact as fractions.
#[test]
fn proportions_know_how_often_chance_yields_them() {
    let chance = |successes, trials, rate| Proportion { successes, trials }.chance_of_at_most(rate);
    assert!((chance(1, 2, 0.5) - 0.75).abs() < 1e-12);
    assert!((chance(2, 2, 0.5) - 1.0).abs() < 1e-12);
    assert!((chance(1, 3, 0.9) - 0.028).abs() < 1e-12);
    assert!((chance(0, 4, 0.5) - 0.0625).abs() < 1e-12);
}

/// Values from statsmodels' `proportion_confint` with `method="wilson"`.
#[test]
fn proportions_have_wilsons_interval() {
    for (successes, trials, low, high) in [
        (0, 4, 0.0, 0.489_890_836_454_597_4),
        (3, 7, 0.158_219_855_251_469_64, 0.749_541_635_472_342_8),
        (4, 4, 0.510_109_163_545_402_5, 1.0),
    ] {
        let interval = Proportion { successes, trials }.wilson().unwrap();
        assert!(
            (interval.low - low).abs() < 1e-12 && (interval.high - high).abs() < 1e-12,
            "{interval:?}"
        );
    }
    let mut recorded = Proportion::default();
    assert_eq!((recorded.rate(), recorded.wilson()), (None, None));
    for success in [true, false, true, false] {
        recorded.record(success);
    }
    assert_eq!(
        (recorded, recorded.rate()),
        (
            Proportion {
                successes: 2,
                trials: 4
            },
            Some(0.5)
        )
    );
    let known = recorded.uncertainty();
    assert!((known.stderr().unwrap() - (1.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    assert_eq!(known.ci95(), recorded.wilson());
    for successes in [0, 4] {
        let same = Proportion {
            successes,
            trials: 4,
        };
        assert_eq!(
            (same.uncertainty().stderr(), same.uncertainty().ci95()),
            (None, same.wilson())
        );
    }
}
