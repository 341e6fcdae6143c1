//! One row of a file: its shape, validation, mappings, and conversion to a [`Pair`].
//!
//! The file is long because a row is validated, mapped and converted in one place.

use std::borrow::Cow;

use serde_json::Value;

use super::error::{DataError, invalid};
use super::mapping::{Mapping, Target, guess_mappings};
use super::result_row::{Added, GOLD_HASH, PRED_HASH, parse_hash, row_hash};
#[cfg(feature = "csv")]
use super::selection::FieldSelection;
use super::selection::ReadField;
use crate::contract::{Fields, Origin, Pair, Side};
use crate::json::read::{Shape, may_be_literal};
use crate::json::{found, path, text};
use crate::messages::escape;

/// The attribute that holds a sample's number, if a mapping sets it.
pub(super) const REPEAT: &str = "repeat";

/// Stands for NaN or an infinity in a row that is not yet mapped. Text never contains this character, because Unicode
/// excludes it.
pub(super) const NOT_FINITE: &str = "\u{10FFFF}NaN";

/// A row that is an object; `gold` and `pred` may have any shape. Mappings read from the row and write to it.
#[derive(Default)]
pub(super) struct RowObject {
    pub(super) id: Option<Value>,
    pub(super) gold: Option<Shape<Fields>>,
    pub(super) pred: Option<Shape<Fields>>,
    pub(super) attributes: Fields,
    /// The keys of `scores` in file order, which a `serde_json` object does not keep.
    pub(super) score_names: Vec<String>,
    /// `true` if the format has columns, where `gold.answer` is a field of `gold`.
    pub(super) is_flat: bool,
    /// `true` if the columns are those of a result file.
    pub(super) is_of_results: bool,
    /// The results that a run added, if the row is from a result file.
    pub(super) added: Option<Box<Added>>,
    /// `true` if the id is the position of a result row that had none.
    pub(super) is_positional: bool,
    /// `true` if the gold row is from a separate file. Mappings of gold fields read that file's fields first.
    pub(super) is_joined: bool,
    /// `true` if the row may contain [`NOT_FINITE`] instead of a number, or contained it.
    pub(super) has_nan: bool,
    /// `true` if the row is a plain value, stored in the attribute `value`.
    pub(super) is_plain: bool,
}

/// What a column's cells contain.
#[cfg(feature = "csv")]
pub(super) enum Column {
    Id,
    /// A whole gold row or prediction.
    Side(Side),
    Field(Side, Cow<'static, str>),
    Attribute(Cow<'static, str>),
}

#[cfg(feature = "csv")]
impl Column {
    /// Returns what a column with this name contains. `has_sides` is `true` if a column `gold` is the whole gold row.
    /// Names in the selection are not copied.
    pub(super) fn new(name: &str, has_sides: bool, selection: Option<&FieldSelection>) -> Self {
        let known = |names: Option<&[&'static str]>, name: &str| {
            let known = names.and_then(|names| names.iter().find(|it| **it == name));
            known.map_or_else(|| name.to_owned().into(), |name| Cow::Borrowed(*name))
        };
        let field =
            |side, name| Self::Field(side, known(selection.and_then(|it| it.names(side)), name));
        match name.split_once('.') {
            Some(("gold", name)) => field(Side::Gold, name),
            Some(("pred", name)) => field(Side::Pred, name),
            _ => match name {
                "id" => Self::Id,
                "gold" if has_sides => Self::Side(Side::Gold),
                "pred" if has_sides => Self::Side(Side::Pred),
                _ => Self::Attribute(known(
                    selection.and_then(FieldSelection::attribute_names),
                    name,
                )),
            },
        }
    }
}

/// Checks that no side is both an object and separate fields, as in `gold` and `gold.answer`: one of them would be
/// ignored.
#[cfg(feature = "csv")]
pub(super) fn check_sides(names: &[String], at: &Origin) -> Result<(), DataError> {
    [Side::Gold, Side::Pred].into_iter().try_for_each(|side| {
        match names.contains(&side.to_string()) {
            true => check_fields(side, names.iter().map(String::as_str), at),
            false => Ok(()),
        }
    })
}

/// Checks that no key is a field of this side.
fn check_fields<'n>(
    side: Side,
    mut names: impl Iterator<Item = &'n str>,
    at: &Origin,
) -> Result<(), DataError> {
    let is_field = |name: &str| {
        name.split_once('.')
            .is_some_and(|(whole, _)| side.to_string() == whole)
    };
    match names.find(|name| is_field(name)) {
        None => Ok(()),
        Some(field) => Err(invalid!(
            at,
            "expected the fields of `{side}` in one place, found `{side}` and `{}`; rename or remove one",
            escape::name(field)
        )),
    }
}

impl RowObject {
    /// Creates a row from a plain value.
    pub(super) fn of_value(value: Value) -> Self {
        Self {
            is_plain: true,
            attributes: [("value", value)].into_iter().collect(),
            ..Self::default()
        }
    }

