//! A journal of another run is refused, and the difference is named.

use std::path::Path;
use std::sync::Arc;

use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Profile;
use dsrs_metrics::{Evaluate, EvaluateBuilder, EvaluateError, JournalError};

use super::devset;

/// Compares the answers.
#[metric(version = "2")]
fn same(#[gold] answer: &str, #[pred] said: &str) -> bool {
    answer == said
}

/// Compares the answers.
#[metric(name = "same", version = "3")]
fn same_after_change(#[gold] answer: &str, #[pred] said: &str) -> bool {
    answer.trim() == said.trim()
}

fn builder(journal: &Path) -> EvaluateBuilder<Example, Prediction> {
    Evaluate::builder().devset(devset(5)).journal(journal).journal_input("program", "1")
}

async fn run(evaluate: EvaluateBuilder<Example, Prediction>) -> Result<u64, String> {
    let program = |inputs: Example| async move {
        let said = inputs.get("answer").cloned();
        prediction! { "said" => said.clone(), "answer" => said }
    };
    match evaluate.run(program).await {
        Ok(result) => Ok(result.rows),
        Err(EvaluateError::Journal(JournalError::Changed { changes, .. })) => {
            Err(changes.join(", "))
        }
        Err(other) => panic!("{other}"),
    }
}

async fn started(dir: &Path, metric: impl Metric + 'static) -> std::path::PathBuf {
    let journal = dir.join("journal");
    let _ = std::fs::remove_dir_all(&journal);
    assert_eq!(run(builder(&journal).metric(metric)).await, Ok(5));
    journal
}

#[tokio::test]
async fn trap_21_a_changed_metric_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let journal = started(dir.path(), Same).await;
    let changed = run(builder(&journal).metric(SameAfterChange)).await;
    assert_eq!(changed.unwrap_err(), "`version` of `same` was \"2\", now \"3\"");
    let journal = started(dir.path(), F1::default()).await;
    let folded = F1 { profile: Profile::Folded };
    let changed = run(builder(&journal).metric(folded)).await;
    assert_eq!(changed.unwrap_err(), "parameter `F1.profile` of `f1` was \"dspy\", now \"folded\"");
    let changed = run(builder(&journal).metric(F1::default().with_threshold(0.5))).await;
    assert_eq!(changed.unwrap_err(), "`threshold` of `f1` was not set, now 0.5");
    let changed = run(builder(&journal).metric(Same)).await;
    assert_eq!(changed.unwrap_err(), "the metrics were `f1`, now `same`");
}

#[tokio::test]
async fn trap_21_changed_settings_and_inputs_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let journal = started(dir.path(), Same).await;
    let changed =
        run(builder(&journal).metric(Same).repeats(2).journal_input("program", "2")).await;
    assert_eq!(
        changed.unwrap_err(),
        "`program` was \"1\", now \"2\", `repeats` was not set, now 2"
    );
    let changed = run(builder(&journal).metric(Same).failure_score(0.25)).await;
    assert_eq!(changed.unwrap_err(), "`failure_score` was 0.0, now 0.25");
}

#[tokio::test]
async fn a_changed_row_is_named_by_its_number() {
    let dir = tempfile::tempdir().unwrap();
    let journal = started(dir.path(), Same).await;
    let rows = devset(5).enumerate().map(|(number, row)| match number {
        3 => example! { "number" => 3, "answer" => "three" },
        _ => row,
    });
    let changed = run(builder(&journal).metric(Same).devset(rows)).await;
    assert_eq!(changed.unwrap_err(), "row 4 of the data differs from the journaled one");
    let fewer = run(builder(&journal).metric(Same).devset(devset(4))).await;
    assert_eq!(fewer.unwrap_err(), "the data has 4 rows, and the journal 5");
    // The journal is not harmed by the attempts.
    assert_eq!(run(builder(&journal).metric(Same)).await, Ok(5));
}

#[tokio::test]
async fn an_open_journal_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    let evaluate = || Evaluate::builder().devset(devset(1)).metric(Same).journal(&journal);
    let (waiting, is_waiting) =
        (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let (wait, started) = (Arc::clone(&waiting), Arc::clone(&is_waiting));
    let first = tokio::spawn(evaluate().run(move |_: Example| {
        let (wait, started) = (Arc::clone(&wait), Arc::clone(&started));
        async move {
            started.notify_one();
            wait.notified().await;
            prediction! { "said" => "0" }
        }
    }));
    is_waiting.notified().await;
    let error = evaluate()
        .run(|_: Example| async {
            prediction! {}
        })
        .await
        .unwrap_err();
    let expected = format!(
        "the journal `{}` is used by another run; wait until it ends, or choose another directory",
        journal.display()
    );
    assert_eq!(error.to_string(), expected);
    waiting.notify_one();
    assert_eq!(first.await.unwrap().unwrap().score, Some(100.0));
}
