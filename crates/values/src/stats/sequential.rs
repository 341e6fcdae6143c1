//! Decisions while rows arrive: e-processes, which stay valid no matter how often you look, intervals based on them,
//! and estimates of how many rows a decision takes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::interval::Interval;

/// The bets of a test without replacement, as distances from the limit in units of the shorter side of the range. They
/// are halved until this many rows cannot show the distance.
const DISTANCES: [f64; 3] = [0.75, 0.45, 0.2];

/// The bets to use if nothing is known about the distance, as fractions of the largest bet that cannot lose everything.
const SHARES: [f64; 8] = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.95];

/// The rounding error that can remain in the sum of many scores, relative to the range.
const ROUNDING: f64 = 1e-9;

/// A test of whether a mean is above or below a limit.
///
/// You can look at the result after every row.
///
/// For each side of the limit, the test runs an e-process, which works like a series of bets on that side. If the mean
/// of the rows is on the other side, the expected capital is at most 1 at any time.
///
/// By Ville's inequality, the probability that the capital ever reaches `1 / alpha` is then at most `alpha`. If you
/// decide as soon as it does, you are therefore wrong for at most a fraction `alpha` of all row orders.
///
/// The bets are those of Waudby-Smith and Ramdas (2024, "Estimating means of bounded random variables by betting",
/// sections 4 and 5). The capital is the mean, over several fractions `f`, of the products of `1 + f (x - m) / (m -
/// low)`. Here, `m` is the mean that the remaining rows would have if the mean of all rows were equal to the limit.
///
/// ```
/// use dsrs_metrics::stats::{BettingTest, Interval};
///
/// // Is the mean of these 1,000 rows at least 0.9? The rows come in random order, and nearly all are 1.
/// let mut test = BettingTest::of_rows(Interval { low: 0.0, high: 1.0 }, 0.9, 1000);
/// let rows = (1..=1000).map(|row| if row % 40 == 0 { 0.0 } else { 1.0 });
/// let needed = rows.take_while(|score| {
///     test.record(Some(*score));
///     test.above() < 1.0 / 0.01
/// });
/// assert_eq!(needed.count() + 1, 101);
/// assert!(test.below() < 2.0);
/// ```
#[derive(Debug, Clone)]
pub struct BettingTest {
    range: Interval,
    limit: f64,
    /// The total number of rows, or `None` if the rows are a sample from infinitely many.
    rows: Option<u64>,
    taken: u64,
    scored: u64,
    /// The sum of `score - limit`, and what the sum lost to rounding.
    sum: f64,
    lost: f64,
    above: Capital,
    below: Capital,
}

/// The capitals of the bets on one side.
#[derive(Debug, Clone)]
struct Capital {
    /// Each bet as a fraction of the largest, and its capital.
    bets: Vec<(f64, f64)>,
    largest: f64,
}

impl Capital {
    fn new(shares: impl IntoIterator<Item = f64>) -> Self {
        Self {
            bets: shares.into_iter().map(|share| (share, 1.0)).collect(),
            largest: 1.0,
        }
    }

    /// Bets that `gain` is positive. `gain` is at least `-room`.
    fn bet(&mut self, gain: f64, room: f64) {
        for (share, capital) in &mut self.bets {
            *capital *= (1.0 + *share * gain / room).max(0.0);
        }
        let sum: f64 = self.bets.iter().map(|(_, capital)| capital).sum();
        self.largest = self.largest.max(sum / self.bets.len() as f64);
    }
}

/// Returns the bets for a limit. If `towards` is positive, the bets are on a mean above the limit.
fn shares(range: Interval, limit: f64, towards: f64, rows: u64) -> Vec<f64> {
    let sides = [limit - range.low, range.high - limit];
    let shorter = sides[0].min(sides[1]);
    let visible = 2.0 * (sides[0] * sides[1] / rows as f64).sqrt();
    let mut distances = DISTANCES.map(|share| share * shorter).to_vec();
    while let Some(half) = distances.last().map(|last| last / 2.0)
        && half >= visible
        && half > 0.0
    {
        distances.push(half);
    }
    // At an end of the range, there is nothing to bet on, and `certain` decides.
    let share = |distance: f64| match towards > 0.0 {
        true => distance / towards,
        false => 0.0,
    };
    distances.into_iter().map(share).collect()
}

impl BettingTest {
    /// Creates a test for the mean of `rows` rows.
    ///
    /// The rows must be drawn in random order without replacement. Scores must be within the range, and the limit must
    /// be inside it.
    ///
    /// Rows without a score don't count.
    pub fn of_rows(range: Interval, limit: f64, rows: u64) -> Self {
        let above = shares(range, limit, range.high - limit, rows);
        let below = shares(range, limit, limit - range.low, rows);
        Self::new(range, limit, Some(rows), [above, below])
    }

