//! Rows whose fields are known only at run time: [`Example`] and [`Prediction`], and the [`Trace`] that an optimizer
//! passes to a metric. `named_values.rs` has their fields, and `fields.rs` has rows with static types.

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Fields;
use crate::messages::{escape, suggest};
use crate::spec::{FieldSpec, MetricSpec};

/// A labelled example, with a program's inputs and the expected outputs.
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
    /// The example's fields.
    pub data: Fields,
    #[serde(skip)]
    input_keys: Option<Vec<String>>,
}

// No macro generates these methods, so no compiler error about a call names one.
impl Example {
    /// Returns the value of a field, or `None` if the example has no such field.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let gold = example! { "answers" => ["Paris", "Paris, France"] };
    /// assert_eq!(gold.get("answers").unwrap()[1], "Paris, France");
    /// assert_eq!(gold.get("answer"), None);
    /// ```
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.data.get(name)
    }

    /// Sets which fields are the program's inputs.
    ///
    /// All other fields are labels.
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
    pub fn with_inputs<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.input_keys = Some(keys.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the names set by [`with_inputs`](Self::with_inputs), if it was called.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let example = example! { "question" => "Why?", "answer" => "Because." };
    /// assert_eq!(example.input_keys(), None);
    /// assert_eq!(example.with_inputs(["question"]).input_keys().unwrap(), ["question"]);
    /// ```
    pub fn input_keys(&self) -> Option<&[String]> {
        self.input_keys.as_deref()
    }

    /// Returns the labels, which are the fields hidden from the program.
    ///
    /// The result is empty if [`with_inputs`](Self::with_inputs) was not called.
    ///
    /// ```
    /// # use dsrs_metrics::example;
    /// let row = example! { "question" => "Why?", "answer" => "Because." };
    /// assert_eq!(row.labels(), example! {});
    /// assert_eq!(row.with_inputs(["question"]).labels(), example! { "answer" => "Because." });
    /// ```
    pub fn labels(&self) -> Self {
        let Some(inputs) = &self.input_keys else {
            return Self::default();
        };
        self.data
            .only(|name| !inputs.iter().any(|input| input == name))
            .into()
    }

    /// Returns an iterator over the field names, in order.
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
    /// The prediction's fields.
    pub data: Fields,
}

impl Prediction {
    /// Returns the value of a field, or `None` if the prediction has no such field.
    ///
    /// ```
    /// # use dsrs_metrics::prediction;
    /// let pred = prediction! { "answer" => "Paris", "confidence" => 0.9 };
    /// assert_eq!(pred.get("confidence").and_then(|value| value.as_f64()), Some(0.9));
    /// assert_eq!(pred.get("reasoning"), None);
    /// ```
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.data.get(name)
    }

    /// Returns an iterator over the field names, in order.
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

/// One step of a program's run.
///
/// A step has the predictor's name, its inputs and its outputs.
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
    /// The predictor's inputs.
    pub inputs: Example,
    /// The predictor's outputs.
    pub outputs: Prediction,
}

/// The steps that a program took to reach its prediction.
///
/// If an optimizer passes a trace to a metric, the metric returns its verdict. A trace that a program returns
/// ([`ProgramRun::trace`](crate::ProgramRun)) is informational, so the metric still returns its score.
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
    /// The steps, in the order they finished.
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
        ::core::compile_error!("expected `=>` after the field name, found `:`; write `example! { \"answer\" => \"Paris\" }`")
    };
    ($($name:tt = $value:expr),* $(,)?) => {
        ::core::compile_error!("expected `=>` after the field name, found `=`; write `example! { \"answer\" => \"Paris\" }`")
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
        ::core::compile_error!("expected `=>` after the field name, found `:`; write `prediction! { \"answer\" => \"Paris\" }`")
    };
    ($($name:tt = $value:expr),* $(,)?) => {
        ::core::compile_error!("expected `=>` after the field name, found `=`; write `prediction! { \"answer\" => \"Paris\" }`")
    };
}

impl MetricSpec<'_> {
    /// Returns `true` if the rows have every required field.
    ///
    /// Fields that may be missing from a prediction are ignored.
    ///
    /// This method does not check types; [`Metric::can_evaluate`](crate::Metric::can_evaluate) does.
    ///
    /// ```
    /// # use dsrs_metrics::{example, prediction, contract::FieldSpec, contract::MetricSpec};
    /// let answer = [FieldSpec::new("answer", "&str", true)];
    /// let spec = MetricSpec::new("brevity").with_fields(&[], &answer);
    /// assert!(!spec.can_evaluate(&example! {}, &prediction! { "text" => "Paris" }));
    /// assert!(spec.can_evaluate(&example! {}, &prediction! { "answer" => 7 }), "types are not checked");
    /// ```
    pub fn can_evaluate(&self, gold: &Example, pred: &Prediction) -> bool {
        let has = |row: &Fields, fields: &[FieldSpec<'_>]| {
            fields
                .iter()
                .all(|field| !field.is_needed() || row.contains_key(field.name))
        };
        has(&gold.data, self.gold) && has(&pred.data, self.pred)
    }
}

