//! Rows decoded from the columns that are read, compared with whole rows from the same text.

use std::io::Cursor;

use proptest::prelude::*;

use crate::contract::{Pair, Side};
use crate::data::selection::FieldSelection;
use crate::data::{DataReader, Format};

/// Returns the rows up to the first error.
fn read(reader: &DataReader, bytes: &[u8]) -> Vec<Result<Pair, String>> {
    let rows = reader.read_from("rows", Format::Csv, Cursor::new(bytes.to_owned()));
    rows.map(|row| row.map_err(|error| error.without_advice()))
        .collect()
}

fn selected(mappings: &[&str], attributes: bool) -> DataReader {
    let mut selection = FieldSelection::default();
    selection.add_field(Side::Gold, "answer", true);
    selection.add_field(Side::Pred, "answer", true);
    selection.add_path("topic");
    if attributes {
        selection.all_attributes = true;
    }
    whole(mappings).with_selection(selection)
}

fn whole(mappings: &[&str]) -> DataReader {
    let mappings = mappings.iter().map(|mapping| mapping.parse().unwrap());
    mappings.fold(DataReader::new(), DataReader::with_mapping)
}

/// Returns what a run reads from a row.
fn of_run(pair: &Pair, attributes: bool) -> impl PartialEq + std::fmt::Debug {
    let Pair {
        id,
        gold,
        pred,
        origin,
        run,
        ..
    } = pair.clone();
    let of_all = attributes.then(|| pair.attributes.clone());
    let fields = [gold.get("answer").cloned(), pred.get("answer").cloned()];
    (
        id,
        fields,
        [gold.data.textual, pred.data.textual],
        [gold.data.strings().to_vec(), pred.data.strings().to_vec()],
        pair.attributes.get("topic").cloned(),
        of_all,
        origin,
        run,
    )
}

/// Compares whole rows with their selected columns. A whole row may be invalid only in a column that nothing reads.
fn assert_same(mappings: &[&str], bytes: &[u8]) {
    for attributes in [false, true] {
        let whole = read(&whole(mappings), bytes);
        let selected = read(&selected(mappings, attributes), bytes);
        let text = String::from_utf8_lossy(bytes);
        assert!(whole.len() <= selected.len(), "{text}");
        for (whole, selected) in whole.iter().zip(&selected) {
            match (whole, selected) {
                (Ok(whole), Ok(selected)) => {
                    assert_eq!(
                        of_run(whole, attributes),
                        of_run(selected, attributes),
                        "{text}"
                    );
                }
                (Err(_), Ok(_)) => {}
                (whole, selected) => assert_eq!(whole, selected, "{text}"),
            }
        }
    }
}

#[test]
fn columns_that_are_not_read_are_left_out() {
    let text = b"id,gold.answer,gold.question,pred.answer,model,topic\n7,a,?,b,x,t\n";
    let pair = read(&selected(&[], false), text).remove(0).unwrap();
    assert_eq!((pair.gold.data.len(), pair.attributes.len()), (1, 1));
    assert_eq!(pair.attributes.get("topic").unwrap(), "t");
    assert_same(&[], text);
}

#[test]
fn rows_of_result_files_have_what_a_run_reads() {
    let text = b"id,gold.answer,pred.answer,pred.note,attributes.topic,attributes.n,em,em.outcome,em.cost_msats,\
        em.details,latency_s,input_tokens,output_tokens,cost_msats,repeats\n\
        1,a,b,c,t,2,1,scored,0,x,0.5,10,20,30,\n2,a,'=b,c,,2,1,scored,0,x,,,,,\n3,,,c,t,2,,program_failed,0,x,,,,,\n";
    let rows = read(&selected(&[], false), text);
    let (first, second) = (rows[0].as_ref().unwrap(), rows[1].as_ref().unwrap());
    assert_eq!(
        first
            .run
            .as_ref()
            .unwrap()
            .usage
            .as_ref()
            .unwrap()
            .input_tokens,
        10
    );
    assert_eq!((second.attributes.len(), second.pred.data.len()), (1, 2));
    assert_eq!(second.pred.get("answer").unwrap(), "=b");
    assert!(
        rows[2].as_ref().unwrap_err().starts_with("rows:4: "),
        "{rows:?}"
    );
    assert_same(&[], text);
    assert_same(&["gold.answer=em.details", "id=attributes.n"], text);
}

