//! Simulated runs, with fixed seeds: how often a gate that is decided early is decided wrongly, how many rows that takes, and
//! how often intervals contain the mean.
//!
//! `cargo run --release -p dsrs-metrics-decisions` prints the tables; it fails if an error is above its limit or a coverage below
//! 94%, by more than the error of the simulation.

mod gates;
mod samples;

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use dsrs_metrics_values::stats::{BettingTest, Interval};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const ROWS: usize = 1_000;
const ORDERS: u64 = 5_000;
const UNIT: Interval = Interval {
    low: 0.0,
    high: 1.0,
};

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The sum of 12 uniform numbers less 6: nearly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, (self.unit() * (last + 1) as f64) as usize);
        }
    }
}

/// The time that a decision adds to each row.
fn time() {
    let mut random = Random::new(0);
    let scores: Vec<Option<f64>> = (0..1_000_000)
        .map(|_| Some(f64::from(random.unit() < 0.9)))
        .collect();
    let mut test = BettingTest::of_rows(UNIT, 0.9, 1_000_000);
    let start = Instant::now();
    scores.iter().for_each(|score| test.record(*score));
    let each = start.elapsed() / 1_000_000;
    black_box(test.above());
    println!("\none gate on 1,000,000 rows: {each:?} a row");
}

/// Returns the largest share of `runs` that a probability of `limit` explains: three standard errors more.
fn max_share(limit: f64, runs: u64) -> f64 {
    limit + 3.0 * (limit * (1.0 - limit) / runs as f64).sqrt()
}

fn main() -> ExitCode {
    let results = [
        gates::limits(),
        gates::independent(),
        gates::sequences(),
        samples::shares(),
        samples::numbers(),
        samples::differences(),
    ];
    time();
    match results.iter().all(|is_right| *is_right) {
        true => ExitCode::SUCCESS,
        false => {
            eprintln!("a line marked with ! is outside its limit");
            ExitCode::FAILURE
        }
    }
}

fn mark(is_right: bool) -> &'static str {
    if is_right { "" } else { "  !" }
}
