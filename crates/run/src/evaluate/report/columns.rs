//! The columns of a result row, for CSV and Parquet: `id`; `gold.FIELD` and `pred.FIELD` if the run made predictions;
//! `latency_s`, `input_tokens`, `output_tokens` and `cost_msats` if the program returned them;
//! `attributes.FIELD` for each attribute; for each metric `NAME` (the value), then
//! `NAME.outcome`, `NAME.passed`, `NAME.confidence`, `NAME.details`, `NAME.feedback`,
//! `NAME.cost_msats`, and keys that only some rows have, such as `NAME.error` and `NAME.parts`; `repeats`; `manifest`, which only
//! the last row has.
//!
//! If rows have many different fields, such as keys that are ids, a column for each would make a file of rows times fields. Then
//! `gold`, `pred` or `attributes` is one column of JSON objects.
//!
//! The columns are known only after the last row, so the lines are read twice, in chunks on all threads.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::cells::{self, Cell, FIRST_GROUPS, LAST_GROUPS, Place};
use super::spool::{Chunk, SpoolReader};

/// The bytes of a chunk whose columns are collected, or that is written as text.
pub(super) const CHUNK: usize = 1 << 20;

/// A group of up to this number of columns is not packed.
const MAX_SPARSE_COLUMNS: usize = 1_000;

/// A group of more columns is packed if fewer than one in this number of its cells has a value.
const MAX_SPARSENESS: u64 = 16;

/// The groups whose columns are named by the rows.
const PACKED: [&str; 3] = ["gold", "pred", "attributes"];

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// All values are null.
    #[default]
    Null,
    Bool,
    Integer,
    Float,
    Text,
    Json,
}

impl Kind {
    fn of(value: &str) -> Self {
        match value.as_bytes().first() {
            Some(b'n') | None => Self::Null,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => Self::Text,
            Some(b'[' | b'{') => Self::Json,
            Some(_) if value.parse::<i64>().is_ok() => Self::Integer,
            Some(_) => Self::Float,
        }
    }

    /// Returns the type of a column with values of both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (kind, Self::Null) | (Self::Null, kind) => kind,
            (a, b) if a == b => a,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            _ => Self::Json,
        }
    }
}

/// The columns of rows, in groups.
#[derive(Default)]
struct Columns {
    groups: IndexMap<String, Group>,
    rows: u64,
}

#[derive(Default)]
struct Group {
    columns: IndexMap<String, Kind>,
    /// The number of cells with a value in all rows.
    cells: u64,
}

impl Columns {
    fn of(chunk: &Chunk) -> io::Result<Self> {
        let mut columns = Self::default();
        let (mut cells, mut shape, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for line in chunk.lines() {
            read(line, &mut cells)?;
            if columns.rows == 0 || !cells::have_same_shape(&cells, &shape) {
                places = columns.places(&cells);
                shape.clone_from(&cells);
            }
            columns.rows += 1;
            for (cell, (group, column)) in cells.iter().zip(&places) {
                let group = &mut columns.groups[*group];
                group.cells += 1;
                let kind = &mut group.columns[*column];
                *kind = kind.with(Kind::of(cell.value));
            }
        }
        Ok(columns)
    }

    /// Returns the positions of the group and the column of each cell. New ones come after those of earlier rows.
    fn places(&mut self, cells: &[Cell<'_>]) -> Vec<(usize, usize)> {
        for group in FIRST_GROUPS {
            self.groups.entry(group.to_owned()).or_default();
        }
        let mut place = |cell: &Cell<'_>| {
            let entry = self.groups.entry(cell.place.group().into_owned());
            let group = entry.index();
            let columns = &mut entry.or_default().columns;
            let column = columns.entry(cell.place.column());
            let position = column.index();
            column.or_default();
            (group, position)
        };
        let places: Vec<_> = cells.iter().map(&mut place).collect();
        for group in LAST_GROUPS {
            self.groups.entry(group.to_owned()).or_default();
        }
        places
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        for (name, group) in other.groups {
            let all = self.groups.entry(name).or_default();
            all.cells += group.cells;
            for (column, kind) in group.columns {
                let all = all.columns.entry(column).or_default();
                *all = all.with(kind);
            }
        }
    }

    fn finish(self) -> Layout {
        let (mut columns, mut packed) = (IndexMap::new(), HashSet::new());
        for (name, group) in self.groups {
            let width = group.columns.len();
            let is_sparse = width > MAX_SPARSE_COLUMNS
                && (width as u64).saturating_mul(self.rows) / MAX_SPARSENESS > group.cells;
            if is_sparse && PACKED.contains(&&*name) {
                columns.insert(name.clone(), Kind::Json);
                packed.insert(name);
            } else {
                columns.extend(group.columns);
            }
        }
        Layout { columns, packed }
    }
}

/// The columns of a file.
pub(super) struct Layout {
    pub(super) columns: IndexMap<String, Kind>,
    /// The groups that are one column of JSON objects each.
    packed: HashSet<String>,
}

impl Layout {
    /// Collects the columns of all lines.
    pub(super) fn of(lines: &mut SpoolReader<'_>) -> io::Result<Self> {
        let mut columns = Columns::default();
        let is_full = |chunk: &Chunk| chunk.text.len() >= CHUNK;
        lines.map_chunks(
            is_full,
            |chunk| Columns::of(&chunk),
            |more| {
                columns.merge(more);
                Ok(())
            },
        )?;
        Ok(columns.finish())
    }

