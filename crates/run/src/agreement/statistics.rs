//! [`Agreement`]: every figure with its row count and its interval, computed from what can be compared. Also chooses
//! the rows to label next, whose labels would tell the most about the pass rate over all rows.
//!
//! The file is long because each figure is documented with its definition.

use indexmap::IndexMap;
use serde::Serialize;
use twox_hash::XxHash3_128;

use super::AgreementBuilder;
use super::compare::{Compared, NO_ORDER, Pairs, Verdicts};
use super::figure::Figure;
use super::rating::{AgreementError, Label, LabelledRows, Rating};
use crate::stats::{
    Bootstrap, ConfusionMatrix, ErrorRates, KappaWeights, Proportion, RankPairs, Stratum,
    cohen_kappa, decimals, post_stratified, rogan_gladen,
};

/// The minimum number of rows for kappa and Spearman's correlation to be defined.
const MIN_ROWS_FOR_KAPPA: u64 = 2;
const MIN_ROWS_FOR_SPEARMAN: u64 = 3;

/// A report on how well a metric or judge agrees with labels.
///
/// The report also contains the metric's pass rate, corrected for the metric's errors.
///
/// Every figure includes its row count and a 95% interval. If there is no interval, a note explains why.
///
/// Rows without a score or a label are counted, but most figures exclude them. Only `passed` and `corrected` include
/// rows without a label.
///
/// The kind of comparison depends on the values:
///
/// - Verdicts are compared with labels that are bools, 0 and 1, or word pairs such as `yes` and `no` or `pass` and
///   `fail`. For any other labels, list the passing ones with [`positive`](super::AgreementBuilder::positive). To
///   derive verdicts from scores, set a [`threshold`](super::AgreementBuilder::threshold). You don't need a threshold
///   if all scores are 0 or 1.
/// - Numbers on the same scale, such as `1` to `5`, are compared as ordered classes, unless there are more than 20
///   classes.
/// - Named classes are compared with string labels. They are unordered unless you set a
///   [`scale`](super::AgreementBuilder::scale).
/// - In all other cases, only the order of scores and labels is compared, with Spearman's correlation.
///
/// ```
/// use dsrs_metrics::agreement::Agreement;
///
/// // Judged pass or fail, and labelled so; the last two rows have no label.
/// let judged = [(true, Some(true)); 40].into_iter().chain([(true, Some(false)); 10]);
/// let judged = judged.chain([(false, Some(false)); 50]).chain([(true, None); 2]);
///
/// let agreement = Agreement::of(judged)?;
/// assert_eq!(agreement.accuracy.value, Some(0.9));
/// assert_eq!(agreement.accuracy.n, 100);
/// assert_eq!(agreement.without_label, 2);
/// assert!((agreement.kappa.value.unwrap() - 0.8).abs() < 1e-12);
/// assert!(agreement.kappa.ci95.unwrap().contains(0.7));
/// # Ok::<(), dsrs_metrics::agreement::AgreementError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Agreement {
    /// The number of rows.
    pub rows: u64,
    /// The number of rows with both a score and a label.
    pub compared: u64,
    /// The number of rows with a score but no label.
    pub without_label: u64,
    /// The number of rows without a score, for each outcome.
    ///
    /// Rows without a label are included.
    pub without_score: IndexMap<String, u64>,
    /// The fraction of rows whose rating equals the label.
    pub accuracy: Figure,
    /// Cohen's kappa.
    ///
    /// The interval is asymptotic. See [`cohen_kappa`].
    pub kappa: Figure,
    /// Cohen's kappa with disagreements weighted by their distance.
    pub kappa_linear: Figure,
    /// Cohen's kappa with disagreements weighted by the square of their distance.
    pub kappa_quadratic: Figure,
    /// Spearman's rank correlation between scores and labels.
    ///
    /// Ties get average ranks.
    ///
    /// The interval is bootstrapped, because labels usually have ties and no formula is valid with ties. See
    /// [`Bootstrap::interval`].
    pub spearman: Figure,
    /// The fraction of passes among the rows that should pass.
    pub sensitivity: Figure,
    /// The fraction of failures among the rows that should fail.
    pub specificity: Figure,
    /// The fraction of passes among all rows with a verdict.
    pub passed: Figure,
    /// The estimated fraction of rows that should pass, among the rows with a verdict.
    ///
    /// By default, [`post_stratified`] estimates this fraction from the labels of passed and failed rows. If you set
    /// [`error_rates`](super::AgreementBuilder::error_rates), [`rogan_gladen`] estimates it instead.
    pub corrected: Figure,
    /// The rows that have both a verdict and a label.
    ///
    /// This is `None` if the labels are not compared with verdicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labelled: Option<LabelledRows>,
    /// The error rates that you set to compute `corrected`, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rates: Option<ErrorRates>,
    /// The classes, in the order of the confusion matrix.
    ///
    /// This is empty if there are no classes.
    pub classes: Vec<String>,
    /// The confusion matrix of labels and ratings.
    ///
    /// The matrix has a row for each label class and a column for each rating class.
    pub confusion: Option<ConfusionMatrix>,
    #[serde(skip)]
    pub(super) bootstrap: Bootstrap,
}

