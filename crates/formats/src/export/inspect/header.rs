//! The header of a log: what was evaluated, and each metric's results.

use serde_json::{Map, Value, json};

use super::VERSION;
use crate::contract::ScoreKind;
use crate::export::run::{ExportedRun, stem};

/// The model of a log without an evaluated model, as inspect_ai writes it.
pub(super) fn model<'a>(run: &'a ExportedRun<'_>) -> &'a str {
    run.tag("model").unwrap_or("none/none")
}

pub(super) fn header(run: &ExportedRun<'_>) -> Value {
    let dataset = run.dataset();
    let manifest = run.manifest().map(|manifest| &manifest.run);
    let is_complete = manifest.is_none_or(|it| it.ending == "complete");
    let rows = run.rows();
    let failed = manifest.map_or(0, |it| it.failed_rows);
    let [created, ended] = [run.started.unwrap_or(run.ended), run.ended].map(|time| {
        let time = humantime::format_rfc3339_seconds(time).to_string();
        format!("{}+00:00", &time[..19])
    });
    let scorers = run.metrics.keys();
    let scorers = scorers.map(|name| json!({ "name": name, "options": run.parameters(name) }));
    let scores = run.metrics.keys().map(|name| score(run, name));
    json!({
        "version": VERSION,
        "status": if is_complete { "success" } else { "cancelled" },
        "eval": {
            "eval_id": run.uuid(&["eval"]),
            "run_id": run.uuid(&["run"]),
            "task_id": run.uuid(&["task"]),
            "created": created,
            "task": run.tag("task").unwrap_or(&dataset),
            "dataset": { "name": dataset, "samples": rows },
            "model": model(run),
            "config": { "epochs": 1 },
            "packages": { "dsrs-metrics": run.version() },
            "metadata": { "label": run.label(), "tags": run.tags(), "file": stem(run.file) },
            "scorers": scorers.collect::<Value>(),
        },
        "plan": { "name": "plan", "steps": [], "config": {} },
        "results": {
            "total_samples": rows,
            "completed_samples": rows.saturating_sub(failed),
            "scores": scores.collect::<Value>(),
        },
        "stats": { "started_at": created, "completed_at": ended, "model_usage": {} },
    })
}

/// The results of a metric. inspect_ai leaves failed samples out of its means; here they count as the failure score.
fn score(run: &ExportedRun<'_>, name: &str) -> Value {
    let figures = &run.metrics[name];
    let counts = figures.counts;
    let mean = match figures.kind {
        ScoreKind::Bool => "accuracy",
        _ => "mean",
    };
    let mut metrics = Map::new();
    for (name, value) in [
        (mean, figures.score),
        ("stderr", figures.uncertainty.stderr()),
    ] {
        let metric = value.map(|value| json!({ "name": name, "value": value, "params": {} }));
        metrics.extend(metric.map(|metric| (name.to_owned(), metric)));
    }
    let ci95 = figures.uncertainty.ci95();
    json!({
        "name": name,
        "scorer": name,
        "scored_samples": counts.scored + counts.failed,
        "unscored_samples": counts.gated + counts.skipped + counts.abstained + counts.not_needed + counts.not_sampled,
        "params": run.parameters(name),
        "metrics": metrics,
        "metadata": {
            "failed": counts.failed, "failure_score": run.failure_score(),
            "ci95": ci95.map(|interval| [interval.low, interval.high]), "ci95_method": figures.method,
            "identity": run.identity(name).map(ToString::to_string),
        },
    })
}
