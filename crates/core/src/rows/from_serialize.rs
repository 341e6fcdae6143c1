//! Examples and predictions from values that implement `Serialize`.

use serde::Serialize;
use serde::de::MapAccess;

use super::dynamic::{Example, Prediction};
use super::named_values::Fields;
use crate::json::describe::found;
use crate::json::numbers::{is_long_integer, numbers};
use crate::json::unique_keys::{FromMap, Shape, UniqueKeys, reject_duplicate};

/// Why a value cannot be converted into a row.
///
/// ```
/// use std::collections::BTreeMap;
/// use dsrs_metrics::{Example, rows::FromSerializeError};
///
/// let error = Example::from_serialize(&BTreeMap::from([("id", 1_u128 << 64)])).unwrap_err();
/// assert_eq!(error, FromSerializeError::LongInteger { integer: "18446744073709551616".to_owned() });
/// let message = "expected an integer of at most 64 bits, found 18446744073709551616; serialize it as a string";
/// assert_eq!(error.to_string(), message);
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FromSerializeError {
    /// The value is serialized as something other than an object.
    #[error("expected a struct or a map, found {found}; put the value into a field")]
    NotObject {
        /// The value that was found.
        found: String,
    },
    /// An integer has more than 64 bits.
    #[error("expected an integer of at most 64 bits, found {integer}; serialize it as a string")]
    LongInteger {
        /// The integer.
        integer: String,
    },
    /// The value has no JSON form, or two fields of one name.
    #[error("the value cannot be written as JSON: {reason}")]
    Invalid {
        /// The error of the serializer.
        reason: String,
    },
}

dsrs_metrics_values::debug_as_display!(FromSerializeError);

impl Fields {
    /// Returns the fields of a struct or a map, in its order. A float that is not finite becomes null, as in JSON.
    ///
    /// ```
    /// use dsrs_metrics::rows::Fields;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Answer {
    ///     text: &'static str,
    ///     log_probability: f64,
    /// }
    ///
    /// let fields = Fields::from_serialize(&Answer { text: "Paris", log_probability: f64::NEG_INFINITY })?;
    /// assert_eq!(fields.get("text").unwrap(), "Paris");
    /// assert!(fields.get("log_probability").unwrap().is_null());
    /// # Ok::<(), dsrs_metrics::rows::FromSerializeError>(())
    /// ```
    ///
    /// # Errors
    /// [`FromSerializeError`] if the value is not an object of JSON.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, FromSerializeError> {
        let invalid = |error: serde_json::Error| FromSerializeError::Invalid {
            reason: error.to_string(),
        };
        // As text, since an object of `serde_json` does not keep the order of its fields.
        let text = serde_json::to_string(value).map_err(invalid)?;
        if let Some(integer) = numbers(&text).find(|number| is_long_integer(number.text)) {
            return Err(FromSerializeError::LongInteger {
                integer: integer.text.to_owned(),
            });
        }
        match serde_json::from_str(&text).map_err(invalid)? {
            Shape::Map(fields) => Ok(fields),
            Shape::Other(value) => Err(FromSerializeError::NotObject {
                found: found(&value),
            }),
        }
    }
}

impl Example {
    /// Returns an example with the fields of a struct or a map.
    ///
    /// ```
    /// use dsrs_metrics::Example;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Ticket {
    ///     text: String,
    ///     urgent: bool,
    /// }
    ///
    /// let ticket = Ticket { text: "It burns.".to_owned(), urgent: true };
    /// let example = Example::from_serialize(&ticket)?.with_inputs(["text"]);
    /// assert_eq!(example.get("urgent").unwrap(), true);
    ///
    /// let error = Example::from_serialize("It burns.").unwrap_err().to_string();
    /// assert_eq!(error, "expected a struct or a map, found the string \"It burns.\"; put the value into a field");
    /// # Ok::<(), dsrs_metrics::rows::FromSerializeError>(())
    /// ```
    ///
    /// # Errors
    /// [`FromSerializeError`] if the value is not an object of JSON.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, FromSerializeError> {
        Fields::from_serialize(value).map(Self::from)
    }
}

impl Prediction {
    /// Returns a prediction with the fields of a struct or a map; see [`Example::from_serialize`].
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// # use dsrs_metrics::{Prediction, prediction};
    ///
    /// let pred = Prediction::from_serialize(&BTreeMap::from([("answer", 42)]))?;
    /// assert_eq!(pred, prediction! { "answer" => 42 });
    /// # Ok::<(), dsrs_metrics::rows::FromSerializeError>(())
    /// ```
    ///
    /// # Errors
    /// [`FromSerializeError`] if the value is not an object of JSON.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, FromSerializeError> {
        Fields::from_serialize(value).map(Self::from)
    }
}

impl FromMap for Fields {
    fn from_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut fields = Self::default();
        while let Some(key) = map.next_key::<String>()? {
            let is_duplicate = fields
                .insert(key.as_str(), map.next_value::<UniqueKeys>()?.0)
                .is_some();
            reject_duplicate(is_duplicate, &key)?;
        }
        Ok(fields)
    }
}