impl Agreement {
    /// Compares the rating of each row with its label.
    ///
    /// A rating is a metric's result, and a label is the correct result. Both can be `Option`s.
    ///
    /// # Errors
    /// Returns an [`AgreementError`] if a number is not finite, or if values cannot be compared.
    pub fn of<R: Into<Rating>, L: Into<Label>>(
        pairs: impl IntoIterator<Item = (R, L)>,
    ) -> Result<Self, AgreementError> {
        Self::builder().of(pairs)
    }

    /// Returns a builder for a comparison with custom settings.
    ///
    /// For example, you can set a threshold, the passing labels or a scale.
    pub fn builder() -> AgreementBuilder {
        AgreementBuilder::default()
    }

    pub(super) fn new(
        rows: &[(Rating, Label)],
        compared: Compared,
        options: &AgreementBuilder,
        bootstrap: Bootstrap,
    ) -> Self {
        let mut without_score = IndexMap::new();
        let (mut both, mut without_label) = (0, 0);
        for (rating, label) in rows {
            match rating {
                Rating::Missing(why) => *without_score.entry(why.to_string()).or_insert(0) += 1,
                _ if label.is_missing() => without_label += 1,
                _ => both += 1,
            }
        }
        let known = |figure: Result<Figure, &&str>| {
            figure.unwrap_or_else(|note| Figure::unknown(both, *note))
        };
        let matrix = compared.matrix.as_ref().map(|(_, matrix)| matrix);
        let kappa = |weights| known(matrix.map(|matrix| kappa(both, matrix, weights)));
        let by_distance = |weights| match compared.ordered || matrix.is_err() {
            true => kappa(weights),
            false => Figure::unknown(both, NO_ORDER),
        };
        let (ranked, verdicts) = (compared.ranked.as_ref(), compared.verdicts.as_ref());
        let share =
            |of: fn(&Verdicts) -> Proportion| known(verdicts.map(|it| Figure::share(of(it))));
        let agreeing = |matrix: &ConfusionMatrix| Proportion {
            successes: matrix.agreeing(),
            trials: matrix.total(),
        };
        Self {
            rows: rows.len() as u64,
            compared: both,
            without_label,
            without_score,
            accuracy: known(matrix.map(|matrix| Figure::share(agreeing(matrix)))),
            kappa: kappa(KappaWeights::Unweighted),
            kappa_linear: by_distance(KappaWeights::Linear),
            kappa_quadratic: by_distance(KappaWeights::Quadratic),
            spearman: known(ranked.map(|ranked| correlation(both, ranked, bootstrap))),
            sensitivity: share(|verdicts| verdicts.rates.sensitivity),
            specificity: share(|verdicts| verdicts.rates.specificity),
            passed: share(Verdicts::passes),
            corrected: known(verdicts.map(|it| corrected(it, options.error_rates.as_ref()))),
            labelled: verdicts.ok().and_then(|it| {
                LabelledRows::new(it.labelled_passes(), it.passes(), options.label_sample)
            }),
            error_rates: options.error_rates,
            confusion: matrix.ok().cloned(),
            classes: compared.matrix.map_or(Vec::new(), |(classes, _)| classes),
            bootstrap,
        }
    }
}

