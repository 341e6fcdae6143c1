//! Metrics by name: `metric(name, **params)` and `metrics()`.

use std::sync::{Arc, OnceLock};

use dsrs_metrics::judge::Models;
use dsrs_metrics::metrics::{CreateError, Registry};
use dsrs_metrics::{
    Metric as _,
    contract::{ParamError, Params, Requirement, Settings, Side},
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::Metric;
use super::feedback::prediction_class;
use crate::errors::{guarded, parameter_error, wrong_type};
use crate::json;
use crate::models::models;
use crate::row_reader::RowReader;

/// Returns the registry of the built-in metrics.
pub(super) fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(Registry::builtin)
}

/// Returns the names of the built-in metrics.
///
/// >>> "f1" in metrics()
/// True
#[pyfunction]
pub(crate) fn metrics() -> Vec<&'static str> {
    registry().names().collect()
}

/// Creates a built-in metric: a callable for `dspy.Evaluate` and the optimizers of DSPy.
///
/// `params` are the parameters of the metric, and `threshold`, `strict` and `cost`, which every metric has. `lm` is the
/// language model of a judge: "provider:model", or a callable such as `dspy.LM`, which is called with `messages=` and
/// returns a string or a list of one; the default is the model that the variable DSRS_LM names. With `offline`, a judge calls
/// no model and scores by token overlap, and the details of its scores say so. With `feedback`, a call
/// returns a `dspy.Prediction` with `score`, `feedback` and `objective_scores`, as `Metric.with_feedback` describes.
///
/// Raises `ParameterError`, a `ValueError`, for an unknown name or parameter, for an invalid value, and for a judge without a
/// model.
///
/// >>> f1 = metric("f1", threshold=0.8)
/// >>> gold, pred = {"answer": "Paris"}, {"answer": "in Paris"}
/// >>> round(f1(gold, pred), 2)
/// 0.67
/// >>> f1(gold, pred, trace=[])
/// False
#[pyfunction]
#[pyo3(signature = (name, /, *, lm=None, offline=false, feedback=false, **params))]
pub(crate) fn metric(
    py: Python<'_>,
    name: &str,
    lm: Option<Bound<'_, PyAny>>,
    offline: bool,
    feedback: bool,
    params: Option<&Bound<'_, PyDict>>,
) -> PyResult<Metric> {
    guarded(py, name, || {
        if feedback {
            prediction_class(py)?;
        }
        let given = match params {
            Some(params) => params.copy()?,
            None => PyDict::new(py),
        };
        let created = registry().create(name, &texts(name, &given)?);
        let metric = created.map_err(|error| parameter_error(py, name, shown(&error)))?;
        let models = match &lm {
            Some(_) if offline => {
                let message = "expected `lm` or `offline=True`, found both; remove one of them";
                return Err(parameter_error(
                    py,
                    name,
                    format!("metric `{name}`: {message}"),
                ));
            }
            Some(lm) => Some(models(name, lm)?),
            None => offline.then(Models::offline),
        };
        let settings = models
            .map(|models| Settings::new().with(models))
            .unwrap_or_default();
        let asked = (lm.is_some(), offline);
        check_models(name, &metric, &settings, asked)
            .map_err(|message| parameter_error(py, name, message))?;
        let readers =
            Arc::new([Side::Gold, Side::Pred].map(|side| reader(py, &metric, side, &given)));
        let asked = (lm.map(Bound::unbind), offline);
        Ok(Metric::new(
            metric,
            readers,
            settings,
            asked,
            given.unbind(),
            feedback,
        ))
    })
}

/// Checks that the metric can score rows, and that a judge has a model or was asked to score offline. `asked` is whether `lm` and
/// `offline` are set.
fn check_models(
    name: &str,
    metric: &Arc<dyn dsrs_metrics::Metric>,
    settings: &Settings,
    asked: (bool, bool),
) -> Result<(), String> {
    let mut requirements = Vec::new();
    settings
        .clone()
        .scope_sync(|| metric.requirements(&mut requirements));
    if let Some(missing) = requirements.iter().find(|it| it.missing_reason().is_some()) {
        return Err(match missing.missing_reason() {
            Some(reason) if !missing.needs_model() => format!("metric `{name}`: {reason}"),
            _ => format!(
                "metric `{name}` needs a language model; write metric(\"{name}\", lm=\"provider:model\"), set DSRS_LM=provider:model, or write metric(\"{name}\", offline=True) to score by token overlap instead"
            ),
        });
    }
    match asked {
        (true, _) if requirements.iter().all(|it| it.lm().is_none()) => Err(format!(
            "metric `{name}` calls no language model; remove `lm`"
        )),
        (_, true) if !requirements.iter().any(Requirement::is_offline) => Err(format!(
            "metric `{name}` calls no language model; remove `offline`"
        )),
        _ => Ok(()),
    }
}

/// Creates the reader of one side of the rows.
fn reader(
    py: Python<'_>,
    metric: &Arc<dyn dsrs_metrics::Metric>,
    side: Side,
    given: &Bound<'_, PyDict>,
) -> RowReader {
    let spec = metric.spec();
    RowReader::new(py, &spec, side, |position| {
        let param = spec
            .params
            .iter()
            .find(|param| param.names.contains(&(side, position)))?;
        given.get_item(param.name).ok()??.extract().ok()
    })
}

/// Writes parameters as the registry reads them: a string as it is, anything else as JSON.
fn texts(metric: &str, given: &Bound<'_, PyDict>) -> PyResult<Params> {
    let py = given.py();
    let mut params = Params::default();
    for (name, value) in given.iter() {
        let name = name
            .cast::<PyString>()
            .map_err(|_| wrong_type("str", &name))?;
        let name = name.to_str()?;
        let value = json::from_python(&value).map_err(|error| {
            let reason = error.value(py);
            parameter_error(
                py,
                metric,
                format!("metric `{metric}`: parameter `{name}`: {reason}"),
            )
        })?;
        let text = match value {
            // A string in quotes would be read as JSON, without them.
            serde_json::Value::String(text) if !text.starts_with('"') => text,
            value => value.to_string(),
        };
        params.insert(name, text);
    }
    Ok(params)
}

/// Returns the message of an error for Python: parameters are arguments, and features are those of this module.
fn shown(error: &CreateError) -> String {
    match error {
        CreateError::MissingFeature { name, feature } => format!(
            "metric `{name}` needs the `{feature}` feature, which is not enabled in this build; build it with `maturin build --features {feature}`"
        ),
        CreateError::Param { error: missing, .. } => match &**missing {
            ParamError::Missing {
                metric,
                param,
                expected,
            } => format!(
                "metric `{metric}` requires the parameter `{param}` ({expected}); write metric(\"{metric}\", {param}=..)"
            ),
            _ => error.to_string(),
        },
        _ => error.to_string(),
    }
}
