//! A registry of metrics by name.
//!
//! `builtin.rs` contains the built-in metrics. `settings.rs` contains the settings that every metric has.

use std::collections::HashMap;
use std::sync::Arc;

use builtin::{FEATURES, GROUPS};
use indexmap::IndexMap;

use crate::contract::{Configure, Metric, MetricSpec, ParamError, Params};
use crate::messages::suggest;
use crate::messages::suggest::nearest;

#[doc(hidden)]
pub use settings::{SETTINGS, has_param};

mod builtin;
mod settings;

/// A registry of metrics by name, in insertion order.
///
/// Use a registry if your program reads the names and parameters of metrics as data, as the command line does.
///
/// ```
/// use dsrs_metrics::metrics::Registry;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::contract::Params;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::builtin();
/// let mut params = Params::default();
/// params.insert("threshold", "0.8");
/// let f1 = registry.create("f1", &params)?;
/// assert_eq!(f1.spec().threshold, Some(0.8));
///
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(f1.evaluate(&gold, &pred).await?.value, 2.0 / 3.0);
///
/// let unknown = registry.create("f11", &Params::default()).err().unwrap();
/// assert_eq!(unknown.to_string(), "unknown metric `f11`; did you mean `f1`?");
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Registry {
    entries: IndexMap<String, Entry>,
    /// The built-in metrics, each with its group. Your metrics can replace them.
    builtin: HashMap<String, &'static str>,
}

