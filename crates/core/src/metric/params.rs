//! A metric's parameters as strings: `--param NAME.KEY=VALUE`.

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::declared::{Declared, WithoutParameters};
use crate::spec::{MetricSpec, ParamSpec};

/// The error returned when a metric's parameter is invalid.
///
/// The parameter is unknown, missing or has the wrong type.
///
/// ```
/// use dsrs_metrics::contract::{Configure, Params};
/// use dsrs_metrics::metrics::F1;
///
/// let mut params = Params::default();
/// params.insert("profil", "folded");
/// let error = F1::configure(&params).unwrap_err();
/// assert_eq!(error.to_string(), "metric `f1` has no parameter `profil`; it takes `profile`");
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The metric has no parameter with this name.
    #[error("metric `{metric}` has no parameter `{param}`; {}", takes(known))]
    Unknown {
        /// The metric's name.
        metric: String,
        /// The unknown parameter.
        param: String,
        /// The names of the metric's parameters.
        known: Vec<String>,
    },
    /// A required parameter has no value.
    #[error(
        "metric `{metric}` requires the parameter `{param}` ({expected}): --param {metric}.{param}=VALUE"
    )]
    Missing {
        /// The metric's name.
        metric: String,
        /// The missing parameter.
        param: String,
        /// A description of the parameter's type.
        expected: String,
    },
    /// A value cannot be read as the parameter's type, or the metric does not support a setting.
    #[error("{0}")]
    Invalid(String),
}

dsrs_metrics_values::debug_as_display!(ParamError);

fn takes(known: &[String]) -> String {
    match known {
        [] => "it takes none".to_owned(),
        known => format!("it takes `{}`", known.join("`, `")),
    }
}

/// Values for the parameters of one metric, by name.
///
/// A value is read as JSON if it is valid JSON of the parameter's type, and as a string otherwise. You can write `0.8`,
/// `["a", "b"]` and `python3 check.py` without extra quotes.
///
/// ```
/// use dsrs_metrics::contract::{Configure, Params};
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn names(#[pred] answer: &str, #[param] word: String, #[param(default = 1)] times: usize) -> bool {
///     answer.matches(&*word).count() >= times
/// }
///
/// let mut params = Params::default();
/// params.insert("word", "Paris"); // not JSON, so a string
/// params.insert("times", "2");
/// let metric = Names::configure(&params).unwrap();
/// assert_eq!(metric.score(&example! {}, &prediction! { "answer" => "Paris" })?.value, 0.0);
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params {
    values: IndexMap<String, String>,
    /// The cost of one verdict from a judge.
    ///
    /// The judge's panel uses this value as its `cost_msats` setting.
    #[doc(hidden)]
    pub cost_msats: Option<u64>,
}

impl Params {
    /// Sets a parameter, replacing any earlier value.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::Params, metrics::F1};
    /// let mut params = Params::default();
    /// params.insert("profile", "dspy");
    /// params.insert("profile", "folded");
    /// let mut expected = Params::default();
    /// expected.insert("profile", "folded");
    /// assert_eq!(params, expected);
    /// ```
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// Removes a parameter and returns its value.
    #[doc(hidden)]
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.values.shift_remove(name)
    }

    /// Returns `true` if this parameter has a value.
    #[doc(hidden)]
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns `true` if the value for this parameter equals `text`.
    pub(crate) fn is(&self, name: &str, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.values.get(name).is_some_and(|value| value == text))
    }

    /// Checks that the metric has every parameter in this set.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::Params, metrics::{F1, IntentAccuracy}};
    /// let mut params = Params::default();
    /// params.insert("profile", "folded");
    /// assert_eq!(params.check(&F1::SPEC), Ok(()));
    /// let error = params.check(&IntentAccuracy::SPEC).unwrap_err().to_string();
    /// assert_eq!(error, "metric `intent_accuracy` has no parameter `profile`; it takes none");
    /// ```
    ///
    /// # Errors
    /// Returns [`ParamError::Unknown`] for the first unknown parameter.
    pub fn check(&self, spec: &MetricSpec<'_>) -> Result<(), ParamError> {
        let unknown = |name: &&String| !spec.params.iter().any(|param| param.name == **name);
        let Some(param) = self.values.keys().find(unknown) else {
            return Ok(());
        };
        let known = spec.params.iter().map(|param| param.name.to_owned());
        Err(ParamError::Unknown {
            metric: spec.name.to_owned(),
            param: param.clone(),
            known: known.collect(),
        })
    }
}

/// A metric that can be created from [`Params`].
///
/// `#[metric]` implements this trait if every `#[param]` implements `Deserialize`.
///
/// ```
/// use dsrs_metrics::contract::{Configure, Params};
///
/// fn defaults<M: Configure>() -> Result<M, dsrs_metrics::contract::ParamError> {
///     M::configure(&Params::default())
/// }
///
/// assert!(defaults::<dsrs_metrics::metrics::F1>().is_ok());
/// assert_eq!(dsrs_metrics::metrics::F1::param_texts(), [Some("dspy".to_owned())]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be configured from text",
    label = "not a metric that a command line can configure",
    note = "annotate its function with `#[metric]`, and derive `serde::Deserialize` for the type of each `#[param]`"
)]
pub trait Configure: Sized {
    /// The metric's spec.
    const SPEC: MetricSpec<'static>;

