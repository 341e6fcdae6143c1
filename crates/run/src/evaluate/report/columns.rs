//! The columns of a result row for CSV and Parquet. `id` comes first, then `gold.FIELD` and `pred.FIELD` if the run
//! made predictions, and `latency_s`, `input_tokens`, `output_tokens` and `cost_msats` if the program returned them.
//! Each attribute is `attributes.FIELD`. Each metric has `NAME` (the value), `NAME.outcome`, `NAME.passed`,
//! `NAME.confidence`, `NAME.details`, `NAME.feedback` and `NAME.cost_msats`, and keys that only some rows have, such as
//! `NAME.error` and `NAME.parts`. `repeats` and `manifest`, which only the last row has, come last.
//!
//! If rows have many different fields, for example because their keys are ids, one column each would make the file
//! huge. Then `gold`, `pred` or `attributes` is a single column of JSON objects.
//!
//! The columns are known only after the last row, so the lines are read twice, in chunks on all threads.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use indexmap::{Equivalent, IndexMap};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::spool::{CHUNK, Chunk, SpoolReader};

/// Fields with at most this many columns are never packed.
const MAX_SPARSE_COLUMNS: usize = 1_000;

/// Fields with more columns are packed if fewer than one in this many cells has a value.
const MAX_SPARSENESS: u64 = 16;

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

    /// Returns the type of a column that has values of both types.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (kind, Self::Null) | (Self::Null, kind) => kind,
            (a, b) if a == b => a,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            _ => Self::Json,
        }
    }
}

type Fields<'l> = IndexMap<String, &'l RawValue>;

/// The order of columns: fixed names, and prefixes of fields. The scores have no name.
const ORDER: [&str; 17] = [
    "id",
    "gold",
    "gold.",
    "pred",
    "pred.",
    "latency_s",
    "input_tokens",
    "output_tokens",
    "cost_msats",
    "attributes.",
    "",
    "repeats",
    "gold_hash",
    "pred_hash",
    "positional",
    "manifest",
    "traceback",
];

/// A metric, or a name of [`ORDER`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Group<S> {
    is_score: bool,
    name: S,
}

impl Equivalent<Group<String>> for Group<&str> {
    fn equivalent(&self, key: &Group<String>) -> bool {
        self.is_score == key.is_score && self.name == key.name
    }
}

impl Group<String> {
    fn rank(&self) -> Option<usize> {
        let name = if self.is_score { "" } else { &*self.name };
        ORDER.iter().position(|it| *it == name)
    }

    fn column(&self, field: &str) -> String {
        let Self { is_score, name } = self;
        match (is_score, field) {
            (true, "value") => name.clone(),
            (true, key) => format!("{name}.{key}"),
            (false, field) => format!("{name}{field}"),
        }
    }
}

/// One value per column, by group and field.
type ByColumn<T> = IndexMap<Group<String>, IndexMap<String, T>>;

/// Calls a function with the group, field and JSON value of each cell in a line.
fn each_cell<'l>(
    line: &'l str,
    mut each: impl FnMut(Group<&str>, &str, &'l str),
) -> io::Result<()> {
    for (key, value) in &serde_json::from_str::<Fields<'l>>(line)? {
        let (key, value) = (&**key, value.get());
        let mut cell = |name, field: &str, value: &'l str| {
            let is_score = false;
            each(Group { is_score, name }, field, value);
        };
        match key {
            "scores" => {
                let scores: IndexMap<String, Fields<'l>> = serde_json::from_str(value)?;
                scores
                    .iter()
                    .for_each(|(name, it)| each_of_score(name, it, &mut each));
            }
            "gold" | "pred" | "attributes" if value.starts_with('{') => {
                let group = ORDER.iter().find(|it| it.strip_suffix('.') == Some(key));
                let fields: Fields<'l> = serde_json::from_str(value)?;
                for (field, value) in &fields {
                    cell(group.unwrap_or(&key), field, value.get());
                }
            }
            key if value != "null" && ORDER.contains(&key) => cell(key, "", value),
            _ => {}
        }
    }
    Ok(())
}