fn kappa(rows: u64, matrix: &ConfusionMatrix, weights: KappaWeights) -> Figure {
    let kappa = cohen_kappa(matrix, weights);
    let value = kappa.as_ref().map(|kappa| kappa.value);
    let rows = (rows, MIN_ROWS_FOR_KAPPA);
    Figure::estimate(rows, value, "labels and scores", || kappa?.interval())
}

fn correlation(rows: u64, (scores, labels): &(Vec<f64>, Vec<f64>), bootstrap: Bootstrap) -> Figure {
    let pairs = RankPairs::of(scores, labels);
    let side = match labels.iter().all(|label| *label == labels[0]) {
        true => "labels",
        false => "scores",
    };
    let value = pairs.spearman(0..scores.len());
    Figure::estimate((rows, MIN_ROWS_FOR_SPEARMAN), value, side, || {
        let draws = bootstrap.statistic(scores.len(), |sample| {
            pairs.spearman(sample.iter().copied())
        });
        draws.ci95()
    })
}

/// Returns the share of rows that should pass.
fn corrected(verdicts: &Verdicts, error_rates: Option<&ErrorRates>) -> Figure {
    let passes = verdicts.passes();
    let corrected = match error_rates {
        Some(rates) => rogan_gladen(passes, rates),
        None => post_stratified(verdicts.passed, verdicts.failed),
    };
    match corrected {
        Err(why) => Figure::unknown(passes.trials, why.to_string()),
        Ok(corrected) => Figure {
            value: Some(corrected.rate),
            ci95: Some(corrected.interval),
            n: passes.trials,
            successes: None,
            note: corrected.unclamped.map(|estimate| {
                let estimate = decimals(estimate, 4);
                format!(
                    "the estimate {estimate} was clamped to [0, 1]: the observed share of passes is impossible at these error rates"
                )
            }),
        },
    }
}

/// How close each row's rating is to its label.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct Closeness {
    /// `true` if the labels are verdicts. A row's value is then 1 if its rating is right, and 0 otherwise. If this is
    /// `false`, the value is the absolute difference between the rating and the label.
    pub is_right: bool,
    /// The value for each row, or `None` if the row lacks a rating or a label.
    pub rows: Vec<Option<f64>>,
}

impl AgreementBuilder {
    /// Compares each rating with its label.
    ///
    /// ```
    /// use dsrs_metrics::agreement::Agreement;
    ///
    /// let scores = [0.9, 0.7, 0.4, 0.8, 0.1];
    /// let labels = ["good", "good", "bad", "bad", "bad"];
    /// let agreement = Agreement::builder().threshold(0.5).of(scores.into_iter().zip(labels))?;
    /// assert_eq!(agreement.accuracy.value, Some(0.8));
    /// assert_eq!(agreement.sensitivity.n, 2);
    /// # Ok::<(), dsrs_metrics::agreement::AgreementError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an [`AgreementError`] if a number is not finite, or if values cannot be compared.
    pub fn of<R: Into<Rating>, L: Into<Label>>(
        &self,
        pairs: impl IntoIterator<Item = (R, L)>,
    ) -> Result<Agreement, AgreementError> {
        let rows = pairs.into_iter();
        let rows = rows.map(|(rating, label)| (rating.into(), label.into()));
        let rows: Vec<(Rating, Label)> = rows.collect();
        let compared = Pairs::of(&rows, self)?.compare()?;
        let resamples = self.resamples;
        let bootstrap = Bootstrap {
            resamples: resamples.unwrap_or_else(|| default_resamples(rows.len())),
            seed: self.seed,
        };
        Ok(Agreement::new(&rows, compared, self, bootstrap))
    }

