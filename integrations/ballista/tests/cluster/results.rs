//! A query has the same results on a cluster as in one process, to the last digit.

use std::path::{Path, PathBuf};
use std::process::Command;

use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::prelude::SessionContext;
use dsrs_metrics_datafusion::{RegisterMetric as _, register_files};

use crate::processes::{Process, Running};
use crate::rows;

const QUERIES: [&str; 6] = [
    "SELECT model, metric_summary(answer_exact_match(gold['answer'], pred['answer'])) FROM qa GROUP BY model",
    "SELECT model, metric_summary(s)['identity'] FROM (SELECT model, f1(gold['answer'], pred['answer']) AS s FROM qa) GROUP BY model",
    "SELECT model, metric_mean(f1(gold['answer'], pred['answer'])), metric_mean(rouge_l(gold['answer'], pred['answer'])) \
     FROM qa GROUP BY model",
    "SELECT model, metric_ci95(f1(gold['answer'], pred['answer'])) FROM qa GROUP BY model",
    "SELECT model, accuracy(lower(pred['answer']), pred['answer']) FROM qa GROUP BY model",
    "SELECT id, model, f1_details(gold['answer'], pred['answer']) FROM qa WHERE id IN ('1', '7', 'q0001') OR \
     length(pred['answer']) > 60",
];

/// The folder of the data set; `None` if it is absent, unless the environment requires it.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("DSRS_METRICS_DATA").map(|data| Path::new(&data).join("qa"));
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        assert!(
            std::env::var_os("DSRS_METRICS_REQUIRE").is_none(),
            "no folder DSRS_METRICS_DATA/qa"
        );
        eprintln!("skipped: set DSRS_METRICS_DATA to the folder with `qa`");
    }
    found
}

fn jsonl(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_those_of_one_process() {
    let Some(folder) = folder() else { return };
    let alone = SessionContext::new();
    alone.register_all_builtin().unwrap();
    register_files(&alone, "qa", &jsonl(&folder)).await.unwrap();
    let parquet = tempfile::tempdir().unwrap();
    let table = alone
        .sql("SELECT * FROM qa ORDER BY id DESC, model")
        .await
        .unwrap();
    let options = DataFrameWriteOptions::new().with_partition_by(vec!["model".to_owned()]);
    table
        .write_parquet(parquet.path().to_str().unwrap(), options, None)
        .await
        .unwrap();

    let running = Running::start(&["", ""], &[]);
    let files = [
        ("JSONL", jsonl(&folder)),
        ("Parquet", vec![parquet.path().to_owned()]),
    ];
    for (format, files) in files {
        let client = running.client("", None).await;
        register_files(&client, "qa", &files).await.unwrap();
        for sql in QUERIES {
            let expected = rows(&alone, sql).await.unwrap();
            assert!(expected.len() >= 3, "{sql}: {expected:?}");
            assert_eq!(
                rows(&client, sql).await.unwrap(),
                expected,
                "{format}: {sql}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interval_is_limited_by_the_range_of_the_metric() {
    let running = Running::start(&["", ""], &[]);
    let client = running.client("", None).await;
    // The scores 1, 1 and 0.8, whose interval by Student's t would end at 1.22, and Wilson's for numbers of few values does here.
    let table = "(VALUES ('x', 'x'), ('y', 'y'), ('x y z', 'x y')) AS t(answer, reply)";
    let direct = format!("SELECT metric_ci95(f1(answer, reply))['high'] FROM {table}");
    let of_column = format!(
        "SELECT metric_ci95(score)['high'] FROM (SELECT DISTINCT answer, f1(answer, reply) AS score FROM {table})"
    );
    for sql in [direct, of_column] {
        assert_eq!(
            rows(&client, &sql).await.unwrap(),
            ["0.9992112020536341"],
            "{sql}"
        );
    }
}

#[test]
fn the_commands_of_the_readme_print_csv() {
    let program = env!("CARGO_BIN_EXE_dsrs-metrics-ballista");
    let start = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments);
        Process::of(command)
    };
    let scheduler = start(&["scheduler", "--listen", "127.0.0.1:0"]);
    let line = scheduler.line("listening on port ");
    let address = format!("127.0.0.1:{}", line.rsplit(' ').next().unwrap());
    let no_executor = Command::new(program)
        .args([
            "sql",
            "--scheduler",
            &address,
            "SELECT em(x, x) FROM (VALUES ('a')) AS t(x)",
        ])
        .output()
        .unwrap();
    let expected = "error: the cluster has no executor; start one, and run the query again\n";
    assert_eq!(String::from_utf8_lossy(&no_executor.stderr), expected);
    assert_eq!(no_executor.status.code(), Some(2));
    let executors = [(); 2].map(|()| start(&["executor", "--scheduler", &address, "--cores", "1"]));
    for executor in &executors {
        let line = executor.line("registered");
        assert_eq!(
            line,
            format!("executor: registered with the scheduler at {address}")
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("qa.csv");
    std::fs::write(
        &file,
        "model,answer,reply\na,Paris,paris\na,Rome,Lyon\nb,Rome,the Rome\n",
    )
    .unwrap();
    let sql =
        "SELECT model, metric_mean(em(answer, reply)) AS em FROM qa GROUP BY model ORDER BY model";
    let table = format!("qa={}", file.display());
    let mut query = Command::new(program);
    let output = query
        .args(["sql", "--scheduler", &address, &table, sql])
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let found = (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code(),
    );
    assert_eq!(
        found,
        (
            "model,em\na,0.5\nb,1.0\n".to_owned(),
            String::new(),
            Some(0)
        )
    );
}
