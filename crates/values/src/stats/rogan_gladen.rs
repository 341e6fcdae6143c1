//! The Rogan-Gladen estimator: a pass rate corrected for the sensitivity and specificity of the
//! judge.

use serde::Serialize;

use super::interval::{Interval, Z};
use super::proportion::Proportion;

/// The sensitivity and specificity of a judge, measured on rows with known labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ErrorRates {
    /// The share of the rows that should pass and did.
    pub sensitivity: Proportion,
    /// The share of the rows that should fail and did.
    pub specificity: Proportion,
}

impl ErrorRates {
    /// Counts a row by its label and the judge's verdict.
    #[doc(hidden)]
    pub fn record(&mut self, should_pass: bool, passed: bool) {
        match should_pass {
            true => self.sensitivity.record(passed),
            false => self.specificity.record(!passed),
        }
    }
}

/// A corrected pass rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedRate {
    /// The estimate, in [0, 1].
    pub rate: f64,
    /// The 95% interval, within [0, 1]. It contains the estimate.
    pub interval: Interval,
    /// The estimate before it was clamped, if it was outside [0, 1]: fewer rows passed, or failed,
    /// than the error rates predict, by chance or because the error rates were measured on rows of
    /// another kind.
    pub unclamped: Option<f64>,
}

/// The reason why a rate cannot be corrected.
#[derive(Clone, Copy, PartialEq, thiserror::Error)]
pub enum NotCorrectable {
    /// Nothing was observed.
    #[error("not enough rows: no row has a verdict")]
    NoRows,
    /// No labelled row should pass, so the sensitivity is unknown.
    #[error("not enough rows: no compared row should pass by its label")]
    NoSensitivity,
    /// No labelled row should fail, so the specificity is unknown.
    #[error("not enough rows: no compared row should fail by its label")]
    NoSpecificity,
    /// There are rows with a verdict of which none has a label.
    #[error("no labelled row was judged {verdict}, but {rows} rows were; label some of them")]
    NoLabel {
        /// The verdict: `pass` or `fail`.
        verdict: &'static str,
        /// The number of rows with this verdict.
        rows: u64,
    },
    /// Sensitivity and specificity sum to 1 or less: the judge is not better than chance, and its
    /// passes carry no information about the labels.
    #[error(
        "undefined: sensitivity {sensitivity:.4} + specificity {specificity:.4} is not above 1, \
         so passing carries no information about the label"
    )]
    Uninformative {
        /// The sensitivity, in [0, 1].
        sensitivity: f64,
        /// The specificity, in [0, 1].
        specificity: f64,
    },
}

crate::debug_as_display!(NotCorrectable);

/// Corrects an observed pass rate for the judge's error rates (Rogan and Gladen 1978):
/// `(observed + specificity - 1) / (sensitivity + specificity - 1)`.
///
/// `observed` and `rates` are from different rows. With labels of some of the observed rows,
/// [`post_stratified`](super::post_stratified) has a shorter interval and doesn't assume that these
/// rows are a random sample.
///
/// The interval accounts for the uncertainty of all
/// three proportions. It is Lang and Reiczigel's (2014): the delta method on adjusted counts (z²/2
/// successes and failures added to the observed, 1 of each to the rates), with their correction of
/// the centre. If with these counts the judge is not better than chance, the interval is [0, 1].
/// With few rows, the corrected centre may move the interval past the estimate; the interval is then
/// widened up to the estimate.
///
/// # Errors
/// [`NotCorrectable`] if a count is missing or the judge is not better than chance.
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
pub fn rogan_gladen(
    observed: Proportion,
    rates: &ErrorRates,
) -> Result<CorrectedRate, NotCorrectable> {
    let passed = observed.rate().ok_or(NotCorrectable::NoRows)?;
    let sensitivity = rates
        .sensitivity
        .rate()
        .ok_or(NotCorrectable::NoSensitivity)?;
    let specificity = rates
        .specificity
        .rate()
        .ok_or(NotCorrectable::NoSpecificity)?;
    // In integers, so that rounding cannot make a judge seem better than a coin.
    let (good, bad) = (rates.sensitivity, rates.specificity);
    let advantage = u128::from(good.successes) * u128::from(bad.trials)
        + u128::from(bad.successes) * u128::from(good.trials);
    if advantage <= u128::from(good.trials) * u128::from(bad.trials) {
        return Err(NotCorrectable::Uninformative {
            sensitivity,
            specificity,
        });
    }
    let rate = (passed + specificity - 1.0) / (sensitivity + specificity - 1.0);
    let clamped = rate.clamp(0.0, 1.0);
    let Interval { low, high } = lang_reiczigel(observed, rates).within(0.0, 1.0);
    Ok(CorrectedRate {
        rate: clamped,
        interval: Interval {
            low: low.min(clamped),
            high: high.max(clamped),
        },
        unclamped: (clamped != rate).then_some(rate),
    })
}

fn lang_reiczigel(observed: Proportion, rates: &ErrorRates) -> Interval {
    let passed = Smoothed::of(observed, Z * Z / 2.0);
    let sensitivity = Smoothed::of(rates.sensitivity, 1.0);
    let specificity = Smoothed::of(rates.specificity, 1.0);
    let advantage = sensitivity.rate + specificity.rate - 1.0;
    if advantage <= 0.0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let rate = (passed.rate + specificity.rate - 1.0) / advantage;
    let (of_good, of_bad) = (sensitivity.variance, specificity.variance);
    let shift = 2.0 * Z * Z * (rate * of_good - (1.0 - rate) * of_bad);
    let variance = passed.variance + rate.powi(2) * of_good + (1.0 - rate).powi(2) * of_bad;
    let half = Z * variance.sqrt() / advantage;
    Interval {
        low: rate + shift - half,
        high: rate + shift + half,
    }
}

/// A proportion with added successes and failures.
struct Smoothed {
    rate: f64,
    variance: f64,
}

impl Smoothed {
    fn of(share: Proportion, added: f64) -> Self {
        let trials = share.trials as f64 + 2.0 * added;
        let rate = (share.successes as f64 + added) / trials;
        Self {
            rate,
            variance: rate * (1.0 - rate) / trials,
        }
    }
}
