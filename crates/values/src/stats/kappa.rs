//! Cohen's kappa: agreement beyond chance.

use serde::{Deserialize, Serialize};

use super::confusion::ConfusionMatrix;
use super::interval::{Interval, Z};

/// The weight of a disagreement, by the distance of the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KappaWeights {
    /// All disagreements have the same weight: for classes without order.
    Unweighted,
    /// The distance of the classes' indices.
    Linear,
    /// The square of that distance.
    Quadratic,
}

impl KappaWeights {
    /// Returns the weight of an agreement: 1 for the same class, less for others. Neither kappa nor its error depends on
    /// the unit of the distance.
    fn agreement(self, label: usize, given: usize) -> f64 {
        let distance = label.abs_diff(given) as f64;
        match self {
            Self::Unweighted => f64::from(label == given),
            Self::Linear => 1.0 - distance,
            Self::Quadratic => 1.0 - distance.powi(2),
        }
    }
}

/// Cohen's kappa with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kappa {
    /// In [-1, 1]: 1 is perfect agreement, 0 agreement by chance, less than 0 even less agreement.
    pub value: f64,
    /// The asymptotic standard error; 0 if all rows agree or one side has only one class, since
    /// such rows show nothing about the error.
    pub standard_error: f64,
}

impl Kappa {
    /// Returns `value ± 1.96 standard errors`, clamped to [-1, 1]; `None` if the standard error is
    /// 0.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        let half = Z * self.standard_error;
        let interval = Interval { low: self.value - half, high: self.value + half };
        (half > 0.0).then(|| interval.within(-1.0, 1.0))
    }
}

/// Returns Cohen's kappa (Cohen 1960; weighted: Cohen 1968) of labels and given classes:
/// `(o - e) / (1 - e)`, where `o` is the observed mean weight of agreement and `e` the one expected
/// of two independent raters with the same class frequencies. Weights depend on the indices of the
/// classes in the matrix, as in scikit-learn.
///
/// The standard error is the asymptotic one that does not assume `kappa = 0` (Fleiss, Cohen and
/// Everitt 1969, eq. 13): with `p` the shares of the matrix, `w` the weights, `r` and `c` the mean
/// weights of a row and a column of the matrix under the class frequencies of the other side,
/// `√((Σ pᵢⱼ (wᵢⱼ(1 - e) - (rᵢ + cⱼ)(1 - o))² - (oe - 2e + o)²) / n) / (1 - e)²`.
///
/// Returns `None` without rows, and if `e = 1`: both sides have only one and the same class.
///
/// ```
/// use dsrs_metrics::stats::{ConfusionMatrix, KappaWeights, cohen_kappa};
///
/// let pairs = [(0, 0); 20].into_iter().chain([(0, 1); 10]).chain([(1, 0); 5]).chain([(1, 1); 15]);
/// let kappa = cohen_kappa(&ConfusionMatrix::of(2, pairs), KappaWeights::Unweighted).unwrap();
/// assert!((kappa.value - 0.4).abs() < 1e-12);
/// ```
#[must_use]
pub fn cohen_kappa(matrix: &ConfusionMatrix, weights: KappaWeights) -> Option<Kappa> {
    let (classes, n) = (matrix.classes(), matrix.total() as f64);
    if n == 0.0 || same_class(matrix) {
        return None;
    }
    let share = |count: u64| count as f64 / n;
    let labelled: Vec<f64> = (0..classes).map(|class| share(matrix.labelled(class))).collect();
    let given: Vec<f64> = (0..classes).map(|class| share(matrix.given(class))).collect();
    let weight = |label, given| weights.agreement(label, given);
    let mean = |of: &[f64], weight: &dyn Fn(usize) -> f64| -> f64 {
        of.iter().enumerate().map(|(class, share)| share * weight(class)).sum()
    };
    let rows: Vec<f64> = (0..classes).map(|i| mean(&given, &|j| weight(i, j))).collect();
    let columns: Vec<f64> = (0..classes).map(|j| mean(&labelled, &|i| weight(i, j))).collect();
    let expected = mean(&labelled, &|i| rows[i]);
    let cells = || (0..classes).flat_map(|i| (0..classes).map(move |j| (i, j)));
    let observed: f64 = cells().map(|(i, j)| share(matrix.count(i, j)) * weight(i, j)).sum();
    let spread = |(i, j): (usize, usize)| {
        let deviation = weight(i, j) * (1.0 - expected) - (rows[i] + columns[j]) * (1.0 - observed);
        share(matrix.count(i, j)) * deviation * deviation
    };
    let centre = observed * expected - 2.0 * expected + observed;
    let variance = (cells().map(spread).sum::<f64>() - centre * centre) / n;
    // Rounding must not turn an error of 0 into a positive one.
    let learnt = matrix.agreeing() < matrix.total() && !is_one(&labelled) && !is_one(&given);
    let error = variance.max(0.0).sqrt() / (1.0 - expected).powi(2);
    Some(Kappa {
        value: (observed - expected) / (1.0 - expected),
        standard_error: if learnt { error } else { 0.0 },
    })
}

/// Whether all labels and all given classes are the same class.
fn same_class(matrix: &ConfusionMatrix) -> bool {
    (0..matrix.classes()).any(|class| matrix.count(class, class) == matrix.total())
}

/// Whether one class has all the rows.
fn is_one(shares: &[f64]) -> bool {
    shares.iter().filter(|share| **share > 0.0).count() == 1
}
