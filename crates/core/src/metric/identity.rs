//! A metric's identity: everything that its score depends on. Identities are compared across processes and runs.
//!
//! The file is long because each difference between two metrics has its own message.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::declared::Requirement;
use crate::files::{self, Contents};
use crate::messages::escape;
use crate::metric::Metric;
use crate::score::OFFLINE_JUDGE;
use crate::spec::{Direction, MetricSpec, ScoreRange};

/// A description of everything that a metric's score depends on.
///
/// The identity covers what the library can see:
/// - the declaration with its version
/// - the parameters
/// - the names and contents of the [files](Metric::files) that the metric reads
/// - the models that the metric calls (or the fact that a judge scores offline)
/// - a [fingerprint of its code](MetricSpec::code)
///
/// The fingerprint covers only the code that the macro sees, not the functions that this code calls. Hand-written
/// metrics have no fingerprint.
///
/// Increment `version` when you change what a metric measures.
///
/// ```
/// use dsrs_metrics::contract::MetricIdentity;
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics::prelude::*;
///
/// let (f1, strict) = (F1::default(), F1::default().with_threshold(0.8));
/// let one = MetricIdentity::of::<Example, Prediction>(&f1);
/// let other = MetricIdentity::of::<Example, Prediction>(&strict);
/// assert_eq!(one.differences(&one), []);
/// let [difference] = &one.differences(&other)[..] else { panic!("one setting differs") };
/// assert_eq!(difference.place, "`threshold`");
/// assert_eq!((&*difference.expected, &*difference.found), ("not set", "0.8"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricIdentity {
    /// The models that the metric calls, with their endpoints, or `offline-lexical` for a judge that scores offline.
    models: Vec<String>,
    /// The embedding models that the metric calls, with their endpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    embedders: Vec<String>,
    /// The hashes of judges' prompts and sampling settings, without a row's inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prompts: Vec<String>,
    parameters: BTreeMap<String, String>,
    /// The contents of the files that the metric reads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: Contents,
    /// The declaration as JSON: version, threshold, range, fields. It includes the documentation only if the
    /// documentation might be an instruction.
    #[serde(flatten)]
    spec: Value,
}

/// A difference between two metrics' identities.
///
/// ```
/// use dsrs_metrics::{contract::MetricIdentity, metrics::F1, prelude::*, text::Profile};
///
/// let identity = |f1: F1| MetricIdentity::of::<Example, Prediction>(&f1);
/// let (one, other) = (F1::default(), F1::builder().profile(Profile::Folded).build());
/// let differences = identity(one).differences(&identity(other));
/// assert_eq!(differences[0].place, "parameter `F1.profile`");
/// assert_ne!(differences[0].expected, differences[0].found);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdentityDifference {
    /// The part that differs, such as `` `threshold` `` or `` parameter `F1.profile` ``.
    pub place: String,
    /// The value in the first identity, formatted for a message.
    pub expected: String,
    /// The value in the other identity, formatted for a message.
    pub found: String,
}

