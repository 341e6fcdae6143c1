//! Files with all types of columns, and the same files with damaged bytes. The rows and errors are equal to the rows and errors
//! of the row decoder of the `parquet` crate.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::reader::RowIter;
use parquet::schema::parser::parse_message_type;

use super::*;
use crate::core::panic;
use crate::core::rows::pair::Pair;
use crate::core::spec::Side;
use crate::data::chunk::RowChunk;
use crate::data::data_file::DataFileRecord;
use crate::data::selection::FieldSelection;

type Rows = Vec<Result<Pair, String>>;

/// Pseudorandom numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // xorshift64*.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// The type of a column after its name, with the type before it.
const TYPES: [(&str, &str); 11] = [
    ("binary", "(UTF8)"),
    ("binary", "(UTF8)"),
    ("binary", "(UTF8)"),
    ("binary", ""),
    ("binary", "(JSON)"),
    ("int64", ""),
    ("int32", "(UINT_8)"),
    ("int32", "(DATE)"),
    ("double", ""),
    ("float", ""),
    ("boolean", ""),
];

const TEXTS: [&str; 7] = [
    "",
    "a",
    "Paris",
    "null",
    "[\"a\", \"b\"]",
    "\"ü\"",
    "program_failed",
];

const NAMES: [&[&str]; 2] = [
    &[
        "id",
        "gold.answer",
        "pred.answer",
        "gold.hint",
        "topic",
        "note",
    ],
    &[
        "id",
        "gold.answer",
        "pred.answer",
        "em",
        "em.outcome",
        "em.cost_msats",
        "attributes.topic",
        "latency_s",
        "pred",
    ],
];

struct Column {
    physical: &'static str,
    is_optional: bool,
    /// Whether the elements of a column of lists are optional.
    of_elements: Option<bool>,
    /// The percentage of nulls.
    nulls: usize,
}

#[derive(Clone, Copy)]
struct Levels<'l> {
    definition: Option<&'l [i16]>,
    repetition: Option<&'l [i16]>,
}

impl Column {
    fn max_definition(&self) -> i16 {
        let of_list = self
            .of_elements
            .map_or(0, |is_optional| 1 + i16::from(is_optional));
        i16::from(self.is_optional) + of_list
    }

    /// The definition and repetition levels of this number of rows.
    fn levels(&self, random: &mut Random, rows: usize) -> (Vec<i16>, Vec<i16>) {
        let mut is_null = |is_optional| is_optional && random.below(100) < self.nulls;
        let max = self.max_definition();
        let mut levels = (Vec::new(), Vec::new());
        for row in 0..rows {
            // As a list, or as the one value of the row.
            let of_element = self.of_elements.unwrap_or(self.is_optional);
            let length = if self.of_elements.is_some() {
                row % 4
            } else {
                1
            };
            let mut add = |definition, element| {
                levels.0.push(definition);
                levels.1.push(i16::from(element > 0));
            };
            if self.of_elements.is_some() && is_null(self.is_optional) {
                add(0, 0);
            } else if length == 0 {
                add(i16::from(self.is_optional), 0);
            } else {
                (0..length).for_each(|it| add(max - i16::from(is_null(of_element)), it));
            }
        }
        levels
    }
}

