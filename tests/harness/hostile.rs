//! Hostile files: limits on the bytes that are read into memory, work that is linear in the input, formulas in CSV.

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dsrs_metrics::data::{DataReader, Format};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{Comparison, Results};
use dsrs_metrics::{Evaluate, rows::Pair};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Time in which linear work is done on any machine; quadratic work on these inputs takes several minutes.
const LINEAR: Duration = Duration::from_secs(120);

/// Endless bytes after a beginning; counts the bytes that are read.
struct Endless {
    beginning: Cursor<Vec<u8>>,
    byte: u8,
    read: Arc<AtomicU64>,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = match self.beginning.read(buffer)? {
            0 => {
                buffer.fill(self.byte);
                buffer.len()
            }
            length => length,
        };
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// The error of a row that never ends, and the bytes that were read before it.
fn endless(format: Format, beginning: &str, byte: u8, limit: usize) -> (String, u64) {
    let read = Arc::new(AtomicU64::new(0));
    let beginning = Cursor::new(beginning.as_bytes().to_vec());
    let stream = BufReader::new(Endless {
        beginning,
        byte,
        read: Arc::clone(&read),
    });
    let mut pairs = DataReader::new()
        .with_row_limit(limit)
        .read_from("rows", format, stream);
    let error = pairs.find_map(Result::err).unwrap().to_string();
    (error, read.load(Ordering::Relaxed))
}

#[test]
fn a_row_that_never_ends_is_read_up_to_the_limit() {
    let limit = 100_000;
    let message = "the row is longer than 100000 bytes, the limit for one row; check for a missing line end or closing quote";
    let cases = [
        (Format::Jsonl, "{\"pred\": {}}\n".to_owned(), b'x'),
        (Format::Jsonl, String::new(), b' '),
        (Format::Jsonl, r#"{"pred": {}}"#.to_owned(), b'\t'),
        (Format::Jsonl, "[".repeat(1000), b'['),
        (Format::Json, r#"[{"pred": {"a": ""#.to_owned(), b'x'),
        (Format::Json, "[".to_owned(), b'['),
        (Format::Csv, "pred.a\n\"".to_owned(), b'x'),
        (Format::Csv, "pred.a\n".to_owned(), b','),
        (Format::Csv, String::new(), b'x'),
    ];
    for (format, beginning, byte) in cases {
        let (error, read) = endless(format, &beginning, byte, limit);
        assert!(
            error.ends_with(message),
            "{format:?} {beginning:?}: {error}"
        );
        assert!(
            read < 2 * limit as u64,
            "{format:?} {beginning:?}: {read} bytes"
        );
    }
}

#[test]
fn a_parquet_file_on_a_stream_is_read_up_to_the_limit() {
    let (error, read) = endless(Format::Parquet, "PAR1", 0, 1);
    assert_eq!(
        error,
        "rows: expected at most 16777216 bytes of Parquet on a stream, found more; save it as a file first"
    );
    assert!(read < 17 << 20, "{read}");
}

/// Values that are one byte each need more memory than a row of strings.
#[test]
fn a_row_with_too_many_values_is_not_parsed() {
    let row = |values: usize| {
        let list = "0,".repeat(values - 1);
        format!("{{\"pred\": {{\"a\": [{list}0]}}}}")
    };
    let limit = 8 << 20;
    let message = format!(
        "rows:1: expected a row of at most {limit} JSON values, where an object counts as 20, found more; split the row, or write its long lists as strings"
    );
    // An object needs the memory of 20 other values.
    let objects = format!(
        "{{\"pred\": {{}}, \"log\": [{}0]}}",
        "{\"\":0},".repeat(limit / 20)
    );
    for row in [row(limit), objects] {
        for (format, content) in [(Format::Json, format!("[{row}]")), (Format::Jsonl, row)] {
            let error = first_error(&DataReader::new(), format, content);
            assert_eq!(error, message);
        }
    }
    let long = format!(
        "{{\"pred\": {{\"a\": \"{}\"}}}}",
        ",".repeat(2 * limit + 100)
    );
    let reader = DataReader::new().read_from("rows", Format::Jsonl, Cursor::new(long));
    assert_eq!(
        reader.map(Result::unwrap).count(),
        1,
        "a string is one value"
    );
}

fn first_error(reader: &DataReader, format: Format, content: String) -> String {
    let mut pairs = reader.read_from("rows", format, Cursor::new(content));
    pairs.find_map(Result::err).unwrap().to_string()
}

#[test]
fn nesting_is_limited_in_every_format() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let row = |levels| format!("{{\"pred\": {{\"a\": {}}}}}", nested(levels));
    let message = "rows:1: lists and objects are nested deeper than 127 levels; flatten them or write the deep part as a string";
    for (format, content) in [
        (Format::Jsonl, row(126)),
        (Format::Json, format!("[{}]", row(126))),
        (Format::Jsonl, row(1_000_000)),
    ] {
        assert_eq!(first_error(&DataReader::new(), format, content), message);
    }
    let pairs = DataReader::new().read_from("rows", Format::Jsonl, Cursor::new(row(125)));
    assert_eq!(pairs.map(Result::unwrap).count(), 1);
    // A cell that is nested too deeply is a string.
    let csv = format!("pred.a\n{}\n", nested(1_000_000));
    let pair = DataReader::new()
        .read_from("rows", Format::Csv, Cursor::new(csv))
        .next();
    assert_eq!(
        pair.unwrap().unwrap().pred.get("a"),
        Some(&json!(nested(1_000_000)))
    );
}

#[test]
fn the_number_of_columns_is_limited() {
    let error = first_error(&DataReader::new(), Format::Csv, ",".repeat(1_000_000));
    assert_eq!(
        error,
        "rows:1: expected at most 1000000 columns, found more; put a JSON object in one column instead"
    );
}

fn results(name: &str, content: &str) -> Result<Results, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, content).unwrap();
    Results::read(&file).map_err(|error| error.to_string())
}

