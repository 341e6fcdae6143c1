//! `DataReader`: the pairs of a file, value by value.

use std::io::{BufReader, Cursor};

use dsrs_metrics::data::{DataError, DataErrorKind, DataReader, Format, Mapping};
use dsrs_metrics::rows::Pair;
use proptest::prelude::*;
use serde_json::{Value, json};

type Rows = Result<Vec<Pair>, DataError>;

fn read(format: Format, content: &str) -> Rows {
    read_with(&DataReader::new(), format, content)
}

fn read_with(reader: &DataReader, format: Format, content: &str) -> Rows {
    reader
        .read_from("rows", format, Cursor::new(content.as_bytes().to_vec()))
        .collect()
}

fn mapped(mappings: &[&str], row: &str) -> Result<Pair, DataError> {
    let parsed = mappings
        .iter()
        .map(|mapping| mapping.parse::<Mapping>().unwrap());
    let reader = parsed.fold(DataReader::new(), DataReader::with_mapping);
    read_with(&reader, Format::Jsonl, row).map(|mut rows| rows.remove(0))
}

#[test]
fn a_row_is_gold_pred_and_attributes() {
    let row = r#"{"model": "bert", "id": "q", "pred": {"b": 1, "a": [2]}, "gold": {"z": null, "y": "t"}, "n": 3}"#;
    let pair = read(Format::Jsonl, row).unwrap().remove(0);
    assert_eq!(pair.id, "q");
    assert_eq!(
        pair.gold.keys().collect::<Vec<_>>(),
        ["z", "y"],
        "in the order of the file"
    );
    assert_eq!(pair.pred.keys().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(pair.pred.get("a"), Some(&json!([2])));
    let attributes: Vec<_> = pair.attributes.iter().collect();
    assert_eq!(attributes, [("model", &json!("bert")), ("n", &json!(3))]);
    assert_eq!(pair.origin.unwrap().to_string(), "rows:1");
}

#[test]
fn rows_know_their_lines() {
    let lines = |format, content: &str| -> Vec<u64> {
        let rows = read(format, content).unwrap();
        rows.into_iter()
            .map(|row| row.origin.unwrap().line)
            .collect()
    };
    let row = r#"{"pred": {}}"#;
    assert_eq!(
        lines(Format::Jsonl, &format!("\n{row}\r\n\r\n  \n{row}")),
        [2, 5]
    );
    assert_eq!(
        lines(Format::Json, &format!("[\n\n{row}, {row},\n{row}\n]\n")),
        [3, 3, 4]
    );
    let csv = "\n\npred.a,b\n1,2\n\n\"3\n\n\",4\n5,6";
    assert_eq!(lines(Format::Csv, csv), [4, 6, 9]);
    assert_eq!(lines(Format::Csv, &csv.replace('\n', "\r\n")), [4, 6, 9]);
}

#[test]
fn csv_cells_are_unchanged_strings() {
    let csv = "id,gold.a,pred.b.c,topic\n7,\" x, \"\"y\"\" \",1.50,\n";
    let pair = read(Format::Csv, csv).unwrap().remove(0);
    assert_eq!(pair.id, "7");
    assert_eq!(pair.gold.get("a"), Some(&json!(" x, \"y\" ")));
    assert_eq!(pair.pred.get("b.c"), Some(&json!("1.50")));
    assert_eq!(pair.attributes.get("topic"), Some(&json!("")));
}

#[test]
fn paths_lead_into_objects_lists_gold_and_pred() {
    let row =
        r#"{"a": {"b": [{"c": 1}, {"c": 2}]}, "x.y": 3, "gold": {"g": {"h": 4}}, "pred": {}}"#;
    let at = |path: &str| {
        let mapping = format!("pred.f={path}");
        mapped(&[&mapping], row).unwrap().pred.get("f").cloned()
    };
    assert_eq!(at("a.b.1.c"), Some(json!(2)));
    assert_eq!(at("a.b.-1.c"), Some(json!(2)), "from the end");
    assert_eq!(at("a.b"), Some(json!([{"c": 1}, {"c": 2}])));
    assert_eq!(at("x.y"), Some(json!(3)), "a key with a dot in it");
    assert_eq!(at("gold.g.h"), Some(json!(4)));
    for path in ["a.b.2.c", "a.b.c", "a.b.-3", "b", "x", "gold.h", "pred"] {
        assert_eq!(at(path), None, "{path}");
    }
}

#[test]
fn mappings_read_the_row_as_it_is_in_the_file() {
    let swapped = mapped(
        &["gold.a=pred.a", "pred.a=gold.a"],
        r#"{"gold": {"a": "g"}, "pred": {"a": "p"}}"#,
    );
    let swapped = swapped.unwrap();
    assert_eq!(swapped.gold.get("a"), Some(&json!("p")));
    assert_eq!(swapped.pred.get("a"), Some(&json!("g")));
}

#[test]
fn unused_mappings_are_those_that_no_row_has() {
    let reader = DataReader::new()
        .with_mapping("gold.a=here".parse().unwrap())
        .with_mapping("gold.b=nowhere".parse().unwrap());
    let content = Cursor::new(b"{\"here\": 1}\n{}".to_vec());
    let mut pairs = reader.read_from("rows", Format::Jsonl, content);
    assert_eq!(pairs.by_ref().filter(Result::is_ok).count(), 2);
    let unused: Vec<_> = pairs.unused_mappings().map(Mapping::to_string).collect();
    assert_eq!(unused, ["gold.b=nowhere"]);
}

#[test]
fn the_first_error_is_the_last_item() {
    let good = r#"{"pred": {}}"#;
    let content = Cursor::new(format!("{good}\n3\n{good}\n").into_bytes());
    let mut pairs = DataReader::new().read_from("rows", Format::Jsonl, content);
    assert!(pairs.next().unwrap().is_ok());
    let error = pairs.next().unwrap().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("rows:2: expected a row such as"),
        "{error}"
    );
    assert!(pairs.next().is_none() && pairs.next().is_none());
}