impl MetricIdentity {
    /// Returns a metric's identity.
    ///
    /// This method reads the metric's files. If a file cannot be read, the identity contains the reason instead of the
    /// file's content.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::MetricIdentity, metrics::Em, prelude::*};
    /// let identity = MetricIdentity::of::<Example, Prediction>(&Em::default());
    /// let stored = serde_json::to_string(&identity)?;
    /// assert_eq!(serde_json::from_str::<MetricIdentity>(&stored)?, identity);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn of<G: Sync, P: Sync>(metric: &dyn Metric<G, P>) -> Self {
        let unreadable = |reason| Contents::from([(reason, BTreeMap::new())]);
        let mut files = Vec::new();
        metric.files(&mut files);
        let files = files::contents(files).unwrap_or_else(unreadable);
        let mut requirements = Vec::new();
        metric.requirements(&mut requirements);
        let at = |id: &str, endpoint: Option<&str>| match endpoint {
            Some(endpoint) => format!("{id} at {endpoint}"),
            None => id.to_owned(),
        };
        let model = |it: &Requirement| match it.lm() {
            Some(lm) => Some(at(lm.id(), lm.endpoint())),
            None => it.is_offline().then(|| OFFLINE_JUDGE.to_owned()),
        };
        let embedders = requirements.iter().filter_map(Requirement::embedding_model);
        let embedders = embedders.map(|it| at(it.id(), it.endpoint())).collect();
        let mut parameters = Vec::new();
        metric.parameters(&mut parameters);
        let spec = metric.spec();
        let mut value = serde_json::to_value(spec).unwrap_or_default();
        if let Some(spec_fields) = value.as_object_mut().filter(|_| !spec.is_async) {
            spec_fields.remove("doc");
        }
        let models = requirements.iter().filter_map(model).collect();
        let prompts = requirements.iter().filter_map(Requirement::prompt);
        let mut prompts: Vec<String> = prompts.map(str::to_owned).collect();
        prompts.dedup();
        Self {
            spec: value,
            parameters: numbered(parameters),
            files,
            models,
            embedders,
            prompts,
        }
    }

    /// Returns the identity of a metric that another program evaluated.
    ///
    /// If the declaration has no range, the identity's range is unknown.
    #[doc(hidden)]
    pub fn of_other_program(spec: &MetricSpec<'_>, parameters: BTreeMap<String, String>) -> Self {
        let spec_range = spec.range;
        let mut spec = serde_json::to_value(spec).unwrap_or_default();
        if let Some(fields) = spec.as_object_mut() {
            fields.remove("doc");
            if spec_range.is_none() {
                fields.remove("range");
            }
        }
        Self {
            spec,
            parameters,
            ..Self::default()
        }
    }

    /// Adds the version and parameters of a metric from another task.
    ///
    /// Both metrics have the same name.
    #[doc(hidden)]
    pub fn join(&mut self, other: &Self) {
        let add = |values: &mut String, value: &str| {
            if values.split(", ").all(|known| known != value) {
                values.push_str(if values.is_empty() { "" } else { ", " });
                values.push_str(value);
            }
        };
        for (name, value) in &other.parameters {
            add(self.parameters.entry(name.clone()).or_default(), value);
        }
        if let (Some(Value::String(versions)), Some(version)) =
            (self.spec.get_mut("version"), other.spec["version"].as_str())
        {
            add(versions, version);
        }
    }

    /// Returns the models that the metric calls, with their endpoints.
    ///
    /// A judge that scores offline is listed as `offline-lexical`.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::MetricIdentity, metrics::Em, prelude::*};
    /// assert!(MetricIdentity::of::<Example, Prediction>(&Em::default()).models().is_empty());
    /// ```
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// Returns `true` if the metric declares the possible values of its scores.
    ///
    /// A metric can declare that any number is allowed.
    #[doc(hidden)]
    pub fn declares_range(&self) -> bool {
        self.spec.get("range").is_some()
    }

    /// Returns `true` if the fingerprint of the metric's code is known.
    #[doc(hidden)]
    pub fn has_code(&self) -> bool {
        self.spec.get("code").is_some()
    }

    /// Returns `true` if the other metric has the same version but different code.
    ///
    /// Returns `false` if the code of either metric is unknown.
    #[doc(hidden)]
    pub fn has_other_code(&self, other: &Self) -> bool {
        let is_same = |key: &str| self.spec[key] == other.spec[key];
        self.has_code() && other.has_code() && !is_same("code") && is_same("version")
    }

    /// Returns the metric's parameters by name.
    #[doc(hidden)]
    pub fn parameters(&self) -> &BTreeMap<String, String> {
        &self.parameters
    }

    /// Returns the hashes of the judges' prompts.
    #[doc(hidden)]
    pub fn prompts(&self) -> &[String] {
        &self.prompts
    }

    /// Returns the value of a parameter, or of the threshold or strictness, by name.
    ///
    /// The value has the format that `--param` accepts. Returns `None` if the value is unknown.
    #[doc(hidden)]
    pub fn parameter(&self, name: &str) -> Option<String> {
        if ["threshold", "strict"].contains(&name) {
            let value = &self.spec[name];
            return (!value.is_null()).then(|| value.to_string());
        }
        let is_named = |key: &str| key.rsplit_once('.').is_some_and(|(_, last)| last == name);
        let mut parameters = self.parameters.iter();
        parameters.find_map(|(key, value)| is_named(key).then(|| value.clone()))
    }

    /// Returns the direction of improvement.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::{Direction, MetricIdentity}, metrics::Wer, prelude::*};
    /// let identity = MetricIdentity::of::<Example, Prediction>(&Wer::default());
    /// assert_eq!(identity.direction(), Direction::LowerIsBetter);
    /// ```
    pub fn direction(&self) -> Direction {
        match self.spec["direction"].as_str() {
            Some("lower_is_better") => Direction::LowerIsBetter,
            _ => Direction::HigherIsBetter,
        }
    }

    /// Returns the interval that contains every score that the metric can return.
    ///
    /// Returns `None` if a score can be any finite number.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::{MetricIdentity, ScoreRange}, metrics::{F1, Wer}, prelude::*};
    /// let range = |metric: &dyn Metric| MetricIdentity::of(metric).range();
    /// assert_eq!(range(&F1::default()), Some(ScoreRange::UNIT));
    /// assert_eq!(range(&Wer::default()), None);
    /// ```
    pub fn range(&self) -> Option<ScoreRange> {
        let range = ScoreRange::deserialize(&self.spec["range"]).ok()?;
        (range.min <= range.max).then_some(range)
    }

    /// Returns the differences between this identity and `found`.
    ///
    /// The differences are sorted by the name of the part that differs.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::MetricIdentity, metrics::{Em, F1}, prelude::*};
    /// let em = MetricIdentity::of::<Example, Prediction>(&Em::default());
    /// let f1 = MetricIdentity::of::<Example, Prediction>(&F1::default());
    /// let differences = em.differences(&f1);
    /// let name = differences.iter().find(|it| it.place == "`name`").unwrap();
    /// assert_eq!((&*name.expected, &*name.found), ("\"em\"", "\"f1\""));
    /// ```
    pub fn differences(&self, found: &Self) -> Vec<IdentityDifference> {
        let value = |identity: &Self| serde_json::to_value(identity).unwrap_or_default();
        let (expected, found, mut all) = (value(self), value(found), Vec::new());
        differences(&mut Vec::new(), Some(&expected), Some(&found), &mut all);
        all
    }
}

