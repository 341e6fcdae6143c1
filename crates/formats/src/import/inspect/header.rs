//! What was evaluated: the task, the model, and the scorers with their options.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Samples;
use super::sample::id_of;
use crate::contract::{MetricIdentity, MetricSpec};
use crate::import::table::{Table, list, shown};
use crate::import::text::{as_string, parse};
use crate::messages::escape::{name, names};

/// The latest version of the format.
const VERSION: u64 = 2;

const fn latest() -> u64 {
    VERSION
}

/// How many missing epochs of samples are looked for, because the header's numbers may be invented.
const MAX_MISSING: usize = 1_000;

/// The header of a log.
#[derive(Deserialize)]
pub(super) struct Header {
    /// Some programs leave it out; inspect_ai assumes the latest version.
    #[serde(default = "latest")]
    version: u64,
    #[serde(default)]
    status: Option<String>,
    eval: Eval,
    #[serde(default)]
    results: Value,
}

#[derive(Deserialize)]
struct Eval {
    task: String,
    model: String,
    #[serde(flatten)]
    others: Value,
}

/// The tags of a run, and where the evaluation has them.
const TAGS: [(&str, &str); 13] = [
    ("task_version", "/task_version"),
    ("task_args", "/task_args"),
    ("model_base_url", "/model_base_url"),
    ("model_config", "/model_generate_config"),
    ("solver", "/solver"),
    ("dataset", "/dataset/name"),
    ("dataset_location", "/dataset/location"),
    ("dataset_samples", "/dataset/samples"),
    ("limit", "/config/limit"),
    ("message_limit", "/config/message_limit"),
    ("token_limit", "/config/token_limit"),
    ("time_limit", "/config/time_limit"),
    ("tags", "/tags"),
];