#[test]
fn the_limit_of_a_row_is_exact() {
    let row = r#"{"pred": {"a": "x"}}"#;
    let array = format!("[{row}, {row}]");
    let csv = "pred.a,b\nxyz,uvw\nxyz,uvw\n";
    let inputs = [
        (Format::Jsonl, format!("{row}\r\n{row}\n"), row.len()),
        (Format::Json, array, row.len()),
        (Format::Csv, csv.to_owned(), "pred.ab".len()),
    ];
    for (format, content, longest) in inputs {
        let read = |limit| read_with(&DataReader::new().with_row_limit(limit), format, &content);
        assert_eq!(read(longest).unwrap().len(), 2, "{format:?}");
        let error = read(longest - 1).unwrap_err();
        let expected = format!("the row is longer than {} bytes", longest - 1);
        assert!(error.to_string().contains(&expected), "{error}");
        assert_eq!(error.kind(), DataErrorKind::TooLarge);
        assert_eq!(read(usize::MAX).unwrap().len(), 2, "{format:?}");
    }
}

#[test]
fn elements_end_outside_of_strings_and_brackets() {
    let tricky = r#"{"pred": {"a": "]},{ \" \\", "b": [[{}], "["]}}"#;
    let rows = read(Format::Json, &format!("[{tricky},{tricky}]")).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].pred.get("a"), Some(&json!("]},{ \" \\")));
    assert_eq!(rows[1].pred.get("b"), Some(&json!([[{}], "["])));
    for scalar in ["1", "\"a,b\"", "true", "null", "-1.5e3"] {
        let error = read(Format::Json, &format!("[{scalar}]")).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("rows:1: expected a row such as"),
            "{scalar}: {error}"
        );
    }
}

#[test]
fn a_row_is_the_same_as_a_line_and_as_an_array_element() {
    let values = [
        json!({"a": "é\u{1F600}\n\t\u{0}"}),
        json!({"deep": [[[{"x": [1e300, -0.0]}]]]}),
    ];
    for value in values {
        let row = json!({"gold": value, "pred": {}}).to_string();
        let line = read(Format::Jsonl, &row).unwrap().remove(0);
        let element = read(Format::Json, &format!("[{row}]")).unwrap().remove(0);
        assert_eq!(line.gold, element.gold);
        assert_eq!(serde_json::to_value(&line.gold).unwrap(), value);
    }
}

#[test]
fn numbers_are_ids_too() {
    let ids = |rows: &str| -> Vec<String> {
        read(Format::Jsonl, rows)
            .unwrap()
            .into_iter()
            .map(|pair| pair.id)
            .collect()
    };
    let rows = "{\"id\": 7, \"pred\": {}}\n\n{\"pred\": {}}";
    assert_eq!(ids(rows), ["7", "2"]);
    let null: Value = Value::Null;
    assert!(
        read(
            Format::Jsonl,
            &format!("{{\"id\": {null}, \"pred\": {{}}}}")
        )
        .is_err()
    );
}

