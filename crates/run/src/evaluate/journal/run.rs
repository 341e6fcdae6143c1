//! The journal of a run: which rows it applies to, and how predictions are stored and restored.
//!
//! The file and its records are in the other files of this folder.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::{
    Journal, JournalError, JournalRow, ProgramFailure, RunIdentity, StoredPrediction,
    StoredProgram, WrapFile,
};
use crate::core::metric::identity::MetricIdentity;
use crate::core::program_run::ProgramRun;
use crate::core::rows::dynamic::Prediction;
use crate::core::rows::inputs::declared_by;
use crate::evaluate::builder::EvaluateBuilder;
use crate::evaluate::error::EvaluateError;
use crate::evaluate::metric_entry::MetricEntry;
use crate::evaluate::preflight::Preflight;
use crate::evaluate::result::JournalUse;
use crate::evaluate::row::Plan;
use crate::evaluate::row_result::RowResult;
use crate::evaluate::stop::Stop;
use crate::lm::recording::{self, SpendingRecorder};
use crate::messages::hash::hexadecimal;

/// The journal of a run, as it is configured.
pub(in crate::evaluate) struct JournalOptions<G, P> {
    dir: PathBuf,
    codec: Codec<G, P>,
    wrap: Option<WrapFile>,
}

impl<G, P> Clone for JournalOptions<G, P> {
    fn clone(&self) -> Self {
        Self { dir: self.dir.clone(), codec: self.codec, wrap: self.wrap.clone() }
    }
}

/// How rows are compared, and how predictions are stored.
struct Codec<G, P> {
    fingerprint: fn(&RowResult<G, P>, &[P]) -> String,
    encode: fn(&P) -> serde_json::Result<StoredPrediction>,
    decode: fn(StoredPrediction) -> serde_json::Result<P>,
}

impl<G, P> Clone for Codec<G, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G, P> Copy for Codec<G, P> {}

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
    /// Recorded are what the program returns, the replies that judges pay for, and the outcomes of the metrics. A record
    /// is written before the row goes on, and synced to the disk together with others, every 0.1 s. What was in
    /// progress when the process died is done again. A metric that scores all rows together is evaluated again, from
    /// the recorded predictions and replies.
    ///
    /// The run must be the same: metrics with their versions, parameters, [files](dsrs_metrics_core::Metric::files) and models, repeats,
    /// failure score, inputs and rows.
    /// Otherwise it ends with [`JournalError::Changed`], which names the differences. The code of the program and of
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
    /// # async fn main() -> Result<(), dsrs_metrics::EvaluateError> {
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
        let codec =
            Codec { fingerprint: fingerprint::<G, P>, encode: encode::<P>, decode: decode::<P> };
        self.options.journal = Some(JournalOptions { dir: dir.into(), codec, wrap: None });
        self
    }
}

/// Settings of a [`journal`](EvaluateBuilder::journal). They have no effect without one.
impl<G: Send + Sync + 'static, P: Send + Sync + 'static> EvaluateBuilder<G, P> {
    /// Names something that the result depends on and that the library cannot see, with its version: the program, a
    /// prompt file, a data file. A run with another version does not continue the journal.
    pub fn journal_input(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.options.journal_settings.inputs.insert(name.into(), version.into());
        self
    }

