//! Deserializes cells of an untyped format such as CSV into the type of a metric's parameter.
//!
//! A cell is a list or object if, apart from surrounding whitespace, it is written as one in JSON or Python. A
//! parameter that accepts only a string reads the cell as a string.
//!
//! Booleans may be written as in JSON (`true`), Python (`True`) or spreadsheets (`TRUE`). `1` and `0` are numbers, not
//! booleans.

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

use crate::json::read::{
    SCALAR, UniqueKeys, is_meant_as_list, is_underflow, may_be_literal, python_to_json, with_zero,
};
use crate::json::{MAX_VALUES, is_too_large};
use crate::rows::Fields;

/// A cell: a string if one is requested, `None` if it is empty and optional, and JSON or a Python literal otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'r> {
    text: &'r str,
    /// `true` if the cell is known to be a string, even if it looks like a list.
    is_string: bool,
}

impl<'r> Cell<'r> {
    pub(crate) fn new(text: &'r str) -> Self {
        Self {
            text,
            is_string: false,
        }
    }
}

/// The error for a cell that is not a boolean.
const NOT_A_BOOLEAN: &str = "write true, True, TRUE, false, False or FALSE";

/// The error for a cell that begins like a list where a string or a list is expected.
const NOT_A_LIST: &str = "which starts like a list but is not one; write `[\"a\", \"b\"]` (for an array, its `.tolist()`), \
                          or the rows as JSONL if it is a string";

impl Cell<'_> {
    /// Returns the hint to add to a message about a cell that is read as a list or object, or begins like one.
    pub(crate) fn hint(self) -> Option<&'static str> {
        match self.parsed() {
            Ok(Value::Array(_) | Value::Object(_)) => Some(
                "a cell that is read as a list or object; if it is a string, write the rows as JSONL",
            ),
            _ => is_meant_as_list(self.text).then_some(NOT_A_LIST),
        }
    }

    fn parsed(self) -> Result<Value, Error> {
        let text = self.text.trim();
        if self.is_string {
            return Err(Error::custom("a string"));
        }
        parse(text).or_else(|error| match may_be_literal(text) {
            true => parse(&python_to_json(text).ok_or(error)?),
            false => parse(&with_zero(text).ok_or(error)?),
        })
    }
}

fn parse(json: &str) -> Result<Value, Error> {
    if is_too_large(json, MAX_VALUES) {
        return Err(Error::custom(
            "more JSON values than the limit for one cell",
        ));
    }
    let UniqueKeys(value) = serde_json::from_str(json)?;
    match value.is_number() && is_underflow(json) {
        true => Err(Error::custom("number out of range")),
        false => Ok(value),
    }
}

macro_rules! as_json {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.parsed() {
                Ok(value) => value.$method(visitor),
                Err(_) => visitor.visit_borrowed_str(self.text),
            }
        }
    )*};
}

macro_rules! as_text {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_borrowed_str(self.text)
        }
    )*};
}

impl<'de> Deserializer<'de> for Cell<'de> {
    type Error = Error;

    // Accepts the spellings used in JSON, Python and spreadsheets. As in JSON, a number is not a boolean.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text.trim() {
            "true" | "True" | "TRUE" => visitor.visit_bool(true),
            "false" | "False" | "FALSE" => visitor.visit_bool(false),
            _ => visitor
                .visit_borrowed_str(self.text)
                .map_err(|_: Error| Error::custom(NOT_A_BOOLEAN)),
        }
    }

    as_json! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_seq deserialize_map
        deserialize_unit
    }

    // An untagged type accepts anything: a cell that is a list or object is parsed, any other stays a string.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_string || !may_be_literal(self.text) {
            return visitor.visit_borrowed_str(self.text);
        }
        match self.parsed() {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => value.deserialize_any(visitor),
            _ if is_meant_as_list(self.text) => Err(Error::custom(NOT_A_LIST)),
            _ => visitor.visit_borrowed_str(self.text),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.text.is_empty() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match name {
            SCALAR => visitor.visit_borrowed_str(self.text),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.parsed() {
            Ok(value @ Value::Object(_)) => value.deserialize_enum(name, variants, visitor),
            _ => visitor.visit_enum(self.text.into_deserializer()),
        }
    }

    as_text! {
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_identifier deserialize_ignored_any
    }

    forward_to_deserialize_any! { tuple tuple_struct struct unit_struct }
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
        let cells = row.iter().map(|(name, value)| {
            let text = value.as_str().unwrap_or_default();
            (
                name,
                Cell {
                    text,
                    is_string: !row.is_cell(name),
                },
            )
        });
        return T::deserialize(MapDeserializer::new(cells));
    }
    T::deserialize(MapDeserializer::new(row.iter()))
}

#[cfg(test)]
mod tests {
    use super::{Cell, NOT_A_LIST, read_fields};
    use crate::rows::field_types::{Label, References, StrOrNumber, TextOrList};
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
    fn inputs_of_judges_and_lists_of_numbers_are_read_from_python_lists() {
        let texts = TextOrList::deserialize(Cell::new("['a', \"b's\"]")).unwrap();
        assert_eq!(
            texts,
            TextOrList::List(vec!["a".to_owned(), "b's".to_owned()])
        );
        let references = References::deserialize(Cell::new("['a']")).unwrap();
        assert_eq!(references, References::from("a".to_owned()));
        assert_eq!(
            Vec::<Option<f64>>::deserialize(Cell::new("[1, None]")).unwrap(),
            [Some(1.0), None]
        );
        assert_eq!(
            <(bool, u8)>::deserialize(Cell::new("[True, 2]")).unwrap(),
            (true, 2)
        );
        let text = TextOrList::deserialize(Cell::new("[sic] a")).unwrap();
        assert_eq!(text, TextOrList::Text("[sic] a".to_owned()));
        let error = TextOrList::deserialize(Cell::new("['a' 'b']")).unwrap_err();
        assert_eq!(error.to_string(), NOT_A_LIST);
    }

    #[test]
    fn a_cell_is_a_string_where_no_list_is_read() {
        for cell in ["['a']", "[\"a\"]", "['a' 'b']", "{\"a\": 1}"] {
            assert_eq!(Label::deserialize(Cell::new(cell)).unwrap().as_str(), cell);
            assert_eq!(
                StrOrNumber::deserialize(Cell::new(cell)).unwrap().as_str(),
                cell
            );
            assert_eq!(String::deserialize(Cell::new(cell)).unwrap(), cell);
        }
    }

    #[test]
    fn a_whole_row_reads_a_string_that_looks_like_a_list_as_it_is() {
        let mut row = Fields::from_iter([("answer", "['a']"), ("other", "['a']")]).textual();
        row.special_mut().strings.push("answer".to_owned());
        #[derive(Debug, PartialEq, Deserialize)]
        struct Texts {
            answer: TextOrList,
            other: TextOrList,
        }
        let expected = Texts {
            answer: TextOrList::Text("['a']".to_owned()),
            other: TextOrList::List(vec!["a".to_owned()]),
        };
        assert_eq!(read_fields::<Texts>(&row).unwrap(), expected);
    }

    #[test]
    fn the_error_for_an_invalid_number_quotes_the_cell() {
        let error = f64::deserialize(Cell::new("five")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid type: string \"five\", expected f64"
        );
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
        assert_eq!(
            error.to_string(),
            "invalid type: integer `3`, expected a string"
        );
    }
}
