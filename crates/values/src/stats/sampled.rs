//! The mean over all rows, estimated from a metric on a sample of the rows and a cheap metric on all of them.

use super::corrected::Stratum;
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::interval::{Interval, Z, wilson};
use super::labels::NotDefined;
use super::moments::Moments;

/// A metric's mean over all rows, estimated from a sample of the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledMean {
    /// The estimate.
    pub mean: f64,
    /// The 95% interval for the mean.
    ///
    /// For [`sampled_difference`], the interval is for the mean of the population. For the other functions, it is for
    /// the mean of the given rows.
    pub interval: Interval,
    /// The number of rows that you would have to sample for an equally narrow interval without the cheaper metric.
    pub worth: f64,
}

/// Returns the number of rows that a plain sample needs for an interval of the width `width`, if `sample` rows have an
/// interval of the width `plain`. Both widths shrink with `√(1/n - 1/N)`.
fn worth(sample: f64, rows: f64, plain: f64, width: f64) -> f64 {
    if sample == rows || plain == 0.0 {
        return sample;
    }
    let shrunk = (width / plain).powi(2);
    1.0 / (1.0 / rows + shrunk * (1.0 / sample - 1.0 / rows))
}

/// Returns Wilson's interval for the share over `rows` rows if `sample` of them are known. Because known rows add no
/// uncertainty, the sample counts as `sample (rows - 1) / (rows - sample)` rows.
fn of_known(share: f64, sample: f64, rows: f64) -> Interval {
    let n = sample * (rows - 1.0) / (rows - sample);
    if !n.is_finite() {
        return Interval::new(share, share);
    }
    let Interval { low, high } = wilson(share, n, Z);
    Interval::new(low.min(share), high.max(share))
}

/// Uses a sample of the rows to estimate the fraction of rows that pass a metric.
///
/// A cheaper metric divides the rows into strata, and the metric scores a sample of each stratum. The sampled rows of
/// each stratum must be a random sample of its rows.
///
/// The estimate is the mean of the strata's pass rates, weighted by the number of rows in each. This is
/// post-stratification (Cochran 1977, section 5A.9).
///
/// The interval combines the strata's Wilson intervals with MOVER (Zou and Donner 2008). Each Wilson interval is first
/// adjusted for sampling without replacement.
///
/// To estimate the rate of a population instead, use [`post_stratified`](super::post_stratified).
///
/// # Errors
/// Returns [`NotDefined`] if there are no rows, or if a stratum has rows but none of them is sampled.
///
/// ```
/// use dsrs_metrics::stats::{Proportion, Stratum, sampled_share};
///
/// // A cheap metric passes 900 of 1,000 rows; 100 rows were judged.
/// let strata = [
///     Stratum { rows: 900, labelled: Proportion { successes: 88, trials: 90 } },
///     Stratum { rows: 100, labelled: Proportion { successes: 3, trials: 10 } },
/// ];
/// let judged = sampled_share(&strata).unwrap();
/// assert_eq!(format!("{:.3} {:.3} {:.0}", judged.mean, judged.interval, judged.worth), "0.910 [0.860, 0.942] 162");
/// ```
pub fn sampled_share(strata: &[Stratum]) -> Result<SampledMean, NotDefined> {
    let rows = strata.iter().map(|stratum| stratum.rows).sum::<u64>() as f64;
    let (mut mean, mut below, mut above) = (0.0, 0.0_f64, 0.0_f64);
    let (mut sample, mut passed) = (0.0, 0.0);
    for Stratum {
        rows: of_stratum,
        labelled,
    } in strata.iter().filter(|it| it.rows > 0)
    {
        let Some(share) = labelled.rate() else {
            return Err(format!(
                "a stratum of {of_stratum} rows has no sampled row; sample some of them"
            )
            .into());
        };
        let weight = *of_stratum as f64 / rows;
        let Interval { low, high } = of_known(share, labelled.trials as f64, *of_stratum as f64);
        mean += weight * share;
        below = below.hypot(weight * (share - low));
        above = above.hypot(weight * (high - share));
        sample += labelled.trials as f64;
        passed += labelled.successes as f64;
    }
    if rows == 0.0 {
        return Err("not enough rows: no stratum has a row".into());
    }
    let mean = mean.min(1.0);
    let interval = Interval::new(mean - below, mean + above);
    let interval = interval.within(0.0, 1.0);
    let plain = of_known(passed / sample, sample, rows);
    let width = |interval: Interval| interval.high - interval.low;
    Ok(SampledMean {
        mean,
        interval,
        worth: worth(sample, rows, width(plain), width(interval)),
    })
}