    /// Creates the metric with the given parameters.
    ///
    /// Parameters that are not set keep their defaults.
    ///
    /// ```
    /// # use dsrs_metrics::contract::{Configure, Params};
    /// # use dsrs_metrics::prelude::*;
    /// #[metric]
    /// fn brief(#[pred] answer: &str, #[param(default = 280)] limit: usize) -> bool {
    ///     answer.chars().count() <= limit
    /// }
    ///
    /// let mut params = Params::default();
    /// params.insert("limit", "few");
    /// let error = Brief::configure(&params).unwrap_err().to_string();
    /// assert!(error.starts_with("metric `brief`: parameter `limit`: expected "), "{error}");
    /// assert!(error.contains(", found `few`"), "{error}");
    /// ```
    ///
    /// # Errors
    /// Returns [`ParamError`] if a parameter is unknown, missing or has the wrong type.
    fn configure(params: &Params) -> Result<Self, ParamError>;

    /// Returns the parameters' defaults as a user would write them.
    ///
    /// The defaults are in the order of the spec. For example, a default can be `folded`, `0.8` or `["a","b"]`.
    ///
    /// An entry is `None` if the parameter has no default or its type does not implement `Serialize`.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Configure;
    /// # use dsrs_metrics::prelude::*;
    /// #[metric]
    /// fn named(#[pred] answer: &str, #[param] name: String, #[param(default = 1)] times: usize) -> bool {
    ///     answer.matches(&*name).count() >= times
    /// }
    ///
    /// assert_eq!(Named::param_texts(), [None, Some("1".to_owned())]); // `name` has no default
    /// ```
    fn param_texts() -> Vec<Option<String>> {
        Vec::new()
    }
}

/// A builder that creates the metric `M` from parameters.
///
/// The builders in this library implement this trait. Metrics with generated builders implement [`Configure`]
/// themselves.
pub trait Configures<M> {
    /// Creates the metric with these parameters, as [`Configure::configure`] does.
    ///
    /// `spec` is the metric's spec. The caller has already checked the parameter names.
    fn configure(self, params: &Params, spec: &MetricSpec<'static>) -> Result<M, ParamError>;

    /// Returns the parameters' defaults, as [`Configure::param_texts`] does.
    fn param_texts(spec: &MetricSpec<'static>) -> Vec<Option<String>>;
}

impl<M> Configures<M> for WithoutParameters<M> {
    fn configure(self, _: &Params, _: &MetricSpec<'static>) -> Result<M, ParamError> {
        Ok(self.build())
    }

    fn param_texts(_: &MetricSpec<'static>) -> Vec<Option<String>> {
        Vec::new()
    }
}

#[diagnostic::do_not_recommend]
impl<M: Declared<Start: Configures<M>>> Configure for M {
    const SPEC: MetricSpec<'static> = M::SPEC;

    fn configure(params: &Params) -> Result<Self, ParamError> {
        let spec = const { &M::SPEC };
        params.check(spec)?;
        M::start().configure(params, spec)
    }

    fn param_texts() -> Vec<Option<String>> {
        M::Start::param_texts(const { &M::SPEC })
    }
}

/// A type that a field in a struct of parameters can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a parameter value",
    label = "not a parameter type",
    note = "derive `serde::Deserialize` for `{Self}`, so that a command line can set the parameter"
)]
pub trait ParamType: Sized {
    /// Reads a parameter's value, or returns its default.
    ///
    /// # Errors
    /// Returns [`ParamError::Missing`] if a required parameter has no value. Returns [`ParamError::Invalid`] if the
    /// value has the wrong type.
    fn read(
        params: &Params,
        spec: &MetricSpec<'static>,
        param: &ParamSpec<'static>,
        default: Option<fn() -> Self>,
    ) -> Result<Self, ParamError>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> ParamType for T {
    fn read(
        params: &Params,
        spec: &MetricSpec<'static>,
        param: &ParamSpec<'static>,
        default: Option<fn() -> T>,
    ) -> Result<T, ParamError> {
        let Some(text) = params.values.get(param.name) else {
            return default
                .map(|default| default())
                .ok_or_else(|| ParamError::Missing {
                    metric: spec.name.to_owned(),
                    param: param.name.to_owned(),
                    expected: param.help.or_type(param.ty),
                });
        };
        let as_text = |_| serde_json::from_value::<T>(Value::String(text.clone()));
        let read = serde_json::from_str::<T>(text).or_else(as_text);
        read.map_err(|error| {
            // An error from reading a `Value` has no line and column.
            let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(&**text));
            let error = serde_json::from_value::<T>(value).err().unwrap_or(error);
            wrong_type(spec, param, text, &error.to_string())
        })
    }
}

/// Returns `true` if serde's error says only that a value has the wrong type or size.
fn is_of_type(error: &str) -> bool {
    let starts = ["invalid type: ", "invalid value: ", "invalid length "];
    starts.iter().any(|start| error.starts_with(start))
}

fn wrong_type(
    spec: &MetricSpec<'_>,
    param: &ParamSpec<'_>,
    found: &str,
    error: &str,
) -> ParamError {
    let mut expected = param.help.or_type(param.ty);
    if let Some(example) = param.help.example() {
        expected = format!("{expected}, as in {example}");
    }
    let variant = error.strip_prefix("unknown variant `");
    let reason = match variant.and_then(|rest| rest.rsplit_once("`, expected ")) {
        // The list of variants is more useful than the enum's name.
        Some((_, variants)) => {
            expected = variants.to_owned();
            String::new()
        }
        // The description already states the type.
        None if is_of_type(error) && param.help.is_some() => String::new(),
        None => format!(" ({error})"),
    };
    ParamError::Invalid(format!(
        "metric `{}`: parameter `{}`: expected {expected}, found `{found}`{reason}",
        spec.name, param.name
    ))
}

/// A trait that no type implements.
///
/// The `default` method requires this trait if the metric has a required parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default, because a parameter requires a value",
    label = "a parameter requires a value",
    note = "write `{Self}::builder()`, set the parameters, then `.build()`"
)]
pub trait HasDefaults<'metric> {}
