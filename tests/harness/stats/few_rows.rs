//! Coverage of intervals where Student's t fails: few rows that differ, proportions near 1, groups of unequal size.
//!
//! `cargo test -p dsrs-metrics-tests --test harness few_rows -- --nocapture` prints the tables.

use dsrs_metrics::stats::{Clusters, Interval, Moments, PairedShares, Uncertainty};

use crate::agree::coverage::Random;

const STUDIES: u64 = 4_000;

/// The coverage must be at least 94%, less twice the error of so many studies.
const LEAST: f64 = 0.94 - 2.0 * 0.003_75;

/// Prints and checks the share of studies whose interval contains the truth, and the mean width.
#[track_caller]
fn assert_covers(what: &str, truth: f64, mut study: impl FnMut(&mut Random) -> Option<Interval>) {
    let (mut covered, mut widths) = (0, 0.0);
    for seed in 0..STUDIES {
        let interval = study(&mut Random::new(seed));
        let Some(Interval { low, high }) = interval else {
            continue;
        };
        // Scores are sums of rounded numbers.
        covered += u32::from(low <= truth + 1e-9 && truth <= high + 1e-9);
        widths += high - low;
    }
    let share = f64::from(covered) / STUDIES as f64;
    println!(
        "{what}: covers {share:.3}, mean width {:.3}",
        widths / STUDIES as f64
    );
    assert!(share >= LEAST, "{what}: {share}");
}

/// 1 with the first probability, 0 with the second, otherwise uniform in [0, 1).
fn mixed(random: &mut Random, one: f64, zero: f64) -> f64 {
    let place = random.unit();
    if place < one {
        1.0
    } else if place < one + zero {
        0.0
    } else {
        random.unit()
    }
}

/// Johnk's method, for small parameters.
fn beta(random: &mut Random, a: f64, b: f64) -> f64 {
    loop {
        let (x, y) = (random.unit().powf(1.0 / a), random.unit().powf(1.0 / b));
        if x + y > 0.0 && x + y <= 1.0 {
            return x / (x + y);
        }
    }
}

fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

fn unit_interval(scores: impl Iterator<Item = f64>) -> Option<Interval> {
    scores
        .collect::<Moments>()
        .uncertainty_within(0.0, 1.0)
        .ci95()
}

#[test]
fn scores_that_are_mostly_one() {
    for (one, zero) in [(0.7, 0.1), (0.9, 0.03), (0.97, 0.0)] {
        let mean = one + (1.0 - one - zero) / 2.0;
        for rows in [5, 10, 20, 50, 200] {
            let what = format!("{:.0}% 1, {:.0}% 0, {rows} rows", 100.0 * one, 100.0 * zero);
            assert_covers(&what, mean, |random| {
                unit_interval((0..rows).map(|_| mixed(random, one, zero)))
            });
        }
    }
}

#[test]
fn shares_of_three_repeats() {
    for (mean, concentration) in [(0.9, 0.8), (0.95, 0.8), (0.98, 0.8), (0.98, 5.0)] {
        for rows in [10, 20, 50, 200] {
            let what = format!("3 repeats, {mean}, concentration {concentration}, {rows} rows");
            assert_covers(&what, mean, |random| {
                let scores = (0..rows).map(|_| {
                    let rate = beta(random, mean * concentration, (1.0 - mean) * concentration);
                    (0..3).filter(|_| random.chance(rate)).count() as f64 / 3.0
                });
                unit_interval(scores.collect::<Vec<_>>().into_iter())
            });
        }
    }
}

#[test]
fn smooth_scores_are_covered_by_intervals_that_are_no_wider() {
    for rows in [10, 20, 30, 50, 200] {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        assert_covers(
            &format!("square root of a uniform score, {rows} rows"),
            2.0 / 3.0,
            |random| {
                let scores: Moments = (0..rows).map(|_| random.unit().sqrt()).collect();
                let width = |it: Uncertainty| it.ci95().map(|it| it.high - it.low);
                before.extend(width(scores.uncertainty()));
                after.extend(width(scores.uncertainty_within(0.0, 1.0)));
                scores.uncertainty_within(0.0, 1.0).ci95()
            },
        );
        let median = |mut widths: Vec<f64>| {
            widths.sort_unstable_by(f64::total_cmp);
            widths[widths.len() / 2]
        };
        let (before, after) = (median(before), median(after));
        println!("  median width {before:.4} by Student's t, {after:.4} now");
        assert!(after <= 1.01 * before, "{rows} rows: {before} {after}");
    }
}