dsrs_metrics_values::message_errors! {
    /// The error returned when a program cannot run on an example.
    ///
    /// The program's inputs are unknown or missing.
    ///
    /// ```
    /// use dsrs_metrics::{example, rows::InputError};
    ///
    /// let row = example! { "question" => "Why?", "answer" => "Because." }.with_inputs(["context"]);
    /// let error: InputError = row.inputs().unwrap_err();
    /// assert_eq!(error.to_string(), "no input `context`; the row has `question`, `answer`");
    /// ```
    pub struct InputError;
}

impl Example {
    /// Returns the program's inputs.
    ///
    /// The inputs are the fields set by [`with_inputs`](Self::with_inputs), in row order. The labels are left out, so
    /// the program never sees the expected answer.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let example = example! { "question" => "Why?", "answer" => "Because." };
    /// let error = example.inputs().unwrap_err().to_string();
    /// assert!(error.starts_with("the inputs are not declared"));
    ///
    /// let inputs = example.with_inputs(["question"]).inputs().unwrap();
    /// assert_eq!(inputs.keys().collect::<Vec<_>>(), ["question"]);
    /// ```
    ///
    /// # Errors
    /// Returns [`InputError`] if the example lacks an input. Also returns this error if the example has fields but
    /// `with_inputs` was not called.
    pub fn inputs(&self) -> Result<Self, InputError> {
        self.inputs_in(None)
    }

    /// Returns the names of the program's inputs.
    ///
    /// An example without declared inputs uses the inputs that the run declares.
    ///
    /// # Errors
    /// Returns [`InputError`] if neither the example nor the run declares inputs.
    #[doc(hidden)]
    pub fn input_names<'a>(
        &'a self,
        of_run: Option<&'a [String]>,
    ) -> Result<&'a [String], InputError> {
        match self.input_keys().or(of_run) {
            Some(names) => Ok(names),
            None if self.data.is_empty() => Ok(&[]),
            None => Err(InputError::from(format!(
                "the inputs are not declared, so the program would receive the labels too; write \
                 `.with_inputs([..])` on each row, or `.inputs([..])` once for the run, with the fields \
                 that the program may read (the row has {})",
                escape::names(self.keys())
            ))),
        }
    }

    /// Does the same as [`inputs`](Self::inputs). A run can declare inputs for examples that don't declare their own.
    pub(crate) fn inputs_in(&self, of_run: Option<&[String]>) -> Result<Self, InputError> {
        let names = self.input_names(of_run)?;
        if let Some(name) = names.iter().find(|name| !self.data.contains_key(name)) {
            let hint = suggest::known_fields("the row", name, self.keys());
            return Err(InputError::from(format!(
                "no input `{}`{hint}",
                escape::name(name)
            )));
        }
        Ok(self
            .data
            .only(|name| names.iter().any(|input| input == name))
            .into())
    }
}

/// Returns the row as an [`Example`], if it is one.
///
/// Other row types do not distinguish inputs from labels.
pub fn as_example<G: 'static>(gold: &G) -> Option<&Example> {
    let gold: &dyn Any = gold;
    gold.downcast_ref()
        .or_else(|| gold.downcast_ref::<Arc<Example>>().map(|gold| &**gold))
        .or_else(|| gold.downcast_ref::<Box<Example>>().map(|gold| &**gold))
}

/// Returns a row's inputs.
///
/// Returns `None` if no inputs are declared or one is missing.
pub fn inputs_of(example: &Example, of_run: Option<&[String]>) -> Option<Example> {
    example.inputs_in(of_run).ok()
}

/// Returns what a program receives from a row: the inputs of an [`Example`], or the whole row of any other type.
pub(crate) fn inputs_of_row<G: Clone + 'static>(
    gold: &G,
    of_run: Option<&[String]>,
) -> Result<G, InputError> {
    let Some(example) = as_example(gold) else {
        return Ok(gold.clone());
    };
    let mut inputs = Some(example.inputs_in(of_run)?);
    // `G` is one of these types; the cast through `Any` proves it to the compiler.
    let of_type = cast(&mut inputs)
        .or_else(|| cast(&mut inputs.clone().map(Arc::new)))
        .or_else(|| cast(&mut inputs.map(Box::new)));
    Ok(of_type.unwrap_or_else(|| gold.clone()))
}

pub(crate) fn cast<T: 'static, G: 'static>(value: &mut Option<T>) -> Option<G> {
    let value: &mut dyn Any = value;
    value.downcast_mut::<Option<G>>().and_then(Option::take)
}
