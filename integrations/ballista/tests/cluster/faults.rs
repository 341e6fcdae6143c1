//! Metrics that fail, and executors that are killed.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use dsrs_metrics_datafusion::register_files;

use crate::processes::Running;
use crate::rows;

const ROWS: u64 = 24_000;
const FILES: u64 = 12;

/// Writes rows to several files, so that all executors have tasks.
fn write(folder: &Path, row: impl Fn(u64) -> String) {
    for file in 0..FILES {
        let rows: Vec<String> = (0..ROWS)
            .filter(|it| it % FILES == file)
            .map(&row)
            .collect();
        std::fs::write(folder.join(format!("{file}.jsonl")), rows.join("\n")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_metric_that_panics_or_fails_is_counted_and_ends_no_query() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), |row| {
        let reply = match row % 100 {
            7 => "panic",
            8 | 9 => "fail",
            _ => "four",
        };
        format!("{{\"model\": \"m{}\", \"reply\": \"{reply}\"}}", row % 3)
    });
    let running = Running::start(&["", ""], &[]);
    let client = running.client("", None).await;
    register_files(&client, "t", &[folder.path().to_owned()])
        .await
        .unwrap();
    let sql = "SELECT model, s['mean_scored'], s['scored'], s['failed'] FROM (SELECT model, \
               metric_summary(fragile_details(reply)) AS s FROM t GROUP BY model)";
    let expected = (0..3).map(|model| format!("m{model} | 4.0 | 7760 | 240"));
    assert_eq!(
        rows(&client, sql).await.unwrap(),
        expected.collect::<Vec<_>>()
    );
    let sql = "SELECT d['error'], count(*) FROM (SELECT fragile_details(reply) AS d FROM t) \
               WHERE d['outcome'] = 'metric_failed' GROUP BY d['error']";
    let expected = [
        "metric `fragile` panicked: cannot score this | 240",
        "metric `fragile`: no score for this | 480",
    ];
    assert_eq!(rows(&client, sql).await.unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_is_right_if_an_executor_is_killed_half_way() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), |row| {
        format!("{{\"model\": \"m{}\", \"number\": {row}}}", row % 3)
    });
    let progress = tempfile::NamedTempFile::new().unwrap();
    let environment: [(&str, &OsStr); 1] =
        [(crate::program::PROGRESS, progress.path().as_os_str())];
    let mut running = Running::start(&["", ""], &environment);
    let client = running.client("", None).await;
    register_files(&client, "t", &[folder.path().to_owned()])
        .await
        .unwrap();
    let sql = "SELECT model, s['mean'], s['scored'], s['failed'] FROM (SELECT model, metric_summary(slow(number)) AS s \
               FROM t GROUP BY model)";
    let query = tokio::spawn(async move { rows(&client, sql).await });

    let done = || progress.as_file().metadata().unwrap().len();
    let deadline = Instant::now() + Duration::from_secs(60);
    while done() < ROWS / 2 {
        assert!(
            Instant::now() < deadline && !query.is_finished(),
            "{} rows",
            done()
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.executors[0].kill();
    let at_the_kill = done();

    let expected = (0..3).map(|model| format!("m{model} | 0.5 | 8000 | 0"));
    assert_eq!(query.await.unwrap().unwrap(), expected.collect::<Vec<_>>());
    assert!(at_the_kill < ROWS, "the query had not ended: {at_the_kill}");
    assert!(
        done() > ROWS,
        "the rows of the killed executor were scored again: {}",
        done()
    );
}
