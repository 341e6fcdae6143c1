//! How well predicted probabilities agree with how often they come true: expected calibration error and Brier score.

use std::collections::BTreeMap;

use super::exact_sum::ExactSum;
use super::labels::NotDefined;

/// The mean squared difference between a probability and the outcome (1 or 0): 0 is best.
///
/// ```
/// use dsrs_metrics::stats::Brier;
///
/// let mut score = Brier::of(true, 0.8);
/// score.merge(&Brier::of(false, 0.4));
/// assert!((score.score().unwrap() - (0.04 + 0.16) / 2.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Brier {
    rows: u64,
    squares: ExactSum,
}

impl Brier {
    /// Creates the score of one row. The probability is in [0, 1].
    pub fn of(is_true: bool, probability: f64) -> Self {
        let difference = probability - f64::from(u8::from(is_true));
        Self::of_square(difference * difference)
    }

    /// Creates the score of one row from its squared difference, in [0, 1].
    #[doc(hidden)]
    pub fn of_square(square: f64) -> Self {
        Self {
            rows: 1,
            squares: square.into(),
        }
    }

    /// Returns the squared difference, if there is one row.
    #[doc(hidden)]
    pub fn only(&self) -> Option<f64> {
        (self.rows == 1).then(|| self.squares.mean(1))
    }

    /// Adds the rows of another part of the data.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.squares.add_all(&other.squares);
    }

    /// Returns the score in [0, 1].
    ///
    /// # Errors
    /// None: there is at least one row.
    pub fn score(&self) -> Result<f64, NotDefined> {
        Ok(self.squares.mean(self.rows))
    }
}

/// Probabilities and how often they came true, in bins of equal width (Guo et al. 2017).
///
/// ```
/// use dsrs_metrics::stats::Calibration;
///
/// let mut calibration = Calibration::of(true, 0.95, 10);
/// [(true, 0.95), (false, 0.95), (false, 0.15)]
///     .iter()
///     .for_each(|(is_true, probability)| calibration.merge(&Calibration::of(*is_true, *probability, 10)));
/// let expected = 0.75 * (0.95 - 2.0 / 3.0) + 0.25 * 0.15;
/// assert!((calibration.expected_error().unwrap() - expected).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The number of bins, also of those without a row.
    all: u32,
    bins: BTreeMap<u32, Bin>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Bin {
    rows: u64,
    came_true: u64,
    probabilities: ExactSum,
}

impl Calibration {
    /// Creates the bin of one row. The probability is in [0, 1]; a bin includes its upper end, the first one also 0.
    pub fn of(is_true: bool, probability: f64, bins: u32) -> Self {
        let bins = bins.max(1);
        let place = ((probability * f64::from(bins)).ceil() - 1.0).max(0.0) as u32;
        let bin = Bin {
            rows: 1,
            came_true: u64::from(is_true),
            probabilities: probability.into(),
        };
        Self {
            all: bins,
            bins: BTreeMap::from([(place, bin)]),
        }
    }

    /// Returns the number of bins, whether the row came true, and its probability, if there is one row.
    #[doc(hidden)]
    pub fn only(&self) -> Option<(u32, bool, f64)> {
        let bin = self.bins.values().next().filter(|_| self.bins.len() == 1)?;
        (bin.rows == 1).then(|| (self.all, bin.came_true == 1, bin.probabilities.mean(1)))
    }

    /// Adds the rows of another part of the data, with the same number of bins.
    pub fn merge(&mut self, other: &Self) {
        for (place, more) in &other.bins {
            let bin = self.bins.entry(*place).or_default();
            bin.rows += more.rows;
            bin.came_true += more.came_true;
            bin.probabilities.add_all(&more.probabilities);
        }
    }

    /// Returns the expected calibration error in [0, 1]: the mean difference between the mean probability of a bin and
    /// the share that came true, weighted by the rows of the bin. 0 is best.
    ///
    /// # Errors
    /// None: there is at least one row.
    pub fn expected_error(&self) -> Result<f64, NotDefined> {
        let rows: u64 = self.bins.values().map(|bin| bin.rows).sum();
        let errors = self.bins.values().map(|bin| {
            let share = bin.came_true as f64 / bin.rows as f64;
            bin.rows as f64 * (bin.probabilities.mean(bin.rows) - share).abs()
        });
        Ok(errors.sum::<f64>() / rows as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_has_its_upper_end_and_the_first_one_also_0() {
        // In bins of one half, and whether both probabilities are in the same bin. The first comes true, the second does not.
        for (a, b, is_same) in [
            (0.0, 0.5, true),
            (0.5, 0.6, false),
            (0.6, 1.0, true),
            (0.0, 1.0, false),
        ] {
            let mut calibration = Calibration::of(true, a, 2);
            calibration.merge(&Calibration::of(false, b, 2));
            let each: f64 = (1.0 - a + b) / 2.0;
            let together = ((a + b) / 2.0 - 0.5).abs();
            let expected = if is_same { together } else { each };
            let found = calibration.expected_error().unwrap();
            assert!((found - expected).abs() < 1e-12, "{a} {b}: {found}");
        }
    }

    #[test]
    fn scores_of_the_same_rows_are_equal_in_every_order() {
        let [a, b, c] = [(true, 0.8), (false, 0.4), (false, 0.1)].map(|(is_true, probability)| {
            (
                Brier::of(is_true, probability),
                Calibration::of(is_true, probability, 1),
            )
        });
        let merged = |parts: [&(Brier, Calibration); 2]| {
            let (mut brier, mut calibration) = parts[0].clone();
            brier.merge(&parts[1].0);
            calibration.merge(&parts[1].1);
            (brier, calibration)
        };
        assert_eq!(merged([&a, &b]), merged([&b, &a]));
        assert_ne!(merged([&a, &b]).0, merged([&a, &c]).0);
        assert_ne!(merged([&a, &b]).1, merged([&a, &c]).1);
    }
}
