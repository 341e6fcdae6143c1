//! Tests: a journal whose file operations fail at any point.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::LogFile;
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::evaluate::{Ending, Evaluate, EvaluateBuilder, EvaluationResult};
use crate::metrics::Em;

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
    Evaluate::builder().devset(rows).metric(Em::default()).concurrency(CONCURRENCY).journal(journal)
}

/// Runs a program that counts its calls.
fn run(evaluate: EvaluateBuilder<Example, Prediction>, calls: &Arc<AtomicU64>) -> EvaluationResult {
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
    runtime.block_on(evaluate.run(program)).unwrap()
}

/// Runs with faults until one run ends. Returns the number of failed runs, and that of calls.
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
        let result = run(evaluate(&journal).journal_file(Arc::new(wrap)), &calls);
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
    let expected = run(evaluate(&dir.join("expected")), &Arc::default());
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
