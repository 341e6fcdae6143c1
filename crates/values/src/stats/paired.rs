//! Compares two systems on the same rows: tests for a difference, and the interval for a difference between
//! proportions.
//!
//! The file is long because each test is documented with its source and an example.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use statrs::distribution::{Binomial, ContinuousCDF, Discrete, DiscreteCDF, Normal};

use super::interval::{Interval, Z};

/// Returns the two-sided p-value of McNemar's exact test.
///
/// `wins` is the number of rows that passed with only one system. `losses` is the number of rows that passed with only
/// the other.
///
/// If the systems are equally good, each of these rows is like a fair coin toss. The p-value is `p = min(1, 2 P(X ≤
/// min(wins, losses)))`, where `X` is binomial. It is 1 if both numbers are 0.
///
/// ```
/// use dsrs_metrics::stats::mcnemar_exact;
///
/// assert!((mcnemar_exact(1, 9) - 0.021484375).abs() < 1e-12);
/// assert_eq!((mcnemar_exact(5, 5), mcnemar_exact(0, 0)), (1.0, 1.0));
/// ```
pub fn mcnemar_exact(wins: u64, losses: u64) -> f64 {
    let rows = wins + losses;
    // An invalid distribution cannot occur: one half is a probability.
    Binomial::new(0.5, rows).map_or(1.0, |flips| (2.0 * flips.cdf(wins.min(losses))).min(1.0))
}

/// The result of a paired permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermutationTest {
    /// The two-sided p-value, in (0, 1].
    pub p_value: f64,
    /// The number of assignments that were evaluated.
    ///
    /// An assignment decides, for each row, whether the results of the two systems are swapped.
    pub assignments: u64,
    /// `true` if all possible assignments were evaluated.
    ///
    /// In this case, the p-value has no sampling error.
    pub is_exact: bool,
}

impl PermutationTest {
    /// Runs the test over all assignments of signs to the rows if there are at most `max`, and over `draws` random
    /// assignments otherwise. `count` receives the number of assignments and a source of signs, and returns the number
    /// of extreme assignments. The observed assignment is added to random ones.
    fn run(
        (rows, max): (usize, u32),
        (draws, seed): (u32, u64),
        count: impl FnOnce(u32, &mut dyn FnMut() -> u64) -> u64,
    ) -> Self {
        let all = 1_u32.checked_shl(u32::try_from(rows).unwrap_or(u32::MAX));
        let (extreme, assignments, own) = if let Some(all) = all.filter(|all| *all <= max) {
            let mut signs = 0..u64::from(all);
            let next = &mut || signs.next().unwrap_or_default();
            (count(all, next), all, 0.0)
        } else {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            (count(draws, &mut || random.next_u64()), draws, 1.0)
        };
        Self {
            p_value: (extreme as f64 + own) / (f64::from(assignments) + own),
            assignments: u64::from(assignments),
            is_exact: own == 0.0,
        }
    }
}

/// The maximum number of assignments for evaluating all of them.
const MAX_EXACT: u32 = 1 << 17;

/// Runs a paired permutation test on score differences (Fisher 1935).
///
/// If the systems are equally good, each difference is equally likely to have the opposite sign. The p-value is the
/// fraction of sign assignments whose absolute sum is at least the observed one.
///
/// If there are up to 17 nonzero differences, all assignments are evaluated. If there are more, `draws` random
/// assignments are evaluated. The p-value is then `(1 + extreme) / (1 + draws)`, which is never 0 (Phipson and Smyth
/// 2010).
///
/// The same seed yields the same p-value on every platform.
///
/// ```
/// use dsrs_metrics::stats::permutation_test;
///
/// let test = permutation_test(&[0.5, 0.25, 0.0, 0.125], 100_000, 0);
/// assert_eq!((test.p_value, test.assignments, test.is_exact), (0.25, 8, true));
/// ```
pub fn permutation_test(differences: &[f64], draws: u32, seed: u64) -> PermutationTest {
    let is_large = largest(differences) > 1e300;
    // A power of two, so that the sums of large differences are finite, and no other sum changes by a bit.
    let unit = if is_large { 2_f64.powi(-64) } else { 1.0 };
    let scaled = differences.iter().map(|it| it * unit);
    let observed = scaled.clone().sum::<f64>().abs();
    let sizes: Vec<f64> = scaled.map(f64::abs).filter(|it| *it > 0.0).collect();
    // Sums of the same numbers in another order differ by rounding.
    let total: f64 = sizes.iter().sum();
    let reached = observed - total * f64::EPSILON * sizes.len() as f64;
    let sums = SignedSums::new(&sizes);
    PermutationTest::run((sizes.len(), MAX_EXACT), (draws, seed), |draws, signs| {
        sums.count_from(reached, draws, signs)
    })
}

