//! Agreement between gold and predicted labels over all rows: accuracy, F1, balanced accuracy, Matthews correlation,
//! Cohen's kappa and Krippendorff's alpha. Also defines the error for scores that are not defined.
//!
//! The file is long because all measures are computed from `LabelPairs`, and the docs of each give its source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::interval::{Interval, Z};

/// The number of rows for each pair of gold and predicted labels.
///
/// Counts are integers, so the results do not depend on the order of the rows. Memory use grows with the number of
/// distinct pairs.
///
/// Scores are defined as in scikit-learn and the `krippendorff` package. However, a score that is undefined is an error
/// instead of 0 or NaN.
///
/// ```
/// use dsrs_metrics::stats::LabelPairs;
///
/// let mut pairs = LabelPairs::default();
/// for (gold, predicted) in [("a", "a"), ("a", "a"), ("a", "b"), ("b", "b")] {
///     pairs.add(gold, predicted);
/// }
/// assert_eq!(pairs.accuracy(), Ok(0.75));
/// assert_eq!(pairs.balanced_accuracy(), Ok((2.0 / 3.0 + 1.0) / 2.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelPairs {
    counts: BTreeMap<(String, String), u64>,
}

/// How Krippendorff's alpha measures the difference between two labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlphaLevel {
    /// Two labels are either equal or not.
    Nominal,
    /// Labels are numbers, and only their order matters.
    Ordinal,
    /// Labels are numbers, and the distances between them matter.
    Interval,
}

/// The rows of one class.
#[derive(Clone, Copy, Default)]
struct Class {
    gold: u64,
    predicted: u64,
    right: u64,
}

impl Class {
    fn f1(self) -> Option<f64> {
        let both = self.gold + self.predicted;
        (both > 0).then(|| 2.0 * self.right as f64 / both as f64)
    }
}

const NO_ROWS: &str = "there are no rows";

impl LabelPairs {
    /// Adds a row.
    pub fn add(&mut self, gold: &str, predicted: &str) {
        let pair = (gold.to_owned(), predicted.to_owned());
        let sum = self.counts.entry(pair).or_default();
        *sum = sum.saturating_add(1);
    }

    /// Returns the gold and predicted labels if there is exactly one row.
    #[doc(hidden)]
    pub fn only(&self) -> Option<(&str, &str)> {
        let ((gold, predicted), 1) = self.counts.first_key_value()? else {
            return None;
        };
        (self.counts.len() == 1).then_some((gold, predicted))
    }

