//! One evaluation of a row: the records of earlier runs, and the records that it adds.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::Serialize;

use super::Journal;
use super::error::JournalError;
use super::log::Write;
use super::record::{Record, StoredProgram, StoredReply, StoredScores};
use crate::core::score::outcome::Outcome;
use crate::evaluate::lock::lock;
use crate::lm::recording::ReplyRecorder;
use crate::lm::{Hash, LmReply};
use crate::messages::hash::hexadecimal;

/// One evaluation of a row.
pub(crate) struct JournalRow {
    journal: Arc<Journal>,
    row: u64,
    repeat: u32,
    fingerprint: String,
    found: Mutex<Found>,
    /// Whether earlier runs have records of this evaluation.
    has_records: bool,
    has_added: AtomicBool,
}

/// The records of earlier runs that are not used yet, and the number of replies that this run recorded under each key.
#[derive(Default)]
struct Found {
    program: Option<StoredProgram>,
    outcomes: HashMap<usize, Outcome>,
    tracebacks: Vec<String>,
    replies: HashMap<String, Vec<LmReply>>,
    recorded: HashMap<Hash, usize>,
}

impl JournalRow {
    /// Selects the records of one repeat of a row: all of them, or without failures.
    pub(crate) fn open(
        journal: Arc<Journal>,
        (row, repeat): (u64, u32),
        fingerprint: &str,
        retry_failed: bool,
    ) -> Result<Arc<Self>, JournalError> {
        let records = journal.scan.of_row(row)?;
        let mut found = Found::default();
        let mut has_records = false;
        for record in records {
            if record.fingerprint != fingerprint {
                let change = format!("row {} of the data differs from the journaled one", row + 1);
                return Err(JournalError::changed(&journal.dir, change));
            }
            if record.repeat == repeat {
                has_records = true;
                found.add(record);
            }
        }
        // The last one is returned first.
        found.replies.values_mut().for_each(|replies| replies.reverse());
        let (fingerprint, found) = (fingerprint.to_owned(), Mutex::new(found));
        let has_added = AtomicBool::new(false);
        let row = Self { journal, row, repeat, fingerprint, found, has_records, has_added };
        if retry_failed {
            row.forget_failures();
        }
        Ok(Arc::new(row))
    }

    pub(crate) fn journal(&self) -> Arc<Journal> {
        Arc::clone(&self.journal)
    }

    /// Removes recorded failures, and the replies of a row in which a metric failed: the replies may be the reason.
    fn forget_failures(&self) {
        let mut found = lock(&self.found);
        let found = &mut *found;
        if matches!(found.program, Some(StoredProgram::Failed(_))) {
            found.program = None;
        }
        let outcomes = found.outcomes.len();
        found.outcomes.retain(|_, outcome| !outcome.is_failure());
        if found.outcomes.len() < outcomes {
            found.replies.clear();
            found.tracebacks.clear();
        }
    }

    /// Removes all outcomes: they belong to a prediction that cannot be restored.
    pub(crate) fn forget_outcomes(&self) {
        let mut found = lock(&self.found);
        found.outcomes.clear();
        found.tracebacks.clear();
    }

    /// Takes the prediction or the failure of the program in an earlier run.
    pub(crate) fn take_program(&self) -> Option<StoredProgram> {
        lock(&self.found).program.take()
    }

    /// Takes the outcomes of an earlier run, by the position of the metric, and the backtraces of their panics.
    pub(crate) fn take_outcomes(&self) -> (HashMap<usize, Outcome>, Vec<String>) {
        let mut found = lock(&self.found);
        (std::mem::take(&mut found.outcomes), std::mem::take(&mut found.tracebacks))
    }

    /// Records the prediction or the failure of the program.
    pub(crate) fn record_program(&self, program: StoredProgram) {
        self.append(&Record { program: Some(program), ..self.record::<Outcome>() }, Write::Now);
    }

    /// Records outcomes: at once, unless they can be computed again without cost.
    pub(crate) fn record_scores<O>(&self, scores: StoredScores<O>, are_costly: bool)
    where
        O: Borrow<Outcome> + Serialize,
    {
        if !scores.is_empty() {
            let write = if are_costly { Write::Now } else { Write::Later };
            self.append(&Record { scores: Some(scores), ..self.record() }, write);
        }
    }

    fn record<O>(&self) -> Record<'_, O> {
        let (row, repeat, fingerprint) = (self.row, self.repeat, (&*self.fingerprint).into());
        Record { row, repeat, fingerprint, program: None, reply: None, scores: None }
    }

    /// Returns whether no call is needed: the journal has the result of the program, and the outcomes of these metrics.
    pub(crate) fn is_complete(&self, has_program: bool, metrics: &[usize]) -> bool {
        let found = lock(&self.found);
        match &found.program {
            Some(StoredProgram::Failed(_)) => true,
            None if has_program => false,
            _ => metrics.iter().all(|metric| found.outcomes.contains_key(metric)),
        }
    }

    /// Returns whether earlier runs recorded the row, and this run added nothing.
    pub(crate) fn is_restored(&self) -> bool {
        self.has_records && !self.has_added.load(Ordering::Relaxed)
    }

    fn append<O: Serialize>(&self, record: &Record<'_, O>, write: Write) {
        self.has_added.store(true, Ordering::Relaxed);
        self.journal.log.append(record, write);
    }
}

impl Found {
    fn add(&mut self, record: Record<'_>) {
        if let Some(program) = record.program {
            self.program = Some(program);
        }
        if let Some(StoredReply { key, reply, .. }) = record.reply {
            self.replies.entry(key).or_default().push(reply);
        }
        if let Some(scores) = record.scores {
            self.tracebacks.extend(scores.tracebacks);
            self.outcomes.extend(scores.outcomes);
        }
    }
}

