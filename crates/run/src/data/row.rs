//! One row of a file: its JSON shape, validation, mappings, and conversion to a [`Pair`].

use serde::de::MapAccess;
use serde_json::Value;

use super::error::DataError;
use super::mapping::{Mapping, Target};
use super::result_row::{Added, GOLD_HASH, PRED_HASH};
use super::row_hash::{parse_hash, row_hash};
use super::selection::FieldSelection;
use crate::core::rows::named_values::Fields;
use crate::core::rows::pair::{Origin, Pair};
use crate::core::spec::Side;
use crate::json::describe::found;
use crate::json::path;
use crate::json::unique_keys::{FromMap, Shape, UniqueKeys, reject_duplicate};

/// A row as it was read, of any shape.
pub(super) type Row = Shape<RowObject>;

/// A row as it was read, and where.
pub(crate) struct LocatedRow {
    pub(super) row: Row,
    pub(super) at: Origin,
    /// The number of the row among the rows of its file, from 1: the id of a row without one.
    pub(super) number: u64,
}

impl LocatedRow {
    /// Returns the string in a column, or under a key of a JSON row.
    pub(super) fn string(&self, name: &str) -> Option<String> {
        match &self.row {
            Row::Map(row) => row.attributes.get(name)?.as_str().map(str::to_owned),
            Row::Other(_) => None,
        }
    }
}

/// A row that is an object; `gold` and `pred` may have any shape.
#[derive(Default)]
pub(super) struct RowObject {
    pub(super) id: Option<Value>,
    pub(super) gold: Option<Shape<Fields>>,
    pub(super) pred: Option<Shape<Fields>>,
    pub(super) attributes: Fields,
    /// The keys of `scores` in the order of the file, which an object of `serde_json` does not keep.
    pub(super) score_names: Vec<String>,
    /// Whether the row is from a format with columns, where `gold.answer` is a field of `gold`.
    pub(super) is_flat: bool,
}

/// Checks that no side is both an object and keys or columns of its fields, as `gold` and `gold.answer` are: one of them
/// would be ignored.
#[cfg(feature = "csv")]
pub(super) fn check_sides<'n>(
    names: impl Iterator<Item = &'n str>,
    at: &Origin,
) -> Result<(), DataError> {
    let names: Vec<_> = names.collect();
    [Side::Gold, Side::Pred].into_iter().try_for_each(|side| {
        match names.contains(&side.to_string().as_str()) {
            true => check_fields(side, names.iter().copied(), at),
            false => Ok(()),
        }
    })
}

/// Checks that no key is one of a field of this side.
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
        Some(field) => Err(DataError::FieldsTwice {
            at: at.clone(),
            side,
            field: field.to_owned(),
        }),
    }
}

/// Validates a row that is scored: an object with `gold` or `pred`, unless mappings name its
/// fields.
pub(super) fn validated_row(
    row: Row,
    at: &Origin,
    mappings: &[Mapping],
    selection: Option<&FieldSelection>,
) -> Result<ValidRow, DataError> {
    let mut object = into_object(row, at)?;
    let added = object.take_results(at, !mappings.is_empty())?;
    if mappings.is_empty() && object.gold.is_none() && object.pred.is_none() {
        let present = object.attributes.keys().map(str::to_owned).collect();
        let read = selection.map(FieldSelection::fields).unwrap_or_default();
        return Err(DataError::NoFields {
            at: at.clone(),
            present,
            read,
        });
    }
    let row = object.validate(at, |side| {
        let name = side.to_string();
        mappings.iter().any(|mapping| mapping.path() == name)
    })?;
    let is_positional = added.as_ref().is_some_and(|added| added.is_positional());
    Ok(ValidRow {
        added,
        is_positional,
        ..row
    })
}

/// Validates a row of a devset: an object with `gold`, or one that has neither `gold` nor `pred` and is the gold row
/// itself.
pub(super) fn validated_example(row: Row, at: &Origin) -> Result<ValidRow, DataError> {
    let mut object = into_object(row, at)?;
    if object.gold.is_none() && object.pred.is_none() {
        object.gold = Some(Shape::Map(std::mem::take(&mut object.attributes)));
    }
    object.validate(at, |_| false)
}

/// Validates only that the row is an object and that its id has the right type.
pub(super) fn validated_object(row: Row, at: &Origin) -> Result<ValidRow, DataError> {
    into_object(row, at)?.validate(at, |_| true)
}

