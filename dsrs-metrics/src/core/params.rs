//! A metric's parameters from strings: `--param NAME.KEY=VALUE`.

use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::core::error::Expected;
use crate::core::spec::{MetricSpec, ParamSpec};
use crate::core::type_words::{example, in_words};

/// A value for a metric's parameter that is unknown, missing or of the wrong type.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The metric has no such parameter.
    #[error("metric `{metric}` has no parameter `{param}`; {}", Known(known))]
    Unknown {
        /// The metric's name.
        metric: String,
        /// The unknown parameter.
        param: String,
        /// The parameters that the metric has.
        known: Vec<String>,
    },
    /// The parameter is required and has no value.
    #[error(
        "metric `{metric}` needs its parameter `{param}` ({}): --param {metric}.{param}=VALUE",
        Expected(ty)
    )]
    Missing {
        /// The metric's name.
        metric: String,
        /// The missing parameter.
        param: String,
        /// Its type.
        ty: String,
    },
    /// The value cannot be read as the parameter's type.
    #[error("metric `{metric}`: parameter `{param}` should be {}", Mismatch { ty, found, reason })]
    WrongType {
        /// The metric's name.
        metric: String,
        /// The parameter.
        param: String,
        /// Its type.
        ty: String,
        /// The given value.
        found: String,
        /// The deserializer's message.
        reason: String,
    },
}

/// The expected type of a parameter, the value found, and the deserializer's message.
struct Mismatch<'a> {
    ty: &'a str,
    found: &'a str,
    reason: &'a str,
}

impl std::fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { ty, found, reason } = self;
        // For an enum, the list of its variants is more useful than its name.
        let choice =
            reason.strip_prefix("unknown variant ").and_then(|it| it.split_once(", expected "));
        if let Some((_, choices)) = choice {
            return write!(f, "{choices}, found `{found}`");
        }
        write!(f, "{}", Expected(ty))?;
        if let Some(example) = example(ty) {
            write!(f, ", as in {example}")?;
        }
        write!(f, "; found `{found}`")?;
        // A message of serde's own is redundant, since it only states that the type is wrong.
        let of_serde = [
            "invalid type: ",
            "invalid value: ",
            "invalid length ",
            "invalid digit",
            "data did not match",
        ];
        let is_redundant =
            in_words(ty).is_some() && of_serde.iter().any(|it| reason.starts_with(it));
        if is_redundant { Ok(()) } else { write!(f, " ({reason})") }
    }
}

struct Known<'a>(&'a [String]);

impl std::fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            [] => f.write_str("it takes none"),
            known => write!(f, "it takes `{}`", known.join("`, `")),
        }
    }
}

/// Values for one metric's parameters, by name.
///
/// A value that parses as JSON of the parameter's type is JSON; any other value is a string. So
/// `0.8`, `["a", "b"]` and `python3 check.py` are accepted as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params {
    values: IndexMap<String, String>,
}

impl Params {
    /// Sets a parameter; a later value replaces an earlier one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// Returns whether there is a value for this parameter.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns whether the value for this parameter equals `text`.
    pub(crate) fn is(&self, name: &str, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.values.get(name).is_some_and(|value| value == text))
    }

    /// Checks that the metric has each of the parameters.
    ///
    /// # Errors
    /// [`ParamError::Unknown`] for the first unknown parameter.
    pub fn check(&self, spec: &MetricSpec<'_>) -> Result<(), ParamError> {
        let unknown = |name: &&String| !spec.params.iter().any(|param| param.name == **name);
        let Some(param) = self.values.keys().find(unknown) else {
            return Ok(());
        };
        Err(ParamError::Unknown {
            metric: spec.name.to_owned(),
            param: param.clone(),
            known: spec.params.iter().map(|param| param.name.to_owned()).collect(),
        })
    }
}

/// A metric that can be created from [`Params`]. `#[metric]` implements it if every `#[param]` implements
/// `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be configured from text",
    label = "not a metric that a command line can configure",
    note = "annotate its function with `#[metric]`, and derive `serde::Deserialize` for the type of each `#[param]`"
)]
pub trait Configure: Sized {
    /// The metric's spec.
    const SPEC: MetricSpec<'static>;

    /// Creates the metric with these parameters and the defaults of the others.
    ///
    /// # Errors
    /// [`ParamError`] if a parameter is unknown, missing or of the wrong type.
    fn configure(params: &Params) -> Result<Self, ParamError>;

    /// Returns the parameters' defaults as a user would write them, in the order of the spec: `folded`, `0.8`, `["a","b"]`.
    /// `None` for a parameter without a default, or whose type does not implement `Serialize`.
    #[must_use]
    fn defaults() -> Vec<Option<String>> {
        Vec::new()
    }
}

/// A default of any type, for autoref specialization: `text` resolves to the inherent method if the type implements
/// `Serialize`, and to the method of [`Untyped`] otherwise.
#[derive(Debug)]
#[doc(hidden)]
pub struct Typed<'a, T>(pub &'a T);

impl<T: Serialize> Typed<'_, T> {
    /// Returns the value as a user would write it: a string unchanged, anything else as JSON. An
    /// empty string, or one with white space at an end, is quoted.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match serde_json::to_value(self.0).ok()? {
            Value::String(text) if !text.is_empty() && text.trim() == text => Some(text),
            value => Some(value.to_string()),
        }
    }
}

/// The fallback of [`Typed`]: no string.
#[doc(hidden)]
pub trait Untyped {
    fn text(&self) -> Option<String> {
        None
    }
}

impl<T> Untyped for Typed<'_, T> {}

/// Returns one parameter's value, or its default.
///
/// # Errors
/// [`ParamError::Missing`] and [`ParamError::WrongType`].
#[doc(hidden)]
pub fn read_param<T: DeserializeOwned>(
    params: &Params,
    spec: &MetricSpec<'static>,
    param: &ParamSpec<'static>,
    default: Option<fn() -> T>,
) -> Result<T, ParamError> {
    let metric = || spec.name.to_owned();
    let Some(text) = params.values.get(param.name) else {
        let missing = || ParamError::Missing {
            metric: metric(),
            param: param.name.to_owned(),
            ty: param.ty.to_owned(),
        };
        return default.map(|default| default()).ok_or_else(missing);
    };
    let as_json = || serde_json::from_str::<T>(text);
    let as_text = || serde_json::from_value::<T>(Value::String(text.clone()));
    // If the value is not JSON, the error is that of reading it as a string.
    let reason = |json: serde_json::Error, text| if json.is_data() { json } else { text };
    as_json().or_else(|json| as_text().map_err(|text| reason(json, text))).map_err(|reason| {
        ParamError::WrongType {
            metric: metric(),
            param: param.name.to_owned(),
            ty: param.ty.to_owned(),
            found: text.clone(),
            reason: reason.to_string(),
        }
    })
}
