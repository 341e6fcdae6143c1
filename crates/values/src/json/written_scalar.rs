//! Reads strings and numbers exactly as written.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, Unexpected, Visitor};

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
    /// If this is `None`, numbers of this kind are rejected.
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
