//! Tests: a journal whose file operations fail at any point.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{Journal, JournalError, LogFile, RunIdentity, WrapFile, journal_cost_msats};
use crate::core::declared::requirements::Requirement;
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::MetricScore;
use crate::evaluate::{Ending, Evaluate, EvaluateBuilder, EvaluateError, EvaluationResult};
use crate::lm::recording::SpendingRecorder;
use dsrs_metrics::metrics::Em;

const ROWS: u64 = 200;
const CONCURRENCY: usize = 4;

/// A file that writes less than asked, and fails once its budgets are used up.
struct FaultyFile {
    file: File,
    random: Mutex<Xoshiro256PlusPlus>,
    /// The bytes that fit onto the disk.
    bytes: AtomicU64,
    /// The number of syncs before one fails.
    syncs: AtomicU64,
}

/// No space left on device.
const ENOSPC: i32 = 28;
/// Input/output error.
const EIO: i32 = 5;

impl LogFile for FaultyFile {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let fits = usize::try_from(self.bytes.load(Ordering::SeqCst)).unwrap().min(bytes.len());
        if fits == 0 {
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        let random = self.random.lock().unwrap().next_u64();
        if random.is_multiple_of(16) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let short = 1 + usize::try_from(random >> 8).unwrap() % fits;
        let written = LogFile::append(&self.file, &bytes[..short])?;
        self.bytes.fetch_sub(written as u64, Ordering::SeqCst);
        Ok(written)
    }

    fn sync(&self) -> io::Result<()> {
        match self.syncs.load(Ordering::SeqCst) {
            0 => Err(io::Error::from_raw_os_error(EIO)),
            _ => {
                self.syncs.fetch_sub(1, Ordering::SeqCst);
                LogFile::sync(&self.file)
            }
        }
    }

    /// It fails sometimes, so that an incomplete line remains.
    fn truncate(&self, length: u64) -> io::Result<()> {
        match self.random.lock().unwrap().next_u64() % 2 {
            0 => Err(io::Error::from_raw_os_error(EIO)),
            _ => LogFile::truncate(&self.file, length),
        }
    }
}

fn evaluate(journal: &Path) -> EvaluateBuilder<Example, Prediction> {
    let rows = (0..ROWS).map(|row| Example::from_iter([("answer", row.to_string())]));
    // The program returns the answer, so it is an input.
    let evaluate = Evaluate::builder().devset(rows).inputs(["answer"]).metric(Em::default());
    evaluate.concurrency(CONCURRENCY).journal(journal)
}