    /// Adds all rows from `other`.
    pub fn merge(&mut self, other: &Self) {
        for (pair, count) in &other.counts {
            match self.counts.get_mut(pair) {
                Some(sum) => *sum = sum.saturating_add(*count),
                None => drop(self.counts.insert(pair.clone(), *count)),
            }
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the fraction of rows whose gold and predicted labels are equal.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if the data has no rows.
    pub fn accuracy(&self) -> Result<f64, NotDefined> {
        Ok(self.right() as f64 / self.known_rows()? as f64)
    }

    /// Returns the mean F1 over all classes, weighted equally.
    ///
    /// The classes are `labels`. If `labels` is empty, all gold and predicted labels are used.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if the data has no rows, or if one of `labels` does not occur in any row.
    pub fn macro_f1(&self, labels: &[String]) -> Result<f64, NotDefined> {
        self.known_rows()?;
        let classes = self.classes();
        let f1 = |label: &str| {
            let class = classes.get(label).copied().unwrap_or_default();
            let none = || NotDefined::from(format!("no row has the label {label:?}"));
            class.f1().ok_or_else(none)
        };
        let all: Result<Vec<f64>, _> = match labels {
            [] => classes.keys().map(|label| f1(label)).collect(),
            labels => labels.iter().map(|label| f1(label)).collect(),
        };
        let all = all?;
        Ok(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Returns F1, computed from the total counts over all classes in `labels`.
    ///
    /// If `labels` is empty, all classes are used, and the result equals the accuracy.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if the data has no rows, or if none of `labels` occurs in any row.
    pub fn micro_f1(&self, labels: &[String]) -> Result<f64, NotDefined> {
        self.known_rows()?;
        let classes = self.classes();
        let is_counted = |label: &str| labels.is_empty() || labels.iter().any(|it| it == label);
        let counted = classes.iter().filter(|(label, _)| is_counted(label));
        let sum = counted.fold(Class::default(), |sum, (_, class)| Class {
            gold: sum.gold + class.gold,
            predicted: sum.predicted + class.predicted,
            right: sum.right + class.right,
        });
        Ok(sum.f1().ok_or("no row has any of the labels")?)
    }

    /// Returns the mean recall over all classes that occur as gold labels.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if the data has no rows.
    pub fn balanced_accuracy(&self) -> Result<f64, NotDefined> {
        self.known_rows()?;
        let classes = self.classes();
        let gold = classes.values().filter(|class| class.gold > 0);
        let recalls = gold.map(|class| class.right as f64 / class.gold as f64);
        let recalls: Vec<f64> = recalls.collect();
        Ok(recalls.iter().sum::<f64>() / recalls.len() as f64)
    }

    /// Returns the Matthews correlation coefficient, in [-1, 1].
    ///
    /// The labels can have more than two classes (Gorodkin 2004).
    ///
    /// # Errors
    /// Returns [`NotDefined`] if all gold labels are equal, or if all predicted labels are equal.
    pub fn matthews_correlation(&self) -> Result<f64, NotDefined> {
        let n = i128::from(self.known_rows()?);
        let classes = self.classes();
        let sum = |term: fn(&Class) -> (u64, u64)| -> i128 {
            let terms = classes.values().map(term);
            terms.map(|(a, b)| i128::from(a) * i128::from(b)).sum()
        };
        let covariance = i128::from(self.right()) * n - sum(|it| (it.gold, it.predicted));
        let gold = n * n - sum(|it| (it.gold, it.gold));
        let predicted = n * n - sum(|it| (it.predicted, it.predicted));
        match (gold, predicted) {
            (0, _) => Err("all gold labels are equal".into()),
            (_, 0) => Err("all predicted labels are equal".into()),
            _ => {
                // The product of two rounded square roots may be less than the covariance.
                let scale = (gold as f64).sqrt() * (predicted as f64).sqrt();
                Ok((covariance as f64 / scale).clamp(-1.0, 1.0))
            }
        }
    }

    /// Returns Cohen's kappa, using the given weights for disagreements.
    ///
    /// Weights depend on the classes' positions in sorted order. Classes are sorted as numbers if all labels are
    /// numbers, and as strings otherwise.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if the data has no rows, or if all labels on both sides are the same.
    pub fn cohen_kappa(&self, weights: KappaWeights) -> Result<f64, NotDefined> {
        let n = self.known_rows()? as f64;
        let classes = self.classes();
        if classes.len() < 2 {
            return Err("all labels are equal".into());
        }
        let order = sorted(&classes);
        let places: BTreeMap<&str, usize> = order.iter().copied().zip(0..).collect();
        let observed = self.counts.iter().map(|((gold, predicted), count)| {
            *count as f64 * weights.disagreement(places[&**gold], places[&**predicted])
        });
        let observed: f64 = observed.sum();
        let chance: f64 = match weights {
            KappaWeights::Unweighted => {
                let same = |class: &Class| u128::from(class.gold) * u128::from(class.predicted);
                n * n - classes.values().map(same).sum::<u128>() as f64
            }
            _ => {
                let sizes: Vec<Class> = order.iter().map(|label| classes[label]).collect();
                let pairs = sizes.iter().enumerate().flat_map(|(a, gold)| {
                    let others = sizes.iter().enumerate();
                    others.map(move |(b, it)| (gold.gold as f64 * it.predicted as f64, a, b))
                });
                pairs
                    .map(|(rows, a, b)| rows * weights.disagreement(a, b))
                    .sum()
            }
        };
        Ok(1.0 - observed * n / chance)
    }

    /// Returns Krippendorff's alpha for the gold and predicted labels (Krippendorff 2011).
    ///
    /// The two sides are treated as two coders without missing values.
    ///
    /// # Errors
    /// Returns [`NotDefined`] if all labels on both sides are the same, or if `level` requires numbers and a label is
    /// not a number.
    pub fn krippendorff_alpha(&self, level: AlphaLevel) -> Result<f64, NotDefined> {
        let values = 2.0 * self.known_rows()? as f64;
        let classes = self.classes();
        if classes.len() < 2 {
            return Err("all labels are equal".into());
        }
        // A pair of labels is counted in both orders.
        let (observed, expected) = if level == AlphaLevel::Nominal {
            let same = |class: &Class| u128::from(class.gold + class.predicted).pow(2);
            let same: u128 = classes.values().map(same).sum();
            let different = 2.0 * (self.known_rows()? - self.right()) as f64;
            (different, values * values - same as f64)
        } else {
            let places = places(&classes, level)?;
            let squared = |a: f64, b: f64| (a - b) * (a - b);
            let pairs = self.counts.iter().map(|((gold, predicted), count)| {
                2.0 * *count as f64 * squared(places[&**gold], places[&**predicted])
            });
            let sizes = |label: &&str| (classes[label].gold + classes[label].predicted) as f64;
            let sum: f64 = places.iter().map(|(label, at)| sizes(label) * at).sum();
            let around = |(label, at): (&&str, &f64)| sizes(label) * squared(*at, sum / values);
            let around: f64 = places.iter().map(around).sum();
            (pairs.sum(), 2.0 * values * around)
        };
        match expected > 0.0 {
            true => Ok(1.0 - (values - 1.0) * observed / expected),
            false => Err("all labels are equal".into()),
        }
    }

    fn right(&self) -> u64 {
        let pairs = self.counts.iter();
        let same = pairs.filter(|((gold, predicted), _)| gold == predicted);
        same.map(|(_, count)| count).sum()
    }

    fn known_rows(&self) -> Result<u64, NotDefined> {
        match self.rows() {
            0 => Err(NO_ROWS.into()),
            rows => Ok(rows),
        }
    }

    fn classes(&self) -> BTreeMap<&str, Class> {
        let mut classes: BTreeMap<&str, Class> = BTreeMap::new();
        for ((gold, predicted), count) in &self.counts {
            classes.entry(gold).or_default().gold += count;
            let class = classes.entry(predicted).or_default();
            class.predicted += count;
            class.right += if gold == predicted { *count } else { 0 };
        }
        classes
    }
}

/// Returns each label's position on the level's scale.
fn places<'a>(
    classes: &BTreeMap<&'a str, Class>,
    level: AlphaLevel,
) -> Result<BTreeMap<&'a str, f64>, NotDefined> {
    let number = |label: &'a str| match label.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((label, number)),
        _ => Err(NotDefined::from(format!(
            "the label {label:?} is not a number"
        ))),
    };
    let numbers = classes.keys().map(|label| number(label));
    let numbers: BTreeMap<&str, f64> = numbers.collect::<Result<_, _>>()?;
    if level != AlphaLevel::Ordinal {
        return Ok(numbers);
    }
    // The distance between two ranks is the number of values between their middles.
    let mut below = 0.0;
    let ranks = sorted(classes).into_iter().map(|label| {
        let here = (classes[label].gold + classes[label].predicted) as f64;
        below += here;
        (label, below - here / 2.0)
    });
    Ok(ranks.collect())
}

/// Returns the labels in ascending order: as numbers if all of them are numbers, otherwise as strings.
fn sorted<'a>(classes: &BTreeMap<&'a str, Class>) -> Vec<&'a str> {
    let mut labels: Vec<&str> = classes.keys().copied().collect();
    let number = |label: &&str| label.parse::<f64>().ok().filter(|it| it.is_finite());
    let numbers: Option<Vec<f64>> = labels.iter().map(number).collect();
    if let Some(numbers) = numbers {
        let mut numbered: Vec<_> = numbers.into_iter().zip(labels).collect();
        numbered.sort_by(|a, b| a.0.total_cmp(&b.0));
        labels = numbered.into_iter().map(|(_, label)| label).collect();
    }
    labels
}

