//! Facts with one value per run: what the runs measured, according to their manifests, and their cost and time.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use super::labels::{LABELS, NOTHING, plural};
use super::run::{Evaluations, ReportRun};
use crate::contract::MetricIdentity;
use crate::data::DataFile;
use crate::evaluate::JudgeReplies;
use crate::results::run_scores::Usage;
use crate::results::{GitCommit, Manifest, ProcessManifest, RunCosts, RunManifest, thousands};

/// How many digits of a hash are shown.
const DIGITS: usize = 12;

/// A name and its value, in one or more lines.
type Fact = (String, Vec<String>);

/// Returns the facts of all runs, in order of first occurrence.
fn facts(runs: &[&ReportRun<'_>], of_run: impl Fn(&ReportRun<'_>) -> Vec<Fact>) -> Vec<Value> {
    let mut facts: IndexMap<String, Vec<Vec<String>>> = IndexMap::new();
    for (place, run) in runs.iter().enumerate() {
        for (name, value) in of_run(run) {
            let nothing = || vec![vec![NOTHING.to_owned()]; runs.len()];
            facts.entry(name).or_insert_with(nothing)[place] = value;
        }
    }
    let fact = |(name, values)| json!({"name": name, "values": values});
    facts.into_iter().map(fact).collect()
}

/// Returns the facts in the manifests. For a run without a manifest, the fact says why its identity is unknown.
pub(super) fn about(runs: &[&ReportRun<'_>]) -> Vec<Value> {
    let is_any_unknown = runs.iter().any(|run| run.scores.manifest().is_none());
    facts(runs, |run| {
        let run = &run.scores.run;
        let identity = run
            .unknown_identity()
            .map(|reason| format!("unknown: {reason}"));
        let identity = identity.or_else(|| is_any_unknown.then(|| "by its manifest".to_owned()));
        let identity = identity.map(|text| ("Identity", vec![text]));
        let known = run.manifest().map(of_manifest).unwrap_or_default();
        let all = identity
            .into_iter()
            .chain(known)
            .filter(|(_, lines)| !lines.is_empty());
        all.map(|(name, lines)| (name.to_owned(), lines)).collect()
    })
}

fn of_manifest(manifest: &Manifest) -> Vec<(&'static str, Vec<String>)> {
    let Manifest { run, process, .. } = manifest;
    let process = process.as_ref();
    let metrics: Vec<&str> = run.metrics.keys().map(String::as_str).collect();
    vec![
        ("Label", run.label.iter().cloned().collect()),
        (
            "Tags",
            run.tags
                .iter()
                .map(|(name, value)| tag(name, value))
                .collect(),
        ),
        ("Metrics", vec![metrics.join(", ")]),
        ("Judges", judges(run)),
        ("Data", run.data.iter().map(data).collect()),
        ("Run", measured(run, process)),
        (
            "Cost",
            process
                .map(|process| cost(&process.totals))
                .unwrap_or_default(),
        ),
        ("Code", code(run, process)),
        ("Settings", settings(run)),
    ]
}

fn tag(name: &str, value: &str) -> String {
    if value.is_empty() {
        name.to_owned()
    } else {
        format!("{name}: {value}")
    }
}

/// Returns the models of all metrics, then the models that answered for each metric, as their providers reported them.
fn judges(run: &RunManifest) -> Vec<String> {
    let models: IndexSet<&String> = run
        .metrics
        .values()
        .flat_map(MetricIdentity::models)
        .collect();
    let replies = run.judged_by.iter().flat_map(|(metric, replies)| {
        JudgeReplies::of_each(replies).map(move |replies| format!("{metric}: {replies}"))
    });
    let others = run.judged_by_others.iter().map(|(metric, count)| {
        format!(
            "{metric}: replies from other models or fingerprints: {}",
            thousands(*count)
        )
    });
    models
        .into_iter()
        .cloned()
        .chain(replies)
        .chain(others)
        .collect()
}

/// `rows.jsonl · 1,190 rows · 45,120 bytes · SHA-256 684ea9ca094d…`
fn data(file: &DataFile) -> String {
    let mut parts = vec![file.name.clone()];
    parts.extend(file.rows.map(|rows| plural(rows, "row")));
    parts.push(plural(file.bytes, "byte"));
    parts.extend(
        file.sha256
            .as_deref()
            .map(|hash| format!("SHA-256 {}", digits(hash))),
    );
    if file.grew_by > 0 {
        parts.push(format!(
            "grew by {} while it was read",
            plural(file.grew_by, "byte")
        ));
    }
    parts.join(" · ")
}

fn digits(hash: &str) -> String {
    match hash.get(..DIGITS) {
        Some(first) if first.len() < hash.len() => format!("{first}…"),
        _ => hash.to_owned(),
    }
}

/// Returns when the run started, how long it took, and its rows.
fn measured(run: &RunManifest, process: Option<&ProcessManifest>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(ProcessManifest {
        started,
        duration_s,
        ..
    }) = process
    {
        lines.push(
            match started.strip_suffix('Z').and_then(|it| it.split_once('T')) {
                Some((day, time)) => format!("{day} {time} UTC"),
                None => started.clone(),
            },
        );
        lines.push(format!("took {}", duration(*duration_s)));
    }
    lines.push(format!(
        "{}, {} failed",
        plural(run.rows, "row"),
        thousands(run.failed_rows)
    ));
    if let Some(early) = run.early.as_ref().filter(|_| run.ending == "decided") {
        lines.push(early.sentence());
    } else if run.ending != "complete" {
        lines.push(format!("ended early: {}", run.ending));
    }
    lines
}

/// `0.532 s`, `2 min 5 s`, `3 h 20 min`
fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.3} s");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 60"
    )]
    let whole = seconds.round() as u64;
    match whole {
        0..3_600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", thousands(whole / 3_600), whole % 3_600 / 60),
    }
}

