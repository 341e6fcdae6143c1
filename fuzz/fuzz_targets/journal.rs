//! Journals: a run continues from a damaged or forged journal, or is refused.
//!
//! The first byte selects what the file is (modulo 3): the input itself; the journal of a complete run with changed bytes;
//! or the lines of the input, each with its correct checksum, behind the header of the run.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use dsrs_metrics::judge::shipped::LlmJudge;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    runs::{EvaluateError, journal_cost_msats},
};
use dsrs_metrics_fuzz::{assert_one_line, assert_within, block_on};
use libfuzzer_sys::fuzz_target;

/// What a result shows of each row.
type Rows = Vec<(String, Option<Prediction>, Vec<Outcome>)>;

/// The journal of a complete run, and its result.
static COMPLETE: LazyLock<(Vec<u8>, Rows)> = LazyLock::new(|| {
    let dir = directory();
    let rows = run(&dir).expect("a run with a new journal");
    (std::fs::read(dir.join(FILE)).expect("its journal"), rows)
});

const FILE: &str = "journal.log";

fuzz_target!(|data: &[u8]| {
    let Some((choice, input)) = data.split_first() else { return };
    let (complete, undisturbed) = &*COMPLETE;
    let bytes = match choice % 3 {
        0 => input.to_vec(),
        1 => damaged(complete.clone(), input),
        _ => forged(complete, input),
    };
    let dir = directory();
    std::fs::write(dir.join(FILE), bytes).expect("a temporary file");
    if let Err(error) = journal_cost_msats(&dir) {
        assert_one_line(&error);
    }
    let first = match run(&dir) {
        Ok(rows) => rows,
        Err(error) => return assert_one_line(&error),
    };
    if choice % 3 == 1 {
        assert_eq!(first, *undisturbed, "from a damaged journal");
    }
    for outcome in first.iter().flat_map(|(_, _, outcomes)| outcomes) {
        if let Some(scored) = outcome.scored() {
            assert_within(scored.score.value, 0.0..=1.0);
            assert_within(scored.score.confidence, 0.0..=1.0);
        }
    }
    assert_eq!(run(&dir).expect("a run as before"), first, "continued twice");
});

/// Returns an empty directory.
fn directory() -> PathBuf {
    let dir = dsrs_metrics_fuzz::temporary_file("journal");
    if dir.exists() {
        std::fs::remove_dir_all(&dir).expect("a temporary directory");
    }
    std::fs::create_dir(&dir).expect("a temporary directory");
    dir
}

/// Runs a program over three rows, with a metric and a judge.
fn run(dir: &Path) -> Result<Rows, EvaluateError> {
    let reply = r#"{"reasoning": "r", "score": 0.5, "feedback": "f"}"#;
    let lm = ScriptedLm::new().otherwise(reply).cost(7);
    let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    let devset =
        (0..3).map(|n| example! { "question" => n.to_string(), "answer" => n.to_string() });
    let evaluate = Evaluate::builder()
        .devset(devset)
        .inputs(["question"])
        .metric(same)
        .metric(LlmJudge::default().with_lm(lm))
        .concurrency(1)
        .journal(dir)
        .build()?;
    let result = block_on(evaluate.run(|row: Example| async move {
        prediction! { "answer" => row.get("question") }
    }))?;
    let rows = result.results.into_iter();
    Ok(rows.map(|row| (row.id, row.pred, row.outcomes)).collect())
}

/// Changes the journal: three bytes of input are a position, and the byte that is written there. The position 65,535
/// cuts the file off instead, at the byte times the length by 256.
fn damaged(mut journal: Vec<u8>, input: &[u8]) -> Vec<u8> {
    for change in input.chunks_exact(3) {
        let position = usize::from(u16::from_be_bytes([change[0], change[1]]));
        if position == 65_535 {
            journal.truncate(journal.len() * usize::from(change[2]) / 256);
        } else if !journal.is_empty() {
            let position = position % journal.len();
            journal[position] = change[2];
        }
    }
    journal
}

fn forged(complete: &[u8], input: &[u8]) -> Vec<u8> {
    let header = complete.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut journal = header.to_vec();
    for line in input.split(|byte| *byte == b'\n') {
        journal.extend_from_slice(format!("{:08x} ", crc32fast::hash(line)).as_bytes());
        journal.extend_from_slice(line);
        journal.push(b'\n');
    }
    journal
}