    /// Creates a test for the mean of a population.
    ///
    /// The rows must be an independent sample of the population.
    ///
    /// To compare two programs on the same rows, record the difference for each row. With a limit of 0, the test shows
    /// which program is better. With a limit of `-by`, it shows whether the second program is worse by more than `by`.
    ///
    /// ```
    /// use dsrs_metrics::stats::{BettingTest, Interval};
    ///
    /// let mut test = BettingTest::of_population(Interval { low: -1.0, high: 1.0 }, -0.05);
    /// (0..200).for_each(|_| test.record(Some(0.0)));
    /// assert!(test.above() > 40.0); // No row changed: not worse by 5 points, with an error of 2.5%.
    /// ```
    pub fn of_population(range: Interval, limit: f64) -> Self {
        Self::new(range, limit, None, [SHARES.to_vec(), SHARES.to_vec()])
    }

    fn new(range: Interval, limit: f64, rows: Option<u64>, bets: [Vec<f64>; 2]) -> Self {
        let [above, below] = bets.map(Capital::new);
        Self {
            range,
            limit,
            rows,
            taken: 0,
            scored: 0,
            sum: 0.0,
            lost: 0.0,
            above,
            below,
        }
    }

    /// Records the score of the next row.
    ///
    /// The score is `None` if the row has no score.
    pub fn record(&mut self, score: Option<f64>) {
        let expected = self.rows.map_or(0.0, |rows| {
            -self.sum / rows.saturating_sub(self.taken).max(1) as f64
        });
        let deviation = score.map_or(0.0, |score| score - self.limit);
        let rooms = [
            expected - (self.range.low - self.limit),
            self.range.high - self.limit - expected,
        ];
        // Without room, the hypothesis is impossible or nearly so, and `certain` decides.
        let min = ROUNDING * (self.range.high - self.range.low);
        if rooms[0] > min {
            self.above.bet(deviation - expected, rooms[0]);
        }
        if rooms[1] > min {
            self.below.bet(expected - deviation, rooms[1]);
        }
        self.taken += 1;
        if score.is_some() {
            self.scored += 1;
            let (added, sum) = (deviation - self.lost, self.sum);
            self.sum = sum + added;
            self.lost = (self.sum - sum) - added;
        }
    }

    /// Returns the largest e-value so far for the claim that the mean is at least the limit.
    ///
    /// If the mean is in fact below the limit, the probability of an e-value this large is at most `1 / above`.
    pub fn above(&self) -> f64 {
        self.above.largest
    }

    /// Returns the largest e-value so far for the claim that the mean is at most the limit.
    pub fn below(&self) -> f64 {
        self.below.largest
    }

    /// Returns `Some(true)` if the mean of all rows is certain to be above the limit.
    ///
    /// Returns `Some(false)` if the mean is certain to be below the limit. Returns `None` while the answer still
    /// depends on the remaining rows.
    ///
    /// ```
    /// use dsrs_metrics::stats::{BettingTest, Interval};
    ///
    /// let mut test = BettingTest::of_rows(Interval { low: 0.0, high: 1.0 }, 0.5, 10);
    /// (0..5).for_each(|_| test.record(Some(1.0)));
    /// assert_eq!(test.certain(), None);
    /// test.record(Some(1.0));
    /// assert_eq!(test.certain(), Some(true));
    /// ```
    pub fn certain(&self) -> Option<bool> {
        let left = self.rows?.saturating_sub(self.taken) as f64;
        let slack = ROUNDING * (self.range.high - self.range.low) * (1.0 + self.scored as f64);
        let min = self.sum + left * (self.range.low - self.limit);
        let max = self.sum + left * (self.range.high - self.limit);
        match () {
            () if self.scored == 0 => None,
            () if min > slack => Some(true),
            () if max < -slack => Some(false),
            () => None,
        }
    }
}