crate::message_errors! {
    /// The error returned when a score is not defined for the given rows.
    ///
    /// For example, a correlation is not defined if all values are equal. The score is then reported as an error, not
    /// as 0 or NaN.
    ///
    /// ```
    /// use dsrs_metrics::stats::{NotDefined, ValuePairs};
    ///
    /// let mut pairs = ValuePairs::default();
    /// pairs.add(1.0, 0.5);
    /// pairs.add(1.0, 0.7);
    /// assert_eq!(pairs.spearman(), Err(NotDefined::from("all gold values are equal")));
    /// ```
    pub struct NotDefined;
}

/// How a disagreement between two classes is weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KappaWeights {
    /// All disagreements have the same weight.
    ///
    /// Use this for classes without an order.
    Unweighted,
    /// The weight is the distance between the classes' indices.
    Linear,
    /// The weight is the square of the distance between the classes' indices.
    Quadratic,
}

impl KappaWeights {
    /// Returns the weight of a disagreement between a label and a predicted class. The weight is 0 if they are the
    /// same.
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
    /// The value of kappa, in [-1, 1].
    ///
    /// A value of 1 is perfect agreement, and 0 is agreement by chance. A negative value is worse than chance.
    pub value: f64,
    /// The asymptotic standard error of kappa.
    ///
    /// This is 0 if all rows agree or one side has only one class, because the error then cannot be estimated.
    pub standard_error: f64,
}

