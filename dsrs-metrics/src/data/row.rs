//! One row as it stands in a file, and how it becomes a [`Pair`].

use serde::de::MapAccess;
use serde_json::Value;

use super::DataError;
use super::mapping::{Mapping, Target};
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::{Origin, Pair};
use crate::core::spec::Side;
use crate::json::describe::found;
use crate::json::unique_keys::{FromMap, Shape, UniqueKeys, reject_duplicate};

/// A row that may have any shape.
pub(super) type Row = Shape<Object>;

#[derive(Default)]
pub(super) struct Object {
    pub(super) id: Option<Value>,
    pub(super) gold: Option<Shape<Fields>>,
    pub(super) pred: Option<Shape<Fields>>,
    pub(super) attributes: Fields,
}

impl Row {
    /// The row, if it has the shape of one.
    pub(super) fn check(self, at: &Origin, mappings: &[Mapping]) -> Result<CheckedRow, DataError> {
        let object = self.object(at)?;
        if mappings.is_empty() && object.gold.is_none() && object.pred.is_none() {
            let present = object.attributes.keys().map(str::to_owned).collect();
            let at = at.clone();
            return Err(DataError::NoFields { at, present });
        }
        object.check(at, |side| {
            let name = side.to_string();
            mappings.iter().any(|mapping| mapping.path() == name)
        })
    }

    /// The row, if it is an object.
    pub(super) fn check_loosely(self, at: &Origin) -> Result<CheckedRow, DataError> {
        self.object(at)?.check(at, |_| true)
    }

    fn object(self, at: &Origin) -> Result<Object, DataError> {
        match self {
            Self::Map(object) => Ok(object),
            Self::Other(value) => {
                let (at, found) = (at.clone(), found(&value));
                Err(DataError::NotObject { at, found })
            }
        }
    }
}

impl Object {
    /// `may_be_whole` says which side need not be an object of fields.
    fn check(
        self,
        at: &Origin,
        may_be_whole: impl Fn(Side) -> bool,
    ) -> Result<CheckedRow, DataError> {
        let half = |side, value| half(side, value, at, may_be_whole(side));
        let (gold, whole_gold) = half(Side::Gold, self.gold)?;
        let (pred, whole_pred) = half(Side::Pred, self.pred)?;
        let as_told = |fields: Fields| match self.attributes.textual {
            true => fields.textual(),
            false => fields,
        };
        Ok(CheckedRow {
            id: self.id.map(|id| name(&id, at)).transpose()?,
            gold: as_told(gold),
            pred: as_told(pred),
            whole_gold,
            whole_pred,
            attributes: self.attributes,
        })
    }
}

/// A row's `gold` or `pred`: its fields, or what stands there instead if it may be taken whole.
fn half(
    side: Side,
    half: Option<Shape<Fields>>,
    at: &Origin,
    may_be_whole: bool,
) -> Result<(Fields, Option<Value>), DataError> {
    match half {
        None => Ok((Fields::default(), None)),
        Some(Shape::Map(fields)) => Ok((fields, None)),
        Some(Shape::Other(value)) if may_be_whole => Ok((Fields::default(), Some(value))),
        Some(Shape::Other(value)) => {
            Err(DataError::NotFields { at: at.clone(), side, found: found(&value) })
        }
    }
}

/// A row whose parts have the right shape; mappings read from it and write to it.
pub(super) struct CheckedRow {
    id: Option<String>,
    gold: Fields,
    pred: Fields,
    /// What stands in the place of `gold` if it is no object: only a mapping can reach it.
    whole_gold: Option<Value>,
    whole_pred: Option<Value>,
    attributes: Fields,
}

impl CheckedRow {
    /// The value at the mapping's path.
    pub(super) fn at(&self, mapping: &Mapping) -> Option<&Value> {
        self.find(mapping.path())
    }

    /// The value at a dotted path.
    pub(super) fn find(&self, path: &str) -> Option<&Value> {
        if let Some(value) = self.attributes.get(path) {
            return Some(value);
        }
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        match first {
            "gold" => within(&self.gold, self.whole_gold.as_ref(), rest),
            "pred" => within(&self.pred, self.whole_pred.as_ref(), rest),
            _ => walk(self.attributes.get(first)?, rest),
        }
    }

    #[cfg(feature = "cli")]
    pub(super) fn attributes(&self) -> &Fields {
        &self.attributes
    }

    pub(super) fn take_id(&mut self) -> Option<String> {
        self.id.take()
    }

    /// Makes attributes of what stands in the place of `gold` and `pred` and is no object.
    pub(super) fn keep_halves(&mut self) {
        let halves = [(Side::Gold, self.whole_gold.take()), (Side::Pred, self.whole_pred.take())];
        for (side, half) in halves {
            half.map(|half| self.attributes.insert(side.to_string(), half));
        }
    }

    /// Sets what the mapping sets. Without a value the field is absent, even if the row has one of its
    /// name: that is not the one that was asked for.
    pub(super) fn put(
        &mut self,
        mapping: &Mapping,
        value: Option<Value>,
        at: &Origin,
    ) -> Result<(), DataError> {
        let (side, field) = match mapping.target() {
            Target::Id => {
                self.id = value.map(|id| name(&id, at)).transpose()?;
                return Ok(());
            }
            Target::Field(Side::Gold, field) => (&mut self.gold, field),
            Target::Field(Side::Pred, field) => (&mut self.pred, field),
        };
        match value {
            Some(value) => side.insert(field, value),
            None => side.remove(field),
        };
        Ok(())
    }

    /// The pair, under its own id or the one that its place stands for.
    pub(super) fn into_pair(self, origin: Origin, unnamed: impl FnOnce(&Origin) -> String) -> Pair {
        let id = self.id.unwrap_or_else(|| unnamed(&origin));
        Pair {
            id,
            gold: self.gold.into(),
            pred: self.pred.into(),
            attributes: self.attributes,
            origin: Some(origin),
        }
    }
}

fn within<'a>(fields: &'a Fields, whole: Option<&'a Value>, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return whole;
    }
    if let Some(value) = fields.get(path) {
        return Some(value);
    }
    let (field, rest) = path.split_once('.').unwrap_or((path, ""));
    walk(fields.get(field)?, rest)
}

fn walk<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.').filter(|part| !part.is_empty());
    parts.try_fold(value, |value, part| match value {
        Value::Object(object) => object.get(part),
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

fn name(id: &Value, at: &Origin) -> Result<String, DataError> {
    match id {
        Value::String(id) => Ok(id.clone()),
        Value::Number(id) => Ok(id.to_string()),
        other => Err(DataError::BadId { at: at.clone(), found: found(other) }),
    }
}

impl FromMap for Object {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut row = Self::default();
        while let Some(key) = map.next_key::<String>()? {
            let again = match key.as_str() {
                "id" => row.id.replace(map.next_value::<UniqueKeys>()?.0).is_some(),
                "gold" => row.gold.replace(map.next_value()?).is_some(),
                "pred" => row.pred.replace(map.next_value()?).is_some(),
                _ => {
                    row.attributes.insert(key.as_str(), map.next_value::<UniqueKeys>()?.0).is_some()
                }
            };
            reject_duplicate(again, &key)?;
        }
        Ok(row)
    }
}

impl FromMap for Fields {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut fields = Self::default();
        while let Some(key) = map.next_key::<String>()? {
            let again = fields.insert(key.as_str(), map.next_value::<UniqueKeys>()?.0).is_some();
            reject_duplicate(again, &key)?;
        }
        Ok(fields)
    }
}