/// The sizes of groups.
fn sizes() -> Vec<(&'static str, Vec<usize>)> {
    let large = |first: &[usize], others, size| {
        first
            .iter()
            .copied()
            .chain(std::iter::repeat_n(size, others))
            .collect()
    };
    vec![
        ("6 x 20", large(&[], 6, 20)),
        ("50, 5 x 5", large(&[50], 5, 5)),
        ("100, 9 x 5", large(&[100], 9, 5)),
        ("40, 30, 20, 10, 5, 5", vec![40, 30, 20, 10, 5, 5]),
        ("3 x 30, 20 x 3", large(&[30; 3], 20, 3)),
        ("10 x 10", large(&[], 10, 10)),
        ("30 x 10", large(&[], 30, 10)),
    ]
}

#[test]
fn numbers_in_groups_of_unequal_size() {
    for (name, sizes) in sizes() {
        for (of_group, of_row) in [(0.05, 0.05), (0.0, 0.05)] {
            let what = format!("groups {name}, deviations {of_group} and {of_row}");
            assert_covers(&what, 0.0, |random| {
                let mut clusters = Clusters::default();
                for (group, size) in sizes.iter().enumerate() {
                    let mean = of_group * normal(random);
                    (0..*size).for_each(|_| clusters.record(group, mean + of_row * normal(random)));
                }
                clusters.uncertainty().ci95()
            });
        }
    }
}

#[test]
fn verdicts_in_groups() {
    for (name, sizes) in sizes() {
        for (mean, concentration) in [(0.9, 4.0), (0.97, 4.0)] {
            let what = format!("verdicts, {mean}, groups {name}");
            assert_covers(&what, mean, |random| {
                let mut clusters = Clusters::default();
                for (group, size) in sizes.iter().enumerate() {
                    let rate = beta(random, mean * concentration, (1.0 - mean) * concentration);
                    let mut verdict = || f64::from(u8::from(random.chance(rate)));
                    (0..*size).for_each(|_| clusters.record(group, verdict()));
                }
                clusters.uncertainty_within(0.0, 1.0).ci95()
            });
        }
    }
}

#[test]
fn differences_of_verdicts() {
    for (discordant, difference) in [
        (0.02, 0.0),
        (0.05, 0.0),
        (0.1, 0.0),
        (0.05, -0.05),
        (0.1, -0.1),
        (0.3, 0.0),
        (0.3, -0.1),
    ] {
        for rows in [10, 20, 50, 200] {
            let what = format!("{discordant} discordant, difference {difference}, {rows} rows");
            assert_covers(&what, difference, |random| {
                let mut pairs = PairedShares {
                    rows,
                    ..PairedShares::default()
                };
                for _ in 0..rows {
                    let place = random.unit();
                    pairs.wins += u64::from(place < f64::midpoint(discordant, difference));
                    pairs.losses += u64::from(place >= 1.0 - (discordant - difference) / 2.0);
                }
                pairs.tango()
            });
        }
    }
}

#[test]
fn differences_of_scores() {
    type Draw = fn(&mut Random) -> f64;
    let kinds: [(&str, f64, Draw); 4] = [
        ("uniform changes", 0.0, |random| 2.0 * random.unit() - 1.0),
        ("losses of up to 1", -0.5, |random| -random.unit()),
        ("losses of 0.1", -0.1, |_| -0.1),
        ("changes of thirds", 0.0, |random| {
            [-2.0, -1.0, 1.0, 2.0][(4.0 * random.unit()) as usize] / 3.0
        }),
    ];
    for (kind, mean, draw) in kinds {
        for differing in [0.02, 0.05, 0.1, 0.3] {
            for rows in [10, 20, 50] {
                let what = format!("{kind} in {differing} of {rows} rows");
                assert_covers(&what, differing * mean, |random| {
                    let changes = (0..rows).map(|_| match random.chance(differing) {
                        true => draw(random),
                        false => 0.0,
                    });
                    changes
                        .collect::<Moments>()
                        .uncertainty_within(-1.0, 1.0)
                        .ci95()
                });
            }
        }
    }
}
