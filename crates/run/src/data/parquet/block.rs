//! A block of rows, decoded column by column: from the readers of the columns to cells.

use std::ops::Range;

use parquet::basic::{ConvertedType, Repetition, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;
use parquet::record::Field;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type};

use super::cell::Cell;

/// The most rows of a block, and of a batch of the decoder of rows.
pub(super) const BLOCK_ROWS: usize = 1024;

/// The most bytes of strings of a column that a block copies. Longer strings may be one string that a dictionary repeats.
const MAX_COPIED: usize = 1 << 20;

/// The position of the value of an entry without one.
const NO_VALUE: u32 = u32::MAX;

/// Some rows of a row group.
pub(super) struct Block {
    pub(super) rows: usize,
    pub(super) columns: Vec<Column>,
}

/// The cells of a column in a block. Its entries are its rows, or the elements of its lists.
pub(super) struct Column {
    descr: ColumnDescPtr,
    values: Values,
    /// The position of the value of each entry; empty if every entry has one.
    positions: Vec<u32>,
    /// The elements of each row of a column of lists; `None` if it is null.
    lists: Lists,
}

type Lists = Option<Vec<Option<Range<usize>>>>;

enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    /// Strings end to end, and where each ends.
    Text(String, Vec<u32>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

impl Column {
    /// The position of the value of an entry; `None` if it is null.
    fn position(&self, entry: usize) -> Option<usize> {
        match self.positions.get(entry) {
            None => Some(entry),
            Some(&NO_VALUE) => None,
            Some(&position) => Some(position as usize),
        }
    }

    /// The entries of a row, if the column has lists and it is not null.
    pub(super) fn list(&self, row: usize) -> Option<Range<usize>> {
        self.lists.as_ref()?[row].clone()
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        match &self.lists {
            Some(lists) => lists[row].is_none(),
            None => self.position(row).is_none(),
        }
    }

    /// The string of a row; `None` if it has none, or bytes that are not UTF-8.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        if self.lists.is_none() {
            self.entry_text(row)
        } else {
            None
        }
    }

    /// The string of an entry; `None` if it has none, or bytes that are not UTF-8.
    pub(super) fn entry_text(&self, entry: usize) -> Option<&str> {
        let position = self.position(entry)?;
        match &self.values {
            Values::Text(text, ends) => text.get(range(ends, position)),
            Values::Bytes(values) if is_text(&self.descr) => {
                str::from_utf8(values[position].data()).ok()
            }
            _ => None,
        }
    }

    /// The bytes of the strings of a row, and of the memory of its elements.
    pub(super) fn bytes(&self, row: usize) -> usize {
        let bytes = |entry| match (&self.values, self.position(entry)) {
            (Values::Text(_, ends), Some(position)) => range(ends, position).len(),
            (Values::Bytes(values), Some(position)) => values[position].len(),
            _ => 0,
        };
        match &self.lists {
            Some(_) => {
                let entries = self.list(row).unwrap_or_default();
                entries
                    .map(|entry| bytes(entry) + size_of::<serde_json::Value>())
                    .sum()
            }
            None => bytes(row),
        }
    }

    /// The bytes of all strings; only those that are copied, and not of lists.
    pub(super) fn copied(&self) -> Option<usize> {
        match &self.values {
            _ if self.lists.is_some() => None,
            Values::Text(text, _) => Some(text.len()),
            Values::Bytes(_) => None,
            _ => Some(0),
        }
    }

    /// The cell of a row as the decoder of rows returns it.
    pub(super) fn cell(&self, row: usize) -> Result<Cell> {
        Ok(match (&self.lists, self.list(row)) {
            (Some(_), Some(entries)) => Cell::List(
                entries
                    .map(|entry| self.field(entry))
                    .collect::<Result<_>>()?,
            ),
            (Some(_), None) => Cell::Field(Field::Null),
            (None, _) => Cell::Field(self.field(row)?),
        })
    }

    /// The cell of an entry.
    pub(super) fn field(&self, entry: usize) -> Result<Field> {
        let Some(at) = self.position(entry) else {
            return Ok(Field::Null);
        };
        let descr = &self.descr;
        Ok(match &self.values {
            Values::Bool(values) => Field::convert_bool(descr, values[at]),
            Values::Int32(values) => Field::convert_int32(descr, values[at]),
            Values::Int64(values) => Field::convert_int64(descr, values[at]),
            Values::Int96(values) => Field::convert_int96(descr, values[at]),
            Values::Float(values) => Field::convert_float(descr, values[at]),
            Values::Double(values) => Field::convert_double(descr, values[at]),
            Values::Text(text, ends) => {
                let bytes = text.as_bytes()[range(ends, at)].to_vec();
                Field::convert_byte_array(descr, bytes.into())?
            }
            Values::Bytes(values) => Field::convert_byte_array(descr, values[at].clone())?,
            Values::Fixed(values) => Field::convert_byte_array(descr, values[at].clone().into())?,
        })
    }
}