fn lines(rows: usize, row: impl Fn(usize) -> Value) -> String {
    (0..rows)
        .map(|number| format!("{}\n", row(number)))
        .collect()
}

#[test]
fn the_number_of_metrics_in_a_result_file_is_limited() {
    let score = json!({"outcome": "scored", "value": 1.0});
    let row = |id: usize| json!({"id": id, "scores": {format!("m{id}"): score}});
    assert_eq!(
        results("r.jsonl", &lines(1000, row))
            .unwrap()
            .metrics()
            .len(),
        1000
    );
    let end = ":1001: expected at most 1000 metrics in a result file, found more; write results for fewer metrics";
    let error = results("r.jsonl", &lines(1001, row)).unwrap_err();
    assert!(error.ends_with(end), "{error}");
    let names: Vec<String> = (0..1001)
        .map(|number| format!("m{number},m{number}.outcome"))
        .collect();
    let csv = format!("id,{}\nx{}\n", names.join(","), ",1,scored".repeat(1001));
    let error = results("r.csv", &csv).unwrap_err();
    assert!(error.ends_with(&end.replace("1001", "2")), "{error}");
}

/// Each input has many of something that a parser or a report looks up.
#[test]
fn hostile_files_take_linear_time() {
    let started = Instant::now();
    let many = 100_000;
    let keys = |value: &str| {
        let fields: Vec<String> = (0..many).map(|key| format!("\"k{key}\":{value}")).collect();
        fields.join(",")
    };
    // Keys of a row, of an object in it, and numbers that are checked digit by digit.
    for row in [
        format!("{{\"pred\":{{}},{}}}", keys("1")),
        format!("{{\"pred\":{{\"a\":{{{}}}}}}}", keys("0.0")),
        format!("{{\"pred\":{{\"a\":[{}0.0]}}}}", "1e300,".repeat(many)),
    ] {
        let reader = DataReader::new().with_mapping("gold.a=k1.x.y".parse().unwrap());
        let pairs = reader.read_from("rows", Format::Jsonl, Cursor::new(row));
        assert_eq!(pairs.map(Result::unwrap).count(), 1);
    }
    // Columns of attributes in a result file.
    let columns: Vec<String> = (0..many)
        .map(|column| format!("attributes.c{column}"))
        .collect();
    let cells = ",x".repeat(many);
    let table = format!("id,m,m.outcome,{}\nq,1,scored{cells}\n", columns.join(","));
    assert_eq!(
        results("r.csv", &table).unwrap().rows()[0].attributes.len(),
        many
    );
    // Named scores, components and metadata of a row.
    let scores = |key: &str| {
        format!(
            "{{\"id\":1,\"scores\":{{\"m\":{{\"outcome\":\"scored\",\"value\":1,\"{key}\":{{{}}}}}}}}}",
            keys("1")
        )
    };
    let parts = results("r.jsonl", &scores("parts")).unwrap();
    assert_eq!(parts.rows()[0].scores["m"].parts.len(), many);
    let metadata = results("r.jsonl", &scores("metadata")).unwrap();
    assert_eq!(metadata.rows()[0].scores["m"].metadata.len(), many);
    // Rows to pair, with a group and a named score each.
    let row = |id: usize| {
        let part = json!({format!("p{id}"): 1.0});
        let score = json!({"outcome": "scored", "value": id % 2, "parts": part});
        json!({"id": id, "attributes": {"topic": id / 2}, "scores": {"m": score}})
    };
    let file = lines(20_000, row);
    let (a, b) = (
        results("a.jsonl", &file).unwrap(),
        results("b.jsonl", &file).unwrap(),
    );
    let comparison = Comparison::builder()
        .group("topic")
        .draws(10)
        .of(&a, &b)
        .unwrap();
    assert_eq!(comparison.metrics[0].overall.n, 20_000);
    assert_eq!(a.junit().unwrap().matches("<testcase").count(), 20_000);
    assert!(started.elapsed() < LINEAR, "{:?}", started.elapsed());
}

