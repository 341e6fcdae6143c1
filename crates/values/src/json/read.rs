//! Reads JSON without silently changing its content.
//!
//! By default, `serde_json` keeps the last value of a duplicate key, silently drops the others, and silently changes
//! the value of some numbers. Lists and objects in CSV cells can also be in Python notation.
//!
//! The file is long because of its tests for numbers and Python notation.

use std::borrow::Cow;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::{Captures, Regex};
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::{MAX_VALUES, is_too_large};
use crate::messages::escape;
use crate::text::regex;

/// A JSON value that is read as `M` if it is an object.
///
/// Anything else is read as a [`Value`]. Duplicate keys are rejected at any depth.
pub enum Shape<M> {
    /// An object.
    Map(M),
    /// Any value that is not an object.
    Other(Value),
}

/// A type that can be read from a JSON object's entries.
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

impl<K: DeserializeOwned + Hash + Eq, V: DeserializeOwned> FromMap for IndexMap<K, V> {
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

/// A marker that tells a cell deserializer not to expect a list or object.
///
/// The marker is passed as the name of a newtype struct.
pub const SCALAR: &str = "$dsrs_metrics::scalar";

/// Reads a string or a whole number exactly as written.
///
/// You can allow other scalars as well.
pub struct WrittenScalar {
    /// A description of the expected value, for use in error messages.
    pub expected: &'static str,
    /// `true` if booleans are accepted.
    ///
    /// Booleans are read as the strings "true" and "false".
    pub allows_bools: bool,
    /// The function that formats a number with a fraction or an exponent.
    ///
    /// If this is `None`, such numbers are rejected.
    pub write_float: Option<fn(f64) -> String>,
}

impl WrittenScalar {
    /// Reads the value as a string.
    ///
    /// # Errors
    /// Returns an error if the value has a type that is not allowed.
    pub fn read<'de, D: Deserializer<'de>>(self, from: D) -> Result<Cow<'de, str>, D::Error> {
        from.deserialize_newtype_struct(SCALAR, self)
    }
}

impl<'de> Visitor<'de> for WrittenScalar {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        match self.allows_bools {
            true => Ok(Cow::Borrowed(if value { "true" } else { "false" })),
            false => Err(E::invalid_type(Unexpected::Bool(value), &self)),
        }
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        match self.write_float {
            Some(write) => Ok(Cow::Owned(write(number))),
            None => Err(E::invalid_type(Unexpected::Float(number), &self)),
        }
    }
}

/// A number in JSON text.
pub struct Number<'t> {
    /// The byte offset of the number in the text.
    pub offset: usize,
    /// The number, exactly as written in the text.
    pub text: &'t str,
    /// The number's key in the outermost object, including the quotes.
    ///
    /// `None` if the number is not a value of this object.
    pub key: Option<&'t str>,
}

/// Matches JSON's strings, numbers and punctuation.
static TOKEN: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?s)"(?:[^"\\]|\\.)*"|[-0-9][-+.eE0-9]*|[{}\[\],]"#));

/// Returns an iterator over the numbers in valid JSON text, in order.
pub fn numbers(text: &str) -> impl Iterator<Item = Number<'_>> {
    let (mut depth, mut key) = (0_usize, None);
    TOKEN.find_iter(text).filter_map(move |token| {
        match token.as_str() {
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.saturating_sub(1),
            "," => key = None,
            string if string.starts_with('"') => key = Some(string),
            number => {
                return Some(Number {
                    offset: token.start(),
                    text: number,
                    key: key.filter(|_| depth == 1),
                });
            }
        }
        None
    })
}

/// Matches strings, and the numbers that Python writes but JSON lacks.
static CONSTANT: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?s)"(?:[^"\\]|\\.)*"|NaN|-?Infinity"#));

/// Replaces `NaN`, `Infinity` and `-Infinity` in JSON text.
///
/// `with` contains the three replacements, in the same order. Strings are left unchanged.
pub fn replace_constants<'t>(text: &'t str, with: [&str; 3]) -> Cow<'t, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return text.into();
    }
    let [nan, infinity, negative] = with;
    CONSTANT.replace_all(text, |found: &Captures<'_>| {
        let replaced = match &found[0] {
            "NaN" => nan,
            "Infinity" => infinity,
            "-Infinity" => negative,
            string => string,
        };
        replaced.to_owned()
    })
}

