//! Rows whose fields are known at run time: [`Example`] and [`Prediction`]; and the [`Trace`] that an
//! optimizer passes to a metric. Rows with static types are in `fields.rs`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entries::{Entries, IntoIter};

/// The named values of a row, in insertion order.
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
    values: Entries,
    /// Whether the values come from an untyped format (CSV), so that `"0.5"` can be parsed as a number
    /// and `""` as absent.
    #[serde(skip)]
    #[doc(hidden)]
    pub textual: bool,
}

impl Fields {
    /// Returns the value of a field.
    ///
    /// ```
    /// # use dsrs_metrics::rows::Fields;
    /// let fields: Fields = [("answer", "Paris")].into_iter().collect();
    /// assert_eq!(fields.get("answer").unwrap(), "Paris");
    /// assert_eq!(fields.get("Answer"), None);
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Returns the value of a field to change it, for example to reuse the memory of a row for the next one.
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

    /// Returns whether the row has the field.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let gold = example! { "note" => () };
    /// assert!(gold.data.contains_key("note"), "its value is null");
    /// assert!(!gold.data.contains_key("answer"));
    /// ```
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.values.get(name).is_some()
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

    /// Creates fields without allocating again for this number of them.
    pub(crate) fn with_capacity(fields: usize) -> Self {
        Self { values: Entries::with_capacity(fields), textual: false }
    }

    /// As [`insert`](Self::insert), without a copy of the name.
    #[doc(hidden)]
    pub fn insert_static(&mut self, name: &'static str, value: Value) -> Option<Value> {
        self.values.insert(Cow::Borrowed(name), value)
    }

    /// Returns the value to overwrite of the field at this position, for a row that is written in the memory of another
    /// one, field after field. `None` if there are too many fields.
    #[doc(hidden)]
    pub fn rewrite_static(&mut self, position: usize, name: &'static str) -> Option<&mut Value> {
        self.values.rewrite(position, name, || Cow::Borrowed(name))
    }

    /// As [`rewrite_static`](Self::rewrite_static), of a field whose name is copied if it is a new one.
    #[doc(hidden)]
    pub fn rewrite(&mut self, position: usize, name: &str) -> Option<&mut Value> {
        self.values.rewrite(position, name, || Cow::Owned(name.to_owned()))
    }

    /// Removes the fields that a row did not overwrite.
    #[doc(hidden)]
    pub fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
    }

    /// Removes a field and returns its value. The other fields keep their order.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let mut row = example! { "id" => 7, "question" => "Why?", "answer" => "Because." };
    /// assert_eq!(row.data.remove("question").unwrap(), "Why?");
    /// assert_eq!(row.data.remove("question"), None);
    /// assert_eq!(row.keys().collect::<Vec<_>>(), ["id", "answer"]);
    /// ```
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.values.remove(name)
    }

    /// Removes a field in constant time, and moves the last one to its place.
    #[doc(hidden)]
    pub fn swap_remove(&mut self, name: &str) -> Option<Value> {
        self.values.swap_remove(name)
    }

    /// Iterates over the fields in order.
    ///
    /// ```
    /// # use dsrs_metrics::prediction;
    /// let pred = prediction! { "precision" => 0.5, "recall" => 0.25 };
    /// let sum: f64 = pred.data.iter().filter_map(|(_, value)| value.as_f64()).sum();
    /// assert_eq!(sum, 0.75);
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.values.iter()
    }

    /// Iterates over the fields' names in order.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let row = example! { "text" => "It burns.", "label" => "urgent" };
    /// assert_eq!(row.data.keys().collect::<Vec<_>>(), ["text", "label"]);
    /// ```
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.iter().map(|(name, _)| name)
    }

    /// Returns the number of fields.
    ///
    /// ```
    /// # use dsrs_metrics::prediction;
    /// let pred = prediction! { "answer" => "Paris", "note" => () };
    /// assert_eq!(pred.data.len(), 2, "a null field counts");
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether the row has no fields.
    ///
    /// ```
    /// # use dsrs_metrics::{prediction, rows::Fields};
    /// assert!(Fields::default().is_empty());
    /// assert!(!prediction! { "answer" => () }.data.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.len() == 0
    }

    /// Returns the fields with these names.
    pub(super) fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.iter().filter(|(name, _)| keep(name));
        let kept: Self = kept.map(|(name, value)| (name, value.clone())).collect();
        Self { textual: self.textual, ..kept }
    }

    /// Marks the values as untyped strings, like CSV cells, that may be parsed as numbers, booleans or lists.
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
    #[must_use]
    pub fn textual(mut self) -> Self {
        self.textual = true;
        self
    }
}