/// A file of some row groups with columns of any types.
fn file(random: &mut Random, groups: &[usize]) -> Vec<u8> {
    let mut schema = String::new();
    let mut columns = Vec::new();
    for (number, name) in random.pick(&NAMES).iter().enumerate() {
        let is_optional = random.below(3) > 0;
        // Most answers are strings, and ids are unique.
        let kind = if number < 3 {
            random.below(4)
        } else {
            random.below(TYPES.len())
        };
        let (physical, logical) = TYPES[kind];
        let repetition = if is_optional { "optional" } else { "required" };
        let of_elements = (number > 0 && random.below(6) == 0).then(|| random.below(2) > 0);
        schema.push_str(&match of_elements {
            None => format!("{repetition} {physical} {name} {logical}; "),
            Some(is_optional) => {
                let of_element = if is_optional { "optional" } else { "required" };
                let element = format!("{of_element} {physical} element {logical};");
                let list = random.pick(&["list", "list", "array"]);
                format!(
                    "{repetition} group {name} (LIST) {{ repeated group {list} {{ {element} }} }} "
                )
            }
        });
        let nulls = *random.pick(&[&0, &0, &1, &50]);
        columns.push(Column {
            physical,
            is_optional,
            of_elements,
            nulls,
        });
    }
    let schema = parse_message_type(&format!("message rows {{ {schema} }}")).unwrap();
    let json = random
        .pick(&["[]", r#"["gold.answer", "topic"]"#])
        .to_owned();
    let json = KeyValue::new(JSON_COLUMNS.to_owned(), json);
    let gzip = Compression::GZIP(GzipLevel::default());
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let compression = [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, zstd];
    let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![json]))
        .set_compression(compression[random.below(4)])
        .set_dictionary_enabled(random.below(2) > 0)
        .set_dictionary_page_size_limit(*random.pick(&[&10, &100_000]))
        .set_data_page_size_limit(*random.pick(&[&20, &1000, &100_000]))
        .set_write_batch_size(*random.pick(&[&3, &1024]))
        .set_writer_version(version[random.below(2)])
        .build();
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
    for rows in groups {
        let mut group = file.next_row_group().unwrap();
        for column in &columns {
            let (definition, repetition) = column.levels(random, *rows);
            let max = column.max_definition();
            let number = |_| random.below(300) as i32;
            let values = definition.iter().filter(|level| **level == max);
            let values: Vec<i32> = values.map(number).collect();
            let has_lists = column.of_elements.is_some();
            let levels = Levels {
                definition: (max > 0).then_some(&definition[..]),
                repetition: has_lists.then_some(&repetition[..]),
            };
            let text = |it: &i32| match TEXTS.get(*it as usize) {
                Some(text) => ByteArray::from(*text),
                None => ByteArray::from(&*it.to_string()),
            };
            match column.physical {
                "binary" => write::<ByteArrayType>(&mut group, &values, text, levels),
                "int64" => write::<Int64Type>(&mut group, &values, |it| i64::from(*it), levels),
                "int32" => write::<Int32Type>(&mut group, &values, |it| *it, levels),
                "double" => write::<DoubleType>(&mut group, &values, |it| f64::from(*it), levels),
                "float" => write::<FloatType>(&mut group, &values, |it| *it as f32 / 8.0, levels),
                _ => write::<BoolType>(&mut group, &values, |it| it % 2 > 0, levels),
            }
        }
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[i32],
    value: impl Fn(&i32) -> T::T,
    levels: Levels<'_>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<_> = values.iter().map(value).collect();
    column
        .typed::<T>()
        .write_batch(&values, levels.definition, levels.repetition)
        .unwrap();
    column.close().unwrap();
}

fn pairing(is_selected: bool) -> Arc<Pairing> {
    let mut selection = FieldSelection::default();
    selection.add_field(Side::Gold, "answer", true);
    selection.add_field(Side::Pred, "answer", true);
    selection.add_path("topic");
    Arc::new(Pairing::new(
        false,
        Vec::new(),
        is_selected.then_some(selection),
    ))
}

fn open(bytes: &Bytes, pairing: &Arc<Pairing>) -> Result<ParquetRows, DataError> {
    let bytes = bytes.clone();
    let open = move || Ok(bytes.clone());
    ParquetRows::new(
        Path::new("rows").into(),
        open,
        1 << 20,
        Some(Arc::clone(pairing)),
    )
}

/// Adds the rows of a chunk. Returns whether they are valid.
fn add(pairing: &Pairing, chunk: Result<ChunkRows, DataError>, rows: &mut Rows) -> bool {
    let file = Arc::new(DataFileRecord::new(Path::new("rows"), false));
    let chunk = chunk.map(|rows| RowChunk { rows, file });
    // The memory of rows before.
    let mut spare = rows
        .iter()
        .rev()
        .flatten()
        .take(5)
        .cloned()
        .map(Box::new)
        .collect();
    pairing.decode(chunk, &mut spare, |row| {
        rows.push(row.map(|row| *row).map_err(|error| error.to_string()));
    });
    rows.last().is_none_or(Result::is_ok)
}

/// The rows as a run reads them, and whether any was decoded by column.
fn read(bytes: &Bytes, is_selected: bool) -> (Rows, bool) {
    let (pairing, mut rows, mut has_blocks) = (pairing(is_selected), Vec::new(), false);
    match open(bytes, &pairing) {
        Err(error) => rows.push(Err(error.to_string())),
        Ok(mut file) => {
            while let Some(chunk) = file.next_chunk() {
                has_blocks |= matches!(chunk, Ok(ChunkRows::Block(_)));
                if !add(&pairing, chunk, &mut rows) {
                    break;
                }
            }
        }
    }
    (rows, has_blocks)
}

/// The records of these columns, up to the first error, as the `parquet` crate decodes them.
fn records(bytes: &Bytes, layout: &Layout) -> Vec<Result<Row, DataError>> {
    let limit = layout.row_limit;
    let rows = unless_invalid(&layout.file, 0, limit, || {
        let reader = SerializedFileReader::new(bytes.clone())?;
        let rows = RowIter::from_file_into(Box::new(reader));
        let rows = rows.project(Some(Type::clone(&layout.schema)))?;
        let columns = SchemaDescriptor::new(Arc::clone(&layout.schema));
        let has_lists = columns
            .columns()
            .iter()
            .any(|column| column.max_rep_level() > 0);
        Ok(if has_lists {
            rows.with_batch_size(1)
        } else {
            rows
        })
    });
    let mut rows = match rows {
        Ok(rows) => rows,
        Err(error) => return vec![Err(error)],
    };
    let mut records = Vec::new();
    for number in 1.. {
        let row = unless_invalid(&layout.file, number, limit, || rows.next().transpose());
        let row = row.transpose().map(|row| layout.row(row?, number));
        let Some(row) = row else { break };
        records.push(row);
        if records.last().is_some_and(Result::is_err) {
            break;
        }
    }
    records
}

/// The rows that [`read`] must return.
fn expected(bytes: &Bytes, is_selected: bool) -> Rows {
    let (pairing, mut rows) = (pairing(is_selected), Vec::new());
    let file = match open(bytes, &pairing) {
        Ok(file) => file,
        Err(error) => return vec![Err(error.to_string())],
    };
    let mut next = records(bytes, &file.layout).into_iter();
    let mut reads_all = !is_selected;
    for number in 1.. {
        let mut row = match next.next() {
            Some(row) => row,
            None => return rows,
        };
        if !reads_all && row.as_ref().is_ok_and(|row| file.may_lack_fields(row)) {
            reads_all = true;
            let whole = file.source.layout(file.source.schema());
            if let Err(error) = file.source.groups(&whole) {
                rows.push(Err(error.to_string()));
                return rows;
            }
            next = records(bytes, &whole).into_iter();
            let mut before = next.by_ref().take(number as usize - 1);
            row = match before.find(Result::is_err) {
                Some(error) => error,
                None => next.next().unwrap(),
            };
        }
        let at = Origin {
            file: Path::new("rows").into(),
            line: number,
        };
        let located = row.map(|row| LocatedRow { row, at, number });
        if !add(&pairing, Ok(ChunkRows::Rows(vec![located])), &mut rows) {
            return rows;
        }
    }
    rows
}

/// Removes what a run does not read.
fn selected(row: &mut Result<Pair, String>) {
    if let Ok(row) = row {
        row.gold.data.remove("hint");
        let topic = row.attributes.remove("topic");
        row.attributes = topic.map(|topic| ("topic", topic)).into_iter().collect();
    }
}

/// Compares the rows, and returns whether any was decoded by column and whether the last one is an error.
fn assert_same(bytes: &Bytes, is_selected: bool, case: &str) -> (bool, bool) {
    let (mut found, has_blocks) = read(bytes, is_selected);
    let mut expected = expected(bytes, is_selected);
    if is_selected {
        found.iter_mut().chain(&mut expected).for_each(selected);
    }
    let first = found
        .iter()
        .zip(&expected)
        .position(|(found, expected)| found != expected);
    let first = first.map(|row| (row, &found[row], &expected[row]));
    assert_eq!((first, found.len()), (None, expected.len()), "{case}");
    (has_blocks, found.last().is_some_and(Result::is_err))
}

fn sizes(bytes: &Bytes) -> Option<Vec<i64>> {
    let read = || ParquetMetaDataReader::new().parse_and_finish(bytes).ok();
    let metadata = panic::catch(false, read).ok()??;
    let columns = metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns);
    Some(
        columns
            .map(ColumnChunkMetaData::uncompressed_size)
            .collect(),
    )
}