fn cost(costs: &RunCosts) -> Vec<String> {
    let msats = |of: &str, cost: u64| format!("{of}: {} msat", thousands(cost));
    let tokens = |what: &str, count: u64| format!("program: {} tokens {what}", thousands(count));
    let metrics = Some(costs.metrics_cost_msats).filter(|cost| *cost > 0);
    [
        metrics.map(|cost| msats("metrics", cost)),
        costs.program_cost_msats.map(|cost| msats("program", cost)),
        costs
            .program_input_tokens
            .map(|count| tokens("read", count)),
        costs
            .program_output_tokens
            .map(|count| tokens("written", count)),
        costs
            .language_models
            .map(|calls| format!("language models: {calls}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the commit of the working folder and the version of the library.
fn code(run: &RunManifest, process: Option<&ProcessManifest>) -> Vec<String> {
    let git = process.and_then(|process| process.git.as_ref());
    let mut lines = Vec::new();
    if let Some(GitCommit {
        commit,
        is_changed,
        error,
    }) = git
    {
        let changed = match is_changed {
            Some(true) => ", with changed files",
            Some(false) => ", unchanged",
            None => "",
        };
        lines.extend(
            commit
                .as_deref()
                .map(|hash| format!("git {}{changed}", digits(hash))),
        );
        lines.extend(error.as_deref().map(|reason| format!("git: {reason}")));
    }
    lines.push(format!("dsrs-metrics {}", run.library.version));
    lines
}

fn settings(run: &RunManifest) -> Vec<String> {
    let inputs = run.program_inputs.as_ref().map(|fields| fields.join(", "));
    let samples = run.bootstrap.map(|samples| thousands(samples.into()));
    let mut lines: Vec<String> = [
        run.repeats.map(|times| format!("repeats: {times}")),
        inputs.map(|fields| format!("inputs of the program: {fields}")),
        run.group.as_ref().map(|field| format!("groups: {field}")),
        samples.map(|samples| format!("bootstrap: {samples} samples")),
    ]
    .into_iter()
    .flatten()
    .collect();
    lines.push(format!("seed: {}", run.seed));
    lines.push(format!("a failed row counts as {}", run.failure_score));
    lines
}

/// Returns the settings of a metric in each run whose manifest has it. The label is empty if they are the same in all
/// runs.
pub(super) fn metric_settings(name: &str, runs: &[&ReportRun<'_>]) -> Vec<Value> {
    let identity = |run: &&ReportRun<'_>| run.scores.run.identity(name).map(ToString::to_string);
    let texts: Vec<Option<String>> = runs.iter().map(identity).collect();
    let shown =
        |text: &String, (label, class)| json!({"label": label, "class": class, "text": text});
    match &*texts {
        [Some(text)] => vec![shown(text, ("", ""))],
        [a @ Some(text), b] if a == b => vec![shown(text, ("", ""))],
        _ => {
            let all = texts.iter().zip(LABELS);
            all.filter_map(|(text, label)| Some(shown(text.as_ref()?, label)))
                .collect()
        }
    }
}

/// Returns the cost and time of the runs and what gates saved; `None` if the rows have neither cost, nor time, nor
/// gated rows.
pub(super) fn usage(runs: &[&ReportRun<'_>]) -> Option<Value> {
    let is_gate = |(name, _): &(String, String)| name.starts_with(GATED);
    let has_gates = runs.iter().any(|run| of_rows(run).iter().any(is_gate));
    let line = |(name, value)| (name, vec![value]);
    let facts = facts(runs, |run| of_rows(run).into_iter().map(line).collect());
    let note = "A gate saves the mean cost of an evaluated row for each row that it rejects.";
    let notes = Vec::from_iter(has_gates.then_some(note));
    (!facts.is_empty()).then(|| json!({"facts": facts, "notes": notes}))
}

fn of_rows(run: &ReportRun<'_>) -> Vec<(String, String)> {
    let mut facts = program(run);
    facts.extend(latency(run));
    facts.extend(metrics(run));
    facts
}

/// Returns the sum over the rows that have the value, and how many they are if others lack it.
fn sum(
    run: &ReportRun<'_>,
    name: &str,
    unit: &str,
    of: impl Fn(Usage) -> Option<u64>,
) -> Option<(String, String)> {
    let values: Vec<u64> = of_each_row(run).filter_map(of).collect();
    let total: u64 = values
        .iter()
        .fold(0, |total, value| total.saturating_add(*value));
    let all = values.len() == run.len();
    let of = if all {
        String::new()
    } else {
        format!(" in {}", plural(values.len() as u64, "row"))
    };
    let shown = format!("{}{unit}{of}", thousands(total));
    (!values.is_empty()).then(|| (name.to_owned(), shown))
}

fn of_each_row(run: &ReportRun<'_>) -> impl Iterator<Item = Usage> {
    (0..run.len()).map(|row| run.scores.usage(row))
}

fn program(run: &ReportRun<'_>) -> Vec<(String, String)> {
    [
        sum(run, "Program: cost", " msat", |row| row.cost_msats),
        sum(run, "Program: tokens read", "", |row| row.input_tokens),
        sum(run, "Program: tokens written", "", |row| row.output_tokens),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn latency(run: &ReportRun<'_>) -> Vec<(String, String)> {
    let mut seconds: Vec<f64> = of_each_row(run).filter_map(|row| row.latency_s).collect();
    seconds.sort_by(f64::total_cmp);
    let Some(last) = seconds.len().checked_sub(1) else {
        return Vec::new();
    };
    // The nearest rank: the lowest latency that at least this share of rows does not exceed.
    let quantile =
        |percent: usize| seconds[(seconds.len() * percent).div_ceil(100).clamp(1, last + 1) - 1];
    let shown = |seconds: f64| format!("{seconds:.3} s");
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    vec![
        ("Program: mean latency".to_owned(), shown(mean)),
        ("Program: median latency".to_owned(), shown(quantile(50))),
        (
            "Program: 95th-percentile latency".to_owned(),
            shown(quantile(95)),
        ),
    ]
}

const GATED: &str = "Gated: ";

fn metrics(run: &ReportRun<'_>) -> Vec<(String, String)> {
    let by_name = &run.totals.evaluations;
    let own = |name: &&String| run.metrics().any(|metric| metric == *name);
    let cost = by_name
        .iter()
        .filter(|(name, it)| it.cost_msats > 0 && own(name));
    let cost = cost.map(|(name, it)| {
        (
            format!("{name}: cost"),
            format!("{} msat", thousands(it.cost_msats)),
        )
    });
    let gated = by_name.iter().filter(|(_, it)| it.gated > 0);
    let gated = gated.map(|(name, it)| (format!("{GATED}{name}"), savings(it)));
    cost.chain(gated).collect()
}

/// `412 rows, 20,600 msat saved`
fn savings(of: &Evaluations) -> String {
    let rows = plural(of.gated, "row");
    if of.evaluated == 0 || of.cost_msats == 0 {
        return rows;
    }
    let saved = u128::from(of.gated) * u128::from(of.cost_msats) / u128::from(of.evaluated);
    let saved = thousands(u64::try_from(saved).unwrap_or(u64::MAX));
    format!("{rows}, {saved} msat saved")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(run: &Value, process: &Value) -> Manifest {
        let mut all = json!({
            "metrics": {}, "rows": 1_190, "failed_rows": 2, "ending": "complete", "failure_score": 0.0, "seed": 0,
            "library": {"version": "0.1.0", "features": []},
        });
        let fields = run.as_object().into_iter().flatten();
        fields.for_each(|(name, value)| all[name] = value.clone());
        serde_json::from_value(json!({"format": 1, "run": all, "process": process})).unwrap()
    }

    /// Returns the facts with this name, one line each.
    fn lines(name: &str, manifest: &Manifest) -> Vec<String> {
        let mut facts = of_manifest(manifest).into_iter();
        facts.find(|(of, _)| *of == name).unwrap().1
    }

    #[test]
    fn data_files_have_rows_bytes_hash_and_growth() {
        let data = json!([
            {"name": "a.jsonl", "bytes": 45_120, "sha256": "684ea9ca094d4f7ff7a7", "rows": 1_190, "grew_by": 2},
            {"name": "-", "bytes": 1},
        ]);
        let shown = lines("Data", &manifest(&json!({"data": data}), &Value::Null));
        let first = "a.jsonl · 1,190 rows · 45,120 bytes · SHA-256 684ea9ca094d… · grew by 2 bytes while it was read";
        assert_eq!(shown, [first, "- · 1 byte"]);
    }

    #[test]
    fn the_judges_are_the_models_of_all_metrics() {
        let judge = |model: &str| json!({"models": [model], "parameters": {}});
        let metrics =
            json!({"a": judge("openai:x"), "b": judge("openai:y"), "c": judge("openai:x")});
        let manifest = manifest(&json!({"metrics": metrics}), &Value::Null);
        assert_eq!(lines("Judges", &manifest), ["openai:x", "openai:y"]);
        assert_eq!(lines("Metrics", &manifest), ["a, b, c"]);
    }

    #[test]
    fn the_models_that_replied_are_shown_for_each_metric_and_judge() {
        let by = |judge: &str, model: &str, fingerprint: Option<&str>, replies: u64| json!({"judge": judge, "model": model, "fingerprint": fingerprint, "replies": replies});
        let mut judged_by: Vec<Value> = (1..=7)
            .map(|number| by("a:x", &format!("x-{number}"), None, 2))
            .collect();
        judged_by.push(by("a:y", "", Some("fp_1"), 1));
        let judged_by =
            json!({"judged_by": {"polite": judged_by}, "judged_by_others": {"polite": 1_200}});
        let shown = lines("Judges", &manifest(&judged_by, &Value::Null));
        let first = "polite: a:x replied as x-1 (2 replies), x-2 (2 replies), x-3 (2 replies), x-4 (2 replies), x-5 (2 replies) and 2 more";
        let second = "polite: a:y replied as an unknown model; fingerprint: fp_1 (1 reply)";
        let others = "polite: replies from other models or fingerprints: 1,200";
        assert_eq!(shown, [first, second, others]);
    }

    #[test]
    fn time_cost_and_code_are_of_the_process() {
        let totals = json!({"metrics_cost_msats": 1_200, "program_cost_msats": 7, "program_input_tokens": 35});
        let git = json!({"commit": "0123456789abcdef0123", "is_changed": true});
        let process = json!({"started": "2026-11-26T08:00:00Z", "duration_s": 125.4, "git": git, "totals": totals});
        let all = manifest(&json!({"ending": "max_errors"}), &process);
        assert_eq!(
            lines("Run", &all),
            [
                "2026-11-26 08:00:00 UTC",
                "took 2 min 5 s",
                "1,190 rows, 2 failed",
                "ended early: max_errors"
            ]
        );
        assert_eq!(
            lines("Cost", &all),
            [
                "metrics: 1,200 msat",
                "program: 7 msat",
                "program: 35 tokens read"
            ]
        );
        let code = [
            "git 0123456789ab…, with changed files",
            "dsrs-metrics 0.1.0",
        ];
        assert_eq!(lines("Code", &all), code);
        let without = manifest(&json!({}), &Value::Null);
        assert_eq!(lines("Run", &without), ["1,190 rows, 2 failed"]);
        assert_eq!(lines("Code", &without), ["dsrs-metrics 0.1.0"]);
        assert!(lines("Cost", &without).is_empty());
        assert_eq!([59.9, 3_725.0].map(duration), ["59.900 s", "1 h 2 min"]);
    }

    #[test]
    fn settings_are_shown_if_they_are_set() {
        let set = json!({"repeats": 3, "program_inputs": ["q", "context"], "group": "topic", "bootstrap": 1_000, "seed": 7});
        let expected = [
            "repeats: 3",
            "inputs of the program: q, context",
            "groups: topic",
            "bootstrap: 1,000 samples",
            "seed: 7",
            "a failed row counts as 0",
        ];
        assert_eq!(lines("Settings", &manifest(&set, &Value::Null)), expected);
        let none = manifest(&json!({}), &Value::Null);
        assert_eq!(
            lines("Settings", &none),
            ["seed: 0", "a failed row counts as 0"]
        );
    }
}
