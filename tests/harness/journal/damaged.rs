//! Journals that end in the middle of a record, have damaged records, or are not journals.

use std::path::Path;
use std::sync::Arc;

use dsrs_metrics::metrics::Em;
use dsrs_metrics::{Evaluate, Example, prediction, runs::EvaluateError};
use proptest::prelude::*;

use super::{Paid, ROWS, builder, devset, run, undisturbed};

/// Runs with this content of the journal. Returns the result of the run, and the number of damaged records.
fn continued(dir: &Path, content: &[u8]) -> Result<((String, Vec<u8>), u64), EvaluateError> {
    let (journal, out) = (dir.join("continued"), dir.join("out.jsonl"));
    std::fs::create_dir_all(&journal).unwrap();
    std::fs::write(journal.join("journal.log"), content).unwrap();
    let paid: Arc<Paid> = Arc::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(run(builder(&paid, &out).journal(&journal), &paid))?;
    let damaged = result.journal.unwrap().damaged_records;
    Ok(((result.to_string(), std::fs::read(&out).unwrap()), damaged))
}

/// The result of an undisturbed run, and the journal of a finished one.
fn finished(dir: &Path) -> ((String, Vec<u8>), Vec<u8>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (paid, journal) = (Arc::default(), dir.join("finished"));
        let out = dir.join("out.jsonl");
        let result = run(builder(&paid, &out).journal(&journal), &paid).await.unwrap();
        assert_eq!(result.rows, ROWS);
        (undisturbed(dir).await, std::fs::read(journal.join("journal.log")).unwrap())
    })
}

#[test]
fn a_journal_that_ends_anywhere_continues() {
    let dir = tempfile::tempdir().unwrap();
    let (expected, journal) = finished(dir.path());
    let config =
        ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(end in 0..=journal.len())| {
        prop_assert_eq!(continued(dir.path(), &journal[..end]).unwrap(), (expected.clone(), 0));
    });
}

#[test]
fn damaged_records_are_counted_and_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (expected, journal) = finished(dir.path());
    let header = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let config =
        ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(at in header..journal.len() - 1, bit in 0..8_u8)| {
        let mut journal = journal.clone();
        journal[at] ^= 1 << bit;
        let (found, damaged) = continued(dir.path(), &journal).unwrap();
        prop_assert_eq!(&found, &expected);
        // A changed line break joins two records, and a new one makes two of one.
        prop_assert!((1..=2).contains(&damaged), "{} damaged records", damaged);
    });
}

/// A program may return something else when it is called again, so scores without their prediction are not used.
#[test]
fn scores_of_a_prediction_that_is_lost_are_computed_again() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    let run = |answer: &'static str| {
        let evaluate = Evaluate::builder().devset(devset(1)).inputs(["number"]);
        let evaluate = evaluate.metric(Em::default()).journal(&journal);
        let running = evaluate.run(move |_: Example| async move {
            prediction! { "answer" => answer }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(running).unwrap().score
    };
    assert_eq!((run("0"), run("1")), (Some(1.0), Some(1.0)), "the prediction is restored");
    let path = journal.join("journal.log");
    let content = std::fs::read_to_string(&path).unwrap();
    let rest: Vec<_> = content.lines().filter(|line| !line.contains("\"program\":{")).collect();
    assert_eq!((content.lines().count(), rest.len()), (3, 2));
    std::fs::write(&path, rest.join("\n") + "\n").unwrap();
    assert_eq!((run("1"), run("0")), (Some(0.0), Some(0.0)));
}

#[test]
fn other_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (_, journal) = finished(dir.path());
    let message = |content: &[u8]| {
        let message = continued(dir.path(), content).unwrap_err().to_string();
        message.replace(&dir.path().display().to_string(), "DIR")
    };
    let expected = "cannot read the journal `DIR/continued`: its first line does not belong to a journal; choose another directory";
    assert_eq!(message(b"{\"id\": 1}\n"), expected);
    assert_eq!(message(b"\n"), expected);
    assert_eq!(message(&[0; 4096].map(|_| b'\n')), expected);
    let mut damaged = journal.clone();
    damaged[20] ^= 1;
    assert_eq!(message(&damaged), expected);
    let later = b"{\"format\":3,\"run\":null}";
    let later = [format!("{:08x} ", crc32(later)).as_bytes(), later, b"\n"].concat();
    assert_eq!(
        message(&later),
        "cannot read the journal `DIR/continued`: expected version 2 of the format, found 3; choose another directory"
    );
}

/// A file of somebody else that has no complete line is not the beginning of a journal.
#[test]
fn trap_38_a_foreign_file_without_a_line_break_is_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let (expected, journal) = finished(dir.path());
    let header = journal.iter().position(|byte| *byte == b'\n').unwrap();
    let mut longer = journal[..header].to_vec();
    longer.push(b' ');
    let row = br#"{"id": 1, "gold": {}, "pred": {}}"#;
    let foreign: [&[u8]; 5] = [b"notes of three years", b"deadbeef", b" ", row, &longer];
    for content in foreign {
        let error = continued(dir.path(), content).unwrap_err().to_string();
        let expected = format!(
            "cannot read the journal `{}`: its first line does not belong to a journal; choose another directory",
            dir.path().join("continued").display()
        );
        assert_eq!(error, expected);
        assert_eq!(std::fs::read(dir.path().join("continued/journal.log")).unwrap(), content);
    }
    for beginning in [0, 1, 8, header] {
        let found = continued(dir.path(), &journal[..beginning]).unwrap();
        assert_eq!(found, (expected.clone(), 0));
    }
}

/// A journal without records does not refuse another run.
#[test]
fn a_journal_of_another_run_that_recorded_nothing_is_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let (expected, _) = finished(dir.path());
    let other = dir.path().join("other");
    let paid: Arc<Paid> = Arc::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let evaluate = builder(&paid, &dir.path().join("o.jsonl")).repeats(2).journal(&other);
    let _ = runtime.block_on(run(evaluate, &paid)).unwrap();
    let other = std::fs::read(other.join("journal.log")).unwrap();
    let header = other.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in [header, header + 20] {
        assert_eq!(continued(dir.path(), &other[..end]).unwrap(), (expected.clone(), 0));
    }
    let second = header + other[header..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let error = continued(dir.path(), &other[..second]).unwrap_err().to_string();
    assert!(error.contains("belongs to a different run: `repeats` was 2, now not set"), "{error}");
}

/// CRC-32 as in zip and PNG, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}
