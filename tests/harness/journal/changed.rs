//! A journal of another run is refused, and the difference is named.

use std::path::Path;
use std::sync::Arc;

use dsrs_metrics::composite::{Composite, component, min};
use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Profile;
use dsrs_metrics::{
    Evaluate,
    contract::{MetricFile, NamesFiles},
    optimizers::MetricScore,
    runs::{EvaluateBuilder, EvaluateError, JournalError},
};

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
    // The program returns the answer, so it is an input.
    let evaluate = Evaluate::builder().devset(devset(5)).inputs(["answer"]);
    evaluate.journal(journal).journal_input("program", "1")
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
    let changed = run(builder(&journal).metric(Same).inputs(["number", "answer"])).await;
    let expected = r#"`program_inputs` was ["answer"], now ["number","answer"]"#;
    assert_eq!(changed.unwrap_err(), expected);
    let rows = devset(5).map(|row| row.with_inputs(["number"]));
    let changed = run(builder(&journal).metric(Same).devset(rows)).await;
    assert_eq!(changed.unwrap_err(), "row 1 of the data differs from the journaled one");
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
    let evaluate =
        || Evaluate::builder().devset(devset(1)).inputs(["number"]).metric(Same).journal(&journal);
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
    assert_eq!(first.await.unwrap().unwrap().score, Some(1.0));
}

/// The path of a list of words.
#[derive(Clone, Debug, PartialEq)]
struct Words(std::path::PathBuf);

impl NamesFiles for Words {
    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        self.0.files(parameter, all);
    }
}

/// Whether the list has the word.
#[metric(range = 0.0..=1.0)]
fn listed(#[pred] said: &str, #[param] words: &Words) -> f64 {
    let words = std::fs::read_to_string(&words.0).unwrap_or_default();
    f64::from(u8::from(words.lines().any(|word| word == said)))
}

/// The same, written by hand and scored in batches.
struct ByHand(std::path::PathBuf);

#[async_trait]
impl Metric for ByHand {
    fn name(&self) -> &str {
        "by_hand"
    }

    async fn evaluate(&self, _: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        Ok(MetricScore::new(std::fs::metadata(&self.0).map_or(0.0, |_| 1.0)))
    }

    fn batch_size(&self) -> usize {
        4
    }

    fn files(&self, all: &mut Vec<MetricFile>) {
        all.push(MetricFile::new("ByHand.words", &self.0));
    }
}

/// A composite with a file that does not exist.
#[metric(min(listed(words = Words("nowhere/words.txt".into()))))]
struct Declared;

/// Files are compared whatever wraps the metric that reads them.
#[tokio::test]
async fn trap_37_the_files_of_a_users_metric_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let words = dir.path().join("words.txt");
    let listed = || Listed::builder().words(Words(words.clone())).build();
    let composite = || {
        let expression = min([component(listed()), component(listed().with_threshold(0.5))]);
        Composite::builder("both", expression).build().unwrap()
    };
    type New<'a> = &'a dyn Fn() -> Arc<dyn Metric>;
    let metrics: [(New<'_>, &str, &str); 5] = [
        (&|| Arc::new(listed()), "Listed.words", "listed"),
        (&|| Arc::new(Box::new(listed().with_threshold(0.5))), "Listed.words", "listed"),
        (&|| Arc::new(composite()), "Listed.words", "both"),
        (&|| Arc::new(ByHand(words.clone())), "ByHand.words", "by_hand"),
        (&|| Arc::new(Arc::new(ByHand(words.clone()))), "ByHand.words", "by_hand"),
    ];
    for (metric, parameter, name) in metrics {
        std::fs::write(&words, "0\n1\n").unwrap();
        let journal = started(dir.path(), metric()).await;
        assert_eq!(run(builder(&journal).metric(metric())).await, Ok(5));
        std::fs::write(&words, "0\n2\n").unwrap();
        let changed = run(builder(&journal).metric(metric())).await.unwrap_err();
        let expected = format!("file `words.txt` of parameter `{parameter}` of `{name}` was \"");
        assert!(changed.starts_with(&expected), "{changed}");
        std::fs::remove_file(&words).unwrap();
        let removed = run(builder(&journal).metric(metric())).await.unwrap_err();
        assert!(removed.contains("\", now \"missing\""), "{removed}");
    }
    let mut files = Vec::new();
    Metric::<Example, Prediction>::files(&Declared, &mut files);
    assert_eq!(files.len(), 1, "{files:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_cannot_be_compared_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("words.txt");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let evaluate = builder(&dir.path().join("j")).metric(ByHand(socket.clone()));
    let error = evaluate.run(|_: Example| async {
        prediction! {}
    });
    let expected = format!(
        "metric `by_hand`: parameter `ByHand.words`: expected a file or folder, found a pipe, socket or device `{}`",
        socket.display()
    );
    assert_eq!(error.await.unwrap_err().to_string(), expected);
}