/// Uses a sample of the rows to estimate a metric's mean over all rows.
///
/// The metric's scores on the sample are combined with a cheaper metric's scores on all rows. The method is
/// prediction-powered inference with the best weight (PPI++, Angelopoulos, Duchi and Zrnic 2023).
///
/// The metric's scores must be within `range`.
///
/// `sample` contains, for each sampled row, the metric's score `y` and the cheaper metric's score `f`. `others`
/// contains the cheaper metric's score for each remaining row.
///
/// The estimate is `mean(y - b f) + b mean(all f)` with `b = Cov(y, f) / Var(f)`. A cheaper metric that is uncorrelated
/// with the metric does not change the estimate. One that is always wrong helps as much as one that is always right.
///
/// The interval is computed for the mean of [`y - b f`](Moments::uncertainty_within). It is scaled by `√(1 - n/N)`
/// because the scores of the sampled rows are known.
///
/// # Errors
/// Returns [`NotDefined`] if there are fewer than 3 sampled rows.
///
/// ```
/// use dsrs_metrics::stats::{Interval, prediction_powered};
///
/// // The cheap metric is about right.
/// let row = |n: u32| (f64::from(n % 10) / 10.0 + f64::from(n % 3) / 30.0, f64::from(n % 10) / 10.0);
/// let sample: Vec<_> = (0..60).map(row).collect();
/// let others: Vec<_> = (60..600).map(|n| row(n).1).collect();
/// let judged = prediction_powered(&sample, &others, Interval { low: 0.0, high: 1.0 }).unwrap();
/// assert_eq!(format!("{:.3} {:.3} {:.0}", judged.mean, judged.interval, judged.worth), "0.483 [0.477, 0.490] 555");
/// ```
pub fn prediction_powered(
    sample: &[(f64, f64)],
    others: &[f64],
    range: Interval,
) -> Result<SampledMean, NotDefined> {
    let all: Moments = proxies(sample, others).collect();
    let n = sample.len() as f64;
    let weight = products(sample, |row| row.0) / n / all.variance().unwrap_or_default();
    let powered = Powered::of(sample, others, weight)?;
    let [rest, plain] = powered.half_widths(range);
    let known = (1.0 - powered.share).sqrt();
    let [below, above] = rest.map(|half| known * half);
    let interval = Interval::new(powered.mean - below, powered.mean + above);
    let rows = (sample.len() + others.len()) as f64;
    Ok(SampledMean {
        mean: powered.mean.clamp(range.low, range.high),
        interval: interval.within(range.low, range.high),
        worth: worth(n, rows, known * (plain[0] + plain[1]), below + above),
    })
}

/// Uses a sample of rows to estimate how much better one program is than another.
///
/// The estimate combines the differences in a metric on the sample with the differences in a cheaper metric on all
/// rows.
///
/// This function works like [`prediction_powered`], with two exceptions:
///
/// - It estimates the difference in the population that the rows were sampled from.
/// - It uses the least-squares weight in the sample (the regression estimator, Cochran 1977, section 7.3), because the
///   programs differ on only a few rows.
///
/// `sample` contains both differences for each sampled row. `others` contains the difference in the cheaper metric for
/// each remaining row. Differences must be at most `largest` in magnitude.
///
/// The half-widths of the interval are `√((1 - n/N) (n - 1)/(n - 2) r² + n/N p²)`. `r` is the half-width for the mean
/// of `y - b f`, and `p` is the half-width for the mean of `y`. If all rows are sampled, the cheaper metric has no
/// effect on the interval.
///
/// `worth` is the number of rows that you would have to sample for an equally narrow interval without the cheaper
/// metric.
///
/// # Errors
/// Returns [`NotDefined`] if there are fewer than 3 sampled rows.
///
/// ```
/// use dsrs_metrics::stats::sampled_difference;
///
/// // The cheap metric sees most of the changes: 60 of 600 rows were judged.
/// let row = |n: u32| (f64::from(n % 10 < 3) - f64::from(n % 7 == 6), f64::from(n % 10 < 3));
/// let sample: Vec<_> = (0..60).map(row).collect();
/// let others: Vec<_> = (60..600).map(|n| row(n).1).collect();
/// let judged = sampled_difference(&sample, &others, 1.0).unwrap();
/// assert_eq!(format!("{:.3} {:.3} {:.0}", judged.mean, judged.interval, judged.worth), "0.167 [0.063, 0.267] 132");
/// ```
pub fn sampled_difference(
    sample: &[(f64, f64)],
    others: &[f64],
    largest: f64,
) -> Result<SampledMean, NotDefined> {
    let range = Interval::new(-largest, largest);
    let powered = Powered::of(sample, others, least_squares(sample))?;
    let [rest, plain] = powered.half_widths(range);
    let n = sample.len() as f64;
    let unknown = ((1.0 - powered.share) * (n - 1.0) / (n - 2.0)).sqrt();
    let known = powered.share.sqrt();
    let half = |end: usize| (unknown * rest[end]).hypot(known * plain[end]);
    let interval = Interval::new(powered.mean - half(0), powered.mean + half(1));
    let shrunk = (half(0) + half(1)) / (plain[0] + plain[1]);
    Ok(SampledMean {
        mean: powered.mean.clamp(-largest, largest),
        interval: interval.within(-largest, largest),
        worth: (n / shrunk.powi(2)).clamp(n, (sample.len() + others.len()) as f64),
    })
}

