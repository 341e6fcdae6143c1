use super::*;

#[test]
fn close_values_do_not_cancel() {
    // The deviations from the mean are ±2^-40 around 1,000.
    let step = 2_f64.powi(-40);
    let moments: Moments = [1_000.0 - step, 1_000.0 + step].into_iter().collect();
    assert_eq!(moments.variance(), Some(2.0 * step * step));
    let mut equal = Moments::default();
    (0..1_000).for_each(|_| equal.record(0.1));
    assert_eq!((equal.mean(), equal.variance()), (Some(0.1), Some(0.0)));
    let mut at_once = Moments::default();
    at_once.record_times(0.1, 999);
    assert_eq!((at_once.count(), at_once.variance()), (999, Some(0.0)));
    at_once.record_times(0.1, 1);
    assert_eq!(
        at_once.mean().map(f64::to_bits),
        equal.mean().map(f64::to_bits)
    );
    assert_eq!(equal.uncertainty(), Uncertainty::Constant);
}

#[test]
fn an_interval_is_known_or_there_is_a_reason() {
    let ci95 = Interval {
        low: 0.25,
        high: 0.75,
    };
    for (uncertainty, expected, reason) in [
        (
            Uncertainty::Known {
                stderr: 0.125,
                ci95,
            },
            (Some(0.125), Some(ci95)),
            None,
        ),
        (
            Uncertainty::WithoutStderr { ci95 },
            (None, Some(ci95)),
            None,
        ),
        (
            Uncertainty::default(),
            (None, None),
            Some("not enough rows"),
        ),
        (
            Uncertainty::Constant,
            (None, None),
            Some("all scores are equal"),
        ),
        (
            Uncertainty::TooLarge,
            (None, None),
            Some("the variance is too large"),
        ),
        (
            Uncertainty::NotComputed,
            (None, None),
            Some("a score over all rows has no standard error"),
        ),
    ] {
        assert_eq!((uncertainty.stderr(), uncertainty.ci95()), expected);
        assert_eq!(uncertainty.reason(), reason);
    }
}

#[test]
fn few_values_that_differ_have_wilsons_interval() {
    let within = |moments: &Moments| moments.uncertainty_within(0.0, 1.0);
    let equal = |value: f64, times| {
        let mut moments = Moments::default();
        moments.record_times(value, times);
        moments
    };
    // With one more pass and one more failure, 51 of 52 pass, and their unbiased variance is 1/52.
    let t = 2.009_575_237_129_24_f64;
    let effective = 50.0 * (51.0 / 52.0 / 52.0) / (1.0 / 52.0);
    let low = effective / (effective + t * t);
    let Uncertainty::WithoutStderr { ci95 } = within(&equal(1.0, 50)) else {
        panic!()
    };
    assert!(
        (ci95.low - low).abs() < 1e-12 && ci95.high == 1.0,
        "{ci95:?} {low}"
    );
    // The same scores, reversed.
    let zeros = within(&equal(0.0, 50)).ci95().unwrap();
    assert!(
        (zeros.high - (1.0 - low)).abs() < 1e-12 && zeros.low == 0.0,
        "{zeros:?}"
    );
    // On another scale.
    let scaled = equal(7.0, 50).uncertainty_within(-3.0, 7.0).ci95().unwrap();
    assert!((scaled.low - (10.0 * low - 3.0)).abs() < 1e-12 && scaled.high == 7.0);
    // Thirty values that differ have Student's interval.
    let half: Moments = (0..30).map(|row| f64::from(row) / 29.0).collect();
    assert_eq!(within(&half), half.uncertainty());
    assert_eq!(
        within(&equal(0.5, 1)),
        Uncertainty::NotEnoughRows {
            found: 1,
            needed: 2
        }
    );
    assert_eq!(
        equal(0.5, 9).uncertainty_within(0.5, 0.5),
        Uncertainty::Constant
    );
    assert_eq!(
        equal(0.5, 9).uncertainty_within(0.0, f64::INFINITY),
        Uncertainty::Constant
    );
}

#[test]
fn values_that_are_all_different_have_nearly_students_interval() {
    let scores: Moments = (0..20).map(|row| 0.4 + f64::from(row) / 100.0).collect();
    let width = |it: Uncertainty| it.ci95().map(|Interval { low, high }| high - low).unwrap();
    let (wilson, student) = (
        width(scores.uncertainty_within(0.0, 1.0)),
        width(scores.uncertainty()),
    );
    assert!(
        wilson < student && wilson > 0.97 * student,
        "{wilson} {student}"
    );
}

#[test]
fn order_and_parts_do_not_change_a_bit() {
    let values: Vec<f64> = (1..=500).map(|row| 1.0 / f64::from(row)).collect();
    let all: Moments = values.iter().copied().collect();
    let reversed: Moments = values.iter().rev().copied().collect();
    let mut merged = Moments::default();
    for part in values.chunks(7).rev() {
        merged.merge(&part.iter().copied().collect());
    }
    for other in [reversed, merged] {
        assert_eq!(all.mean().map(f64::to_bits), other.mean().map(f64::to_bits));
        assert_eq!(
            all.variance().map(f64::to_bits),
            other.variance().map(f64::to_bits)
        );
    }
}

#[test]
fn too_few_rows_and_too_large_values_have_no_interval() {
    let of = |values: &[f64]| values.iter().copied().collect::<Moments>().uncertainty();
    assert_eq!(
        of(&[]),
        Uncertainty::NotEnoughRows {
            found: 0,
            needed: 2
        }
    );
    assert_eq!(
        of(&[0.5]),
        Uncertainty::NotEnoughRows {
            found: 1,
            needed: 2
        }
    );
    assert_eq!(of(&[0.5, 1e200]), Uncertainty::TooLarge);
    assert_eq!(of(&[0.5, f64::NAN]), Uncertainty::TooLarge);
    assert_eq!(
        [0.5, f64::INFINITY].into_iter().collect::<Moments>().mean(),
        None
    );
}

#[test]
fn a_part_with_a_value_that_is_too_large_makes_the_whole_too_large() {
    let of = |values: &[f64]| values.iter().copied().collect::<Moments>();
    for (value, mean) in [(1e200, Some(5e199)), (f64::INFINITY, None)] {
        let parts = [of(&[0.0]), of(&[value])];
        for (mut merged, other) in [(parts[0].clone(), &parts[1]), (parts[1].clone(), &parts[0])] {
            merged.merge(other);
            assert_eq!((merged.mean(), merged.variance()), (mean, None));
        }
    }
}
