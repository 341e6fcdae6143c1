//! Parquet: rows of pandas, polars and DuckDB, result files that they read, invalid files.

use std::io::Cursor;
use std::path::Path;

use dsrs_metrics::data::{DataError, DataReader, Format};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{ResultOutcome, Results};
use dsrs_metrics::{Evaluate, rows::Pair};
use dsrs_metrics_tests::Peer;
use serde_json::{Value, json};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/parquet_files.py");

fn peer() -> Option<Peer> {
    Peer::with(&["duckdb", "pandas", "polars", "pyarrow"])
}

fn read(file: &Path) -> Result<Vec<Pair>, DataError> {
    DataReader::new().read([file])?.collect()
}

/// Two rows with values of every type, one of them with a row that failed.
async fn write_results(file: &Path) {
    let said = metric_fn(
        "said",
        |_: &Example, pred: &Prediction| -> Result<f64, String> {
            pred.get("sure")
                .and_then(Value::as_f64)
                .ok_or_else(|| "no number".to_owned())
        },
    );
    let devset = [
        example! { "answers" => ["Paris", "paris"], "mixed" => 1, "n" => 1, "x" => 1 },
        example! { "answers" => ["42"], "mixed" => "one", "n" => 2, "x" => 0.5 },
    ];
    let program = |row: Example| async move {
        prediction! { "sure" => (row.get("n") == Some(&json!(1))).then_some(0.5), "text" => "é\u{2028}\"" }
    };
    let evaluate = Evaluate::builder()
        .devset(devset)
        .inputs(["n"])
        .metric(said)
        .files(|files| files.parquet(file));
    assert!(
        evaluate
            .build()
            .unwrap()
            .run(program)
            .await
            .unwrap()
            .is_complete()
    );
}

#[tokio::test]
async fn a_result_file_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.parquet");
    write_results(&file).await;
    let rows = read(&file).unwrap();
    assert_eq!((rows.len(), &*rows[0].id, &*rows[1].id), (2, "0", "1"));
    let gold = |row: usize, field| rows[row].gold.get(field).cloned().unwrap_or_default();
    // Lists and columns of several types are columns of JSON, which the metadata names.
    assert_eq!(gold(0, "answers"), json!(["Paris", "paris"]));
    assert_eq!(
        (gold(0, "mixed"), gold(1, "mixed")),
        (json!(1), json!("one"))
    );
    assert_eq!(
        (gold(0, "n"), gold(0, "x"), gold(1, "x")),
        (json!(1), json!(1.0), json!(0.5))
    );
    let pred = |field| rows[1].pred.get(field).cloned();
    assert_eq!(
        (pred("sure"), pred("text")),
        (None, Some(json!("é\u{2028}\"")))
    );
    assert!(
        rows.iter().all(|row| row.attributes.is_empty()),
        "the scores are not part of the scored rows"
    );
    let results = Results::read(&file).unwrap();
    let said = |row: usize| &results.rows()[row].scores["said"];
    assert_eq!(
        (said(0).value, said(0).outcome),
        (Some(0.5), ResultOutcome::Scored)
    );
    assert_eq!(
        (said(1).value, said(1).outcome),
        (None, ResultOutcome::MetricFailed)
    );
    assert_eq!(said(1).error.as_deref(), Some("metric `said`: no number"));
}

