//! Partly decoded rows, compared with whole rows from the same text.

use std::io::Cursor;

use proptest::prelude::*;

use crate::contract::{Pair, Side};
use crate::data::selection::FieldSelection;
use crate::data::{DataReader, Format};

/// Returns the rows up to the first error.
fn read(reader: &DataReader, text: &str) -> Vec<Result<Pair, String>> {
    let rows = reader.read_from("rows", Format::Jsonl, Cursor::new(text.to_owned()));
    rows.map(|row| row.map_err(|error| error.without_advice()))
        .collect()
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

/// Compares whole rows with their selected fields. A whole row may be invalid only in a field that nothing reads.
fn assert_same(mappings: &[&str], text: &str) {
    let whole = read(&reader(mappings), text);
    let selected = read(&reader(mappings).with_selection(selection()), text);
    assert!(whole.len() <= selected.len(), "{text}");
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
            (Err(_), Ok(_)) => {}
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
        let error = "rows:2: invalid UTF-8: byte 22 is 0xFF; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it";
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