/// Returns a 95% interval for the mean of all rows, given the scores of the first rows.
///
/// The first rows must be in random order, and `rows` is the total number of rows. Rows without a score (`None`) don't
/// count.
///
/// You can compute the interval after each row. The intervals form a confidence sequence: with a probability of 95%,
/// all of them contain the mean.
///
/// The interval contains the means that are not rejected by two one-sided betting tests at 2.5% each (Waudby-Smith and
/// Ramdas 2024, section 5). The bets don't depend on the mean.
///
/// ```
/// use dsrs_metrics::stats::{confidence_sequence, Interval};
///
/// let scores: Vec<_> = (1..=129).map(|row| Some(if row % 40 == 0 { 0.0 } else { 1.0 })).collect();
/// let interval = confidence_sequence(&scores, Interval { low: 0.0, high: 1.0 }, 1000);
/// assert_eq!(format!("{interval:.3}"), "[0.917, 0.997]");
/// // Of all rows, the mean is known.
/// let interval = confidence_sequence(&scores, Interval { low: 0.0, high: 1.0 }, 129);
/// assert_eq!(format!("{interval:.3}"), "[0.977, 0.977]");
/// ```
pub fn confidence_sequence(scores: &[Option<f64>], range: Interval, rows: u64) -> Interval {
    sequence(scores, range, Some(rows))
}

/// Returns a 95% interval for the mean of a population.
///
/// The scores must be an independent sample of the population. As with [`confidence_sequence`], you can compute the
/// interval after each score.
///
/// ```
/// use dsrs_metrics::stats::{population_sequence, Interval};
///
/// // The differences of two programs: the second one is better in 30 of 300 rows.
/// let differences: Vec<f64> = (0..300).map(|row| if row % 10 == 0 { 1.0 } else { 0.0 }).collect();
/// let interval = population_sequence(&differences, Interval { low: -1.0, high: 1.0 });
/// assert_eq!(format!("{interval:.3}"), "[0.056, 0.165]");
/// ```
pub fn population_sequence(scores: &[f64], range: Interval) -> Interval {
    let scores: Vec<_> = scores.iter().copied().map(Some).collect();
    sequence(&scores, range, None)
}

fn sequence(scores: &[Option<f64>], range: Interval, rows: Option<u64>) -> Interval {
    let scored: Vec<f64> = scores.iter().flatten().copied().collect();
    if scored.is_empty() {
        return range;
    }
    let mean = scored.iter().sum::<f64>() / scored.len() as f64;
    let end = |side: f64, of: fn(&BettingTest) -> f64, is_excluded: bool| {
        let excludes = |limit: f64| {
            let bets = [SHARES.to_vec(), SHARES.to_vec()];
            let mut test = BettingTest::new(range, limit, rows, bets);
            scores.iter().for_each(|score| test.record(*score));
            of(&test) >= 1.0 / 0.025 || test.certain() == Some(is_excluded)
        };
        // The mean so far is in the interval, and the end of the range is not excluded unless it is impossible.
        let (mut outside, mut inside) = (side, mean);
        for _ in 0..40 {
            let middle = f64::midpoint(outside, inside);
            match excludes(middle) {
                true => outside = middle,
                false => inside = middle,
            }
        }
        inside
    };
    Interval::new(
        end(range.low, BettingTest::above, true),
        end(range.high, BettingTest::below, false),
    )
}

/// The number of simulated orders of the rows.
const ORDERS: u64 = 400;

/// The maximum total number of rows in all simulated orders.
const DRAWS: u64 = 20_000_000;

/// An estimate of the number of rows needed to decide whether a pass rate reaches a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecisionPlan {
    /// The assumed true pass rate.
    pub truth: f64,
    /// `true` if the assumed pass rate is at least the limit.
    pub is_above: bool,
    /// The mean number of rows in a simulated run that [ends as soon as it is decided](BettingTest).
    pub early: f64,
    /// The number of rows after which 90% of simulated runs are decided.
    pub early_90: u64,
    /// The number of rows needed if you look at the result only once.
    ///
    /// With this sample size, 80% of samples lead to the right verdict. This is `None` if the true pass rate equals the
    /// limit.
    pub fixed: Option<u64>,
}

/// Estimates how many rows are needed to decide whether a pass rate is at least `limit`.
///
/// `rows` is the number of rows that are available, and `truth` is their assumed pass rate. The probability of a wrong
/// verdict is at most `alpha`.
///
/// `early` comes from simulated row orders with a fixed seed.
///
/// `fixed` comes from the normal approximation for a one-sided test, `((z₁₋ₐ √(m(1 - m)) + z₀.₈ √(p(1 - p))) / (p -
/// m))²`. The result is reduced because rows are sampled without replacement.
///
/// Numeric scores within a range need at most as many rows as pass/fail verdicts with the same mean.
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

/// Returns how many rows a decision takes in one random order.
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
    let sample = (sample / (1.0 + (sample - 1.0) / rows)).ceil();
    (truth != limit).then_some(sample.clamp(1.0, rows.max(1.0)) as u64)
}
