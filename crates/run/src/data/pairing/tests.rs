//! Rows that are decoded in part, or in the memory of other rows, compared with whole rows of the same text.

use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;

use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::Pair;
use crate::core::spec::Side;
use crate::data::chunk::ChunkRow;
use crate::data::selection::FieldSelection;
use crate::data::{DataError, DataReader, Format};

/// The rows up to the first error, in the same way for a file of any size.
fn read(reader: &DataReader, text: &str) -> Vec<Result<Pair, String>> {
    let rows = reader.read_from("rows", Format::Jsonl, Cursor::new(text.to_owned()));
    rows.map(|row| row.map_err(|error| error.without_advice()))
        .collect()
}

/// The rows up to the first error, each decoded by `serde_json`.
fn by_serde_json(reader: &DataReader, text: &str) -> Vec<Result<Pair, String>> {
    let mut pairs = reader.read_from("rows", Format::Jsonl, Cursor::new(text.to_owned()));
    let (mut rows, pairing) = (Vec::new(), Arc::clone(pairs.pairing()));
    while let Some(chunk) = pairs.next_chunk()
        && !rows.last().is_some_and(Result::is_err)
    {
        let mut add = |row: Result<Pair, DataError>| {
            rows.push(row.map_err(|error| error.without_advice()));
            rows.last().is_some_and(Result::is_ok)
        };
        match chunk {
            Err(error) => _ = add(Err(error)),
            Ok(chunk) => chunk.rows.each(|row| {
                add(row
                    .and_then(ChunkRow::row)
                    .and_then(|row| pairing.pair(row)))
            }),
        }
    }
    rows
}

fn selection() -> FieldSelection {
    let mut selection = FieldSelection::default();
    selection.add_field(Side::Gold, "answer", true);
    selection.add_field(Side::Pred, "answer", true);
    selection.add_field(Side::Pred, "note", false);
    selection.add_path("meta.topic");
    selection
}

fn reader(mappings: &[&str]) -> DataReader {
    let mappings = mappings.iter().map(|mapping| mapping.parse().unwrap());
    mappings.fold(DataReader::new(), DataReader::with_mapping)
}

/// Decodes all rows, up to the first error, in the memory of these.
fn decoded(reader: &DataReader, text: &str, spare: Vec<Pair>) -> Vec<Result<Pair, String>> {
    let mut pairs = reader.read_from("rows", Format::Jsonl, Cursor::new(text.to_owned()));
    let (mut rows, mut spare) = (Vec::new(), spare.into_iter().map(Box::new).collect());
    let pairing = Arc::clone(pairs.pairing());
    while let Some(chunk) = pairs.next_chunk()
        && !rows.last().is_some_and(Result::is_err)
    {
        pairing.decode(chunk, &mut spare, |row| {
            rows.push(row.map(|row| *row).map_err(|error| error.without_advice()));
        });
    }
    rows
}

/// Compares the rows with the same rows in the memory of other ones.
fn assert_reused(reader: &DataReader, text: &str, rows: &[Result<Pair, String>]) {
    let mut spare: Vec<_> = rows.iter().flatten().cloned().collect();
    for _ in 0..3 {
        assert_eq!(decoded(reader, text, spare.clone()), rows, "{text}");
        spare.extend(spare.clone());
        let by = 1.min(spare.len());
        spare.rotate_left(by);
    }
}

