//! One row as it stands in a file, and how it becomes a [`Pair`].

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::DataError;
use super::mapping::{Mapping, Target};
use crate::pair::{Origin, Pair};
use crate::record::found;
use crate::row::Fields;
use crate::spec::Side;

/// An object of the kind that is wanted, or anything else.
pub(super) enum Shape<M> {
    Map(M),
    Other(Value),
}

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
                "id" => row.id.replace(map.next_value::<Unique>()?.0).is_some(),
                "gold" => row.gold.replace(map.next_value()?).is_some(),
                "pred" => row.pred.replace(map.next_value()?).is_some(),
                _ => row.attributes.insert(key.as_str(), map.next_value::<Unique>()?.0).is_some(),
            };
            once(again, &key)?;
        }
        Ok(row)
    }
}

impl FromMap for Fields {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut fields = Self::default();
        while let Some(key) = map.next_key::<String>()? {
            let again = fields.insert(key.as_str(), map.next_value::<Unique>()?.0).is_some();
            once(again, &key)?;
        }
        Ok(fields)
    }
}

impl FromMap for Map<String, Value> {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut object = Self::new();
        while let Some(key) = map.next_key::<String>()? {
            let Unique(value) = map.next_value()?;
            match object.entry(key) {
                Entry::Vacant(free) => _ = free.insert(value),
                Entry::Occupied(taken) => once(true, taken.key())?,
            }
        }
        Ok(object)
    }
}

/// A value in which no key stands twice, at any depth.
pub(crate) struct Unique(pub(crate) Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Shape::deserialize(deserializer).map(|shape| match shape {
            Shape::Map(object) => Self(Value::Object(object)),
            Shape::Other(value) => Self(value),
        })
    }
}

/// The last of two values would win without a word.
fn once<E: Error>(again: bool, key: &str) -> Result<(), E> {
    match again {
        true => Err(E::custom(format_args!("the key `{key}` stands twice"))),
        false => Ok(()),
    }
}

trait FromMap: Sized {
    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

impl<'de, M: FromMap> Deserialize<'de> for Shape<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }
}

struct ShapeVisitor<M>(PhantomData<M>);

macro_rules! other {
    ($($visit:ident($value:ty))*) => {$(
        fn $visit<E: Error>(self, value: $value) -> Result<Shape<M>, E> {
            Ok(Shape::Other(value.into()))
        }
    )*};
}

impl<'de, M: FromMap> Visitor<'de> for ShapeVisitor<M> {
    type Value = Shape<M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Shape<M>, A::Error> {
        M::from_map(map).map(Shape::Map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shape<M>, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Shape::Other(Value::Array(values)))
    }

    fn visit_unit<E: Error>(self) -> Result<Shape<M>, E> {
        Ok(Shape::Other(Value::Null))
    }

    other! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
}
