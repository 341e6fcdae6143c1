//! The journal of a run: which rows it applies to, and how predictions are stored and restored.
//!
//! The file and its records are in `evaluate/journal/`.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::metric_entry::MetricEntry;
use super::plan::Plan;
use super::preflight::Preflight;
use super::row_result::RowResult;
use super::row_scores::joined;
use crate::core::metric::call::MetricCall;
use crate::core::metric::identity::MetricIdentity;
use crate::core::program_run::ProgramRun;
use crate::core::rows::dynamic::Prediction;
use crate::core::rows::inputs::declared_by;
use crate::core::rows::named_values::Fields;
use crate::core::rows::pair::Pair;
use crate::core::score::outcome::Outcome;
use crate::evaluate::error::EvaluateError;
use crate::evaluate::input::Stop;
use crate::evaluate::journal::{
    Journal, JournalError, JournalRow, JournalUse, ProgramFailure, RunIdentity, StoredPrediction,
    StoredProgram, StoredScores, WrapFile,
};
use crate::lm::recording::{self, SpendingRecorder};
use crate::messages::hash::hexadecimal;

/// The journal of a run, as it is configured.
pub(crate) struct JournalOptions<G, P> {
    dir: PathBuf,
    codec: Codec<G, P>,
    /// Replaces the file operations, in tests.
    pub(crate) wrap: Option<WrapFile>,
}

impl<G, P> JournalOptions<G, P>
where
    G: Serialize + 'static,
    P: Serialize + DeserializeOwned + 'static,
{
    pub(crate) fn new(dir: PathBuf) -> Self {
        let codec =
            Codec { fingerprint: fingerprint::<G, P>, encode: encode::<P>, decode: decode::<P> };
        Self { dir, codec, wrap: None }
    }
}

impl<G, P> Clone for JournalOptions<G, P> {
    fn clone(&self) -> Self {
        Self { dir: self.dir.clone(), codec: self.codec, wrap: self.wrap.clone() }
    }
}

/// How rows are compared, and how predictions are stored.
struct Codec<G, P> {
    fingerprint: fn(&Content<'_, G, P>) -> String,
    encode: fn(&P) -> serde_json::Result<StoredPrediction>,
    decode: fn(StoredPrediction) -> serde_json::Result<P>,
}

impl<G, P> Clone for Codec<G, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G, P> Copy for Codec<G, P> {}

/// The settings of a journal that do not depend on the types of the rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct JournalSettings {
    pub(crate) inputs: BTreeMap<String, String>,
    pub(crate) retry_failed: bool,
}

/// The content of a row before it is evaluated: its id, both sides, and all other fields.
struct Content<'a, G, P> {
    id: &'a str,
    gold: &'a G,
    pred: Option<&'a P>,
    attributes: &'a Fields,
    /// The predictions, if they are given and several.
    rollouts: &'a [P],
}

/// Returns the hash of the content of a row.
fn fingerprint<G: Serialize + 'static, P: Serialize>(row: &Content<'_, G, P>) -> String {
    let mut hash = Sha256::new();
    hash.update(row.id.len().to_le_bytes());
    hash.update(row.id.as_bytes());
    let mut json = Vec::new();
    add_json(&mut hash, row.gold, &mut json);
    add_json(&mut hash, &row.pred, &mut json);
    add_json(&mut hash, row.attributes, &mut json);
    row.rollouts.iter().for_each(|rollout| add_json(&mut hash, rollout, &mut json));
    // The prediction depends on the inputs that the program received.
    for input in declared_by(row.gold).into_iter().flatten() {
        hash.update(input.len().to_le_bytes());
        hash.update(input);
    }
    hexadecimal(&hash.finalize()[..16])
}

fn add_json(hash: &mut Sha256, part: &impl Serialize, json: &mut Vec<u8>) {
    json.clear();
    if let Err(error) = serde_json::to_writer(&mut *json, part) {
        // A row that is not JSON is compared by the reason.
        *json = error.to_string().into_bytes();
    }
    hash.update(json.len().to_le_bytes());
    hash.update(json);
}

/// The open journal of a run.
pub(crate) struct RunJournal<G, P> {
    journal: Arc<Journal>,
    codec: Codec<G, P>,
    retry_failed: bool,
    restored_rows: AtomicU64,
    /// The check before the first call that is not recorded.
    preflight: Preflight,
    /// The positions of the metrics that have requirements.
    required: Vec<usize>,
}

impl<G: Send + Sync, P: Send + Sync> RunJournal<G, P> {
    pub(crate) fn open(
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
            gate.add_journaled(journal.gate_msats());
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
    pub(crate) fn row(
        &self,
        index: u64,
        row: &RowResult<G, P>,
        rollouts: Option<&[P]>,
    ) -> RowToJournal<'_, G, P> {
        let RowResult { id, gold, pred, attributes, .. } = row;
        let has_program = pred.is_none() && rollouts.is_none();
        let rollouts = rollouts.unwrap_or_default();
        let content = Content { id, gold: &**gold, pred: pred.as_ref(), attributes, rollouts };
        let fingerprint = (self.codec.fingerprint)(&content);
        RowToJournal { journal: self, index, fingerprint, has_program }
    }