fn range(ends: &[u32], position: usize) -> Range<usize> {
    let start = position.checked_sub(1).map_or(0, |before| ends[before]);
    start as usize..ends[position] as usize
}

/// Whether a value of this column is a string.
fn is_text(descr: &ColumnDescPtr) -> bool {
    use ConvertedType::{BSON, ENUM, JSON, NONE, UTF8};
    descr.physical_type() == PhysicalType::BYTE_ARRAY
        && matches!(descr.converted_type(), UTF8 | ENUM | JSON | BSON | NONE)
}

/// The reader of a column of a row group, which has at most one value or list for each row.
pub(super) struct ColumnBlocks {
    descr: ColumnDescPtr,
    /// The definition level of an empty list, if the column has lists.
    empty_list: Option<i16>,
    reader: ColumnReader,
    /// Memory for the levels and byte arrays of a block.
    levels: Levels,
    bytes: Vec<ByteArray>,
}

/// The levels of the entries of a block. A column of required values has none.
#[derive(Default)]
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// The error of a column that is left to the decoder of rows, which finds the problem again.
pub(super) fn unusual() -> ParquetError {
    ParquetError::General("an unusual column".to_owned())
}

impl ColumnBlocks {
    pub(super) fn new(group: &dyn RowGroupReader, path: &ColumnPath) -> Result<Self> {
        let metadata = group.metadata();
        let index = metadata
            .columns()
            .iter()
            .rposition(|column| column.column_path() == path);
        let index = index.ok_or_else(unusual)?;
        let descr = metadata.column(index).column_descr_ptr();
        let schema = metadata.schema_descr();
        let empty_list = match path.parts().len() {
            1 if descr.max_rep_level() == 0 && descr.max_def_level() <= 1 => None,
            3 => Some(empty_list(schema.get_column_root(index)).ok_or_else(unusual)?),
            _ => return Err(unusual()),
        };
        if descr.physical_type() != schema.column(index).physical_type() {
            return Err(unusual());
        }
        let reader = group.get_column_reader(index)?;
        let (levels, bytes) = (Levels::default(), Vec::new());
        Ok(Self {
            descr,
            empty_list,
            reader,
            levels,
            bytes,
        })
    }

    /// Decodes at most `at_once` rows, which must be `rows`.
    pub(super) fn read(&mut self, at_once: usize, rows: usize) -> Result<Column> {
        let Self {
            descr,
            empty_list,
            reader,
            levels,
            bytes,
        } = self;
        levels.definition.clear();
        levels.repetition.clear();
        let mut read = Read {
            at_once,
            rows,
            levels,
        };
        let (values, with_value) = match reader {
            ColumnReader::BoolColumnReader(reader) => read.values(reader, Values::Bool)?,
            ColumnReader::Int32ColumnReader(reader) => read.values(reader, Values::Int32)?,
            ColumnReader::Int64ColumnReader(reader) => read.values(reader, Values::Int64)?,
            ColumnReader::Int96ColumnReader(reader) => read.values(reader, Values::Int96)?,
            ColumnReader::FloatColumnReader(reader) => read.values(reader, Values::Float)?,
            ColumnReader::DoubleColumnReader(reader) => read.values(reader, Values::Double)?,
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read.values(reader, Values::Fixed)?
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                bytes.clear();
                read.values_into(reader, bytes)?;
                let text = if is_text(descr) { copied(bytes) } else { None };
                let read = bytes.len();
                (
                    text.unwrap_or_else(|| Values::Bytes(std::mem::take(bytes))),
                    read,
                )
            }
        };
        let (positions, lists) =
            levels.entries(descr.max_def_level(), *empty_list, rows, with_value)?;
        Ok(Column {
            descr: descr.clone(),
            values,
            positions,
            lists,
        })
    }
}