#[tokio::test]
async fn rows_have_the_same_scores_after_they_were_written_as_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.parquet");
    let texts = [
        r#"["a","b"]"#,
        r#"{"a":1}"#,
        "[]",
        "[1]",
        "1.50",
        "true",
        "null",
        "",
        "Paris",
    ];
    let strings: Vec<Value> = texts.map(Value::from).into();
    // The answers are a column of strings, or of JSON.
    let with_list = [&strings[..], &[json!(["Paris", "[1]"])]].concat();
    let score = async |rows: Vec<Pair>| {
        let em = dsrs_metrics::metrics::Em::default();
        let evaluate = Evaluate::builder()
            .metric(em)
            .files(|files| files.save_rows(true).parquet(&file))
            .build()
            .unwrap();
        let result = evaluate.score(rows).await.unwrap();
        result
            .results
            .iter()
            .map(|row| (row.id.clone(), row.score()))
            .collect::<Vec<_>>()
    };
    for answers in [strings, with_list] {
        let pair = |gold: &Value, text: &str| {
            let sides = (
                example! { "answer" => gold.clone() },
                prediction! { "answer" => text },
            );
            Pair::new(format!("{gold}{text}"), sides.0, sides.1)
        };
        let rows: Vec<Pair> = answers
            .iter()
            .flat_map(|gold| texts.map(|text| pair(gold, text)))
            .collect();
        let before = score(rows.clone()).await;
        let passed = before.iter().filter(|row| row.1 == Some(1.0)).count();
        assert!(before.len() == 9 * answers.len() && passed > 10, "{passed}");
        let written = read(&file).unwrap();
        for (row, written) in rows.iter().zip(&written) {
            assert_eq!(
                (&written.gold, &written.pred),
                (&row.gold, &row.pred),
                "{}",
                row.id
            );
        }
        assert_eq!(score(written).await, before);
    }
}

#[tokio::test]
async fn an_export_of_many_row_groups_has_every_row_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.parquet");
    let row = |n: u32| Pair::new(n.to_string(), example! {}, prediction! { "n" => n });
    let last = metric_fn("half", |_, pred| {
        pred.get("n").and_then(Value::as_f64).unwrap_or(0.0) / 2.0
    });
    let evaluate = Evaluate::builder()
        .metric(last)
        .keep_results(false)
        .files(|files| files.save_rows(true).parquet(&file));
    let result = evaluate
        .build()
        .unwrap()
        .score((0..25_000).map(row))
        .await
        .unwrap();
    assert_eq!(result.rows, 25_000);
    let results = Results::read(&file).unwrap();
    let rows = results
        .rows()
        .iter()
        .map(|row| (row.id.clone(), row.scores["half"].value));
    assert!(rows.eq((0..25_000).map(|n| (n.to_string(), Some(f64::from(n) / 2.0)))));
}

