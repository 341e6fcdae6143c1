//! Measures how well a metric or judge agrees with labels.
//!
//! The agreement shows how far you can trust the scores of the metric or judge.
//!
//! `rating.rs` has the two sides of the comparison, and how the labelled rows were chosen. `compare.rs` finds what the
//! sides have in common, given the meaning of labels from `scale.rs`. `statistics.rs` computes the figures, each a value
//! with its interval (`figure.rs`), and chooses the rows to label next. The statistics are in `stats/`; files are read in
//! `cli/agree/`.

mod compare;
mod figure;
mod rating;
mod scale;
mod statistics;

use crate::stats::ErrorRates;

pub use figure::{Figure, Note};
pub use rating::{AgreementError, Label, LabelSample, LabelledRows, Rating};
#[doc(hidden)]
pub use scale::verdict_word;
pub use statistics::{Agreement, Closeness};

/// Builds a comparison of ratings with labels. Returned by [`Agreement::builder`](Agreement::builder).
#[derive(Debug, Clone, Default)]
pub struct AgreementBuilder {
    resamples: Option<u32>,
    threshold: Option<f64>,
    lower_is_better: bool,
    positive: Vec<String>,
    scale: Vec<String>,
    seed: u64,
    label_sample: LabelSample,
    error_rates: Option<ErrorRates>,
}

impl AgreementBuilder {
    setters! {
        /// Sets the threshold that turns scores into verdicts.
        ///
        /// Scores at or above the threshold pass. This overrides the metric's own verdict.
        pub fn threshold(threshold: f64) => threshold = Some(threshold);

        /// Sets whether lower scores are better.
        ///
        /// If `true`, a score passes at or below the threshold. The default is `false`.
        pub fn lower_is_better(lower_is_better: bool) => lower_is_better = lower_is_better;

        /// Sets the labels that count as a pass.
        ///
        /// All other labels count as a failure.
        pub fn positive(labels: impl IntoIterator<Item = impl Into<String>>)
            => positive = labels.into_iter().map(Into::into).collect();

        /// Sets all classes, in ascending order.
        ///
        /// The list must contain every class. By default, the classes are the numbers that occur in the data.
        pub fn scale(classes: impl IntoIterator<Item = impl Into<String>>)
            => scale = classes.into_iter().map(Into::into).collect();

        /// Sets how the labelled rows were chosen.
        ///
        /// By default, it is unknown how the rows were chosen.
        ///
        /// If you declare a random sample, but the verdicts show that the rows were not chosen at random, the
        /// declaration is ignored.
        ///
        /// ```
        /// use dsrs_metrics::agreement::{Agreement, LabelSample};
        ///
        /// // 100 of 1,000 rows are labelled: 50 that passed and 50 that failed.
        /// let passed = [(true, Some(true)); 50].into_iter().chain([(true, None); 750]);
        /// let failed = [(false, Some(false)); 50].into_iter().chain([(false, None); 150]);
        /// let builder = Agreement::builder().label_sample(LabelSample::Random);
        /// let agreement = builder.of(passed.chain(failed))?;
        /// assert_eq!(agreement.labelled.unwrap().sample, LabelSample::ByVerdict);
        /// assert_eq!(agreement.corrected.value, Some(0.8));
        /// # Ok::<(), dsrs_metrics::agreement::AgreementError>(())
        /// ```
        pub fn label_sample(sample: LabelSample) => label_sample = sample;

        /// Sets error rates that were measured on a separate set of rows.
        ///
        /// The corrected pass rate, [`corrected`](Agreement::corrected), is then computed from the verdicts and these
        /// rates. The labels are not used.
        ///
        /// ```
        /// use dsrs_metrics::agreement::Agreement;
        /// use dsrs_metrics::stats::{ErrorRates, Proportion};
        ///
        /// let rates = ErrorRates {
        ///     sensitivity: Proportion { successes: 90, trials: 100 },
        ///     specificity: Proportion { successes: 80, trials: 100 },
        /// };
        /// let passed = [(true, None::<bool>); 55].into_iter().chain([(false, None); 45]);
        /// let agreement = Agreement::builder().error_rates(rates).of(passed)?;
        /// assert!((agreement.corrected.value.unwrap() - 0.5).abs() < 1e-12);
        /// # Ok::<(), dsrs_metrics::agreement::AgreementError>(())
        /// ```
        pub fn error_rates(rates: ErrorRates) => error_rates = Some(rates);

        /// Sets the random seed for the bootstrap.
        ///
        /// The default is 0.
        pub fn seed(seed: u64) => seed = seed;

        /// Sets the number of samples that the bootstrap draws.
        ///
        /// The default is 2,000. If there are more than 10,000 rows, the default is lower, but at least 200.
        ///
        /// If you set 0, Spearman's correlation has no interval.
        pub fn resamples(resamples: u32) => resamples = Some(resamples);
    }
}