#[test]
fn a_mapped_cell_of_a_result_file_with_an_apostrophe_is_a_string() {
    let text = b"id,gold.answer,pred.answer,attributes.topic,em,em.outcome,em.cost_msats\n\
        1,a,'[b],'[c],1,scored,0\n2,a,[b],[c],1,scored,0\n";
    let reader = whole(&[
        "gold.answer=topic",
        "gold.other=attributes.topic",
        "gold.pred=pred.answer",
    ]);
    let strings = |row: &Result<Pair, String>| row.as_ref().unwrap().gold.data.strings().to_vec();
    let rows = read(&reader, text);
    assert_eq!(strings(&rows[0]), ["answer", "other", "pred"]);
    assert_eq!(strings(&rows[1]), Vec::<String>::new());
    assert_eq!(rows[0].as_ref().unwrap().gold.get("answer").unwrap(), "[c]");
}

#[test]
fn records_are_whole_at_any_length() {
    let row = |id: usize, text: String| format!("{id},\"{text}\",b\r\n");
    let rows = [3, 200_000, 65_000, 0, 70_000].map(|length| "x\ny\"\"".repeat(length / 4));
    let rows: String = rows
        .into_iter()
        .enumerate()
        .map(|(id, text)| row(id, text))
        .collect();
    let text = format!("id,gold.answer,pred.answer\n{rows}");
    let found = read(&selected(&[], false), text.as_bytes());
    let lines: Vec<_> = found
        .iter()
        .map(|row| row.as_ref().unwrap().origin.as_ref().unwrap().line)
        .collect();
    assert_eq!(lines, [2, 3, 50_004, 66_255, 66_256]);
    assert_same(&[], text.as_bytes());
}

const CELLS: &[&[u8]] = &[
    b"a",
    b"",
    b"'=b",
    b"'[1]",
    b"scored",
    b"program_failed",
    b"[]",
    b"0.5",
    b"\"",
    b"\"a,\nb\"",
    b"x\"y",
    b"\"\"\"\"",
    b"\xc3",
    b"\xa9",
    b"\xc3\xa9",
    b"{\"topic\": 1}",
    b"[{\"pred\": 1}, {\"pred\": 2}]",
    b"\r",
    b"\xef\xbb\xbf",
];

const ENDS: &[&[u8]] = &[b"\n", b"\r\n", b"\n\n"];

/// Nearly valid files.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let header = prop::sample::select(
        &[
            "id,gold.answer,pred.answer,topic",
            "gold.answer,x,pred.answer,meta",
            "id,gold.answer,pred.answer,em,em.outcome,em.cost_msats,attributes.topic,repeats,latency_s",
            "id,gold.answer,pred.answer,em.outcome,em.cost_msats,attributes",
            "topic,gold,pred.answer",
            "'=id,id,gold.answer,pred.answer",
            "id,answer",
        ][..],
    );
    let cell = prop::sample::select(CELLS);
    let row = prop::collection::vec(cell, 1..10).prop_map(|cells| cells.join(&b','));
    let ends = prop::sample::select(ENDS);
    (header, prop::collection::vec(row, 0..5), ends).prop_map(|(header, rows, end)| {
        let columns = header.split(',').count();
        let rows = rows.into_iter().map(|row| {
            // As many cells as columns, and no cell with a comma.
            let mut cells: Vec<_> = row
                .split(|byte| *byte == b',')
                .map(<[u8]>::to_vec)
                .collect();
            cells.resize(columns, b"z".to_vec());
            cells.join(&b',')
        });
        [header.as_bytes().to_vec()]
            .into_iter()
            .chain(rows)
            .collect::<Vec<_>>()
            .join(end)
    })
}

proptest! {
    #[test]
    fn any_rows_and_errors_are_those_of_the_whole_row(file in file()) {
        assert_same(&[], &file);
        assert_same(&["gold.answer=topic", "pred.answer=x", "id=id"], &file);
    }
}
