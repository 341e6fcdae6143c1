//! JSONL rows, decoded as the command `score` does: only the fields that metrics read. Compared with the complete rows.
//!
//! The first byte selects mappings (bit 0) and a small limit for rows (bit 1).
#![no_main]

use std::io::Cursor;

use dsrs_metrics::data::{DataReader, Format};
use dsrs_metrics::{contract::Side, rows::Pair};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const FIELDS: [(Side, &str, bool); 3] = [
    (Side::Gold, "answer", true),
    (Side::Pred, "answer", true),
    (Side::Pred, "note", false),
];

const MAPPINGS: [&str; 4] = [
    "id=key",
    "gold.answer=answers.0",
    "pred.answer=pred.text",
    "pred.note=a.b",
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    let mut reader = DataReader::new().with_row_limit(if choice & 2 == 0 { 1 << 20 } else { 64 });
    for mapping in MAPPINGS.into_iter().filter(|_| choice & 1 != 0) {
        reader = reader.with_mapping(mapping.parse().expect("a mapping"));
    }
    let complete = read(&reader, bytes);
    let selected = read(&reader.with_selected_fields(&FIELDS), bytes);
    // The complete rows end at a row that is invalid only in a field that is not selected.
    assert!(complete.len() <= selected.len());
    for rows in complete.iter().zip(&selected) {
        match rows {
            (Ok(complete), Ok(selected)) => compare(complete, selected),
            (Err(complete), Err(selected)) => assert_eq!(reason(complete), reason(selected)),
            (Err(_), Ok(_)) => {}
            (Ok(_), Err(selected)) => panic!("{selected}"),
        }
    }
});

fn read(reader: &DataReader, bytes: &[u8]) -> Vec<Result<Pair, String>> {
    let rows = reader.read_from("rows", Format::Jsonl, Cursor::new(bytes.to_vec()));
    rows.map(|row| row.map_err(|error| error.to_string()))
        .collect()
}

/// An error without its advice, which names the fields that the run reads.
fn reason(error: &str) -> &str {
    error
        .split_once("; map the fields")
        .map_or(error, |(reason, _)| reason)
}

fn compare(complete: &Pair, selected: &Pair) {
    assert_eq!(
        (&complete.id, &complete.origin),
        (&selected.id, &selected.origin)
    );
    let value = |pair: &Pair, side, name| -> Option<Value> {
        match side {
            Side::Gold => pair.gold.get(name).cloned(),
            Side::Pred => pair.pred.get(name).cloned(),
        }
    };
    for (side, name, is_required) in FIELDS {
        let found = value(selected, side, name);
        assert_eq!(value(complete, side, name), found, "{side:?} {name}");
        // An error or a suggestion may name the other fields.
        if is_required && found.is_none_or(|value| value.is_null()) {
            assert_eq!(complete, selected, "without {side:?} {name}");
        }
    }
}
