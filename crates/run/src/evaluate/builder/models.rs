//! The settings for language models and for results that cost something.

#[cfg(feature = "store")]
use std::path::PathBuf;

#[cfg(feature = "store")]
use serde::Serialize;
#[cfg(feature = "store")]
use serde::de::DeserializeOwned;

use super::evaluate_builder::EvaluateBuilder;
#[cfg(feature = "store")]
use crate::evaluate::row::StoreOptions;
use crate::lm::Ledger;

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Sets how paid results are stored and recorded; see [`ModelSettings`].
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

/// Settings for language models and paid results; see [`EvaluateBuilder::models`].
#[must_use]
pub struct ModelSettings<G, P>(pub(super) EvaluateBuilder<G, P>);

#[cfg(feature = "store")]
impl<G, P> ModelSettings<G, P>
where
    G: Serialize + Send + Sync + 'static,
    P: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// Sets the folder of a [`Store`](crate::lm::Store) that keeps every result that costs something. These are program
    /// outputs, replies from judges' models, and evaluations by metrics that declare a cost. If you run again, even
    /// after the process was interrupted or killed, you pay only for what changed, such as a row, a metric, a prompt or
    /// a model. Free results are recomputed. The result is the same as with an empty store.
    ///
    /// Each result is stored before its row continues. The next run repeats calls that were in progress when the
    /// process died, and calls that failed at no cost. Several processes can share a store. The budget of a
    /// [`Scorer`](crate::Scorer) includes what a killed run paid.
    ///
    /// A program's output depends on its inputs and its [version](Self::program_version). Without a version, the store
    /// cannot know which files, variables and settings the program depends on. It therefore keeps the outputs only
    /// until the run ends. If such a run is interrupted or killed, you can resume it as long as the executable and its
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
    /// Sets the program's version. The next run with the same version reuses this run's stored outputs. The manifest
    /// also records the version.
    pub fn program_version(mut self, version: impl Into<String>) -> Self {
        let version = version.into();
        self.0.options.program_version = Some(version.clone());
        self.0 = self.0.described("program version", version);
        self
    }

    /// Sets whether to ignore stored results. If `true`, the run pays for them again and replaces them.
    pub fn refresh(mut self, refresh: bool) -> Self {
        self.0.options.refresh = refresh;
        self
    }

    setters! {
        /// Sets the ledger that the metrics' language models were built with. At the end of the run, the ledger's
        /// totals are recorded in the [manifest](crate::results::Manifest). Models that were built without this ledger
        /// are not included.
        pub fn ledger(ledger: Ledger) => 0.options.ledger = Some(ledger);
    }
}
