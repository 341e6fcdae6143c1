//! Post-stratification: the pass rate of all rows, from labels of some rows and a judge's verdicts on all.

use super::interval::{Interval, Z};
use super::proportion::Proportion;
use super::rogan_gladen::{CorrectedRate, NotCorrectable};

/// The rows on which a judge gave one verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stratum {
    /// All rows with this verdict, labelled or not.
    pub rows: u64,
    /// The labelled rows among them, and how many pass by their label. At most `rows`.
    pub labelled: Proportion,
}

impl Stratum {
    /// Counts a row by its label, if it has one.
    #[doc(hidden)]
    pub fn record(&mut self, should_pass: Option<bool>) {
        self.rows += 1;
        if let Some(should_pass) = should_pass {
            self.labelled.record(should_pass);
        }
    }

    /// Returns the rate by label, its interval and its weight among `all` rows; `None` without rows.
    fn part(&self, all: u64, verdict: &'static str) -> Result<Option<Part>, NotCorrectable> {
        if self.rows == 0 {
            return Ok(None);
        }
        let (Some(rate), Some(wilson)) = (self.labelled.rate(), self.labelled.wilson()) else {
            return Err(NotCorrectable::NoLabel {
                verdict,
                rows: self.rows,
            });
        };
        Ok(Some(Part {
            weight: self.rows as f64 / all as f64,
            rate,
            wilson,
        }))
    }
}

struct Part {
    weight: f64,
    rate: f64,
    wilson: Interval,
}

/// Estimates the share of rows that pass by label, from the labels of the rows that a judge passed
/// and of those that it failed: `W P(label passes | passed) + (1 - W) P(label passes | failed)`,
/// where `W` is the share of all rows that the judge passed (post-stratification, Cochran 1977,
/// section 5A.9).
///
/// The labelled rows of each verdict must be a random sample of the rows with that verdict. Their
/// numbers may differ: labels of 50 passed and 50 failed rows are fine if nearly all rows passed.
/// With a judge of two verdicts, this is prediction-powered inference with least-squares weights.
///
/// The interval combines Wilson's intervals of both shares (MOVER, Zou and Donner 2008): the
/// distance of each end from the estimate is the root of the sum of the squared weighted distances.
/// It estimates the rate of the population that all rows, of number `n`, are a sample of, so the
/// squared distance includes `z² W (1 - W) (p₁ - p₀)² / n`, for the chance that other rows have
/// another share of passes. If every row has a label, the result is Wilson's for the labels.
///
/// # Errors
/// [`NotCorrectable::NoRows`] without rows, [`NotCorrectable::NoLabel`] if there are rows of a
/// verdict and none of them has a label.
///
/// ```
/// use dsrs_metrics::stats::{Proportion, Stratum, post_stratified};
///
/// // 1,000 rows, of which the judge passed 700. Of 50 passed rows, 46 should pass; of 50 failed rows, 12.
/// let passed = Stratum { rows: 700, labelled: Proportion { successes: 46, trials: 50 } };
/// let failed = Stratum { rows: 300, labelled: Proportion { successes: 12, trials: 50 } };
/// let all = post_stratified(passed, failed).unwrap();
/// assert!((all.rate - (0.7 * 0.92 + 0.3 * 0.24)).abs() < 1e-12);
/// assert_eq!(format!("{:.3}", all.interval), "[0.632, 0.772]");
/// ```
pub fn post_stratified(passed: Stratum, failed: Stratum) -> Result<CorrectedRate, NotCorrectable> {
    let all = passed.rows + failed.rows;
    let labelled = Proportion {
        successes: passed.labelled.successes + failed.labelled.successes,
        trials: passed.labelled.trials + failed.labelled.trials,
    };
    if let (Some(rate), Some(interval)) = (labelled.rate(), labelled.wilson())
        && labelled.trials == all
    {
        return Ok(CorrectedRate {
            rate,
            interval,
            unclamped: None,
        });
    }
    match (passed.part(all, "pass")?, failed.part(all, "fail")?) {
        (None, None) => Err(NotCorrectable::NoRows),
        (Some(part), None) | (None, Some(part)) => Ok(CorrectedRate {
            rate: part.rate,
            interval: part.wilson,
            unclamped: None,
        }),
        (Some(passed), Some(failed)) => Ok(combined(&passed, &failed, all as f64)),
    }
}

fn combined(passed: &Part, failed: &Part, rows: f64) -> CorrectedRate {
    let rate = (passed.weight * passed.rate + failed.weight * failed.rate).min(1.0);
    let sampling = Z * (passed.weight * failed.weight / rows).sqrt() * (passed.rate - failed.rate);
    let distance = |end: fn(&Part) -> f64| {
        (passed.weight * end(passed))
            .hypot(failed.weight * end(failed))
            .hypot(sampling)
    };
    let interval = Interval {
        low: rate - distance(|part| part.rate - part.wilson.low),
        high: rate + distance(|part| part.wilson.high - part.rate),
    };
    CorrectedRate {
        rate,
        interval: interval.within(0.0, 1.0),
        unclamped: None,
    }
}
