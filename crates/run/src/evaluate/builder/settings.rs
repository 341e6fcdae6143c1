//! The settings for language models, for results that cost something, and for groups, standard errors and intervals.

#[cfg(feature = "store")]
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "store")]
use serde::Serialize;
#[cfg(feature = "store")]
use serde::de::DeserializeOwned;

use super::evaluate_builder::EvaluateBuilder;
use crate::contract::{Example, Prediction};
use crate::evaluate::row::RowResult;
#[cfg(feature = "store")]
use crate::evaluate::row::StoreOptions;
use crate::evaluate::summary::value_at;
use crate::lm::Ledger;

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Sets how results that cost money are stored and recorded.
    ///
    /// See [`ModelSettings`].
    ///
    /// ```
    /// use dsrs_metrics::{Evaluate, lm::Ledger, metrics};
    ///
    /// let ledger = Ledger::default();
    /// let evaluate = Evaluate::builder()
    ///     .metric(metrics::Em::default())
    ///     .models(|models| models.ledger(ledger.clone()).program_version("1"));
    /// ```
    pub fn models(self, set: impl FnOnce(ModelSettings<G, P>) -> ModelSettings<G, P>) -> Self {
        set(ModelSettings(self)).0
    }
}

/// Settings for language models and paid results.
///
/// See [`EvaluateBuilder::models`].
#[must_use]
pub struct ModelSettings<G, P>(pub(super) EvaluateBuilder<G, P>);

#[cfg(feature = "store")]
impl<G, P> ModelSettings<G, P>
where
    G: Serialize + Send + Sync + 'static,
    P: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// Sets the folder of the [`Store`](crate::lm::Store) for results that cost money.
    ///
    /// Results that cost money are program outputs, replies from judges' models, and evaluations by metrics that
    /// declare a cost.
    ///
    /// If you run again, you pay only for what changed, such as a row, a metric, a prompt or a model. This is true even
    /// if the process was interrupted or killed.
    ///
    /// Results that cost nothing are recomputed. The scores are the same as with an empty store.
    ///
    /// Each result is stored before the evaluation of its row continues. The next run repeats calls that were in
    /// progress when the process died. It also repeats calls that failed at no cost.
    ///
    /// Several processes can share a store.
    ///
    /// Amounts that a killed run paid count towards the budget of a [`Scorer`](crate::Scorer).
    ///
    /// The store identifies a program's output by the program's inputs and [version](Self::program_version). Without a
    /// version, it cannot know which files, variables and settings the program depends on, so it keeps the outputs only
    /// until the run ends.
    ///
    /// If a run without a version is interrupted or killed, you can resume it as long as the executable and its
    /// arguments are the same.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-run-store-{}", std::process::id()));
    /// static CALLS: AtomicU32 = AtomicU32::new(0);
    /// async fn program(_: Example) -> Prediction {
    ///     CALLS.fetch_add(1, Ordering::SeqCst);
    ///     prediction! { "answer" => 0 }
    /// }
    ///
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let run = Evaluate::builder()
    ///     .inputs("n")
    ///     .metric(same)
    ///     .models(|models| models.store(&dir).program_version("1"));
    /// let rows = |rows| (0..rows).map(|n| example! { "n" => n, "answer" => n / 2 });
    /// run.clone().devset(rows(100)).build()?.run(program).await?;
    /// let result = run.devset(rows(103)).build()?.run(program).await?;
    /// assert_eq!((result.rows, CALLS.load(Ordering::SeqCst)), (103, 103));
    /// assert_eq!(result.store.map(|it| (it.rows_as_before, it.paid)), Some((100, 3)));
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(mut self, dir: impl Into<PathBuf>) -> Self {
        self.0.options.store = Some(StoreOptions::new(dir.into()));
        self
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> ModelSettings<G, P> {
    /// Sets the program's version.
    ///
    /// The next run with the same version reuses this run's stored outputs. The manifest also records the version.
    pub fn program_version(mut self, version: impl Into<String>) -> Self {
        let version = version.into();
        self.0.options.program_version = Some(version.clone());
        self.0 = self.0.described("program version", version);
        self
    }

    setters! {
        /// Sets whether to ignore the results in the store.
        ///
        /// If `true`, the run pays for these results again and replaces them in the store.
        pub fn refresh(refresh: bool) => 0.options.refresh = refresh;

        /// Sets the ledger that records calls to the metrics' language models.
        ///
        /// Build the models with the same ledger. Calls to models built without it are not recorded.
        ///
        /// At the end of the run, the ledger's totals are recorded in the [manifest](crate::results::Manifest).
        pub fn ledger(ledger: Ledger) => 0.options.ledger = Some(ledger);
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Sets how groups, standard errors and intervals are computed.
    ///
    /// See [`StatisticsSettings`].
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

/// Settings for groups, standard errors and intervals.
///
/// See [`EvaluateBuilder::statistics`].
#[must_use]
pub struct StatisticsSettings<G, P>(pub(super) EvaluateBuilder<G, P>);

impl StatisticsSettings<Example, Prediction> {
    /// Sets the field to group rows by.
    ///
    /// The field is `gold.FIELD`, `pred.FIELD`, or the name of an attribute. Use dots for fields of nested objects. See
    /// [`group_by`](Self::group_by).
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
    /// Sets a function that returns the group of a row.
    ///
    /// For example, the group can be the document that a question is about. The intervals then account for the
    /// similarity of rows within a group.
    ///
    /// If the function returns `None`, the row forms its own group.
    ///
    /// The standard errors are cluster-robust. See [`Clusters`](crate::stats::Clusters).
    ///
    /// Each group takes about 50 bytes of memory per metric, plus its name.
    pub fn group_by(
        mut self,
        group: impl Fn(&RowResult<G, P>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.0.options.group = Some(Arc::new(group));
        self.0.options.run.group = None;
        self
    }

    /// Sets the grouping function like [`group_by`](Self::group_by), and the name of the field for the manifest.
    pub(crate) fn named_group(
        self,
        field: &str,
        group: impl Fn(&RowResult<G, P>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let mut settings = self.group_by(group);
        settings.0.options.run.group = Some(field.to_owned());
        settings
    }

    setters! {
        /// Computes BCa bootstrap intervals from this many samples of the rows.
        ///
        /// These intervals replace the Wilson and Student's t intervals. See
        /// [`Bootstrap::mean`](crate::stats::Bootstrap::mean).
        ///
        /// The bootstrap takes 24 bytes of memory per row and metric.
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
        pub fn bootstrap(samples: u32) => 0.options.run.bootstrap = Some(samples);

        /// Sets the seed for random numbers, for example in the bootstrap.
        ///
        /// The default is 0. The same rows and seed give the same result at any concurrency.
        pub fn seed(seed: u64) => 0.options.run.seed = seed;
    }
}
