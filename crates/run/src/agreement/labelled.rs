//! How the labelled rows were chosen: all rows, a random sample, or rows chosen by their verdict. Files don't record
//! this, so the verdicts of the labelled rows are compared with those of all rows.

use serde::Serialize;

use crate::stats::Proportion;

/// A p-value below this shows that labels were chosen by verdict.
const LEVEL: f64 = 0.01;

/// Describes how the labelled rows were chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LabelSample {
    /// Every row has a label.
    EveryRow,
    /// The labelled rows are a random sample, as set by [`label_sample`](super::AgreementBuilder::label_sample), so
    /// every figure describes all rows.
    Random,
    /// The rows were chosen by the metric's verdict, either because you declared this or because the verdicts show it.
    /// Only [`corrected`](super::Agreement::corrected) describes all rows.
    ByVerdict,
    /// Nothing is known about how the rows were chosen.
    #[default]
    Unknown,
}

/// The rows that have both a verdict and a label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelledRows {
    /// How the rows were chosen.
    pub sample: LabelSample,
    /// The share of these rows that the metric passed.
    pub passed: Proportion,
    /// The two-sided p-value of Fisher's exact test for the hypothesis that the rows were chosen independently of their
    /// verdict. If it is below 0.01, the sample is [`ByVerdict`](LabelSample::ByVerdict). `None` if every row has a
    /// label.
    pub p_value: Option<f64>,
}

impl LabelledRows {
    /// Takes the passes among the labelled rows, and those among all rows with a verdict. Returns `None` if no row is
    /// labelled.
    pub(super) fn new(passed: Proportion, all: Proportion, stated: LabelSample) -> Option<Self> {
        if passed.trials == 0 {
            return None;
        }
        if passed.trials == all.trials {
            return Some(Self {
                sample: LabelSample::EveryRow,
                passed,
                p_value: None,
            });
        }
        let p_value = fisher_exact(passed, all);
        let sample = if p_value < LEVEL {
            LabelSample::ByVerdict
        } else {
            stated
        };
        Some(Self {
            sample,
            passed,
            p_value: Some(p_value),
        })
    }

    /// Returns `true` if the labelled rows were probably chosen by their verdicts.
    pub(super) fn shows_choice(&self) -> bool {
        self.p_value.is_some_and(|p| p < LEVEL)
    }
}

/// Returns the probability that a random sample of the rows has a number of passes at least as unlikely as this one.
fn fisher_exact(sample: Proportion, all: Proportion) -> f64 {
    /// Tolerates rounding between equal probabilities.
    const EQUAL: f64 = 1.0 + 1e-7;
    let (n, passes, rows) = (sample.trials, all.successes, all.trials);
    let fewest = (n + passes).saturating_sub(rows);
    // Probabilities relative to that of the sample.
    let ratio = |k: u64| {
        let more = (passes - k) as f64 * (n - k) as f64;
        more / ((k + 1) as f64 * ((rows + k + 1) - passes - n) as f64)
    };
    let (mut total, mut unlikely) = (1.0, 1.0);
    let mut add = |probability: f64| {
        total += probability;
        if probability <= EQUAL {
            unlikely += probability;
        }
    };
    let mut probability = 1.0;
    for k in sample.successes..n.min(passes) {
        probability *= ratio(k);
        add(probability);
    }
    probability = 1.0;
    for k in (fewest..sample.successes).rev() {
        probability /= ratio(k);
        add(probability);
    }
    unlikely / total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(successes: u64, trials: u64) -> Proportion {
        Proportion { successes, trials }
    }

    type Counts = (u64, u64);

    const EXPECTED: [(Counts, Counts, f64); 6] = [
        ((50, 100), (698, 1_000), 1.606_186_309_271_547_6e-5),
        ((3, 4), (7, 11), 1.0),
        ((0, 5), (6, 20), 0.260_448_916_408_668_74),
        ((65, 100), (698, 1_000), 0.301_386_892_551_837_37),
        ((9, 10), (10, 20), 0.001_093_333_910_671_372),
        ((480, 1_000), (45_000, 90_000), 0.214_882_272_604_030_26),
    ];

    /// `scipy.stats.fisher_exact` 1.17 of passes and failures with and without label.
    #[test]
    fn the_test_is_that_of_scipy() {
        for (sample, all, expected) in EXPECTED {
            let found = fisher_exact(share(sample.0, sample.1), share(all.0, all.1));
            assert!(
                (found - expected).abs() < 1e-9 * expected,
                "{sample:?} {all:?}: {found}"
            );
        }
    }

    #[test]
    fn impossible_samples_have_no_probability() {
        assert_eq!(
            fisher_exact(share(0, 50_000), share(500_000, 1_000_000)),
            0.0
        );
        assert_eq!(fisher_exact(share(0, 0), share(3, 9)), 1.0);
        assert_eq!(fisher_exact(share(2, 2), share(9, 9)), 1.0);
    }
}
