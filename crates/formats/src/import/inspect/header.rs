//! Reads what was evaluated: the task, the model, and the scorers with their options.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::contract::{MetricIdentity, MetricSpec};
use crate::import::table::{Table, list, shown};
use crate::import::text::{as_string, parse};
use crate::messages::escape::name;

/// The latest version of the format.
const VERSION: u64 = 2;

/// The header of a log.
pub(super) struct Header {
    /// `success`, `error`, `cancelled`, or `started` while the log is being written.
    pub(super) status: String,
    eval: Value,
    results: Value,
}

/// A run's tags, and where the evaluation stores them.
const TAGS: [(&str, &str); 18] = [
    ("task", "/task"),
    ("model", "/model"),
    ("model_roles", "/model_roles"),
    ("revision", "/revision/commit"),
    ("revision_changed", "/revision/dirty"),
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
    /// The fields to read.
    pub(super) const FIELDS: &str = "version status eval results";

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let header: Value = parse(text.as_bytes())?;
        // Some programs leave the version out; inspect_ai then assumes the latest one.
        let found = header["version"].as_u64().unwrap_or(VERSION);
        if found > VERSION {
            return Err(format!(
                "expected a format version of at most {VERSION}, found {found}; update dsrs-metrics"
            ));
        }
        if let Some(field) = ["task", "model"]
            .iter()
            .find(|field| !header["eval"][**field].is_string())
        {
            return Err(format!("expected a string `{field}` in `eval`, found none"));
        }
        Ok(Self {
            status: header["status"].as_str().unwrap_or("started").to_owned(),
            eval: header["eval"].clone(),
            results: header["results"].clone(),
        })
    }

    /// Returns the name of the evaluated model.
    pub(super) fn model(&self) -> &str {
        text(&self.eval["model"])
    }

    /// Returns the number of evaluated samples, counting every epoch.
    pub(super) fn total(&self) -> Option<u64> {
        self.results["total_samples"].as_u64()
    }

    /// Returns how often each sample should be evaluated.
    pub(super) fn epochs(&self) -> u32 {
        let epochs = self.eval["config"]["epochs"].as_u64();
        epochs.map_or(1, |epochs| u32::try_from(epochs).unwrap_or(u32::MAX))
    }

    /// Compares the means in the header with the means over the rows.
    pub(super) fn check_means(&self, table: &mut Table) {
        let is_mean = |score: &&Value| score["reducer"].as_str().is_none_or(|it| it == "mean");
        for score in list(&self.results["scores"]).filter(is_mean) {
            let scorer = text(&score["scorer"]);
            for metric in ["accuracy", "mean"] {
                let what = format_args!("{metric} of `{}`", name(scorer));
                table.check_mean(what, &score["metrics"][metric]["value"], scorer);
            }
        }
    }

    /// Returns the names of the task's scorers.
    pub(super) fn scorers(&self) -> Vec<String> {
        let scores = list(&self.results["scores"]);
        let mut names: Vec<String> = scores.map(|it| text(&it["scorer"]).to_owned()).collect();
        if names.is_empty() {
            let scorers = list(&self.eval["scorers"]);
            names.extend(scorers.map(|scorer| last(text(&scorer["name"])).to_owned()));
        }
        names.dedup();
        names
    }

    /// Returns the identity of a scorer, or of one element in its score: the task and its version, the scorer's
    /// options, and the grading model.
    pub(super) fn identity(&self, scorer: &str, element: Option<&str>) -> MetricIdentity {
        let version = shown(&self.eval, "/task_version");
        let version = version.unwrap_or_else(|| "0".to_owned());
        let mut parameters = BTreeMap::new();
        parameters.insert(
            "inspect.task".to_owned(),
            text(&self.eval["task"]).to_owned(),
        );
        for (key, value) in self.options(scorer) {
            parameters.insert(format!("{scorer}.{key}"), as_string(value));
        }
        if let Some(element) = element {
            parameters.insert("inspect.element".to_owned(), element.to_owned());
        }
        if let Some(model) = shown(&self.eval, "/model_roles/grader/model") {
            parameters.insert("inspect.grader".to_owned(), model);
        }
        let mut spec = MetricSpec::new(scorer);
        spec.version = &version;
        MetricIdentity::of_other_program(&spec, parameters)
    }

    fn options(&self, scorer: &str) -> impl Iterator<Item = (&String, &Value)> {
        let mut declared = list(&self.eval["scorers"]);
        let declared = declared.find(|it| last(text(&it["name"])) == last(scorer));
        let of_results = list(&self.results["scores"]).find(|it| it["scorer"] == scorer);
        let options = match of_results {
            Some(score) => score["params"].as_object(),
            None => declared.and_then(|it| it["options"].as_object()),
        };
        options.into_iter().flatten()
    }

    /// Returns the evaluation's properties.
    pub(super) fn tags(&self) -> BTreeMap<String, String> {
        let tag = |(name, pointer): &(&str, &str)| {
            Some(((*name).to_owned(), shown(&self.eval, pointer)?))
        };
        let mut tags: BTreeMap<String, String> = TAGS.iter().filter_map(tag).collect();
        tags.insert("status".to_owned(), self.status.clone());
        for (name, version) in self.eval["packages"].as_object().into_iter().flatten() {
            tags.insert(format!("package.{name}"), as_string(version));
        }
        tags
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a name without its package.
fn last(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, name)| name)
}
