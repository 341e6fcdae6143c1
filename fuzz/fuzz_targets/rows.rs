//! Row files: `DataReader` on JSONL, JSON and CSV, with and without mappings.
//!
//! The first byte selects the format (bits 0 and 1), mappings (bit 2) and a small limit for rows (bit 3).
#![no_main]

use std::io::BufReader;

use dsrs_metrics::data::{DataReader, Format};
use dsrs_metrics::rows::Pair;
use dsrs_metrics_fuzz::assert_one_line;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

const MAPPINGS: [&str; 5] = [
    "id=key",
    "gold.answer=answers.0",
    "pred.answer=pred.text",
    "gold.whole=gold",
    "pred.a.b=a.b",
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    let format = match choice & 3 {
        0 | 1 => Format::Jsonl,
        2 => Format::Json,
        _ => Format::Csv,
    };
    let is_mapped = choice & 4 != 0;
    let mut reader = DataReader::new().with_row_limit(if choice & 8 == 0 { 1 << 20 } else { 64 });
    for mapping in MAPPINGS.into_iter().filter(|_| is_mapped) {
        reader = reader.with_mapping(mapping.parse().expect("a mapping"));
    }

    let rows = read(&reader, format, bytes, 1 << 16);
    let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    for row in &rows {
        match row {
            Ok(pair) => {
                let line = pair
                    .origin
                    .as_ref()
                    .expect("a row of a file has an origin")
                    .line;
                assert!((1..=lines).contains(&line), "line {line} of {lines}");
            }
            Err(message) => assert_one_line(message),
        }
    }
    assert!(!rows.is_empty(), "a file without rows is an error");
    assert!(
        rows.iter().rev().skip(1).all(Result::is_ok),
        "an error ends the rows"
    );

    // The size of reads does not matter.
    assert_eq!(
        rows,
        read(&reader, format, bytes, 2),
        "read in small pieces"
    );
    // What was read is read again from its JSON.
    if format != Format::Csv && !is_mapped {
        let pairs: Vec<&Pair> = rows.iter().flatten().collect();
        let again = read(&DataReader::new(), Format::Jsonl, &written(&pairs), 1 << 16);
        for (pair, again) in pairs.into_iter().zip(again) {
            let again = again.expect("a row that was written");
            assert_eq!((&again.id, &again.gold), (&pair.id, &pair.gold));
            assert_eq!(
                (&again.pred, &again.attributes),
                (&pair.pred, &pair.attributes)
            );
        }
    }
});

fn read(
    reader: &DataReader,
    format: Format,
    bytes: &[u8],
    buffer: usize,
) -> Vec<Result<Pair, String>> {
    let bytes = std::io::Cursor::new(bytes.to_vec());
    let rows = reader.read_from("rows", format, BufReader::with_capacity(buffer, bytes));
    rows.map(|row| row.map_err(|error| error.to_string()))
        .collect()
}

fn written(pairs: &[&Pair]) -> Vec<u8> {
    let mut lines = Vec::new();
    for pair in pairs {
        let mut row: Map<String, Value> = pair
            .attributes
            .iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        row.insert("id".to_owned(), pair.id.clone().into());
        for (side, fields) in [
            ("gold", serde_json::to_value(&pair.gold)),
            ("pred", serde_json::to_value(&pair.pred)),
        ] {
            let fields = fields.expect("JSON");
            // A row without the side may have an attribute `pred.x`, which a row with the side may not.
            let is_absent = fields == Value::Object(Map::new())
                && row
                    .keys()
                    .any(|key| key.split_once('.').is_some_and(|(it, _)| it == side));
            if !is_absent {
                row.insert(side.to_owned(), fields);
            }
        }
        serde_json::to_writer(&mut lines, &row).expect("JSON");
        lines.push(b'\n');
    }
    lines
}
