//! [`AgreementBuilder`]: the settings of a comparison, and its entry points: the agreement, and how close each rating is to its label.

use super::compare::Pairs;
use super::labelled::LabelSample;
use super::rating::{AgreementError, Label, Rating};
use super::statistics::Agreement;
use crate::stats::{Bootstrap, ErrorRates};

/// The maximum number of draws for an interval: 2,000 samples of 10,000 rows.
const MAX_DRAWS: usize = 20_000_000;
const MIN_RESAMPLES: usize = 200;

/// Builds a comparison of ratings with labels. Returned by [`Agreement::builder`].
#[derive(Debug, Clone, Default)]
pub struct AgreementBuilder {
    pub(super) resamples: Option<u32>,
    pub(super) threshold: Option<f64>,
    pub(super) lower_is_better: bool,
    pub(super) positive: Vec<String>,
    pub(super) scale: Vec<String>,
    pub(super) seed: u64,
    pub(super) label_sample: LabelSample,
    pub(super) error_rates: Option<ErrorRates>,
}

impl Agreement {
    /// Compares each row's rating (a metric's result) with its label (the correct result). Ratings and labels can be
    /// `Option`s.
    ///
    /// # Errors
    /// Returns an [`AgreementError`] if a number is not finite, or if values cannot be compared.
    pub fn of<R: Into<Rating>, L: Into<Label>>(
        pairs: impl IntoIterator<Item = (R, L)>,
    ) -> Result<Self, AgreementError> {
        Self::builder().of(pairs)
    }

    /// Returns a builder for setting a threshold, the passing labels or a scale.
    pub fn builder() -> AgreementBuilder {
        AgreementBuilder::default()
    }
}

impl AgreementBuilder {
    setters! {
        /// Sets the threshold. A score at or above it passes, regardless of the metric's own verdict.
        pub fn threshold(threshold: f64) => threshold = Some(threshold);

        /// Sets whether lower scores are better. If `true`, a score passes at or below the threshold. The default is
        /// `false`.
        pub fn lower_is_better(lower_is_better: bool) => lower_is_better = lower_is_better;

        /// Sets the labels that mean a pass; all others mean a failure.
        pub fn positive(labels: impl IntoIterator<Item = impl Into<String>>)
            => positive = labels.into_iter().map(Into::into).collect();

        /// Sets the complete list of classes, in ascending order. By default, the classes are the numbers that occur in
        /// the data.
        pub fn scale(classes: impl IntoIterator<Item = impl Into<String>>)
            => scale = classes.into_iter().map(Into::into).collect();

        /// Sets how the labelled rows were chosen. By default, this is unknown. If you declare a random sample but the
        /// verdicts contradict this, the verdicts take precedence.
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

        /// Sets error rates that were measured on other rows. [`corrected`](Agreement::corrected) is then computed from
        /// these rates and the verdicts instead of from the labels.
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

        /// Sets the seed of the bootstrap. The default is 0.
        pub fn seed(seed: u64) => seed = seed;

        /// Sets how many samples the bootstrap draws. With 0, Spearman's correlation has no interval. The default is
        /// 2,000. With more than 10,000 rows, it decreases to as few as 200.
        pub fn resamples(resamples: u32) => resamples = Some(resamples);
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
    /// Returns an [`AgreementError`] if a number is not finite, or if values cannot be compared.
    pub fn of<R: Into<Rating>, L: Into<Label>>(
        &self,
        pairs: impl IntoIterator<Item = (R, L)>,
    ) -> Result<Agreement, AgreementError> {
        let rows: Vec<(Rating, Label)> = pairs
            .into_iter()
            .map(|(rating, label)| (rating.into(), label.into()))
            .collect();
        let compared = Pairs::of(&rows, self)?.compare()?;
        let resamples = self.resamples;
        let bootstrap = Bootstrap {
            resamples: resamples.unwrap_or_else(|| default_resamples(rows.len())),
            seed: self.seed,
        };
        Ok(Agreement::new(&rows, compared, self, bootstrap))
    }
}

/// Returns the number of samples for this many rows: fewer for more rows, so the bootstrap stays fast.
fn default_resamples(rows: usize) -> u32 {
    let most = Bootstrap::default().resamples;
    let affordable = (MAX_DRAWS / rows.max(1)).max(MIN_RESAMPLES);
    u32::try_from(affordable).map_or(most, |resamples| resamples.min(most))
}

/// Lists how close each rating is to its label, with `None` for a row without a rating or label.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub enum Closeness {
    /// For labels that are verdicts: `true` if the rating's verdict matches the label.
    Right(Vec<Option<bool>>),
    /// For labels that are numbers: the absolute difference between score and label.
    Difference(Vec<Option<f64>>),
    /// The labels are verdicts, but a score has no verdict.
    NoVerdict,
}

impl AgreementBuilder {
    /// Returns how close each rating is to its label. Verdicts are determined as in [`of`](Self::of).
    ///
    /// # Errors
    /// Returns an [`AgreementError`] if a number is not finite, or if values cannot be compared.
    #[doc(hidden)]
    pub fn closeness(&self, rows: &[(Rating, Label)]) -> Result<Closeness, AgreementError> {
        let pairs = Pairs::of(rows, self)?;
        if let Some(passing) = pairs.passing.as_ref().filter(|_| pairs.have_verdicts()) {
            let is_right = |(rating, label): &(Rating, Label)| {
                Some(pairs.verdict(rating)? == passing.label(label)?)
            };
            return Ok(Closeness::Right(rows.iter().map(is_right).collect()));
        }
        if rows
            .iter()
            .any(|(_, label)| matches!(label, Label::Bool(_) | Label::Class(_)))
        {
            return Ok(Closeness::NoVerdict);
        }
        let difference = |(rating, label): &(Rating, Label)| match label {
            Label::Number(label) => Some((rating.score()? - label).abs()),
            _ => None,
        };
        Ok(Closeness::Difference(rows.iter().map(difference).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::Agreement;

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
        let right = Closeness::Right(vec![Some(true), Some(false), None, None]);
        assert_eq!(builder.closeness(&rows).unwrap(), right);
        let grades = [
            (Rating::Score(3.5), Label::Number(5.0)),
            (Rating::Score(2.0), Label::Number(2.0)),
        ];
        let differences = Closeness::Difference(vec![Some(1.5), Some(0.0)]);
        assert_eq!(builder.closeness(&grades).unwrap(), differences);
        let scores = [
            (Rating::Score(0.7), Label::Bool(true)),
            (Rating::Score(0.2), Label::Bool(true)),
        ];
        assert_eq!(builder.closeness(&scores).unwrap(), Closeness::NoVerdict);
        let passes = Closeness::Right(vec![Some(true), Some(false)]);
        assert_eq!(
            builder.clone().threshold(0.5).closeness(&scores).unwrap(),
            passes
        );
    }
}
