use super::*;

#[test]
fn rows_and_differences_have_the_power_of_four_fifths() {
    // (1.959963984540054 + 0.8416212335729143)^2 is 7.8488797.
    assert_eq!(
        [0.5, 1.0, 10.0].map(|deviation| rows_for_power(deviation, 0.1)),
        [Some(197), Some(785), Some(78_489)]
    );
    assert_eq!(
        [0.0, f64::NAN, 1e-12].map(|difference| rows_for_power(0.5, difference)),
        [None; 3]
    );
    assert_eq!(detectable_difference(1.0), 2.801_585_218_112_968_3);
}

#[test]
fn every_bit_is_the_sign_of_one_size() {
    let sizes: Vec<f64> = (0..130_u32).map(|size| f64::from(size) + 0.5).collect();
    let sums = SignedSums::new(&sizes);
    let signs = [0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3210, 0b10];
    let sign = |at: usize| {
        if signs[at / 64] >> (at % 64) & 1 == 1 {
            -1.0
        } else {
            1.0
        }
    };
    let expected: f64 = sizes
        .iter()
        .enumerate()
        .map(|(at, size)| sign(at) * size)
        .sum();
    // The sums are exact, so the count changes between the sum and the next larger number.
    let count = |least: f64| {
        let mut blocks = signs.into_iter();
        let count = sums.count_from(least, 1, || blocks.next().unwrap());
        assert_eq!(blocks.next(), None);
        count
    };
    assert_eq!(
        (count(expected.abs()), count(expected.abs().next_up())),
        (1, 0)
    );
}

#[test]
fn every_draw_has_its_own_signs() {
    // One size in each of two blocks; the sums are ±1 + 2.
    let mut sizes = vec![0.0; 65];
    (sizes[0], sizes[64]) = (1.0, 2.0);
    let sums = SignedSums::new(&sizes);
    // 3,000 draws are 1,024, 1,024 and 952. In each of these, every second sign of the first block is negative.
    let is_first_block = |call: u32| {
        if call < 4_096 {
            call % 2_048 < 1_024
        } else {
            call < 5_048
        }
    };
    for (least, expected) in [(1.0, 3_000), (3.0, 1_500), (3.5, 0)] {
        let mut calls = 0..6_000;
        let signs = || {
            let call = calls.next().unwrap();
            u64::from(is_first_block(call) && call % 2 == 1)
        };
        assert_eq!(sums.count_from(least, 3_000, signs), expected);
        assert_eq!(calls.next(), None);
    }
}

#[test]
fn the_limit_is_close_to_the_exact_test_near_the_level() {
    for better in [30_234, 30_240, 30_246] {
        let differences = (0..60_000).map(|row| if row < better { 0.25 } else { -0.25 });
        let limit = permutation_limit(&differences.collect::<Vec<_>>()).unwrap();
        let exact = mcnemar_exact(better, 60_000 - better);
        assert!((0.04..0.06).contains(&exact), "{exact}");
        assert!((limit - exact).abs() < 6e-4, "{limit} {exact}");
    }
}

#[test]
fn the_limit_needs_many_differences_of_similar_size() {
    let mut differences = vec![0.5; 60_000];
    assert_eq!(permutation_limit(&differences), Some(f64::MIN_POSITIVE));
    differences[..20_000].fill(0.0);
    assert_eq!(permutation_limit(&differences), None);
    assert_eq!(permutation_limit(&[0.5; 50_000]), None, "at most 50,000");
    assert_eq!(permutation_limit(&[0.5; 50_001]), Some(f64::MIN_POSITIVE));
    // One difference of twice the size: (60,000 / 4)² / (60,000 / 16), nearly.
    let differences = [vec![0.5; 60_000], vec![1.0]].concat();
    assert_eq!(permutation_limit(&differences), Some(f64::MIN_POSITIVE));
    // The exact p-value is 0.0500, and that of the limit 0.0537.
    let differences = [vec![0.5; 531], vec![-0.5; 470], vec![5e-7; 50_000]].concat();
    assert_eq!(permutation_limit(&differences), None);
    for none in [
        &[][..],
        &[0.0; 60_000],
        &[f64::INFINITY; 60_000],
        &[f64::NAN; 60_000],
    ] {
        assert_eq!(permutation_limit(none), None);
    }
}

#[test]
fn sums_that_are_not_finite_have_a_p_value() {
    assert_eq!(permutation_test(&[1e308; 4], 1, 0).p_value, 0.125);
    assert_eq!(
        permutation_test(&[1e308, -1e308, 1e308, 0.0], 1, 0).p_value,
        1.0
    );
    assert!(permutation_test(&[1e308; 30], 1_000, 0).p_value <= 0.001);
}

#[test]
fn the_limit_does_not_depend_on_the_unit() {
    let limit = |unit: f64| {
        let differences = (0..120_000).map(|row| [0.5, -0.25, -0.24][row % 3] * unit);
        permutation_limit(&differences.collect::<Vec<_>>())
    };
    assert!(
        limit(1.0).is_some_and(|p| (0.000_9..0.001_1).contains(&p)),
        "{:?}",
        limit(1.0)
    );
    assert_eq!(
        [limit(2_f64.powi(600)), limit(2_f64.powi(-600))],
        [limit(1.0); 2]
    );
}

#[test]
fn equal_sums_that_differ_by_rounding_are_counted() {
    let sizes: [i32; 12] = [1, 2, 3, 3, 5, 7, 1, 4, 6, 2, 9, 8];
    let sum = |signs: u32| -> i32 {
        (0..12)
            .map(|at| {
                if signs >> at & 1 == 1 {
                    -sizes[at]
                } else {
                    sizes[at]
                }
            })
            .sum()
    };
    for negative in 0..12 {
        let observed = (1 << negative) - 1;
        let extreme = (0..1 << 12).filter(|signs| sum(*signs).abs() >= sum(observed).abs());
        let expected = extreme.count() as f64 / f64::from(1 << 12);
        // Sums of tenths depend on their order.
        let tenths =
            (0..12).map(|at| f64::from(if at < negative { -sizes[at] } else { sizes[at] }) / 10.0);
        let test = permutation_test(&tenths.chain([0.0]).collect::<Vec<_>>(), 1, 0);
        assert_eq!((test.p_value, test.assignments), (expected, 1 << 12));
    }
}

#[test]
fn a_random_number_marks_64_rows_with_its_bits() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let numbers = [random.next_u64(), random.next_u64()];
    let mut calls = 0;
    let test = exchange_test(70, 1.0, 1, 7, |exchanged| {
        let bits = (0..70).map(|row| numbers[row / 64] >> (row % 64) & 1 == 1);
        assert_eq!(exchanged, bits.collect::<Vec<_>>());
        calls += 1;
        None
    });
    assert_eq!(
        (calls, test),
        (
            1,
            PermutationTest {
                p_value: 1.0,
                assignments: 1,
                is_exact: false
            }
        )
    );
}

#[test]
fn numbers_of_rows_are_finite_and_below_10_to_the_18() {
    for (deviation, difference) in [
        (1e9, Z_POWER),
        (1e300, 1.0),
        (1.0, 0.0),
        (0.0, 0.0),
        (f64::NAN, 1.0),
        (1.0, f64::NAN),
    ] {
        assert_eq!(
            rows_for_power(deviation, difference),
            None,
            "{deviation} {difference}"
        );
    }
    assert_eq!(rows_for_power(5e8, Z_POWER), Some(250_000_000_000_000_000));
    assert_eq!(rows_for_power(0.0, 0.1), Some(0));
}
