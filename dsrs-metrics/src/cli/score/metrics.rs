//! Which metrics score, and how they are configured.

use std::sync::Arc;

use indexmap::IndexMap;

use super::super::args::ScoreArguments;
use super::super::error::CliError;
use super::super::list::find;
use super::super::registry::{Entry, Registry};
use crate::core::metric::Metric;
use crate::core::params::{ParamError, Params};
use crate::text::suggest::nearest;

/// The metrics in the order in which they were asked for.
pub(super) fn configured(
    registry: &Registry,
    args: &ScoreArguments,
) -> Result<Vec<Arc<dyn Metric>>, CliError> {
    let mut chosen = IndexMap::new();
    for name in &args.metrics {
        let entry = find(registry, name.trim())?;
        if chosen.insert(name.trim(), (entry, Params::default())).is_some() {
            return Err(CliError::MetricTwice { name: name.clone() });
        }
    }
    for param in &args.params {
        let Some((_, params)) = chosen.get_mut(&*param.metric) else {
            let option = format!("--param {}.{}", param.metric, param.key);
            return Err(not_in_run(option, &param.metric, args));
        };
        params.insert(&param.key, &param.value);
    }
    let make = |(entry, params): &(&Entry, Params)| entry.make(params).map_err(bad_param);
    chosen.values().map(make).collect()
}

/// An option names a metric that is not asked for.
pub(super) fn not_in_run(option: String, name: &str, args: &ScoreArguments) -> CliError {
    let names = args.metrics.iter().map(String::as_str);
    let nearest = nearest(name, names).map(str::to_owned);
    CliError::NotInRun { option, name: name.to_owned(), nearest }
}

fn bad_param(error: ParamError) -> CliError {
    let nearest = match &error {
        ParamError::Unknown { param, known, .. } => {
            nearest(param, known.iter().map(String::as_str)).map(str::to_owned)
        }
        _ => None,
    };
    CliError::Param { error: Box::new(error), nearest }
}
