//! `rescore`: scores the predictions of the baseline again with this run's metrics.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::baseline::Baseline;
use super::figures::complete;
use crate::contract::Pair;
use crate::evaluate::EvaluateBuilder;
use crate::evaluate::report::ResultRow;
use crate::messages::escape;
use crate::results::Results;

/// Scores the predictions of a baseline again with the metrics that call no model. Returns lines about the metrics.
pub(super) type Rescore<G, P> =
    fn(EvaluateBuilder<G, P>, &mut Baseline, &Runtime) -> Result<Vec<String>, String>;

/// See [`Rescore`].
pub(super) fn rescore<G, P>(
    evaluate: EvaluateBuilder<G, P>,
    baseline: &mut Baseline,
    runtime: &Runtime,
) -> Result<Vec<String>, String>
where
    G: Serialize + DeserializeOwned + Send + Sync + 'static,
    P: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let failed = |reason: String| {
        format!(
            "the baseline cannot be rescored: {reason}; accept a new baseline, or remove `rescore`"
        )
    };
    let (evaluate, with_models) = evaluate.without_models();
    let mut lines: Vec<String> = with_models.iter().map(|name| kept(name)).collect();
    let pairs = baseline
        .results
        .rows()
        .iter()
        .filter_map(pair)
        .collect::<Result<Vec<_>, _>>();
    let pairs: Vec<Pair<G, P>> = pairs.map_err(failed)?;
    if pairs.is_empty() {
        return Err(failed("it has no predictions".to_owned()));
    }
    if evaluate.metric_specs().is_empty() {
        return Ok(lines);
    }
    let result = runtime
        .block_on(evaluate.score(pairs))
        .map_err(|error| failed(error.to_string()))?;
    complete(&result).map_err(failed)?;
    let scored = Results::of(&result).map_err(|error| failed(error.to_string()))?;
    let rescored = baseline.results.rescored(&scored);
    let rescored = rescored.map_err(|error| failed(error.to_string()))?;
    let line = |name| rescored_line(name, &baseline.results, &rescored);
    lines.extend(result.metric_names().map(line));
    baseline.results = rescored;
    Ok(lines)
}

/// Returns the gold row and prediction of a row; `None` if its program failed.
fn pair<G: DeserializeOwned, P: DeserializeOwned>(
    row: &ResultRow,
) -> Option<Result<Pair<G, P>, String>> {
    let (gold, pred) = (row.gold.as_ref()?, row.pred.as_ref()?);
    let gold = read(row, "gold row", gold);
    Some(gold.and_then(|gold| Ok(Pair::new(&*row.id, gold, read(row, "prediction", pred)?))))
}

fn read<T: DeserializeOwned>(row: &ResultRow, what: &str, value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| {
        format!(
            "cannot read the {what} of `{}`: {error}",
            escape::name(&row.id)
        )
    })
}

fn rescored_line(metric: &str, old: &Results, new: &Results) -> String {
    let score = |of: &Results, id: &str| {
        of.row(id)?
            .scores
            .get(metric)
            .map(|it| (it.outcome, it.value, it.passed))
    };
    let rows = old.rows();
    let changed = rows
        .iter()
        .filter(|row| score(old, &row.id) != score(new, &row.id))
        .count();
    format!(
        "baseline rescored with the new code: {}, {changed} of {} rows changed",
        escape::name(metric),
        rows.len()
    )
}

fn kept(metric: &str) -> String {
    format!(
        "baseline not rescored: {} calls a model, so it keeps its scores",
        escape::name(metric)
    )
}
