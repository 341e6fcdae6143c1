//! What lm-eval measured, read from `results_DATE.json` next to the samples.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::contract::{Direction, MetricIdentity, MetricSpec};
use crate::error::{FormatError, Input};
use crate::import::scores::other_mean;
use crate::import::text::{ROW_LIMIT, parse};
use crate::messages::escape;
use crate::results::{ForeignRow, ForeignRun};

/// A metric of the task, as lm-eval names it, with its filter.
pub(super) struct OfTask {
    pub(super) metric: String,
    pub(super) filter: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Results {
    model_name: Option<String>,
    config: Map<String, Value>,
    versions: Map<String, Value>,
    higher_is_better: BTreeMap<String, Value>,
    task_hashes: Map<String, Value>,
    results: Map<String, Value>,
    #[serde(rename = "n-samples")]
    samples: Map<String, Value>,
    #[serde(rename = "n-shot")]
    shots: Map<String, Value>,
    git_hash: Value,
    lm_eval_version: Value,
    chat_template_sha: Value,
}

/// Returns what was measured, and notes on what is unknown. Reads the results of the same date if the file is named as lm-eval names
/// it.
pub(super) fn read(
    input: Input<'_>,
    metrics: &IndexMap<String, OfTask>,
    rows: &[ForeignRow],
) -> Result<(ForeignRun, Vec<String>), FormatError> {
    let mut run = ForeignRun::default();
    let name = input.file.file_name().unwrap_or_default().to_string_lossy();
    let Some((task, date)) = name
        .strip_prefix("samples_")
        .and_then(|name| name.strip_suffix(".jsonl"))
        .and_then(|name| name.rsplit_once('_'))
    else {
        let task = name.trim_end_matches(".jsonl").to_owned();
        run.tags.insert("task".to_owned(), task);
        let name = "the file name is not samples_TASK_DATE.jsonl";
        return Ok((run, vec![format!("{name}: {UNKNOWN}")]));
    };
    run.tags.insert("task".to_owned(), task.to_owned());
    let path = input.file.with_file_name(format!("results_{date}.json"));
    if !path.exists() {
        let path = path.to_string_lossy();
        let note = format!("no `{}`: {UNKNOWN}", escape::name(&path));
        return Ok((run, vec![note]));
    }
    let beside = Input { file: &path };
    let text = beside.read(ROW_LIMIT as u64)?;
    let results: Results = parse(&text).map_err(|reason| beside.whole(reason))?;
    results.add_tags(task, &mut run.tags);
    run.label = run.tags.get("model").cloned();
    for (name, OfTask { metric, filter }) in metrics {
        let identity = results.identity(task, metric, filter);
        run.metrics.insert(name.clone(), identity);
    }
    Ok((run, results.differences(task, metrics, rows)))
}

/// Metrics whose result is the mean over the samples.
const MEANS: [&str; 4] = ["acc", "acc_norm", "exact_match", "em"];

/// What is unknown without the results.
const UNKNOWN: &str = "the version of the task and the direction of its metrics are unknown";

impl Results {
    /// Says where results and samples disagree.
    fn differences(
        &self,
        task: &str,
        metrics: &IndexMap<String, OfTask>,
        rows: &[ForeignRow],
    ) -> Vec<String> {
        let mut notes = Vec::new();
        let samples = self
            .samples
            .get(task)
            .and_then(|it| it["effective"].as_u64());
        let found = rows.len() as u64;
        if let Some(samples) = samples.filter(|samples| *samples != found) {
            notes.push(format!(
                "the results are for {samples} samples, but the file has {found}; copy the file again"
            ));
            return notes;
        }
        for (name, OfTask { metric, filter }) in metrics {
            let of_task = self.results.get(task).unwrap_or(&Value::Null);
            let result = &of_task[format!("{metric},{filter}")];
            let is_mean = MEANS.contains(&&**metric);
            if let Some((result, mean)) = other_mean(result, rows, name).filter(|_| is_mean) {
                notes.push(format!(
                    "the results have {result:.4} as `{}`, but the samples have {mean:.4}; they are from different runs",
                    escape::name(name)
                ));
            }
        }
        notes
    }

    fn add_tags(&self, task: &str, tags: &mut BTreeMap<String, String>) {
        let config = |key: &str| self.config.get(key).unwrap_or(&Value::Null);
        let model = match &self.model_name {
            Some(name) if !name.is_empty() => Value::from(name.clone()),
            _ => config("model").clone(),
        };
        let none = Value::Null;
        let values = [
            ("model", &model),
            ("model_source", config("model")),
            ("model_args", config("model_args")),
            ("gen_kwargs", config("gen_kwargs")),
            ("limit", config("limit")),
            ("lm_eval_version", &self.lm_eval_version),
            ("git_hash", &self.git_hash),
            ("task_hash", self.task_hashes.get(task).unwrap_or(&none)),
            ("chat_template_sha", &self.chat_template_sha),
        ];
        let values = values
            .into_iter()
            .filter_map(|(name, value)| Some((name, shown(value)?)));
        tags.extend(values.map(|(name, value)| (name.to_owned(), value)));
    }

    /// Returns the identity of a metric: its task's version, the number of examples in the prompt, and the filter.
    fn identity(&self, task: &str, metric: &str, filter: &str) -> MetricIdentity {
        let version = self
            .versions
            .get(task)
            .and_then(shown)
            .unwrap_or_else(|| "unknown".into());
        let is_better = self
            .higher_is_better
            .get(task)
            .and_then(|of_task| of_task.get(metric));
        let mut spec = MetricSpec::new(metric);
        spec.version = &version;
        if is_better.and_then(Value::as_bool) == Some(false) {
            spec.direction = Direction::LowerIsBetter;
        }
        let shots = self.shots.get(task).and_then(shown);
        let parameters = [
            ("task", Some(task.to_owned())),
            ("filter", Some(filter.to_owned())),
            ("num_fewshot", shots),
        ];
        let parameters = parameters
            .into_iter()
            .filter_map(|(key, value)| Some((format!("lm_eval.{key}"), value?)));
        MetricIdentity::of_other_program(&spec, parameters.collect())
    }
}

/// Returns a value as a string, or `None` if it is null or empty.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        other => Some(other.to_string()).filter(|text| text != "{}"),
    }
}
