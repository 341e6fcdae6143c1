//! Parses one row of JSON text into a [`Row`], with errors that name line and byte within the file.
//!
//! The file is long because it detects the layout of a file, parses rows and says what is wrong with them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::error::{DataError, DataErrorKind, invalid};
use super::row::{NOT_FINITE, RowObject};
use super::selection::FieldSelection;
use crate::contract::{Fields, Origin, Side};
use crate::json::read::{
    FromMap, Shape, UniqueKeys, is_long_integer, is_underflow, numbers, reject_duplicate,
    replace_constants,
};
use crate::json::{OBJECT, is_too_large};

/// 2^64. From this value on, `serde_json` reads integers as floats.
const FIRST_FLOAT: f64 = 18_446_744_073_709_551_616.0;

/// Where a row starts: its line, and the byte in that line, counted from 1.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) at: &'a Origin,
    pub(super) column: usize,
}

/// Returns the text of a row.
pub(super) fn text_from<'b>(bytes: &'b [u8], start: Start<'_>) -> Result<&'b str, DataError> {
    str::from_utf8(bytes).map_err(|error| {
        let (at, byte) = start.position_of(bytes, error.valid_up_to());
        let found = bytes[error.valid_up_to()];
        invalid!(&at, "invalid UTF-8: byte {byte} is 0x{found:02X}; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it")
    })
}

/// What a JSON file contains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An array of rows.
    Array,
    /// Rows one after another.
    Values,
    /// An object that maps ids to rows.
    Entries,
    /// One object with all rows, as pandas writes with `orient="split"`.
    Split,
}

/// Determines what a file contains from its start, which begins with an object. Returns `None` for anything else, such
/// as an object that holds a list of rows among other data.
pub(super) fn form_of_object(start: &[u8]) -> Option<Form> {
    let mut values = serde_json::Deserializer::from_slice(start).into_iter::<Map<String, Value>>();
    let keys_of_rows = ["id", "gold", "pred", "scores"];
    let Some(Ok(first)) = values.next() else {
        // The object is longer than the start.
        let rest = start.trim_ascii_start()[1..].trim_ascii_start();
        let is_first = |key: &str| rest.starts_with(format!("\"{key}\"").as_bytes());
        return Some(match () {
            () if keys_of_rows.into_iter().any(is_first) => Form::Values,
            () if is_first("columns") || is_first("index") => Form::Split,
            () => Form::Entries,
        });
    };
    let is_only = start[values.byte_offset()..].trim_ascii().is_empty();
    let is_list_of_objects = |value: &Value| {
        let list = value.as_array();
        list.is_some_and(|list| list.first().is_some_and(Value::is_object))
    };
    let has_objects = first.values().any(Value::is_object);
    match () {
        () if !is_only || keys_of_rows.iter().any(|key| first.contains_key(*key)) => {
            Some(Form::Values)
        }
        () if first.contains_key("columns") && first.get("data").is_some_and(Value::is_array) => {
            Some(Form::Split)
        }
        () if first.is_empty() || first.values().any(is_list_of_objects) => None,
        () if first.len() == 1 && first.values().all(Value::is_array) => None,
        () if has_objects && !first.values().all(Value::is_object) => None,
        () => Some(Form::Entries),
    }
}

/// Parses a row.
pub(super) fn parse(
    bytes: &[u8],
    start: Start<'_>,
    value_limit: usize,
) -> Result<RowObject, DataError> {
    let text = text_from(bytes, start)?;
    if is_too_large(text, value_limit) {
        return Err(DataError::too_large(
            start.at,
            format_args!(
                "expected a row of at most {value_limit} JSON values, where an object counts as {OBJECT}, found more; split the row, or write its long lists as strings"
            ),
        ));
    }
    let read = |text: &str| match serde_json::from_str(text)? {
        Shape::Map(row) => Ok(row),
        Shape::Other(value) => Ok(RowObject::of_value(value)),
    };
    let mut row = read(text).or_else(|error: serde_json::Error| {
        let marker = format!("\"{NOT_FINITE}\"");
        let row = read(&replace_constants(text, [&marker; 3])).ok();
        let row = row.ok_or_else(|| invalid(&error, start))?;
        let has_nan = true;
        Ok(RowObject { has_nan, ..row })
    })?;
    if has_suspicious_number(&row) {
        check_numbers(text, start)?;
    }
    keep_id_as_written(&mut row, text);
    Ok(row)
}