    /// Returns how close each rating is to its label.
    ///
    /// Verdicts are determined as in [`of`](Self::of). Returns `None` if the labels are verdicts but a score has no
    /// verdict.
    ///
    /// # Errors
    /// Returns an [`AgreementError`] if a number is not finite, or if values cannot be compared.
    #[doc(hidden)]
    pub fn closeness(&self, rows: &[(Rating, Label)]) -> Result<Option<Closeness>, AgreementError> {
        let pairs = Pairs::of(rows, self)?;
        let passing = pairs.passing.as_ref().filter(|_| pairs.have_verdicts());
        let value = |(rating, label): &(Rating, Label)| match (passing, label) {
            (Some(passing), label) => {
                let is_right = pairs.verdict(rating)? == passing.label(label)?;
                Some(f64::from(is_right))
            }
            (None, Label::Number(label)) => Some((rating.score()? - label).abs()),
            (None, _) => None,
        };
        let is_number = |label: &Label| matches!(label, Label::Number(_) | Label::Missing);
        let are_numbers = rows.iter().all(|(_, label)| is_number(label));
        Ok((passing.is_some() || are_numbers).then(|| Closeness {
            is_right: passing.is_some(),
            rows: rows.iter().map(value).collect(),
        }))
    }
}

/// The maximum number of draws for an interval: 2,000 samples of 10,000 rows.
const MAX_DRAWS: usize = 20_000_000;
const MIN_RESAMPLES: usize = 200;

/// Returns the default number of samples for this many rows. More rows get fewer samples, so the bootstrap stays fast.
fn default_resamples(rows: usize) -> u32 {
    let max = Bootstrap::default().resamples;
    let affordable = (MAX_DRAWS / rows.max(1)).max(MIN_RESAMPLES);
    u32::try_from(affordable).map_or(max, |resamples| resamples.min(max))
}

impl AgreementBuilder {
    /// Chooses which rows to label next.
    ///
    /// The result contains up to `count` row positions. These rows have a verdict but no label. Labelling them narrows
    /// the interval of [`corrected`](super::Agreement::corrected) the most.
    ///
    /// The `id` function returns the id of the row at a position.
    ///
    /// Rows are chosen one at a time. Each one comes from either the passed or the failed rows, whichever reduces the
    /// variance of the estimate more.
    ///
    /// Among rows with the same verdict, the choice is pseudorandom. It depends on the row ids and on the
    /// [`seed`](Self::seed).
    ///
    /// The variance is the sum of `W² p (1 - p) / n` over both verdicts (Neyman 1934):
    ///
    /// - `W` is the fraction of all rows that have the verdict.
    /// - `n` is the number of labels for the verdict.
    /// - `p` is the fraction of those labels that pass, after adding one pass and one failure.
    ///
    /// ```
    /// use dsrs_metrics::agreement::{Agreement, Label, Rating};
    ///
    /// // The judge passed 800 of 1,000 rows. It is nearly always right about them, and half the time about the others.
    /// let row = |n: u32| {
    ///     let (passed, is_labelled) = (n % 5 != 0, n < 100);
    ///     let label = if passed { n % 50 != 1 } else { n % 2 == 0 };
    ///     (Rating::from(passed), Label::from(is_labelled.then_some(label)))
    /// };
    /// let rows: Vec<_> = (0..1_000).map(row).collect();
    /// let next = Agreement::builder().next_labels(&rows, |row| row.to_string(), 40)?;
    /// let of_passed = next.iter().filter(|row| **row % 5 != 0);
    /// assert_eq!((next.len(), of_passed.count()), (40, 4));
    /// # Ok::<(), dsrs_metrics::agreement::AgreementError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an [`AgreementError`] if a number is not finite, or if labels or ratings are not verdicts.
    pub fn next_labels(
        &self,
        rows: &[(Rating, Label)],
        id: impl Fn(usize) -> String,
        count: usize,
    ) -> Result<Vec<usize>, AgreementError> {
        let pairs = Pairs::of(rows, self)?;
        let passing = pairs.passing.as_ref().ok_or_else(|| AgreementError {
            row: None,
            message: "expected labels that are verdicts, such as `true` and `false`; name those that pass with --positive (in code, `positive`)".to_owned(),
        })?;
        let mut strata = [Stratum::default(); 2];
        let mut unlabelled = [Vec::new(), Vec::new()];
        for (row, (rating, label)) in rows.iter().enumerate() {
            let Some(passed) = pairs.verdict(rating) else {
                continue;
            };
            let (verdict, label) = (usize::from(passed), passing.label(label));
            strata[verdict].record(label);
            if label.is_none() {
                let key = XxHash3_128::oneshot_with_seed(self.seed, id(row).as_bytes());
                unlabelled[verdict].push((key, row));
            }
        }
        let order = unlabelled.map(|mut keys| {
            keys.sort_unstable();
            keys.into_iter().map(|(_, row)| row)
        });
        Ok(allocated(strata, order, count))
    }
}