    /// Sets whether what failed in the run that the journal continues is done again: programs and metrics that returned
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
    /// # async fn main() -> Result<(), dsrs_metrics::EvaluateError> {
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

/// The settings of a journal that do not depend on the types of the rows.
#[derive(Debug, Clone, Default)]
pub(in crate::evaluate) struct JournalSettings {
    inputs: BTreeMap<String, String>,
    retry_failed: bool,
}

#[cfg(test)]
impl<G, P> EvaluateBuilder<G, P> {
    /// Replaces the file operations of the journal.
    pub(in crate::evaluate) fn journal_file(mut self, wrap: WrapFile) -> Self {
        if let Some(journal) = &mut self.options.journal {
            journal.wrap = Some(wrap);
        }
        self
    }
}

/// Returns the hash of what a row contains before it is evaluated.
fn fingerprint<G: Serialize + 'static, P: Serialize>(
    row: &RowResult<G, P>,
    rollouts: &[P],
) -> String {
    let mut hash = Sha256::new();
    hash.update(row.id.len().to_le_bytes());
    hash.update(row.id.as_bytes());
    let parts = [
        serde_json::to_vec(&*row.gold),
        serde_json::to_vec(&row.pred),
        serde_json::to_vec(&row.attributes),
    ];
    for part in parts.into_iter().chain(rollouts.iter().map(serde_json::to_vec)) {
        // A row that is not JSON is compared by the reason.
        let part = part.unwrap_or_else(|error| error.to_string().into_bytes());
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    // The prediction depends on what the program received.
    for input in declared_by(&*row.gold).into_iter().flatten() {
        hash.update(input.len().to_le_bytes());
        hash.update(input);
    }
    hexadecimal(&hash.finalize()[..16])
}

/// The open journal of a run.
pub(in crate::evaluate) struct RunJournal<G, P> {
    journal: Arc<Journal>,
    codec: Codec<G, P>,
    retry_failed: bool,
    restored_rows: AtomicU64,
    /// The check before the first call that is not recorded.
    preflight: Preflight,
    /// The positions of the metrics that it concerns.
    required: Vec<usize>,
}

impl<G: Send + Sync, P: Send + Sync> RunJournal<G, P> {
    pub(in crate::evaluate) fn open(
        options: &JournalOptions<G, P>,
        settings: &JournalSettings,
        plan: &Plan<'_, G, P>,
        (preflight, stop): (Preflight, &Stop),
    ) -> Result<Self, EvaluateError> {
        let metrics = plan.metrics.iter();
        let identity_of = |metric: &MetricEntry<'_, G, P>| {
            let identity = MetricIdentity::with_readable_files(metric.metric());
            let identity = identity.map_err(|reason| JournalError::Unreadable {
                metric: metric.name.clone(),
                reason,
            })?;
            Ok::<_, JournalError>((metric.name.clone(), identity))
        };
        let identity = RunIdentity {
            order: metrics.clone().map(|metric| metric.name.clone()).collect(),
            metrics: metrics.map(identity_of).collect::<Result<_, _>>()?,
            repeats: plan.options.repeats,
            failure_score: plan.options.failure_score,
            program_inputs: plan.inputs.as_deref().map(<[String]>::to_vec),
            inputs: settings.inputs.clone(),
        };
        let is_stopped = || stop.is_set();
        let journal = Journal::open(&options.dir, &identity, options.wrap.as_ref(), &is_stopped)?;
        if let Some(gate) = &plan.gate {
            gate.add_journaled(journal.scan.gate_msats());
        }
        let metrics = plan.metrics.iter().enumerate();
        Ok(Self {
            journal: Arc::new(journal),
            codec: options.codec,
            retry_failed: settings.retry_failed,
            restored_rows: AtomicU64::new(0),
            preflight,
            required: metrics.filter(|(_, it)| it.has_requirements()).map(|(at, _)| at).collect(),
        })
    }

    /// Returns a row that has not been evaluated, with its predictions if they are given and several.
    pub(in crate::evaluate) fn row(
        &self,
        index: u64,
        row: &RowResult<G, P>,
        rollouts: Option<&[P]>,
    ) -> RowToJournal<'_, G, P> {
        let fingerprint = (self.codec.fingerprint)(row, rollouts.unwrap_or_default());
        let has_program = row.pred.is_none() && rollouts.is_none();
        RowToJournal { journal: self, index, fingerprint, has_program }
    }

    /// Returns why the journal can no longer be written, if that is so.
    pub(in crate::evaluate) fn error(&self) -> Option<JournalError> {
        self.journal.error()
    }

    /// Counts a row that earlier runs had recorded completely.
    pub(in crate::evaluate) fn count_restored(&self) {
        self.restored_rows.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::evaluate) fn usage(&self) -> JournalUse {
        let restored_rows = self.restored_rows.load(Ordering::Relaxed);
        JournalUse {
            restored_rows,
            damaged_records: self.journal.scan.damaged,
            unsettled_msats: self.journal.scan.unsettled_msats(),
        }
    }

    /// Syncs all records, after a run over this many rows that was not stopped, or after a stopped one.
    pub(in crate::evaluate) fn finish(&self, all_rows: Option<u64>) -> Result<(), JournalError> {
        self.journal.finish()?;
        let journaled = self.journal.scan.rows();
        match all_rows.filter(|rows| *rows < journaled) {
            None => Ok(()),
            Some(rows) => {
                let change = format!("the data has {rows} rows, and the journal {journaled}");
                Err(JournalError::changed(&self.journal.dir, change))
            }
        }
    }
}

