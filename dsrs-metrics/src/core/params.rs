//! Configuration of a metric that is known at run time: `--param NAME.KEY=VALUE`.

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
    /// The metric cannot do without the parameter.
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
        /// What was given.
        found: String,
        /// What the deserializer said.
        reason: String,
    },
}

/// What a parameter should be, what it is, and what more there is to say.
struct Mismatch<'a> {
    ty: &'a str,
    found: &'a str,
    reason: &'a str,
}

impl std::fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { ty, found, reason } = self;
        // Of a choice, what there is to choose from says more than the name of its type.
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
        // That it is of another type has been said in words.
        let is_said = in_words(ty).is_some()
            && ["invalid ", "data did not match"].iter().any(|it| reason.starts_with(it));
        if is_said { Ok(()) } else { write!(f, " ({reason})") }
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
/// A value is JSON where it parses as JSON of the parameter's type, and text elsewhere, so that
/// `0.8`, `["a", "b"]` and `python3 check.py` all stand for themselves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params {
    values: IndexMap<String, String>,
}

impl Params {
    /// Sets a parameter; a later value replaces an earlier one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// Whether there is a value for this parameter.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Whether the value for this parameter is this text.
    pub(crate) fn is(&self, name: &str, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.values.get(name).is_some_and(|value| value == text))
    }

    /// Checks that the metric has each of the parameters.
    ///
    /// # Errors
    /// [`ParamError::Unknown`] for the first that it has not.
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

/// A metric that can be made from [`Params`]; `#[metric]` implements it where every `#[param]` can
/// be deserialized.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be configured from text",
    label = "not a metric that a command line can configure",
    note = "annotate its function with `#[metric]`, and derive `serde::Deserialize` for the type of each `#[param]`"
)]
pub trait Configure: Sized {
    /// The metric's spec.
    const SPEC: MetricSpec<'static>;

    /// The metric with these parameters, and its defaults for the others.
    ///
    /// # Errors
    /// [`ParamError`] if a parameter is unknown, missing or of the wrong type.
    fn configure(params: &Params) -> Result<Self, ParamError>;

    /// The parameters' defaults as they would be typed, in the order of the spec: `folded`, `0.8`, `["a","b"]`. `None` for one
    /// without a default, and for one whose type does not implement `Serialize`.
    #[must_use]
    fn defaults() -> Vec<Option<String>> {
        Vec::new()
    }
}

/// A default of any type. Of one that can be serialized the inherent `text` is called, of any other that of [`Untyped`],
/// so that a macro need not know which it is.
#[derive(Debug)]
#[doc(hidden)]
pub struct Typed<'a, T>(pub &'a T);

impl<T: Serialize> Typed<'_, T> {
    /// The value as it would be typed: a text that says itself as it is, anything else as JSON.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match serde_json::to_value(self.0).ok()? {
            Value::String(text) if !text.is_empty() && text.trim() == text => Some(text),
            value => Some(value.to_string()),
        }
    }
}

#[doc(hidden)]
pub trait Untyped {
    fn text(&self) -> Option<String> {
        None
    }
}

impl<T> Untyped for Typed<'_, T> {}

/// One parameter's value, or its default.
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
    // Of the two reasons, the one for text that is no JSON is that it is text.
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
