use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{BrotliLevel, Compression};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;
use serde_json::json;

use crate::contract::{Pair, Side};
use crate::data::selection::FieldSelection;
use crate::data::{DataReader, Format};

/// A column: its values with definition and repetition levels, which most columns don't need.
enum Column {
    Text(Vec<Option<&'static str>>),
    Long(Vec<i64>),
    /// A single row whose list holds this many nulls.
    Nulls(usize),
    /// String values with their repetition levels.
    Keys(Vec<&'static str>, Vec<i16>),
}

/// A file with one row group, whose column `pred.list` is a JSON column.
fn file(schema: &str, columns: Vec<Column>) -> Vec<u8> {
    let schema = parse_message_type(&format!("message rows {{ {schema} }}")).unwrap();
    let json = KeyValue::new(
        super::JSON_COLUMNS.to_owned(),
        r#"["pred.list"]"#.to_owned(),
    );
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![json]))
        .build();
    let properties = Arc::new(properties);
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties).unwrap();
    if !columns.is_empty() {
        let mut group = file.next_row_group().unwrap();
        for column in columns {
            let mut writer = group.next_column().unwrap().unwrap();
            fn write<T: DataType>(
                writer: &mut parquet::file::writer::SerializedColumnWriter<'_>,
                values: &[T::T],
                definitions: Option<&[i16]>,
                repetitions: Option<&[i16]>,
            ) {
                writer
                    .typed::<T>()
                    .write_batch(values, definitions, repetitions)
                    .unwrap();
            }
            match column {
                Column::Text(values) => {
                    let levels: Vec<_> = values.iter().map(|it| i16::from(it.is_some())).collect();
                    let values: Vec<_> =
                        values.into_iter().flatten().map(ByteArray::from).collect();
                    write::<ByteArrayType>(&mut writer, &values, Some(&levels), None);
                }
                Column::Long(values) => write::<Int64Type>(&mut writer, &values, None, None),
                Column::Nulls(count) => {
                    let mut repetitions = vec![1; count];
                    repetitions[0] = 0;
                    let definitions = vec![1; count];
                    write::<Int32Type>(&mut writer, &[], Some(&definitions), Some(&repetitions));
                }
                Column::Keys(values, repetitions) => {
                    let values: Vec<_> = values.into_iter().map(ByteArray::from).collect();
                    let definitions = vec![1; values.len()];
                    write::<ByteArrayType>(
                        &mut writer,
                        &values,
                        Some(&definitions),
                        Some(&repetitions),
                    );
                }
            }
            writer.close().unwrap();
        }
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

/// The selection for a run that reads `gold.answer` and `pred.answer`.
fn answers() -> FieldSelection {
    let mut selection = FieldSelection::default();
    selection.add_field(Side::Gold, "answer", true);
    selection.add_field(Side::Pred, "answer", true);
    selection
}

fn read(reader: &DataReader, format: Format, bytes: &[u8]) -> Result<Vec<Pair>, String> {
    let rows = reader.read_from("rows", format, Cursor::new(bytes.to_vec()));
    rows.collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

/// Returns the error of a file, and checks that it is the same with all columns and with only some.
fn error(format: Format, bytes: &[u8]) -> String {
    let whole = read(&DataReader::new(), format, bytes).unwrap_err();
    let selected = DataReader::new().with_selection(answers());
    assert_eq!(read(&selected, format, bytes).unwrap_err(), whole);
    whole
}

#[test]
fn two_columns_or_fields_of_one_name_are_refused_before_the_first_row() {
    let text = |name: &str| format!("optional binary {name} (UTF8);");
    let group = |name: &str, fields: &str| format!("optional group {name} {{ {fields} }}");
    let schema = |columns: &[String]| columns.concat();
    let answers = [text("answer"), text("answer")].concat();
    for (columns, column) in [
        (
            schema(&[
                text("gold.answer"),
                text("pred.answer"),
                text("pred.answer"),
            ]),
            "pred.answer",
        ),
        (schema(&[text("id"), text("pred.answer"), text("id")]), "id"),
        (
            schema(&[group("gold", &answers), text("pred.answer")]),
            "gold.answer",
        ),
        (
            schema(&[group("pred", &group("answer", &answers))]),
            "pred.answer.answer",
        ),
    ] {
        let expected = format!("rows:1: duplicate column `{column}`; rename or remove one");
        assert_eq!(
            error(Format::Parquet, &file(&columns, Vec::new())),
            expected
        );
    }
}

#[test]
fn the_fields_of_a_side_are_in_one_place_in_every_format() {
    let twice = "expected the fields of `pred` in one place, found `pred` and `pred.answer`; rename or remove one";
    let text = |name: &str| format!("optional binary {name} (UTF8);");
    for side in [
        format!("optional group pred {{ {} }}", text("answer")),
        text("pred"),
    ] {
        let columns = [text("gold.answer"), text("pred.answer"), side].concat();
        assert_eq!(
            error(Format::Parquet, &file(&columns, Vec::new())),
            format!("rows:1: {twice}")
        );
    }
    let csv = b"gold.answer,pred,pred.answer\na,b,a\n";
    assert_eq!(error(Format::Csv, csv), format!("rows:1: {twice}"));
    let good = r#"{"gold": {"answer": "a"}, "pred": {"answer": "b"}}"#;
    let bad = r#"{"gold": {"answer": "a"}, "pred": {"answer": "b"}, "pred.answer": "a"}"#;
    let lines = format!("{good}\n{bad}\n");
    assert_eq!(
        error(Format::Jsonl, lines.as_bytes()),
        format!("rows:2: {twice}")
    );
    let array = format!("[{good},\n{bad}]");
    assert_eq!(
        error(Format::Json, array.as_bytes()),
        format!("rows:2: {twice}")
    );
    // A key with a dot is an attribute if only the other side is an object.
    let row = br#"{"gold": {"answer": "a"}, "pred.answer": "b"}"#;
    assert_eq!(
        read(&DataReader::new(), Format::Jsonl, row).unwrap()[0]
            .attributes
            .len(),
        1
    );
    // A result file in which some predictions have fields and others are numbers.
    let results =
        b"id,pred,pred.answer,em,em.outcome,em.cost_msats\n1,,a,1,scored,0\n2,3,,1,scored,0\n";
    assert_eq!(
        read(&DataReader::new(), Format::Csv, results)
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn a_typed_string_stays_a_string_and_a_column_of_json_is_parsed() {
    let schema = "optional binary gold.answer (UTF8); optional binary pred.list (UTF8);";
    let list = r#"["a","b"]"#;
    let text = |cells: &[Option<&'static str>]| Column::Text(cells.to_vec());
    let gold = text(&[Some(list), Some("1"), None]);
    let bytes = file(
        schema,
        vec![gold, text(&[Some(list), Some("\"1\""), Some("[0.5]")])],
    );
    let rows = read(&DataReader::new(), Format::Parquet, &bytes).unwrap();
    let gold: Vec<_> = rows
        .iter()
        .map(|row| row.gold.get("answer").cloned())
        .collect();
    assert_eq!(gold, [Some(json!(list)), Some(json!("1")), None]);
    let pred: Vec<_> = rows
        .iter()
        .filter_map(|row| row.pred.get("list").cloned())
        .collect();
    assert_eq!(pred, [json!(["a", "b"]), json!("1"), json!([0.5])]);
    assert!(
        rows.iter()
            .all(|row| !row.gold.data.textual && !row.attributes.textual)
    );
    for (cell, problem) in [
        (
            "[",
            "invalid JSON in a JSON column; correct it, or write the column as strings",
        ),
        (
            r#"{"a":1,"a":2}"#,
            "invalid JSON in a JSON column; correct it, or write the column as strings",
        ),
        (
            "[1e-400]",
            "a JSON number is out of range, or an integer of more than 64 bits",
        ),
    ] {
        let bytes = file(schema, vec![text(&[Some("a")]), text(&[Some(cell)])]);
        let error = read(&DataReader::new(), Format::Parquet, &bytes).unwrap_err();
        assert_eq!(error, format!("rows: row 1: column `pred.list`: {problem}"));
    }
}

#[test]
fn columns_that_nothing_reads_are_not_decoded() {
    let schema = "optional binary gold.answer (UTF8); optional binary pred.answer (UTF8); \
                  optional group l (LIST) { repeated group list { optional int32 element; } }";
    let text = |cell: &'static str| Column::Text(vec![Some(cell)]);
    let nulls = (8 << 20) + 1;
    let bytes = file(schema, vec![text("a"), text("b"), Column::Nulls(nulls)]);
    assert!(bytes.len() < 2_000, "{}", bytes.len());
    let expected = "rows: column `l.list.element`: expected pages of at most 8388608 values, found 8388609; rewrite the file \
                    with smaller pages";
    assert_eq!(
        read(&DataReader::new(), Format::Parquet, &bytes),
        Err(expected.to_owned())
    );
    let rows = read(
        &DataReader::new().with_selection(answers()),
        Format::Parquet,
        &bytes,
    )
    .unwrap();
    let cells = [rows[0].gold.get("answer"), rows[0].pred.get("answer")];
    assert_eq!(
        (rows.len(), cells),
        (1, [Some(&json!("a")), Some(&json!("b"))])
    );
}

/// A result file's manifest references are read without its other columns.
#[test]
fn the_strings_of_a_column_are_read_alone() {
    let schema = "optional binary manifest (UTF8); \
                  optional group l (LIST) { repeated group list { optional int32 element; } }";
    let manifest = Column::Text(vec![Some("1-0")]);
    let bytes = file(schema, vec![manifest, Column::Nulls((8 << 20) + 1)]);
    let path = std::env::temp_dir().join(format!("dsrs-column-{}.parquet", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let strings = crate::data::column_strings(&path, None, "manifest");
    std::fs::remove_file(path).unwrap();
    assert_eq!(strings, ["1-0"]);
}

#[test]
fn a_file_that_lacks_a_required_column_is_read_completely() {
    let schema = "required group gold { optional binary answer (UTF8); optional binary hint (UTF8); } \
                  optional binary pred.answer (UTF8); optional binary pred.reply (UTF8); optional binary note (UTF8);";
    let text = |cells: [Option<&'static str>; 2]| Column::Text(cells.to_vec());
    let columns = [
        [Some("a"), Some("b")],
        [Some("h"), Some("h")],
        [Some("a"), None],
        [Some("r1"), Some("r2")],
        [Some("n"), Some("n")],
    ];
    let bytes = file(schema, columns.map(text).into());
    let selected = || DataReader::new().with_selection(answers());
    let names = |row: &Pair| {
        let names = row.gold.keys().chain(row.pred.keys());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let rows = read(&selected(), Format::Parquet, &bytes).unwrap();
    assert_eq!(names(&rows[0]), ["answer", "answer"]);
    assert_eq!(names(&rows[1]), ["answer"], "a cell without a value");
    // With a mapping, the column that it names is required.
    let mapped = |mapping: &str| selected().with_mapping(mapping.parse().unwrap());
    let rows = read(&mapped("pred.answer=pred.reply"), Format::Parquet, &bytes).unwrap();
    assert_eq!(rows[1].pred.get("answer"), Some(&json!("r2")));
    assert!(
        rows.iter().all(|row| row.attributes.is_empty()),
        "`note` is not read"
    );
    let rows = read(&mapped("pred.answer=pred.text"), Format::Parquet, &bytes).unwrap();
    let all = ["answer", "hint", "reply"];
    assert_eq!(
        (names(&rows[0]), rows[0].attributes.len()),
        (all.map(str::to_owned).into(), 1)
    );
}

#[test]
fn times_have_an_offset_only_if_they_are_in_utc_and_keep_their_nanoseconds() {
    let of = |kind: &str, value: i64| {
        let bytes = file(
            &format!("required int64 pred.t ({kind});"),
            vec![Column::Long(vec![value])],
        );
        read(&DataReader::new(), Format::Parquet, &bytes).unwrap()[0]
            .pred
            .get("t")
            .cloned()
            .unwrap()
    };
    for (kind, value, expected) in [
        (
            "TIMESTAMP(MILLIS,true)",
            1,
            json!("1970-01-01 00:00:00.001 +00:00"),
        ),
        (
            "TIMESTAMP(MICROS,false)",
            1,
            json!("1970-01-01 00:00:00.000001"),
        ),
        (
            "TIMESTAMP(NANOS,false)",
            -1,
            json!("1969-12-31 23:59:59.999999999"),
        ),
        (
            "TIMESTAMP(NANOS,true)",
            1_000_001,
            json!("1970-01-01 00:00:00.001000001 +00:00"),
        ),
        (
            "TIME(NANOS,false)",
            3_600_000_000_001,
            json!("01:00:00.000000001"),
        ),
        ("INTEGER(64,true)", 7, json!(7)),
    ] {
        assert_eq!(of(kind, value), expected, "{kind}");
    }
}

#[test]
fn a_duplicate_key_of_a_map_is_an_error() {
    let schema = "required group pred { required group m (MAP) { repeated group key_value { required binary key (UTF8); \
                  required binary value (UTF8); } } }";
    let map = |keys: [&'static str; 2]| {
        let column = |cells: [&'static str; 2]| Column::Keys(cells.to_vec(), vec![0, 1]);
        read(
            &DataReader::new(),
            Format::Parquet,
            &file(schema, vec![column(keys), column(["x", "y"])]),
        )
    };
    let value = |row: &Pair| row.pred.get("m").cloned();
    assert_eq!(
        value(&map(["a", "b"]).unwrap()[0]),
        Some(json!({"a": "x", "b": "y"}))
    );
    let expected = "rows: row 1: column `pred`: a map has a duplicate key; remove one";
    assert_eq!(map(["a", "a"]), Err(expected.to_owned()));
}

#[test]
fn a_compression_that_is_not_supported_is_named() {
    let schema = parse_message_type("message m { required binary a; }").unwrap();
    let schema = SchemaDescriptor::new(Arc::new(schema));
    let brotli = Compression::BROTLI(BrotliLevel::default());
    let column = ColumnChunkMetaData::builder(schema.column(0)).set_compression(brotli);
    let error = super::check_compression(Path::new("x.parquet"), &column.build().unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "x.parquet: column `a`: expected snappy, gzip, zstd or no compression, found brotli; rewrite the file with a supported codec"
    );
}

#[test]
fn the_memory_of_a_batch_is_limited() {
    let long = Box::leak("x".repeat(5 << 20).into_boxed_str());
    let bytes = file(
        "optional binary pred.answer (UTF8);",
        vec![Column::Text(vec![Some(long)])],
    );
    let reader = DataReader::new();
    assert_eq!(read(&reader, Format::Parquet, &bytes).unwrap().len(), 1);
    let bytes = bytes::Bytes::from(bytes);
    let mut rows = super::ParquetFile::new(Path::new("x").into(), bytes, 64 << 20, None).unwrap();
    // As if the metadata had declared less.
    std::sync::Arc::get_mut(&mut rows.columns)
        .unwrap()
        .row_limit = 1;
    let (none, error) = rows.next().unwrap();
    let error = error.unwrap().to_string();
    let expected = "x: column `pred.answer`: expected pages of at most 4194304 bytes, found ";
    assert!(none.len() == 0 && error.starts_with(expected), "{error}");
}