#[test]
fn rows_by_column_are_those_of_the_decoder_of_rows() {
    let mut random = Random(1);
    let (mut by_column, mut errors) = (0, 0);
    let groups: [&[usize]; 8] = [
        &[1],
        &[0, 5],
        &[3, 1, 40],
        &[1023],
        &[1024, 1],
        &[1025],
        &[2048],
        &[3000, 2],
    ];
    for case in 0..48 {
        let groups = groups[case % groups.len()];
        let bytes = Bytes::from(file(&mut random, groups));
        for is_selected in [false, true] {
            let name = format!("case {case}, selected: {is_selected}");
            let (has_blocks, is_error) = assert_same(&bytes, is_selected, &name);
            (by_column, errors) = (
                by_column + usize::from(has_blocks),
                errors + usize::from(is_error),
            );
        }
    }
    assert!(
        by_column > 50 && errors > 5 && errors < 75,
        "{by_column} {errors}"
    );
}

#[test]
fn damaged_files_have_the_rows_and_the_error_of_the_decoder_of_rows() {
    let mut random = Random(2);
    let (mut by_column, mut errors, mut cases) = (0, 0, 0);
    let groups: [&[usize]; 4] = [&[1], &[7, 5], &[30], &[4, 1, 9]];
    for number in 0..1200 {
        let groups: &[usize] = match number % 200 {
            0 => &[1500, 600],
            _ => groups[number % groups.len()],
        };
        let whole = file(&mut random, groups);
        let mut damaged = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            match random.below(3) {
                0 => damaged[at] = random.below(256) as u8,
                1 => damaged[at] ^= 1 << random.below(8),
                _ => damaged[at] = damaged[at].wrapping_add(1),
            }
        }
        if number % 16 == 0 {
            let at = random.below(damaged.len());
            damaged.drain(at..(at + 1 + random.below(9)).min(whole.len()));
        }
        let (whole, damaged) = (Bytes::from(whole), Bytes::from(damaged));
        // The sizes in the metadata determine how many rows are decoded at once.
        if sizes(&damaged).is_some_and(|it| Some(it) != sizes(&whole)) {
            continue;
        }
        let name = format!("case {number}");
        let (has_blocks, is_error) = assert_same(&damaged, number % 2 == 0, &name);
        cases += 1;
        (by_column, errors) = (
            by_column + usize::from(has_blocks),
            errors + usize::from(is_error),
        );
    }
    assert!(
        cases > 1100 && by_column > 250 && errors > 500,
        "{cases} {by_column} {errors}"
    );
}
