//! Coverage of the 95% intervals in simulated studies with fixed seeds.

use dsrs_metrics::agreement::Agreement;
use dsrs_metrics::stats::{Bootstrap, Interval, Proportion};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::quick;

pub(crate) const STUDIES: u64 = 1_000;

pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1).
    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

/// Asserts that 92% to 98% of the intervals contain the truth; a missing interval does not.
#[track_caller]
pub(crate) fn assert_covers(
    what: &str,
    truth: f64,
    mut study: impl FnMut(&mut Random) -> Option<Interval>,
) {
    let mut covered = Proportion::default();
    for seed in 0..STUDIES {
        let interval = study(&mut Random::new(seed));
        covered.trials += 1;
        covered.successes += u64::from(interval.is_some_and(|interval| interval.contains(truth)));
    }
    let rate = covered.rate().unwrap();
    println!("{what}: {:.1}% of {STUDIES}", 100.0 * rate);
    assert!(
        (0.92..=0.98).contains(&rate),
        "{what}: {rate} of the intervals contain {truth}"
    );
}

#[test]
fn wilson_for_accuracy() {
    for (rows, rate) in [(30, 0.5), (50, 0.9), (142, 0.92), (1_000, 0.99)] {
        assert_covers(&format!("accuracy {rate}, {rows} rows"), rate, |random| {
            let pairs = (0..rows).map(|row| (random.chance(rate), row % 2 == 0));
            let agreed = pairs.map(|(agrees, label)| (agrees == label, label));
            quick(agreed.collect::<Vec<_>>()).accuracy.ci95
        });
    }
}

/// A judge that copies the label of three equally frequent classes, or else picks one at random,
/// has a kappa of the probability of copying, whatever the weights; and so is Spearman's
/// correlation.
fn copying(random: &mut Random, rows: usize, copies: f64, resamples: u32) -> Agreement {
    let class = |random: &mut Random| (3.0 * random.unit()).floor();
    let pairs: Vec<(f64, f64)> = (0..rows)
        .map(|_| {
            let label = class(random);
            (
                if random.chance(copies) {
                    label
                } else {
                    class(random)
                },
                label,
            )
        })
        .collect();
    Agreement::builder()
        .scale(["0", "1", "2"])
        .resamples(resamples)
        .of(pairs)
        .unwrap()
}

#[test]
fn asymptotic_for_kappa_and_bootstrapped_for_spearman() {
    for (rows, copies) in [(60, 0.3), (100, 0.6), (300, 0.8)] {
        let what = |name: &str| format!("{name} {copies}, {rows} rows");
        assert_covers(&what("kappa"), copies, |random| {
            copying(random, rows, copies, 0).kappa.ci95
        });
        assert_covers(&what("linear"), copies, |random| {
            copying(random, rows, copies, 0).kappa_linear.ci95
        });
        assert_covers(&what("quadratic"), copies, |random| {
            copying(random, rows, copies, 0).kappa_quadratic.ci95
        });
        assert_covers(&what("spearman"), copies, |random| {
            copying(random, rows, copies, 400).spearman.ci95
        });
    }
}

#[test]
fn bootstrapped_for_a_mean() {
    assert_covers("mean, 80 rows", 0.5, |random| {
        let scores: Vec<f64> = (0..80).map(|_| random.unit()).collect();
        Bootstrap {
            resamples: 400,
            seed: 1,
        }
        .interval(scores.len(), |rows| {
            Some(rows.iter().map(|row| scores[*row]).sum::<f64>() / rows.len() as f64)
        })
    });
}
