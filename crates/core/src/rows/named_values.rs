//! [`Fields`]: the named values of a row. The rows that consist of them are in `dynamic.rs`.

use std::borrow::Cow;
use std::iter;

use foldhash::fast::RandomState;
use indexmap::{IndexMap, map};
use serde::de::MapAccess;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Example, FieldError, Prediction};
use crate::json::found;
use crate::json::read::{FromMap, Shape, UniqueKeys, is_long_integer, numbers, reject_duplicate};

type Name = Cow<'static, str>;

/// A row's named values, in insertion order.
///
/// ```
/// use dsrs_metrics::rows::Fields;
///
/// let fields: Fields = [("question", "Why?"), ("answer", "Because.")].into_iter().collect();
/// assert_eq!(fields.keys().collect::<Vec<_>>(), ["question", "answer"]);
///
/// // The order is not compared.
/// let other: Fields = [("answer", "Because."), ("question", "Why?")].into_iter().collect();
/// assert_eq!(fields, other);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fields {
    values: IndexMap<Name, Value, RandomState>,
    /// `true` if the values come from an untyped format (CSV).
    ///
    /// In an untyped format, `"0.5"` can be a number, and `""` can be an absent value.
    #[serde(skip)]
    #[doc(hidden)]
    pub textual: bool,
    /// Boxed, because few rows have special fields, and rows are moved often.
    #[serde(skip)]
    pub(crate) special: Option<Box<SpecialFields>>,
}

/// The names of fields that are not read as they look.
#[derive(Debug, Clone, Default, PartialEq)]
#[doc(hidden)]
pub struct SpecialFields {
    /// Textual fields that are strings even if they look like lists.
    pub strings: Vec<String>,
    /// Fields that contained NaN or an infinity.
    ///
    /// Each of these fields is null, and a metric that reads it fails on the row.
    pub not_finite: Vec<String>,
}

impl Fields {
    /// Returns the value of a field, or `None` if the row has no such field.
    ///
    /// ```
    /// # use dsrs_metrics::rows::Fields;
    /// let fields: Fields = [("answer", "Paris")].into_iter().collect();
    /// assert_eq!(fields.get("answer").unwrap(), "Paris");
    /// assert_eq!(fields.get("Answer"), None);
    /// ```
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Returns a mutable reference to the value of a field.
    ///
    /// For example, you can reuse the row's memory for the next row.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let mut pred = prediction! { "answer" => "Paris" };
    /// if let Some(answer) = pred.data.get_mut("answer") {
    ///     *answer = "Rome".into();
    /// }
    /// assert_eq!(pred.get("answer").unwrap(), "Rome");
    /// ```
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.values.get_mut(name)
    }

    /// Returns `true` if the row has the field.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let gold = example! { "note" => () };
    /// assert!(gold.data.contains_key("note"), "its value is null");
    /// assert!(!gold.data.contains_key("answer"));
    /// ```
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a field and returns its previous value.
    ///
    /// ```
    /// # use dsrs_metrics::rows::Fields;
    /// let mut fields = Fields::default();
    /// assert_eq!(fields.insert("attempt", 1), None);
    /// assert_eq!(fields.insert("attempt", 2).unwrap(), 1);
    /// assert_eq!(fields.get("attempt").unwrap(), 2);
    /// ```
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.values.insert(Cow::Owned(name.into()), value.into())
    }

    /// Returns `true` if the field is a cell from an untyped format.
    #[doc(hidden)]
    pub fn is_cell(&self, name: &str) -> bool {
        self.textual && !self.strings().iter().any(|string| string == name)
    }

    /// Returns the names of textual fields that are strings even if they look like lists.
    #[doc(hidden)]
    pub fn strings(&self) -> &[String] {
        self.special.as_ref().map_or(&[], |it| &it.strings)
    }

    /// Returns the names of the special fields, to change them.
    #[doc(hidden)]
    pub fn special_mut(&mut self) -> &mut SpecialFields {
        self.special.get_or_insert_default()
    }

    /// Returns an error if the field contained NaN or an infinity.
    pub(super) fn check_finite(&self, name: &str) -> Result<(), Box<FieldError>> {
        let special = self.special.as_ref();
        match special.is_some_and(|it| it.not_finite.iter().any(|field| field == name)) {
            true => Err(FieldError::not_finite(name)),
            false => Ok(()),
        }
    }

    /// Like [`insert`](Self::insert), but does not copy a static name.
    #[doc(hidden)]
    pub fn insert_named(&mut self, name: Cow<'static, str>, value: Value) -> Option<Value> {
        self.values.insert(name, value)
    }

    /// Removes a field and returns its value.
    ///
    /// The other fields keep their order.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let mut row = example! { "id" => 7, "question" => "Why?", "answer" => "Because." };
    /// assert_eq!(row.data.remove("question").unwrap(), "Why?");
    /// assert_eq!(row.data.remove("question"), None);
    /// assert_eq!(row.keys().collect::<Vec<_>>(), ["id", "answer"]);
    /// ```
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.values.shift_remove(name)
    }

    /// Removes a field in constant time by moving the last one into its place.
    #[doc(hidden)]
    pub fn swap_remove(&mut self, name: &str) -> Option<Value> {
        self.values.swap_remove(name)
    }

    /// Returns an iterator over the fields, in order.
    ///
    /// ```
    /// # use dsrs_metrics::prediction;
    /// let pred = prediction! { "precision" => 0.5, "recall" => 0.25 };
    /// let sum: f64 = pred.data.iter().filter_map(|(_, value)| value.as_f64()).sum();
    /// assert_eq!(sum, 0.75);
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns an iterator over the field names, in order.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let row = example! { "text" => "It burns.", "label" => "urgent" };
    /// assert_eq!(row.data.keys().collect::<Vec<_>>(), ["text", "label"]);
    /// ```
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.keys().map(|name| &**name)
    }

    /// Returns the number of fields.
    ///
    /// ```
    /// # use dsrs_metrics::prediction;
    /// let pred = prediction! { "answer" => "Paris", "note" => () };
    /// assert_eq!(pred.data.len(), 2, "a null field counts");
    /// ```
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns `true` if the row has no fields.
    ///
    /// ```
    /// # use dsrs_metrics::{prediction, rows::Fields};
    /// assert!(Fields::default().is_empty());
    /// assert!(!prediction! { "answer" => () }.data.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the fields with these names.
    pub(super) fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.iter().filter(|(name, _)| keep(name));
        let kept: Self = kept.map(|(name, value)| (name, value.clone())).collect();
        Self {
            textual: self.textual,
            special: self.special.clone(),
            ..kept
        }
    }

    /// Marks the values as untyped strings, like CSV cells.
    ///
    /// The values can then be parsed as numbers, booleans or lists.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// #[metric]
    /// fn rated(#[pred] rating: f64) -> f64 {
    ///     rating
    /// }
    ///
    /// let pred = prediction! { "rating" => "0.5" };
    /// let error = Rated.score(&example! {}, &pred).unwrap_err().to_string();
    /// assert_eq!(error, "metric `rated`: field `pred.rating`: expected a number, found the string \"0.5\"");
    ///
    /// let cells = Prediction::from(pred.data.textual());
    /// assert_eq!(Rated.score(&example! {}, &cells)?.value, 0.5);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn textual(mut self) -> Self {
        self.textual = true;
        self
    }
}