    /// Returns an error if the row is a plain value.
    pub(super) fn check_object(&self, at: &Origin) -> Result<(), DataError> {
        match self.attributes.get("value").filter(|_| self.is_plain) {
            None => Ok(()),
            Some(value) => Err(invalid!(
                at,
                r#"expected a row such as {{"id": .., "gold": {{..}}, "pred": {{..}}}}, found {}"#,
                found(value)
            )),
        }
    }

    /// Adds a column's cell to a row, in a format with columns.
    #[cfg(feature = "csv")]
    pub(super) fn add_cell(&mut self, column: &Column, value: Value, is_string: bool) {
        let (fields, name) = match column {
            Column::Id => return self.id = Some(value),
            Column::Side(side) => return *self.side_mut(*side) = Some(shape(value)),
            Column::Attribute(name) => (Some(&mut self.attributes), name),
            Column::Field(side, name) => (fields_mut(self.side_mut(*side)), name),
        };
        if let Some(fields) = fields {
            if is_string {
                fields.special_mut().strings.push(name.clone().into_owned());
            }
            fields.insert_named(name.clone(), value);
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut Option<Shape<Fields>> {
        match side {
            Side::Gold => &mut self.gold,
            Side::Pred => &mut self.pred,
        }
    }

    /// Validates a row that is scored: an object with `gold` or `pred`, unless mappings name its fields.
    pub(super) fn validate_scored(
        &mut self,
        at: &Origin,
        mappings: &[Mapping],
        read: &[ReadField],
    ) -> Result<(), DataError> {
        self.added = self.take_results(at, !mappings.is_empty())?;
        self.is_positional = self.added.as_ref().is_some_and(|it| it.is_positional());
        if mappings.is_empty() && self.gold.is_none() && self.pred.is_none() {
            return Err(self.no_fields(at, read));
        }
        self.validate(at, |side, value| {
            let name = side.to_string();
            let is_below = value.is_array() || value.as_str().is_some_and(may_be_literal);
            let mut paths = mappings.iter().flat_map(Mapping::paths);
            paths.any(|path| path == name || is_below && path::split_first(path).0 == name)
        })
    }

    fn no_fields(&self, at: &Origin, read: &[ReadField]) -> DataError {
        let present: Vec<_> = self.attributes.keys().collect();
        let found = match &present[..] {
            [] => "an empty row".to_owned(),
            keys => format!("only {}", escape::names(keys.iter().copied())),
        };
        let fields: Vec<_> = read.iter().map(ReadField::path).collect();
        let fields: Vec<_> = fields.iter().map(String::as_str).collect();
        let of_the_run = match &fields[..] {
            [] => String::new(),
            fields => {
                let names = escape::names(fields.iter().copied());
                format!(" that the run reads, {names}")
            }
        };
        let mut guesses = guess_mappings(fields.iter().copied(), present.iter().copied());
        if guesses.is_empty() {
            let field = fields.first().unwrap_or(&"gold.FIELD");
            guesses.push(format!("--map {field}=COLUMN"));
        }
        invalid!(
            at,
            "expected `gold` or `pred`, found {found}; map the fields{of_the_run}, as in {}",
            guesses.join(" ")
        )
    }

    /// Validates a row of a devset: an object with `gold`, or one with neither `gold` nor `pred` that is the gold row
    /// itself.
    pub(super) fn validate_example(&mut self, at: &Origin) -> Result<(), DataError> {
        if self.gold.is_none() && self.pred.is_none() {
            self.gold = Some(Shape::Map(std::mem::take(&mut self.attributes)));
        }
        self.validate(at, |_, _| false)
    }

    /// Validates the shapes of `gold` and `pred`. `may_be_any_value` returns `true` for a side that may be something
    /// other than an object of fields.
    pub(super) fn validate(
        &self,
        at: &Origin,
        may_be_any_value: impl Fn(Side, &Value) -> bool,
    ) -> Result<(), DataError> {
        let sides = [(Side::Gold, &self.gold), (Side::Pred, &self.pred)];
        for (side, value) in sides {
            if value.is_some() && !self.is_flat {
                check_fields(side, self.attributes.keys(), at)?;
            }
        }
        for (side, value) in sides {
            if let Some(Shape::Other(value)) = value
                && !may_be_any_value(side, value)
            {
                return Err(invalid!(
                    at,
                    "`{side}`: expected an object of fields, found {}; to score the value itself, pass --map {side}.FIELD={side}",
                    found(value)
                ));
            }
        }
        Ok(())
    }

    /// Returns the value at a path. The value is owned if it is inside a string.
    pub(super) fn find(&self, path: &str) -> Option<Cow<'_, Value>> {
        if path == "id" {
            return self.id.as_ref().map(Cow::Borrowed);
        }
        if let Some(value) = path::find_inside(path, |name| self.attributes.get(name)) {
            return Some(value);
        }
        let (first, rest) = path::split_first(path);
        let side = match first {
            "gold" => &self.gold,
            "pred" => &self.pred,
            _ => return path::find_inside(path, |name| self.added.as_ref()?.fields.get(name)),
        };
        match side.as_ref()? {
            Shape::Map(fields) => path::find_inside(rest, |name| fields.get(name)),
            Shape::Other(value) => path::walk(value, rest),
        }
    }

    /// Returns the value that a mapping selects, and `true` if it is known to be a string, even in a cell.
    pub(super) fn value_of(&self, mapping: &Mapping) -> Option<(Value, bool)> {
        let is_of_gold = matches!(mapping.target(), Target::Field(Side::Gold, _));
        let gold = fields_of(self.gold.as_ref()).filter(|_| is_of_gold && self.is_joined);
        let value_at = |path| {
            let joined = gold.and_then(|gold| path::find_inside(path, |name| gold.get(name)));
            let is_typed = joined.is_some() && gold.is_some_and(|gold| !gold.textual);
            let value = joined.or_else(|| self.find(path))?;
            let is_known = matches!(value, Cow::Owned(_)) || is_typed || self.is_string(path);
            let is_string = value.is_string() && is_known;
            Some((value.into_owned(), is_string))
        };
        let values: Option<Vec<_>> = mapping.paths().map(value_at).collect();
        joined(values?)
    }

    /// Returns `true` if the cell at a path is known to be a string.
    fn is_string(&self, path: &str) -> bool {
        let added = self.added.as_ref().map(|added| &added.fields);
        let sides = [
            ("gold.", fields_of(self.gold.as_ref())),
            ("pred.", fields_of(self.pred.as_ref())),
            ("", Some(&self.attributes)),
            ("", added),
        ];
        sides.into_iter().any(|(prefix, fields)| {
            let name = path.strip_prefix(prefix);
            name.zip(fields)
                .is_some_and(|(name, fields)| fields.strings().iter().any(|it| it == name))
        })
    }

    /// Returns the hashes of the gold row and the prediction, if the row contains the objects or their hashes.
    pub(super) fn hashes(&self) -> [Option<u64>; 2] {
        [(GOLD_HASH, &self.gold), (PRED_HASH, &self.pred)].map(|(key, side)| {
            let written = self.attributes.get(key).and_then(Value::as_str);
            written.and_then(parse_hash).or_else(|| match side {
                Some(Shape::Other(whole)) => row_hash(whole),
                Some(Shape::Map(fields)) => {
                    row_hash(&fields.iter().map(|(k, v)| (k, v.clone())).collect())
                }
                None => None,
            })
        })
    }

    /// Turns `gold` and `pred` into attributes if they are not objects.
    pub(super) fn keep_whole_sides(&mut self) {
        let is_whole = |side: &mut Shape<Fields>| matches!(side, Shape::Other(_));
        for (name, side) in [("gold", &mut self.gold), ("pred", &mut self.pred)] {
            if let Some(Shape::Other(value)) = side.take_if(is_whole) {
                self.attributes.insert(name, value);
            }
        }
    }

    /// Sets the fields and ids that the mappings name. Mappings read the row as it is in the file. Calls `used` with
    /// the position of each mapping whose path the row has.
    pub(super) fn map(&mut self, mappings: &[Mapping], used: impl Fn(usize)) {
        let values: Vec<_> = mappings.iter().map(|it| self.value_of(it)).collect();
        for (position, (mapping, value)) in mappings.iter().zip(values).enumerate() {
            if value.is_some() {
                used(position);
            }
            let (value, is_string) = value.unzip();
            match mapping.target() {
                Target::Id => {
                    self.id = value;
                    self.is_positional = false;
                }
                Target::Repeat => {
                    value.map(|number| self.attributes.insert(REPEAT, number));
                }
                Target::Field(side, name) => {
                    set(self.side_mut(*side), name, value, is_string == Some(true));
                }
            }
        }
    }

    /// Returns the fields of a side, if it is an object.
    pub(super) fn fields_of(&mut self, side: Side) -> Option<&mut Fields> {
        match self.side_mut(side) {
            Some(Shape::Map(fields)) => Some(fields),
            _ => None,
        }
    }

    /// Converts numbers and bools in these fields to JSON text, such as `42`, `0.5` or `true`, if the field takes
    /// strings.
    pub(super) fn write_scalars(&mut self, read: &[ReadField]) {
        for field in read {
            let Some(fields) = self.fields_of(field.side) else {
                continue;
            };
            if let Some(value) = fields.get_mut(&field.name)
                && !field.help.may_be(value)
            {
                let text = with_texts(value);
                if field.help.may_be(&text) {
                    *value = text;
                }
            }
        }
    }

    /// Replaces [`NOT_FINITE`] with null, and marks the fields that contained it.
    pub(super) fn clear_not_finite(&mut self) {
        let [gold, pred] = [&mut self.gold, &mut self.pred];
        let sides = [gold, pred].into_iter().filter_map(|side| match side {
            Some(Shape::Map(fields)) => Some(fields),
            Some(Shape::Other(value)) => {
                clear(value);
                None
            }
            None => None,
        });
        for fields in sides.chain([&mut self.attributes]) {
            let names: Vec<String> = fields.keys().map(str::to_owned).collect();
            for name in names {
                if fields.get_mut(&name).is_some_and(clear) {
                    fields.special_mut().not_finite.push(name);
                }
            }
        }
    }

    /// Returns the pair. The row's own id is not read.
    pub(super) fn into_pair(self, origin: &Origin, id: String, is_positional: bool) -> Pair {
        let is_textual = self.attributes.textual;
        let fields = |side: Option<Shape<Fields>>| {
            let mut fields = match side {
                Some(Shape::Map(fields)) => fields,
                _ => Fields::default(),
            };
            fields.textual |= is_textual;
            fields
        };
        Pair {
            id,
            is_positional,
            gold: fields(self.gold).into(),
            pred: fields(self.pred).into(),
            attributes: self.attributes,
            origin: Some(origin.clone()),
            run: self.added.and_then(|added| added.run),
        }
    }
}

/// Replaces [`NOT_FINITE`] in a value with null. Returns `true` if the value contained it.
fn clear(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text == NOT_FINITE => {
            *value = Value::Null;
            true
        }
        // Not `any`, which would stop at the first.
        Value::Array(list) => list.iter_mut().fold(false, |any, value| clear(value) | any),
        Value::Object(object) => object
            .values_mut()
            .fold(false, |any, value| clear(value) | any),
        _ => false,
    }
}

/// Converts a number or bool, or those in a list, to JSON text.
fn with_texts(value: &Value) -> Value {
    match value {
        Value::Number(_) | Value::Bool(_) => value.to_string().into(),
        Value::Array(list) => list.iter().map(with_texts).collect(),
        other => other.clone(),
    }
}

/// Returns the only value, or the texts of several columns joined with commas.
fn joined(mut values: Vec<(Value, bool)>) -> Option<(Value, bool)> {
    if values.len() < 2 {
        return values.pop();
    }
    let texts: Option<Vec<_>> = values.into_iter().map(|(value, _)| text(value)).collect();
    Some((texts?.join(",").into(), true))
}

/// Returns the fields of a side, replacing any other value.
fn fields_mut(side: &mut Option<Shape<Fields>>) -> Option<&mut Fields> {
    if !matches!(side, Some(Shape::Map(_))) {
        *side = Some(Shape::Map(Fields::default()));
    }
    match side {
        Some(Shape::Map(fields)) => Some(fields),
        _ => None,
    }
}

fn fields_of(side: Option<&Shape<Fields>>) -> Option<&Fields> {
    match side {
        Some(Shape::Map(fields)) => Some(fields),
        _ => None,
    }
}

#[cfg(feature = "csv")]
fn shape(value: Value) -> Shape<Fields> {
    match value {
        Value::Object(fields) => Shape::Map(Fields::from_iter(fields)),
        other => Shape::Other(other),
    }
}

/// Sets a field of a side. If there is no value, removes the field, because one with the same name in the row has a
/// different meaning.
fn set(side: &mut Option<Shape<Fields>>, name: &str, value: Option<Value>, is_string: bool) {
    let Some(fields) = fields_mut(side) else {
        return;
    };
    if fields.strings().iter().any(|other| other == name) {
        fields.special_mut().strings.retain(|other| other != name);
    }
    if is_string {
        fields.special_mut().strings.push(name.to_owned());
    }
    match value {
        Some(value) => fields.insert(name, value),
        None => fields.remove(name),
    };
}

pub(super) fn id_of(id: Value, at: &Origin) -> Result<String, DataError> {
    let found = match id {
        // CSV has no empty ids, so this one could not be written.
        Value::String(id) if id.is_empty() => "an empty string".to_owned(),
        Value::String(id) if id == NOT_FINITE => "NaN or an infinity".to_owned(),
        Value::String(id) => return Ok(id),
        Value::Number(id) => return Ok(id.to_string()),
        other => found(&other),
    };
    Err(invalid!(
        at,
        "`id`: expected a string or a number, found {found}"
    ))
}
