//! JSON with a limit on the number of values. A short document may have many: `[[],[],..]` needs
//! more than twenty times its own size in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Why a document was not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It is not JSON.
    Invalid(serde_json::Error),
    /// It has more values than allowed.
    TooManyValues,
}

/// Parses a document of at most `max_values` values, keys of objects included. It is returned with an error if something
/// follows it.
///
/// # Errors
/// [`Unread`].
pub(super) fn parse(
    json: &[u8],
    max_values: usize,
) -> Result<(Value, Option<serde_json::Error>), Unread> {
    let mut left = Left { values: max_values, is_exceeded: false };
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = left.deserialize(&mut deserializer);
    match value {
        Ok(value) => Ok((value, deserializer.end().err())),
        Err(_) if left.is_exceeded => Err(Unread::TooManyValues),
        Err(error) => Err(Unread::Invalid(error)),
    }
}

/// The number of values that may still be read.
struct Left {
    values: usize,
    is_exceeded: bool,
}

impl Left {
    fn take<E: Error>(&mut self) -> Result<(), E> {
        match self.values.checked_sub(1) {
            Some(values) => self.values = values,
            None => {
                self.is_exceeded = true;
                return Err(E::custom("too many values"));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Left {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.take()?;
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalar {
    ($($visit:ident($value:ty))*) => {$(
        fn $visit<E: Error>(self, value: $value) -> Result<Value, E> {
            Ok(value.into())
        }
    )*};
}

impl<'de> Visitor<'de> for &mut Left {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(&mut *self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            self.take()?;
            object.insert(key, map.next_value_seed(&mut *self)?);
        }
        Ok(Value::Object(object))
    }

    scalar! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) visit_string(String) }
}

#[cfg(test)]
mod tests {
    use super::{Unread, parse};

    #[test]
    fn a_document_within_the_limit_is_read_as_serde_json_reads_it() {
        let json = r#"{"a":[1,-2,3.5,"x",true,null],"b":{"c":{}}}"#;
        assert_eq!(
            parse(json.as_bytes(), 13).unwrap().0,
            serde_json::from_str::<serde_json::Value>(json).unwrap()
        );
        assert!(matches!(parse(json.as_bytes(), 12), Err(Unread::TooManyValues)));
    }

    #[test]
    fn an_invalid_document_is_not_one_with_too_many_values() {
        for json in ["", "[1,", "{\"a\"}", &"[".repeat(1000)] {
            assert!(matches!(parse(json.as_bytes(), 1000), Err(Unread::Invalid(_))), "{json}");
        }
        let (value, error) = parse(b"[1] 2", 1000).unwrap();
        assert_eq!((value, error.is_some()), (serde_json::json!([1]), true));
    }
}