fn each_of_score<'l>(
    name: &str,
    score: &Fields<'l>,
    each: &mut impl FnMut(Group<&str>, &str, &'l str),
) {
    let is_score = true;
    // The value comes first, even if a row has none.
    let value = score.get("value").map_or("null", |it| it.get());
    each(Group { is_score, name }, "value", value);
    for (key, value) in score.iter().filter(|(key, _)| *key != "value") {
        each(Group { is_score, name }, key, value.get());
    }
}

/// The types of the columns of rows.
#[derive(Default)]
struct Columns {
    groups: ByColumn<Kind>,
    /// The number of cells of each group with a value in all rows.
    cells: IndexMap<String, u64>,
    rows: u64,
}

impl Columns {
    fn of(chunk: Chunk) -> io::Result<Self> {
        let (text, lines) = chunk.into_parts()?;
        let mut columns = Self::default();
        for place in lines {
            columns.rows += 1;
            each_cell(&text[place], |group, field, value| {
                columns.add(group, field, Kind::of(value), 1);
            })?;
        }
        Ok(columns)
    }

    fn add(&mut self, group: Group<&str>, field: &str, kind: Kind, cells: u64) {
        let Group { is_score, name } = group;
        if !self.groups.contains_key(&group) {
            let name = name.to_owned();
            self.groups
                .insert(Group { is_score, name }, IndexMap::new());
        }
        let columns = &mut self.groups[&group];
        match columns.get_mut(field) {
            Some(known) => *known = known.with(kind),
            None => drop(columns.insert(field.to_owned(), kind)),
        }
        if !is_score && name.ends_with('.') {
            match self.cells.get_mut(name) {
                Some(known) => *known += cells,
                None => drop(self.cells.insert(name.to_owned(), cells)),
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        for (Group { is_score, name }, columns) in &other.groups {
            for (field, kind) in columns {
                self.add(
                    Group {
                        is_score: *is_score,
                        name,
                    },
                    field,
                    *kind,
                    0,
                );
            }
        }
        for (name, cells) in other.cells {
            *self.cells.entry(name).or_default() += cells;
        }
    }

    fn finish(mut self) -> Layout {
        self.groups.sort_by_key(|group, _| group.rank());
        let mut layout = Layout::default();
        for (group, columns) in self.groups {
            let width = columns.len();
            let cells = self.cells.get(&group.name).copied();
            let is_sparse = width > MAX_SPARSE_COLUMNS
                && cells.is_some_and(|cells| {
                    (width as u64).saturating_mul(self.rows) / MAX_SPARSENESS > cells
                });
            if is_sparse && !group.is_score {
                let column = group.name.trim_end_matches('.').to_owned();
                let place = layout.columns.insert_full(column, Kind::Json).0;
                layout.packed.insert(group.name, place);
                continue;
            }
            let mut place = |(field, kind): (String, Kind)| {
                let place = layout.columns.insert_full(group.column(&field), kind).0;
                (field, place)
            };
            let places = columns.into_iter().map(&mut place).collect();
            layout.places.insert(group, places);
        }
        layout
    }
}

/// The columns of a file.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) columns: IndexMap<String, Kind>,
    places: ByColumn<usize>,
    /// The groups whose fields share one column of JSON objects, with that column.
    packed: IndexMap<String, usize>,
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

    /// Calls a function with the values of each line, in column order; `None` is an empty cell. If two cells belong to
    /// one column, the later one counts.
    pub(super) fn each_row<'c>(
        &self,
        text: &'c str,
        lines: &[Range<usize>],
        mut each: impl FnMut(&[Option<Cow<'c, str>>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut row = vec![None; self.columns.len()];
        for place in lines {
            row.fill(None);
            let mut packed: IndexMap<usize, Map<String, Value>> = IndexMap::new();
            each_cell(&text[place.clone()], |group, field, value| {
                if let Some(place) = self.places.get(&group).and_then(|it| it.get(field)) {
                    row[*place] = (value != "null").then_some(value.into());
                } else if let Some(place) = self.packed.get(group.name) {
                    let value = serde_json::from_str(value).unwrap_or_default();
                    let fields = packed.entry(*place).or_default();
                    fields.insert(field.to_owned(), value);
                }
            })?;
            for (place, fields) in packed {
                row[place] = Some(Value::Object(fields).to_string().into());
            }
            each(&row)?;
        }
        Ok(())
    }
}

/// Returns the text of a JSON string; `None` for any other value.
pub(super) fn text(value: &str) -> Option<Cow<'_, str>> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    let parsed = || serde_json::from_str(value).map_or(text.into(), Cow::Owned);
    Some(if text.contains('\\') {
        parsed()
    } else {
        text.into()
    })
}

/// Returns a value in the form that [`Value`] writes, which may sort the keys of an object and turns a very long
/// integer into a float.
pub(super) fn json(value: &str) -> Cow<'_, str> {
    let is_nested = value.starts_with(['[', '{']);
    let is_long_integer = value.len() > 18 && !value.contains(['.', 'e', '"']);
    if !is_nested && !is_long_integer {
        return value.into();
    }
    serde_json::from_str::<Value>(value).map_or(value.into(), |parsed| parsed.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the columns and values of a line.
    fn cells(line: &str) -> io::Result<Vec<(String, String)>> {
        let mut cells = Vec::new();
        each_cell(line, |Group { is_score, name }, field, value| {
            let name = name.to_owned();
            cells.push((Group { is_score, name }.column(field), value.to_owned()));
        })?;
        Ok(cells)
    }

    #[test]
    fn every_value_of_a_line_has_a_column() {
        let line = r#"{"id":"a\"b","gold":{"q":"\\","n":[1,{"x":"]}"}],"e\u0301":{}},"pred":"Paris","latency_s":0.5,"attributes":{"r":null},"scores":{"f1":{"outcome":"scored","value":1.0,"details":"\"{\""},"x\"y":{"outcome":"abstained"}},"traceback":"t\n","manifest":"1-0"}"#;
        let expected = [
            ("id", r#""a\"b""#),
            ("gold.q", r#""\\""#),
            ("gold.n", r#"[1,{"x":"]}"}]"#),
            ("gold.e\u{301}", "{}"),
            ("pred", "\"Paris\""),
            ("latency_s", "0.5"),
            ("attributes.r", "null"),
            ("f1", "1.0"),
            ("f1.outcome", "\"scored\""),
            ("f1.details", r#""\"{\"""#),
            ("x\"y", "null"),
            ("x\"y.outcome", "\"abstained\""),
            ("traceback", r#""t\n""#),
            ("manifest", "\"1-0\""),
        ];
        let expected = expected.map(|(column, value)| (column.to_owned(), value.to_owned()));
        assert_eq!(cells(line).unwrap(), expected);
        let whole = r#"{"id":"a","gold":null,"pred":[1],"latency_s":null,"scores":{}}"#;
        assert_eq!(cells(whole).unwrap().len(), 2);
        let error = cells("{\"id\":\"a").unwrap_err().to_string();
        assert_eq!(error, "EOF while parsing a string at line 1 column 8");
    }

    #[test]
    fn a_value_is_written_as_serde_writes_it() {
        let values = [
            "null",
            "true",
            "-1",
            "0.1",
            "1e+300",
            "123456789012345678901",
            "18446744073709551615",
            r#"{"b":1,"a":[2.50,"x"]}"#,
            "[]",
            r#""a\u00e9 \" \\ \n""#,
        ];
        for value in values {
            let parsed: Value = serde_json::from_str(value).unwrap();
            match text(value) {
                Some(text) => assert_eq!(Some(&*text), parsed.as_str()),
                None => assert_eq!(json(value), parsed.to_string(), "{value}"),
            }
        }
    }
}