    /// Calls a function with the values of each row, in the order of the columns; `None` is a cell without a value.
    pub(super) fn each_row<'c>(
        &self,
        lines: impl Iterator<Item = &'c str>,
        mut each: impl FnMut(&[Option<Cow<'c, str>>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut cells, mut shape, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let mut values = Vec::with_capacity(self.columns.len());
        for (row, line) in lines.enumerate() {
            read(line, &mut cells)?;
            if row == 0 || !cells::have_same_shape(&cells, &shape) {
                sources = self.sources(&cells);
                shape.clone_from(&cells);
            }
            values.clear();
            values.extend(sources.iter().map(|source| source.value(&cells)));
            each(&values)?;
        }
        Ok(())
    }

    /// Returns where the values of the columns are in a line. Of two cells in one column, the later one counts.
    fn sources(&self, cells: &[Cell<'_>]) -> Vec<Source> {
        let mut sources: Vec<_> = (0..self.columns.len()).map(|_| Source::None).collect();
        for group in &self.packed {
            let of_group = (0..cells.len()).filter(|cell| cells[*cell].place.group() == *group);
            let of_group: Vec<usize> = of_group.collect();
            if let (false, Some(column)) = (of_group.is_empty(), self.columns.get_index_of(group)) {
                sources[column] = Source::Packed(of_group);
            }
        }
        for (position, cell) in cells.iter().enumerate() {
            let column = cell.place.column();
            let is_packed =
                self.packed.contains(&*cell.place.group()) && !matches!(cell.place, Place::Side(_));
            if let (false, Some(column)) = (is_packed, self.columns.get_index_of(&column)) {
                sources[column] = Source::Cell(position);
            }
        }
        sources
    }
}

/// Where the value of a column is in a line.
enum Source {
    None,
    Cell(usize),
    /// These fields, as an object.
    Packed(Vec<usize>),
}

impl Source {
    fn value<'c>(&self, cells: &[Cell<'c>]) -> Option<Cow<'c, str>> {
        match self {
            Self::None => None,
            Self::Cell(cell) => Some(cells[*cell].value).filter(|it| *it != "null").map(Cow::from),
            Self::Packed(fields) => {
                let field = |cell: &usize| {
                    let Cell { place, value } = cells[*cell];
                    (place.field(), serde_json::from_str(value).unwrap_or_default())
                };
                let object: Map<String, Value> = fields.iter().map(field).collect();
                Some(Value::Object(object).to_string().into())
            }
        }
    }
}

fn read<'l>(line: &'l str, cells: &mut Vec<Cell<'l>>) -> io::Result<()> {
    cells::read(line, cells)
        .ok_or_else(|| io::Error::other("a line of the temporary file was changed"))
}
