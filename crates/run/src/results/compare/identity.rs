//! Compares what two runs measured, based on their manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::pairs::Sides;
use crate::contract::{IdentityDifference, MetricIdentity};
use crate::data::DataFile;
use crate::evaluate::JudgeReplies;
use crate::evaluate::manifest::{Manifest, NO_MANIFEST, RunManifest};
use crate::messages::escape;
use crate::results::file::Results;
use crate::results::run::Run;
use crate::results::run_scores::Selected;

/// Shows how two runs differ in what they measured, based on their [manifests](crate::results::Manifest).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IdentityComparison {
    /// For each run, the reason why it is unknown what the run measured.
    ///
    /// The reason is `None` if the run has a manifest.
    ///
    /// If it is unknown what one of the runs measured, metrics are compared by name alone.
    pub unknown: Sides<Option<String>>,
    /// The metrics that differ between the runs, even though they have the same name.
    ///
    /// These metrics are not compared unless you [allow it](crate::results::ComparisonBuilder::allow_different).
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub different: IndexMap<String, MetricDifference>,
    /// Other differences between the runs, one sentence each.
    ///
    /// The differences can concern the data files, the label, the repeats, the library version, or the fingerprints of
    /// the models that judges used.
    ///
    /// Unless the comparison is [strict](crate::results::ComparisonBuilder::strict_identity), they can also concern the
    /// code of a metric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The differences between two metrics with the same name, one from each run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricDifference {
    /// The differences, one sentence each.
    ///
    /// For example, `judged by openai:a in A, openai:b in B`.
    ///
    /// If the provider reported different models for the same name, the sentence is similar to `openai:a replied as a-1
    /// in A, a-2 in B`.
    pub differences: Vec<String>,
    /// `true` if the metric is compared despite the differences.
    pub is_compared: bool,
}

impl MetricDifference {
    fn sentence(&self, name: &str) -> String {
        let (name, differences) = (escape::name(name), self.differences.join("; "));
        match self.is_compared {
            true => format!("{name}: {differences}"),
            false => format!("not compared: {name}: {differences}"),
        }
    }
}