#[tokio::test]
async fn pandas_polars_and_duckdb_read_a_result_file() {
    let Some(peer) = peer() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.parquet");
    write_results(&file).await;
    let read: Value = serde_json::from_str(
        &peer
            .output(&[SCRIPT, "read", file.to_str().unwrap()])
            .unwrap(),
    )
    .unwrap();
    let types = &read["types"];
    assert_eq!(
        [
            &types["id"],
            &types["gold.n"],
            &types["gold.x"],
            &types["said"],
            &types["said.passed"]
        ],
        ["String", "Int64", "Float64", "Float64", "String"]
    );
    for tool in ["pandas", "polars", "duckdb"] {
        let rows = &read[tool];
        assert_eq!(rows.as_array().unwrap().len(), 2, "{tool}");
        assert_eq!(
            (&rows[0]["said"], &rows[1]["said"]),
            (&json!(0.5), &Value::Null),
            "{tool}"
        );
        assert_eq!(rows[0]["gold.answers"], r#"["Paris","paris"]"#, "{tool}");
        assert_eq!(rows[1]["pred.text"], "é\u{2028}\"", "{tool}");
    }
}

#[tokio::test]
async fn rows_of_pandas_polars_and_duckdb_are_scored() {
    let Some(peer) = peer() else { return };
    let folder = tempfile::tempdir().unwrap();
    peer.output(&[SCRIPT, "write", folder.path().to_str().unwrap()])
        .unwrap();
    for tool in ["pandas", "polars", "duckdb"] {
        let rows = read(&folder.path().join(format!("{tool}.parquet"))).unwrap();
        let ids: Vec<_> = rows.iter().map(|row| &*row.id).collect();
        assert_eq!(ids, ["q1", "q2"], "{tool}");
        assert_eq!(
            rows[0].gold.get("answer"),
            Some(&json!(["Paris", "paris"])),
            "{tool}"
        );
        assert_eq!(
            rows[1].pred.get("answer"),
            Some(&json!("é\u{2028}\"")),
            "{tool}"
        );
        let attributes =
            ["words", "sure", "good"].map(|name| rows[0].attributes.get(name).cloned());
        assert_eq!(
            attributes,
            [Some(json!(1)), Some(json!(0.5)), Some(json!(true))],
            "{tool}"
        );
        assert_eq!(rows[1].attributes.get("words"), None, "{tool}");
        let evaluate = Evaluate::builder()
            .metric(dsrs_metrics::metrics::Em::default())
            .build()
            .unwrap();
        let result = evaluate.score(rows).await.unwrap();
        assert_eq!(result.score, Some(0.5), "{tool}");
    }
}

#[tokio::test]
async fn invalid_files_are_errors_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.parquet");
    write_results(&file).await;
    let whole = std::fs::read(&file).unwrap();
    let error = |bytes: Vec<u8>| {
        let rows = DataReader::new().read_from("x.parquet", Format::Parquet, Cursor::new(bytes));
        rows.collect::<Result<Vec<_>, _>>()
            .map(|rows| rows.len())
            .unwrap_err()
            .to_string()
    };
    for bytes in [
        Vec::new(),
        b"PAR1".to_vec(),
        b"{}\n".to_vec(),
        whole[..whole.len() - 1].to_vec(),
    ] {
        let error = error(bytes);
        assert!(
            error.starts_with("x.parquet: row 1: invalid Parquet: "),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    // Any single wrong byte is an error or other values, never a panic.
    let mut outcomes = [0, 0];
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        let rows = DataReader::new().read_from("x.parquet", Format::Parquet, Cursor::new(bytes));
        match rows.take(10).collect::<Result<Vec<_>, _>>() {
            Ok(_) => outcomes[0] += 1,
            Err(error) => {
                outcomes[1] += 1;
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        }
    }
    assert!(outcomes[1] > 100, "{outcomes:?}");
}

#[tokio::test]
async fn a_row_above_the_limit_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.parquet");
    write_results(&file).await;
    let error = DataReader::new()
        .with_row_limit(64)
        .read([&file])
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err();
    assert!(error.to_string().ends_with("r.parquet:1: the row is longer than 64 bytes, the limit for one row; check for a missing line end or closing quote"), "{error}");
}

#[tokio::test]
async fn a_page_above_the_limit_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.parquet");
    let mut pair = Pair::new("q", example! {}, prediction! { "x" => 1 });
    pair.attributes.insert("long", "x".repeat(5 << 20));
    let evaluate = Evaluate::builder()
        .metric(metric_fn("one", |_, _| 1.0))
        .files(|files| files.parquet(&file));
    let evaluate = evaluate.files(|files| files.save_rows(true));
    assert!(
        evaluate
            .build()
            .unwrap()
            .score([pair])
            .await
            .unwrap()
            .is_complete()
    );
    let long = read(&file).unwrap()[0].attributes.get("long").cloned();
    assert_eq!(
        long.and_then(|long| long.as_str().map(str::len)),
        Some(5 << 20)
    );
    let unlimited = DataReader::new().with_row_limit(usize::MAX);
    let stream = Cursor::new(std::fs::read(&file).unwrap());
    let rows = unlimited
        .read_from("x", Format::Parquet, stream)
        .map(Result::unwrap);
    assert_eq!(rows.count(), 1);
    let mut rows = DataReader::new().with_row_limit(1).read([&file]).unwrap();
    let error = rows.next().unwrap().unwrap_err().to_string();
    let expected =
        "r.parquet: column `attributes.long`: expected pages of at most 4194304 bytes, found 52";
    assert!(
        error.contains(expected) && error.ends_with("; rewrite the file with smaller pages"),
        "{error}"
    );
}