#[test]
fn rows_are_decoded_in_the_memory_of_other_rows() {
    let row = |id: &str, gold: &str, pred: &str| {
        format!("{{{id}\"gold\": {{{gold}}}, \"pred\": {{{pred}}}, \"meta\": {{}}}}\n")
    };
    let text = [
        row(
            "",
            r#""answer": ["a", "b\n"], "x": 1"#,
            r#""answer": "c", "note": [1, {"a": []}]"#,
        ),
        row(
            r#""id": "q", "#,
            r#""answer": "a""#,
            r#""note": null, "answer": ["d", "e", "f"]"#,
        ),
        row(r#""id": 7, "#, r#""answer": []"#, r#""answer": true"#),
        row(
            r#""id": -8, "#,
            r#""answer": [["a"]]"#,
            r#""answer": 1.50, "note": "x""#,
        ),
    ]
    .concat();
    for mappings in [&[][..], &["gold.answer=pred.note", "id=gold.answer"]] {
        assert_same(mappings, &text);
        assert_same(mappings, &text.repeat(3));
    }
    // The first row gets the memory of the last row in the list.
    let reader = reader(&[]).with_selection(selection());
    let (mut long, mut of_csv) = (
        Example::from_iter([("answer", "x")]),
        Prediction::from_iter([("note", "1")]),
    );
    (0..40).for_each(|field| _ = long.data.insert(field.to_string(), field));
    of_csv.data.textual = true;
    let spare = Pair::new("x", long, of_csv);
    let found = decoded(
        &reader,
        &row("", r#""answer": "4""#, r#""answer": "5""#),
        vec![spare],
    );
    let expected = Pair::new(
        "1",
        Example::from_iter([("answer", "4")]),
        Prediction::from_iter([("answer", "5")]),
    );
    let found = found[0].clone().unwrap();
    assert_eq!(
        (&found.id, &found.gold, &found.pred),
        (&expected.id, &expected.gold, &expected.pred)
    );
    assert!(!found.pred.data.textual);
}

/// Reads rows with and without the selection, and compares the rows, and their selected fields, with the rows of
/// `serde_json`.
fn assert_same(mappings: &[&str], text: &str) {
    let whole = by_serde_json(&reader(mappings), text);
    assert_eq!(read(&reader(mappings), text), whole, "{text}");
    assert_reused(&reader(mappings), text, &whole);
    let reading = reader(mappings).with_selection(selection());
    let selected = read(&reading, text);
    assert_reused(&reading, text, &selected);
    assert_eq!(whole.len(), selected.len(), "{text}");
    for (whole, selected) in whole.iter().zip(&selected) {
        match (whole, selected) {
            (Ok(whole), Ok(selected)) => {
                assert_eq!((&whole.id, &whole.origin), (&selected.id, &selected.origin));
                let gold = |pair: &Pair| pair.gold.get("answer").cloned();
                let pred =
                    |pair: &Pair| ["answer", "note"].map(|field| pair.pred.get(field).cloned());
                let meta = |pair: &Pair| pair.attributes.get("meta").cloned();
                assert_eq!(
                    (gold(whole), pred(whole)),
                    (gold(selected), pred(selected)),
                    "{text}"
                );
                assert_eq!(meta(whole), meta(selected), "{text}");
                let is_missing = |value: &Option<serde_json::Value>| {
                    value.as_ref().is_none_or(serde_json::Value::is_null)
                };
                if is_missing(&gold(whole)) || is_missing(&pred(whole)[0]) {
                    assert_eq!(whole, selected, "all fields may be named in an error");
                }
            }
            (whole, selected) => assert_eq!(whole, selected, "{text}"),
        }
    }
}

#[test]
fn other_fields_are_not_decoded() {
    let text = r#"{"id": 7, "gold": {"answer": ["a"], "question": "?"}, "pred": {"answer": "b"}, "model": "x"}"#;
    let pair = read(&reader(&[]).with_selection(selection()), text)
        .remove(0)
        .unwrap();
    assert_eq!(
        (
            pair.id.as_str(),
            pair.gold.data.len(),
            pair.attributes.len()
        ),
        ("7", 1, 0)
    );
    assert_same(&[], text);
}

#[test]
fn rows_and_errors_are_those_of_the_whole_row() {
    for text in [
        "",
        "\n \r\n",
        "{}",
        "[1]",
        r#"{"gold": {"answer": 1}}"#,
        r#"{"gold": {"answer": null}, "pred": {"answer": "b", "c": 1}}"#,
        r#"{"gold": {"answer": 1, "answer": 2}}"#,
        r#"{"gold": {"a": 1, "a": 2}}"#,
        r#"{"gold": {"answer": 1}, "pred": {"answer": 2, "x": 1e400}}"#,
        r#"{"gold": {"answer": 1}, "pred": {"answer": 2, "x": 123456789012345678901}}"#,
        r#"{"gold": {"answer": 1}, "pred": {"answer": 2, "x": "\ud800"}}"#,
        r#"{"id": 1.50, "gold": {"answer": 1}, "pred": {"answer": 2}}"#,
        r#"{"id": [], "gold": {"answer": 1}, "pred": {"answer": 2}}"#,
        "{\"gold\": {\"answer\": 1},\t\"pred\": {\"answer\": 2}}\r\n\n{\"gold\": 3}",
        "{\"pred\": {\"answer\": \"x\u{1}\"}, \"gold\": {\"answer\": 1}}",
        r#"{"gold": {"answer": 1}, "pred": {"answer": 2}} x"#,
    ] {
        assert_same(&[], text);
        assert_same(
            &["gold.answer=meta.answers.0", "pred.answer=pred.text"],
            text,
        );
    }
}

#[test]
fn one_invalid_byte_leaves_the_other_lines_as_they_are() {
    let line = br#"{"gold": {"answer": "1"}, "pred": {"answer": "2"}}"#;
    let bytes = [&line[..], b"\n{\"gold\": {\"answer\": \"\xff\"}}\n"].concat();
    for reader in [reader(&[]), reader(&[]).with_selection(selection())] {
        let rows = reader.read_from("rows", Format::Jsonl, Cursor::new(bytes.clone()));
        let rows: Vec<_> = rows.map(|row| row.map(|row| row.id)).collect();
        assert_eq!((rows.len(), rows[0].as_deref().unwrap()), (2, "1"));
        let error = "rows:2: invalid UTF-8: byte 22 is 0xFF; convert the file to UTF-8";
        assert_eq!(rows[1].as_ref().unwrap_err().to_string(), error);
    }
}

#[test]
fn lines_longer_than_what_is_read_at_once_are_whole() {
    let long = "x".repeat(200_000);
    let row = |id: usize, text: &str| {
        format!(r#"{{"id": {id}, "gold": {{"answer": "{text}"}}, "pred": {{"answer": 2}}}}"#)
    };
    let rows = [
        row(1, "a"),
        row(2, &long),
        row(3, &long[..65_000]),
        row(4, ""),
        row(5, &long),
    ];
    let text = rows.join("\n");
    assert_same(&[], &text);
    let lengths = read(&reader(&[]), &text).into_iter().map(|row| {
        row.unwrap()
            .gold
            .get("answer")
            .and_then(|it| it.as_str().map(str::len))
            .unwrap()
    });
    assert_eq!(
        lengths.collect::<Vec<_>>(),
        [1, 200_000, 65_000, 0, 200_000]
    );
}

#[test]
fn a_row_may_have_as_many_bytes_as_the_limit() {
    let row = r#"{"gold": {"answer": 1}, "pred": {"answer": 2}}"#;
    for (end, extra, is_too_long) in [
        ("", 0, false),
        ("\n", 0, false),
        ("\r\n", 0, false),
        ("", 1, true),
        ("\r\n", 1, true),
    ] {
        let reader = reader(&[])
            .with_row_limit(row.len() - extra)
            .with_selection(selection());
        let found = read(&reader, &format!("\n{row}{end}"));
        let found = found[0].as_ref().map(|_| ()).map_err(String::as_str);
        let limit = row.len() - extra;
        let error = format!(
            "rows:2: the row is longer than {limit} bytes, the limit for one row; check for a missing line end or closing quote"
        );
        assert_eq!(
            found,
            if is_too_long { Err(&*error) } else { Ok(()) },
            "{end:?} {extra}"
        );
    }
    let cut = reader(&[]).with_row_limit(8);
    let error = "rows:1: the row is longer than 8 bytes, the limit for one row; check for a missing line end or closing quote";
    assert_eq!(read(&cut, &" ".repeat(100_000)), [Err(error.to_owned())]);
}

/// Nearly valid rows.
fn row() -> impl Strategy<Value = String> {
    let value = prop::sample::select(
        &[
            r#""Paris""#,
            r#""caf\u00e9""#,
            r#""\ud83d""#,
            r#"["a", "b"]"#,
            r#"[{"x": 1}, 2.50]"#,
            "null",
            "1e5",
            "-0",
            "1e-400",
            "98765432109876543210",
            r#"{"a": 1, "b": {"c": []}}"#,
            r#"{"a": 1, "a": 1}"#,
            "tru",
            "",
            "\"",
            "0.5",
            "\"é\\n\"",
            "[",
        ][..],
    );
    let key = prop::sample::select(
        &[
            "id",
            "gold",
            "pred",
            "answer",
            "note",
            "meta",
            "topic",
            "x",
            "\\u0061nswer",
            "scores",
        ][..],
    );
    let member =
        |value| (key.clone(), value).prop_map(|(key, value)| format!("\"{key}\": {value}"));
    let object = |value| {
        prop::collection::vec(member(value), 0..4).prop_map(|all| format!("{{{}}}", all.join(", ")))
    };
    let inner =
        prop_oneof![3 => value.prop_map(str::to_owned), 1 => Just("{\"answer\": 1}".to_owned())]
            .boxed();
    let sides = (object(inner.clone()), object(inner.clone()), object(inner));
    let row = sides.prop_map(|(gold, pred, rest)| {
        let rest = rest
            .trim_start_matches('{')
            .trim_end_matches('}')
            .to_owned();
        let comma = if rest.is_empty() { "" } else { ", " };
        format!("{{\"gold\": {gold}, \"pred\": {pred}{comma}{rest}}}")
    });
    prop_oneof![8 => row, 1 => ".{0,20}"]
}

proptest! {
    #[test]
    fn any_rows_and_errors_are_those_of_the_whole_row(rows in prop::collection::vec(row(), 0..4)) {
        let text = rows.join("\n");
        assert_same(&[], &text);
        assert_same(&["gold.answer=meta.topic", "pred.note=x.a", "id=x"], &text);
    }
}