/// A metric in a registry.
pub enum Entry {
    /// A metric with parameters.
    Configurable {
        /// The spec that the metric declares.
        spec: MetricSpec<'static>,
        /// Creates the metric with the given parameters.
        configure: fn(&Params) -> Result<Arc<dyn Metric>, ParamError>,
        /// Returns the default values of the parameters, in order.
        defaults: fn() -> Vec<Option<String>>,
    },
    /// A metric without parameters, added by the user.
    Fixed(Arc<dyn Metric>),
}

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry that contains the built-in metrics.
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        let mut builtin = HashMap::new();
        for (group, add) in GROUPS {
            let before = registry.entries.len();
            let added = add(&mut registry);
            debug_assert_eq!(added, Ok(()), "the names of built-in metrics are unique");
            let names = registry.entries.keys().skip(before);
            builtin.extend(names.map(|name| (name.clone(), *group)));
        }
        registry.builtin = builtin;
        registry
    }

    /// Adds a metric with parameters.
    ///
    /// The metric replaces a built-in metric with the same name.
    ///
    /// # Errors
    /// Returns [`RegistryError`] if the name is a duplicate or invalid.
    pub fn add<M: Metric + Configure + 'static>(&mut self) -> Result<(), RegistryError> {
        let configure = |params: &Params| -> Result<Arc<dyn Metric>, ParamError> {
            let (instance, params) = settings::settings(params, &M::SPEC)?;
            let metric = M::configure(&params)?;
            match instance {
                None => Ok(Arc::new(metric)),
                Some(instance) => Ok(Arc::new(settings::apply(metric, M::SPEC, instance)?)),
            }
        };
        let entry = Entry::Configurable {
            spec: M::SPEC,
            configure,
            defaults: M::param_texts,
        };
        self.insert(M::SPEC.name, entry)
    }

    /// Adds a metric without parameters, such as a closure.
    ///
    /// The metric replaces a built-in metric with the same name. You can still set its threshold, strictness and cost.
    ///
    /// # Errors
    /// Returns [`RegistryError`] if the name is a duplicate or invalid.
    pub fn add_metric(&mut self, metric: impl Metric + 'static) -> Result<(), RegistryError> {
        let name = metric.name().to_owned();
        self.insert(&name, Entry::Fixed(Arc::new(metric)))
    }

    fn insert(&mut self, name: &str, entry: Entry) -> Result<(), RegistryError> {
        let is_valid = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let name = name.to_owned();
        if name.is_empty() || !name.chars().all(is_valid) {
            return Err(RegistryError::from(format!(
                "invalid metric name `{name}`: expected letters, digits, `_` and `-`; rename the metric"
            )));
        }
        // A user's metric replaces the built-in one with the same name, once.
        if self.entries.contains_key(&name) && self.builtin.remove(&name).is_none() {
            return Err(RegistryError::from(format!(
                "duplicate metric name `{name}`; rename one with #[metric(name = \"..\")]"
            )));
        }
        self.entries.insert(name, entry);
        Ok(())
    }

    /// Returns the names of the metrics.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns the spec that a metric declares.
    ///
    /// # Errors
    /// Returns [`CreateError::UnknownMetric`] if the registry has no metric with this name. Returns
    /// [`CreateError::MissingFeature`] if the library was built without a feature that the metric needs.
    pub fn spec(&self, name: &str) -> Result<MetricSpec<'_>, CreateError> {
        Ok(self.find(name)?.spec())
    }

    /// Returns the default values of a metric's parameters, as text.
    ///
    /// The defaults are in the order of [`MetricSpec::params`]. A missing or unknown default is `None`.
    ///
    /// # Errors
    /// Returns the same errors as [`spec`](Self::spec).
    pub fn defaults(&self, name: &str) -> Result<Vec<Option<String>>, CreateError> {
        Ok(self.find(name)?.defaults())
    }

    /// Creates a metric with the given parameters.
    ///
    /// The names in `params` are the same as for `--param` on the command line. They can be parameters in the metric's
    /// spec, or the settings `threshold`, `strict` and `cost`.
    ///
    /// # Errors
    /// Returns [`CreateError`] if the name or a parameter is unknown, or if a value is invalid. Also returns this error
    /// if the library was built without a feature that the metric needs.
    pub fn create(&self, name: &str, params: &Params) -> Result<Arc<dyn Metric>, CreateError> {
        self.find(name)?.create(params)
    }

    #[doc(hidden)]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    #[doc(hidden)]
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Returns each group's name and metrics.
    ///
    /// The built-in groups come first, then the user's metrics.
    #[doc(hidden)]
    pub fn groups(&self) -> impl Iterator<Item = (&'static str, Vec<&Entry>)> {
        let groups = GROUPS.iter().map(|(name, _)| (*name, Some(*name)));
        groups.chain([("other", None)]).filter_map(|(name, group)| {
            let entries = self.entries.iter();
            let members = entries.filter(|(name, _)| self.group(name) == group);
            let members: Vec<_> = members.map(|(_, entry)| entry).collect();
            (!members.is_empty()).then_some((name, members))
        })
    }

    fn group(&self, name: &str) -> Option<&'static str> {
        self.builtin.get(name).copied()
    }

    /// Returns the feature that a built-in metric needs but this program lacks.
    fn missing_feature(&self, name: &str) -> Option<&'static str> {
        let has_builtin = !self.builtin.is_empty();
        let needs = |(names, _, enabled): &&(&[&str], _, _)| !enabled && names.contains(&name);
        let missing = FEATURES.iter().find(needs).filter(|_| has_builtin);
        missing.map(|(_, feature, _)| *feature)
    }

    /// Returns the metric with this name.
    ///
    /// If there is no such metric, the error suggests the most similar name.
    #[doc(hidden)]
    pub fn find(&self, name: &str) -> Result<&Entry, CreateError> {
        self.entries.get(name).ok_or_else(|| {
            let name = name.to_owned();
            if let Some(feature) = self.missing_feature(&name) {
                return CreateError::MissingFeature { name, feature };
            }
            let nearest = nearest(&name, self.names()).map(str::to_owned);
            CreateError::UnknownMetric { name, nearest }
        })
    }
}