/// The minimum effective number of differences for treating their signed sums as normally distributed.
const MIN_NORMAL: f64 = 50_000.0;

fn largest(differences: &[f64]) -> f64 {
    differences
        .iter()
        .fold(0.0, |largest, it| largest.max(it.abs()))
}

/// Approximates the p-value of [`permutation_test`] when there are many differences.
///
/// The sum of many differences with random signs is normally distributed. Its variance is the sum of the squared
/// differences.
///
/// Returns `None` if there are too few differences for the approximation. The effective number of differences, `(Σd²)²
/// / Σd⁴`, must be above 50,000. It equals the number of differences if all have the same size, and is lower otherwise.
///
/// The error is largest if all differences have the same size. Even then, it is at most about 0.0006 near a p-value of
/// 0.05, and never above 0.004.
///
/// For comparison, 100,000 random assignments have a standard error of 0.0007 near 0.05.
///
/// ```
/// use dsrs_metrics::stats::{mcnemar_exact, permutation_limit};
///
/// let differences: Vec<f64> = (0..60_000).map(|row| if row < 30_250 { 0.5 } else { -0.5 }).collect();
/// let (limit, exact) = (permutation_limit(&differences), mcnemar_exact(30_250, 29_750));
/// assert!((limit.unwrap() - exact).abs() < 0.0006);
/// assert_eq!(permutation_limit(&differences[..50_000]), None);
/// ```
pub fn permutation_limit(differences: &[f64]) -> Option<f64> {
    // Powers of very large or small differences would overflow or underflow.
    let largest = largest(differences);
    let power = |exponent| -> f64 {
        let shares = differences.iter().map(|it| it / largest);
        shares.map(|share| share.powi(exponent)).sum()
    };
    let (sum, squares, fourths) = (power(1), power(2), power(4));
    let p_value = 2.0 * Normal::standard().sf(sum.abs() / squares.sqrt());
    (squares * squares / fourths > MIN_NORMAL).then(|| p_value.clamp(f64::MIN_POSITIVE, 1.0))
}

/// Runs a paired permutation test on a score that is computed over all rows.
///
/// This is approximate randomization (Noreen 1989; Riezler and Maxwell 2005). If the systems are equally good, each
/// row's two results are just as likely to be swapped as not. `difference` returns the difference between the scores
/// after the results of the marked rows are swapped.
///
/// The p-value is the fraction of assignments whose difference is at least as large in magnitude as `observed`.
/// Assignments for which `difference` returns `None` are included in this fraction, so the p-value is never too small.
///
/// If `draws` is at least the number of possible assignments, all of them are evaluated. Otherwise, `draws` random
/// assignments are evaluated, and the p-value is `(1 + extreme) / (1 + draws)`.
///
/// The same seed yields the same p-value on every platform.
///
/// ```
/// use dsrs_metrics::stats::exchange_test;
///
/// // The largest value of each system; every row of the second one is larger.
/// let (a, b) = ([1.0, 3.0, 2.0], [4.0, 5.0, 9.0_f64]);
/// let largest = |takes_b: &dyn Fn(usize) -> bool| {
///     (0..3).map(|row| if takes_b(row) { b[row] } else { a[row] }).fold(0.0, f64::max)
/// };
/// let difference = |exchanged: &[bool]| {
///     Some(largest(&|row| !exchanged[row]) - largest(&|row| exchanged[row]))
/// };
/// // 9 - 3 with no row exchanged, and 3 - 9 with all.
/// assert_eq!(exchange_test(3, 6.0, 10_000, 0, difference).p_value, 0.25);
/// ```
pub fn exchange_test(
    rows: usize,
    observed: f64,
    draws: u32,
    seed: u64,
    mut difference: impl FnMut(&[bool]) -> Option<f64>,
) -> PermutationTest {
    // Scores of the same rows in another order may differ by rounding.
    let reached = observed.abs() * (1.0 - 1e-9);
    let mut exchanged = vec![false; rows];
    PermutationTest::run((rows, draws), (draws, seed), |draws, signs| {
        let extreme = (0..draws).filter(|_| {
            for block in exchanged.chunks_mut(64) {
                let signs = signs();
                let bits = block.iter_mut().enumerate();
                bits.for_each(|(bit, exchanged)| *exchanged = signs >> bit & 1 == 1);
            }
            difference(&exchanged).is_none_or(|it| it.abs() >= reached)
        });
        extreme.count() as u64
    })
}

