//! A metric or judge against labels: how far its scores can be trusted.
//!
//! Ratings and labels are in `rating.rs`, what they have in common is found in `compare.rs` and
//! `scale.rs`, a figure with its interval is in `figure.rs`, the table in `table.rs`. The statistics
//! are in `stats/`; files are read by `cli/agree/`.

mod compare;
mod error;
mod figure;
mod rating;
mod scale;
mod table;

use indexmap::IndexMap;
use serde::Serialize;

use crate::stats::{
    Bootstrap, ConfusionMatrix, ErrorRates, Interval, KappaWeights, NotCorrectable, Proportion,
    cohen_kappa, rogan_gladen,
};
use crate::stats::{CorrectedRate, RankPairs};
use compare::{Compared, Verdicts, compare};

pub use error::AgreementError;
pub use figure::{Figure, Note};
pub use rating::{Label, Rating};

/// So many draws are made for an interval at the most: 2,000 samples of 10,000 rows.
const MOST_DRAWS: usize = 20_000_000;
const FEWEST_RESAMPLES: usize = 200;

/// Below as many rows there is no agreement beyond chance, or no correlation.
const ROWS_FOR_KAPPA: u64 = 2;
const ROWS_FOR_SPEARMAN: u64 = 3;

/// How well a metric or judge agrees with labels, and its score corrected for its errors.
///
/// Every figure has its number of rows and a 95% interval, or says why it has none. Rows without
/// label or score are counted and are in no figure, but that `passed` and `corrected` cover rows
/// without label too.
///
/// What is compared follows from the values:
///
/// - Labels that are verdicts (bools; 0 and 1; pairs of words such as `yes` and `no`, `pass` and
///   `fail`; or whatever [`positive`](AgreementBuilder::positive) says is a pass) are held against the
///   metric's verdicts: its own, those of a [`threshold`](AgreementBuilder::threshold), or scores that
///   are all 0 or 1.
/// - Numbers on the same scale are ordered classes if they are at most 20, as `1` to `5`.
/// - Classes by name are held against text. They have no order, unless a
///   [`scale`](AgreementBuilder::scale) gives it.
/// - Where nothing else is in common there is the order of scores and labels, so Spearman's
///   correlation alone.
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
    /// All rows.
    pub rows: u64,
    /// Rows with both a score and a label.
    pub compared: u64,
    /// Rows with a score but no label.
    pub without_label: u64,
    /// Rows without a score, labelled or not, by the outcome that stands in its place.
    pub without_score: IndexMap<String, u64>,
    /// Rows that were given the class of their label.
    pub accuracy: Figure,
    /// Cohen's kappa. Its interval is asymptotic, see [`cohen_kappa`].
    pub kappa: Figure,
    /// Cohen's kappa with disagreements weighed by their distance.
    pub kappa_linear: Figure,
    /// Cohen's kappa with disagreements weighed by the square of their distance.
    pub kappa_quadratic: Figure,
    /// Spearman's rank correlation of scores and labels; ties have average ranks. Its interval is
    /// bootstrapped, see [`Bootstrap::interval`]: labels are nearly all ties, for which no formula
    /// holds.
    pub spearman: Figure,
    /// Of the rows that should pass, those that did.
    pub sensitivity: Figure,
    /// Of the rows that should fail, those that did.
    pub specificity: Figure,
    /// Rows that passed, of all that have a verdict.
    pub passed: Figure,
    /// The same rows' share of passes, corrected for the error rates above: labelled rows count by
    /// their label, the others as [`rogan_gladen`] estimates. The interval accounts for the
    /// uncertainty of the error rates and of what was observed. It assumes that the metric errs on
    /// rows without label as often as on the others.
    pub corrected: Figure,
    /// The classes, in the order of the confusion matrix; empty if there are none.
    pub classes: Vec<String>,
    /// A row for each class of the labels, a column for each that was given.
    pub confusion: Option<ConfusionMatrix>,
    #[serde(skip)]
    bootstrap: Bootstrap,
}

/// How ratings and labels are read; made by [`Agreement::builder`].
#[derive(Debug, Clone, Default)]
pub struct AgreementBuilder(Options);

#[derive(Debug, Clone, Default)]
struct Options {
    resamples: Option<u32>,
    threshold: Option<f64>,
    lower_is_better: bool,
    positive: Vec<String>,
    scale: Vec<String>,
    seed: u64,
}

