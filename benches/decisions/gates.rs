//! Gates that are decided early, and confidence sequences.

use dsrs_metrics_values::stats::{BettingTest, Interval, confidence_sequence};

use crate::{ORDERS, ROWS, Random, UNIT, mark, max_share};

const DIFFERENCES: Interval = Interval {
    low: -1.0,
    high: 1.0,
};

/// The verdicts on the orders of one row of a table, and the rows they took.
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

/// `>= 0.9` on the mean of 1,000 verdicts. The verdict on all rows is `below` only for a true value under the limit.
pub(super) fn limits() -> bool {
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
            let is_right = wrong <= max_share(alpha, ORDERS);
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
pub(super) fn independent() -> bool {
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
        let is_right = wrong.iter().all(|wrong| *wrong <= max_share(0.025, ORDERS));
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
pub(super) fn sequences() -> bool {
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
        let is_right = 1.0 - coverage <= max_share(0.05, 1_000);
        let [few, more] = widths.map(|width| width / 1_000.0);
        println!(
            "  {name:<11} {coverage:.3}  width after 120 rows {few:.3}, after 400 {more:.3}{}",
            mark(is_right)
        );
        all_right &= is_right;
    }
    all_right
}
