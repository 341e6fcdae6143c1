//! Simulated studies with fixed seeds: how often the test by group finds a difference between equal systems.

use dsrs_metrics::stats::permutation_test;

use crate::agree::coverage::Random;

const STUDIES: u32 = 2_000;
const GROUPS: usize = 24;
const COPIES: usize = 5;

#[test]
fn the_test_by_group_is_right_where_rows_are_copied() {
    let (mut by_group, mut by_row) = (0, 0);
    for study in 0..STUDIES {
        let mut random = Random::new(u64::from(study));
        let rows: Vec<f64> = (0..GROUPS).map(|_| random.unit() - random.unit()).collect();
        let sums: Vec<f64> = rows.iter().map(|row| COPIES as f64 * row).collect();
        by_group += u32::from(permutation_test(&sums, 999, 0).p_value < 0.05);
        by_row += u32::from(permutation_test(&rows.repeat(COPIES), 999, 0).p_value < 0.05);
    }
    let percent = |found: u32| 100.0 * f64::from(found) / f64::from(STUDIES);
    println!(
        "by group {:.2}%, by row {:.2}%",
        percent(by_group),
        percent(by_row)
    );
    assert!(
        (4.0..=6.0).contains(&percent(by_group)),
        "{}%",
        percent(by_group)
    );
    assert!(percent(by_row) > 25.0, "{}%", percent(by_row));
}
