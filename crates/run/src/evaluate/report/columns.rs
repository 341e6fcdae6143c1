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
use std::ops::Range;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::cells::{FIRST_GROUPS, LAST_GROUPS, Place, Shapes};
use super::spool::{Chunk, SpoolReader};

/// The bytes of a chunk whose columns are collected, or that is written as text.
pub(super) const CHUNK: u64 = 1 << 20;

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
    fn of(chunk: Chunk) -> io::Result<Self> {
        let (text, lines) = chunk.into_parts()?;
        let (mut columns, mut shapes) = (Self::default(), Shapes::new());
        for line in lines.into_iter().map(|place| &text[place]) {
            let (places, values) = shapes
                .read(line, |places| columns.places(places))
                .ok_or_else(changed)?;
            columns.rows += 1;
            for (value, (group, column)) in values.iter().zip(places) {
                let group = &mut columns.groups[*group];
                group.cells += 1;
                let kind = &mut group.columns[*column];
                *kind = kind.with(Kind::of(value));
            }
        }
        Ok(columns)
    }

    /// Returns the positions of the group and the column of each cell. New ones come after those of earlier rows.
    fn places(&mut self, cells: &[Place<'_>]) -> Vec<(usize, usize)> {
        for group in FIRST_GROUPS {
            self.groups.entry(group.to_owned()).or_default();
        }
        let mut place = |cell: &Place<'_>| {
            let entry = self.groups.entry(cell.group().into_owned());
            let group = entry.index();
            let columns = &mut entry.or_default().columns;
            let column = columns.entry(cell.column());
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
        let is_full = |_, bytes| bytes >= CHUNK;
        lines.map_chunks(is_full, Columns::of, |more| {
            columns.merge(more);
            Ok(())
        })?;
        Ok(columns.finish())
    }

    /// Calls a function with the values of each line, in the order of the columns; `None` is a cell without a value.
    pub(super) fn each_row<'c>(
        &self,
        text: &'c str,
        lines: &[Range<usize>],
        mut each: impl FnMut(&[Option<Cow<'c, str>>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut shapes = Shapes::new();
        let mut row = Vec::with_capacity(self.columns.len());
        for place in lines {
            let line = &text[place.clone()];
            let (sources, values) = shapes
                .read(line, |places| self.sources(places))
                .ok_or_else(changed)?;
            row.clear();
            row.extend(sources.iter().map(|source| source.value(values)));
            each(&row)?;
        }
        Ok(())
    }

    /// Returns where the values of the columns are in a line. Of two cells in one column, the later one counts.
    fn sources(&self, cells: &[Place<'_>]) -> Vec<Source> {
        let mut sources: Vec<_> = (0..self.columns.len()).map(|_| Source::None).collect();
        for group in &self.packed {
            let of_group = cells
                .iter()
                .enumerate()
                .filter(|(_, cell)| cell.group() == *group);
            let of_group: Vec<_> = of_group
                .map(|(number, cell)| (number, cell.field()))
                .collect();
            if let (false, Some(column)) = (of_group.is_empty(), self.columns.get_index_of(group)) {
                sources[column] = Source::Packed(of_group);
            }
        }
        for (position, cell) in cells.iter().enumerate() {
            let is_packed = self.packed.contains(&*cell.group()) && !matches!(cell, Place::Side(_));
            if let (false, Some(column)) = (is_packed, self.columns.get_index_of(&cell.column())) {
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
    /// These cells, as an object whose fields have these names.
    Packed(Vec<(usize, String)>),
}

impl Source {
    fn value<'c>(&self, values: &[&'c str]) -> Option<Cow<'c, str>> {
        match self {
            Self::None => None,
            Self::Cell(cell) => Some(values[*cell])
                .filter(|it| *it != "null")
                .map(Cow::from),
            Self::Packed(fields) => {
                let field = |(cell, name): &(usize, String)| {
                    (
                        name.clone(),
                        serde_json::from_str(values[*cell]).unwrap_or_default(),
                    )
                };
                let object: Map<String, Value> = fields.iter().map(field).collect();
                Some(Value::Object(object).to_string().into())
            }
        }
    }
}

fn changed() -> io::Error {
    io::Error::other("a line of the temporary file was changed")
}
