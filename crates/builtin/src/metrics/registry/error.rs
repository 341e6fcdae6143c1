//! Errors of a registry.

use super::settings::SETTINGS;
use crate::core::metric::params::ParamError;
use crate::messages::suggest;

/// Why a metric cannot be added to a [`Registry`](super::Registry).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Another metric has the same name.
    #[error("duplicate metric name `{name}`; rename one with #[metric(name = \"..\")]")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The name contains characters that the options of a command cannot contain.
    #[error(
        "invalid metric name `{name}`: expected letters, digits, `_` and `-`; rename the metric"
    )]
    InvalidName {
        /// The name.
        name: String,
    },
}

dsrs_metrics_values::debug_as_display!(RegistryError);

/// Why a [`Registry`](super::Registry) cannot create a metric.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The registry has no metric of this name.
    #[error("unknown metric `{name}`{}", did_you_mean(nearest))]
    UnknownMetric {
        /// The name.
        name: String,
        /// The most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// The library was built without a feature that the built-in metric needs.
    #[error("metric `{name}` needs the feature `{feature}` of the crate `dsrs-metrics`; enable it")]
    MissingFeature {
        /// The name of the metric.
        name: String,
        /// The feature.
        feature: &'static str,
    },
    /// A parameter is unknown, missing or invalid.
    #[error("{error}{}", did_you_mean(nearest))]
    Param {
        /// The error.
        #[source]
        error: Box<ParamError>,
        /// The parameter that is most similar to an unknown one, if one is similar.
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
    nearest
        .as_ref()
        .map(|nearest| format!("; did you mean `{nearest}`?"))
        .unwrap_or_default()
}