/// A row of a run with a journal.
pub(in crate::evaluate) struct RowToJournal<'a, G, P> {
    journal: &'a RunJournal<G, P>,
    index: u64,
    fingerprint: String,
    /// Whether a program makes the prediction.
    has_program: bool,
}

impl<G: Send + Sync, P: Send + Sync> RowToJournal<'_, G, P> {
    /// Returns one evaluation of the row, with what is recorded of it. If that is not everything, the preflight check has
    /// succeeded.
    pub(in crate::evaluate) async fn repeat(
        &self,
        number: u32,
    ) -> Result<JournaledRow<G, P>, EvaluateError> {
        let RunJournal { journal, codec, retry_failed, preflight, required, .. } = self.journal;
        let row = journal.row(self.index, number, &self.fingerprint, *retry_failed)?;
        if !row.is_complete(self.has_program, required) {
            recording::spending_scope(Arc::clone(journal) as _, preflight.check()).await?;
        }
        Ok(JournaledRow { row, codec: *codec })
    }
}

/// One evaluation of a row.
pub(in crate::evaluate) struct JournaledRow<G, P> {
    pub(in crate::evaluate) row: Arc<JournalRow>,
    codec: Codec<G, P>,
}

/// What a program returned, or why it returned no prediction.
pub(in crate::evaluate) type Predicted<P> = Result<(P, ProgramRun), ProgramFailure>;

impl<G, P> JournaledRow<G, P> {
    /// Evaluates the row, and records replies and spending.
    pub(in crate::evaluate) async fn scope<T>(&self, evaluated: impl Future<Output = T>) -> T {
        let row = Arc::clone(&self.row);
        let spending: Arc<dyn SpendingRecorder> = row.journal();
        recording::spending_scope(spending, recording::scope(row, evaluated)).await
    }

    /// Returns what the program returned in an earlier run. A prediction that cannot be restored, such as one with NaN
    /// in a typed field, is predicted again.
    pub(in crate::evaluate) fn predicted(&self) -> Option<Predicted<P>> {
        match self.row.take_program()? {
            StoredProgram::Failed(failure) => Some(Err(failure)),
            StoredProgram::Returned { prediction, run } => {
                Some(Ok(((self.codec.decode)(prediction).ok()?, run)))
            }
        }
    }

    /// Records what the program returned.
    pub(in crate::evaluate) fn record(&self, predicted: &Predicted<P>) {
        let stored = match predicted {
            Err(failure) => StoredProgram::Failed(failure.clone()),
            Ok((prediction, run)) => match (self.codec.encode)(prediction) {
                Ok(prediction) => StoredProgram::Returned { prediction, run: run.clone() },
                // It is predicted again.
                Err(_) => return,
            },
        };
        self.row.record_program(stored);
    }
}

fn encode<P: Serialize + 'static>(prediction: &P) -> serde_json::Result<StoredPrediction> {
    let dynamic = (prediction as &dyn Any).downcast_ref::<Prediction>();
    Ok(StoredPrediction {
        is_textual: dynamic.is_some_and(|prediction| prediction.data.textual),
        value: serde_json::to_value(prediction)?,
    })
}

fn decode<P: DeserializeOwned + 'static>(stored: StoredPrediction) -> serde_json::Result<P> {
    let mut prediction: P = serde_json::from_value(stored.value)?;
    if let Some(dynamic) = (&mut prediction as &mut dyn Any).downcast_mut::<Prediction>() {
        dynamic.data.textual = stored.is_textual;
    }
    Ok(prediction)
}