impl IdentityComparison {
    /// Compares the runs and these metrics. `allowed` metrics are compared even if they differ. If `is_strict` is
    /// `true`, a metric whose code changed differs. `places` says how sentences refer to the runs, such as `in A` and
    /// `in B`.
    pub(super) fn of(
        a: &Run,
        b: &Run,
        names: &IndexSet<String>,
        allowed: &IndexSet<String>,
        is_strict: bool,
        places: [&'static str; 2],
    ) -> Self {
        let unknown = [a, b]
            .map(|run| run.unknown_identity().map(str::to_owned))
            .into();
        let (Some(a), Some(b)) = (a.manifest(), b.manifest()) else {
            return Self {
                unknown,
                ..Self::default()
            };
        };
        let metrics: IndexSet<&str> = names.iter().map(|it| Selected::new(it).metric).collect();
        let (of_a, of_b) = (&a.run.metrics, &b.run.metrics);
        let identities = metrics.iter();
        let identities =
            identities.filter_map(|name| Some((*name, of_a.get(*name)?, of_b.get(*name)?)));
        let (mut different, mut notes) = (IndexMap::new(), notes(&a.run, &b.run));
        let with_code = identities
            .clone()
            .filter(|(_, a, b)| a.has_code() && b.has_code());
        let mut is_changed = with_code.map(|(_, a, b)| a.has_other_code(b)).peekable();
        if is_changed.peek().is_some() && !is_changed.any(|it| it) {
            notes.extend(note_on_program(a, b));
        }
        for (name, of_a, of_b) in identities {
            let all = of_a.differences(of_b);
            let own = all.iter().filter(|it| it.place != "`code`");
            let sentences = own.map(|it| sentence(it, of_a, of_b, places));
            let mut differences: Vec<String> = sentences.collect();
            // Different models are expected to reply as different models.
            if of_a.models() == of_b.models() {
                let (replied, of_models) = reported_models(name, &a.run, &b.run, places);
                differences.extend(replied);
                notes.extend(of_models);
            }
            if of_a.has_other_code(of_b) {
                let first = places[0].strip_prefix("in ").unwrap_or(places[0]);
                let to = if is_strict {
                    &mut differences
                } else {
                    &mut notes
                };
                to.push(other_code(name, first));
            }
            if !differences.is_empty() {
                let is_compared = allowed.contains(name);
                different.insert(
                    name.to_owned(),
                    MetricDifference {
                        differences,
                        is_compared,
                    },
                );
            }
        }
        Self {
            unknown,
            different,
            notes,
        }
    }

    /// Returns the metrics that are not compared because they differ between the runs.
    pub fn not_compared(&self) -> impl Iterator<Item = (&str, &MetricDifference)> {
        let different = self
            .different
            .iter()
            .filter(|(_, metric)| !metric.is_compared);
        different.map(|(name, metric)| (&**name, metric))
    }

    /// Returns a sentence for each metric that is not compared.
    ///
    /// For example, `not compared: polite: judged by openai:a in A, openai:b in B`.
    pub fn sentences(&self) -> Vec<String> {
        let not_compared = self.not_compared();
        not_compared
            .map(|(name, metric)| metric.sentence(name))
            .collect()
    }

    /// Returns `true` if a metric or part is compared.
    pub(crate) fn is_compared(&self, name: &str) -> bool {
        self.different
            .get(Selected::new(name).metric)
            .is_none_or(|metric| metric.is_compared)
    }
}

/// Writes `polite: judged by openai:a in A, openai:b in B`, with one line per metric, followed by the notes.
impl fmt::Display for IdentityComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by_name = "so metrics are compared by their names";
        match (self.unknown.a.as_deref(), self.unknown.b.as_deref()) {
            (None, None) => {}
            (Some(NO_MANIFEST), Some(NO_MANIFEST)) => {
                writeln!(f, "identity unknown: neither run has a manifest, {by_name}")?;
            }
            (Some(a), None) => writeln!(f, "identity unknown: A: {a}, {by_name}")?,
            (None, Some(b)) => writeln!(f, "identity unknown: B: {b}, {by_name}")?,
            (Some(a), Some(b)) => writeln!(f, "identity unknown: A: {a}; B: {b}; {by_name}")?,
        }
        for (name, metric) in &self.different {
            writeln!(f, "{}", metric.sentence(name))?;
        }
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

impl Results {
    /// Returns a sentence for each difference that keeps a metric from being compared with the same metric in another
    /// run. `places` are the names of the runs.
    pub(crate) fn identity_differences(
        &self,
        other: &Self,
        metric: &str,
        is_strict: bool,
        places: [&'static str; 2],
    ) -> Vec<String> {
        let (names, allowed) = (IndexSet::from([metric.to_owned()]), IndexSet::new());
        IdentityComparison::of(&self.run, &other.run, &names, &allowed, is_strict, places)
            .sentences()
    }
}

/// Returns the sentence about a metric whose code differs from that in the first run.
pub(crate) fn other_code(name: &str, first: &str) -> String {
    let name = escape::name(name);
    format!("the code of `{name}` changed since {first}; bump its version if its meaning changed")
}

/// Returns a sentence if different programs made the runs, because a metric may then call different versions of a
/// function. A program with a different version of this library is also a different program.
fn note_on_program(a: &Manifest, b: &Manifest) -> Option<String> {
    let [of_a, of_b] = [a, b].map(|it| it.process.as_ref()?.program.as_deref());
    let is_same_library = a.run.library.version == b.run.library.version;
    (is_same_library && of_a? != of_b?).then(|| {
        "the program changed since A; functions that its metrics call may have changed".to_owned()
    })
}

fn sentence(
    difference: &IdentityDifference,
    a: &MetricIdentity,
    b: &MetricIdentity,
    [in_a, in_b]: [&'static str; 2],
) -> String {
    let (expected, found) = (&difference.expected, &difference.found);
    match &*difference.place {
        "`models`" => {
            let models = |of: &MetricIdentity| match of.models() {
                [] => "no model".to_owned(),
                models => escape::name(&models.join(" and ")).into_owned(),
            };
            format!("judged by {} {in_a}, {} {in_b}", models(a), models(b))
        }
        "`prompts`" => "the prompt or the sampling settings differ".to_owned(),
        "`doc`" => format!("the instruction is {expected} {in_a}, {found} {in_b}"),
        place => format!("{place} is {expected} {in_a}, {found} {in_b}"),
    }
}

/// Returns a sentence for each difference between the runs other than those between their metrics.
fn notes(a: &RunManifest, b: &RunManifest) -> Vec<String> {
    let mut notes = data_notes(a, b);
    let mut note = |what: &str, value: &dyn Fn(&RunManifest) -> Option<String>| {
        let [of_a, of_b] = [a, b].map(|run| value(run).unwrap_or("none".to_owned()));
        if of_a != of_b {
            notes.push(format!("{what} in A: {of_a}; in B: {of_b}"));
        }
    };
    let text = |text: &String| Some(escape::name(text).into_owned());
    for tag in a.tags.keys().chain(b.tags.keys()).collect::<BTreeSet<_>>() {
        let what = format!("tag `{}`", escape::name(tag));
        note(&what, &|run| text(run.tags.get(tag)?));
    }
    note("rows", &|run| Some(run.rows.to_string()));
    note("ending", &|run| text(&run.ending));
    note("repeats", &|run| Some(run.repeats?.to_string()));
    note("inputs of the program", &|run| {
        let inputs = run.program_inputs.as_ref()?;
        Some(escape::names(inputs.iter().map(String::as_str)))
    });
    note("groups", &|run| text(run.group.as_ref()?));
    let settings = a.settings.keys().chain(b.settings.keys());
    for name in settings.collect::<BTreeSet<_>>() {
        let what = format!("`{}`", escape::name(name));
        note(&what, &|run| text(run.settings.get(name)?));
    }
    note("samples of the bootstrap", &|run| {
        Some(run.bootstrap?.to_string())
    });
    note("seed", &|run| Some(run.seed.to_string()));
    note("version of dsrs-metrics", &|run| text(&run.library.version));
    notes
}

/// Returns a sentence for each data file whose name is the same but whose content differs.
fn data_notes(a: &RunManifest, b: &RunManifest) -> Vec<String> {
    let described = |file: &DataFile| match &file.sha256 {
        Some(hash) => {
            let start = hash.get(..12).unwrap_or(hash);
            format!("{} bytes with the SHA-256 hash {start}..", file.bytes)
        }
        None => format!("{} bytes", file.bytes),
    };
    let is_other = |a: &DataFile, b: &DataFile| {
        let hashes = a.sha256.as_ref().zip(b.sha256.as_ref());
        a.bytes != b.bytes || hashes.is_some_and(|(a, b)| a != b)
    };
    let mut notes = Vec::new();
    for of_a in &a.data {
        let mut same_name = b.data.iter().filter(|of_b| of_b.name == of_a.name);
        if let Some(of_b) = same_name.find(|of_b| is_other(of_a, of_b)) {
            let (name, a, b) = (escape::name(&of_a.name), described(of_a), described(of_b));
            notes.push(format!(
                "the data file `{name}` changed: {a} in A, {b} in B"
            ));
        }
    }
    notes
}

/// Compares the models reported for a metric whose configured models are the same in both runs. Returns sentences on
/// judges whose reported models differ, and notes on different fingerprints and on judges whose models only one run has.
fn reported_models(
    metric: &str,
    a: &RunManifest,
    b: &RunManifest,
    [in_a, in_b]: [&'static str; 2],
) -> (Vec<String>, Vec<String>) {
    let (mut differences, mut notes) = (Vec::new(), Vec::new());
    let mut judges: BTreeMap<&str, [JudgeReplies<'_>; 2]> = BTreeMap::new();
    for (side, run) in [a, b].into_iter().enumerate() {
        let replies = run.judged_by.get(metric).map_or(&[][..], Vec::as_slice);
        for replies in JudgeReplies::of_each(replies) {
            let judge = replies.judge;
            judges.entry(judge).or_default()[side] = replies;
        }
    }
    let name = escape::name(metric);
    for (judge, [of_a, of_b]) in judges {
        let judge = escape::name(judge);
        let is_known = of_a.models.len() > 0 && of_b.models.len() > 0;
        let sides = [
            ("reported models", [&of_a.models, &of_b.models]),
            ("fingerprints", [&of_a.fingerprints, &of_b.fingerprints]),
        ];
        let mut other = sides.iter().filter(|(_, [a, b])| a.names().ne(b.names()));
        let Some((what, [a, b])) = other.next() else {
            continue;
        };
        let (a, b) = (a.joined(), b.joined());
        match *what {
            "reported models" if is_known => {
                differences.push(format!("{judge} replied as {a} {in_a}, {b} {in_b}"));
            }
            what => notes.push(format!("{name}: {what} of {judge} in A: {a}; in B: {b}")),
        }
    }
    let [in_a, in_b] = [a, b].map(|run| run.judged_by_others.get(metric).copied().unwrap_or(0));
    if in_a > 0 || in_b > 0 {
        notes.push(format!(
            "{name}: replies from models or fingerprints not named in the manifest: {in_a} in A, {in_b} in B"
        ));
    }
    (differences, notes)
}
