//! The result of a run: its output and exit code.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde::Serialize;

use super::Run;
use super::ci_files::CiFile;
use crate::args::ScoreArguments;
use crate::contract::Side;
use crate::evaluate::{
    Ending, EvaluationResult, JudgeReplies, MetricSummary, StoreUse, UnknownField,
};
use crate::files::is_regular;
use crate::messages::escape;
use crate::messages::suggest::nearest;
use crate::output::{INVALID, Result, annotate, print, print_error, print_json};
use crate::results::{Manifest, manifest_of};

/// The exit code that shells use for a program ended by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

impl Run<'_> {
    /// Prints the result to standard output, and warnings and violated limits to standard error.
    pub(super) fn report(
        &self,
        result: &EvaluationResult,
        ci_files: &[CiFile],
    ) -> Result<ExitCode> {
        let args = self.args;
        let mut unknown = self.unknown_fields(result);
        unknown.extend(self.unknown_group(result));
        let violations = self.violations(result);
        let printed_file = ci_files.iter().find(|file| file.is_standard());
        if args.json {
            print_json(&Printed::new(result))?;
        } else if let Some(file) = printed_file {
            file.print(self, result)?;
        } else {
            let has_histograms = std::io::stdout().is_terminal();
            print(&format!("{}\n", result.headlines(has_histograms)))?;
        }
        if let Ending::OutputFailed(error) = &result.ending {
            return Err(error.clone().into());
        }
        args.options.warn(warnings(result, args));
        #[cfg(feature = "lm")]
        args.options.warn(self.overrun_warning());
        unknown.iter().for_each(print_error);
        let violated = |line: &str| match args.github {
            true => annotate("score", line),
            false => print_error(line),
        };
        violations.iter().for_each(|line| violated(line));
        let rows = result.rows;
        Ok(match &result.ending {
            Ending::Stopped => {
                let kept = match &args.out {
                    Some(out) => format!(" and written to {}", out.display()),
                    None => String::new(),
                };
                let next = match result.store {
                    Some(_) => "; run the same command again to continue",
                    None => "",
                };
                print_error(format_args!(
                    "stopped after {rows} rows; their scores are counted{kept}{next}"
                ));
                ExitCode::from(INTERRUPTED)
            }
            Ending::MaxErrors => {
                let failed = result.failed_rows;
                violated(&format!(
                    "stopped after {rows} rows: {failed} failed, the --max-errors limit"
                ));
                ExitCode::FAILURE
            }
            _ if !unknown.is_empty() => ExitCode::from(INVALID),
            _ if violations.is_empty() => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        })
    }

    /// Returns a line if no row has the field of `--group`.
    fn unknown_group(&self, result: &EvaluationResult) -> Option<String> {
        let group = self.args.group.as_deref();
        let field = group.filter(|_| result.without_group == result.rows)?;
        let side = ["gold.", "pred."]
            .into_iter()
            .find(|side| field.starts_with(side));
        let known = self.columns_of_first_row();
        // The start of a path does not make names similar.
        let prefix = side.unwrap_or_default();
        let names = known.iter().filter_map(|name| name.strip_prefix(prefix));
        let nearest = nearest(&field[prefix.len()..], names);
        let name = escape::name(field);
        if known.iter().any(|name| name == field) {
            return Some(format!("--group {name}: it has no value in any row"));
        }
        let (what, otherwise) = match side {
            Some(_) => ("field", String::new()),
            None => (
                "attribute",
                format!(
                    "; write gold.{name} for a field of the gold row, or pred.{name} for a field of the prediction"
                ),
            ),
        };
        let end = nearest.map_or(otherwise, |nearest| {
            format!("; did you mean `{prefix}{}`?", escape::name(nearest))
        });
        Some(format!("--group {name}: no row has this {what}{end}"))
    }

    /// Returns a line for each field that a metric reads and no row has.
    fn unknown_fields(&self, result: &EvaluationResult) -> Vec<String> {
        let metrics = result.metric_names().filter_map(|name| result.metric(name));
        let all = metrics.flat_map(|metric| {
            let fields = metric.unknown_fields.iter();
            fields.map(move |field| (&metric.name, field))
        });
        let line = |(metric, field): (&String, &UnknownField)| {
            // The suggestion is a question.
            let end = if field.nearest.is_some() { "" } else { ";" };
            let name = (Side::Pred, &*field.name);
            let hint = self.elsewhere(name, "no row has", "the rows have it");
            format!("{metric}: {field}{end} {hint}")
        };
        all.map(line).collect()
    }
}

/// The output of `--json`: the result, and how the commands were isolated, if any were run.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    result: &'a EvaluationResult,
    #[cfg(feature = "sandbox")]
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<serde_json::Value>,
}

impl<'a> Printed<'a> {
    fn new(result: &'a EvaluationResult) -> Self {
        #[cfg(feature = "sandbox")]
        let accounting = dsrs_metrics_sandbox::Accounting::used();
        Self {
            result,
            #[cfg(feature = "sandbox")]
            sandbox: (!accounting.is_empty())
                .then(|| serde_json::json!({ "accounting": accounting })),
        }
    }
}