/// Returns `true` if the text is a number that is not finite, such as `nan`, `-inf` or `Infinity`.
///
/// JSON cannot represent these numbers.
pub fn is_not_finite(text: &str) -> bool {
    let name = text.trim().trim_start_matches(['-', '+']);
    let names = ["nan", "inf", "infinity"];
    names.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Returns the first number that `serde_json` cannot read exactly, with the reason.
///
/// The text must be valid JSON.
pub fn inexact_number(text: &str) -> Option<(&str, &'static str)> {
    if !may_be_inexact(text) {
        return None;
    }
    numbers(text).find_map(|number| match number.text {
        text if is_long_integer(text) => Some((text, "is longer than 64 bits")),
        text if is_underflow(text) => Some((text, "is out of range")),
        _ => None,
    })
}

/// Every integer with at most this many digits fits into both `i64` and `u64`.
const EXACT_DIGITS: usize = 18;

/// Returns `true` if the text has a negative exponent, or a run of digits that may be too long for an integer. Numbers
/// without either are exact. Only every `EXACT_DIGITS`-th byte is read at first, because a run that long covers at
/// least one of them.
fn may_be_inexact(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_long_run = (0..bytes.len()).step_by(EXACT_DIGITS).any(|at| {
        let (before, after) = (bytes[..at].iter().rev(), bytes[at..].iter());
        let before = before.take_while(|it| it.is_ascii_digit());
        let after = after.take_while(|it| it.is_ascii_digit());
        bytes[at].is_ascii_digit() && before.count() + after.count() > EXACT_DIGITS
    });
    let mut signs = text.match_indices('-');
    has_long_run || signs.any(|(at, _)| text[..at].ends_with(['e', 'E']))
}

/// Returns `true` if the number is an integer that does not fit into `i64` or `u64`.
///
/// `serde_json` reads such an integer as a float.
pub fn is_long_integer(number: &str) -> bool {
    let is_integer = !number.contains(['.', 'e', 'E']);
    is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// Returns `true` if a nonzero number is so small that it is read as 0.
pub fn is_underflow(number: &str) -> bool {
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    digits.contains(|digit: char| ('1'..='9').contains(&digit)) && number.parse() == Ok(0.0_f64)
}

/// Adds the missing leading zero to a number such as `.5` or `-.5`.
///
/// JSON requires this zero. Returns `None` for any other text.
pub fn with_zero(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    digits.starts_with('.').then(|| format!("{sign}0{digits}"))
}

/// How arrays begin when numpy and pandas print them.
const ARRAYS: [&str; 4] = ["array([", "[array([", "[list([", "[np."];

/// Returns `true` if the cell starts like a list, an object or a numpy array.
pub fn may_be_literal(cell: &str) -> bool {
    let cell = cell.trim_start();
    cell.starts_with(['[', '{']) || cell.starts_with(ARRAYS[0])
}

/// Parses a cell as a list or object in JSON or Python syntax.
///
/// Returns `None` for any other cell, or if the cell contains too many values.
pub fn parse_literal(cell: &str) -> Option<Value> {
    if !may_be_literal(cell) || is_too_large(cell, MAX_VALUES) {
        return None;
    }
    let json = |text: &str| Some(serde_json::from_str::<UniqueKeys>(text).ok()?.0);
    json(cell).or_else(|| json(&python_to_json(cell)?))
}

/// Returns `true` if the cell starts like an array or a list of strings.
///
/// Such a cell is unlikely to be plain text.
pub fn is_meant_as_list(cell: &str) -> bool {
    let cell = cell.trim_start();
    let first = cell.strip_prefix('[').map(str::trim_start);
    first.is_some_and(|first| first.starts_with(['\'', '"']))
        || ARRAYS.iter().any(|array| cell.starts_with(array))
}

/// Converts a list or dict written by Python's `repr` to JSON.
///
/// Strings, `None`, `True` and `False` are rewritten. Other syntax is not checked, so the result can be invalid JSON.
/// Returns `None` if a string is not terminated.
pub fn python_to_json(text: &str) -> Option<String> {
    // This makes no other name valid, because JSON has no other names.
    let names = |text: &str| {
        text.replace("None", "null")
            .replace("True", "true")
            .replace("False", "false")
    };
    let (mut json, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(['\'', '"']) {
        json.push_str(&names(&rest[..start]));
        rest = push_string(&rest[start..], &mut json)?;
    }
    json.push_str(&names(rest));
    Some(json)
}

/// Appends the string at the start of the text as JSON, and returns the text after it.
fn push_string<'t>(text: &'t str, json: &mut String) -> Option<&'t str> {
    let mut rest = text.chars();
    let quote = rest.next()?;
    json.push('"');
    loop {
        match rest.next()? {
            end if end == quote => break,
            '"' => json.push_str("\\\""),
            '\\' => match rest.next()? {
                '\'' => json.push('\''),
                'a' => json.push_str("\\u0007"),
                'v' => json.push_str("\\u000b"),
                // The two digits follow.
                'x' => json.push_str("\\u00"),
                'U' => {
                    let digits = rest.as_str().get(..8).filter(|it| !it.starts_with('+'))?;
                    json.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    rest = rest.as_str()[8..].chars();
                }
                // The same in JSON, or an error of its parser.
                other => json.extend(['\\', other]),
            },
            other => json.push(other),
        }
    }
    json.push('"');
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{inexact_number, is_meant_as_list, is_underflow, numbers, python_to_json};

    #[test]
    fn inexact_numbers_are_found_at_any_place() {
        let tiny = format!("0.{}1", "0".repeat(330));
        for place in 0..40 {
            let found = |number: &str| {
                let text = format!("{}{number}]", "[".repeat(place + 1));
                inexact_number(&text).map(|(found, reason)| (found == number, reason))
            };
            let too_long = Some((true, "is longer than 64 bits"));
            let underflow = Some((true, "is out of range"));
            assert_eq!(found("18446744073709551616"), too_long);
            assert_eq!(found("-9223372036854775809"), too_long);
            assert_eq!(found("1e-400"), underflow);
            assert_eq!(found("2.5E-324"), None);
            assert_eq!(found("2E-324"), underflow);
            assert_eq!(found(&tiny), underflow);
            for exact in [
                "18446744073709551615",
                "-9223372036854775808",
                "0.30000000000000004",
            ] {
                assert_eq!(found(exact), None, "{exact}");
            }
        }
    }

    #[test]
    fn numbers_are_found_outside_of_strings_with_their_keys() {
        let text = r#"{"a": [1, {"b": -2.5e3}], "c\"1": "4", "\\": 5, "d" : 0, "e": [6]}"#;
        let found: Vec<_> = numbers(text)
            .map(|number| (number.text, number.key))
            .collect();
        assert_eq!(
            found,
            [
                ("1", None),
                ("-2.5e3", None),
                ("5", Some(r#""\\""#)),
                ("0", Some("\"d\"")),
                ("6", None)
            ]
        );
        assert_eq!(numbers(text).next().unwrap().offset, 7);
    }

    #[test]
    fn underflow_is_not_zero() {
        for number in ["1e-400", "-0.1E-324", "0.00001e-330"] {
            assert!(is_underflow(number), "{number}");
        }
        for number in ["0", "-0.0", "0e-400", "0.000e5", "5e-324", "1e-300"] {
            assert!(!is_underflow(number), "{number}");
        }
    }

    fn read(python: &str) -> Option<Value> {
        serde_json::from_str(&python_to_json(python)?).ok()
    }

    #[test]
    fn python_literals_are_read_as_their_values() {
        for (python, value) in [
            (
                r#"['a', "b's", 'c\n', None, 1]"#,
                json!(["a", "b's", "c\n", null, 1]),
            ),
            (
                r#"['say "hi"', 'it\'s "so"', "\""]"#,
                json!(["say \"hi\"", "it's \"so\"", "\""]),
            ),
            (r"['\x00\x7f\xa0', '\u2028', '\U000e0001', '\\x41']", {
                json!(["\0\u{7f}\u{a0}", "\u{2028}", "\u{e0001}", "\\x41"])
            }),
            (r"['\a\b\f\n\r\t\v']", json!(["\u{7}\u{8}\u{c}\n\r\t\u{b}"])),
            (
                "['None', True, False, [-1.5, 1e-05]]",
                json!(["None", true, false, [-1.5, 1e-5]]),
            ),
            (
                "[{'role': 'user', 'n': None}]",
                json!([{ "role": "user", "n": null }]),
            ),
            ("[]", json!([])),
        ] {
            assert_eq!(read(python), Some(value), "{python}");
        }
    }

    #[test]
    fn what_python_would_read_otherwise_or_not_at_all_is_no_json() {
        for text in [
            "['a' 'b']",
            "['a', 'b",
            "['a',, 'b']",
            "[b'a']",
            r"['\d']",
            r"['\x4']",
            r"['\U0001f60']",
            r"['\U+001f600']",
            r"['\ud800']",
            "['a\nb']",
            "[nan]",
            "[inf]",
            "[None1]",
            "['''a''']",
            "array(['a'])",
            "('a', 'b')",
            "{'a'}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_of_strings_is_told_from_text_in_brackets() {
        for list in [
            "['a', 'b",
            "[ \"a\"",
            " ['a' 'b']",
            "array([1, 2])",
            "[array([1]), array([2])]",
            "[np.float64(1)]",
        ] {
            assert!(is_meant_as_list(list), "{list}");
        }
        for text in [
            "[sic] hello",
            "[1, 2)",
            "[Paris](a.md)",
            "",
            "[",
            "'['a']",
            "arrays",
            "x = ['a']",
        ] {
            assert!(!is_meant_as_list(text), "{text}");
        }
    }
}
