//! The pass rate over all rows. It is estimated from labels for some rows and a judge's verdicts on all of them
//! (post-stratification), or corrected for the judge's sensitivity and specificity (the Rogan-Gladen estimator).

use serde::Serialize;

use super::interval::Proportion;
use super::interval::{Interval, Z};
use super::labels::NotDefined;

/// A judge's sensitivity and specificity, measured on rows with known labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ErrorRates {
    /// The judge's pass rate on rows labelled as passing.
    pub sensitivity: Proportion,
    /// The judge's fail rate on rows labelled as failing.
    pub specificity: Proportion,
}

impl ErrorRates {
    /// Counts a row with its label and the judge's verdict.
    #[doc(hidden)]
    pub fn record(&mut self, should_pass: bool, passed: bool) {
        match should_pass {
            true => self.sensitivity.record(passed),
            false => self.specificity.record(!passed),
        }
    }
}

/// A pass rate that has been corrected for a judge's errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedRate {
    /// The corrected pass rate, in [0, 1].
    pub rate: f64,
    /// The 95% interval for the rate, within [0, 1].
    ///
    /// The interval always contains the rate.
    pub interval: Interval,
    /// The unclamped estimate, if it is outside [0, 1].
    ///
    /// The estimate can be outside this range by chance, or because the error rates were measured on a different kind
    /// of row.
    pub unclamped: Option<f64>,
}

impl CorrectedRate {
    fn new(rate: f64, interval: Interval) -> Self {
        Self {
            rate,
            interval,
            unclamped: None,
        }
    }

    /// Returns the rate of a proportion with Wilson's interval.
    fn of(proportion: Proportion) -> Option<Self> {
        Some(Self::new(proportion.rate()?, proportion.wilson()?))
    }
}

const NO_ROWS: &str = "not enough rows: no row has a verdict";

/// Corrects an observed pass rate for a judge's error rates.
///
/// The corrected rate is `(observed + specificity - 1) / (sensitivity + specificity - 1)` (Rogan and Gladen 1978).
///
/// `observed` and `rates` must come from different rows.
///
/// If you have labels for some of the observed rows, use [`post_stratified`](super::post_stratified) instead. Its
/// interval is shorter, and it doesn't assume that these rows are a random sample.
///
/// The interval accounts for the uncertainty of all three proportions. It is the interval of Lang and Reiczigel (2014),
/// which applies the delta method to adjusted counts.
///
/// `z²/2` successes and `z²/2` failures are added to the observed counts, and one of each to the counts of each error
/// rate. If the judge is not better than chance with the adjusted counts, the interval is [0, 1].
///
/// If there are few rows, the correction can move the interval so far that it no longer contains the estimate. In this
/// case, the interval is widened to include the estimate.
///
/// # Errors
/// Returns [`NotDefined`] if a count is missing, or if the judge is not better than chance.
///
/// ```
/// use dsrs_metrics::stats::{ErrorRates, Proportion, rogan_gladen};
///
/// let rates = ErrorRates {
///     sensitivity: Proportion { successes: 90, trials: 100 },
///     specificity: Proportion { successes: 80, trials: 100 },
/// };
/// let corrected = rogan_gladen(Proportion { successes: 550, trials: 1000 }, &rates).unwrap();
/// assert!((corrected.rate - 0.5).abs() < 1e-12);
/// assert_eq!(format!("{:.3}", corrected.interval), "[0.414, 0.583]");
/// ```
pub fn rogan_gladen(observed: Proportion, rates: &ErrorRates) -> Result<CorrectedRate, NotDefined> {
    let passed = observed.rate().ok_or(NO_ROWS)?;
    let (good, bad) = (rates.sensitivity, rates.specificity);
    let no_good = "not enough rows: no compared row has a passing label";
    let no_bad = "not enough rows: no compared row has a failing label";
    let sensitivity = good.rate().ok_or(no_good)?;
    let specificity = bad.rate().ok_or(no_bad)?;
    // In integers, so that rounding cannot make a judge seem better than a coin.
    let advantage = u128::from(good.successes) * u128::from(bad.trials)
        + u128::from(bad.successes) * u128::from(good.trials);
    if advantage <= u128::from(good.trials) * u128::from(bad.trials) {
        return Err(format!(
            "undefined: sensitivity {sensitivity:.4} + specificity {specificity:.4} is not above 1, \
             so passing carries no information about the label"
        )
        .into());
    }
    let rate = (passed + specificity - 1.0) / (sensitivity + specificity - 1.0);
    let clamped = rate.clamp(0.0, 1.0);
    let Interval { low, high } = lang_reiczigel(observed, rates).within(0.0, 1.0);
    Ok(CorrectedRate {
        rate: clamped,
        interval: Interval::new(low.min(clamped), high.max(clamped)),
        unclamped: (clamped != rate).then_some(rate),
    })
}

fn lang_reiczigel(observed: Proportion, rates: &ErrorRates) -> Interval {
    let (passed, of_passed) = smoothed(observed, Z * Z / 2.0);
    let (sensitivity, of_good) = smoothed(rates.sensitivity, 1.0);
    let (specificity, of_bad) = smoothed(rates.specificity, 1.0);
    let advantage = sensitivity + specificity - 1.0;
    if advantage <= 0.0 {
        return Interval::new(0.0, 1.0);
    }
    let rate = (passed + specificity - 1.0) / advantage;
    let shift = 2.0 * Z * Z * (rate * of_good - (1.0 - rate) * of_bad);
    let variance = of_passed + rate.powi(2) * of_good + (1.0 - rate).powi(2) * of_bad;
    let half = Z * variance.sqrt() / advantage;
    Interval::new(rate + shift - half, rate + shift + half)
}