impl Agreement {
    /// Compares ratings with labels: pairs of what was given for a row and what is right for it.
    /// Either side may be an `Option`.
    ///
    /// # Errors
    /// [`AgreementError`] for numbers that are not finite, and for values that cannot be compared.
    pub fn of<R: Into<Rating>, L: Into<Label>>(
        pairs: impl IntoIterator<Item = (R, L)>,
    ) -> Result<Self, AgreementError> {
        Self::builder().of(pairs)
    }

    /// Says first how ratings and labels are read.
    #[must_use]
    pub fn builder() -> AgreementBuilder {
        AgreementBuilder::default()
    }
}

impl AgreementBuilder {
    /// A score of at least this is a pass, whatever verdict it came with.
    #[must_use]
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.0.threshold = Some(threshold);
        self
    }

    /// A score of at most the threshold is a pass.
    #[must_use]
    pub fn lower_is_better(mut self, lower_is_better: bool) -> Self {
        self.0.lower_is_better = lower_is_better;
        self
    }

    /// The labels that are a pass; all others are none.
    #[must_use]
    pub fn positive<T: Into<String>>(mut self, labels: impl IntoIterator<Item = T>) -> Self {
        self.0.positive = labels.into_iter().map(Into::into).collect();
        self
    }

    /// All classes in ascending order. Without it, classes are the numbers that occur.
    #[must_use]
    pub fn scale<T: Into<String>>(mut self, classes: impl IntoIterator<Item = T>) -> Self {
        self.0.scale = classes.into_iter().map(Into::into).collect();
        self
    }

    /// Where the random numbers of the bootstrap begin; 0 unless set.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// How many samples the bootstrap draws; without any, Spearman's correlation has no interval.
    /// 2,000 unless set, fewer above 10,000 rows, and never fewer than 200.
    #[must_use]
    pub fn resamples(mut self, resamples: u32) -> Self {
        self.0.resamples = Some(resamples);
        self
    }

    /// Compares ratings with labels.
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
    /// [`AgreementError`] for numbers that are not finite, and for values that cannot be compared.
    pub fn of<R: Into<Rating>, L: Into<Label>>(
        &self,
        pairs: impl IntoIterator<Item = (R, L)>,
    ) -> Result<Agreement, AgreementError> {
        let rows: Vec<(Rating, Label)> =
            pairs.into_iter().map(|(rating, label)| (rating.into(), label.into())).collect();
        let compared = compare(&rows, &self.0)?;
        let resamples = self.0.resamples.unwrap_or_else(|| affordable(rows.len()));
        Ok(Agreement::new(&rows, compared, Bootstrap { resamples, seed: self.0.seed }))
    }
}

impl Options {
    /// Whether the rating is a pass, if that is known.
    fn verdict(&self, rating: &Rating, zero_or_one: bool) -> Option<bool> {
        let score = rating.score()?;
        match (self.threshold, rating) {
            (Some(threshold), _) if self.lower_is_better => Some(score <= threshold),
            (Some(threshold), _) => Some(score >= threshold),
            (None, Rating::Verdict { passed, .. }) => Some(*passed),
            (None, _) => zero_or_one.then_some(score == 1.0),
        }
    }
}

impl Agreement {
    fn new(rows: &[(Rating, Label)], compared: Compared, bootstrap: Bootstrap) -> Self {
        let mut without_score = IndexMap::new();
        let (mut both, mut without_label) = (0, 0);
        for (rating, label) in rows {
            match rating {
                Rating::Missing(why) => *without_score.entry(why.to_string()).or_insert(0) += 1,
                _ if label.is_missing() => without_label += 1,
                _ => both += 1,
            }
        }
        let ordered = compared.ordered;
        let matrix = compared.matrix.as_ref();
        let kappa = |weights| kappa(both, matrix, weights);
        let by_distance = |weights| match ordered || matrix.is_err() {
            true => kappa(weights),
            false => Figure::unknown(both, Note::NoOrder),
        };
        let verdicts = compared.verdicts.as_ref();
        let share = |of: fn(&Verdicts) -> Proportion| match verdicts {
            Ok(verdicts) => Figure::share(of(verdicts)),
            Err(note) => Figure::unknown(both, note.clone()),
        };
        Self {
            rows: rows.len() as u64,
            compared: both,
            without_label,
            without_score,
            accuracy: match matrix {
                Ok(matrix) => Figure::share(Proportion {
                    successes: matrix.agreeing(),
                    trials: matrix.total(),
                }),
                Err(note) => Figure::unknown(both, note.clone()),
            },
            kappa: kappa(KappaWeights::Unweighted),
            kappa_linear: by_distance(KappaWeights::Linear),
            kappa_quadratic: by_distance(KappaWeights::Quadratic),
            spearman: correlation(both, &compared.ranked, bootstrap),
            sensitivity: share(|verdicts| verdicts.rates.sensitivity),
            specificity: share(|verdicts| verdicts.rates.specificity),
            passed: share(|verdicts| verdicts.passed),
            corrected: match verdicts {
                Ok(verdicts) => corrected(verdicts),
                Err(note) => Figure::unknown(both, note.clone()),
            },
            classes: compared.classes,
            confusion: compared.matrix.ok(),
            bootstrap,
        }
    }
}

