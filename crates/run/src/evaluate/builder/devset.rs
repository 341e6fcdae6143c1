//! The settings of [`EvaluateBuilder`] for a devset of rows with dynamic fields.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::EvaluateBuilder;
use crate::contract::{Example, MetricSpec, Requirement};
use crate::evaluate::input::Devset;
use crate::evaluate::row::MetricEntry;

/// Settings of rows with dynamic fields.
impl<P: Send + Sync + 'static> EvaluateBuilder<Example, P> {
    setters! {
        /// Sets which fields the program receives from rows that do not declare their own with
        /// [`with_inputs`](Example::with_inputs). All other fields are labels, which only the metrics read. Declare
        /// inputs one way or the other: without them, running a program is an error, because it would receive the
        /// expected answer.
        ///
        /// An input that no row of the devset has is also an error, which suggests the most similar name. If a row
        /// lacks an input, the row fails without calling the program. Declare an optional input with `with_inputs` on
        /// the rows that have it.
        ///
        /// ```
        /// use dsrs_metrics::prelude::*;
        /// use dsrs_metrics::Evaluate;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
        /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
        /// let devset = [example! { "question" => "1 + 1?", "answer" => "2" }];
        /// let evaluate = Evaluate::builder().devset(devset).metric(same).build()?;
        /// let copy = |row: Example| async move { prediction! { "answer" => row.get("answer") } };
        ///
        /// let error = evaluate.run(copy).await.unwrap_err().to_string();
        /// assert!(error.starts_with("row 1: the inputs are not declared"));
        ///
        /// let error = evaluate.to_builder().inputs(["quesion"]).run(copy).await.unwrap_err().to_string();
        /// assert_eq!(error, "no row has the input `quesion`; did you mean `question`?");
        ///
        /// let result = evaluate.to_builder().inputs(["question"]).run(copy).await?;
        /// assert_eq!(result.score, Some(0.0));
        /// # Ok(())
        /// # }
        /// ```
        pub fn inputs(fields: impl IntoIterator<Item = impl Into<String>>)
            => inputs = Some(fields.into_iter().map(Into::into).collect());

        /// Reads the rows that a program is run on from a file. The extension selects the format: JSONL, JSON, CSV or
        /// Parquet, if its feature is enabled. A row is `{"id": .., "gold": {..}}`, or has the fields of the example at
        /// its top level. Its id becomes its id in the run, so two runs can be compared; a row without one is
        /// identified by its number. The whole file is read at once. If it cannot be read, [`build`](Self::build)
        /// returns the error with the line.
        ///
        /// ```
        /// use dsrs_metrics::prelude::*;
        /// use dsrs_metrics::Evaluate;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let file = std::env::temp_dir().join(format!("dsrs-metrics-devset-{}.jsonl", std::process::id()));
        /// std::fs::write(&file, r#"{"id": "q1", "question": "1 + 1?", "answer": "2"}"#)?;
        /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
        /// let evaluate = Evaluate::builder().devset_file(&file).inputs(["question"]).metric(same);
        /// let result = evaluate.run(|_: Example| async { prediction! { "answer" => "2" } }).await?;
        /// assert_eq!((&*result.results[0].id, result.score), ("q1", Some(1.0)));
        /// # std::fs::remove_file(file)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn devset_file(path: impl AsRef<Path>) => devset = Devset::read(path.as_ref());
    }
}

impl<P: Send + Sync + 'static> EvaluateBuilder<Example, P> {
    /// Sets the inputs of each devset row: the required ones, and the optional ones that the row has.
    pub(crate) fn inputs_of_rows(mut self, required: &[&str], optional: &[&str]) -> Self {
        self.devset = self.devset.map(|row| {
            let has = |name: &&&str| row.get(name).is_some_and(|value| !value.is_null());
            let names = required.iter().chain(optional.iter().filter(has));
            row.clone().with_inputs(names.copied())
        });
        self
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Reads the devset from a file as rows of your own type.
    pub(crate) fn typed_devset_file(mut self, path: &Path) -> Self
    where
        G: DeserializeOwned,
    {
        self.devset = Devset::read(path).typed();
        self
    }

    /// Keeps a sample of the devset, in its order. The hash of a row's id and the seed decides whether it is included,
    /// so adding rows replaces few others.
    pub(crate) fn sampled(mut self, rows: usize, seed: u64) -> Self {
        self.devset = self.devset.sampled(rows, seed);
        self
    }

    /// Returns the name of a provider's model that a metric calls.
    pub(crate) fn remote_model(&self) -> Option<String> {
        let mut requirements = Vec::new();
        self.metrics
            .iter()
            .for_each(|metric| metric.metric().requirements(&mut requirements));
        let models = requirements.iter().filter_map(Requirement::lm);
        let embedders = requirements.iter().filter_map(Requirement::embedding_model);
        let mut remote = models.filter(|lm| lm.is_remote()).map(|lm| lm.id()).chain(
            embedders
                .filter(|model| model.is_remote())
                .map(|model| model.id()),
        );
        remote.next().map(str::to_owned)
    }

    /// Removes the devset and the metrics that call a model. Also returns the names of these metrics.
    pub(crate) fn without_models(mut self) -> (Self, Vec<String>) {
        let (removed, kept) = self
            .metrics
            .into_iter()
            .partition::<Vec<_>, _>(MetricEntry::calls_model);
        (self.metrics, self.devset) = (kept, Devset::None);
        (self, removed.into_iter().map(|entry| entry.name).collect())
    }

    /// Returns the specs of the metrics.
    pub(crate) fn metric_specs(&self) -> Vec<MetricSpec<'_>> {
        self.metrics
            .iter()
            .map(|entry| entry.metric().spec())
            .collect()
    }
}