/// Computes sums of sizes with given signs by looking up the sums of eight sizes at a time.
struct SignedSums {
    /// For each group of eight sizes, their sum for every byte of signs. A set bit is a negative sign.
    tables: Vec<[f64; 256]>,
}

impl SignedSums {
    fn new(sizes: &[f64]) -> Self {
        let table = |sizes: &[f64]| {
            let mut sums = [0.0; 256];
            for (signs, sum) in sums.iter_mut().enumerate() {
                let signed = sizes.iter().enumerate();
                *sum = signed
                    .map(|(bit, size)| if signs >> bit & 1 == 1 { -size } else { *size })
                    .sum();
            }
            sums
        };
        Self {
            tables: sizes.chunks(8).map(table).collect(),
        }
    }

    /// Returns how many of `draws` sums have a magnitude of at least `min`. Each call to `signs` returns the signs of
    /// 64 sizes. The calls cover up to 1,024 sums before moving on to the next 64 sizes, so the tables in use stay in
    /// the fastest cache.
    fn count_from(&self, min: f64, draws: u32, mut signs: impl FnMut() -> u64) -> u64 {
        let (mut sums, draws) = ([0.0; 1024], draws as usize);
        let counts = (0..draws).step_by(1024).map(|first| {
            let sums = &mut sums[..(draws - first).min(1024)];
            sums.fill(0.0);
            for tables in self.tables.chunks(8) {
                for sum in &mut *sums {
                    let bytes = signs().to_le_bytes();
                    let looked_up = tables.iter().zip(bytes);
                    *sum += looked_up
                        .map(|(table, byte)| table[usize::from(byte)])
                        .sum::<f64>();
                }
            }
            sums.iter().filter(|sum| sum.abs() >= min).count() as u64
        });
        counts.sum()
    }
}

/// Adjusts p-values for the number of tests (Holm 1979).
///
/// The adjusted p-values are in the same order. If you reject every test whose adjusted p-value is below 0.05, the
/// chance of even one false positive is at most 5%.
///
/// ```
/// use dsrs_metrics::stats::holm;
///
/// assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        let next = (p_values.len() - rank) as f64 * p_values[at];
        largest = largest.max(next).min(1.0);
        adjusted[at] = largest;
    }
    adjusted
}

/// The sum of the normal quantiles for a two-sided test at 5% and for a power of 80%.
const Z_POWER: f64 = Z + 0.841_621_233_572_914_3;

/// Returns the number of rows that a paired test needs to detect a mean difference.
///
/// The test has a significance level of 5% and detects the difference in 80% of studies. Under the normal
/// approximation, the number of rows is `((z₀.₉₇₅ + z₀.₈) deviation / difference)²`, rounded up.
///
/// Returns `None` if the difference is 0, if an argument is not finite, or if the result is at least 10^18 rows.
///
/// ```
/// use dsrs_metrics::stats::rows_for_power;
///
/// assert_eq!(rows_for_power(0.5, 0.1), Some(197));
/// assert_eq!(rows_for_power(0.5, 0.0), None);
/// ```
pub fn rows_for_power(deviation: f64, difference: f64) -> Option<u64> {
    let rows = (Z_POWER * deviation / difference).powi(2).ceil();
    (rows < 1e18).then_some(rows as u64)
}

