//! The reason why a value cannot be read as the type of a parameter: the error of serde, as a type instead of a message.

use std::fmt::Display;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

/// The reason that a value is not one of a type.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Reason {
    /// The value has another type, is out of range, or has another length.
    #[error("{0}")]
    WrongType(String),
    /// The value is not one of these variants of an enum.
    #[error("expected {}", one_of(.0))]
    UnknownVariant(&'static [&'static str]),
    /// The type rejects the value for a reason of its own.
    #[error("{0}")]
    Rejected(String),
}

/// Returns why `text`, as JSON or else as a string, is not a `T`. `None` if it is one.
pub(super) fn reason<T: DeserializeOwned>(text: &str) -> Option<Reason> {
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    T::deserialize(Given(value)).err()
}

/// Returns the names of variants as a list for people.
pub(super) fn one_of(variants: &[&str]) -> String {
    match variants {
        [] => "nothing, since there are no variants".to_owned(),
        [only] => format!("`{only}`"),
        [one, other] => format!("`{one}` or `{other}`"),
        _ => format!("one of `{}`", variants.join("`, `")),
    }
}

impl Error for Reason {
    fn custom<T: Display>(message: T) -> Self {
        Self::Rejected(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::WrongType(format!("expected {expected}, found {found}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::WrongType(format!("expected {expected}, found {length} values"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownVariant(expected)
    }
}

/// A value that is deserialized with [`Reason`] as the error.
struct Given(Value);

impl<'de> IntoDeserializer<'de, Reason> for Given {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Given {
    type Error = Reason;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), ..) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (.., value) => visitor.visit_f64(value.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(values) => {
                let mut values = SeqDeserializer::new(values.into_iter().map(Given));
                let value = visitor.visit_seq(&mut values)?;
                values.end().map(|()| value)
            }
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (name, Given(value)));
                visitor.visit_map(MapDeserializer::new(fields))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Reason> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Reason> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Reason> {
        match self.0 {
            Value::String(variant) => visitor.visit_enum(variant.into_deserializer()),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (name, Given(value)));
                visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(fields)))
            }
            other => Given(other).deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU8;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Profile {
        Folded,
        Words(u8),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Limits {
        name: Option<String>,
        sizes: [u8; 2],
    }

    #[test]
    fn the_reason_does_not_depend_on_the_text_of_a_message() {
        let profiles: &[&str] = &["folded", "words"];
        assert_eq!(
            reason::<Profile>("strict"),
            Some(Reason::UnknownVariant(profiles))
        );
        assert_eq!(
            reason::<Profile>("{\"other\":1}"),
            Some(Reason::UnknownVariant(profiles))
        );
        let wrong = |text: &str| Some(Reason::WrongType(text.to_owned()));
        assert_eq!(
            reason::<Profile>("[1]"),
            wrong("expected enum Profile, found sequence"),
            "not an enum in any form"
        );
        assert_eq!(
            reason::<NonZeroU8>("0"),
            wrong("expected a nonzero u8, found integer `0`")
        );
        assert_eq!(
            reason::<bool>("yes"),
            wrong("expected a boolean, found string \"yes\"")
        );
        assert_eq!(
            reason::<Vec<f64>>("[1, \"x\"]"),
            wrong("expected f64, found string \"x\"")
        );
        let rejected = |text: &str| Some(Reason::Rejected(text.to_owned()));
        assert_eq!(reason::<Limits>("{}"), rejected("missing field `sizes`"));
        assert_eq!(
            reason::<Limits>("{\"name\":null,\"sizes\":[1]}"),
            wrong("expected an array of length 2, found 1 values")
        );
        assert_eq!(
            reason::<Limits>("{\"sizes\":[1,2,3]}"),
            wrong("expected 2 elements in sequence, found 3 values")
        );
    }

    #[test]
    fn a_value_of_the_type_has_no_reason() {
        assert_eq!(reason::<Profile>("folded"), None);
        assert_eq!(reason::<Profile>("{\"words\":3}"), None);
        assert_eq!(reason::<Limits>("{\"name\":\"x\",\"sizes\":[1,2]}"), None);
        assert_eq!(reason::<Option<f64>>("null"), None);
        assert_eq!(reason::<f64>("2"), None);
    }
}
