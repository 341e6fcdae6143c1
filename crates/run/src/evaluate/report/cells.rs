//! The cells of a line: where its values are in the text, without a copy of them.
//!
//! Lines are written by `line.rs`, so they are valid JSON. Most lines of a run have the same keys in the same order, their
//! shape: what depends on the names of columns is computed once for a shape and not for a row.

use std::borrow::Cow;

use memchr::memchr2;
use serde_json::Value;

use crate::evaluate::manifest::REFERENCE_KEY;

/// A value of a line.
#[derive(Clone, Copy)]
pub(super) struct Cell<'l> {
    pub(super) place: Place<'l>,
    /// JSON.
    pub(super) value: &'l str,
}

/// The column of a cell. Keys are as in the text, without quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'l> {
    /// `id`, `repeats`, `manifest` and `traceback`: a group of one column.
    Whole(&'static str),
    /// A gold row or prediction that has no fields.
    Side(&'static str),
    /// A field of `gold`, `pred` or `attributes`.
    Field(&'static str, &'l str),
    /// What a program returned about its run.
    Run(&'static str),
    /// The value of a metric.
    Value(&'l str),
    /// Another key of the score of a metric.
    Score(&'l str, &'l str),
}

/// The groups that each row has, some of them before and some of them after the scores.
pub(super) const FIRST_GROUPS: [&str; 5] = ["", "gold", "pred", "run", "attributes"];
pub(super) const LAST_GROUPS: [&str; 3] = ["repeats", REFERENCE_KEY, "traceback"];

impl<'l> Place<'l> {
    /// Returns the name of the group, which differs from all names of other groups.
    pub(super) fn group(self) -> Cow<'l, str> {
        match self {
            Self::Whole("id") => "".into(),
            Self::Whole(name) | Self::Side(name) | Self::Field(name, _) => name.into(),
            Self::Run(_) => "run".into(),
            Self::Value(metric) | Self::Score(metric, _) => {
                format!("score of {}", unescaped(metric)).into()
            }
        }
    }

    /// Returns the name of the column.
    pub(super) fn column(self) -> String {
        match self {
            Self::Whole(name) | Self::Side(name) | Self::Run(name) => name.to_owned(),
            Self::Field(group, field) => format!("{group}.{}", unescaped(field)),
            Self::Value(metric) => unescaped(metric).into_owned(),
            Self::Score(metric, key) => format!("{}.{}", unescaped(metric), unescaped(key)),
        }
    }

    /// Returns the name of the field within its group; of any other cell, that of its column.
    pub(super) fn field(self) -> String {
        match self {
            Self::Field(_, field) => unescaped(field).into_owned(),
            other => other.column(),
        }
    }
}

/// Replaces cells by those of a line. `None` if the line is not a row.
pub(super) fn read<'l>(line: &'l str, cells: &mut Vec<Cell<'l>>) -> Option<()> {
    const RUN: [&str; 4] = ["latency_s", "input_tokens", "output_tokens", "cost_msats"];
    cells.clear();
    members(line, |key, value| {
        let mut add = |place| cells.push(Cell { place, value });
        match key {
            "id" => add(Place::Whole("id")),
            "gold" => return side("gold", value, cells),
            "pred" => return side("pred", value, cells),
            "attributes" => return fields("attributes", value, cells),
            "scores" => return members(value, |metric, score| self::score(metric, score, cells)),
            _ if value == "null" => {}
            _ => {
                let whole = LAST_GROUPS.into_iter().find(|name| *name == key).map(Place::Whole);
                let run = RUN.into_iter().find(|name| *name == key).map(Place::Run);
                whole.or(run).into_iter().for_each(add);
            }
        }
        Some(())
    })
}

/// A gold row or prediction: one with fields has a column for each, any other has one column.
fn side<'l>(name: &'static str, value: &'l str, cells: &mut Vec<Cell<'l>>) -> Option<()> {
    match value.as_bytes().first()? {
        b'{' => fields(name, value, cells),
        _ if value == "null" => Some(()),
        _ => {
            cells.push(Cell { place: Place::Side(name), value });
            Some(())
        }
    }
}