#[test]
fn numeric_ids_stay_as_they_are_written() {
    let id = |id: &str| {
        let row =
            format!(r#"{{"gold": {{"id": 7.5}}, "n": 0.0, "id" : {id}, "pred": {{"id": 1e3}}}}"#);
        let line = read(Format::Jsonl, &row).unwrap().remove(0).id;
        let element = read(Format::Json, &format!("[{row}, {row}]"))
            .unwrap()
            .remove(1)
            .id;
        assert_eq!(line, element);
        line
    };
    for written in [
        "1.50",
        "1e2",
        "-0",
        "0.0",
        "1E+2",
        "12.000",
        "9007199254740993",
        "\"1.50\"",
    ] {
        assert_eq!(id(written), written.trim_matches('"'));
    }
}

#[test]
fn a_number_below_the_smallest_float_is_out_of_range_like_one_above_the_largest() {
    let error = |row: &str| read(Format::Jsonl, row).unwrap_err().to_string();
    let out_of_range = |column| format!("rows:1:{column}: invalid JSON: number out of range");
    for number in ["1e-400", "1e9400", "-2.5E-324000", "0.00001e-330"] {
        let row = format!(r#"{{"pred": {{"a": [0.0, {number}]}}}}"#);
        assert_eq!(error(&row), out_of_range(21 + number.len()), "{number}");
    }
    assert_eq!(error(r#"{"id": 1e-400, "pred": {}}"#), out_of_range(13));
    for zero in ["0.0", "-0.0", "0e-400", "5e-324", "\"1e-400\""] {
        assert!(
            read(Format::Jsonl, &format!(r#"{{"pred": {{"a": {zero}}}}}"#)).is_ok(),
            "{zero}"
        );
    }
}

#[test]
fn a_lone_surrogate_is_named() {
    for text in [
        r"\ud800",
        r"\ud800x",
        r"\ud83d\n",
        r"\udc00",
        r"\ud800\ud800",
    ] {
        let row = format!(r#"{{"pred": {{"a": "{text}"}}}}"#);
        let error = read(Format::Jsonl, &row).unwrap_err().to_string();
        assert!(
            error.contains("invalid JSON: lone surrogate: "),
            "{text}: {error}"
        );
    }
    let pair = read(Format::Jsonl, r#"{"pred": {"a": "\ud83d\ude00"}}"#)
        .unwrap()
        .remove(0);
    assert_eq!(pair.pred.get("a"), Some(&json!("😀")));
    let error = read(Format::Jsonl, r#"{"pred": {"a": "\u12"}}"#)
        .unwrap_err()
        .to_string();
    assert!(!error.contains("surrogate"), "{error}");
}

/// Quadratic work takes several minutes.
#[test]
fn the_header_of_a_wide_csv_file_takes_linear_time() {
    let columns = 300_000;
    let header: Vec<_> = (0..columns).map(|column| format!("c{column}")).collect();
    let cells = vec!["1"; columns].join(",");
    let csv = format!("pred.a,{}\nx,{cells}\n", header.join(","));
    let started = std::time::Instant::now();
    let pair = read(Format::Csv, &csv).unwrap().remove(0);
    assert_eq!(pair.attributes.len(), columns);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn a_list_of_keys_in_a_message_is_bounded() {
    let keys: Vec<_> = (0..1000).map(|key| format!(r#""k{key}": 1"#)).collect();
    let error = read(Format::Jsonl, &format!("{{{}}}", keys.join(",")))
        .unwrap_err()
        .to_string();
    assert!(error.contains("`k19` and 980 more;"), "{error}");
}

/// Files made of these pieces, so that many of them are almost valid.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 20] = [
        b"{\"gold\": {\"a\": 1}, \"pred\": {}}",
        b"{\"id\": \"",
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
        b"\r\n",
        b"\\",
        b"\xEF\xBB\xBF",
        b"\xFF",
        "é".as_bytes(),
        b"1e400",
        b"-0",
        b" ",
        b"gold.a,pred.b",
        b"x",
    ];
    prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..30)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_file_makes_a_reader_panic_or_miscount(content in pieces(), limit in 1..100_usize) {
        let lines = content.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        for format in [Format::Jsonl, Format::Json, Format::Csv] {
            let reader = DataReader::new().with_row_limit(limit);
            let mut last = 0;
            for pair in reader.read_from("rows", format, Cursor::new(content.clone())) {
                let Ok(pair) = pair else { continue };
                let line = pair.origin.unwrap().line;
                prop_assert!(last <= line && line <= lines, "line {line} after {last} of {lines}");
                last = line;
            }
        }
    }
}

#[test]
fn names_in_messages_are_escaped_and_bounded() {
    let message = |format, content: &str| read(format, content).unwrap_err().to_string();
    assert_eq!(
        message(Format::Csv, "\"pred.\u{1b}[2J\n\",\"pred.\u{1b}[2J\n\"\n"),
        r"rows:1: duplicate column `pred.\u{1b}[2J\n`; rename or remove one"
    );
    assert_eq!(
        message(
            Format::Jsonl,
            r#"{"gold": {"\u001b[2J": 1, "\u001b[2J": 2}}"#
        ),
        r"rows:1:41: invalid JSON: duplicate key `\u{1b}[2J`"
    );
    let long = "k".repeat(100);
    let error = message(
        Format::Jsonl,
        &format!(r#"{{"gold": {{"{long}": 1, "{long}": 2}}}}"#),
    );
    assert!(
        error.ends_with(&format!("duplicate key `{}…`", "k".repeat(79))),
        "{error}"
    );
    let cell = Cursor::new(b"pred.\x07\n\xff\n".to_vec());
    let error = DataReader::new()
        .read_from("rows", Format::Csv, cell)
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        r"rows:2: column `pred.\u{7}`: invalid UTF-8: byte 1 is 0xFF; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it"
    );
}

/// The first bytes of a pipe may arrive one by one.
#[test]
fn a_compressed_file_is_refused_whatever_the_size_of_reads() {
    let starts: [(&[u8], &str); 3] = [
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xfd7zXZ\x00", "xz"),
    ];
    for (start, name) in starts {
        for (size, mark) in [1, 2, 3, 4, 64]
            .into_iter()
            .flat_map(|it| [(it, &b""[..]), (it, b"\xEF\xBB\xBF")])
        {
            if mark.is_empty() && name != "xz" {
                // These are read.
                continue;
            }
            let bytes = Cursor::new([mark, start, b"\nid,pred.a\n1,2\n"].concat());
            let reader = BufReader::with_capacity(size, bytes);
            let rows: Rows = DataReader::new()
                .read_from("rows", Format::Csv, reader)
                .collect();
            assert_eq!(
                rows.unwrap_err().to_string(),
                format!("rows: expected rows, found {name}; decompress the file first"),
                "{size}"
            );
        }
    }
}

/// The first bytes of a pipe may arrive one by one.
#[test]
fn a_byte_order_mark_is_found_whatever_the_size_of_reads() {
    let read_by = |size, format, content: &str| -> Rows {
        let bytes = Cursor::new(content.as_bytes().to_vec());
        let reader = BufReader::with_capacity(size, bytes);
        DataReader::new()
            .read_from("rows", format, reader)
            .collect()
    };
    for size in [1, 2, 3, 4, 64] {
        let rows = read_by(size, Format::Csv, "\u{feff}id,pred.a\n1,2\n").unwrap();
        assert_eq!(
            (rows[0].id.as_str(), rows[0].pred.get("a")),
            ("1", Some(&json!("2"))),
            "{size}"
        );
        let rows = read_by(
            size,
            Format::Jsonl,
            "\u{feff}{\"id\": 1, \"pred\": {\"a\": 2}}",
        )
        .unwrap();
        assert_eq!(
            (rows[0].id.as_str(), rows[0].pred.get("a")),
            ("1", Some(&json!(2))),
            "{size}"
        );
        // Behind the first line it is part of the header.
        let rows = read_by(size, Format::Csv, "\n\n\n\u{feff}id,pred.a\n1,2\n").unwrap();
        assert_eq!(
            rows[0].attributes.get("\u{feff}id"),
            Some(&json!("1")),
            "{size}"
        );
        let error = read_by(size, Format::Jsonl, "\u{ef}")
            .unwrap_err()
            .to_string();
        assert_eq!(error, "rows:1:1: invalid JSON: expected value", "{size}");
    }
}