impl IntoIterator for Fields {
    type Item = (String, Value);
    type IntoIter = iter::Map<map::IntoIter<Name, Value>, fn((Name, Value)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        let owned = |(name, value): (Name, Value)| (name.into_owned(), value);
        self.values.into_iter().map(owned)
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let mut all = Self::default();
        for (name, value) in fields {
            all.insert(name, value);
        }
        all
    }
}

dsrs_metrics_values::message_errors! {
    /// The error returned when a value cannot be converted into a row.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use dsrs_metrics::Example;
    ///
    /// let error = Example::from_serialize(&BTreeMap::from([("id", 1_u128 << 64)])).unwrap_err();
    /// let message = "expected an integer of at most 64 bits, found 18446744073709551616; serialize it as a string";
    /// assert_eq!(error.to_string(), message);
    /// ```
    pub struct FromSerializeError;
}

impl Fields {
    /// Creates the fields from a struct or a map, keeping their order.
    ///
    /// A float that is not finite becomes `null`, as in JSON.
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
    /// Returns [`FromSerializeError`] if the value is not a JSON object.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, FromSerializeError> {
        let failed = |message: String| FromSerializeError::from(message);
        let invalid = |error: serde_json::Error| {
            failed(format!("the value cannot be written as JSON: {error}"))
        };
        // Uses text, because a `serde_json` object does not keep the order of its fields.
        let text = serde_json::to_string(value).map_err(invalid)?;
        if let Some(integer) = numbers(&text).find(|number| is_long_integer(number.text)) {
            return Err(failed(format!(
                "expected an integer of at most 64 bits, found {}; serialize it as a string",
                integer.text
            )));
        }
        match serde_json::from_str(&text).map_err(invalid)? {
            Shape::Map(fields) => Ok(fields),
            Shape::Other(value) => Err(failed(format!(
                "expected a struct or a map, found {}; put the value into a field",
                found(&value)
            ))),
        }
    }
}

impl Example {
    /// Creates an example with the fields of a struct or a map.
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
    /// Returns [`FromSerializeError`] if the value is not a JSON object.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, FromSerializeError> {
        Fields::from_serialize(value).map(Self::from)
    }
}

impl Prediction {
    /// Creates a prediction with the fields of a struct or a map.
    ///
    /// See [`Example::from_serialize`].
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
    /// Returns [`FromSerializeError`] if the value is not a JSON object.
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
