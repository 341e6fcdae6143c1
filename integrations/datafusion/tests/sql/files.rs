//! Files as tables, results as CSV, and the example `sql`, which does both.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use datafusion::prelude::SessionContext;
use dsrs_metrics_datafusion::{RegisterMetric as _, register_files, write_csv};

/// Writes files into a folder of their own.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

async fn csv(file: &Path, sql: &str) -> Result<String, String> {
    let ctx = SessionContext::new();
    ctx.register_all_builtin().unwrap();
    let table = register_files(&ctx, "t", &[file.to_owned()]).await;
    table.map_err(|error| error.strip_backtrace())?;
    let mut output = Vec::new();
    write_csv(ctx.sql(sql).await.unwrap(), &mut output)
        .await
        .unwrap();
    Ok(String::from_utf8(output).unwrap())
}

#[tokio::test]
async fn every_format_is_a_table() {
    // The field of the last row is a column although the first rows lack it.
    let lines = "{\"id\": 1, \"gold\": {\"answer\": [\"a\", \"b\"]}}\n".repeat(3_000);
    let lines = format!("{lines}{{\"id\": 2, \"pred\": \"b, c\"}}\n");
    let files = [
        ("rows.jsonl", lines.as_str()),
        (
            "rows.json",
            "[{\"id\": 7, \"pred\": null},\n {\"id\": 8, \"pred\": \"x\"}]",
        ),
        ("rows.csv", "id,pred\n007,\"two\nlines\"\n8,\n"),
        ("parts/model=m1/a.jsonl", "{\"id\": 1}\n"),
        ("parts/model=m2/b.jsonl", "{\"id\": 2}\n{\"id\": 3}\n"),
    ];
    let folder = folder(&files);
    for (file, sql, expected) in [
        (
            "rows.jsonl",
            "SELECT id, pred, count(*) AS n FROM t GROUP BY id, pred ORDER BY id",
            "id,pred,n\n1,,3000\n2,\"b, c\",1\n",
        ),
        ("rows.json", "SELECT * FROM t", "id,pred\n7,\n8,x\n"),
        (
            "rows.csv",
            "SELECT id, pred FROM t ORDER BY id",
            "id,pred\n007,\"two\nlines\"\n8,\n",
        ),
        (
            "parts",
            "SELECT model, count(*) AS n FROM t GROUP BY model ORDER BY model",
            "model,n\nm1,1\nm2,2\n",
        ),
        (
            "rows.json",
            "SELECT metric_ci95(f1('x', pred)) AS ci, [id, 1] AS l FROM t GROUP BY id ORDER BY id LIMIT 1",
            "ci.low,ci.high,l\n,,\"[7, 1]\"\n",
        ),
    ] {
        assert_eq!(
            csv(&folder.path().join(file), sql).await.unwrap(),
            expected,
            "{file}"
        );
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named() {
    let folder = folder(&[
        ("rows.txt", "x"),
        ("empty/.hidden.csv", ""),
        ("a.csv", "x\n1\n"),
        ("b.jsonl", "{}\n"),
    ]);
    let path = |name: &str| folder.path().join(name);
    for (name, message) in [
        ("none.csv", "No such file or directory"),
        (
            "rows.txt",
            "expected a jsonl, ndjson, json, csv or parquet file, found",
        ),
        (
            "empty",
            "expected a jsonl, ndjson, json, csv or parquet file, found",
        ),
    ] {
        let found = csv(&path(name), "SELECT 1").await.unwrap_err();
        assert!(found.contains(message) && found.contains(name), "{found}");
    }
    let ctx = SessionContext::new();
    // Before, the first file of a folder decided, and the others were left out without a word.
    let both = register_files(&ctx, "t", &[path("")]).await.unwrap_err();
    let expected = "found .csv and .jsonl; write one NAME=FILE for each file";
    assert!(both.strip_backtrace().contains(expected), "{both}");
    let mixed = register_files(&ctx, "t", &[path("a.csv"), path("b.jsonl")])
        .await
        .unwrap_err();
    assert!(
        mixed
            .strip_backtrace()
            .contains("expected .csv files, found"),
        "{mixed}"
    );
    register_files(&ctx, "t", &[path("a.csv")]).await.unwrap();
    let twice = register_files(&ctx, "t", &[path("a.csv")])
        .await
        .unwrap_err();
    assert!(
        twice
            .strip_backtrace()
            .contains("table `t` is already registered"),
        "{twice}"
    );
}

/// Runs the example, which `cargo test` builds.
fn example(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    let test = std::env::current_exe().unwrap();
    let program: PathBuf = test
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/sql");
    assert!(
        program.exists(),
        "run `cargo build --example sql`, or `cargo test` without `--test`"
    );
    Command::new(program).args(arguments).output().unwrap()
}

#[test]
fn the_example_prints_csv_or_an_error() {
    let folder = folder(&[("a.csv", "gold,pred\nx,x\n"), ("b.csv", "gold,pred\nx,y\n")]);
    let table = |name: &str| format!("t={}", folder.path().join(name).display());
    let query = "SELECT metric_mean(em(gold, pred)) AS mean FROM t";
    let output = example([&*table("a.csv"), &table("b.csv"), query]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "mean\n0.5\n");
    assert_eq!(output.status.code(), Some(0));
    for (arguments, message) in [
        (
            vec![],
            "expected a query, found no arguments; usage: sql [--offline] [--metric NAME=METRIC",
        ),
        (vec!["t", "SELECT 1"], "expected NAME=FILE, found `t`"),
        (vec!["SELECT f11('x', 'y')"], "Did you mean 'f1'?"),
    ] {
        let output = example(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            stderr.starts_with("error: ") && stderr.contains(message),
            "{stderr}"
        );
        assert_eq!((output.stdout.len(), output.status.code()), (0, Some(2)));
    }
}

#[test]
fn the_example_registers_metrics_with_parameters() {
    let metrics = [
        "--metric",
        "good=f1,threshold=0.6,profile=folded",
        "--metric",
    ];
    let word = "word=regex,pattern=[a-c]{1,2}";
    let query = "SELECT good('Straße', 'STRASSE') AS f1, good_details('a cat sat', 'cat')['verdict'] AS good, \
                 f1_details('a cat sat', 'cat')['verdict'] AS f1_verdict, word('ab') AS ab, word('dd') AS dd";
    let output = example(metrics.iter().chain([&word, &query]));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        stdout, "f1,good,f1_verdict,ab,dd\n1.0,true,,true,false\n",
        "{output:?}"
    );
    for (option, message) in [
        (
            "good",
            "expected --metric NAME=METRIC[,KEY=VALUE..], found `good`; usage: sql ",
        ),
        (
            "good=f11",
            "unknown metric `f11`; did you mean `f1`?; usage: sql ",
        ),
        (
            "good=f1,treshold=1",
            "metric `f1` has no parameter `treshold`",
        ),
        (
            "good=f1,strict",
            "expected KEY=VALUE, found `strict`; usage: sql ",
        ),
        (
            "good=f1,threshold=1,threshold=1",
            "expected each parameter once, found `threshold` twice",
        ),
        (
            "word=regex",
            "write --metric word=regex,pattern=..; usage: sql ",
        ),
        ("word=regex,pattern=(", "metric `regex`: "),
        (
            "f1=f1,threshold=1",
            "--metric f1=..: the function `f1` exists; write another name",
        ),
    ] {
        let output = example(["--metric", option, "SELECT 1"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            stderr.starts_with("error: ") && stderr.contains(message),
            "{stderr}"
        );
        assert_eq!((output.stdout.len(), output.status.code()), (0, Some(2)));
    }
    let output = example(["--metric"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("error: expected a value after --metric, found none; "),
        "{stderr}"
    );
}
