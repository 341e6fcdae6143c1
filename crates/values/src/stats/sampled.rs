//! The mean of all rows, from a metric on a sample of them and a cheap metric on all.

use super::corrected::Stratum;
use super::interval::{Interval, Z};
use super::labels::NotDefined;
use super::moments::Moments;

/// The mean of a metric over all rows, estimated from a sample of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledMean {
    /// The estimate.
    pub mean: f64,
    /// The 95% interval of the mean of these rows, not of the population that they are a sample of.
    pub interval: Interval,
    /// The number of sampled rows that would give an interval of this width without the other metric.
    pub worth: f64,
}

/// Returns the number of rows of a plain sample with an interval of the width `width`, if `sample` rows have `plain`. Both
/// widths shrink with `√(1/n - 1/N)`.
fn worth(sample: f64, rows: f64, plain: f64, width: f64) -> f64 {
    if sample == rows || plain == 0.0 {
        return sample;
    }
    let shrunk = (width / plain).powi(2);
    1.0 / (1.0 / rows + shrunk * (1.0 / sample - 1.0 / rows))
}

/// Returns Wilson's interval of a share of `rows` rows, if `sample` of them are known. The rows that are known leave no doubt,
/// so the sample counts as `sample (rows - 1) / (rows - sample)` rows.
fn wilson(share: f64, sample: f64, rows: f64) -> Interval {
    let n = sample * (rows - 1.0) / (rows - sample);
    if !n.is_finite() {
        return Interval {
            low: share,
            high: share,
        };
    }
    let scale = 1.0 + Z * Z / n;
    let centre = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    Interval {
        low: (centre - half).max(0.0).min(share),
        high: (centre + half).min(1.0).max(share),
    }
}

/// Estimates the share of rows that pass a metric, from a sample of the rows in each stratum of a cheaper metric: the
/// sum of the shares of the strata, weighted by their rows (post-stratification, Cochran 1977, section 5A.9). The
/// sampled rows of each stratum must be a random sample of its rows.
///
/// The interval combines Wilson's intervals of the strata by MOVER (Zou and Donner 2008), each for a sample without
/// replacement. [`post_stratified`](super::post_stratified) estimates the rate of a population instead.
///
/// # Errors
/// Returns [`NotDefined`] if a stratum has rows and none of them is sampled, or if there are no rows.
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
        let Interval { low, high } = wilson(share, labelled.trials as f64, *of_stratum as f64);
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
    let interval = Interval {
        low: mean - below,
        high: mean + above,
    };
    let interval = interval.within(0.0, 1.0);
    let plain = wilson(passed / sample, sample, rows);
    let width = |interval: Interval| interval.high - interval.low;
    Ok(SampledMean {
        mean,
        interval,
        worth: worth(sample, rows, width(plain), width(interval)),
    })
}

/// Estimates the mean of a metric whose scores are within `range`, from its scores on a sample of the rows and the
/// scores of a cheaper metric on all rows: prediction-powered inference with the best weight (PPI++, Angelopoulos,
/// Duchi and Zrnic 2023).
///
/// `sample` has the scores of the metric and of the cheaper metric for each sampled row, and `others` the score of the
/// cheaper metric for each other row. The estimate is `mean(y - b f) + b mean(all f)` with `b = Cov(y, f) / Var(f)`, so
/// a cheaper metric that says nothing changes nothing, and a cheaper metric that is always wrong helps as much as one
/// that is always right.
///
/// The interval is that of the mean of [`y - b f`](Moments::uncertainty_within), times `√(1 - n/N)`, because nothing
/// about the sampled rows is uncertain.
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
    if sample.len() < 3 {
        let found = sample.len();
        return Err(
            format!("not enough rows: expected at least 3 sampled rows, found {found}").into(),
        );
    }
    let (n, rows) = (sample.len() as f64, (sample.len() + others.len()) as f64);
    let proxies = || {
        sample
            .iter()
            .map(|(_, proxy)| *proxy)
            .chain(others.iter().copied())
    };
    let all: Moments = proxies().collect();
    let (mean, variance) = (
        all.mean().unwrap_or_default(),
        all.variance().unwrap_or_default(),
    );
    let means = |of: fn(&(f64, f64)) -> f64| sample.iter().map(of).sum::<f64>() / n;
    let centres = [means(|row| row.0), means(|row| row.1)];
    let products = sample
        .iter()
        .map(|(y, f)| (y - centres[0]) * (f - centres[1]));
    let slope = match products.sum::<f64>() / n / variance {
        slope if slope.is_finite() => slope,
        _ => 0.0,
    };
    let rests: Moments = sample.iter().map(|(y, f)| y - slope * f).collect();
    let shifts = proxies().map(|proxy| slope * proxy);
    let (least, most) = shifts.fold((f64::MAX, f64::MIN), |(least, most), it| {
        (least.min(it), most.max(it))
    });
    let known = (1.0 - n / rows).sqrt();
    let half_widths = |moments: &Moments, low: f64, high: f64| {
        let mean = moments.mean().unwrap_or_default();
        let ci95 = moments.uncertainty_within(low, high).ci95();
        let ci95 = ci95.unwrap_or(Interval { low, high });
        [mean - ci95.low, ci95.high - mean].map(|half| known * half)
    };
    let [below, above] = half_widths(&rests, range.low - most, range.high - least);
    let truths: Moments = sample.iter().map(|(y, _)| *y).collect();
    let plain = half_widths(&truths, range.low, range.high);
    let mean = rests.mean().unwrap_or_default() + slope * mean;
    let interval = Interval {
        low: mean - below,
        high: mean + above,
    };
    Ok(SampledMean {
        mean: mean.clamp(range.low, range.high),
        interval: interval.within(range.low, range.high),
        worth: worth(n, rows, plain[0] + plain[1], below + above),
    })
}