impl Kappa {
    /// Returns the 95% interval for kappa, or `None` if the standard error is 0.
    ///
    /// The interval is `value ± 1.96 standard errors`, clamped to [-1, 1].
    pub fn interval(&self) -> Option<Interval> {
        let half = Z * self.standard_error;
        let interval = Interval::new(self.value - half, self.value + half);
        (half > 0.0).then(|| interval.within(-1.0, 1.0))
    }
}

/// Returns Cohen's kappa between labels and predicted classes.
///
/// Kappa is `1 - o / e` (Cohen 1960; weighted: Cohen 1968). `o` is the observed mean weight of a disagreement. `e` is
/// the mean weight expected from two independent raters with the same class frequencies.
///
/// As in scikit-learn, weights depend on the indices of the classes in the matrix.
///
/// The standard error is the asymptotic one that does not assume `kappa = 0` (Fleiss, Cohen and Everitt 1969, eq. 13,
/// with disagreement weights). It is `√(Σ pᵢⱼ (wᵢⱼe - (rᵢ + cⱼ)o + oe)² / n) / e²`.
///
/// In this formula, `p` are the matrix entries as fractions, and `w` are the weights. `r` is the mean weight in each
/// row of the matrix, and `c` in each column. Both means use the class frequencies of the other side.
///
/// Returns `None` if there are no rows, or if all rows have the same single class on both sides.
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
    // Uses counts instead of shares, because shares are rounded and an error of 0 must be exactly 0. Each figure is the
    // formula's value times a power of `n`.
    let count = |label, given| matrix.count(label, given) as f64;
    let of_each = |count: &dyn Fn(usize) -> f64| (0..classes).map(count).collect::<Vec<f64>>();
    let labelled = of_each(&|class| matrix.labelled(class) as f64);
    let given = of_each(&|class| matrix.given(class) as f64);
    let weight = |label, given| weights.disagreement(label, given);
    let sum = |of: &[f64], weight: &dyn Fn(usize) -> f64| -> f64 {
        let counts = of.iter().enumerate();
        counts.map(|(class, count)| count * weight(class)).sum()
    };
    let rows = of_each(&|i| sum(&given, &|j| weight(i, j)));
    let columns = of_each(&|j| sum(&labelled, &|i| weight(i, j)));
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