fn fields<'l>(group: &'static str, object: &'l str, cells: &mut Vec<Cell<'l>>) -> Option<()> {
    members(object, |field, value| {
        cells.push(Cell { place: Place::Field(group, field), value });
        Some(())
    })
}

/// The value comes first.
fn score<'l>(metric: &'l str, object: &'l str, cells: &mut Vec<Cell<'l>>) -> Option<()> {
    let first = cells.len();
    cells.push(Cell { place: Place::Value(metric), value: "null" });
    members(object, |key, value| {
        match key {
            "value" => cells[first].value = value,
            _ => cells.push(Cell { place: Place::Score(metric, key), value }),
        }
        Some(())
    })
}

/// Returns whether two lines have the same keys in the same order.
pub(super) fn have_same_shape(a: &[Cell<'_>], b: &[Cell<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.place == b.place)
}

/// Returns the text of a string of JSON; `None` of any other value.
pub(super) fn text(value: &str) -> Option<Cow<'_, str>> {
    Some(unescaped(value.strip_prefix('"')?.strip_suffix('"')?))
}

/// Returns a value as a [`Value`] is written, which may sort the keys of an object. An integer of many digits is a float then.
pub(super) fn json(value: &str) -> Cow<'_, str> {
    let is_nested = value.starts_with(['[', '{']);
    let is_long_integer = value.len() > 18 && !value.contains(['.', 'e', '"']);
    if !is_nested && !is_long_integer {
        return value.into();
    }
    serde_json::from_str::<Value>(value).map_or(value.into(), |parsed| parsed.to_string().into())
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    serde_json::from_str::<String>(&format!("\"{text}\"")).map_or(text.into(), Cow::Owned)
}

/// Calls a function with each key and value of an object.
fn members<'l>(
    object: &'l str,
    mut each: impl FnMut(&'l str, &'l str) -> Option<()>,
) -> Option<()> {
    let mut rest = object.trim_start().strip_prefix('{')?.trim_start();
    while !rest.starts_with('}') {
        let (key, after) = rest.split_at_checked(string_end(rest.as_bytes())?)?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = after.split_at_checked(value_end(after.as_bytes())?)?;
        each(&key[1..key.len() - 1], value)?;
        let after = after.trim_start();
        rest = after.strip_prefix(',').map_or(after, str::trim_start);
    }
    Some(())
}

/// Returns the length of the value at the beginning.
fn value_end(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => string_end(text),
        b'{' | b'[' => {
            let (mut at, mut depth) = (0, 0_usize);
            loop {
                match text.get(at)? {
                    b'"' => at += string_end(&text[at..])? - 1,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth == 1 => return Some(at + 1),
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
            }
        }
        _ => text.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n')),
    }
}

/// Returns the length of the string at the beginning, with its quotes.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns and values of a line.
    fn cells(line: &str) -> Option<Vec<(String, String)>> {
        let mut cells = Vec::new();
        read(line, &mut cells)?;
        Some(cells.iter().map(|cell| (cell.place.column(), cell.value.to_owned())).collect())
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
        let spaced = line.replace("\":", "\" : ").replace(",\"", " , \"").replace("}", " }");
        assert_eq!(cells(&spaced).unwrap().len(), expected.len());
        let whole = r#"{"id":"a","gold":null,"pred":[1],"latency_s":null,"scores":{}}"#;
        assert_eq!(cells(whole).unwrap().len(), 2);
    }

    #[test]
    fn text_that_is_no_row_has_no_cells() {
        for line in
            ["", "{", "{\"id\"", "{\"id\":", "{\"id\":\"a", "{\"id\":\"a\\", "{\"id\":[1", "7"]
        {
            assert_eq!(cells(line), None, "{line}");
        }
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
            r#""a\u00e9""#,
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
