//! Estimates from a sample of the rows and a cheaper metric on all of them.

use dsrs_metrics_values::stats::{
    Interval, Proportion, SampledMean, Stratum, prediction_powered, sampled_difference,
    sampled_share,
};

use crate::{ROWS, Random, UNIT, mark, max_share};

/// The studies of one row of a table: how many intervals contain the mean, and the sums of the other figures.
#[derive(Default)]
struct Studies {
    covered: u64,
    width: f64,
    width_alone: f64,
    worth: f64,
}

impl Studies {
    const COUNT: u64 = 2_000;

    /// Adds a study: the estimate with the cheaper metric, and the one from the sample alone.
    fn add(&mut self, estimate: &SampledMean, alone: &SampledMean, mean: f64) {
        let width = |it: Interval| it.high - it.low;
        self.covered += u64::from(estimate.interval.contains(mean));
        self.width += width(estimate.interval);
        self.width_alone += width(alone.interval);
        self.worth += estimate.worth;
    }

    fn print(&self, name: &str) -> bool {
        let count = Self::COUNT as f64;
        let coverage = self.covered as f64 / count;
        let is_right = 1.0 - coverage <= max_share(0.06, Self::COUNT);
        println!(
            "  {name:<24} {coverage:.3}   {:.4}  {:.4}  {:>5.0}{}",
            self.width / count,
            self.width_alone / count,
            self.worth / count,
            mark(is_right)
        );
        is_right
    }
}

/// 100 of 1,000 rows are judged, in proportion to the rows that a cheaper metric passes and fails.
pub(super) fn shares() -> bool {
    println!("\n100 of 1,000 verdicts: coverage, width, width of the sample alone, worth");
    let mut all_right = true;
    for correlation in [0.5, 0.8, 0.9] {
        for rate in [0.5, 0.7, 0.8, 0.9, 0.95, 0.98] {
            let mut studies = Studies::default();
            for seed in 0..Studies::COUNT {
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
                let labelled = strata
                    .iter()
                    .fold(Proportion::default(), |all, it| Proportion {
                        successes: all.successes + it.labelled.successes,
                        trials: all.trials + it.labelled.trials,
                    });
                let whole = Stratum {
                    rows: ROWS as u64,
                    labelled,
                };
                let (Ok(estimate), Ok(alone)) = (sampled_share(&strata), sampled_share(&[whole]))
                else {
                    continue;
                };
                studies.add(&estimate, &alone, mean);
            }
            all_right &= studies.print(&format!("correlation {correlation}, rate {rate}"));
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

/// 100 of 1,000 rows have a number from an expensive metric.
pub(super) fn numbers() -> bool {
    println!("\n100 of 1,000 numbers: coverage, width, width of the sample alone, worth");
    let mut all_right = true;
    for correlation in [0.5_f64, 0.8, 0.9] {
        for centre in [0.5, 0.7, 0.9] {
            let mut studies = Studies::default();
            for seed in 0..Studies::COUNT {
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
                studies.add(&estimate, &alone, mean);
            }
            all_right &= studies.print(&format!("correlation {correlation}, mean {centre}"));
        }
    }
    all_right
}

/// 100 of 1,000 rows have verdicts on two programs, and all have those of a cheaper metric.
pub(super) fn differences() -> bool {
    println!("\n100 of 1,000 differences: coverage, width, width of the sample alone, worth");
    let mut all_right = true;
    for correlation in [0.5, 0.8, 0.9] {
        for (rate, gain, changed) in [(0.7, 0.0, 0.1), (0.7, 0.1, 0.3), (0.9, 0.05, 0.1)] {
            let mut studies = Studies::default();
            for seed in 0..Studies::COUNT {
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
                studies.add(&estimate, &alone, gain);
            }
            let name = format!("correlation {correlation}, {gain} of {changed}");
            all_right &= studies.print(&name);
        }
    }
    all_right
}