impl ReplyRecorder for JournalRow {
    fn find(&self, key: &Hash) -> Option<LmReply> {
        lock(&self.found).replies.get_mut(&hexadecimal(key))?.pop()
    }

    fn has(&self, key: &Hash) -> bool {
        lock(&self.found).replies.get(&hexadecimal(key)).is_some_and(|replies| !replies.is_empty())
    }

    fn record(&self, key: &Hash, reply: &LmReply, is_spending: bool) {
        *lock(&self.found).recorded.entry(*key).or_default() += 1;
        let reply = StoredReply { key: hexadecimal(key), reply: reply.clone(), is_spending };
        self.append(&Record { reply: Some(reply), ..self.record::<Outcome>() }, Write::Now);
    }

    fn recorded(&self, key: &Hash) -> usize {
        lock(&self.found).recorded.get(key).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::core::program_run::ProgramRun;
    use crate::core::score::MetricScore;
    use crate::core::score::error::MetricError;
    use crate::core::score::return_types::MetricReturn as _;
    use crate::core::spec::MetricSpec;
    use crate::evaluate::journal::{ProgramFailure, RunIdentity, StoredPrediction};

    const KEY: Hash = [7; 32];

    /// A directory that is removed at the end.
    struct Dir(PathBuf);

    impl Dir {
        fn new(name: &str) -> Self {
            let name = format!("dsrs-metrics-journal-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        /// Opens the journal again, and its row 0.
        fn row(&self, retry_failed: bool) -> Arc<JournalRow> {
            let dir: &Path = &self.0;
            let journal = Journal::open(dir, &RunIdentity::empty(), None, &|| false).unwrap();
            JournalRow::open(Arc::new(journal), (0, 0), "f", retry_failed).unwrap()
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn scores(outcomes: Vec<(usize, Outcome)>) -> StoredScores {
        StoredScores { outcomes, tracebacks: vec!["at line 1".to_owned()] }
    }

    fn scored() -> Outcome {
        let scored = MetricScore::new(1.0).into_scored(&MetricSpec::new("m"));
        Outcome::Scored(scored.unwrap())
    }

    fn failed() -> Outcome {
        Outcome::from(MetricError::failed("m", "no"))
    }

    #[test]
    fn replies_are_found_once_and_in_their_order() {
        let dir = Dir::new("replies");
        let row = dir.row(false);
        assert!(!row.has(&KEY) && row.find(&KEY).is_none() && !row.is_restored());
        for (count, text) in [(0, "a"), (1, "b"), (2, "c")] {
            assert_eq!(row.recorded(&KEY), count);
            ReplyRecorder::record(&*row, &KEY, &LmReply::new(text), true);
        }
        assert_eq!((row.recorded(&KEY), row.recorded(&[8; 32]), row.has(&KEY)), (3, 0, false));
        assert!(!row.is_restored(), "this run added the records");
        drop(row);

        let row = dir.row(false);
        assert!(row.has(&KEY) && !row.has(&[8; 32]) && row.is_restored());
        let found = [(); 4].map(|()| row.find(&KEY).map(|reply| reply.text));
        assert_eq!(found.each_ref().map(Option::as_deref), [Some("a"), Some("b"), Some("c"), None]);
        assert_eq!((row.has(&KEY), row.recorded(&KEY)), (false, 0));
        row.record_scores(scores(vec![(0, scored())]), true);
        assert!(!row.is_restored(), "one record is new");
    }

    #[test]
    fn a_row_is_complete_with_the_result_of_the_program_and_all_outcomes() {
        let dir = Dir::new("complete");
        let row = dir.row(false);
        assert!(!row.is_complete(true, &[]), "the program was not run");
        assert!(row.is_complete(false, &[]) && !row.is_complete(false, &[0]));
        row.record_scores(scores(vec![(0, scored())]), true);
        drop(row);
        let row = dir.row(false);
        assert!(row.is_complete(false, &[0]) && !row.is_complete(true, &[0]));
        let prediction = StoredPrediction { value: serde_json::json!({}), is_textual: false };
        row.record_program(StoredProgram::Returned { prediction, run: ProgramRun::default() });
        drop(row);
        let row = dir.row(false);
        assert!(row.is_complete(true, &[0]) && !row.is_complete(true, &[0, 1]));
        row.record_program(StoredProgram::Failed(ProgramFailure::default()));
        drop(row);
        assert!(dir.row(false).is_complete(true, &[0, 1]), "no metric is called");
        let row = dir.row(true);
        assert!(!row.is_complete(true, &[0]), "the program is run again");
    }

    #[test]
    fn replies_are_asked_for_again_only_if_a_metric_failed() {
        for (outcomes, kept) in [(vec![(0, scored())], 1), (vec![(0, scored()), (1, failed())], 0)]
        {
            let dir = Dir::new(&format!("retried-{kept}"));
            let row = dir.row(false);
            ReplyRecorder::record(&*row, &KEY, &LmReply::new("a"), true);
            row.record_scores(scores(outcomes), true);
            drop(row);
            let row = dir.row(true);
            let (outcomes, tracebacks) = row.take_outcomes();
            assert_eq!((outcomes.len(), tracebacks.len()), (1, kept));
            assert_eq!(row.has(&KEY), kept == 1);
        }
    }

    #[test]
    fn what_the_budget_did_not_cover_is_not_stored() {
        let mut stored = StoredScores::default();
        stored.add(0, Outcome::Skipped { budget: 9, cost_msats: 0 }, None);
        assert!(stored.is_empty());
        stored.add(1, failed(), Some("at line 1"));
        assert_eq!((stored.outcomes.len(), stored.tracebacks.len()), (1, 1));
    }
}
