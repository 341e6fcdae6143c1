//! Finds a run's judges in its manifest.

use std::path::Path;
use std::sync::Arc;

use super::RejudgeArguments;
use crate::args::{Param, ScoreArguments};
use crate::contract::{Example, Metric, MetricIdentity, Prediction};
use crate::messages::escape;
use crate::messages::suggest::known_names;
use crate::metrics::Registry;
use crate::metrics::registry::Entry;
use crate::output::{Result, err, of_metric};
use crate::results::{Results, RunManifest};

/// The panel parameters that the new model replaces.
const OF_PANEL: [&str; 2] = ["models", "quorum"];

/// The settings of a metric that are not parameters of its type.
const SETTINGS: [&str; 2] = ["threshold", "strict"];

/// Returns arguments for `score` that run the run's judges with their parameters.
pub(super) fn arguments(
    registry: &Registry,
    run: &Results,
    args: &RejudgeArguments,
) -> Result<ScoreArguments> {
    let Some(manifest) = run.manifest().map(|manifest| &manifest.run) else {
        return Err(err!(
            "{}: the judges are unknown: {}; restore the manifest, or name the judges: `score RUN -m NAME --lm NEW --out NEW.jsonl`, then `compare`",
            args.run.display(),
            run.unknown_identity().unwrap_or_default()
        ));
    };
    let metrics = judges(manifest, &args.run, &args.metrics)?;
    let mut params = args.params.clone();
    for name in &metrics {
        let entry = registry.find(name).map_err(of_metric)?;
        let old = &manifest.metrics[name];
        params.extend(parameters(name, old, entry, &args.params));
    }
    Ok(ScoreArguments {
        data: vec![args.run.clone()],
        metrics,
        params,
        out: args.out.clone(),
        with_rows: args.out.is_some(),
        label: manifest.label.clone(),
        tags: manifest.tags.clone().into_iter().collect(),
        failure_score: manifest.failure_score,
        repeats: manifest.repeats,
        group: manifest.group.clone(),
        json: args.json,
        options: args.options.clone(),
        ..ScoreArguments::default()
    })
}

/// Returns the parameters of a judge in the run, except those that the user set.
fn parameters(name: &str, old: &MetricIdentity, entry: &Entry, set: &[Param]) -> Vec<Param> {
    let spec = entry.spec();
    let declared = serde_json::to_value(spec).unwrap_or_default();
    // A setting is passed only if it differs from the declaration, because not every metric supports it.
    let is_declared = |key: &str, value: &str| {
        let value = serde_json::from_str(value).ok();
        SETTINGS.contains(&key) && declared.get(key) == value.as_ref()
    };
    let is_set = |key: &str| set.iter().any(|it| it.metric == name && it.key == key);
    let keys = spec.params.iter().map(|param| param.name).chain(SETTINGS);
    let keys = keys.filter(|key| !OF_PANEL.contains(key) && !is_set(key));
    let param = |key: &str| {
        let value = old.parameter(key);
        Some(Param {
            metric: name.to_owned(),
            key: key.to_owned(),
            value: value.filter(|value| !is_declared(key, value))?,
        })
    };
    keys.filter_map(param).collect()
}

/// Returns all of the run's judges, or only the named ones.
fn judges(manifest: &RunManifest, file: &Path, named: &[String]) -> Result<Vec<String>> {
    let metrics = manifest.metrics.iter();
    let judges = metrics.filter(|(_, identity)| !identity.models().is_empty());
    let judges: Vec<String> = judges.map(|(name, _)| name.clone()).collect();
    if judges.is_empty() {
        return Err(err!(
            "{}: expected a metric that calls a model, found none; to add a metric, run `score RUN -m NAME`",
            file.display()
        ));
    }
    match named.iter().find(|name| !judges.contains(name)) {
        _ if named.is_empty() => Ok(judges),
        None => Ok(named.to_vec()),
        Some(name) => {
            let known = known_names(name, judges.iter().map(String::as_str));
            let (file, name) = (file.display(), escape::name(name));
            Err(err!("{file}: `{name}` is not a judge in the run{known}"))
        }
    }
}

/// Checks that the judges differ from the run's judges only in their model.
pub(super) fn check(run: &Results, metrics: &[Arc<dyn Metric>], names: &[String]) -> Result<()> {
    for (name, metric) in names.iter().zip(metrics) {
        let Some(old) = run.manifest().and_then(|it| it.run.metrics.get(name)) else {
            continue;
        };
        let new = MetricIdentity::of::<Example, Prediction>(&**metric);
        // A prompt may depend on the model, and the comparison reports that the code changed.
        let is_of_model = |place: &str| {
            let mut keys = OF_PANEL.iter();
            let of_panel = keys.any(|key| place.ends_with(&format!(".{key}`")));
            ["`models`", "`prompts`", "`cost_msats`", "`code`"].contains(&place) || of_panel
        };
        let differences = old.differences(&new);
        if let Some(other) = differences.iter().find(|it| !is_of_model(&it.place)) {
            let (shown, run) = (escape::name(name), run.name());
            let (place, expected, found) = (&other.place, &other.expected, &other.found);
            return Err(err!(
                "`{shown}` is not the same metric as in {run}: {place} is {expected} in the run, but {found} here; if this is a parameter, pass --param {name}.KEY=VALUE; otherwise select only the other metrics with -m"
            ));
        }
    }
    Ok(())
}
