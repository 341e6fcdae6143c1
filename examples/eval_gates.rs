//! Error rates of the gates of `#[eval]`, by simulation: how often a gate fails, passes and is undecided on pairs of runs
//! whose true difference is known.
//!
//!     cargo run --release --example eval_gates [PAIRS]

use dsrs_metrics::contract::RepeatNumber;
use dsrs_metrics::evals::{Condition, verdicts};
use dsrs_metrics::prelude::*;
use dsrs_metrics::stats::rows_for_power;
use dsrs_metrics::{Evaluate, rows::Pair, runs::EvaluationResult};

/// A generator of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Pairs of runs with a known difference.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    rows: usize,
    /// The number of rows that share a group and its difficulty; 1 without groups.
    group: usize,
    repeats: u32,
    /// The number of metrics, each with a gate.
    metrics: usize,
    /// The true difference between the new program and the old one.
    change: f64,
}

/// The probability that a row passes, before the change.
const RATE: f64 = 0.75;

/// The margin of `no_worse`.
const MARGIN: f64 = 0.02;

const GATES: [&str; 3] = ["m0", "m1", "m2"];

fn metrics(count: usize) -> impl Iterator<Item = impl Metric> {
    GATES
        .into_iter()
        .take(count)
        .enumerate()
        .map(|(metric, name)| {
            metric_fn(name, move |_, pred| {
                let draw = RepeatNumber::current().0 as usize;
                pred.get("passes")
                    .and_then(|all| all.get(metric)?.get(draw)?.as_bool())
                    .unwrap_or(false)
            })
        })
}

/// One run. Each row has its own probability to pass, and so has each group.
async fn run(scenario: &Scenario, difficulty: u64, draws: u64, change: f64) -> EvaluationResult {
    let (mut random, mut of_run) = (Random(difficulty), Random(draws));
    let (mut of_group, mut rows) = (0.0, Vec::with_capacity(scenario.rows));
    for row in 0..scenario.rows {
        if row % scenario.group == 0 {
            of_group = if scenario.group > 1 {
                0.3 * (random.unit() - 0.5)
            } else {
                0.0
            };
        }
        // Within [0.3, 1] together with the group, so that no probability is cut off.
        let rate = RATE - 0.05 + of_group + 0.3 * (random.unit() - 0.5) + change;
        let passes: Vec<Vec<bool>> = (0..scenario.metrics)
            .map(|_| {
                (0..scenario.repeats.max(1))
                    .map(|_| of_run.unit() < rate)
                    .collect()
            })
            .collect();
        let gold = example! { "topic" => row / scenario.group };
        rows.push(Pair::new(
            row.to_string(),
            gold,
            prediction! { "passes" => passes },
        ));
    }
    let mut evaluate = Evaluate::builder().metrics(metrics(scenario.metrics));
    if scenario.repeats > 1 {
        evaluate = evaluate.repeats(scenario.repeats);
    }
    evaluate.score(rows).await.expect("valid rows")
}

/// The standard deviation of the differences between rows, from one large pair of runs with the same change.
async fn deviation(scenario: &Scenario) -> f64 {
    let large = Scenario {
        rows: 20_000,
        metrics: 1,
        ..*scenario
    };
    let [a, b] = [
        run(&large, 1, 2, 0.0).await,
        run(&large, 1, 3, scenario.change).await,
    ];
    let group = (scenario.group > 1).then_some("gold.topic");
    let [a, b] = [&a, &b].map(|it| dsrs_metrics::results::Results::of(it).expect("rows"));
    let mut builder = dsrs_metrics::results::Comparison::builder().draws(1_000);
    if let Some(group) = group {
        builder = builder.group(group);
    }
    let comparison = builder.of(&a, &b).expect("comparable");
    comparison.metrics[0].overall.stderr.expect("differences") * (large.rows as f64).sqrt()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let pairs: u64 = std::env::args()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .unwrap_or(2_000);
    let base = Scenario {
        name: "",
        rows: 300,
        group: 1,
        repeats: 1,
        metrics: 1,
        change: 0.0,
    };
    let scenarios = [
        Scenario {
            name: "no difference",
            ..base
        },
        Scenario {
            name: "no difference, 3 repeats",
            repeats: 3,
            ..base
        },
        Scenario {
            name: "no difference, groups of 5",
            group: 5,
            ..base
        },
        Scenario {
            name: "no difference, 3 gates",
            metrics: 3,
            ..base
        },
        Scenario {
            name: "drop of 0.05",
            change: -0.05,
            ..base
        },
        Scenario {
            name: "drop of 0.05, 3 repeats",
            repeats: 3,
            change: -0.05,
            ..base
        },
        Scenario {
            name: "drop of 0.05, groups of 5",
            group: 5,
            change: -0.05,
            ..base
        },
        Scenario {
            name: "drop of 0.02, the margin",
            change: -0.02,
            ..base
        },
    ];
    println!(
        "no_worse(by = {MARGIN}), {pairs} pairs of runs each; a drop of 0.05 has as many rows as 80% power takes"
    );
    println!(
        "{:28} {:>6} {:>8} {:>8} {:>10}",
        "", "rows", "failed", "passed", "undecided"
    );
    for mut scenario in scenarios {
        if scenario.change == -0.05 {
            let rows = rows_for_power(deviation(&scenario).await, 0.05).expect("a difference");
            scenario.rows = (rows as usize).next_multiple_of(scenario.group);
        }
        let gates: Vec<_> = GATES[..scenario.metrics]
            .iter()
            .map(|name| (*name, Condition::NoWorse(name, MARGIN)))
            .collect();
        let group = (scenario.group > 1).then_some("topic");
        let mut counts = [0_u64; 3];
        for pair in 0..pairs {
            let seeds = [3 * pair + 10, 3 * pair + 11, 3 * pair + 12].map(|seed| seed * 0x1_0001);
            let old = run(&scenario, seeds[0], seeds[1], 0.0).await;
            let new = run(&scenario, seeds[0], seeds[2], scenario.change).await;
            let verdicts = verdicts(&gates, &old, &new, group).expect("rows");
            let has = |name: &str| verdicts.iter().any(|(verdict, _)| *verdict == name);
            let worst = ["failed", "undecided", "passed"]
                .iter()
                .position(|name| has(name));
            counts[worst.expect("a verdict")] += 1;
        }
        let share = |count: u64| format!("{:.1}%", 100.0 * count as f64 / pairs as f64);
        println!(
            "{:28} {:>6} {:>8} {:>8} {:>10}",
            scenario.name,
            scenario.rows,
            share(counts[0]),
            share(counts[2]),
            share(counts[1])
        );
    }
}