async fn write(file: &Path, rows: Vec<Pair>) {
    let evaluate = Evaluate::builder()
        .metric(metric_fn("one", |_, _| 1.0))
        .files(|files| files.save_rows(true));
    let evaluate = match file.extension().unwrap() == "csv" {
        true => evaluate.files(|files| files.csv(file)),
        false => evaluate.files(|files| files.parquet(file)),
    };
    assert!(
        evaluate
            .build()
            .unwrap()
            .score(rows)
            .await
            .unwrap()
            .is_complete()
    );
}

/// A column for each of the keys would make tables of rows times keys.
#[tokio::test]
async fn rows_with_keys_of_their_own_make_files_of_linear_size() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 3_000;
    let pairs = |shared: bool| {
        let pair = |id: usize| {
            let name = if shared {
                "k".to_owned()
            } else {
                format!("k{id}")
            };
            let (gold, pred) = (Example::default(), Prediction::default());
            let mut pair = Pair::new(id.to_string(), gold, pred);
            pair.gold.data.insert(name.clone(), id);
            pair.pred.data.insert(name.clone(), id.to_string());
            pair.attributes.insert(name, "=1");
            pair
        };
        (0..rows).map(pair).collect::<Vec<_>>()
    };
    for name in ["r.csv", "r.parquet"] {
        let file = folder.path().join(name);
        write(&file, pairs(true)).await;
        let size = std::fs::metadata(&file).unwrap().len();
        write(&file, pairs(false)).await;
        let sparse = std::fs::metadata(&file).unwrap().len();
        assert!(
            sparse < 5 * size,
            "{name}: {sparse} bytes, with shared keys {size}"
        );
        let read = Results::read(&file).unwrap();
        for (id, row) in read.rows().iter().enumerate() {
            let key = format!("k{id}");
            assert_eq!(row.gold, Some(json!({&key: id})), "{name}");
            assert_eq!(row.pred, Some(json!({&key: id.to_string()})), "{name}");
            let attributes: Vec<_> = row.attributes.iter().collect();
            assert_eq!(attributes, [(&*key, &json!("=1"))], "{name}");
        }
    }
}

/// Strings with apostrophes and the characters that begin a formula.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "['=+@\\-a\t]{1,5}",
        "'{0,3}[=+@\\-]\\PC{0,4}",
        "'{0,2} ?[\\[{][a'\"]{0,3}",
        "\\PC{1,6}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn result_files_in_csv_are_lossless_and_without_formulas(
        cells in prop::collection::vec((cell(), cell()), 1..20)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.csv");
        let pairs = cells.iter().enumerate().map(|(row, (label, answer))| {
            let pred = prediction! { "answer" => &**answer };
            let mut pair = Pair::new(format!("{label}-{row}"), example! {}, pred);
            pair.attributes.insert("label", &**label);
            pair
        });
        let pairs: Vec<Pair> = pairs.collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(write(&file, pairs.clone()));
        let results = Results::read(&file).unwrap();
        let data: Vec<Pair> = DataReader::new().read([&file]).unwrap().map(Result::unwrap).collect();
        for ((pair, result), data) in pairs.iter().zip(results.rows()).zip(&data) {
            prop_assert_eq!((&result.id, &data.id), (&pair.id, &pair.id));
            prop_assert_eq!(result.attributes.get("label"), pair.attributes.get("label"));
            prop_assert_eq!(data.attributes.get("label"), pair.attributes.get("label"));
            prop_assert_eq!(data.pred.get("answer"), pair.pred.get("answer"));
            prop_assert_eq!(result.pred.as_ref().and_then(|pred| pred.get("answer")), pair.pred.get("answer"));
        }
        let mut table = csv::Reader::from_path(&file).unwrap();
        for cell in table.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()) {
            let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
            prop_assert!(!is_formula || cell.parse::<f64>().is_ok(), "{:?}", cell);
        }
    }
}