/// The most fields to allocate space for in advance, since a size hint may be wrong.
const MAX_RESERVED: usize = 16;

impl IntoIterator for Fields {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        self.values.into_iter()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        let mut all = Self::with_capacity(fields.size_hint().0.min(MAX_RESERVED));
        fields.for_each(|(name, value)| _ = all.insert(name, value));
        all
    }
}

/// A labelled example: the inputs of a program and the expected outputs.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let example = example! { "question" => "Capital of France?", "answer" => ["Paris"] };
/// let example = example.with_inputs(["question"]);
/// assert_eq!(example.inputs()?.keys().collect::<Vec<_>>(), ["question"]);
/// # Ok::<(), dsrs_metrics::rows::InputError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Example {
    /// The fields.
    pub data: Fields,
    #[serde(skip)]
    input_keys: Option<Vec<String>>,
}

// The methods are not generated by a macro, so that no error about a call names one.
impl Example {
    /// Returns the value of a field.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let gold = example! { "answers" => ["Paris", "Paris, France"] };
    /// assert_eq!(gold.get("answers").unwrap()[1], "Paris, France");
    /// assert_eq!(gold.get("answer"), None);
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.data.get(name)
    }

    /// Sets which fields are inputs of the program. The others are labels.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let row = example! { "question" => "Capital of France?", "hint" => "On the Seine.", "answer" => "Paris" };
    /// let row = row.with_inputs(["question", "hint"]);
    /// assert_eq!(row.inputs()?.get("answer"), None);
    ///
    /// // A name that the row does not have is an error of `inputs`.
    /// let error = row.with_inputs(["qestion"]).inputs().unwrap_err();
    /// assert_eq!(error.to_string(), "no input `qestion`; did you mean `question`?");
    /// # Ok::<(), dsrs_metrics::rows::InputError>(())
    /// ```
    #[must_use]
    pub fn with_inputs<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.input_keys = Some(keys.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the names set by [`with_inputs`](Self::with_inputs), or `None` if it was not called.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let example = example! { "question" => "Why?", "answer" => "Because." };
    /// assert_eq!(example.input_keys(), None);
    /// assert_eq!(example.with_inputs(["question"]).input_keys().unwrap(), ["question"]);
    /// ```
    #[must_use]
    pub fn input_keys(&self) -> Option<&[String]> {
        self.input_keys.as_deref()
    }

    /// Returns the labels: the fields that only a metric may read. None if [`with_inputs`](Self::with_inputs) was not
    /// called.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let row = example! { "question" => "Why?", "answer" => "Because." };
    /// assert_eq!(row.labels(), example! {});
    /// assert_eq!(row.with_inputs(["question"]).labels(), example! { "answer" => "Because." });
    /// ```
    #[must_use]
    pub fn labels(&self) -> Self {
        let Some(inputs) = &self.input_keys else { return Self::default() };
        self.data.only(|name| !inputs.iter().any(|input| input == name)).into()
    }

    /// Iterates over the fields' names in order.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let row = example! { "question" => "Why?", "answer" => "Because." };
    /// assert_eq!(row.keys().collect::<Vec<_>>(), ["question", "answer"]);
    /// ```
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.data.keys()
    }
}