/// Takes rows one at a time, each from the verdict with the larger gain.
fn allocated(
    strata: [Stratum; 2],
    mut order: [impl ExactSizeIterator<Item = usize>; 2],
    count: usize,
) -> Vec<usize> {
    let mut labels = strata.map(|stratum| stratum.labelled.trials as f64);
    let gain = |verdict: usize, labels: f64| {
        let Stratum { rows, labelled } = strata[verdict];
        let share = (labelled.successes as f64 + 1.0) / (labelled.trials as f64 + 2.0);
        (rows as f64).powi(2) * share * (1.0 - share) / (labels * (labels + 1.0))
    };
    let mut next = Vec::new();
    while next.len() < count {
        let gains = [0, 1].map(|verdict| match order[verdict].len() {
            0 => -1.0,
            _ => gain(verdict, labels[verdict]),
        });
        let verdict = usize::from(gains[1] > gains[0]);
        let Some(row) = order[verdict].next() else {
            break;
        };
        labels[verdict] += 1.0;
        next.push(row);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Agreement;
    use crate::stats::Proportion;

    #[test]
    fn labels_and_verdicts_determine_the_measure() {
        let verdict = |passed| Rating::from(passed);
        let rows = [
            (verdict(true), Label::from("yes")),
            (verdict(true), Label::from("no")),
            (verdict(true), Label::Missing),
            (Rating::from(None::<bool>), Label::from("no")),
        ];
        let builder = Agreement::builder();
        let of = |is_right, rows: &[Option<f64>]| {
            let rows = rows.to_vec();
            Some(Closeness { is_right, rows })
        };
        let right = of(true, &[Some(1.0), Some(0.0), None, None]);
        assert_eq!(builder.closeness(&rows).unwrap(), right);
        let grades = [
            (Rating::Score(3.5), Label::Number(5.0)),
            (Rating::Score(2.0), Label::Number(2.0)),
        ];
        let differences = of(false, &[Some(1.5), Some(0.0)]);
        assert_eq!(builder.closeness(&grades).unwrap(), differences);
        let scores = [
            (Rating::Score(0.7), Label::Bool(true)),
            (Rating::Score(0.2), Label::Bool(true)),
        ];
        assert_eq!(builder.closeness(&scores).unwrap(), None);
        let passes = of(true, &[Some(1.0), Some(0.0)]);
        assert_eq!(
            builder.clone().threshold(0.5).closeness(&scores).unwrap(),
            passes
        );
    }

    #[test]
    fn no_other_allocation_has_a_smaller_variance() {
        let stratum = |rows, successes, trials| Stratum {
            rows,
            labelled: Proportion { successes, trials },
        };
        let cases = [
            [stratum(300, 3, 10), stratum(700, 28, 30)],
            [stratum(50, 1, 4), stratum(900, 6, 12)],
        ];
        for strata in cases {
            let variance = |failed: usize| {
                let terms = [failed, 20 - failed].into_iter().zip(strata);
                let term = |(more, stratum): (usize, Stratum)| {
                    let Proportion { successes, trials } = stratum.labelled;
                    let share = (successes as f64 + 1.0) / (trials as f64 + 2.0);
                    (stratum.rows as f64).powi(2) * share * (1.0 - share)
                        / (trials as f64 + more as f64)
                };
                terms.map(term).sum::<f64>()
            };
            let next = allocated(strata, [0..40, 100..700], 20);
            let failed = next.iter().filter(|row| **row < 100).count();
            let best = (0..=20).min_by(|a, b| variance(*a).total_cmp(&variance(*b)));
            assert_eq!((next.len(), Some(failed)), (20, best));
        }
    }

    #[test]
    fn a_verdict_without_labels_comes_first_and_no_row_twice() {
        let strata = [
            Stratum {
                rows: 5,
                ..Stratum::default()
            },
            Stratum {
                rows: 3,
                ..Stratum::default()
            },
        ];
        let next = allocated(strata, [0..5, 5..8], 100);
        assert_eq!(next[..2], [0, 5]);
        assert_eq!(next.len(), 8);
    }
}
