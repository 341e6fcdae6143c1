//! The columns of a result row, for CSV and Parquet: `id`; `gold.FIELD` and `pred.FIELD` if the run made predictions;
//! `latency_s`, `input_tokens`, `output_tokens` and `cost_msats` if the program returned them;
//! `attributes.FIELD` for each attribute; for each metric `NAME` (the value), then
//! `NAME.outcome`, `NAME.passed`, `NAME.confidence`, `NAME.details`, `NAME.feedback`,
//! `NAME.cost_msats`, and keys that only some rows have, such as `NAME.error` and `NAME.parts`; `repeats`; `manifest`, which only
//! the last row has.
//!
//! If rows have many different fields, such as keys that are ids, a column for each would make a file of rows times fields. Then
//! `gold`, `pred` or `attributes` is one column of JSON objects.

use std::collections::HashSet;
use std::io;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::evaluate::manifest::REFERENCE_KEY;

pub(super) type Cells = IndexMap<String, Value>;

/// A group of up to this number of columns is not packed.
const MAX_SPARSE_COLUMNS: usize = 1_000;

/// A group of more columns is packed if fewer than one in this number of its cells has a value.
const MAX_SPARSENESS: u64 = 16;

/// The groups whose columns are named by the rows.
const PACKED: [&str; 3] = ["gold", "pred", "attributes"];

/// The columns of all rows in groups, each with its statistics of type `T`.
pub(super) struct Columns<T> {
    groups: IndexMap<String, Group<T>>,
    rows: u64,
}

struct Group<T> {
    columns: IndexMap<String, T>,
    /// The number of cells with a value in all rows.
    cells: u64,
}

impl<T> Default for Columns<T> {
    fn default() -> Self {
        Self { groups: IndexMap::new(), rows: 0 }
    }
}

impl<T: Default> Columns<T> {
    /// Adds the columns of a row; `record` updates the statistics of the cell's column.
    pub(super) fn add(&mut self, line: Line, record: impl Fn(&mut T, &Value)) {
        self.rows += 1;
        for (group, cells) in line.cells() {
            let empty = || Group { columns: IndexMap::new(), cells: 0 };
            let group = self.groups.entry(group).or_insert_with(empty);
            group.cells += cells.len() as u64;
            for (name, value) in cells {
                record(group.columns.entry(name).or_default(), &value);
            }
        }
    }

    /// Returns the columns in order, and which groups are packed; `packed` creates the statistics of a column of JSON
    /// objects.
    pub(super) fn finish(self, packed: impl Fn() -> T) -> (IndexMap<String, T>, Packing) {
        let (mut columns, mut packing) = (IndexMap::new(), HashSet::new());
        for (name, group) in self.groups {
            let width = group.columns.len();
            let is_sparse = width > MAX_SPARSE_COLUMNS
                && (width as u64).saturating_mul(self.rows) / MAX_SPARSENESS > group.cells;
            if is_sparse && PACKED.contains(&&*name) {
                columns.insert(name.clone(), packed());
                packing.insert(name);
            } else {
                columns.extend(group.columns);
            }
        }
        (columns, Packing { groups: packing })
    }
}

/// The groups that are one column of JSON objects each.
pub(super) struct Packing {
    groups: HashSet<String>,
}

impl Packing {
    /// Returns the cells of a row by the name of their column.
    pub(super) fn cells(&self, line: Line) -> Cells {
        let mut all = Cells::new();
        for (group, cells) in line.cells() {
            match self.groups.contains(&group) && !cells.is_empty() && !cells.contains_key(&group) {
                true => all.extend([packed(&group, cells)]),
                false => all.extend(cells),
            }
        }
        all
    }
}

/// `gold.a` and `gold.b` as the object in the column `gold`
fn packed(group: &str, cells: Cells) -> (String, Value) {
    let field = |(column, value): (String, Value)| {
        let field = column.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'));
        (field.unwrap_or(&column).to_owned(), value)
    };
    (group.to_owned(), Value::Object(cells.into_iter().map(field).collect::<Map<_, _>>()))
}

#[derive(Deserialize)]
pub(super) struct Line {
    id: String,
    gold: Option<Side>,
    pred: Option<Side>,
    latency_s: Option<Value>,
    input_tokens: Option<Value>,
    output_tokens: Option<Value>,
    cost_msats: Option<Value>,
    #[serde(default)]
    attributes: Cells,
    scores: IndexMap<String, Cells>,
    repeats: Option<Value>,
    manifest: Option<String>,
    traceback: Option<String>,
}

/// A gold row or prediction: one with fields has a column for each, any other has one column.
#[derive(Deserialize)]
#[serde(untagged)]
enum Side {
    Fields(Cells),
    Whole(Value),
}

impl Line {
    pub(super) fn read(line: &[u8]) -> io::Result<Self> {
        Ok(serde_json::from_slice(line)?)
    }

    /// Returns all cells by the name of their column, in groups.
    fn cells(self) -> IndexMap<String, IndexMap<String, Value>> {
        let mut groups = IndexMap::new();
        groups.insert(String::new(), Cells::from_iter([("id".to_owned(), self.id.into())]));
        for (name, side) in [("gold", self.gold), ("pred", self.pred)] {
            let cells = side.map_or_else(Cells::new, |side| side.cells(name));
            groups.insert(name.to_owned(), cells);
        }
        let run = [
            ("latency_s", self.latency_s),
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
            ("cost_msats", self.cost_msats),
        ];
        let run = run.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        groups.insert("run".to_owned(), run.collect());
        let attributes = prefixed("attributes", self.attributes);
        groups.insert("attributes".to_owned(), attributes);
        for (name, mut score) in self.scores {
            let mut cells = Cells::new();
            cells.insert(name.clone(), score.shift_remove("value").unwrap_or_default());
            cells.extend(prefixed(&name, score));
            groups.insert(format!("score of {name}"), cells);
        }
        let repeats = self.repeats.map(|repeats| ("repeats".to_owned(), repeats));
        groups.insert("repeats".to_owned(), repeats.into_iter().collect());
        let manifest = self.manifest.map(|text| (REFERENCE_KEY.to_owned(), text.into()));
        groups.insert(REFERENCE_KEY.to_owned(), manifest.into_iter().collect());
        let traceback = self.traceback.map(|text| ("traceback".to_owned(), text.into()));
        groups.insert("traceback".to_owned(), traceback.into_iter().collect());
        groups
    }
}

impl Side {
    fn cells(self, name: &str) -> Cells {
        match self {
            Self::Fields(fields) => prefixed(name, fields),
            Self::Whole(value) => Cells::from_iter([(name.to_owned(), value)]),
        }
    }
}

fn prefixed(name: &str, cells: Cells) -> Cells {
    let named = |(field, value)| (format!("{name}.{field}"), value);
    cells.into_iter().map(named).collect()
}