/// A program's outputs for one example.
///
/// ```
/// use dsrs_metrics::{Prediction, prediction};
///
/// let pred = prediction! { "answer" => "Paris", "confidence" => 0.9 };
/// let json = r#"{"answer":"Paris","confidence":0.9}"#;
/// assert_eq!(serde_json::to_string(&pred)?, json);
/// assert_eq!(serde_json::from_str::<Prediction>(json)?, pred);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prediction {
    /// The fields.
    pub data: Fields,
}

impl Prediction {
    /// Returns the value of a field.
    ///
    /// ```
    /// # use dsrs_metrics::prediction;
    /// let pred = prediction! { "answer" => "Paris", "confidence" => 0.9 };
    /// assert_eq!(pred.get("confidence").and_then(|value| value.as_f64()), Some(0.9));
    /// assert_eq!(pred.get("reasoning"), None);
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.data.get(name)
    }

    /// Iterates over the fields' names in order.
    ///
    /// ```
    /// # use dsrs_metrics::prediction;
    /// let pred = prediction! { "reasoning" => "2 + 2 = 4", "answer" => 4 };
    /// assert_eq!(pred.keys().collect::<Vec<_>>(), ["reasoning", "answer"]);
    /// ```
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.data.keys()
    }
}

macro_rules! fields_of {
    ($row:ident { $($rest:ident: $default:expr),* }) => {
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

/// One step of a program's run: the predictor, its inputs and its outputs.
///
/// ```
/// use dsrs_metrics::{example, prediction, rows::TraceStep};
///
/// let step = TraceStep {
///     predictor: "retrieve".to_owned(),
///     inputs: example! { "question" => "Capital of France?" },
///     outputs: prediction! { "passages" => ["Paris is the capital of France."] },
/// };
/// assert_eq!(step.outputs.get("passages").unwrap()[0], "Paris is the capital of France.");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// The predictor's name within the program.
    pub predictor: String,
    /// Its inputs.
    pub inputs: Example,
    /// Its outputs.
    pub outputs: Prediction,
}

/// The steps by which a program computed its prediction.
///
/// An optimizer passes it to a metric, which then returns its verdict. A program may return it for information
/// ([`ProgramRun::trace`](crate::ProgramRun)); a metric then still returns its score.
///
/// ```
/// use dsrs_metrics::{example, prediction, rows::{Trace, TraceStep}};
///
/// let step = |name: &str| TraceStep { predictor: name.to_owned(), inputs: example! {}, outputs: prediction! {} };
/// let trace = Trace { steps: vec![step("retrieve"), step("answer")] };
/// assert_eq!(trace.steps.last().unwrap().predictor, "answer");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Trace {
    /// The steps, in the order in which they finished.
    pub steps: Vec<TraceStep>,
}

/// Creates an [`Example`] from `"field" => value` pairs. A value is anything that implements `Serialize`.
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
    ($($name:tt : $value:expr),* $(,)?) => {
        ::core::compile_error!("expected `=>` after the name of a field, found `:`; write `example! { \"answer\" => \"Paris\" }`")
    };
    ($($name:tt = $value:expr),* $(,)?) => {
        ::core::compile_error!("expected `=>` after the name of a field, found `=`; write `example! { \"answer\" => \"Paris\" }`")
    };
}

/// Creates a [`Prediction`] from `"field" => value` pairs. A value is anything that implements `Serialize`.
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
    ($($name:tt : $value:expr),* $(,)?) => {
        ::core::compile_error!("expected `=>` after the name of a field, found `:`; write `prediction! { \"answer\" => \"Paris\" }`")
    };
    ($($name:tt = $value:expr),* $(,)?) => {
        ::core::compile_error!("expected `=>` after the name of a field, found `=`; write `prediction! { \"answer\" => \"Paris\" }`")
    };
}