/// Parses only the selected fields of a row. Returns `None` if the row has an unusual shape or may be invalid.
pub(super) fn parse_selected(
    bytes: &[u8],
    selection: &FieldSelection,
    value_limit: usize,
) -> Option<RowObject> {
    let text = str::from_utf8(bytes).ok()?;
    if is_too_large(text, value_limit) {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let row = (&mut deserializer).deserialize_map(SelectedRow(selection));
    let mut row = row.ok()?;
    deserializer.end().ok()?;
    if has_suspicious_number(&row) {
        return None;
    }
    keep_id_as_written(&mut row, text);
    Some(row)
}

fn invalid(error: &serde_json::Error, start: Start<'_>) -> DataError {
    let message = error.to_string();
    let (at, column) = start.position(error.line(), error.column());
    if message.starts_with("recursion limit exceeded") {
        return DataError::too_large(
            &at,
            "lists and objects are nested deeper than 127 levels; flatten them or write the deep part as a string",
        );
    }
    let reason = message.rsplit_once(" at line ");
    let reason = match reason.map_or(&*message, |(reason, _)| reason) {
        "unexpected end of hex escape" | "lone leading surrogate in hex escape" => LONE_SURROGATE,
        reason => reason,
    };
    DataError::syntax(&at, column, reason)
}

const LONE_SURROGATE: &str = "lone surrogate: an escape from \\ud800 to \\udfff is half a character; write the whole pair, or \\ufffd";

impl Start<'_> {
    /// Returns the position in the file of the byte at this offset into the row.
    fn position_of(self, bytes: &[u8], offset: usize) -> (Origin, usize) {
        let before = &bytes[..offset];
        let lines = before.split(|byte| *byte == b'\n').count();
        let in_line = before.rsplit(|byte| *byte == b'\n').next();
        self.position(lines, in_line.map_or(0, <[u8]>::len) + 1)
    }

    /// Returns the position in the file of a line and byte of the row, both counted from 1.
    fn position(self, line: usize, byte: usize) -> (Origin, usize) {
        let lines_after = line.saturating_sub(1);
        let byte = match lines_after {
            0 => self.column - 1 + byte,
            _ => byte,
        };
        let at = Origin {
            file: self.at.file.clone(),
            line: self.at.line + lines_after as u64,
        };
        (at, byte)
    }
}

/// Rejects numbers that `serde_json` would change. Integers beyond 64 bits become floats, so two that differ only in
/// their last digits would compare equal, and numbers below the smallest float become 0.
fn check_numbers(text: &str, start: Start<'_>) -> Result<(), DataError> {
    for number in numbers(text) {
        if is_long_integer(number.text) {
            let (at, column) = start.position_of(text.as_bytes(), number.offset);
            return Err(DataError::at(
                &at,
                DataErrorKind::Invalid,
                format_args!(
                    ":{column}: expected an integer of at most 64 bits, found a longer one; write it as a string"
                ),
            ));
        }
        if is_underflow(number.text) {
            // The reason and location that `serde_json` gives for a number that is too large.
            let last = number.offset + number.text.len() - 1;
            let (at, column) = start.position_of(text.as_bytes(), last);
            return Err(DataError::syntax(&at, column, "number out of range"));
        }
    }
    Ok(())
}

/// Replaces an id that is a float with its text: `1.50` and `1e2` are ids, not numbers.
fn keep_id_as_written(row: &mut RowObject, text: &str) {
    if let Some(id) = row.id.as_mut().filter(|id| id.is_f64())
        && let Some(number) = numbers(text).find(|number| number.key == Some("\"id\""))
    {
        *id = number.text.into();
    }
}