fn warnings(result: &EvaluationResult, args: &ScoreArguments) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(error) = &result.first_error {
        let failed = result.failed_rows;
        let rows = if failed == 1 { "row" } else { "rows" };
        let line = format!("warning: {failed} {rows} failed; first error: {error}");
        lines.push(line);
    }
    if let Some(field) = &args.group
        && (1..result.rows).contains(&result.without_group)
    {
        let (field, without, rows) = (escape::name(field), result.without_group, result.rows);
        lines.push(format!(
            "warning: --group {field}: {without} of {rows} rows lack this field; each is a group of its own"
        ));
    }
    lines.extend(result.metrics.iter().flat_map(reported_models));
    lines.extend(of_manifest(&result.manifest));
    lines.extend(result.store.and_then(|store| of_store(result.rows, store)));
    lines.extend(result.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(result.unused_mappings.iter().map(|mapping| {
        let path = mapping.path();
        format!("warning: --map {mapping}: no row has `{path}`")
    }));
    lines
}

/// Returns what the store had and what was paid for, if anything.
fn of_store(rows: u64, store: StoreUse) -> Option<String> {
    let (before, found, paid) = (store.rows_as_before, store.found, store.paid);
    let (results, evaluated) = (found + paid, rows.saturating_sub(before));
    (results > 0).then(|| {
        format!(
            "{rows} rows: {before} unchanged, {evaluated} evaluated; {results} billable results: {found} from the store, {paid} newly paid for"
        )
    })
}

/// Returns warnings about what the manifest cannot describe: a file that grew while it was read, or a git repository
/// that cannot be read.
fn of_manifest(manifest: &Manifest) -> Vec<String> {
    let grown = manifest.run.data.iter().filter(|file| file.grew_by > 0);
    let mut warnings: Vec<String> = grown
        .map(|file| {
            format!(
                "warning: {} grew by {} bytes while it was read; this run has only the rows in its first {} bytes",
                escape::name(&file.name), file.grew_by, file.bytes
            )
        })
        .collect();
    let process = manifest.process.as_ref();
    let git = process.and_then(|process| process.git.as_ref());
    if let Some(error) = git.and_then(|git| git.error.as_deref()).map(escape::name) {
        let lacks = "warning: the manifest lacks the git commit or its state";
        warnings.push(format!("{lacks}: {error}"));
    }
    warnings
}

/// Returns a line for each judge whose replies came from more than one reported model, or from more than one
/// fingerprint of a model.
fn reported_models(metric: &MetricSummary) -> Vec<String> {
    let judges = JudgeReplies::of_each(&metric.judged_by);
    let mut lines: Vec<String> = judges
        .filter_map(|replies| reported_model(&metric.name, &replies))
        .collect();
    if metric.judged_by_others > 0 {
        lines.push(format!(
            "warning: {}: {} replies came from other models or fingerprints, which the output does not list",
            metric.name, metric.judged_by_others
        ));
    }
    lines
}

fn reported_model(metric: &str, replies: &JudgeReplies<'_>) -> Option<String> {
    let (models, fingerprints) = (&replies.models, &replies.fingerprints);
    let judge = escape::name(replies.judge);
    let start = format!("warning: {metric}: the replies of {judge} came from");
    if models.len() > 1 {
        return Some(format!("{start} {} models: {models}", models.len()));
    }
    (fingerprints.len() > 1).then(|| {
        let (model, count) = (models.names().next(), fingerprints.len());
        let model = model.map(|it| format!(" of {}", escape::name(it)));
        let model = model.unwrap_or_default();
        format!("{start} {count} fingerprints{model}: {fingerprints}")
    })
}

/// Checks that result files match their manifests. Returns a line for each file without a manifest.
pub(super) fn unknown_identities(args: &ScoreArguments) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    if args.from.from.is_some() {
        return Ok(lines);
    }
    for file in args.data.iter().filter(|file| is_regular(file)) {
        if let Some(Err(reason)) = manifest_of(file, args.files.format)? {
            let file = file.display();
            lines.push(format!("warning: {file}: identity unknown: {reason}"));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_file_that_grew_is_a_warning() {
        let run = serde_json::json!({
            "metrics": {}, "rows": 2, "failed_rows": 0, "ending": "complete", "failure_score": 0.0, "seed": 0,
            "library": { "version": "0.1.0", "features": [] },
            "data": [{ "name": "a.jsonl", "bytes": 7 }, { "name": "b.jsonl", "bytes": 90, "grew_by": 12 }],
        });
        let manifest = serde_json::json!({ "format": 1, "run": run });
        let manifest: Manifest = serde_json::from_value(manifest).unwrap();
        let warning = "warning: b.jsonl grew by 12 bytes while it was read; this run has only the rows in its first 90 bytes";
        assert_eq!(of_manifest(&manifest), [warning]);
    }
}
