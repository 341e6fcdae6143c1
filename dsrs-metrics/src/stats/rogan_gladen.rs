//! A share of passes, corrected for the errors of whoever let them pass.

use std::fmt;

use super::interval::{Interval, Z};
use super::proportion::Proportion;

/// How often a judge is right, measured on rows of which the truth is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorRates {
    /// Of the rows that should pass, those that did.
    pub sensitivity: Proportion,
    /// Of the rows that should fail, those that did.
    pub specificity: Proportion,
}

impl ErrorRates {
    /// Counts a row that should pass or fail, and did or did not pass.
    pub(crate) fn record(&mut self, should_pass: bool, passed: bool) {
        match should_pass {
            true => self.sensitivity.record(passed),
            false => self.specificity.record(!passed),
        }
    }
}

/// A share that was corrected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedRate {
    /// The estimate. Beyond [0, 1] where fewer rows passed than errors alone would let pass, or fewer
    /// failed: by chance, or because the rates are not those of these rows.
    pub rate: f64,
    /// The 95% interval, cut at 0 and 1.
    pub interval: Interval,
    /// The same, uncut.
    pub(crate) uncut: Interval,
}

impl CorrectedRate {
    /// The share over these `rows` and over others whose truth is known, such as the rows on which the
    /// error rates were measured: the mean, weighted by rows. The interval is composed of Wilson's for
    /// the known rows and this one for the others (MOVER, Zou and Donner 2008): each end is as far
    /// from the estimate as the root of the summed squares of the weighted distances.
    ///
    /// ```
    /// use dsrs_metrics::stats::{ErrorRates, Proportion, rogan_gladen};
    ///
    /// let half = Proportion { successes: 50, trials: 100 };
    /// let perfect = Proportion { successes: 50, trials: 50 };
    /// let rates = ErrorRates { sensitivity: perfect, specificity: perfect };
    /// let others = rogan_gladen(half, &rates).unwrap();
    /// let all = others.with_known(100, half);
    /// assert_eq!(all.rate, 0.5);
    /// assert!(all.interval.low > others.interval.low && all.interval.high < others.interval.high);
    /// ```
    #[must_use]
    pub fn with_known(&self, rows: u64, known: Proportion) -> Self {
        let (Some(rate), Some(interval)) = (known.rate(), known.wilson()) else {
            return *self;
        };
        let weight = known.trials as f64 / (known.trials + rows) as f64;
        let distance = |known: f64, other: f64| {
            (weight * known.max(0.0)).hypot((1.0 - weight) * other.max(0.0))
        };
        let pooled = weight * rate + (1.0 - weight) * self.rate;
        let uncut = Interval {
            low: pooled - distance(rate - interval.low, self.rate - self.uncut.low),
            high: pooled + distance(interval.high - rate, self.uncut.high - self.rate),
        };
        Self { rate: pooled, interval: uncut.within(0.0, 1.0), uncut }
    }
}

/// Why a share cannot be corrected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NotCorrectable {
    /// Nothing was observed.
    NoRows,
    /// No labelled row should pass, so the sensitivity is unknown.
    NoSensitivity,
    /// No labelled row should fail, so the specificity is unknown.
    NoSpecificity,
    /// Sensitivity and specificity sum to 1 or less: a coin would do as well, and what passed says
    /// nothing of what should have.
    Uninformative {
        /// The sensitivity, in [0, 1].
        sensitivity: f64,
        /// The specificity, in [0, 1].
        specificity: f64,
    },
}

impl fmt::Display for NotCorrectable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRows => f.write_str("not enough rows: none has a verdict"),
            Self::NoSensitivity => {
                f.write_str("not enough rows: none that is compared should pass by its label")
            }
            Self::NoSpecificity => {
                f.write_str("not enough rows: none that is compared should fail by its label")
            }
            Self::Uninformative { sensitivity, specificity } => write!(
                f,
                "undefined: sensitivity {sensitivity:.4} + specificity {specificity:.4} is not above 1, \
                 so a pass says nothing of the label"
            ),
        }
    }
}

impl std::error::Error for NotCorrectable {}

/// The share that should have passed, from the one that did and the judge's error rates (Rogan and
/// Gladen 1978): `(observed + specificity - 1) / (sensitivity + specificity - 1)`.
///
/// `observed` comes from other rows than `rates`. The interval accounts for the uncertainty of all
/// three. It is Lang and Reiczigel's (2014): the delta method on counts to which successes and
/// failures are added (z²/2 of each to the observed, 1 of each to the rates), with their correction of
/// its centre. Where these counts leave nothing of the judge's advantage over a coin, it is all of
/// [0, 1].
///
/// # Errors
/// [`NotCorrectable`] where a count is missing or the judge is no better than a coin.
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
    let sensitivity = rates.sensitivity.rate().ok_or(NotCorrectable::NoSensitivity)?;
    let specificity = rates.specificity.rate().ok_or(NotCorrectable::NoSpecificity)?;
    // In whole numbers, where no rounding makes an advantage out of none.
    let (good, bad) = (rates.sensitivity, rates.specificity);
    let advantage = u128::from(good.successes) * u128::from(bad.trials)
        + u128::from(bad.successes) * u128::from(good.trials);
    if advantage <= u128::from(good.trials) * u128::from(bad.trials) {
        return Err(NotCorrectable::Uninformative { sensitivity, specificity });
    }
    let rate = (passed + specificity - 1.0) / (sensitivity + specificity - 1.0);
    let uncut = lang_reiczigel(observed, rates);
    Ok(CorrectedRate { rate, interval: uncut.within(0.0, 1.0), uncut })
}

fn lang_reiczigel(observed: Proportion, rates: &ErrorRates) -> Interval {
    let passed = Smoothed::of(observed, Z * Z / 2.0);
    let sensitivity = Smoothed::of(rates.sensitivity, 1.0);
    let specificity = Smoothed::of(rates.specificity, 1.0);
    let advantage = sensitivity.rate + specificity.rate - 1.0;
    if advantage <= 0.0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let rate = (passed.rate + specificity.rate - 1.0) / advantage;
    let (of_good, of_bad) = (sensitivity.variance, specificity.variance);
    let shift = 2.0 * Z * Z * (rate * of_good - (1.0 - rate) * of_bad);
    let variance = passed.variance + rate.powi(2) * of_good + (1.0 - rate).powi(2) * of_bad;
    let half = Z * variance.sqrt() / advantage;
    Interval { low: rate + shift - half, high: rate + shift + half }
}

/// A share with successes and failures added to it.
struct Smoothed {
    rate: f64,
    variance: f64,
}

impl Smoothed {
    fn of(share: Proportion, added: f64) -> Self {
        let trials = share.trials as f64 + 2.0 * added;
        let rate = (share.successes as f64 + added) / trials;
        Self { rate, variance: rate * (1.0 - rate) / trials }
    }
}