    /// Returns a row with a given prediction, which needs no preflight check.
    pub(crate) fn given_row(
        &self,
        plan: &Plan<'_, G, P>,
        index: u64,
        row: &Pair<G, P>,
    ) -> Result<GivenRow<'_, G, P>, EvaluateError> {
        let Pair { id, gold, pred, attributes, .. } = row;
        let content = Content { id, gold, pred: Some(pred), attributes, rollouts: &[] };
        let (journal, retry_failed) = (Arc::clone(&self.journal), self.retry_failed);
        let fingerprint = (self.codec.fingerprint)(&content);
        let row = JournalRow::open(journal, (index, 0), &fingerprint, retry_failed)?;
        let (known, tracebacks) = plan.take_outcomes(&row);
        Ok(GivenRow { journal: self, row, known, tracebacks })
    }

    /// Returns the error after which the journal is no longer written.
    pub(crate) fn error(&self) -> Option<JournalError> {
        self.journal.error()
    }

    /// Counts a row that earlier runs had recorded completely.
    pub(crate) fn count_restored(&self) {
        self.restored_rows.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn usage(&self) -> JournalUse {
        self.journal.usage(self.restored_rows.load(Ordering::Relaxed))
    }

    /// Syncs all records, after a run over this many rows that was not stopped, or after a stopped one.
    pub(crate) fn finish(&self, all_rows: Option<u64>) -> Result<(), JournalError> {
        self.journal.finish(all_rows)
    }
}

/// A row with a given prediction, and its outcomes in an earlier run.
pub(crate) struct GivenRow<'a, G, P> {
    journal: &'a RunJournal<G, P>,
    row: Arc<JournalRow>,
    known: HashMap<usize, Outcome>,
    tracebacks: Vec<String>,
}

impl<G: Send + Sync, P: Send + Sync> GivenRow<'_, G, P> {
    /// Evaluates the metrics whose outcome is not known, see [`Plan::score_now`].
    pub(crate) fn score_now(
        &self,
        plan: &Plan<'_, G, P>,
        call: MetricCall<'_, G, P>,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<Option<String>> {
        let recorders = (Arc::clone(&self.row) as _, self.row.journal() as _);
        recording::scope_sync(recorders, || plan.score_now(call, &self.known, outcomes))
    }

    /// Records the outcomes that were not known. Returns the backtraces of panics in all runs.
    pub(crate) fn record(self, outcomes: &[Outcome], traceback: Option<String>) -> Option<String> {
        let Self { journal, row, known, mut tracebacks } = self;
        let mut new = StoredScores::default();
        for (metric, outcome) in outcomes.iter().enumerate() {
            if !known.contains_key(&metric) {
                new.add(metric, outcome, None);
            }
        }
        new.tracebacks.extend(traceback.clone());
        row.record_scores(new, false);
        if row.is_restored() {
            journal.count_restored();
        }
        tracebacks.extend(traceback);
        joined(&tracebacks)
    }
}

/// A row of a run with a journal.
pub(crate) struct RowToJournal<'a, G, P> {
    journal: &'a RunJournal<G, P>,
    index: u64,
    fingerprint: String,
    /// Whether a program makes the prediction.
    has_program: bool,
}

impl<G: Send + Sync, P: Send + Sync> RowToJournal<'_, G, P> {
    /// Returns one evaluation of the row, with its records. If records are missing, the preflight check is made first.
    pub(crate) async fn repeat(&self, number: u32) -> Result<JournaledRow<G, P>, EvaluateError> {
        let RunJournal { journal, codec, retry_failed, preflight, required, .. } = self.journal;
        let repeat = (self.index, number);
        let row = JournalRow::open(Arc::clone(journal), repeat, &self.fingerprint, *retry_failed)?;
        if !row.is_complete(self.has_program, required) {
            recording::spending_scope(Arc::clone(journal) as _, preflight.check()).await?;
        }
        Ok(JournaledRow { row, codec: *codec })
    }
}

/// One evaluation of a row.
pub(crate) struct JournaledRow<G, P> {
    pub(crate) row: Arc<JournalRow>,
    codec: Codec<G, P>,
}

/// The prediction of a program with the record of its run, or the reason why it returned no prediction.
pub(crate) type ProgramResult<P> = Result<(P, ProgramRun), ProgramFailure>;

impl<G, P> JournaledRow<G, P> {
    /// Evaluates the row, and records replies and spending.
    pub(crate) async fn scope<T>(&self, evaluated: impl Future<Output = T>) -> T {
        let row = Arc::clone(&self.row);
        let spending: Arc<dyn SpendingRecorder> = row.journal();
        recording::spending_scope(spending, recording::scope(row, evaluated)).await
    }

    /// Returns the result of the program in an earlier run. A prediction that cannot be restored, such as one with NaN
    /// in a typed field, is predicted again.
    pub(crate) fn predicted(&self) -> Option<ProgramResult<P>> {
        match self.row.take_program()? {
            StoredProgram::Failed(failure) => Some(Err(failure)),
            StoredProgram::Returned { prediction, run } => {
                Some(Ok(((self.codec.decode)(prediction).ok()?, run)))
            }
        }
    }

    /// Records the result of the program.
    pub(crate) fn record(&self, predicted: &ProgramResult<P>) {
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