/// Returns `true` if the row has a very large number or a float of 0. Its text is scanned only in this case.
fn has_suspicious_number(row: &RowObject) -> bool {
    let any = |fields: &Fields| fields.iter().any(|(_, value)| is_suspicious(value));
    let any_in_side = |side: &Option<Shape<Fields>>| match side {
        None => false,
        Some(Shape::Other(value)) => is_suspicious(value),
        Some(Shape::Map(fields)) => any(fields),
    };
    row.id.as_ref().is_some_and(is_suspicious)
        || any_in_side(&row.gold)
        || any_in_side(&row.pred)
        || any(&row.attributes)
}

/// Returns `true` if the value contains a float that may be a rounded 64-bit integer (negative ones start at 2^63), or
/// a float of 0.
fn is_suspicious(value: &Value) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => number
            .as_f64()
            .is_some_and(|float| float == 0.0 || float.abs() >= FIRST_FLOAT / 2.0),
        Value::Array(list) => list.iter().any(is_suspicious),
        Value::Object(object) => object.values().any(is_suspicious),
        _ => false,
    }
}

/// A visitor for a row of the usual shape.
struct SelectedRow<'s>(&'s FieldSelection);

impl<'de> Visitor<'de> for SelectedRow<'_> {
    type Value = RowObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RowObject, A::Error> {
        row_of(map, Some(self.0))
    }
}

impl FromMap for RowObject {
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        row_of(map, None)
    }
}

/// Reads a row, or only its selected fields if it has the usual shape.
fn row_of<'de, A: MapAccess<'de>>(
    mut map: A,
    selection: Option<&FieldSelection>,
) -> Result<RowObject, A::Error> {
    let mut row = RowObject::default();
    let names = selection.and_then(FieldSelection::attribute_names);
    let side = |map: &mut A, side| match selection {
        None => map.next_value(),
        Some(selection) => {
            let fields = SelectedFields(selection.names(side));
            map.next_value_seed(fields).map(Shape::Map)
        }
    };
    while let Some(Key(key)) = map.next_key()? {
        let is_of_side = key.starts_with("gold.") || key.starts_with("pred.");
        if selection.is_some() && (key == "scores" || is_of_side) {
            return Err(A::Error::custom("an unusual row"));
        }
        let is_duplicate = match &*key {
            "id" => row.id.replace(map.next_value::<UniqueKeys>()?.0).is_some(),
            "gold" => row.gold.replace(side(&mut map, Side::Gold)?).is_some(),
            "pred" => row.pred.replace(side(&mut map, Side::Pred)?).is_some(),
            "scores" => {
                let scores = match map.next_value()? {
                    Shape::Other(value) => value,
                    Shape::<Fields>::Map(scores) => {
                        row.score_names = scores.keys().map(str::to_owned).collect();
                        Value::Object(scores.into_iter().collect())
                    }
                };
                row.attributes.insert("scores", scores).is_some()
            }
            key => match selected(key, names) {
                None => map.next_value::<IgnoredAny>().map(|_| false)?,
                Some(name) => {
                    let UniqueKeys(value) = map.next_value()?;
                    row.attributes.insert_named(name, value).is_some()
                }
            },
        };
        reject_duplicate(is_duplicate, &key)?;
    }
    Ok(row)
}

/// Reads the fields with these names, or all fields.
struct SelectedFields<'s>(Option<&'s [&'static str]>);

impl<'de> DeserializeSeed<'de> for SelectedFields<'_> {
    type Value = Fields;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SelectedFields<'_> {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(Key(key)) = map.next_key()? {
            match selected(&key, self.0) {
                None => _ = map.next_value::<IgnoredAny>()?,
                Some(key) => {
                    let UniqueKeys(value) = map.next_value()?;
                    if fields.insert_named(key, value).is_some() {
                        return Err(A::Error::custom("a duplicate key"));
                    }
                }
            }
        }
        Ok(fields)
    }
}

/// A key, borrowed from the JSON text if possible.
#[derive(Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Returns the key if it is one of these names. Without names, every key is returned.
fn selected(key: &str, names: Option<&[&'static str]>) -> Option<Cow<'static, str>> {
    let Some(names) = names else {
        return Some(key.to_owned().into());
    };
    let name = names.iter().find(|name| **name == key)?;
    Some(Cow::Borrowed(*name))
}
