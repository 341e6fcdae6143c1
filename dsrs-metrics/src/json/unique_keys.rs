//! JSON that is rejected where an object has the same key twice, at any depth: serde would keep the last value and
//! drop the other without notice.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// An object, read as an `M`, or any other value.
pub(crate) enum Shape<M> {
    Map(M),
    Other(Value),
}

/// A type that is read from the entries of an object.
pub(crate) trait FromMap: Sized {
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
                Entry::Vacant(free) => _ = free.insert(value),
                Entry::Occupied(taken) => reject_duplicate(true, taken.key())?,
            }
        }
        Ok(object)
    }
}

/// A JSON value without duplicate keys.
pub(crate) struct UniqueKeys(pub(crate) Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Shape::deserialize(deserializer).map(|shape| match shape {
            Shape::Map(object) => Self(Value::Object(object)),
            Shape::Other(value) => Self(value),
        })
    }
}

/// Rejects a key that was read `again`.
pub(crate) fn reject_duplicate<E: Error>(again: bool, key: &str) -> Result<(), E> {
    match again {
        true => Err(E::custom(format_args!("the key `{key}` stands twice"))),
        false => Ok(()),
    }
}
