//! Measures how well a metric or judge agrees with labels.
//!
//! The agreement shows how far you can trust the scores of the metric or judge.
//!
//! `rating.rs` has the two sides of the comparison, and how the labelled rows were chosen. `compare.rs` finds what the
//! sides have in common, given which labels mean a pass and how labels are ordered. `statistics.rs` computes the figures, each a value
//! with its interval (`figure.rs`), and chooses the rows to label next. The statistics are in `stats/`; files are read in
//! `cli/agree/`.

mod compare;
mod figure;
mod rating;
mod statistics;

use indexmap::IndexSet;

use crate::stats::ErrorRates;

pub use figure::Figure;
pub use rating::{AgreementError, Label, LabelSample, LabelledRows, Rating};
pub use statistics::{Agreement, Closeness};

use crate::messages::escape;

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
        /// By default, nothing is known about how the rows were chosen.
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
        /// With 0 samples, Spearman's correlation has no interval.
        pub fn resamples(resamples: u32) => resamples = Some(resamples);
    }
}

/// Word pairs for pass and failure. Case is ignored.
const VERDICT_WORDS: [(&str, &str); 6] = [
    ("true", "false"),
    ("yes", "no"),
    ("pass", "fail"),
    ("passed", "failed"),
    ("correct", "incorrect"),
    ("good", "bad"),
];

/// Numbers for pass and failure in CSV cells.
const CELLS: [(&str, &str); 2] = [("1", "0"), ("1.0", "0.0")];

/// Parses a word such as `pass` or `no` as a verdict.
///
/// Returns `None` if the word is not a known verdict.
#[doc(hidden)]
pub fn verdict_word(word: &str) -> Option<bool> {
    let word = word.trim();
    VERDICT_WORDS.iter().find_map(|(pass, fail)| {
        let is_pass = word.eq_ignore_ascii_case(pass);
        (is_pass || word.eq_ignore_ascii_case(fail)).then_some(is_pass)
    })
}

/// The labels that mean a pass.
pub(super) struct PassingLabels(IndexSet<String>);

impl PassingLabels {
    /// Returns the labels that mean a pass, or `None` if the labels are not verdicts.
    pub(super) fn of(
        rows: &[(Rating, Label)],
        options: &AgreementBuilder,
    ) -> Result<Option<Self>, AgreementError> {
        let numbered = || {
            let labels = rows.iter().map(|(_, label)| label).enumerate();
            labels.filter(|(_, label)| !label.is_missing())
        };
        let labels = || numbered().map(|(_, label)| label);
        if !options.positive.is_empty() {
            let listed = Self(options.positive.iter().cloned().collect());
            return match numbered().next() {
                Some((row, label)) if !labels().any(|label| listed.is_pass(label)) => {
                    let (positive, label) = (options.positive.join("`, `"), label.to_string());
                    let (positive, label) = (escape::escaped(&positive), escape::name(&label));
                    let message = format!(
                        "expected a passing label (`{positive}`) in at least one row, found `{label}`"
                    );
                    Err(AgreementError::at(row, message))
                }
                _ => Ok(Some(listed)),
            };
        }
        let is_verdict = |label: &Label| match label {
            Label::Bool(_) => true,
            Label::Number(number) => options.scale.is_empty() && (*number == 0.0 || *number == 1.0),
            Label::Missing | Label::Class(_) => false,
        };
        if labels().all(is_verdict) {
            let true_or_one = ["true", "1"].map(str::to_owned);
            return Ok(Some(Self(true_or_one.into())));
        }
        if !options.scale.is_empty() {
            return Ok(None);
        }
        let is = |label: &Label, word: &str| match label {
            Label::Class(class) => class.trim().eq_ignore_ascii_case(word),
            _ => false,
        };
        let known = |(pass, fail): &&(&'static str, &'static str)| {
            labels().all(|label| is(label, pass) || is(label, fail))
        };
        if let Some((pass, _)) = VERDICT_WORDS.iter().chain(&CELLS).find(known) {
            let spellings = labels().filter(|label| is(label, pass));
            return Ok(Some(Self(spellings.map(Label::to_string).collect())));
        }
        // Named classes need no verdicts. Scores can be compared with string labels only as
        // verdicts.
        let unclear = numbered().find(|(_, label)| matches!(label, Label::Class(_)));
        let scores = rows.iter().any(|(rating, _)| rating.score().is_some());
        match unclear {
            Some((row, label)) if scores => Err(AgreementError::at(
                row,
                format!(
                    "cannot compare scores with labels such as `{}`; pass the passing labels to `positive` (--positive), or the order of all labels to `scale` (--scale)",
                    escape::name(&label.to_string())
                ),
            )),
            _ => Ok(None),
        }
    }

    /// Returns a label's verdict, or `None` if the label is missing.
    pub(super) fn label(&self, label: &Label) -> Option<bool> {
        (!label.is_missing()).then(|| self.is_pass(label))
    }

    /// Returns the verdict of a rating that is a named class.
    pub(super) fn class(&self, rating: &Rating) -> Option<bool> {
        match rating {
            Rating::Class(class) => Some(self.is_pass(&Label::Class(class.clone()))),
            _ => None,
        }
    }

    fn is_pass(&self, label: &Label) -> bool {
        let text = label.to_string();
        let mut passing = self.0.iter().map(|passing| passing.trim());
        passing.any(|passing| match label {
            Label::Number(label) => passing.parse() == Ok(*label),
            _ => passing == text.trim(),
        })
    }
}

/// Returns the names of all numbers that occur as labels or scores, in ascending order. Returns `None` if only the
/// labels or only the scores are all whole numbers, because they are then unlikely to be on one scale.
pub(super) fn scale_of(numbers: &[(usize, f64, f64)]) -> Option<Vec<String>> {
    let are_whole_labels = numbers.iter().all(|(_, label, _)| label.fract() == 0.0);
    let are_whole_scores = numbers.iter().all(|(.., score)| score.fract() == 0.0);
    if are_whole_labels != are_whole_scores {
        return None;
    }
    // Adding 0 makes -0 and 0 the same value.
    let all = numbers.iter();
    let all = all.flat_map(|(_, label, score)| [label + 0.0, score + 0.0]);
    let mut all: Vec<f64> = all.collect();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    Some(all.iter().map(f64::to_string).collect())
}

/// Returns a class's position on a scale. A number matches the class with the same value.
pub(super) fn position(
    scale: &[String],
    row: usize,
    class: &Label,
) -> Result<usize, AgreementError> {
    let text = class.to_string();
    let is_class = |name: &String| match class {
        Label::Number(number) => *name == text || name.trim().parse() == Ok(*number),
        _ => name.trim() == text.trim(),
    };
    scale.iter().position(is_class).ok_or_else(|| {
        let scale = scale.join(", ");
        let (scale, value) = (escape::escaped(&scale), escape::name(&text));
        let message = format!("expected a value of the scale {scale}, found `{value}`");
        AgreementError::at(row, message)
    })
}