impl Header {
    /// The fields that are read.
    pub(super) const FIELDS: &str = "version status eval results";

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let header: Self = parse(text.as_bytes())?;
        if header.version > VERSION {
            let found = header.version;
            return Err(format!(
                "expected a format version of at most {VERSION}, found {found}; update dsrs-metrics"
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

    /// Returns how often each sample should be evaluated.
    pub(super) fn epochs(&self) -> u32 {
        let epochs = self.eval.others["config"]["epochs"].as_u64();
        epochs.map_or(1, |epochs| u32::try_from(epochs).unwrap_or(u32::MAX))
    }

    /// Says how many samples and epochs are missing from a log whose status is `success`.
    pub(super) fn missing(&self, samples: &Samples) -> Option<String> {
        let total = self.results["total_samples"].as_u64()?;
        let found = samples.values().map(BTreeMap::len).sum::<usize>() as u64;
        if total == found || self.status() != "success" {
            return None;
        }
        let ids = list(&self.eval.others["dataset"]["sample_ids"]).flat_map(id_of);
        let missing = ids.flat_map(|id| {
            let known = samples.get(&id);
            let is_missing = move |epoch: &u32| known.is_none_or(|it| !it.contains_key(epoch));
            let epochs = (1..=self.epochs()).filter(is_missing);
            epochs.map(move |epoch| format!("{id} (epoch {epoch})"))
        });
        let missing: Vec<_> = missing.take(MAX_MISSING).collect();
        let missing = match missing.is_empty() {
            true => String::new(),
            false => format!(" without {}", names(missing.iter().map(String::as_str))),
        };
        Some(format!(
            "the header counts {total} samples, but the log has {found}{missing}; copy the file again"
        ))
    }

    /// Says which means in the header differ from those of the rows.
    pub(super) fn other_means(&self, table: &Table) -> Vec<String> {
        let is_mean = |score: &&Value| score["reducer"].as_str().is_none_or(|it| it == "mean");
        let mut other = Vec::new();
        for score in list(&self.results["scores"]).filter(is_mean) {
            let scorer = text(&score["scorer"]);
            for metric in ["accuracy", "mean"] {
                let header = &score["metrics"][metric]["value"];
                if let Some((header, mean)) = table.other_mean(header, scorer) {
                    let scorer = name(scorer);
                    other.push(format!(
                        "the header has {header:.4} as {metric} of `{scorer}`, but the rows have {mean:.4}; the log was changed or is incomplete"
                    ));
                }
            }
        }
        other
    }

    /// Returns the names of the task's scorers.
    pub(super) fn scorers(&self) -> Vec<String> {
        let scores = list(&self.results["scores"]);
        let mut names: Vec<String> = scores.map(|it| text(&it["scorer"]).to_owned()).collect();
        if names.is_empty() {
            let scorers = list(&self.eval.others["scorers"]);
            names.extend(scorers.map(|scorer| last(text(&scorer["name"])).to_owned()));
        }
        names.dedup();
        names
    }

    /// Says which reducers of epochs are not the mean.
    pub(super) fn other_reducers(&self) -> IndexSet<String> {
        let note = |score: &Value| {
            let reducer = score["reducer"].as_str().filter(|it| *it != "mean")?;
            Some(format!(
                "the log reduces the epochs of `{}` by `{}`; here, a sample's score is the mean over its epochs",
                name(text(&score["name"])),
                name(reducer)
            ))
        };
        list(&self.results["scores"]).filter_map(note).collect()
    }

    /// Returns the identity of a scorer, or of one element of its score: the task and its version, the scorer's options, and the
    /// grading model.
    pub(super) fn identity(&self, scorer: &str, element: Option<&str>) -> MetricIdentity {
        let version = shown(&self.eval.others, "/task_version");
        let version = version.unwrap_or_else(|| "0".to_owned());
        let mut parameters = BTreeMap::new();
        parameters.insert("inspect.task".to_owned(), self.eval.task.clone());
        for (key, value) in self.options(scorer) {
            parameters.insert(format!("{scorer}.{key}"), as_string(value));
        }
        if let Some(element) = element {
            parameters.insert("inspect.element".to_owned(), element.to_owned());
        }
        if let Some(model) = shown(&self.eval.others, "/model_roles/grader/model") {
            parameters.insert("inspect.grader".to_owned(), model);
        }
        let mut spec = MetricSpec::new(scorer);
        spec.version = &version;
        MetricIdentity::of_other_program(&spec, parameters)
    }

    fn options(&self, scorer: &str) -> impl Iterator<Item = (&String, &Value)> {
        let mut declared = list(&self.eval.others["scorers"]);
        let declared = declared.find(|it| last(text(&it["name"])) == last(scorer));
        let of_results = list(&self.results["scores"]).find(|it| it["scorer"] == scorer);
        let options = match of_results {
            Some(score) => score["params"].as_object(),
            None => declared.and_then(|it| it["options"].as_object()),
        };
        options.into_iter().flatten()
    }

    /// Returns the properties of the evaluation.
    pub(super) fn tags(&self) -> BTreeMap<String, String> {
        let Eval {
            task,
            model,
            others,
        } = &self.eval;
        let known = TAGS
            .iter()
            .filter_map(|(name, pointer)| Some(((*name).to_owned(), shown(others, pointer)?)));
        let packages = others["packages"].as_object().into_iter().flatten();
        let packages = packages
            .filter_map(|(name, version)| Some((format!("package.{name}"), shown(version, "")?)));
        let mut tags: BTreeMap<String, String> = known.chain(packages).collect();
        let revision = shown(others, "/revision/commit").map(|commit| {
            let is_changed = others["revision"]["dirty"] == true;
            commit + if is_changed { ", changed" } else { "" }
        });
        for (name, value) in [
            ("task", Some(task.clone())),
            ("model", Some(model.clone())),
            ("model_roles", others["model_roles"].as_object().map(roles)),
            ("status", Some(self.status().to_owned())),
            ("revision", revision),
        ] {
            tags.extend(value.map(|value| (name.to_owned(), value)));
        }
        tags
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Lists the model of each role, sorted by role.
fn roles(roles: &Map<String, Value>) -> String {
    let model = |role: &Value| role.get("model").map_or_else(|| as_string(role), as_string);
    let role = |(name, role)| format!("{name}: {}", model(role));
    let mut all: Vec<_> = roles.iter().map(role).collect();
    all.sort_unstable();
    all.join(", ")
}

/// Returns a name without its package.
fn last(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, name)| name)
}
