//! What lm-eval measured, read from `results_DATE.json` next to the samples.

use indexmap::IndexMap;
use serde_json::Value;

use super::NO_FILTER;
use crate::contract::{Direction, MetricIdentity, MetricSpec};
use crate::error::{FormatError, Input};
use crate::import::format::{Converted, Epochs};
use crate::import::scores::other_mean;
use crate::import::table::{Table, shown};
use crate::import::text::{ROW_LIMIT, parse};
use crate::messages::escape;
use crate::results::ForeignRow;

/// Metrics whose result is the mean over the samples.
const MEANS: [&str; 4] = ["acc", "acc_norm", "exact_match", "em"];

/// What is unknown without the results.
const UNKNOWN: &str = "the version of the task and the direction of its metrics are unknown";

/// The tags of a run, and where the results have them.
const TAGS: [(&str, &str); 8] = [
    ("model", "/model_name /config/model"),
    ("model_source", "/config/model"),
    ("model_args", "/config/model_args"),
    ("gen_kwargs", "/config/gen_kwargs"),
    ("limit", "/config/limit"),
    ("lm_eval_version", "/lm_eval_version"),
    ("git_hash", "/git_hash"),
    ("chat_template_sha", "/chat_template_sha"),
];

/// The results of a task.
struct OfTask<'a> {
    task: &'a str,
    results: &'a Value,
}

/// Adds what was measured, and notes on what is unknown. Reads the results of the same date if the file is named as
/// lm-eval names it.
pub(super) fn describe(input: Input<'_>, mut table: Table) -> Result<Converted, FormatError> {
    let name = input.file.file_name().unwrap_or_default().to_string_lossy();
    let of_lm_eval = name
        .strip_prefix("samples_")
        .and_then(|name| name.strip_suffix(".jsonl"))
        .and_then(|name| name.rsplit_once('_'));
    let (task, date) = of_lm_eval.unwrap_or((name.trim_end_matches(".jsonl"), ""));
    table.run.tags.insert("task".to_owned(), task.to_owned());
    let path = input.file.with_file_name(format!("results_{date}.json"));
    if of_lm_eval.is_none() || !path.exists() {
        let why = match of_lm_eval {
            None => "the file name is not samples_TASK_DATE.jsonl".to_owned(),
            Some(_) => format!("no `{}`", escape::name(&path.to_string_lossy())),
        };
        table.notes.insert(0, format!("{why}: {UNKNOWN}"));
        let mut converted = table.finish(Epochs::Repeats);
        converted.run.metrics.clear();
        return Ok(converted);
    }
    let beside = Input { file: &path };
    let text = beside.read(ROW_LIMIT as u64)?;
    let results: Value = parse(&text).map_err(|reason| beside.whole(reason))?;
    let of_task = OfTask {
        task,
        results: &results,
    };
    let tags = TAGS
        .iter()
        .filter_map(|(name, pointers)| Some(((*name).to_owned(), shown(&results, pointers)?)));
    table.run.tags.extend(tags);
    let hash = of_task.shown("task_hashes");
    let hash = hash.map(|hash| ("task_hash".to_owned(), hash));
    table.run.tags.extend(hash);
    table.run.label = table.run.tags.get("model").cloned();
    let metrics = table.metrics().clone();
    let mut converted = table.finish_with(Epochs::Repeats, |metric, filter| {
        of_task.identity(metric, filter.unwrap_or(NO_FILTER))
    });
    let differences = of_task.differences(&metrics, &converted.rows);
    converted.notes.splice(..0, differences);
    Ok(converted)
}

impl OfTask<'_> {
    /// Returns the part about the task in a map by tasks, or null.
    fn part(&self, key: &str) -> &Value {
        &self.results[key][self.task]
    }

    fn shown(&self, key: &str) -> Option<String> {
        shown(self.part(key), "")
    }

    /// Says where results and samples disagree.
    fn differences(
        &self,
        metrics: &IndexMap<String, (String, Option<String>)>,
        rows: &[ForeignRow],
    ) -> Vec<String> {
        let samples = self.part("n-samples")["effective"].as_u64();
        let found = rows.len() as u64;
        if let Some(samples) = samples.filter(|samples| *samples != found) {
            return vec![format!(
                "the results are for {samples} samples, but the file has {found}; copy the file again"
            )];
        }
        let means = metrics
            .iter()
            .filter(|(_, (metric, _))| MEANS.contains(&&**metric));
        let difference = |(name, (metric, filter)): (&String, &(String, Option<String>))| {
            let filter = filter.as_deref().unwrap_or(NO_FILTER);
            let result = &self.part("results")[format!("{metric},{filter}")];
            let (result, mean) = other_mean(result, rows, name)?;
            Some(format!(
                "the results have {result:.4} as `{}`, but the samples have {mean:.4}; they are from different runs",
                escape::name(name)
            ))
        };
        means.filter_map(difference).collect()
    }

    /// Returns the identity of a metric: its task's version, the number of examples in the prompt, and the filter.
    fn identity(&self, metric: &str, filter: &str) -> MetricIdentity {
        let version = self.shown("versions");
        let version = version.unwrap_or_else(|| "unknown".to_owned());
        let mut spec = MetricSpec::new(metric);
        spec.version = &version;
        if self.part("higher_is_better")[metric] == false {
            spec.direction = Direction::LowerIsBetter;
        }
        let parameters = [
            ("task", Some(self.task.to_owned())),
            ("filter", Some(filter.to_owned())),
            ("num_fewshot", self.shown("n-shot")),
        ];
        let parameters = parameters
            .into_iter()
            .filter_map(|(key, value)| Some((format!("lm_eval.{key}"), value?)));
        MetricIdentity::of_other_program(&spec, parameters.collect())
    }
}