/// Returns the smallest mean difference that a paired test can detect at a given standard error.
///
/// The test has a significance level of 5% and detects the difference in 80% of studies. Under the normal
/// approximation, the difference is `(z₀.₉₇₅ + z₀.₈) stderr`.
///
/// ```
/// use dsrs_metrics::stats::detectable_difference;
///
/// assert_eq!((1000.0 * detectable_difference(0.01)).round(), 28.0);
/// ```
pub fn detectable_difference(stderr: f64) -> f64 {
    Z_POWER * stderr
}

/// Row counts for comparing the pass rates of two systems on the same rows.
///
/// ```
/// use dsrs_metrics::stats::PairedShares;
///
/// let pairs = PairedShares { wins: 3, losses: 12, rows: 44 };
/// assert_eq!(format!("{:.4}", pairs.difference().unwrap()), "-0.2045");
/// assert_eq!(format!("{:.4}", pairs.tango().unwrap()), "[-0.3696, -0.0355]");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairedShares {
    /// The number of rows that pass with only the second system.
    pub wins: u64,
    /// The number of rows that pass with only the first system.
    pub losses: u64,
    /// The total number of rows.
    ///
    /// This includes rows that pass or fail with both systems.
    pub rows: u64,
}

impl PairedShares {
    /// Returns the difference between the pass rates of the two systems, in [-1, 1].
    ///
    /// The first system's pass rate is subtracted from the second's. Returns `None` if there are no rows.
    pub fn difference(&self) -> Option<f64> {
        (self.rows > 0).then(|| (self.wins as f64 - self.losses as f64) / self.rows as f64)
    }

    /// Returns Tango's score interval for the difference (Tango 1998).
    ///
    /// The interval contains every difference that a score test does not reject at the 5% level. Returns `None` if
    /// there are no rows.
    ///
    /// Even if no row differs, the interval extends `z² / (n + z²)` to each side, because `n` equal rows can only rule
    /// out larger differences.
    ///
    /// ```
    /// use dsrs_metrics::stats::PairedShares;
    ///
    /// let equal = PairedShares { wins: 0, losses: 0, rows: 40 };
    /// assert_eq!(format!("{:.4}", equal.tango().unwrap()), "[-0.0876, 0.0876]");
    /// ```
    pub fn tango(&self) -> Option<Interval> {
        let difference = self.difference()?;
        let Self {
            wins: losses,
            losses: wins,
            rows,
        } = *self;
        let low = -Self { wins, losses, rows }.upper(-difference);
        Some(Interval::new(low, self.upper(difference)))
    }

    /// Returns the upper end, found by bisection. The statistic falls as the hypothesized difference grows.
    fn upper(&self, difference: f64) -> f64 {
        let (mut low, mut high) = (difference, 1.0);
        // Each step halves the distance, until no number is between the ends.
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                return high;
            }
            match self.score(middle) >= -Z {
                true => low = middle,
                false => high = middle,
            }
        }
    }

    /// Returns the score statistic for the hypothesis that the difference is `delta`, in (-1, 1).
    fn score(&self, delta: f64) -> f64 {
        let [wins, losses, n] = [self.wins, self.losses, self.rows].map(|count| count as f64);
        // The probability of a loss under the hypothesis, by maximum likelihood.
        let a = 2.0 * n;
        let b = -wins - losses + (2.0 * n - wins + losses) * delta;
        let c = -losses * delta * (1.0 - delta);
        let loss = ((b * b - 4.0 * a * c).max(0.0).sqrt() - b) / (2.0 * a);
        let variance = n * (2.0 * loss + delta * (1.0 - delta));
        let distance = wins - losses - n * delta;
        if distance == 0.0 {
            0.0
        } else {
            distance / variance.max(0.0).sqrt()
        }
    }
}

