//! The settings for groups, standard errors and intervals.

use std::sync::Arc;

use super::evaluate_builder::EvaluateBuilder;
use crate::contract::{Example, Prediction};
use crate::evaluate::row::RowResult;
use crate::evaluate::summary::value_at;

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Sets how groups, standard errors and intervals are computed; see [`StatisticsSettings`].
    ///
    /// ```
    /// use dsrs_metrics::{Evaluate, metrics};
    ///
    /// let evaluate = Evaluate::builder()
    ///     .metric(metrics::Em::default())
    ///     .statistics(|statistics| statistics.group("gold.topic").bootstrap(1_000).seed(7));
    /// ```
    pub fn statistics(
        self,
        set: impl FnOnce(StatisticsSettings<G, P>) -> StatisticsSettings<G, P>,
    ) -> Self {
        set(StatisticsSettings(self)).0
    }
}

/// Settings for groups, standard errors and intervals; see [`EvaluateBuilder::statistics`].
#[must_use]
pub struct StatisticsSettings<G, P>(pub(super) EvaluateBuilder<G, P>);

impl StatisticsSettings<Example, Prediction> {
    /// Sets the field that defines a row's group: `gold.FIELD`, `pred.FIELD`, or the name of an attribute. Use dots for
    /// fields of nested objects. See [`group_by`](Self::group_by).
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::{Evaluate, rows::Pair};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// // Two questions about each of 50 documents, with the same answer.
    /// let row = |n: u32| {
    ///     let gold = example! { "document" => n / 2, "answer" => "yes" };
    ///     Pair::new(n.to_string(), gold, prediction! { "answer" => if n / 2 % 3 == 0 { "no" } else { "yes" } })
    /// };
    /// let evaluate = Evaluate::builder().metric(same).statistics(|statistics| statistics.group("gold.document")).build()?;
    /// let result = evaluate.score((0..100).map(row)).await?;
    /// assert_eq!(result.to_string(), "same  66.00% [51.73, 77.86; 50 groups] (66/100, 0 failed)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn group(self, field: impl Into<String>) -> Self {
        let field = field.into();
        let path = field.clone();
        self.named_group(&field, move |row| value_at(row, &path))
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> StatisticsSettings<G, P> {
    /// Sets a function that returns the group of a row, such as the document that a question is about. The intervals
    /// then account for the similarity of rows within a group. If the function returns `None`, the row forms its own
    /// group.
    ///
    /// The standard errors are cluster-robust; see [`Clusters`](crate::stats::Clusters). Each group takes about 50
    /// bytes of memory per metric, plus its name.
    pub fn group_by(
        mut self,
        group: impl Fn(&RowResult<G, P>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.0.options.group = Some(Arc::new(group));
        self.0.options.group_field = None;
        self
    }

    /// Like [`group_by`](Self::group_by), with the name of the field for the manifest.
    pub(crate) fn named_group(
        self,
        field: &str,
        group: impl Fn(&RowResult<G, P>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let mut settings = self.group_by(group);
        settings.0.options.group_field = Some(field.to_owned());
        settings
    }

    setters! {
        /// Computes BCa bootstrap intervals from this many samples of the rows, instead of Wilson and Student's t
        /// intervals; see [`Bootstrap::mean`](crate::stats::Bootstrap::mean). The bootstrap takes 24 bytes of memory
        /// per row and metric.
        ///
        /// ```
        /// use dsrs_metrics::prelude::*;
        /// use dsrs_metrics::{Evaluate, rows::Pair};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
        /// let tokens = metric_fn("answer_tokens", |_, pred| pred.get("tokens").and_then(|it| it.as_f64()).unwrap_or(0.0));
        /// let row = |n: u32| Pair::new(n.to_string(), example! {}, prediction! { "tokens" => n * n });
        /// let evaluate = Evaluate::builder().metric(tokens).statistics(|statistics| statistics.bootstrap(5_000).seed(7)).build()?;
        /// let result = evaluate.score((0..40).map(row)).await?;
        /// assert_eq!(result.to_string(), "answer_tokens  513.5000 [383.8581, 670.1878] (mean of 40/40, 0 failed)");
        /// # Ok(())
        /// # }
        /// ```
        pub fn bootstrap(samples: u32) => 0.options.bootstrap = Some(samples);

        /// Sets the seed for random numbers, such as those that the bootstrap draws; the default is 0. The same rows
        /// and seed give the same result at any concurrency.
        pub fn seed(seed: u64) => 0.options.seed = seed;
    }
}