/// How many samples of so many rows are drawn.
fn affordable(rows: usize) -> u32 {
    let most = Bootstrap::default().resamples;
    let affordable = MOST_DRAWS / rows.max(1);
    u32::try_from(affordable.max(FEWEST_RESAMPLES)).map_or(most, |resamples| resamples.min(most))
}

fn kappa(rows: u64, matrix: Result<&ConfusionMatrix, &Note>, weights: KappaWeights) -> Figure {
    let matrix = match matrix {
        Ok(matrix) => matrix,
        Err(note) => return Figure::unknown(rows, note.clone()),
    };
    if rows < ROWS_FOR_KAPPA {
        return Figure::unknown(rows, Note::NotEnoughRows { needed: ROWS_FOR_KAPPA });
    }
    match cohen_kappa(matrix, weights) {
        Some(kappa) => Figure::estimate(kappa.value, rows, || kappa.interval()),
        None => Figure::unknown(rows, Note::OneValue { side: "labels and scores" }),
    }
}

fn correlation(
    rows: u64,
    ranked: &Result<(Vec<f64>, Vec<f64>), Note>,
    bootstrap: Bootstrap,
) -> Figure {
    let (scores, labels) = match ranked {
        Ok(ranked) => ranked,
        Err(note) => return Figure::unknown(rows, note.clone()),
    };
    if rows < ROWS_FOR_SPEARMAN {
        return Figure::unknown(rows, Note::NotEnoughRows { needed: ROWS_FOR_SPEARMAN });
    }
    let pairs = RankPairs::of(scores, labels);
    let all: Vec<usize> = (0..scores.len()).collect();
    let interval = || bootstrap.interval(all.len(), |sample| pairs.spearman(sample));
    match pairs.spearman(&all) {
        Some(value) => Figure::estimate(value, rows, interval),
        None if labels.iter().all(|label| *label == labels[0]) => {
            Figure::unknown(rows, Note::OneValue { side: "labels" })
        }
        None => Figure::unknown(rows, Note::OneValue { side: "scores" }),
    }
}

/// The share of rows that should pass: labelled ones by their label, the others by what is known of
/// the metric's errors.
fn corrected(verdicts: &Verdicts) -> Figure {
    let Verdicts { rates, passed, unlabelled, should_pass } = verdicts;
    match correct(rates, *passed, *unlabelled, *should_pass) {
        Err(why) => Figure::unknown(passed.trials, Note::NotCorrectable(why)),
        Ok(CorrectedRate { rate, interval: Interval { low, high }, .. }) => {
            let value = rate.clamp(0.0, 1.0);
            Figure {
                value: Some(value),
                // Cut as well, it holds the estimate that is shown.
                ci95: Some(Interval { low: low.min(value), high: high.max(value) }),
                n: passed.trials,
                successes: None,
                note: (value != rate).then_some(Note::Cut { estimate: rate }),
            }
        }
    }
}

fn correct(
    rates: &ErrorRates,
    passed: Proportion,
    unlabelled: Proportion,
    should_pass: Proportion,
) -> Result<CorrectedRate, NotCorrectable> {
    if unlabelled.trials > 0 {
        let others = rogan_gladen(unlabelled, rates)?;
        return Ok(others.with_known(unlabelled.trials, should_pass));
    }
    // The estimate is the labels' own share, whatever the rates; but they must allow a correction.
    let all = rogan_gladen(passed, rates)?;
    Ok(all.with_known(0, should_pass))
}
