//! Rows whose fields are known at run time: [`Example`], [`Prediction`], and the [`Trace`] that an
//! optimizer hands to a metric. Rows with static types are in `record.rs`.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The named values of a row, in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fields {
    values: IndexMap<String, Value>,
    /// Whether the values come from a format that knows only text (CSV), so that `"0.5"` may be read
    /// as a number and `""` as absent.
    #[serde(skip)]
    pub(crate) textual: bool,
}

impl Fields {
    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Whether the row has the field.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Sets a field and returns the value it had.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.values.insert(name.into(), value.into())
    }

    /// Takes a field away and returns the value it had; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.values.shift_remove(name)
    }

    /// The fields in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The fields' names in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// How many fields the row has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the row has no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Marks the values as text that may stand for numbers, booleans and lists, as CSV cells do.
    #[must_use]
    pub fn textual(mut self) -> Self {
        self.textual = true;
        self
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let values = fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { values, textual: false }
    }
}

/// A labelled example: what goes into a program, and what is expected of it.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let example = example! { "question" => "Capital of France?", "answer" => ["Paris"] };
/// let example = example.with_inputs(["question"]);
/// assert_eq!(example.inputs().keys().collect::<Vec<_>>(), ["question"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Example {
    /// The fields.
    pub data: Fields,
    #[serde(skip)]
    input_keys: Option<Vec<String>>,
}

impl Example {
    /// Names the fields that a program may see; the others are labels.
    #[must_use]
    pub fn with_inputs<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.input_keys = Some(keys.into_iter().map(Into::into).collect());
        self
    }

    /// The fields that a program may see: those named by [`with_inputs`](Self::with_inputs), or
    /// every field if none were named.
    #[must_use]
    pub fn inputs(&self) -> Self {
        self.only(|name| self.is_input(name))
    }

    /// The fields that only a metric may see.
    #[must_use]
    pub fn labels(&self) -> Self {
        self.only(|name| !self.is_input(name))
    }

    fn is_input(&self, name: &str) -> bool {
        self.input_keys.as_ref().is_none_or(|keys| keys.iter().any(|key| key == name))
    }

    fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.data.iter().filter(|(name, _)| keep(name));
        let mut data: Fields = kept.map(|(name, value)| (name, value.clone())).collect();
        data.textual = self.data.textual;
        Self { data, input_keys: None }
    }
}

/// What a program predicted for one example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prediction {
    /// The fields.
    pub data: Fields,
}

macro_rules! fields_of {
    ($row:ident { $($rest:ident: $default:expr),* }) => {
        impl $row {
            /// The value of a field.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<&Value> {
                self.data.get(name)
            }

            /// The fields' names in order.
            pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
                self.data.keys()
            }
        }

        impl From<Fields> for $row {
            fn from(data: Fields) -> Self {
                Self { data, $($rest: $default),* }
            }
        }

        impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for $row {
            fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
                Fields::from_iter(fields).into()
            }
        }
    };
}

fields_of!(Example { input_keys: None });
fields_of!(Prediction {});

/// One step of a program's run: which predictor saw what, and what it answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// The predictor's name within the program.
    pub predictor: String,
    /// What it was given.
    pub inputs: Example,
    /// What it answered.
    pub outputs: Prediction,
}

/// How a program reached its prediction; given to a metric by an optimizer, absent in evaluation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Trace {
    /// The steps in the order in which they ended.
    pub steps: Vec<TraceStep>,
}

/// An [`Example`] from `"field" => value` pairs; a value is anything that serializes.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let gold = example! { "answer" => ["Paris", "Paris, France"], "year" => 1889 };
/// assert_eq!(gold.get("year").unwrap(), 1889);
/// ```
#[macro_export]
macro_rules! example {
    ($($name:expr => $value:expr),* $(,)?) => {
        <$crate::Example as ::core::iter::FromIterator<(&::core::primitive::str, $crate::__private::Value)>>::from_iter(
            [$(($name, $crate::__private::json!($value))),*]
        )
    };
}

/// A [`Prediction`] from `"field" => value` pairs; a value is anything that serializes.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// assert_eq!(prediction! { "answer" => "paris" }.get("answer").unwrap(), "paris");
/// ```
#[macro_export]
macro_rules! prediction {
    ($($name:expr => $value:expr),* $(,)?) => {
        <$crate::Prediction as ::core::iter::FromIterator<(&::core::primitive::str, $crate::__private::Value)>>::from_iter(
            [$(($name, $crate::__private::json!($value))),*]
        )
    };
}
