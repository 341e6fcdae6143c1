//! `score_files`: the result equals the result of the same rows one by one, whatever is decoded and by which thread.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::files::without_reference;
use super::report;
use dsrs_metrics::data::{DataReader, Pairs};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, metrics,
    runs::{EvaluateBuilder, Observer, RowResult},
};
use serde_json::json;

/// Writes rows of about 200 bytes, one in three of them right, and returns the reader of the file.
fn written(file: &Path, rows: usize) -> impl Fn() -> Pairs + use<> {
    let mut text = String::new();
    for row in 0..rows {
        let (answer, said) = (format!("Paris {row}"), ["paris", "Rome", "Oslo"][row % 3]);
        let row = json!({
            "id": format!("q{row}"),
            "gold": {"answer": answer, "question": "x".repeat(100)},
            "pred": {"answer": format!("{said} {row}."), "context": "é\n"},
            "topic": {"name": format!("t{}", row % 50)},
        });
        writeln!(text, "{row}").unwrap();
    }
    std::fs::write(file, text).unwrap();
    let file = file.to_owned();
    move || DataReader::new().read([&file]).unwrap()
}

fn em() -> EvaluateBuilder<Example, Prediction> {
    Evaluate::builder()
        .metric(metrics::Em::default())
        .metric(metrics::F1::default())
        .keep_results(false)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_and_files_are_those_of_the_rows_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let read = written(&folder.path().join("rows.jsonl"), 2_000);
    let out = folder.path().join("out.jsonl");
    type Setting = fn(EvaluateBuilder<Example, Prediction>) -> EvaluateBuilder<Example, Prediction>;
    let settings: [Setting; 6] = [
        |it| it,
        |it| it.keep_results(true),
        |it| it.statistics(|statistics| statistics.group("topic.name")),
        |it| it.statistics(|statistics| statistics.group("gold.question")),
        |it| it.max_errors(7).files(|files| files.save_rows(true)),
        |it| it.statistics(|statistics| statistics.bootstrap(100)),
    ];
    for (number, setting) in settings.into_iter().enumerate() {
        let saved = || setting(em()).files(|files| files.jsonl(&out));
        let whole = saved().build().unwrap().score(read()).await.unwrap();
        assert_eq!((whole.rows, whole.failed_rows), (2_000, 0));
        assert_eq!(whole.metrics[0].scored, 2_000);
        dsrs_metrics_tests::schema::validate_file(&out);
        let lines = without_reference(&std::fs::read_to_string(&out).unwrap());
        for concurrency in [1, 2, 32] {
            let evaluate = saved().concurrency(concurrency).build().unwrap();
            let result = evaluate.score_files(read()).await.unwrap();
            assert_eq!(report(&result), report(&whole), "setting {number}");
            assert_eq!(result.results, whole.results, "setting {number}");
            let written = std::fs::read_to_string(&out).unwrap();
            assert!(without_reference(&written) == lines, "setting {number}");
            let counted = setting(em()).concurrency(concurrency).build().unwrap();
            let counted = counted.score_files(read()).await.unwrap();
            assert_eq!(
                report(&counted),
                report(&whole),
                "setting {number}, without a file"
            );
        }
    }
    let result = em().build().unwrap().score_files(read()).await.unwrap();
    assert_eq!(result.score, Some(667.0 / 2_000.0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_error_of_several_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    let read = written(&file, 4_000);
    let rows = std::fs::read_to_string(&file).unwrap();
    let with = |line: usize, row: &str, rows: &str| {
        let mut rows: Vec<_> = rows.lines().collect();
        rows[line - 1] = row;
        rows.join("\n")
    };
    let not_json = "{\"gold\": ";
    let missing = r#"{"id": "x", "gold": {"reply": "a"}, "pred": {"answer": "b"}}"#;
    let duplicate = r#"{"id": "q7", "gold": {"answer": "a"}, "pred": {"answer": "b"}}"#;
    let bad = [
        (duplicate, "q7"),
        (not_json, "EOF"),
        (missing, "no field `gold.answer`"),
    ];
    for ((first, found), (second, _)) in bad.iter().zip(bad.iter().cycle().skip(1)) {
        for line in [1_100, 3_100] {
            let rows = with(line + 300, second, &with(line, first, &rows));
            std::fs::write(&file, rows).unwrap();
            for _ in 0..10 {
                let evaluate = em()
                    .failures(|failures| failures.reject_unreadable_rows(true))
                    .build()
                    .unwrap();
                let error = evaluate.score_files(read()).await.unwrap_err().to_string();
                assert!(error.contains(&format!("rows.jsonl:{line}")), "{error}");
                assert!(error.contains(found), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn a_row_that_a_metric_cannot_read_fails_unless_it_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    std::fs::write(
        &file,
        r#"{"gold": {"answer": "a"}, "pred": {"answer": "a"}}
{"gold": {"answer": {"is": 7}}, "pred": {"answer": "b"}}"#,
    )
    .unwrap();
    let read = || DataReader::new().read([&file]).unwrap();
    let result = em().build().unwrap().score_files(read()).await.unwrap();
    assert_eq!(
        (result.rows, result.failed_rows, result.score),
        (2, 1, Some(0.5))
    );
    /// As `em`, but it waits.
    struct Later;
    #[async_trait]
    impl Metric for Later {
        fn name(&self) -> &'static str {
            "later"
        }
        async fn evaluate(
            &self,
            gold: &Example,
            _: &Prediction,
        ) -> dsrs_metrics::Result<MetricScore> {
            assert!(
                gold.get("answer").unwrap() == "a",
                "no row is paid for that cannot be read"
            );
            tokio::task::yield_now().await;
            Ok(MetricScore::new(1.0))
        }
    }
    for builder in [em(), em().metric(Later)] {
        let evaluate = builder
            .failures(|failures| failures.reject_unreadable_rows(true))
            .build()
            .unwrap();
        let error = evaluate.score_files(read()).await.unwrap_err();
        assert_eq!(
            error
                .unreadable_row()
                .map(dsrs_metrics::MetricError::metric),
            Some("em")
        );
        assert!(error.to_string().contains(":2: "), "{error}");
    }
}

#[tokio::test]
async fn mappings_that_no_row_has_are_in_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    std::fs::write(&file, r#"{"answers": ["a"], "reply": {"text": "A"}}"#).unwrap();
    let reader = [
        "gold.answer=answers",
        "pred.answer=reply.text",
        "gold.topic=topics",
    ];
    let reader = reader
        .into_iter()
        .fold(DataReader::new(), |reader, mapping| {
            reader.with_mapping(mapping.parse().unwrap())
        });
    let result = em()
        .build()
        .unwrap()
        .score_files(reader.read([&file]).unwrap())
        .await
        .unwrap();
    let unused: Vec<_> = result
        .unused_mappings
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        (result.score, unused),
        (Some(1.0), vec!["gold.topic=topics".to_owned()])
    );
}

/// Only fields that the run reads are decoded.
#[tokio::test]
async fn an_observer_receives_whole_rows_if_it_reads_them() {
    struct Seen(bool, Mutex<Vec<String>>);
    impl Observer for Seen {
        fn on_row(&self, row: &RowResult) {
            self.1
                .lock()
                .unwrap()
                .extend(row.gold.keys().map(str::to_owned));
        }
        fn reads_rows(&self) -> bool {
            self.0
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let read = written(&folder.path().join("rows.jsonl"), 1);
    for (reads, fields) in [(true, &["answer", "question"][..]), (false, &["answer"])] {
        let seen = Arc::new(Seen(reads, Mutex::default()));
        let evaluate = em().observer(Arc::clone(&seen)).build().unwrap();
        let result = evaluate.score_files(read()).await.unwrap();
        assert_eq!(
            (result.rows, &**seen.1.lock().unwrap()),
            (
                1,
                &*fields.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()
            )
        );
    }
}