/// Returns the weight of the cheaper metric in [`sampled_difference`].
#[doc(hidden)]
pub fn least_squares(sample: &[(f64, f64)]) -> f64 {
    match products(sample, |row| row.0) / products(sample, |row| row.1) {
        weight if weight.is_finite() => weight,
        _ => 0.0,
    }
}

/// Sums the products of the cheaper metric's deviation from its mean and another value's deviation from its mean.
fn products(sample: &[(f64, f64)], of: fn(&(f64, f64)) -> f64) -> f64 {
    let mean =
        |of: fn(&(f64, f64)) -> f64| sample.iter().map(of).sum::<f64>() / sample.len() as f64;
    let (value, proxy) = (mean(of), mean(|row| row.1));
    let products = sample.iter().map(|row| (of(row) - value) * (row.1 - proxy));
    products.sum()
}

fn proxies(sample: &[(f64, f64)], others: &[f64]) -> impl Iterator<Item = f64> {
    let sampled = sample.iter().map(|(_, proxy)| *proxy);
    sampled.chain(others.iter().copied())
}

/// Returns the standard error and the two-sided p-value implied by a 95% interval.
///
/// A normal distribution is assumed (Altman and Bland 2011, "How to obtain the P value from a confidence interval").
/// The p-value is below 0.05 if the interval does not contain 0.
#[doc(hidden)]
pub fn error_and_p_value(estimate: f64, Interval { low, high }: Interval) -> (f64, f64) {
    let half = match estimate > 0.0 {
        true => estimate - low,
        false => high - estimate,
    };
    let p_value = match estimate == 0.0 {
        true => 1.0,
        false => 2.0 * Normal::standard().sf(Z * estimate.abs() / half),
    };
    ((high - low) / (2.0 * Z), p_value)
}

/// A mean estimated from a sample and from a cheaper metric on all rows.
struct Powered {
    mean: f64,
    /// The fraction of rows that are sampled.
    share: f64,
    /// The sample's scores, and the residuals that the cheaper metric leaves.
    scores: Moments,
    rests: Moments,
    /// The range of the cheaper metric's weighted scores.
    shifts: Interval,
}

impl Powered {
    /// Computes the estimate, giving the cheaper metric this weight.
    fn of(sample: &[(f64, f64)], others: &[f64], weight: f64) -> Result<Self, NotDefined> {
        if sample.len() < 3 {
            let found = sample.len();
            return Err(format!(
                "not enough rows: expected at least 3 sampled rows, found {found}"
            )
            .into());
        }
        let weight = if weight.is_finite() { weight } else { 0.0 };
        let rests: Moments = sample.iter().map(|(y, f)| y - weight * f).collect();
        let shifts = || proxies(sample, others).map(|proxy| weight * proxy);
        let shift = shifts().collect::<Moments>().mean().unwrap_or_default();
        let (low, high) = shifts().fold((f64::MAX, f64::MIN), |(low, high), it| {
            (low.min(it), high.max(it))
        });
        Ok(Self {
            mean: rests.mean().unwrap_or_default() + shift,
            share: sample.len() as f64 / (sample.len() + others.len()) as f64,
            scores: sample.iter().map(|(y, _)| *y).collect(),
            rests,
            shifts: Interval::new(low, high),
        })
    }

    /// Returns the lower and upper half-widths of two intervals: one for the mean of the residuals, and one for the
    /// mean of the scores.
    fn half_widths(&self, range: Interval) -> [[f64; 2]; 2] {
        let of = |moments: &Moments, low: f64, high: f64| {
            let mean = moments.mean().unwrap_or_default();
            let ci95 = moments.uncertainty_within(low, high).ci95();
            let ci95 = ci95.unwrap_or(Interval::new(low, high));
            [mean - ci95.low, ci95.high - mean]
        };
        let Interval { low, high } = self.shifts;
        [
            of(&self.rests, range.low - high, range.high - low),
            of(&self.scores, range.low, range.high),
        ]
    }
}
