//! How many rows it takes to decide if a mean reaches a limit, given the true value.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::interval::Interval;
use super::sequential::BettingTest;

/// The number of simulated orders of the rows.
const ORDERS: u64 = 400;

/// The number of rows that all simulated orders may have together.
const DRAWS: u64 = 20_000_000;

/// The number of rows needed to decide whether a pass rate reaches a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecisionPlan {
    /// The true pass rate.
    pub truth: f64,
    /// `true` if the true pass rate is at least the limit.
    pub is_above: bool,
    /// The mean number of rows in a run that [ends as soon as it's decided](BettingTest).
    pub early: f64,
    /// The number of rows after which 90% of such runs have ended.
    pub early_90: u64,
    /// The sample size at which 80% of samples lead to the right verdict, if you look only once. `None` if the true
    /// pass rate equals the limit.
    pub fixed: Option<u64>,
}

/// Plans how many of `rows` rows are needed to decide whether their pass rate is at least `limit`. Assumes that the
/// true pass rate is `truth`. The probability of a wrong verdict is at most `alpha`.
///
/// `early` comes from simulated row orders with a fixed seed. `fixed` is the normal approximation for a one-sided test,
/// `((z₁₋ₐ √(m(1 - m)) + z₀.₈ √(p(1 - p))) / (p - m))²`, reduced because rows are sampled without replacement. Numeric
/// scores within a range need at most as many rows as pass/fail verdicts with the same mean.
///
/// ```
/// use dsrs_metrics::stats::plan_rows;
///
/// let plan = plan_rows(0.9, 0.97, 1000, 0.01);
/// assert!((120.0..140.0).contains(&plan.early));
/// assert_eq!((plan.is_above, plan.fixed), (true, Some(127)));
/// // At the limit itself, no sample tells.
/// assert_eq!(plan_rows(0.9, 0.9, 1000, 0.01).fixed, None);
/// ```
pub fn plan_rows(limit: f64, truth: f64, rows: u64, alpha: f64) -> DecisionPlan {
    let mut orders: Vec<u64> = (0..ORDERS.min(DRAWS / rows.max(1)).max(20))
        .map(|seed| simulated(limit, truth, rows, alpha, seed))
        .collect();
    orders.sort_unstable();
    let early = orders.iter().sum::<u64>() as f64 / orders.len() as f64;
    DecisionPlan {
        truth,
        is_above: truth >= limit,
        early,
        early_90: orders[(orders.len() * 9).div_ceil(10) - 1],
        fixed: fixed(limit, truth, rows as f64, alpha),
    }
}

/// Returns how many rows decide in one random order.
fn simulated(limit: f64, truth: f64, rows: u64, alpha: f64, seed: u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let range = Interval::new(0.0, 1.0);
    let mut test = BettingTest::of_rows(range, limit, rows);
    let mut passing = truth * rows as f64;
    for taken in 1..rows {
        let left = (rows - taken + 1) as f64;
        let unit = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let passes = unit * left < passing;
        passing -= f64::from(passes);
        test.record(Some(f64::from(passes)));
        let evidence = test.above().max(test.below());
        if evidence >= 1.0 / alpha || test.certain().is_some() {
            return taken;
        }
    }
    rows
}

fn fixed(limit: f64, truth: f64, rows: f64, alpha: f64) -> Option<u64> {
    let normal = Normal::standard();
    let deviation = |share: f64| (share * (1.0 - share)).sqrt();
    let (level, power) = (normal.inverse_cdf(1.0 - alpha), normal.inverse_cdf(0.8));
    let root = (level * deviation(limit) + power * deviation(truth)) / (truth - limit);
    let sample = root * root;
    let sample = (sample / (1.0 + (sample - 1.0) / rows))
        .ceil()
        .clamp(1.0, rows.max(1.0));
    (truth != limit).then_some(sample as u64)
}
