//! The confusion matrix of labels and given classes.

use serde::ser::{Serialize, Serializer};

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