/// Returns the two-sided mid-p value of McNemar's test.
///
/// This is the p-value of [`mcnemar_exact`] minus the probability of the observed counts (Fagerland, Lydersen and Laake
/// 2013).
///
/// This test finds more differences than the exact test, but it can have slightly more false positives than its level
/// allows. If two systems are equally good, up to about 5.4% of studies have a p-value below 0.05.
///
/// ```
/// use dsrs_metrics::stats::{mcnemar_exact, mcnemar_mid_p};
///
/// assert_eq!(format!("{:.6}", mcnemar_exact(1, 7)), "0.070313");
/// assert_eq!(format!("{:.6}", mcnemar_mid_p(1, 7)), "0.039063");
/// assert_eq!(mcnemar_mid_p(0, 0), 1.0);
/// ```
pub fn mcnemar_mid_p(wins: u64, losses: u64) -> f64 {
    let (fewer, rows) = (wins.min(losses), wins + losses);
    let observed = Binomial::new(0.5, rows).map_or(0.0, |flips| flips.pmf(fewer));
    let exact = mcnemar_exact(wins, losses);
    match rows {
        0 => 1.0,
        // The observed counts are in both tails.
        _ if wins == losses => 1.0 - observed / 2.0,
        _ => exact - observed,
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod share_tests {
    use super::*;

    fn tango(wins: u64, losses: u64, rows: u64) -> [f64; 2] {
        let Interval { low, high } = PairedShares { wins, losses, rows }.tango().unwrap();
        [low, high]
    }

    #[test]
    fn the_ends_are_where_the_score_test_begins_to_reject() {
        for (wins, losses, rows) in [(12, 3, 44), (1, 0, 10), (30, 70, 100), (2, 2, 5), (1, 1, 2)] {
            let pairs = PairedShares { wins, losses, rows };
            for (end, z) in tango(wins, losses, rows).into_iter().zip([Z, -Z]) {
                assert!(
                    (pairs.score(end) - z).abs() < 1e-6,
                    "{pairs:?}: {}",
                    pairs.score(end)
                );
            }
            let [low, high] = tango(losses, wins, rows);
            assert_eq!(tango(wins, losses, rows), [-high, -low]);
        }
    }

    #[test]
    fn ends_are_those_of_r() {
        // R's contingencytables 3.0.0, `Tango_asymptotic_score_CI_paired_2x2`, with a tolerance of 1e-15. The first two are
        // the examples of Fagerland, Lydersen and Laake (2014).
        for (wins, losses, rows, expected) in [
            (1, 7, 21, [-0.517232276421377, -0.0260030324808684]),
            (6, 16, 161, [-0.124023432464068, -0.00543339573167709]),
            (40, 20, 160, [0.0308645331330868, 0.218064244166825]),
            (12, 3, 44, [0.0354923275988879, 0.369609412287891]),
            (1, 0, 10, [-0.205286079849178, 0.404150026795238]),
            (5, 5, 10, [-0.526813818974872, 0.526813818974872]),
            (30, 70, 100, [-0.562102294101345, -0.208302907333067]),
            (0, 9, 40, [-0.3750309674231, -0.117663538533324]),
            (
                250,
                300,
                100_000,
                [-0.000962922288919395, -4.04884530416315e-5],
            ),
        ] {
            for (found, expected) in tango(wins, losses, rows).into_iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{wins} {losses} {rows}: {found}"
                );
            }
        }
    }

    #[test]
    fn equal_rows_exclude_what_wilson_would() {
        for rows in [1, 2, 10, 1_000, 1_000_000] {
            let expected = Z * Z / (rows as f64 + Z * Z);
            let [low, high] = tango(0, 0, rows);
            assert!(
                (high - expected).abs() < 1e-12 && low == -high,
                "{low} {high} {expected}"
            );
        }
        assert_eq!(PairedShares::default().tango(), None);
        assert_eq!(tango(5, 0, 5)[1], 1.0);
        assert_eq!(tango(0, 5, 5)[0], -1.0);
    }
}
