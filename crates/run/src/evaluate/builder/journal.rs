//! The settings of [`EvaluateBuilder`] for a journal.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::EvaluateBuilder;
#[cfg(test)]
use crate::evaluate::journal::WrapFile;
use crate::evaluate::row::JournalOptions;

/// Methods for runs that continue after they were interrupted.
impl<G, P> EvaluateBuilder<G, P>
where
    G: Serialize + Send + Sync + 'static,
    P: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// Records the run in a directory, so that a run that was interrupted, killed or stopped by a full disk continues
    /// when it is started again with the same journal. It ends with the same result and the same result files as a run
    /// without an interruption.
    ///
    /// The journal records the predictions of the program, the paid replies of judges, and the outcomes of the metrics. A record
    /// is written before the row goes on, and synced to the disk together with others, every 0.1 s. Calls that were in
    /// progress when the process died are made again. A metric that scores all rows together is evaluated again, from
    /// the recorded predictions and replies.
    ///
    /// The run must be the same: metrics with their versions, parameters, [files](dsrs_metrics_core::Metric::files) and models, repeats,
    /// failure score, inputs and rows.
    /// Otherwise it ends with [`JournalError::Changed`](crate::JournalError::Changed), which names the differences. The code of the program and of
    /// metrics is not compared: name its version with [`journal_input`](Self::journal_input), and increment `version` of
    /// a metric that changes. Concurrency, timeout and outputs may differ.
    ///
    /// The directory is created if necessary. Only the user can read its file, since records quote rows.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-journal-{}", std::process::id()));
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let devset = (0..100).map(|n| example! { "n" => n, "answer" => n / 2 });
    /// let evaluate = Evaluate::builder().devset(devset).inputs(["n"]).metric(same).journal(&dir).build()?;
    ///
    /// // The first run fails on its way. The second one calls the program for the other rows only.
    /// let stop = evaluate.to_builder().concurrency(1).stop_when(async {}).build()?;
    /// stop.run(|_: Example| async { prediction! { "answer" => 0 } }).await?;
    /// let result = evaluate.run(|_: Example| async { prediction! { "answer" => 0 } }).await?;
    /// assert_eq!(result.rows, 100);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub fn journal(mut self, dir: impl Into<PathBuf>) -> Self {
        self.options.journal = Some(JournalOptions::new(dir.into()));
        self
    }
}

/// Settings of a [`journal`](EvaluateBuilder::journal). They have no effect without one.
impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Adds the version of something that the result depends on and that the library cannot see: the program, a
    /// prompt file, a data file. A run with another version does not continue the journal.
    pub fn journal_input(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.options.journal_settings.inputs.insert(name.into(), version.into());
        self
    }

    /// Adds a setting that the outcomes of rows depend on, to the identity of the journal and to the manifest.
    pub(crate) fn setting(self, name: &str, value: String) -> Self {
        self.journal_input(name, &*value).described(name, value)
    }

    /// Adds a setting to the manifest alone, since the outcomes of rows do not depend on it.
    pub(crate) fn described(mut self, name: &str, value: String) -> Self {
        self.options.description.settings.insert(name.to_owned(), value);
        self
    }

    /// Sets whether calls that failed in an earlier run are made again: programs and metrics that returned
    /// an error, panicked or timed out, such as during an outage of a provider. By default a failure is restored like
    /// any other outcome. The replies that a judge received on such a row are paid for again.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// static IS_UP: AtomicBool = AtomicBool::new(false);
    ///
    /// async fn program(_: Example) -> Result<Prediction, &'static str> {
    ///     IS_UP.load(Ordering::SeqCst).then(|| prediction! { "answer" => 4 }).ok_or("the provider is down")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-retry-{}", std::process::id()));
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let devset = [example! { "question" => "2 + 2?", "answer" => 4 }];
    /// let evaluate = Evaluate::builder().devset(devset).inputs(["question"]).metric(same).journal(&dir);
    /// let evaluate = evaluate.retry_failed(true).build()?;
    /// assert_eq!(evaluate.run(program).await?.failed_rows, 1);
    /// IS_UP.store(true, Ordering::SeqCst);
    /// assert_eq!(evaluate.run(program).await?.failed_rows, 0);
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub fn retry_failed(mut self, retry: bool) -> Self {
        self.options.journal_settings.retry_failed = retry;
        self
    }
}

#[cfg(test)]
impl<G, P> EvaluateBuilder<G, P> {
    /// Replaces the file operations of the journal.
    pub(crate) fn journal_file(mut self, wrap: WrapFile) -> Self {
        if let Some(journal) = &mut self.options.journal {
            journal.wrap = Some(wrap);
        }
        self
    }
}