/// The definition level of an empty list in a column whose lists of values are lists of the specification.
fn empty_list(column: &Type) -> Option<i16> {
    let only_field = |group: &'_ Type| match group.is_group().then(|| group.get_fields())? {
        [field] => Some(std::sync::Arc::clone(field)),
        _ => None,
    };
    let info = column.get_basic_info();
    let repeated = only_field(column).filter(|_| info.converted_type() == ConvertedType::LIST)?;
    let element = only_field(&repeated)?;
    let name = repeated.name();
    // Elements of these names are structs of one field.
    let is_of_structs = name == "array" || name.ends_with("_tuple");
    let is_list = info.repetition() != Repetition::REPEATED
        && repeated.get_basic_info().repetition() == Repetition::REPEATED
        && element.get_basic_info().repetition() != Repetition::REPEATED
        && element.is_primitive();
    let is_optional = info.repetition() == Repetition::OPTIONAL;
    (is_list && !is_of_structs).then_some(i16::from(is_optional))
}

struct Read<'l> {
    at_once: usize,
    rows: usize,
    levels: &'l mut Levels,
}

impl Read<'_> {
    /// Returns the values and their number.
    fn values<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        values_of: impl Fn(Vec<T::T>) -> Values,
    ) -> Result<(Values, usize)> {
        let mut values = Vec::with_capacity(self.rows);
        self.values_into(reader, &mut values)?;
        let read = values.len();
        Ok((values_of(values), read))
    }

    fn values_into<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        values: &mut Vec<T::T>,
    ) -> Result<()> {
        let Levels {
            definition,
            repetition,
        } = &mut *self.levels;
        let (records, read, _) =
            reader.read_records(self.at_once, Some(definition), Some(repetition), values)?;
        if records == self.rows && values.len() == read {
            Ok(())
        } else {
            Err(unusual())
        }
    }
}

impl Levels {
    /// Returns the positions of the values, and the entries of lists. Levels that are out of range, or in an order that no
    /// writer writes, are left to the decoder of rows.
    fn entries(
        &self,
        max: i16,
        empty_list: Option<i16>,
        rows: usize,
        values: usize,
    ) -> Result<(Vec<u32>, Lists)> {
        let (definition, repetition) = (&*self.definition, &*self.repetition);
        let has_value = |level: &&i16| **level == max;
        let is_valid = if max == 0 {
            definition.is_empty() && values == rows
        } else {
            definition.iter().all(|level| (0..=max).contains(level))
                && definition.iter().filter(has_value).count() == values
        };
        let has_length = max == 0 || empty_list.is_some() || definition.len() == rows;
        if !is_valid || !has_length {
            return Err(unusual());
        }
        let Some(empty_list) = empty_list else {
            let has_nulls = values < definition.len();
            return Ok((
                if has_nulls {
                    positions(definition, max)
                } else {
                    Vec::new()
                },
                None,
            ));
        };
        let mut lists: Vec<Option<Range<usize>>> = Vec::with_capacity(rows);
        let mut entries = Vec::with_capacity(definition.len());
        let mut in_list = false;
        for (definition, repetition) in definition.iter().zip(repetition) {
            let (at, is_element) = (entries.len(), *definition > empty_list);
            match (repetition, lists.last_mut()) {
                (0, _) if is_element => lists.push(Some(at..at + 1)),
                (0, _) => lists.push((*definition == empty_list).then_some(at..at)),
                (1, Some(Some(list))) if in_list && is_element => list.end += 1,
                _ => return Err(unusual()),
            }
            in_list = is_element;
            entries.extend(is_element.then_some(*definition));
        }
        if lists.len() != rows || repetition.len() != definition.len() {
            return Err(unusual());
        }
        let has_nulls = values < entries.len();
        Ok((
            if has_nulls {
                positions(&entries, max)
            } else {
                Vec::new()
            },
            Some(lists),
        ))
    }
}

/// Copies strings end to end. Each `ByteArray` has a reference count of its page, for which threads would compete.
fn copied(values: &[ByteArray]) -> Option<Values> {
    let length = values.iter().map(ByteArray::len).sum::<usize>();
    if length > MAX_COPIED {
        return None;
    }
    let mut text = Vec::with_capacity(length);
    let mut ends = Vec::with_capacity(values.len());
    for value in values {
        text.extend_from_slice(value.data());
        ends.push(u32::try_from(text.len()).ok()?);
    }
    Some(Values::Text(String::from_utf8(text).ok()?, ends))
}

/// The positions of the values of entries with these definition levels.
fn positions(levels: &[i16], max: i16) -> Vec<u32> {
    let mut next = 0;
    let position = |level: &i16| {
        let has_value = *level == max;
        next += u32::from(has_value);
        if has_value { next - 1 } else { NO_VALUE }
    };
    levels.iter().map(position).collect()
}
