//! Simulated studies with fixed seeds: how often an interval contains the truth, and how often a test finds a difference
//! between equal systems.

use dsrs_metrics::stats::{
    Bootstrap, Clusters, Interval, Moments, Proportion, mcnemar_exact, permutation_test,
};

use crate::agree::coverage::Random;

const STUDIES: u64 = 2_000;

/// Returns the share of studies in percent for which `happens` is true.
fn percent(mut happens: impl FnMut(&mut Random) -> bool) -> f64 {
    let count = (0..STUDIES)
        .filter(|seed| happens(&mut Random::new(*seed)))
        .count();
    100.0 * count as f64 / STUDIES as f64
}

#[track_caller]
fn assert_between(what: &str, percent: f64, [least, most]: [f64; 2]) {
    println!("{what}: {percent:.2}%");
    assert!(least <= percent && percent <= most, "{what}: {percent}%");
}

fn contains(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|interval| interval.contains(truth))
}

#[test]
fn wilson_intervals_of_bools_contain_the_truth_in_95_percent() {
    // With 20 rows only 21 rates are possible, so the coverage jumps from one true rate to the next; it is 95% on average.
    for (rows, rate, expected) in [
        (20, 0.5, [95.0, 97.0]),
        (20, 0.75, [91.5, 94.5]),
        (100, 0.5, [93.5, 96.5]),
        (100, 0.75, [93.5, 96.5]),
        (1_000, 0.75, [93.5, 96.5]),
        (1_000, 0.97, [93.5, 96.5]),
    ] {
        let covered = percent(|random| {
            let successes = (0..rows).filter(|_| random.chance(rate)).count() as u64;
            contains(
                Proportion {
                    successes,
                    trials: rows,
                }
                .wilson(),
                rate,
            )
        });
        assert_between(&format!("bool {rate}, {rows} rows"), covered, expected);
    }
}

/// A skewed score in [0, 1] with the mean 0.25: most rows are near 0.
fn skewed(random: &mut Random) -> f64 {
    random.unit().powi(3)
}

#[test]
fn t_intervals_of_skewed_scores_contain_the_truth_in_95_percent() {
    // With 20 rows too few from the tail are seen, and the headline adds "few rows".
    for (rows, expected) in [
        (20, [91.0, 95.0]),
        (100, [93.5, 96.5]),
        (1_000, [93.5, 96.5]),
    ] {
        let covered = percent(|random| {
            let scores: Moments = (0..rows).map(|_| skewed(random)).collect();
            contains(scores.uncertainty().ci95(), 0.25)
        });
        assert_between(&format!("skewed, {rows} rows"), covered, expected);
    }
}

#[test]
fn bootstrap_intervals_of_skewed_scores_contain_the_truth_in_95_percent() {
    // As with Student's t, 20 rows are too few.
    for (rows, expected) in [(20, [90.0, 94.0]), (100, [93.0, 96.5])] {
        let covered = percent(|random| {
            let scores: Vec<_> = (0..rows).map(|_| (skewed(random), 1)).collect();
            let bootstrap = Bootstrap {
                resamples: 300,
                seed: random.next(),
            };
            contains(bootstrap.mean(&scores).ci95(), 0.25)
        });
        assert_between(
            &format!("skewed, bootstrap, {rows} rows"),
            covered,
            expected,
        );
    }
}

#[test]
fn rows_that_are_copied_five_times_need_intervals_by_group() {
    for groups in [20, 100] {
        let (mut by_row, mut by_group) = (0, 0);
        for seed in 0..STUDIES {
            let mut random = Random::new(seed);
            let (mut rows, mut clusters) = (Moments::default(), Clusters::default());
            for group in 0..groups {
                let score = random.unit();
                (0..5).for_each(|_| rows.record(score));
                (0..5).for_each(|_| clusters.record(group, score));
            }
            by_row += u32::from(contains(rows.uncertainty().ci95(), 0.5));
            by_group += u32::from(contains(clusters.uncertainty().ci95(), 0.5));
        }
        let share = |count: u32| 100.0 * f64::from(count) / STUDIES as f64;
        assert_between(
            &format!("{groups} groups, by row"),
            share(by_row),
            [55.0, 70.0],
        );
        assert_between(
            &format!("{groups} groups, by group"),
            share(by_group),
            [93.5, 96.5],
        );
    }
}

#[test]
fn equal_systems_differ_in_5_percent_of_all_studies() {
    for rows in [100, 300] {
        let found = percent(|random| {
            let differences: Vec<f64> =
                (0..rows).map(|_| skewed(random) - skewed(random)).collect();
            permutation_test(&differences, 500, random.next()).p_value <= 0.05
        });
        assert_between(&format!("permutation test, {rows} rows"), found, [4.0, 6.0]);
    }
    // The exact test of few flips rejects less often, because p-values between two counts do not exist.
    for (rows, expected) in [(100, [1.5, 5.0]), (1_000, [3.0, 6.0])] {
        let found = percent(|random| {
            let (mut wins, mut losses) = (0, 0);
            for _ in 0..rows {
                match (random.chance(0.7), random.chance(0.7)) {
                    (true, false) => wins += 1,
                    (false, true) => losses += 1,
                    _ => {}
                }
            }
            mcnemar_exact(wins, losses) <= 0.05
        });
        assert_between(&format!("McNemar's test, {rows} rows"), found, expected);
    }
}
