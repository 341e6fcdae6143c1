//! The confusion matrix of labels and given classes, and Cohen's kappa: agreement beyond chance.

use serde::{Deserialize, Serialize, Serializer};

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
    /// Returns the weight of a label and a given class: 0 if they are the same.
    pub(super) fn disagreement(self, label: usize, given: usize) -> f64 {
        let distance = label.abs_diff(given) as f64;
        match self {
            Self::Unweighted => f64::from(label != given),
            Self::Linear => distance,
            Self::Quadratic => distance.powi(2),
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
    pub fn interval(&self) -> Option<Interval> {
        let half = Z * self.standard_error;
        let interval = Interval {
            low: self.value - half,
            high: self.value + half,
        };
        (half > 0.0).then(|| interval.within(-1.0, 1.0))
    }
}

/// Returns Cohen's kappa (Cohen 1960; weighted: Cohen 1968) of labels and given classes: `1 - o / e`, where `o` is the
/// observed mean weight of a disagreement and `e` the one expected of two independent raters with the same class
/// frequencies. Weights depend on the indices of the classes in the matrix, as in scikit-learn.
///
/// The standard error is the asymptotic one that does not assume `kappa = 0` (Fleiss, Cohen and
/// Everitt 1969, eq. 13, with weights of disagreements): with `p` the shares of the matrix, `w` the weights, `r` and `c`
/// the mean weights of a row and a column of the matrix under the class frequencies of the other side,
/// `√(Σ pᵢⱼ (wᵢⱼe - (rᵢ + cⱼ)o + oe)² / n) / e²`.
///
/// Returns `None` without rows, and if `e = 0`: both sides have only one and the same class.
///
/// ```
/// use dsrs_metrics::stats::{ConfusionMatrix, KappaWeights, cohen_kappa};
///
/// let pairs = [(0, 0); 20].into_iter().chain([(0, 1); 10]).chain([(1, 0); 5]).chain([(1, 1); 15]);
/// let kappa = cohen_kappa(&ConfusionMatrix::of(2, pairs), KappaWeights::Unweighted).unwrap();
/// assert!((kappa.value - 0.4).abs() < 1e-12);
/// ```
pub fn cohen_kappa(matrix: &ConfusionMatrix, weights: KappaWeights) -> Option<Kappa> {
    let (classes, n) = (matrix.classes(), matrix.total() as f64);
    // Counts instead of shares, which round, so that an error of 0 is 0. Each figure is that of the formula times a power of
    // `n`.
    let count = |label, given| matrix.count(label, given) as f64;
    let labelled: Vec<f64> = (0..classes)
        .map(|class| matrix.labelled(class) as f64)
        .collect();
    let given: Vec<f64> = (0..classes)
        .map(|class| matrix.given(class) as f64)
        .collect();
    let weight = |label, given| weights.disagreement(label, given);
    let sum = |of: &[f64], weight: &dyn Fn(usize) -> f64| -> f64 {
        of.iter()
            .enumerate()
            .map(|(class, count)| count * weight(class))
            .sum()
    };
    let rows: Vec<f64> = (0..classes)
        .map(|i| sum(&given, &|j| weight(i, j)))
        .collect();
    let columns: Vec<f64> = (0..classes)
        .map(|j| sum(&labelled, &|i| weight(i, j)))
        .collect();
    let expected = sum(&labelled, &|i| rows[i]);
    let cells = || (0..classes).flat_map(|i| (0..classes).map(move |j| (i, j)));
    let observed: f64 = cells().map(|(i, j)| count(i, j) * weight(i, j)).sum();
    let square = |(i, j): (usize, usize)| {
        let difference = weight(i, j) * expected - (rows[i] + columns[j]) * observed;
        count(i, j) * (difference + observed * expected / n).powi(2)
    };
    let squares: f64 = cells().map(square).sum();
    (expected > 0.0).then(|| Kappa {
        value: 1.0 - observed * n / expected,
        standard_error: squares.sqrt() * n / expected.powi(2),
    })
}

/// The number of rows for each pair of label and given class. Rows of the matrix are labels,
/// columns are given classes, in the order of the classes. Serializes as a list of lists.
///
/// ```
/// use dsrs_metrics::stats::ConfusionMatrix;
///
/// let matrix = ConfusionMatrix::of(2, [(0, 0), (1, 1), (1, 0), (1, 1)]);
/// assert_eq!(matrix.count(1, 0), 1);
/// assert_eq!((matrix.agreeing(), matrix.total()), (3, 4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfusionMatrix {
    classes: usize,
    counts: Vec<u64>,
}

impl ConfusionMatrix {
    /// Counts pairs of label and given class, each as the index of a class.
    ///
    /// # Panics
    /// If an index is not below `classes`.
    pub fn of(classes: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut counts = vec![0; classes * classes];
        for (label, given) in pairs {
            assert!(
                label < classes && given < classes,
                "there are {classes} classes"
            );
            counts[label * classes + given] += 1;
        }
        Self { classes, counts }
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the number of rows with this label that were given this class.
    ///
    /// # Panics
    /// If an index is not below [`classes`](Self::classes).
    pub fn count(&self, label: usize, given: usize) -> u64 {
        assert!(
            label < self.classes && given < self.classes,
            "there are {} classes",
            self.classes
        );
        self.counts[label * self.classes + given]
    }

    /// Returns the number of rows.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of rows that were given the class of their label.
    pub fn agreeing(&self) -> u64 {
        (0..self.classes)
            .map(|class| self.count(class, class))
            .sum()
    }

    /// Returns the number of rows with this label.
    pub fn labelled(&self, class: usize) -> u64 {
        (0..self.classes)
            .map(|given| self.count(class, given))
            .sum()
    }

    /// Returns the number of rows that were given this class.
    pub fn given(&self, class: usize) -> u64 {
        (0..self.classes)
            .map(|label| self.count(label, class))
            .sum()
    }
}

impl Serialize for ConfusionMatrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // `chunks` panics on 0.
        serializer.collect_seq(self.counts.chunks(self.classes.max(1)))
    }
}
