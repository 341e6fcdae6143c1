//! The header of a log: what was evaluated, and each metric's results.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::VERSION;
use crate::contract::ScoreKind;
use crate::export::run::{ExportedRun, stem};

#[derive(Serialize)]
pub(super) struct Header {
    version: u32,
    status: &'static str,
    eval: Value,
    plan: Value,
    results: Results,
    stats: Value,
}

#[derive(Serialize)]
struct Results {
    total_samples: u64,
    completed_samples: u64,
    scores: Vec<Score>,
}

#[derive(Serialize)]
struct Score {
    name: String,
    scorer: String,
    scored_samples: u64,
    unscored_samples: u64,
    params: BTreeMap<String, String>,
    metrics: IndexMap<&'static str, Value>,
    metadata: Value,
}

impl Header {
    /// What a log contains before its samples.
    pub(super) fn start(&self) -> Value {
        json!({ "version": VERSION, "eval": self.eval, "plan": self.plan })
    }
}

/// The model of a log without an evaluated model, as inspect_ai writes it.
pub(super) fn model<'a>(run: &'a ExportedRun<'_>) -> &'a str {
    run.tag("model").unwrap_or("none/none")
}

pub(super) fn header(run: &ExportedRun<'_>) -> Header {
    let model = model(run);
    let dataset = run.dataset();
    let task = run.tag("task").unwrap_or(&dataset);
    let manifest = run.manifest().map(|manifest| &manifest.run);
    let rows = run.rows();
    let failed = manifest.map_or(0, |it| it.failed_rows);
    let [created, ended] = [run.started.unwrap_or(run.ended), run.ended].map(|time| {
        format!(
            "{}+00:00",
            &humantime::format_rfc3339_seconds(time).to_string()[..19]
        )
    });
    let tags = run.tags();
    let metadata = json!({ "label": run.label(), "tags": tags, "file": stem(run.file) });
    let scorers = run.metrics.keys().map(|name| {
        let options = run
            .identity(name)
            .map(|identity| identity.parameters().clone());
        json!({ "name": name, "options": options.unwrap_or_default() })
    });
    let eval = json!({
        "eval_id": run.uuid(&["eval"]),
        "run_id": run.uuid(&["run"]),
        "task_id": run.uuid(&["task"]),
        "created": created,
        "task": task,
        "dataset": { "name": dataset, "samples": rows },
        "model": model,
        "config": { "epochs": 1 },
        "packages": { "dsrs-metrics": run.version() },
        "metadata": metadata,
        "scorers": scorers.collect::<Vec<_>>(),
    });
    let is_complete = manifest.is_none_or(|it| it.ending == "complete");
    Header {
        version: VERSION,
        status: if is_complete { "success" } else { "cancelled" },
        eval,
        plan: json!({ "name": "plan", "steps": [], "config": {} }),
        results: Results {
            total_samples: rows,
            completed_samples: rows.saturating_sub(failed),
            scores: run.metrics.keys().map(|name| score(run, name)).collect(),
        },
        stats: json!({ "started_at": created, "completed_at": ended, "model_usage": {} }),
    }
}

/// The results of a metric. inspect_ai leaves failed samples out of its means; here they count as the failure score.
fn score(run: &ExportedRun<'_>, name: &str) -> Score {
    let figures = &run.metrics[name];
    let mean = if figures.kind == ScoreKind::Bool {
        "accuracy"
    } else {
        "mean"
    };
    let values = [
        (mean, figures.score),
        ("stderr", figures.uncertainty.stderr()),
    ];
    let value = |(name, value): (&'static str, Option<f64>)| {
        Some((name, json!({ "name": name, "value": value?, "params": {} })))
    };
    let ci95 = figures
        .uncertainty
        .ci95()
        .map(|interval| [interval.low, interval.high]);
    Score {
        name: name.to_owned(),
        scorer: name.to_owned(),
        scored_samples: figures.counts.scored + figures.counts.failed,
        unscored_samples: figures.counts.gated
            + figures.counts.skipped
            + figures.counts.abstained
            + figures.counts.not_needed
            + figures.counts.not_sampled,
        params: run
            .identity(name)
            .map(|it| it.parameters().clone())
            .unwrap_or_default(),
        metrics: values.into_iter().filter_map(value).collect(),
        metadata: json!({
            "failed": figures.counts.failed, "failure_score": run.failure_score(),
            "ci95": ci95, "ci95_method": figures.method,
            "identity": run.identity(name).map(ToString::to_string),
        }),
    }
}
