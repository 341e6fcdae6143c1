//! The columns of a result row for CSV and Parquet. `id` comes first, then `gold.FIELD` and `pred.FIELD` if the run
//! made predictions, and `latency_s`, `input_tokens`, `output_tokens` and `cost_msats` if the program returned them.
//! Each attribute is `attributes.FIELD`. Each metric has `NAME` (the value), `NAME.outcome`, `NAME.passed`,
//! `NAME.confidence`, `NAME.details`, `NAME.feedback` and `NAME.cost_msats`, and keys that only some rows have, such as
//! `NAME.error` and `NAME.parts`. `repeats` and `manifest`, which only the last row has, come last.
//!
//! If rows have more than 1,000 different fields, for example because their keys are ids, a column for each field would
//! make the file huge. In that case, `gold`, `pred` or `attributes` is a single column of JSON objects.
//!
//! The columns are known only after the last row, so the lines are read twice, in chunks on all threads.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;
use std::{fmt, io};

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::spool::{CHUNK, Chunk, Spool};
use crate::data::Key;

/// The maximum number of columns for fields. If there are more, the fields are packed into one column.
const MAX_COLUMNS: usize = 1_000;

/// The type of a column's values.
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

/// The entries of an object, in order.
struct Entries<'l, V>(Vec<(Key<'l>, V)>);

impl<'l, V: Deserialize<'l>> Deserialize<'l> for Entries<'l, V> {
    fn deserialize<D: Deserializer<'l>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<V>(PhantomData<V>);

impl<'l, V: Deserialize<'l>> Visitor<'l> for EntriesVisitor<V> {
    type Value = Entries<'l, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        // A score has seven keys.
        let mut entries = Vec::with_capacity(8);
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

type Fields<'l> = Entries<'l, &'l RawValue>;

/// The order of columns: their names, or the prefixes of fields' names. Scores have no prefix.
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

/// The order of a column: its position in [`ORDER`], and for a score the position of its metric.
type Rank = (usize, usize);

/// Calls a function with the rank, column and JSON value of each cell in a line.
fn each_cell<'l>(line: &'l str, mut each: impl FnMut(Rank, &str, &'l str)) -> io::Result<()> {
    let rank = |name: &str, prefix: &str| {
        let is_same = |it: &&str| it.strip_prefix(name) == Some(prefix);
        ORDER.iter().position(is_same)
    };
    let mut column = String::new();
    let mut cell = |rank: Rank, name: [&str; 3], value: &'l str| {
        column.clear();
        column.extend(name);
        each(rank, &column, value);
    };
    for (Key(key), value) in serde_json::from_str::<Fields<'l>>(line)?.0 {
        let (key, value) = (&*key, value.get());
        if key == "scores" {
            let scores: Entries<'l, Fields<'l>> = serde_json::from_str(value)?;
            let position = rank("", "").unwrap_or_default();
            for (metric, (Key(name), Entries(score))) in scores.0.into_iter().enumerate() {
                let rank = (position, metric);
                let is_value = |(Key(key), _): &&(Key<'_>, _)| key == "value";
                // The value comes first, even if a row has none.
                let value = score.iter().find(is_value);
                cell(
                    rank,
                    [&name, "", ""],
                    value.map_or("null", |(_, it)| it.get()),
                );
                for (Key(key), value) in score.iter().filter(|entry| !is_value(entry)) {
                    cell(rank, [&name, ".", key], value.get());
                }
            }
        } else if value.starts_with('{')
            && let Some(rank) = rank(key, ".")
        {
            for (Key(field), value) in serde_json::from_str::<Fields<'l>>(value)?.0 {
                cell((rank, 0), [key, ".", &field], value.get());
            }
        } else if value != "null"
            && let Some(rank) = rank(key, "")
        {
            cell((rank, 0), [key, "", ""], value);
        }
    }
    Ok(())
}

/// The columns of rows, in the order they were found.
type Found = IndexMap<String, (Rank, Kind), RandomState>;

fn found_in(chunk: Chunk) -> io::Result<Found> {
    let Chunk { text, lines } = chunk;
    let mut found = Found::default();
    for place in lines {
        each_cell(&text[place], |rank, column, value| {
            add(&mut found, column, rank, Kind::of(value));
        })?;
    }
    Ok(found)
}

fn add(found: &mut Found, column: &str, rank: Rank, kind: Kind) {
    match found.get_mut(column) {
        Some((_, known)) => *known = known.with(kind),
        None => drop(found.insert(column.to_owned(), (rank, kind))),
    }
}

/// The columns of a file.
pub(super) struct Layout {
    pub(super) columns: IndexMap<String, Kind, RandomState>,
    /// For each position in [`ORDER`], `true` if its fields share one column of JSON objects.
    is_packed: Vec<bool>,
}

impl Layout {
    /// Collects the columns of all lines.
    pub(super) fn of(lines: &Spool) -> io::Result<Self> {
        let mut found = Found::default();
        let is_full = |_, bytes| bytes >= CHUNK;
        lines.map_chunks(is_full, found_in, |more| {
            for (column, (rank, kind)) in &more {
                add(&mut found, column, *rank, *kind);
            }
            Ok(())
        })?;
        let is_packed = |(position, prefix): (usize, &&str)| {
            let columns = found.values().filter(|((at, _), _)| *at == position);
            prefix.ends_with('.') && columns.count() > MAX_COLUMNS
        };
        let is_packed: Vec<bool> = ORDER.iter().enumerate().map(is_packed).collect();
        found.sort_by(|_, (a, _), _, (b, _)| a.cmp(b));
        let column =
            |(column, ((position, _), kind)): (String, (Rank, Kind))| match is_packed[position] {
                true => (ORDER[position].trim_end_matches('.').to_owned(), Kind::Json),
                false => (column, kind),
            };
        Ok(Self {
            columns: found.into_iter().map(column).collect(),
            is_packed,
        })
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
            each_cell(&text[place.clone()], |(position, _), column, value| {
                let (name, field) = match self.is_packed[position] {
                    true => column.split_once('.').unwrap_or((column, "")),
                    false => (column, ""),
                };
                let Some(place) = self.columns.get_index_of(name) else {
                    return;
                };
                if self.is_packed[position] {
                    let value = serde_json::from_str(value).unwrap_or_default();
                    let fields = packed.entry(place).or_default();
                    fields.insert(field.to_owned(), value);
                } else {
                    row[place] = (value != "null").then_some(value.into());
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

/// Returns the text of a JSON string, or `None` for any other value.
pub(super) fn text(value: &str) -> Option<Cow<'_, str>> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    let parsed = || serde_json::from_str(value).map_or(text.into(), Cow::Owned);
    Some(if text.contains('\\') {
        parsed()
    } else {
        text.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the columns and values of a line.
    fn cells(line: &str) -> io::Result<Vec<(String, String)>> {
        let mut cells = Vec::new();
        each_cell(line, |_, column, value| {
            cells.push((column.to_owned(), value.to_owned()));
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
    fn a_string_is_written_without_its_escapes() {
        let written = text(r#""a\u00e9 \" \\ \n""#);
        assert_eq!(written.as_deref(), Some("aé \" \\ \n"));
        assert_eq!(text("[1]"), None);
    }
}