impl fmt::Display for MetricIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.spec["version"].as_str().unwrap_or("unknown");
        write!(f, "version {}", escape::name(version))?;
        if let Some(threshold) = self.parameter("threshold") {
            write!(f, "; threshold {}", escape::name(&threshold))?;
        }
        if self.spec["strict"] == true {
            f.write_str("; strict")?;
        }
        for (name, value) in &self.parameters {
            write!(f, "; {} = {}", escape::name(name), escape::name(value))?;
        }
        for (parameter, files) in &self.files {
            match files.len() {
                // If a file cannot be read, the key is the reason.
                0 => write!(f, "; {}", escape::name(parameter))?,
                1 => write!(f, "; 1 file of {}", escape::name(parameter))?,
                count => write!(f, "; {count} files of {}", escape::name(parameter))?,
            }
        }
        let (judges, embedders) = (&self.models, &self.embedders);
        for (what, models) in [("judged by", judges), ("embeddings of", embedders)] {
            if !models.is_empty() {
                write!(f, "; {what} {}", escape::name(&models.join(" and ")))?;
            }
        }
        for (number, prompt) in self.prompts.iter().enumerate() {
            f.write_str(if number == 0 { " with prompt " } else { ", " })?;
            f.write_str(&escape::name(prompt.get(..8).unwrap_or(prompt)))?;
        }
        Ok(())
    }
}

/// Numbers duplicate names, which occur if two components have the same type.
fn numbered(parameters: Vec<(String, String)>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, value) in parameters {
        all.insert(files::unique(&all, name), value);
    }
    all
}

/// Adds the differences between two identities below a path.
fn differences<'a>(
    path: &mut Vec<&'a str>,
    expected: Option<&'a Value>,
    found: Option<&'a Value>,
    all: &mut Vec<IdentityDifference>,
) {
    let is_equal = match path[..] {
        // An earlier version did not record the prompts or the code.
        ["prompts"] if expected.is_none() => true,
        ["code"] if expected.is_none() || found.is_none() => true,
        ["params"] => declared(expected) == declared(found),
        _ => expected == found,
    };
    if is_equal {
        return;
    }
    if let (Some(Value::Object(expected)), Some(Value::Object(found))) = (expected, found) {
        // Sorted, because the order of keys depends on the features of `serde_json`.
        let mut keys: BTreeSet<&'a String> = expected.keys().chain(found.keys()).collect();
        if path.is_empty() && expected.get("version") != found.get("version") {
            // The versions already differ, so the code is expected to differ.
            keys.retain(|key| *key != "code");
        }
        for key in keys {
            path.push(key);
            differences(path, expected.get(key), found.get(key), all);
            path.pop();
        }
        return;
    }
    all.push(IdentityDifference {
        place: place(path),
        expected: short(expected),
        found: short(found),
    });
}

/// Returns the parameters' declarations by name. Their order, their documentation and the spelling of their types are
/// not part of a metric's identity, so a parameter can move to a struct of parameters.
fn declared(params: Option<&Value>) -> Option<BTreeMap<&str, Vec<(&String, &Value)>>> {
    let mut all = BTreeMap::new();
    for param in params?.as_array()? {
        let fields = param.as_object()?.iter();
        let fields = fields.filter(|(key, _)| !["type", "doc"].contains(&&***key));
        all.insert(param.get("name")?.as_str()?, fields.collect());
    }
    Some(all)
}

/// Returns the name of a path in an identity, such as `` `threshold` `` or `` parameter `F1.profile` ``.
fn place(path: &[&str]) -> String {
    match path {
        ["parameters", parameter] => format!("parameter `{}`", escape::name(parameter)),
        ["files", parameter] => format!("the files of parameter `{}`", escape::name(parameter)),
        ["files", parameter, file] => {
            let [file, parameter] = [file, parameter].map(|it| escape::name(it));
            format!("file `{file}` of parameter `{parameter}`")
        }
        other => format!("`{}`", escape::name(&other.join("."))),
    }
}

fn short(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "not set".to_owned(),
        Some(Value::String(text)) => escape::quoted(text),
        Some(other) => escape::name(&other.to_string()).into_owned(),
    }
}
