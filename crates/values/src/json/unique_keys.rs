//! JSON without duplicate keys at any depth. By default, `serde_json` keeps the last value of a duplicate key and
//! silently drops the others.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::messages::escape;

/// A JSON value that is read as `M` if it is an object.
///
/// Anything else is read as a [`Value`]. Duplicate keys are rejected at any depth.
pub enum Shape<M> {
    /// An object.
    Map(M),
    /// Any value that is not an object.
    Other(Value),
}

/// A type that can be read from the entries of an object.
///
/// Implementations must reject duplicate keys with [`reject_duplicate`].
pub trait FromMap: Sized {
    /// Reads all entries of an object.
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
        while let Some(UniqueKeys(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Shape::Other(Value::Array(values)))
    }

    fn visit_unit<E: Error>(self) -> Result<Shape<M>, E> {
        Ok(Shape::Other(Value::Null))
    }

    other! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
}

impl FromMap for Map<String, Value> {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut object = Self::new();
        while let Some(key) = map.next_key::<String>()? {
            let UniqueKeys(value) = map.next_value()?;
            match object.entry(key) {
                Entry::Vacant(entry) => _ = entry.insert(value),
                Entry::Occupied(entry) => reject_duplicate(true, entry.key())?,
            }
        }
        Ok(object)
    }
}

/// Deserializes an object and rejects duplicate keys.
///
/// Null is read as an empty object.
pub fn unique_entries<'de, D: Deserializer<'de>, M: FromMap + Default>(
    deserializer: D,
) -> Result<M, D::Error> {
    match Shape::deserialize(deserializer)? {
        Shape::Map(entries) => Ok(entries),
        Shape::Other(Value::Null) => Ok(M::default()),
        Shape::Other(_) => Err(Error::custom("not an object")),
    }
}

impl<K, V> FromMap for IndexMap<K, V>
where
    K: DeserializeOwned + Hash + Eq,
    V: DeserializeOwned,
{
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut entries = Self::new();
        while let Some((key, value)) = map.next_entry::<K, V>()? {
            if entries.insert(key, value).is_some() {
                return Err(Error::custom("duplicate key"));
            }
        }
        Ok(entries)
    }
}

/// A JSON value without duplicate keys.
pub struct UniqueKeys(pub Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Shape::deserialize(deserializer).map(|shape| match shape {
            Shape::Map(object) => Self(Value::Object(object)),
            Shape::Other(value) => Self(value),
        })
    }
}

/// Returns an error if `is_duplicate` is `true`.
///
/// The error names the key.
pub fn reject_duplicate<E: Error>(is_duplicate: bool, key: &str) -> Result<(), E> {
    match is_duplicate {
        true => Err(E::custom(format_args!(
            "duplicate key `{}`",
            escape::name(key)
        ))),
        false => Ok(()),
    }
}
