//! A judge on two executors, with a server that has every kind of fault.

use std::ffi::OsStr;
use std::sync::Arc;

use dsrs_metrics_datafusion::register_files;

use crate::fault_table::{Seen, answer, expected, score};
use crate::processes::Running;
use crate::rows;
use crate::server::Server;

const ROWS: usize = 5000;

#[tokio::test(flavor = "multi_thread")]
async fn each_of_five_thousand_rows_is_judged_once_on_two_executors() {
    let seen: Arc<Seen> = Arc::default();
    let shared = Arc::clone(&seen);
    let server = Server::without_recording(move |received| answer(&shared, received)).await;
    let folder = tempfile::tempdir().unwrap();
    for file in 0..10 {
        let lines = (0..ROWS).filter(|row| row % 10 == file);
        let lines: Vec<String> = lines
            .map(|row| format!("{{\"id\": {row}, \"reply\": \"answer {row}\"}}"))
            .collect();
        std::fs::write(
            folder.path().join(format!("{file}.jsonl")),
            lines.join("\n"),
        )
        .unwrap();
    }
    let url = server.url("/v1");
    let running = Running::start(&["", ""], &[(crate::program::MODEL, OsStr::new(&url))]);
    let client = running.client("", Some(&url)).await;
    register_files(&client, "t", &[folder.path().to_owned()])
        .await
        .unwrap();
    let sql = "SELECT id, d['outcome'], d['value'], d['error'] FROM \
               (SELECT id, graded_details(reply) AS d FROM t)";
    let found = rows(&client, sql).await.unwrap();

    assert_eq!(found.len(), ROWS);
    let seen = seen.lock().unwrap();
    for line in found {
        let cells: Vec<&str> = line.splitn(4, " | ").collect();
        let row: usize = cells[0].parse().unwrap();
        let (fault, attempts) = expected(row);
        assert_eq!(seen[&row], attempts, "row {row} was judged once: {line}");
        match fault {
            None => {
                let value = format!("{:?}", score(row));
                assert_eq!(cells[1..], ["scored", &value, "NULL"], "row {row}");
            }
            Some(fault) => {
                assert_eq!(cells[1..3], ["metric_failed", "NULL"], "row {row}");
                assert!(cells[3].contains(fault.message()), "row {row}: {line}");
            }
        }
    }
    assert_eq!(seen.len(), ROWS);
}