/// Runs a program that counts its calls.
fn run(
    evaluate: EvaluateBuilder<Example, Prediction>,
    calls: &Arc<AtomicU64>,
) -> Result<EvaluationResult, EvaluateError> {
    let calls = Arc::clone(calls);
    let program = move |inputs: Example| {
        let calls = Arc::clone(&calls);
        async move {
            tokio::task::yield_now().await;
            calls.fetch_add(1, Ordering::SeqCst);
            let answer =
                inputs.get("answer").and_then(|answer| answer.as_str()).unwrap_or_default();
            Prediction::from_iter([("answer", answer.replace('7', "x"))])
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(evaluate.run(program))
}

/// Runs with faults until one run ends. Returns the number of failed runs and the number of calls.
fn until_done(dir: &Path, seed: u64, expected: &EvaluationResult) -> (u64, u64) {
    let journal = dir.join(seed.to_string());
    let calls: Arc<AtomicU64> = Arc::default();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for failed in 0..200 {
        let (bytes, syncs) = match random.next_u64() % 2 {
            0 => (random.next_u64() % 8_000, u64::MAX),
            _ => (u64::MAX, random.next_u64() % 2),
        };
        let seed = random.next_u64();
        let wrap = move |file| -> Arc<dyn LogFile> {
            let random = Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed));
            Arc::new(FaultyFile { file, random, bytes: bytes.into(), syncs: syncs.into() })
        };
        let called = calls.load(Ordering::SeqCst);
        let result = match run(evaluate(&journal).journal_file(Arc::new(wrap)), &calls) {
            Ok(result) => result,
            Err(error) => {
                // The first line of the journal could not be written.
                assert!(matches!(error, EvaluateError::Journal(JournalError::Open { .. })));
                assert_eq!(calls.load(Ordering::SeqCst), called, "{error}");
                continue;
            }
        };
        match &result.ending {
            Ending::Complete => {
                assert_eq!((result.score, &result.results), (expected.score, &expected.results));
                return (failed, calls.load(Ordering::SeqCst));
            }
            Ending::OutputFailed(error) => {
                let reason = if syncs == u64::MAX {
                    "No space left on device (os error 28)"
                } else {
                    "Input/output error (os error 5)"
                };
                let message = format!(
                    "cannot write the journal `{}`: {reason}; the records so far are kept: after that is solved, start the same run again to continue",
                    journal.display()
                );
                assert_eq!(error.to_string(), message);
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("no run ended")
}

#[test]
fn trap_22_short_writes_a_full_disk_and_failing_syncs_lose_nothing() {
    let dir = std::env::temp_dir().join(format!("dsrs-metrics-faults-{}", std::process::id()));
    let expected = run(evaluate(&dir.join("expected")), &Arc::default()).unwrap();
    assert_eq!(Metric::<Example, Prediction>::name(&Em::default()), expected.metrics[0].name);
    let (mut failed, mut calls) = (0, 0);
    for seed in 0..25 {
        let (more_failed, more_calls) = until_done(&dir, seed, &expected);
        (failed, calls) = (failed + more_failed, calls + more_calls);
        // A call is repeated only if it was in progress when the journal failed.
        assert!(more_calls <= ROWS + more_failed * CONCURRENCY as u64, "{more_calls} calls");
    }
    println!("{failed} runs were ended by faults; {calls} calls for {} rows", 25 * ROWS);
    assert!(failed >= 25, "{failed} runs were ended by faults");
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Nothing is called before the first line of the journal is on the disk: neither the program nor a preflight check.
#[test]
fn trap_41_a_journal_that_cannot_be_started_costs_nothing() {
    let dir = std::env::temp_dir().join(format!("dsrs-metrics-no-start-{}", std::process::id()));
    for (bytes, syncs, reason) in [
        (0, u64::MAX, "No space left on device (os error 28)"),
        (40, u64::MAX, "No space left on device (os error 28)"),
        (u64::MAX, 0, "Input/output error (os error 5)"),
    ] {
        let wrap = move |file| -> Arc<dyn LogFile> {
            let random = Mutex::new(Xoshiro256PlusPlus::seed_from_u64(bytes));
            Arc::new(FaultyFile { file, random, bytes: bytes.into(), syncs: syncs.into() })
        };
        let calls: Arc<AtomicU64> = Arc::default();
        let evaluate = || evaluate(&dir).metric(Checked(Arc::clone(&calls)));
        let error = run(evaluate().journal_file(Arc::new(wrap)), &calls).unwrap_err();
        let expected = format!("cannot open the journal `{}`: {reason}", dir.display());
        assert_eq!((error.to_string(), calls.load(Ordering::SeqCst)), (expected, 0));
        let result = run(evaluate(), &calls).unwrap();
        assert_eq!((result.rows, calls.load(Ordering::SeqCst)), (ROWS, ROWS + 1));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

/// A metric whose preflight check is counted.
struct Checked(Arc<AtomicU64>);

#[async_trait::async_trait]
impl Metric for Checked {
    fn name(&self) -> &'static str {
        "checked"
    }

    async fn evaluate(
        &self,
        _: &Example,
        _: &Prediction,
    ) -> crate::core::score::error::Result<MetricScore> {
        Ok(MetricScore::new(1.0))
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        let checks = Arc::clone(&self.0);
        all.push(Requirement::check("checked", move || {
            checks.fetch_add(1, Ordering::SeqCst);
            async { Ok(()) }
        }));
    }
}

/// A call under a budget is made only if the process can die without losing the reservation of the call.
#[test]
fn trap_41_reservations_are_recorded_before_the_call_and_count_until_they_are_settled() {
    let dir = std::env::temp_dir().join(format!("dsrs-metrics-reserved-{}", std::process::id()));
    let run = RunIdentity::empty();
    let open = |wrap: Option<&WrapFile>| Journal::open(&dir, &run, wrap, &|| false).unwrap();
    let journal = open(None);
    assert_eq!((journal.reserve(5000), journal.reserve(3000)), (Ok(0), Ok(1)));
    // Without waiting for the next sync: a process that is killed now has recorded both.
    assert_eq!(journal_cost_msats(&dir), Ok(8000));
    journal.settle(1, 36);
    drop(journal);
    assert_eq!(journal_cost_msats(&dir), Ok(5036));

    let full = |file| -> Arc<dyn LogFile> {
        let random = Mutex::new(Xoshiro256PlusPlus::seed_from_u64(1));
        Arc::new(FaultyFile { file, random, bytes: 0.into(), syncs: u64::MAX.into() })
    };
    let full: WrapFile = Arc::new(full);
    let journal = open(Some(&full));
    let error = journal.reserve(7).unwrap_err();
    assert!(error.contains("No space left on device"), "{error}");
    drop(journal);
    let journal = open(None);
    assert_eq!((journal.scan.unsettled_msats(), journal.reserve(1)), (5000, Ok(2)));
    drop(journal);
    assert_eq!(journal_cost_msats(&dir), Ok(5037));
    // A run that differs starts the journal again, since no row is recorded, but its recorded cost is kept.
    let other = RunIdentity { repeats: Some(2), ..run };
    drop(Journal::open(&dir, &other, None, &|| false).unwrap());
    assert_eq!(journal_cost_msats(&dir), Ok(5037));
    std::fs::remove_dir_all(&dir).unwrap();
}