/// The number of rows for each pair of label and predicted class.
///
/// The rows of the matrix are labels, and the columns are predicted classes. Both are in the order of the classes. The
/// matrix serializes as a list of lists.
///
/// ```
/// use dsrs_metrics::stats::ConfusionMatrix;
///
/// let matrix = ConfusionMatrix::of(2, [(0, 0), (1, 1), (1, 0), (1, 1)]);
/// assert_eq!(matrix.count(1, 0), 1);
/// assert_eq!((matrix.agreeing(), matrix.total()), (3, 4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ConfusionMatrix {
    /// For each label, the counts by predicted class.
    counts: Vec<Vec<u64>>,
}

impl ConfusionMatrix {
    /// Creates a matrix from pairs of label and predicted class.
    ///
    /// Labels and predicted classes are given as class indices.
    ///
    /// # Panics
    /// Panics if an index is not less than `classes`.
    pub fn of(classes: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut counts = vec![vec![0; classes]; classes];
        for (label, given) in pairs {
            counts[label][given] += 1;
        }
        Self { counts }
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.counts.len()
    }

    /// Returns the number of rows with the given label and predicted class.
    ///
    /// `given` is the predicted class.
    ///
    /// # Panics
    /// Panics if an index is not less than [`classes`](Self::classes).
    pub fn count(&self, label: usize, given: usize) -> u64 {
        self.counts[label][given]
    }

    /// Returns the number of rows.
    pub fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Returns the number of rows whose predicted class equals their label.
    pub fn agreeing(&self) -> u64 {
        (0..self.classes()).map(|it| self.counts[it][it]).sum()
    }

    /// Returns the number of rows whose label is the given class.
    pub fn labelled(&self, class: usize) -> u64 {
        self.counts[class].iter().sum()
    }

    /// Returns the number of rows whose predicted class is the given class.
    pub fn given(&self, class: usize) -> u64 {
        self.counts.iter().map(|label| label[class]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{AlphaLevel, LabelPairs};

    #[test]
    fn a_correlation_is_never_above_1() {
        for labels in ["ab", "abc", "aab", "aabbc", "abcdefg"] {
            let mut pairs = LabelPairs::default();
            for label in labels.chars().map(String::from) {
                pairs.add(&label, &label);
            }
            let correlation = pairs.matthews_correlation().unwrap();
            assert!(
                (1.0 - 1e-15..=1.0).contains(&correlation),
                "{labels}: {correlation}"
            );
        }
    }

    #[test]
    fn alpha_of_numbers_needs_finite_numbers_that_differ() {
        for (level, gold, reason) in [
            (AlphaLevel::Interval, "1.0", "all labels are equal"),
            (
                AlphaLevel::Interval,
                "inf",
                "the label \"inf\" is not a number",
            ),
            (
                AlphaLevel::Ordinal,
                "NaN",
                "the label \"NaN\" is not a number",
            ),
            (
                AlphaLevel::Ordinal,
                "one",
                "the label \"one\" is not a number",
            ),
        ] {
            let mut pairs = LabelPairs::default();
            pairs.add(gold, "1");
            assert_eq!(pairs.krippendorff_alpha(level), Err(reason.into()));
            // Names need not be numbers. For two different values, the observed difference equals the expected one.
            assert_eq!(pairs.krippendorff_alpha(AlphaLevel::Nominal), Ok(0.0));
        }
    }
}
