//! What was evaluated: the task, the model, the scorers with their options.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::member::Member;
use super::sample::id_of;
use crate::core::{MetricIdentity, MetricSpec};
use crate::import::places::Places;
use crate::import::text::{as_string, parse};
use crate::messages::escape::names;

/// The latest version of the format.
const VERSION: u64 = 2;

/// The header of a log.
#[derive(Deserialize)]
pub(super) struct Header {
    version: u64,
    #[serde(default)]
    status: Option<String>,
    eval: Eval,
    #[serde(default)]
    results: Option<Results>,
}

#[derive(Deserialize)]
struct Eval {
    task: String,
    #[serde(default)]
    task_version: Value,
    #[serde(default)]
    task_args: Value,
    model: String,
    #[serde(default)]
    model_roles: Option<Map<String, Value>>,
    #[serde(default)]
    model_base_url: Value,
    #[serde(default)]
    model_generate_config: Value,
    #[serde(default)]
    dataset: Dataset,
    #[serde(default)]
    solver: Value,
    #[serde(default)]
    config: Config,
    #[serde(default)]
    revision: Option<Revision>,
    #[serde(default)]
    packages: BTreeMap<String, Value>,
    #[serde(default)]
    tags: Value,
    #[serde(default)]
    scorers: Option<Vec<Scorer>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Dataset {
    name: Value,
    location: Value,
    samples: Value,
    sample_ids: Option<Vec<Value>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Config {
    epochs: Option<u32>,
    limit: Value,
    message_limit: Value,
    token_limit: Value,
    time_limit: Value,
}

#[derive(Deserialize)]
struct Revision {
    #[serde(default)]
    commit: String,
    #[serde(default)]
    dirty: Option<bool>,
}

#[derive(Deserialize)]
struct Scorer {
    name: String,
    #[serde(default)]
    options: Option<BTreeMap<String, Value>>,
}

#[derive(Deserialize)]
struct Results {
    #[serde(default)]
    total_samples: Option<u64>,
    #[serde(default)]
    scores: Vec<ResultScore>,
}

#[derive(Deserialize)]
struct ResultScore {
    #[serde(default)]
    name: String,
    #[serde(default)]
    scorer: String,
    #[serde(default)]
    reducer: Option<String>,
    #[serde(default)]
    params: BTreeMap<String, Value>,
}

impl Header {
    /// The fields that are read.
    pub(super) const FIELDS: [&str; 4] = ["version", "status", "eval", "results"];

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let header: Self = parse(text.as_bytes())?;
        if header.version > VERSION {
            let found = header.version;
            return Err(format!(
                "version {found} of the format; expected at most {VERSION}: update dsrs-metrics"
            ));
        }
        Ok(header)
    }

    /// `success`, `error`, `cancelled`, or `started` while the log is written.
    pub(super) fn status(&self) -> &str {
        self.status.as_deref().unwrap_or("started")
    }

    /// Returns the name of the evaluated model.
    pub(super) fn model(&self) -> &str {
        &self.eval.model
    }

    /// Returns how often each sample was evaluated, as the log was configured.
    pub(super) fn epochs(&self) -> u32 {
        self.eval.config.epochs.unwrap_or(1)
    }

    /// Describes how many samples, with their epochs, a log of the status `success` lacks.
    pub(super) fn missing(&self, samples: &Places<Member>) -> Option<String> {
        let (total, found) = (self.results.as_ref()?.total_samples?, samples.len() as u64);
        if total == found || self.status() != "success" {
            return None;
        }
        let present: HashSet<(&str, u32)> = samples
            .rows()
            .flatten()
            .map(|part| (samples.id(part), part.number))
            .collect();
        let ids: Vec<String> = self
            .eval
            .dataset
            .sample_ids
            .iter()
            .flatten()
            .flat_map(id_of)
            .collect();
        let each = ids
            .iter()
            .flat_map(|id| (1..=self.epochs()).map(move |epoch| (&**id, epoch)));
        let missing = each.filter(|it| !present.contains(it));
        let missing: Vec<String> = missing
            .map(|(id, epoch)| format!("{id} (epoch {epoch})"))
            .collect();
        let missing = match missing.is_empty() {
            true => String::new(),
            false => format!(" without {}", names(missing.iter().map(String::as_str))),
        };
        Some(format!(
            "the header counts {total} samples, and the log has {found}{missing}; copy the file again"
        ))
    }

    /// Returns the scorers of the task, by the names that their scores have.
    pub(super) fn scorers(&self) -> Vec<String> {
        let scores = self.results.iter().flat_map(|results| &results.scores);
        let mut names: Vec<String> = scores.map(|score| score.scorer.clone()).collect();
        if names.is_empty() {
            let scorers = self.eval.scorers.iter().flatten();
            names.extend(scorers.map(|scorer| last(&scorer.name).to_owned()));
        }
        names.dedup();
        names
    }

    /// Returns the reducers of epochs that are not the mean, by scorer.
    pub(super) fn other_reducers(&self) -> Vec<(&str, &str)> {
        let scores = self.results.iter().flat_map(|results| &results.scores);
        let reducers = scores.filter_map(|score| {
            let reducer = score.reducer.as_deref()?;
            (reducer != "mean").then_some((&*score.name, reducer))
        });
        reducers.collect()
    }

    /// The identity of a scorer's score, or of an element of it: the task with its version, the options of the scorer, and the
    /// model that grades.
    pub(super) fn identity(&self, scorer: &str, element: Option<&str>) -> MetricIdentity {
        let version = shown(&self.eval.task_version).unwrap_or_else(|| "0".to_owned());
        let mut parameters = BTreeMap::new();
        parameters.insert("inspect.task".to_owned(), self.eval.task.clone());
        for (key, value) in self.options(scorer) {
            parameters.insert(format!("{scorer}.{key}"), as_string(value));
        }
        if let Some(element) = element {
            parameters.insert("inspect.element".to_owned(), element.to_owned());
        }
        let grader = self
            .eval
            .model_roles
            .as_ref()
            .and_then(|roles| roles.get("grader"));
        if let Some(model) = grader.and_then(|grader| shown(grader.get("model")?)) {
            parameters.insert("inspect.grader".to_owned(), model);
        }
        let mut spec = MetricSpec::new(scorer);
        spec.version = &version;
        MetricIdentity::of_other_program(&spec, parameters)
    }

    fn options(&self, scorer: &str) -> impl Iterator<Item = (&String, &Value)> {
        let declared = self
            .eval
            .scorers
            .iter()
            .flatten()
            .find(|it| last(&it.name) == last(scorer));
        let declared = declared.and_then(|it| it.options.as_ref());
        let mut scores = self.results.iter().flat_map(|results| &results.scores);
        let of_results = scores.find(|it| it.scorer == scorer).map(|it| &it.params);
        of_results.or(declared).into_iter().flatten()
    }

    /// Returns the properties of the evaluation.
    pub(super) fn tags(&self) -> BTreeMap<String, String> {
        let Eval {
            dataset,
            config,
            packages,
            ..
        } = &self.eval;
        let values = [
            ("task", Some(self.eval.task.clone())),
            ("task_version", shown(&self.eval.task_version)),
            ("task_args", shown(&self.eval.task_args)),
            ("model", Some(self.eval.model.clone())),
            ("model_base_url", shown(&self.eval.model_base_url)),
            ("model_config", shown(&self.eval.model_generate_config)),
            ("model_roles", self.eval.model_roles.as_ref().map(roles)),
            ("solver", shown(&self.eval.solver)),
            ("dataset", shown(&dataset.name)),
            ("dataset_location", shown(&dataset.location)),
            ("dataset_samples", shown(&dataset.samples)),
            ("limit", shown(&config.limit)),
            ("message_limit", shown(&config.message_limit)),
            ("token_limit", shown(&config.token_limit)),
            ("time_limit", shown(&config.time_limit)),
            ("tags", shown(&self.eval.tags)),
            ("status", Some(self.status().to_owned())),
            ("revision", self.eval.revision.as_ref().map(Revision::shown)),
        ];
        let values = values
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let packages = packages
            .iter()
            .filter_map(|(name, version)| Some((format!("package.{name}"), shown(version)?)));
        values.chain(packages).collect()
    }
}

impl Revision {
    fn shown(&self) -> String {
        let changed = if self.dirty == Some(true) {
            ", changed"
        } else {
            ""
        };
        format!("{}{changed}", self.commit)
    }
}

/// The models of roles, by name.
fn roles(roles: &Map<String, Value>) -> String {
    let model = |role: &Value| role.get("model").map_or_else(|| as_string(role), as_string);
    let mut all: Vec<_> = roles
        .iter()
        .map(|(name, role)| format!("{name}: {}", model(role)))
        .collect();
    all.sort_unstable();
    all.join(", ")
}

/// The name without its package.
fn last(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, name)| name)
}

/// A value as a string; `None` of null and of what is empty.
fn shown(value: &Value) -> Option<String> {
    Some(as_string(value)).filter(|it| !["", "null", "{}", "[]"].contains(&&**it))
}