fn into_object(row: Row, at: &Origin) -> Result<RowObject, DataError> {
    match row {
        Row::Map(object) => Ok(object),
        Row::Other(value) => {
            let (at, found) = (at.clone(), found(&value));
            Err(DataError::NotObject { at, found })
        }
    }
}

impl RowObject {
    /// The value at a dotted path, as of the validated row.
    #[cfg(feature = "parquet")]
    pub(super) fn find(&self, path: &str) -> Option<&Value> {
        path::find(path, |name| self.attributes.get(name)).or_else(|| {
            let (first, rest) = path.split_once('.').unwrap_or((path, ""));
            let side = match first {
                "gold" => &self.gold,
                "pred" => &self.pred,
                _ => return None,
            };
            match side.as_ref()? {
                Shape::Map(fields) => path::find(rest, |name| fields.get(name)),
                Shape::Other(value) => rest.is_empty().then_some(value),
            }
        })
    }

    /// `may_be_any_value` returns whether a side may be something other than an object of fields.
    fn validate(
        self,
        at: &Origin,
        may_be_any_value: impl Fn(Side) -> bool,
    ) -> Result<ValidRow, DataError> {
        if !self.is_flat {
            for (side, value) in [(Side::Gold, &self.gold), (Side::Pred, &self.pred)] {
                if value.is_some() {
                    check_fields(side, self.attributes.keys(), at)?;
                }
            }
        }
        let split = |side, value| split(side, value, at, may_be_any_value(side));
        let (gold, whole_gold) = split(Side::Gold, self.gold)?;
        let (pred, whole_pred) = split(Side::Pred, self.pred)?;
        let mark_textual = |fields: Fields| match self.attributes.textual {
            true => fields.textual(),
            false => fields,
        };
        Ok(ValidRow {
            id: self.id.map(|id| id_of(id, at)).transpose()?,
            is_positional: false,
            gold: mark_textual(gold),
            pred: mark_textual(pred),
            whole_gold,
            whole_pred,
            attributes: self.attributes,
            score_names: self.score_names,
            is_flat: self.is_flat,
            added: None,
        })
    }
}

/// Splits a row's `gold` or `pred` into its fields, or the whole value where any value is accepted.
fn split(
    side: Side,
    value: Option<Shape<Fields>>,
    at: &Origin,
    may_be_any_value: bool,
) -> Result<(Fields, Option<Value>), DataError> {
    match value {
        None => Ok((Fields::default(), None)),
        Some(Shape::Map(fields)) => Ok((fields, None)),
        Some(Shape::Other(value)) if may_be_any_value => Ok((Fields::default(), Some(value))),
        Some(Shape::Other(value)) => Err(DataError::NotFields {
            at: at.clone(),
            side,
            found: found(&value),
        }),
    }
}

/// A validated row; mappings read from it and write to it.
pub(super) struct ValidRow {
    id: Option<String>,
    /// `true` if the id is that of a result row which had none.
    is_positional: bool,
    gold: Fields,
    pred: Fields,
    /// The value of `gold` if it is not an object; only a mapping can read it.
    whole_gold: Option<Value>,
    whole_pred: Option<Value>,
    attributes: Fields,
    score_names: Vec<String>,
    is_flat: bool,
    /// The results that a run added to the row of a result file.
    added: Option<Box<Added>>,
}

impl ValidRow {
    /// The value at a dotted path.
    pub(super) fn find(&self, path: &str) -> Option<&Value> {
        if let Some(value) = path::find(path, |name| self.attributes.get(name)) {
            return Some(value);
        }
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        match first {
            "gold" => find_in_side(&self.gold, self.whole_gold.as_ref(), rest),
            "pred" => find_in_side(&self.pred, self.whole_pred.as_ref(), rest),
            _ => path::find(path, |name| self.added.as_ref()?.fields.get(name)),
        }
    }

    /// Returns `true` if the cell at a path is known to be a string.
    pub(super) fn is_string(&self, path: &str) -> bool {
        let sides = [
            ("gold.", &self.gold),
            ("pred.", &self.pred),
            ("", &self.attributes),
        ];
        let added = self.added.as_ref().map(|added| ("", &added.fields));
        sides.into_iter().chain(added).any(|(prefix, fields)| {
            path.strip_prefix(prefix)
                .is_some_and(|name| fields.strings.iter().any(|it| it == name))
        })
    }

    /// Whether the row is from a format with columns.
    pub(super) fn is_flat(&self) -> bool {
        self.is_flat
    }

    pub(super) fn attributes(&self) -> &Fields {
        &self.attributes
    }

    pub(super) fn take_score_names(&mut self) -> Vec<String> {
        std::mem::take(&mut self.score_names)
    }

