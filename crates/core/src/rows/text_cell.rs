//! Deserializes cells of an untyped format such as CSV into the type that the metric's parameter has.
//! Booleans may be written as in JSON (`true`), Python (`True`) or spreadsheets (`TRUE`). `1` and `0` are
//! numbers, not booleans.

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde_json::{Error, Value};

use crate::json::numbers::is_underflow;
use crate::json::size::{MAX_VALUES, is_too_large};
use crate::json::unique_keys::UniqueKeys;
use crate::rows::named_values::Fields;

/// A cell: a string if a string is requested, `None` if it is empty and optional, and JSON otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'r>(pub(crate) &'r str);

/// The error for a cell that is not a boolean.
const NOT_A_BOOLEAN: &str = "in a cell it is true, True or TRUE, or false, False or FALSE";

impl Cell<'_> {
    /// Returns whether a type other than a string reads the cell as a JSON list or object.
    pub(crate) fn is_list_or_object(self) -> bool {
        matches!(self.parsed(), Ok(Value::Array(_) | Value::Object(_)))
    }

    fn parsed(self) -> Result<Value, Error> {
        if is_too_large(self.0, MAX_VALUES) {
            return Err(Error::custom("more JSON values than the limit for one cell"));
        }
        let UniqueKeys(value) = serde_json::from_str(self.0.trim())?;
        match value.is_number() && is_underflow(self.0.trim()) {
            true => Err(Error::custom("number out of range")),
            false => Ok(value),
        }
    }
}

macro_rules! as_json {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.parsed() {
                Ok(value) => value.$method(visitor),
                Err(_) => visitor.visit_borrowed_str(self.0),
            }
        }
    )*};
}

macro_rules! as_text {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_borrowed_str(self.0)
        }
    )*};
}

impl<'de> Deserializer<'de> for Cell<'de> {
    type Error = Error;

    // The spellings of JSON, Python and spreadsheets. As in JSON, a number is not a boolean.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.trim() {
            "true" | "True" | "TRUE" => visitor.visit_bool(true),
            "false" | "False" | "FALSE" => visitor.visit_bool(false),
            _ => {
                visitor.visit_borrowed_str(self.0).map_err(|_: Error| Error::custom(NOT_A_BOOLEAN))
            }
        }
    }

    as_json! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_seq deserialize_map
        deserialize_unit
    }

    // An untagged type accepts anything: a cell that is a JSON list or object is parsed, any other stays a string.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.parsed() {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => value.deserialize_any(visitor),
            _ => visitor.visit_borrowed_str(self.0),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_empty() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.parsed() {
            Ok(value @ Value::Object(_)) => value.deserialize_enum(name, variants, visitor),
            _ => visitor.visit_enum(self.0.into_deserializer()),
        }
    }

    as_text! {
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }
}

impl<'r> IntoDeserializer<'r, Error> for Cell<'r> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Deserializes a whole row into one type.
pub(crate) fn read_fields<'r, T: Deserialize<'r>>(row: &'r Fields) -> Result<T, Error> {
    if row.textual {
        let cells =
            row.iter().map(|(name, value)| (name, Cell(value.as_str().unwrap_or_default())));
        return T::deserialize(MapDeserializer::new(cells));
    }
    T::deserialize(MapDeserializer::new(row.iter()))
}

#[cfg(test)]
mod tests {
    use super::{Cell, read_fields};
    use crate::rows::named_values::Fields;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Row<'a> {
        answer: &'a str,
        score: f64,
        tags: Vec<String>,
        year: Option<u16>,
        certain: bool,
    }

    #[test]
    fn cells_are_parsed_as_the_requested_types() {
        let cells = [
            ("answer", "308"),
            ("score", "0.5"),
            ("tags", r#"["a","b"]"#),
            ("year", ""),
            ("certain", "true"),
        ];
        let row = Fields::from_iter(cells).textual();
        let expected = Row {
            answer: "308",
            score: 0.5,
            tags: vec!["a".to_owned(), "b".to_owned()],
            year: None,
            certain: true,
        };
        assert_eq!(read_fields::<Row<'_>>(&row).unwrap(), expected);
    }

    #[test]
    fn the_error_for_an_invalid_number_quotes_the_cell() {
        let error = f64::deserialize(Cell("five")).unwrap_err();
        assert_eq!(error.to_string(), "invalid type: string \"five\", expected f64");
    }

    #[test]
    fn json_values_keep_their_types_in_a_whole_row() {
        let row = Fields::from_iter([("answer", serde_json::json!(3))]);
        #[derive(Debug, Deserialize)]
        struct Text {
            #[expect(dead_code, reason = "only its type matters")]
            answer: String,
        }
        let error = read_fields::<Text>(&row).unwrap_err();
        assert_eq!(error.to_string(), "invalid type: integer `3`, expected a string");
    }
}