impl Entry {
    #[doc(hidden)]
    pub fn spec(&self) -> MetricSpec<'_> {
        match self {
            Self::Configurable { spec, .. } => *spec,
            Self::Fixed(metric) => metric.spec(),
        }
    }

    /// Returns the default values of the parameters, as text.
    ///
    /// A default value that is unknown is `None`.
    #[doc(hidden)]
    pub fn defaults(&self) -> Vec<Option<String>> {
        match self {
            Self::Configurable { defaults, .. } => defaults(),
            Self::Fixed(_) => Vec::new(),
        }
    }

    /// Creates the metric with the given parameters.
    #[doc(hidden)]
    pub fn create(&self, params: &Params) -> Result<Arc<dyn Metric>, CreateError> {
        self.configure(params).map_err(CreateError::of_params)
    }

    fn configure(&self, params: &Params) -> Result<Arc<dyn Metric>, ParamError> {
        match self {
            Self::Configurable { configure, .. } => configure(params),
            Self::Fixed(metric) => {
                let (instance, params) = settings::settings(params, &metric.spec())?;
                params.check(&metric.spec())?;
                let metric = Arc::clone(metric);
                instance.map_or(Ok(Arc::clone(&metric)), |it| settings::adjust(metric, it))
            }
        }
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

dsrs_metrics_values::message_errors! {
    /// The error returned when a metric cannot be added to a [`Registry`].
    pub struct RegistryError;
}

/// The error returned when a [`Registry`](Registry) cannot create a metric.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The registry has no metric with this name.
    #[error("unknown metric `{name}`{}", did_you_mean(nearest))]
    UnknownMetric {
        /// The name.
        name: String,
        /// The most similar name, if there is one.
        nearest: Option<String>,
    },
    /// The library was built without a feature that the built-in metric needs.
    #[error("metric `{name}` needs the `{feature}` feature of `dsrs-metrics`; enable it")]
    MissingFeature {
        /// The name of the metric.
        name: String,
        /// The feature that is missing.
        feature: &'static str,
    },
    /// A parameter is unknown, missing or invalid.
    #[error("{error}{}", did_you_mean(nearest))]
    Param {
        /// The error in the parameter.
        #[source]
        error: Box<ParamError>,
        /// The name most similar to an unknown parameter, if there is one.
        nearest: Option<String>,
    },
}

dsrs_metrics_values::debug_as_display!(CreateError);

impl CreateError {
    pub(super) fn of_params(error: ParamError) -> Self {
        let nearest = match &error {
            ParamError::Unknown { param, known, .. } => {
                suggest::nearest(param, known.iter().map(String::as_str).chain(SETTINGS))
                    .filter(|nearest| nearest != param)
                    .map(str::to_owned)
            }
            _ => None,
        };
        Self::Param {
            error: Box::new(error),
            nearest,
        }
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    let nearest = nearest.as_ref();
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, Registry};
    use crate::contract::metric::params::Params;

    #[test]
    fn a_metric_of_a_disabled_feature_is_an_error_that_names_the_feature() {
        let registry = Registry::builtin();
        for (names, feature, enabled) in FEATURES {
            for name in *names {
                let error = registry.find(name).err().map(|error| error.to_string());
                let message = format!(
                    "metric `{name}` needs the `{feature}` feature of `dsrs-metrics`; enable it"
                );
                assert_eq!(error, (!enabled).then_some(message));
            }
        }
        let unknown = Registry::new()
            .find("heritage_rag")
            .err()
            .unwrap()
            .to_string();
        assert_eq!(unknown, "unknown metric `heritage_rag`");
    }

    #[test]
    fn parameters_are_checked_when_a_metric_is_created() {
        let mut params = Params::default();
        params.insert("thresold", "0.8");
        let error = Registry::builtin()
            .create("f1", &params)
            .err()
            .unwrap()
            .to_string();
        assert!(error.starts_with("metric `f1`"), "{error}");
        assert!(error.ends_with("; did you mean `threshold`?"), "{error}");
        let mut params = Params::default();
        params.insert("strict", "maybe");
        let error = Registry::builtin()
            .create("f1", &params)
            .err()
            .unwrap()
            .to_string();
        assert_eq!(
            error,
            "metric `f1`: parameter `strict`: expected `true` or `false`, found `maybe`"
        );
    }
}
