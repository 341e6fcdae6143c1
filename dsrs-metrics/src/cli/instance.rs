//! Threshold, strictness and cost of a metric: `--param NAME.threshold=0.8`, `NAME.strict=true`, `NAME.cost="5 sat"`.
//!
//! A parameter of the metric with one of these names takes precedence.

use std::fmt::Display;
use std::str::FromStr;

use super::args::money;
use crate::core::instance::{Instance, InstanceSettings};
use crate::core::params::{ParamError, Params};
use crate::core::spec::MetricSpec;

/// The settings that every metric has.
pub(super) const SETTINGS: [&str; 3] = ["threshold", "strict", "cost"];

/// Reads the settings of a metric with the spec `declared`, and returns them with the remaining parameters.
///
/// # Errors
/// [`ParamError::WrongType`].
pub(super) fn settings(
    params: &Params,
    declared: &MetricSpec<'static>,
) -> Result<(Option<InstanceSettings>, Params), ParamError> {
    let mut rest = params.clone();
    let mut take = |name| if has_param(declared, name) { None } else { rest.remove(name) };
    let (threshold, strict, cost) = (take("threshold"), take("strict"), take("cost"));
    let name = declared.name;
    let settings = InstanceSettings {
        threshold: read(name, "threshold", threshold, "a number, as in 0.8", f64::from_str)?,
        strict: read(name, "strict", strict, "`true` or `false`", bool::from_str)?,
        cost_msats: read(
            name,
            "cost",
            cost,
            "a number of msat or sat, as in \"5000 msat\"",
            money,
        )?,
    };
    rest.cost_msats = settings.cost_msats;
    Ok(((settings != InstanceSettings::default()).then_some(settings), rest))
}

/// Applies the settings to a metric.
///
/// # Errors
/// [`ParamError::Setting`] for a setting that the metric does not support.
pub(super) fn apply<M>(
    metric: M,
    declared: MetricSpec<'static>,
    settings: InstanceSettings,
) -> Result<Instance<M>, ParamError> {
    Instance::new(metric, declared, settings).checked().map_err(|error| ParamError::Setting {
        metric: declared.name.to_owned(),
        setting: error.setting(),
        reason: error.to_string(),
    })
}

/// Rejects the settings of a metric that was created in code.
///
/// # Errors
/// [`ParamError::Setting`] for the first of them.
pub(super) fn reject(params: &Params, spec: &MetricSpec<'_>) -> Result<(), ParamError> {
    let given = |name: &&str| params.has(name) && !has_param(spec, name);
    let Some(setting) = SETTINGS.into_iter().find(given) else { return Ok(()) };
    Err(ParamError::Setting {
        metric: spec.name.to_owned(),
        setting,
        reason:
            "expected a metric of `Registry::add`, found one that was created in code; set it there"
                .to_owned(),
    })
}

fn has_param(spec: &MetricSpec<'_>, name: &str) -> bool {
    spec.params.iter().any(|param| param.name == name)
}

fn read<T, E: Display>(
    metric: &str,
    setting: &str,
    text: Option<String>,
    expected: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, ParamError> {
    let Some(text) = text else { return Ok(None) };
    match parse(text.trim()) {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(ParamError::WrongType {
            metric: metric.to_owned(),
            param: setting.to_owned(),
            expected: expected.to_owned(),
            found: text,
            reason: String::new(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{reject, settings};
    use crate::core::params::Params;
    use crate::core::spec::{MetricSpec, ParamSpec};
    use crate::core::value_type::TypeHelp;

    const THRESHOLD: ParamSpec<'static> = ParamSpec {
        name: "threshold",
        ty: "f64",
        help: TypeHelp::NONE,
        default: None,
        doc: "",
        names: &[],
    };

    fn params(name: &str, value: &str) -> Params {
        let mut params = Params::default();
        params.insert(name, value);
        params
    }

    #[test]
    fn a_parameter_of_the_metric_takes_precedence_over_a_setting() {
        let spec = MetricSpec::new("x").with_params(&[THRESHOLD]);
        let given = params("threshold", "0.5");
        let (none, rest) = settings(&given, &spec).unwrap();
        assert!(none.is_none() && rest.has("threshold"));
        assert_eq!(reject(&given, &spec), Ok(()));
        let (some, rest) = settings(&given, &MetricSpec::new("x")).unwrap();
        assert_eq!(some.unwrap().threshold, Some(0.5));
        assert!(!rest.has("threshold"));
    }

    #[test]
    fn a_metric_that_was_created_in_code_has_its_settings_there() {
        let error = reject(&params("strict", "true"), &MetricSpec::new("x")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "metric `x`: `strict`: expected a metric of `Registry::add`, found one that was created in code; set it there"
        );
    }
}
