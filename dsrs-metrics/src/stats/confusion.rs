//! How often each class was given where each class was right.

use serde::ser::{Serialize, Serializer};

/// How many rows of each labelled class were given each class: a row of the matrix for each label, a
/// column for each class that was given, in the order of the classes. Serializes as a list of lists.
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
    /// Counts pairs of label and what was given, each the position of a class.
    ///
    /// # Panics
    /// Where a position is not below `classes`.
    #[must_use]
    pub fn of(classes: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut counts = vec![0; classes * classes];
        for (label, given) in pairs {
            assert!(label < classes && given < classes, "there are {classes} classes");
            counts[label * classes + given] += 1;
        }
        Self { classes, counts }
    }

    /// How many classes there are.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// How many rows with this label were given this class.
    ///
    /// # Panics
    /// Where a position is not below [`classes`](Self::classes).
    #[must_use]
    pub fn count(&self, label: usize, given: usize) -> u64 {
        assert!(label < self.classes && given < self.classes, "there are {} classes", self.classes);
        self.counts[label * self.classes + given]
    }

    /// How many rows there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many rows were given the class of their label.
    #[must_use]
    pub fn agreeing(&self) -> u64 {
        (0..self.classes).map(|class| self.count(class, class)).sum()
    }

    /// How many rows have this label.
    #[must_use]
    pub fn labelled(&self, class: usize) -> u64 {
        (0..self.classes).map(|given| self.count(class, given)).sum()
    }

    /// How many rows were given this class.
    #[must_use]
    pub fn given(&self, class: usize) -> u64 {
        (0..self.classes).map(|label| self.count(label, class)).sum()
    }
}

impl Serialize for ConfusionMatrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // `chunks` takes no zero.
        serializer.collect_seq(self.counts.chunks(self.classes.max(1)))
    }
}
