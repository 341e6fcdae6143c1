//! The metrics of a run and their parameters.

use std::sync::Arc;

use indexmap::IndexMap;

use super::fail_under;
use crate::args::ScoreArguments;
use crate::core::metric::Metric;
use crate::core::metric::params::Params;
use crate::error::CliError;
use crate::hint::Hint;
use crate::metrics::registry::{Entry, Registry};

/// Creates the metrics in the order of the options, and checks that `--param` and `--fail-under`
/// name only these.
pub(super) fn configure(
    registry: &Registry,
    args: &ScoreArguments,
) -> Result<Vec<Arc<dyn Metric>>, CliError> {
    let mut selected = IndexMap::new();
    for name in args.metrics.iter().map(|name| name.trim()) {
        let entry = registry.find(name)?;
        if selected.insert(name, (entry, Params::default())).is_some() {
            return Err(CliError::DuplicateMetric { name: name.to_owned() });
        }
    }
    for param in &args.params {
        let Some((_, params)) = selected.get_mut(&*param.metric) else {
            let option = format!("--param {}.{}", param.metric, param.key);
            return Err(not_in_run(option, &param.metric, args));
        };
        if params.has(&param.key) {
            let (metric, key) = (param.metric.clone(), param.key.clone());
            return Err(CliError::DuplicateParam { metric, key });
        }
        params.insert(&param.key, &param.value);
    }
    let create = |(entry, params): &(&Entry, Params)| Ok(entry.create(params)?);
    let metrics = selected.values().map(create).collect::<Result<Vec<_>, CliError>>()?;
    for threshold in &args.fail_under {
        let Some(place) = selected.get_index_of(threshold.metric()) else {
            let option = format!("--fail-under {}", threshold.name);
            return Err(not_in_run(option, &threshold.name, args));
        };
        fail_under::check(threshold, &metrics[place].spec(), args.failure_score)?;
    }
    Ok(metrics)
}

fn not_in_run(option: String, name: &str, args: &ScoreArguments) -> CliError {
    let known = args.metrics.iter().map(|name| name.trim());
    let hint = Hint::nearest(name, known).or(Hint::Instead("add it with -m"));
    CliError::NotInRun { option, name: name.to_owned(), hint }
}
