//! Imports samples from lm-eval.
//!
//! Samples are in `samples_TASK_DATE.jsonl`, and results are in `results_DATE.json` next to it.
//!
//! The files are written by
//! <https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/loggers/evaluation_tracker.py>. Each line
//! contains one document under one filter. The lines are grouped by filter.

use std::collections::{BTreeMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::table::{Table, TableRow, by_id, put, shown};
use super::text::{MAX_FILE, ROW_LIMIT, Unique, lines, parse};
use crate::contract::{Direction, MetricIdentity, MetricSpec};
use crate::messages::escape;
use crate::{FormatError, Input};

/// The filter name for tasks without filters.
const NO_FILTER: &str = "none";

/// A document's samples by filter.
type Samples = BTreeMap<usize, Sample>;

pub(super) fn import(input: Input<'_>) -> Result<Table, FormatError> {
    let (documents, filters) = read(input)?;
    // The values of other metrics aren't numbers; for example, some are pairs used to compute a score over all rows.
    let mut with_numbers = HashSet::new();
    for (filter, sample) in documents.values().flatten() {
        let scores = sample.scores().into_iter();
        let numbers = scores.filter(|(_, value)| value.is_number() || value.is_boolean());
        with_numbers.extend(numbers.map(|(metric, _)| (metric.to_owned(), *filter)));
    }
    let mut skipped = IndexSet::new();
    let mut table = Table::default();
    table.is_complete = true;
    for (id, samples) in documents {
        let mut row = TableRow::new(id);
        let mut answers = Map::new();
        for (filter, mut sample) in samples {
            let name = &filters[filter];
            for (metric, value) in sample.scores() {
                if with_numbers.contains(&(metric.to_owned(), filter)) {
                    let element = Some(name).filter(|it| filters.len() > 1 || *it != NO_FILTER);
                    row.score(metric, value.clone()).element = element.cloned();
                } else {
                    skipped.insert(metric.to_owned());
                }
            }
            let pred = sample.prediction();
            let answer = pred.get("answer").cloned().unwrap_or_default();
            if answers.is_empty() {
                row.pred = pred;
                sample.add_gold(&mut row);
            }
            answers.insert(name.clone(), answer);
        }
        if answers.len() > 1 {
            row.pred.insert("filters".to_owned(), answers.into());
        }
        table.add(input, row)?;
    }
    if table.metrics().is_empty() {
        let note = "no metric has a numeric value in any sample";
        table.notes.push(note.to_owned());
    }
    skipped.retain(|skipped| with_numbers.iter().all(|(metric, _)| metric != skipped));
    if !skipped.is_empty() {
        table.notes.push(format!(
            "left out, because their values are not numbers: {}",
            escape::names(skipped.iter().map(String::as_str))
        ));
    }
    describe(input, table)
}

/// Reads each document's samples, and the filters in the order of the file.
fn read(input: Input<'_>) -> Result<(IndexMap<String, Samples>, IndexSet<String>), FormatError> {
    let (mut documents, mut filters) = (IndexMap::<_, Samples>::new(), IndexSet::new());
    let bytes = input.read(MAX_FILE)?;
    for (number, line) in lines(&bytes) {
        let at = format_args!("line {number}");
        let parsed = parse::<Sample>(line).and_then(|mut sample| Ok((sample.id()?, sample)));
        let (id, mut sample) = parsed.map_err(|reason| input.invalid(at, reason).or_other())?;
        let filter = sample.filter.take();
        let (filter, _) = filters.insert_full(filter.unwrap_or_else(|| NO_FILTER.to_owned()));
        let samples = documents.entry(id.clone()).or_default();
        if samples.insert(filter, sample).is_some() {
            let id = escape::name(&id);
            let reason = format_args!(
                "duplicate sample for document `{id}`; keep the samples of only one task"
            );
            return Err(input.invalid(at, reason));
        }
    }
    if documents.is_empty() {
        return Err(input.whole("no sample in the file").or_other());
    }
    documents.sort_by(|a, _, b, _| by_id(a, b));
    Ok((documents, filters))
}

/// A sample, with its metrics stored among its other keys.
#[derive(Deserialize)]
struct Sample {
    #[serde(default)]
    doc: Value,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    filtered_resps: Value,
    /// The metrics' names, which lm-eval writes since version 0.4.8.
    metrics: Option<Vec<String>>,
    doc_id: Option<Value>,
    filter: Option<String>,
    // Ignored, so that it isn't taken for a metric.
    #[serde(default, rename = "resps")]
    _resps: IgnoredAny,
    #[serde(flatten)]
    others: Unique<Value>,
}

impl Sample {
    /// Removes and returns the document's id.
    fn id(&mut self) -> Result<String, String> {
        match self.doc_id.take() {
            Some(Value::String(id)) => Ok(id),
            Some(Value::Number(id)) => Ok(id.to_string()),
            _ => Err(
                "expected an lm-eval sample with a number or string `doc_id`, found no `doc_id`"
                    .to_owned(),
            ),
        }
    }

    /// Returns the values of the metrics that the sample lists, or of all numeric fields if it lists none.
    fn scores(&self) -> Vec<(&str, &Value)> {
        let others = self.others.0.iter();
        match &self.metrics {
            Some(names) => names
                .iter()
                .map(|name| (&**name, self.others.0.get(name).unwrap_or(&Value::Null)))
                .collect(),
            None => others
                .filter(|(_, value)| value.is_number() || value.is_boolean())
                .map(|(name, value)| (&**name, value))
                .collect(),
        }
    }

    /// Adds the gold row: target, document and prompt. The target is also the field `answer`, which metrics read. The
    /// attributes contain hashes of them.
    fn add_gold(self, row: &mut TableRow) {
        // `{"gen_args_0": {"arg_0": PROMPT, ..}, ..}`
        let prompt = &self.arguments["gen_args_0"]["arg_0"];
        put(&mut row.gold, "answer", self.target.clone());
        put(&mut row.gold, "target", self.target);
        put(&mut row.gold, "doc", self.doc);
        put(&mut row.gold, "prompt", prompt.as_str());
        for name in ["doc_hash", "prompt_hash", "target_hash"] {
            if let Some(hash) = self.others.0.get(name).and_then(Value::as_str) {
                row.attributes.insert(name, hash);
            }
        }
    }

    /// Returns the prediction: the first filtered response, and a list of all responses if there are several. For a
    /// multiple-choice question, the prediction is the position of the most likely choice.
    fn prediction(&mut self) -> Map<String, Value> {
        let mut pred = Map::new();
        let mut responses = match std::mem::take(&mut self.filtered_resps) {
            Value::Array(responses) => responses,
            Value::Null => return pred,
            one => vec![one],
        };
        let likelihoods: Option<Vec<f64>> = responses.iter().map(likelihood).collect();
        if let Some(likelihoods) = likelihoods.filter(|all| !all.is_empty()) {
            let best = (0..likelihoods.len())
                .rev()
                .max_by(|a, b| likelihoods[*a].total_cmp(&likelihoods[*b]));
            pred.insert("answer".to_owned(), best.unwrap_or_default().into());
            pred.insert("log_likelihoods".to_owned(), likelihoods.into());
            return pred;
        }
        if let Some(first) = responses.first() {
            // If a task is repeated, a filter that takes all responses returns a list of them.
            let answer = match first {
                Value::Array(several) => several.first().cloned().unwrap_or_default(),
                one => one.clone(),
            };
            pred.insert("answer".to_owned(), answer);
        }
        if responses.len() > 1 {
            pred.insert("responses".to_owned(), responses.into());
        } else if let Some(Value::Array(several)) = responses.pop().filter(Value::is_array) {
            pred.insert("responses".to_owned(), several.into());
        }
        pred
    }
}

/// Returns the log likelihood in `["-1.25", "False"]`. The second element says if greedy decoding returns the choice.
fn likelihood(response: &Value) -> Option<f64> {
    let [likelihood, is_greedy] = response.as_array()?.as_slice() else {
        return None;
    };
    let is_bool = is_greedy.is_boolean() || matches!(is_greedy.as_str(), Some("True" | "False"));
    let likelihood = match likelihood {
        Value::String(text) => text.parse().ok()?,
        other => other.as_f64()?,
    };
    Some(likelihood).filter(|it: &f64| is_bool && it.is_finite())
}

/// Metrics whose result is the mean over the samples.
const MEANS: [&str; 4] = ["acc", "acc_norm", "exact_match", "em"];

/// The note on what is unknown if there are no results.
const UNKNOWN: &str = "no results_DATE.json for samples_TASK_DATE.jsonl: the version of the task and the direction of its metrics are unknown";

/// A run's tags, and where the results store them.
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

/// Adds what was measured, and notes on what is unknown. If the file has the name that lm-eval gives it, the results
/// with the same date are read.
fn describe(input: Input<'_>, mut table: Table) -> Result<Table, FormatError> {
    let name = input.file.file_name().unwrap_or_default().to_string_lossy();
    let of_lm_eval = name
        .strip_prefix("samples_")
        .and_then(|name| name.strip_suffix(".jsonl"))
        .and_then(|name| name.rsplit_once('_'));
    let (task, date) = of_lm_eval.unwrap_or((name.trim_end_matches(".jsonl"), ""));
    table.run.tags.insert("task".to_owned(), task.to_owned());
    let path = input.file.with_file_name(format!("results_{date}.json"));
    if of_lm_eval.is_none() || !path.exists() {
        table.notes.insert(0, UNKNOWN.to_owned());
        table.is_unidentified = true;
        return Ok(table);
    }
    let beside = Input { file: &path };
    let text = beside.read(ROW_LIMIT as u64)?;
    let results: Value = parse(&text).map_err(|reason| beside.whole(reason))?;
    let part = |key: &str| &results[key][task];
    let of_task = |key: &str| shown(part(key), "");
    let tags = TAGS
        .iter()
        .filter_map(|(name, pointers)| Some(((*name).to_owned(), shown(&results, pointers)?)));
    table.run.tags.extend(tags);
    let hash = of_task("task_hashes").map(|hash| ("task_hash".to_owned(), hash));
    table.run.tags.extend(hash);
    table.run.label = table.run.tags.get("model").cloned();
    table.identify(|metric, filter| {
        let version = of_task("versions").unwrap_or_else(|| "unknown".to_owned());
        let mut spec = MetricSpec::new(metric);
        spec.version = &version;
        if part("higher_is_better")[metric] == false {
            spec.direction = Direction::LowerIsBetter;
        }
        let parameters = [
            ("task", Some(task.to_owned())),
            ("filter", Some(filter.unwrap_or(NO_FILTER).to_owned())),
            ("num_fewshot", of_task("n-shot")),
        ];
        let parameters = parameters
            .into_iter()
            .filter_map(|(key, value)| Some((format!("lm_eval.{key}"), value?)));
        MetricIdentity::of_other_program(&spec, parameters.collect())
    });
    let (samples, found) = (part("n-samples")["effective"].as_u64(), table.len());
    if table.check("samples", samples, found) {
        return Ok(table);
    }
    let metrics = table.metrics().iter();
    let means = metrics.filter(|((metric, _), _)| MEANS.contains(&&**metric));
    let means = means.map(|((metric, filter), name)| {
        let filter = filter.as_deref().unwrap_or(NO_FILTER);
        (format!("{metric},{filter}"), name.clone())
    });
    for (key, name) in means.collect::<Vec<_>>() {
        let what = format_args!("`{}`", escape::name(&name));
        table.check_mean(what, &part("results")[key], &name);
    }
    Ok(table)
}