/// Returns a proportion's rate and variance after adding `added` successes and `added` failures.
fn smoothed(share: Proportion, added: f64) -> (f64, f64) {
    let trials = share.trials as f64 + 2.0 * added;
    let rate = (share.successes as f64 + added) / trials;
    (rate, rate * (1.0 - rate) / trials)
}

/// The rows that received the same verdict from a judge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stratum {
    /// The total number of rows with this verdict, with or without a label.
    pub rows: u64,
    /// The rows with this verdict that have a label.
    ///
    /// The trials are the labelled rows, so there are at most `rows` trials. The successes are the rows labelled as
    /// passing.
    pub labelled: Proportion,
}

impl Stratum {
    /// Counts a row with this verdict and its label, if it has one.
    #[doc(hidden)]
    pub fn record(&mut self, should_pass: Option<bool>) {
        self.rows += 1;
        if let Some(should_pass) = should_pass {
            self.labelled.record(should_pass);
        }
    }

    /// Returns the stratum's weight among `all` rows, and its labelled pass rate with an interval. Returns `None` if
    /// the stratum has no rows.
    fn part(&self, all: u64, verdict: &str) -> Result<Option<(f64, CorrectedRate)>, NotDefined> {
        let rows = self.rows;
        match CorrectedRate::of(self.labelled) {
            _ if rows == 0 => Ok(None),
            Some(rate) => Ok(Some((rows as f64 / all as f64, rate))),
            None => Err(format!(
                "no labelled row was judged {verdict}, but {rows} rows were; label some of them"
            )
            .into()),
        }
    }
}

/// Estimates the fraction of rows that would be labelled as passing.
///
/// You only need labels for some of the rows that the judge passed and some of the rows that it failed.
///
/// The estimate is `W P(label passes | passed) + (1 - W) P(label passes | failed)`, where `W` is the fraction of all
/// rows that the judge passed. This is post-stratification (Cochran 1977, section 5A.9).
///
/// The labelled rows for each verdict must be a random sample of all rows with that verdict. The two samples can differ
/// in size. For example, 50 labels for passed rows and 50 for failed rows are fine even if nearly all rows passed.
///
/// For a judge with two verdicts, this is prediction-powered inference with least-squares weights.
///
/// The interval combines Wilson's intervals for both fractions (MOVER, Zou and Donner 2008). For each end, the squared
/// distance from the estimate is the sum of the two fractions' weighted, squared distances.
///
/// All `n` rows are treated as a sample from a population, so the fraction of rows that the judge passes is uncertain
/// too. For this reason, `z² W (1 - W) (p₁ - p₀)² / n` is added to the squared distance.
///
/// If every row has a label, the result is Wilson's interval for the labels.
///
/// # Errors
/// Returns [`NotDefined`] if there are no rows, or if a verdict has rows but none of them is labelled.
///
/// ```
/// use dsrs_metrics::stats::{Proportion, Stratum, post_stratified};
///
/// // The judge passed 700 of 1,000 rows. Of 50 passed rows, 46 should pass; of 50 failed rows, 12.
/// let passed = Stratum { rows: 700, labelled: Proportion { successes: 46, trials: 50 } };
/// let failed = Stratum { rows: 300, labelled: Proportion { successes: 12, trials: 50 } };
/// let all = post_stratified(passed, failed).unwrap();
/// assert!((all.rate - (0.7 * 0.92 + 0.3 * 0.24)).abs() < 1e-12);
/// assert_eq!(format!("{:.3}", all.interval), "[0.632, 0.772]");
/// ```
pub fn post_stratified(passed: Stratum, failed: Stratum) -> Result<CorrectedRate, NotDefined> {
    let all = passed.rows + failed.rows;
    let labelled = Proportion {
        successes: passed.labelled.successes + failed.labelled.successes,
        trials: passed.labelled.trials + failed.labelled.trials,
    };
    if let Some(rate) = CorrectedRate::of(labelled).filter(|_| labelled.trials == all) {
        return Ok(rate);
    }
    match (passed.part(all, "pass")?, failed.part(all, "fail")?) {
        (None, None) => Err(NO_ROWS.into()),
        (Some((_, rate)), None) | (None, Some((_, rate))) => Ok(rate),
        (Some(passed), Some(failed)) => Ok(combined(passed, failed, all as f64)),
    }
}

fn combined(
    (passed_weight, passed): (f64, CorrectedRate),
    (failed_weight, failed): (f64, CorrectedRate),
    rows: f64,
) -> CorrectedRate {
    let rate = (passed_weight * passed.rate + failed_weight * failed.rate).min(1.0);
    let sampling = Z * (passed_weight * failed_weight / rows).sqrt() * (passed.rate - failed.rate);
    let distance = |end: fn(&CorrectedRate) -> f64| {
        let passed = passed_weight * end(&passed);
        passed.hypot(failed_weight * end(&failed)).hypot(sampling)
    };
    let interval = Interval::new(
        rate - distance(|part| part.rate - part.interval.low),
        rate + distance(|part| part.interval.high - part.rate),
    );
    CorrectedRate::new(rate, interval.within(0.0, 1.0))
}