    pub(super) fn take_id(&mut self) -> Option<String> {
        self.id.take()
    }

    /// Returns the hashes of the gold row and of the prediction, if the row has them or their hashes.
    pub(super) fn hashes(&self) -> [Option<u64>; 2] {
        let sides = [
            (GOLD_HASH, &self.whole_gold, &self.gold),
            (PRED_HASH, &self.whole_pred, &self.pred),
        ];
        sides.map(|(key, whole, fields)| {
            let written = self
                .attributes
                .get(key)
                .and_then(Value::as_str)
                .and_then(parse_hash);
            written.or_else(|| match whole {
                Some(whole) => row_hash(whole),
                None => row_hash(&fields.iter().map(|(k, v)| (k, v.clone())).collect()),
            })
        })
    }

    /// Makes `gold` and `pred` attributes where they are not objects.
    pub(super) fn keep_whole_sides(&mut self) {
        let sides = [
            (Side::Gold, self.whole_gold.take()),
            (Side::Pred, self.whole_pred.take()),
        ];
        for (side, value) in sides {
            value.map(|value| self.attributes.insert(side.to_string(), value));
        }
    }

    /// Sets the field or id that the mapping names; `is_string` is that of its path. Without a value the field is removed,
    /// since a field of the same name in the row has another meaning.
    pub(super) fn set(
        &mut self,
        mapping: &Mapping,
        value: Option<Value>,
        is_string: bool,
        at: &Origin,
    ) -> Result<(), DataError> {
        let (side, field) = match mapping.target() {
            Target::Id => {
                self.id = value.map(|id| id_of(id, at)).transpose()?;
                self.is_positional = false;
                return Ok(());
            }
            Target::Field(Side::Gold, field) => (&mut self.gold, field),
            Target::Field(Side::Pred, field) => (&mut self.pred, field),
        };
        side.strings.retain(|name| name != field);
        if is_string {
            side.strings.push(field.clone());
        }
        match value {
            Some(value) => side.insert(field, value),
            None => side.remove(field),
        };
        Ok(())
    }

    /// Returns the pair, with the id of the row or else an id that `default_id` derives from its
    /// place.
    pub(super) fn into_pair(
        self,
        origin: Origin,
        default_id: impl FnOnce(&Origin) -> String,
    ) -> Pair {
        let is_positional = self.is_positional || self.id.is_none();
        Pair {
            id: self.id.unwrap_or_else(|| default_id(&origin)),
            is_positional,
            gold: self.gold.into(),
            pred: self.pred.into(),
            attributes: self.attributes,
            origin: Some(origin),
            run: self.added.and_then(|added| added.run),
        }
    }
}

fn find_in_side<'a>(fields: &'a Fields, whole: Option<&'a Value>, path: &str) -> Option<&'a Value> {
    match path {
        "" => whole,
        path => path::find(path, |name| fields.get(name)),
    }
}

fn id_of(id: Value, at: &Origin) -> Result<String, DataError> {
    match id {
        // CSV has no empty id, so it could not be written.
        Value::String(id) if id.is_empty() => Err(DataError::InvalidId {
            at: at.clone(),
            found: "an empty string".to_owned(),
        }),
        Value::String(id) => Ok(id),
        Value::Number(id) => Ok(id.to_string()),
        other => Err(DataError::InvalidId {
            at: at.clone(),
            found: found(&other),
        }),
    }
}

impl FromMap for RowObject {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut row = Self::default();
        while let Some(key) = map.next_key::<String>()? {
            let is_duplicate = match key.as_str() {
                "id" => row.id.replace(map.next_value::<UniqueKeys>()?.0).is_some(),
                "gold" => row.gold.replace(map.next_value()?).is_some(),
                "pred" => row.pred.replace(map.next_value()?).is_some(),
                "scores" => {
                    let scores = map.next_value::<Shape<Fields>>()?;
                    if let Shape::Map(scores) = &scores {
                        row.score_names = scores.keys().map(str::to_owned).collect();
                    }
                    row.attributes
                        .insert(key.as_str(), value_of(scores))
                        .is_some()
                }
                _ => row
                    .attributes
                    .insert(key.as_str(), map.next_value::<UniqueKeys>()?.0)
                    .is_some(),
            };
            reject_duplicate(is_duplicate, &key)?;
        }
        Ok(row)
    }
}

fn value_of(shape: Shape<Fields>) -> Value {
    match shape {
        Shape::Map(fields) => Value::Object(fields.into_iter().collect()),
        Shape::Other(value) => value,
    }
}
