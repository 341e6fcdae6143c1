//! The metrics of a run and their parameters.

use std::sync::Arc;

use indexmap::IndexMap;

use super::limits;
use crate::args::ScoreArguments;
use crate::core::metric::Metric;
use crate::core::metric::params::Params;
use crate::error::CliError;
use crate::hint::Hint;
use crate::metrics::registry::{Entry, Registry};

/// Creates the metrics in the order of the options, and checks that `--param` and `--fail-under`
/// name only these.
pub(crate) fn configure(
    registry: &Registry,
    args: &ScoreArguments,
) -> Result<Vec<Arc<dyn Metric>>, CliError> {
    let mut selected = IndexMap::new();
    for name in args.metrics.iter().map(|name| name.trim()) {
        let entry = registry.find(name)?;
        if selected.insert(name, (entry, Params::default())).is_some() {
            return Err(CliError::DuplicateMetric {
                name: name.to_owned(),
            });
        }
    }
    check_names(args)?;
    for param in &args.params {
        let Some((_, params)) = selected.get_mut(&*param.metric) else {
            continue;
        };
        if params.has(&param.key) {
            let (metric, key) = (param.metric.clone(), param.key.clone());
            return Err(CliError::DuplicateParam { metric, key });
        }
        params.insert(&param.key, &param.value);
    }
    let create = |(entry, params): &(&Entry, Params)| Ok(entry.create(params)?);
    let metrics = selected
        .values()
        .map(create)
        .collect::<Result<Vec<_>, CliError>>()?;
    for threshold in &args.fail_under {
        let Some(place) = selected.get_index_of(threshold.metric()) else {
            continue;
        };
        limits::check(threshold, &metrics[place].spec(), args.failure_score)?;
    }
    Ok(metrics)
}

/// Checks that the metrics which `--param` and `--fail-under` name are in the run.
fn check_names(args: &ScoreArguments) -> Result<(), CliError> {
    let known = || args.metrics.iter().map(|name| name.trim());
    let params = args.params.iter().map(|it| {
        (
            &*it.metric,
            &*it.metric,
            format!("--param {}.{}", it.metric, it.key),
        )
    });
    let limits = args
        .fail_under
        .iter()
        .map(|it| (it.metric(), &*it.name, format!("--fail-under {}", it.name)));
    match params
        .chain(limits)
        .find(|(metric, ..)| known().all(|name| name != *metric))
    {
        Some((_, name, option)) => {
            let hint = Hint::nearest(name, known()).or(Hint::Instead("add it with -m"));
            Err(CliError::NotInRun {
                option,
                name: name.to_owned(),
                hint,
            })
        }
        None => Ok(()),
    }
}
