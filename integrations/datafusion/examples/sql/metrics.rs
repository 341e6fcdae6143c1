//! The option `--metric NAME=METRIC[,KEY=VALUE..]`: a built-in metric with parameters, under a name of its own; and `--offline`, for all
//! metrics.

use std::sync::Arc;

use datafusion::common::{Result, plan_err};
use datafusion::prelude::SessionContext;
use dsrs_metrics::judge::Models;
use dsrs_metrics::metrics::{CreateError, Registry};
use dsrs_metrics::{
    Metric,
    contract::{ParamError, Params, Settings},
};
use dsrs_metrics_datafusion::{MetricFunctions, RegisterMetric as _};

const OPTION: &str = "--metric";
const OFFLINE: &str = "--offline";

/// The built-in metrics, and those of the options by the names of their functions.
#[derive(Default)]
pub(crate) struct Metrics {
    named: Vec<(String, Arc<dyn Metric>)>,
    is_offline: bool,
}

/// Removes the options from the arguments, and returns their metrics.
///
/// # Errors
/// An option has no value or one of another form, or the metric cannot be created.
pub(crate) fn take_metrics(arguments: &mut Vec<String>) -> Result<Metrics, String> {
    let registry = Registry::builtin();
    let mut metrics = Metrics::default();
    while let Some(position) = arguments.iter().position(|argument| argument == OFFLINE) {
        arguments.remove(position);
        metrics.is_offline = true;
    }
    while let Some(position) = arguments.iter().position(|argument| argument == OPTION) {
        arguments.remove(position);
        if position == arguments.len() {
            return Err(format!("expected a value after {OPTION}, found none"));
        }
        let settings = metrics.settings();
        let value = arguments.remove(position);
        metrics
            .named
            .push(settings.scope_sync(|| metric(&registry, &value))?);
    }
    Ok(metrics)
}

impl Metrics {
    fn settings(&self) -> Settings {
        match self.is_offline {
            true => Settings::new().with(Models::offline()),
            false => Settings::new(),
        }
    }

    /// Registers the metrics.
    ///
    /// # Errors
    /// A function of one of the names exists.
    pub(crate) fn register(self, ctx: &SessionContext) -> Result<()> {
        let is_offline = self.is_offline;
        let set_up = |functions: MetricFunctions| {
            if is_offline {
                functions.offline()
            } else {
                functions
            }
        };
        ctx.register_all_builtin_with(set_up)?;
        for (name, metric) in self.named {
            if ctx.has_function(&name) {
                return plan_err!(
                    "{OPTION} {name}=..: the function `{name}` exists; write another name"
                );
            }
            ctx.register_metric_functions(set_up(MetricFunctions::new(metric).named(name)))?;
        }
        Ok(())
    }
}

fn metric(registry: &Registry, value: &str) -> Result<(String, Arc<dyn Metric>), String> {
    let (name, metric) = key_and_value(value)
        .ok_or_else(|| format!("expected {OPTION} NAME=METRIC[,KEY=VALUE..], found `{value}`"))?;
    let (metric, params) = metric
        .split_once(',')
        .map_or((metric, None), |(metric, params)| (metric, Some(params)));
    let created = registry.create(metric, &parameters(params.unwrap_or_default())?);
    let created = created.map_err(|error| shown(name, &error))?;
    let mut requirements = Vec::new();
    created.requirements(&mut requirements);
    // Such as an invalid regular expression, with which every row would fail.
    match requirements
        .iter()
        .find_map(|requirement| requirement.missing_reason())
    {
        Some(reason) => Err(format!("metric `{metric}`: {reason}")),
        None => Ok((name.to_owned(), created)),
    }
}

/// Returns the parameters in `KEY=VALUE,KEY=VALUE`. A value ends before the next `,KEY=`, so that it may have commas.
fn parameters(text: &str) -> Result<Params, String> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        if let Some((key, value)) = key_and_value(part) {
            if pairs.iter().any(|(other, _)| *other == key) {
                return Err(format!("expected each parameter once, found `{key}` twice"));
            }
            pairs.push((key, value.to_owned()));
        } else if let Some((_, value)) = pairs.last_mut() {
            value.push(',');
            value.push_str(part);
        } else {
            return Err(format!("expected KEY=VALUE, found `{part}`"));
        }
    }
    let mut params = Params::default();
    pairs
        .into_iter()
        .for_each(|(key, value)| params.insert(key, value));
    Ok(params)
}

/// Splits `KEY=VALUE`, whose key is a name.
fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!key.is_empty() && key.chars().all(is_name)).then_some((key, value))
}

/// Returns the message of an error, with the option of this program.
fn shown(name: &str, error: &CreateError) -> String {
    if let CreateError::Param { error, .. } = error
        && let ParamError::Missing {
            metric,
            param,
            expected,
        } = &**error
    {
        return format!(
            "metric `{metric}` requires the parameter `{param}` ({expected}); write {OPTION} {name}={metric},{param}=.."
        );
    }
    error.to_string()
}
