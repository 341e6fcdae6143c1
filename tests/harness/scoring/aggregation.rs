//! Aggregation of several rollouts.

use dsrs_metrics::scoring::AggregationMethod::{self, Max, Mean, Median, Min, TrimmedMean};
use proptest::prelude::*;

#[test]
fn known_values() {
    let odd = [0.3, 0.9, 0.1];
    let even = [0.4, 0.0, 1.0, 0.2];
    let cases = [
        (Median, &odd[..], 0.3),
        (Median, &even, 0.30000000000000004),
        (Mean, &even, 0.4),
        (Min, &odd, 0.1),
        (Max, &odd, 0.9),
        (TrimmedMean(0.0), &even, 0.4),
        (TrimmedMean(25.0), &even, 0.30000000000000004),
        (TrimmedMean(24.0), &even, 0.4),
        (TrimmedMean(40.0), &odd, 0.3),
        (TrimmedMean(40.0), &[0.7, 0.2], 0.44999999999999996),
    ];
    for (method, values, expected) in cases {
        assert_eq!(
            method.aggregate(values),
            Ok(expected),
            "{method:?} of {values:?}"
        );
    }
}

#[test]
fn trimming_just_below_one_half_leaves_something() {
    let values: Vec<f64> = (0..1_000).map(f64::from).collect();
    let almost_half = TrimmedMean(50.0_f64.next_down());
    assert_eq!(almost_half.aggregate(&values), Ok(499.5));
    for count in 1..=values.len() {
        let middle = Median.aggregate(&values[..count]);
        assert_eq!(
            almost_half.aggregate(&values[..count]),
            middle,
            "of {count}"
        );
    }
}

#[test]
fn the_sign_of_a_zero_does_not_depend_on_the_method() {
    for method in [Median, Mean, Min, Max, TrimmedMean(10.0)] {
        for values in [&[-0.0][..], &[0.0, -0.0], &[-0.0, 0.0]] {
            let zero = method.aggregate(values).unwrap();
            assert_eq!(zero.to_bits(), 0, "{method:?} of {values:?}");
        }
    }
}

#[test]
fn no_values_and_nan_are_errors_and_not_numbers() {
    for method in [Median, Mean, Min, Max, TrimmedMean(10.0)] {
        let empty = method.aggregate(&[]).unwrap_err();
        assert_eq!(
            empty.to_string(),
            "expected at least one value to aggregate, found none"
        );
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = method.aggregate(&[0.5, bad]).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("expected a finite number as value 1, found {bad}")
            );
        }
    }
    for (percent, suggested) in [
        (-0.1, "10.0"),
        (0.1, "10.0"),
        (1.0_f64.next_down(), "10.0"),
        (50.0, "10.0"),
        (f64::INFINITY, "10.0"),
        (f64::NAN, "10.0"),
        (0.25, "25.0"),
    ] {
        let error = TrimmedMean(percent).aggregate(&[1.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "expected 0, or a percentage from 1 to less than 50, to trim at each end, found \
                 {percent:?}; write `TrimmedMean({suggested})`"
            )
        );
    }
}

#[test]
fn a_trimmed_mean_takes_the_percentage_of_the_document_and_rejects_a_fraction() {
    let values = [0.0, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7, 0.8, 0.0];
    assert_eq!(
        TrimmedMean(10.0).aggregate(&values),
        Ok(0.4),
        "without the first 0.0 and 0.8"
    );
    assert_eq!(
        TrimmedMean(9.0).aggregate(&values),
        Ok(0.4),
        "of 0.9 values, none"
    );
    let message = |percent: f64| {
        TrimmedMean(percent)
            .aggregate(&values)
            .unwrap_err()
            .to_string()
    };
    let expected = |found: &str, write: &str| {
        format!(
            "expected 0, or a percentage from 1 to less than 50, to trim at each end, found {found}; \
             write `TrimmedMean({write})`"
        )
    };
    assert_eq!(message(0.25), expected("0.25", "25.0"));
    assert_eq!(message(0.001), expected("0.001", "10.0"));
    assert_eq!(
        message(0.5),
        expected("0.5", "10.0"),
        "50 would be too many"
    );
    assert_eq!(message(50.0), expected("50.0", "10.0"));
}

#[test]
fn a_mean_of_equal_values_is_that_value() {
    for value in [0.1, 0.6, 1.0 / 3.0] {
        for count in 1..50 {
            assert_eq!(
                Mean.aggregate(&vec![value; count]),
                Ok(value),
                "{count} times {value}"
            );
        }
    }
    assert_eq!(Mean.aggregate(&[f64::MAX, f64::MAX]), Ok(f64::MAX));
    assert_eq!(Median.aggregate(&[f64::MAX, f64::MAX]), Ok(f64::MAX));
}

fn methods() -> impl Strategy<Value = AggregationMethod> {
    let trimmed = (1.0..50.0_f64).prop_map(TrimmedMean);
    prop_oneof![Just(Median), Just(Mean), Just(Min), Just(Max), trimmed]
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        -1.0..1.0_f64,
        -1e300..1e300_f64,
        Just(0.0),
        Just(-0.0),
        Just(1e-320)
    ];
    prop::collection::vec(value, 1..40)
}

proptest! {
    #[test]
    fn order_does_not_change_a_bit(method in methods(), values in values(), seed in any::<u64>()) {
        let mut shuffled = values.clone();
        let mut state = seed | 1;
        for last in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(last, (state >> 33) as usize % (last + 1));
        }
        let (one, other) = (method.aggregate(&values), method.aggregate(&shuffled));
        prop_assert_eq!(one.unwrap().to_bits(), other.unwrap().to_bits());
    }

    #[test]
    fn the_result_lies_among_the_values(method in methods(), values in values()) {
        let result = method.aggregate(&values).unwrap();
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert!(min <= result && result <= max, "{min} <= {result} <= {max}");
    }

    #[test]
    fn a_better_value_never_makes_it_worse(
        method in methods(), values in values(), at in any::<prop::sample::Index>(), more in 0.0..1.0_f64,
    ) {
        let mut better = values.clone();
        better[at.index(values.len())] += more;
        prop_assert!(method.aggregate(&better).unwrap() >= method.aggregate(&values).unwrap());
    }
}
