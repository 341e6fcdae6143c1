//! Simulated runs, with fixed seeds: how often a gate that is decided early is decided wrongly, how many rows that takes, and
//! how often intervals contain the mean.
//!
//! `cargo run --release -p dsrs-metrics-decisions` prints the tables; it fails if an error is above its limit or a coverage below
//! 94%, by more than the error of the simulation.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use dsrs_metrics_values::stats::{
    BettingTest, Interval, Proportion, Stratum, confidence_sequence, prediction_powered,
    sampled_difference, sampled_share,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const ROWS: usize = 1_000;
const ORDERS: u64 = 5_000;
const UNIT: Interval = Interval {
    low: 0.0,
    high: 1.0,
};
const DIFFERENCES: Interval = Interval {
    low: -1.0,
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

/// What became of the orders of one table row.
#[derive(Default)]
struct Outcomes {
    rows: u64,
    above: u64,
    below: u64,
}

impl Outcomes {
    /// Looks after every score until the test is decided; `limit` e-values decide it.
    fn record(&mut self, mut test: BettingTest, scores: &[f64], needed: f64) {
        let decided = scores.iter().position(|score| {
            test.record(Some(*score));
            test.above() >= needed || test.below() >= needed || test.certain().is_some()
        });
        self.rows += decided.map_or(scores.len(), |at| at + 1) as u64;
        if decided.is_some() {
            let is_above = test.certain().unwrap_or(test.above() > test.below());
            self.above += u64::from(is_above);
            self.below += u64::from(!is_above);
        }
    }

    fn share(count: u64) -> f64 {
        count as f64 / ORDERS as f64
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

/// The largest share of `runs` that a probability of `limit` explains: three standard errors.
fn most(limit: f64, runs: u64) -> f64 {
    limit + 3.0 * (limit * (1.0 - limit) / runs as f64).sqrt()
}

fn main() -> ExitCode {
    let results = [
        limits(),
        independent(),
        sequences(),
        shares(),
        numbers(),
        differences(),
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

/// `>= 0.9` on the mean of 1,000 verdicts. The verdict on all rows is `below` only for a true value under the limit.
fn limits() -> bool {
    println!("limit 0.9 on 1,000 rows, 5,000 orders, a look after each row");
    println!("  true  alpha     rows   saved   wrong");
    let mut all_right = true;
    for true_value in [0.97, 0.95, 0.92, 0.90, 0.899, 0.88, 0.80] {
        let passing = (true_value * ROWS as f64) as usize;
        for alpha in [0.05, 0.01, 0.0] {
            let mut outcomes = Outcomes::default();
            for seed in 0..ORDERS {
                let mut scores: Vec<f64> = (0..ROWS).map(|row| f64::from(row < passing)).collect();
                Random::new(seed).shuffle(&mut scores);
                outcomes.record(
                    BettingTest::of_rows(UNIT, 0.9, ROWS as u64),
                    &scores,
                    1.0 / alpha,
                );
            }
            let rows = outcomes.rows as f64 / ORDERS as f64;
            let wrong = Outcomes::share(if passing >= 900 {
                outcomes.below
            } else {
                outcomes.above
            });
            let is_right = wrong <= most(alpha, ORDERS);
            let saved = 100.0 * (1.0 - rows / ROWS as f64);
            println!(
                "  {true_value:<5} {alpha:<5} {rows:>8.1}  {saved:>5.1}%  {wrong:.4}{}",
                mark(is_right)
            );
            all_right &= is_right;
        }
    }
    all_right
}

/// Gates about the population, where the hypothesis is just true.
fn independent() -> bool {
    println!(
        "\ngates about the population, at the margin, alpha 0.025: decisions in 5,000 runs of 1,000 rows"
    );
    let paired = |shift: f64| {
        move |random: &mut Random| {
            let (unit, wins) = (random.unit(), 0.05 + shift / 2.0);
            f64::from(unit < wins) - f64::from(unit >= wins && unit < 0.1)
        }
    };
    type Draw = Box<dyn Fn(&mut Random) -> f64>;
    let share =
        |rate: f64| Box::new(move |random: &mut Random| f64::from(random.unit() < rate)) as Draw;
    let number = Box::new(|random: &mut Random| random.unit().sqrt()) as Draw;
    let cases: [(&str, Interval, f64, Draw); 6] = [
        ("lower(share) >= 0.9, true 0.9", UNIT, 0.9, share(0.9)),
        ("lower(share) >= 0.5, true 0.5", UNIT, 0.5, share(0.5)),
        ("lower(number) >= 2/3, true 2/3", UNIT, 2.0 / 3.0, number),
        (
            "no_worse(0.05), true -0.05",
            DIFFERENCES,
            -0.05,
            Box::new(paired(-0.05)),
        ),
        (
            "no_worse(0.02), true -0.02",
            DIFFERENCES,
            -0.02,
            Box::new(paired(-0.02)),
        ),
        ("better(), true 0", DIFFERENCES, 0.0, Box::new(paired(0.0))),
    ];
    let mut all_right = true;
    for (name, range, limit, draw) in cases {
        let mut outcomes = Outcomes::default();
        for seed in 0..ORDERS {
            let mut random = Random::new(seed);
            let scores: Vec<f64> = (0..ROWS).map(|_| draw(&mut random)).collect();
            outcomes.record(
                BettingTest::of_population(range, limit),
                &scores,
                1.0 / 0.025,
            );
        }
        let wrong = [outcomes.above, outcomes.below].map(Outcomes::share);
        let is_right = wrong.iter().all(|wrong| *wrong <= most(0.025, ORDERS));
        println!(
            "  {name:<32} passes {:.4}  fails {:.4}{}",
            wrong[0],
            wrong[1],
            mark(is_right)
        );
        all_right &= is_right;
    }
    all_right
}

/// A confidence sequence is looked at 12 times in each order; it misses if any look does.
fn sequences() -> bool {
    println!(
        "\nconfidence sequences of 1,000 rows: orders of 1,000 in which all of 12 looks contain the mean, and widths"
    );
    let looks = [5, 10, 20, 40, 80, 120, 160, 250, 400, 600, 800, 950];
    let mut all_right = true;
    for (name, rate, is_number) in [
        ("share 0.5", 0.5, false),
        ("share 0.9", 0.9, false),
        ("share 0.98", 0.98, false),
        ("number 0.9", 0.8, true),
    ] {
        let (mut covered, mut widths) = (0_u64, [0.0; 2]);
        for seed in 0..1_000 {
            let mut random = Random::new(seed);
            let passing = (rate * ROWS as f64) as usize;
            let other = |row: usize| {
                if is_number {
                    (row % 10) as f64 / 10.0
                } else {
                    0.0
                }
            };
            let mut scores: Vec<f64> = (0..ROWS)
                .map(|row| if row < passing { 1.0 } else { other(row) })
                .collect();
            let mean = scores.iter().sum::<f64>() / ROWS as f64;
            random.shuffle(&mut scores);
            let scores: Vec<Option<f64>> = scores.into_iter().map(Some).collect();
            let intervals =
                looks.map(|look| confidence_sequence(&scores[..look], UNIT, ROWS as u64));
            covered += u64::from(
                intervals
                    .iter()
                    .all(|it| it.low - 1e-9 <= mean && mean <= it.high + 1e-9),
            );
            widths[0] += intervals[5].high - intervals[5].low;
            widths[1] += intervals[8].high - intervals[8].low;
        }
        let coverage = covered as f64 / 1_000.0;
        let is_right = 1.0 - coverage <= most(0.05, 1_000);
        let [few, more] = widths.map(|width| width / 1_000.0);
        println!(
            "  {name:<11} {coverage:.3}  width after 120 rows {few:.3}, after 400 {more:.3}{}",
            mark(is_right)
        );
        all_right &= is_right;
    }
    all_right
}

/// Coverage, and widths with and without the cheaper metric.
#[derive(Default)]
struct Coverage {
    covered: u64,
    width: f64,
    worth: f64,
}

impl Coverage {
    const STUDIES: u64 = 2_000;

    fn print(&self, name: &str, plain: f64) -> bool {
        let studies = Self::STUDIES as f64;
        let coverage = self.covered as f64 / studies;
        let is_right = 1.0 - coverage <= most(0.06, Self::STUDIES);
        println!(
            "  {name:<24} {coverage:.3}   {:.4}  {:.4}  {:>5.0}{}",
            self.width / studies,
            plain / studies,
            self.worth / studies,
            mark(is_right)
        );
        is_right
    }
}

/// 100 of 1,000 rows are judged, in proportion to the rows that a cheaper metric passes and fails.
fn shares() -> bool {
    println!("\n100 of 1,000 verdicts: coverage, width, width of the sample alone, worth");
    let mut all_right = true;
    for correlation in [0.5, 0.8, 0.9] {
        for rate in [0.5, 0.7, 0.8, 0.9, 0.95, 0.98] {
            let (mut with, mut plain) = (Coverage::default(), 0.0);
            for seed in 0..Coverage::STUDIES {
                let mut random = Random::new(seed);
                // A proxy with the same rate, equal to the truth with a probability that gives this correlation.
                let row = |_| {
                    let truth = random.unit() < rate;
                    let proxy = if random.unit() < correlation {
                        truth
                    } else {
                        random.unit() < rate
                    };
                    (truth, proxy)
                };
                let rows: Vec<(bool, bool)> = (0..ROWS).map(row).collect();
                let mean = rows.iter().filter(|row| row.0).count() as f64 / ROWS as f64;
                let strata = [false, true].map(|proxy| stratum(&rows, proxy));
                let Ok(estimate) = sampled_share(&strata) else {
                    continue;
                };
                let alone = strata
                    .iter()
                    .fold(Proportion::default(), |all, it| Proportion {
                        successes: all.successes + it.labelled.successes,
                        trials: all.trials + it.labelled.trials,
                    });
                let alone = sampled_share(&[Stratum {
                    rows: ROWS as u64,
                    labelled: alone,
                }]);
                let width = |it: Interval| it.high - it.low;
                plain += alone.map_or(0.0, |it| width(it.interval));
                with.covered += u64::from(estimate.interval.contains(mean));
                with.width += width(estimate.interval);
                with.worth += estimate.worth;
            }
            all_right &= with.print(&format!("correlation {correlation}, rate {rate}"), plain);
        }
    }
    all_right
}

/// Returns the rows with this verdict of the cheaper metric. A tenth of them is judged, and at least five.
fn stratum(rows: &[(bool, bool)], proxy: bool) -> Stratum {
    let of = || rows.iter().filter(|row| row.1 == proxy);
    let all = of().count();
    let trials = (all / 10).max(5).min(all);
    Stratum {
        rows: all as u64,
        labelled: Proportion {
            successes: of().take(trials).filter(|row| row.0).count() as u64,
            trials: trials as u64,
        },
    }
}

/// 100 of 1,000 rows have a number from a dear metric.
fn numbers() -> bool {
    println!("\n100 of 1,000 numbers: coverage, width, width of the sample alone, worth");
    let mut all_right = true;
    for correlation in [0.5_f64, 0.8, 0.9] {
        for centre in [0.5, 0.7, 0.9] {
            let (mut with, mut plain) = (Coverage::default(), 0.0);
            for seed in 0..Coverage::STUDIES {
                let mut random = Random::new(seed);
                let row = |_| {
                    let (common, own) = (random.normal(), random.normal());
                    let other =
                        correlation * common + (1.0 - correlation * correlation).sqrt() * own;
                    let score = |it: f64| (centre + 0.15 * it).clamp(0.0, 1.0);
                    (score(common), score(other))
                };
                let rows: Vec<(f64, f64)> = (0..ROWS).map(row).collect();
                let mean = rows.iter().map(|row| row.0).sum::<f64>() / ROWS as f64;
                let others = |proxy: fn(&(f64, f64)) -> f64| {
                    rows[100..].iter().map(proxy).collect::<Vec<_>>()
                };
                let constant: Vec<(f64, f64)> =
                    rows[..100].iter().map(|row| (row.0, 0.0)).collect();
                let (Ok(estimate), Ok(alone)) = (
                    prediction_powered(&rows[..100], &others(|row| row.1), UNIT),
                    prediction_powered(&constant, &others(|_| 0.0), UNIT),
                ) else {
                    continue;
                };
                let width = |it: Interval| it.high - it.low;
                plain += width(alone.interval);
                with.covered += u64::from(estimate.interval.contains(mean));
                with.width += width(estimate.interval);
                with.worth += estimate.worth;
            }
            all_right &= with.print(&format!("correlation {correlation}, mean {centre}"), plain);
        }
    }
    all_right
}

/// 100 of 1,000 rows have verdicts on two programs, and all have those of a cheaper metric.
fn differences() -> bool {
    println!("\n100 of 1,000 differences: coverage, width, width of the sample alone, worth");
    let mut all_right = true;
    for correlation in [0.5, 0.8, 0.9] {
        for (rate, gain, changed) in [(0.7, 0.0, 0.1), (0.7, 0.1, 0.3), (0.9, 0.05, 0.1)] {
            let (mut with, mut plain) = (Coverage::default(), 0.0);
            for seed in 0..Coverage::STUDIES {
                let mut random = Random::new(seed);
                // Pairs of verdicts; the proxy of each is the verdict, or that of another row.
                let pair = |random: &mut Random| {
                    let at = random.unit();
                    let (worse, better) = ((changed - gain) / 2.0, (changed + gain) / 2.0);
                    match () {
                        () if at < worse => [1.0, 0.0],
                        () if at < worse + better => [0.0, 1.0],
                        () if at < rate + worse => [1.0, 1.0],
                        () => [0.0, 0.0],
                    }
                };
                let row = |_| {
                    let [truth, other] = [pair(&mut random), pair(&mut random)];
                    let proxy = [0, 1].map(|program| match random.unit() < correlation {
                        true => truth[program],
                        false => other[program],
                    });
                    (truth[1] - truth[0], proxy[1] - proxy[0])
                };
                let rows: Vec<(f64, f64)> = (0..ROWS).map(row).collect();
                let others: Vec<f64> = rows[100..].iter().map(|row| row.1).collect();
                let alone: Vec<_> = rows[..100].iter().map(|row| (row.0, 0.0)).collect();
                let (Ok(estimate), Ok(alone)) = (
                    sampled_difference(&rows[..100], &others, 1.0),
                    sampled_difference(&alone, &[0.0; ROWS - 100], 1.0),
                ) else {
                    continue;
                };
                let width = |it: Interval| it.high - it.low;
                plain += width(alone.interval);
                with.covered += u64::from(estimate.interval.contains(gain));
                with.width += width(estimate.interval);
                with.worth += estimate.worth;
            }
            let name = format!("correlation {correlation}, {gain} of {changed}");
            all_right &= with.print(&name, plain);
        }
    }
    all_right
}
