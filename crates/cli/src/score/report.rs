//! Reports the result of a run: its output and exit code.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

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
            print_json(&Printed {
                result,
                sandbox: sandbox(),
            })?;
        } else if let Some(file) = printed_file {
            file.print(self, result)?;
        } else {
            let has_histograms = std::io::stdout().is_terminal();
            print(&format!("{}\n", result.headlines(has_histograms)))?;
        }
        args.options.warn(warnings(result, args));
        unknown.iter().for_each(print_error);
        violations.iter().for_each(|line| self.violated(line));
        Ok(match self.unfinished(result)? {
            Some(exit) => exit,
            None if !unknown.is_empty() => ExitCode::from(INVALID),
            None if violations.is_empty() => ExitCode::SUCCESS,
            None => ExitCode::FAILURE,
        })
    }

    /// Prints why a run ended before its last row, and returns the exit code.
    pub(crate) fn unfinished(&self, result: &EvaluationResult) -> Result<Option<ExitCode>> {
        let rows = result.rows;
        let exit = match &result.ending {
            Ending::OutputFailed(error) => return Err(error.clone().into()),
            Ending::Stopped => {
                let kept = match &self.args.out {
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
                self.violated(&format!(
                    "stopped after {rows} rows: {failed} failed, the --max-errors limit"
                ));
                ExitCode::FAILURE
            }
            _ => return Ok(None),
        };
        Ok(Some(exit))
    }

    fn violated(&self, line: &str) {
        match self.args.github {
            true => annotate("score", line),
            false => print_error(line),
        }
    }

    /// Returns a line if no row has the field that `--group` names.
    fn unknown_group(&self, result: &EvaluationResult) -> Option<String> {
        let group = self.args.group.as_deref();
        let field = group.filter(|_| result.without_group == result.rows)?;
        let known = self.columns_of_first_row();
        // Names aren't similar just because their paths start the same way.
        let (side, name) = field.split_at(field.find('.').map_or(0, |dot| dot + 1));
        let names = known.iter().filter_map(|known| known.strip_prefix(side));
        let nearest = nearest(name, names).filter(|nearest| *nearest != name);
        let hint = nearest.map(|it| format!("; did you mean `{side}{}`?", escape::name(it)));
        let hint = hint.unwrap_or_default();
        let field = escape::name(field);
        Some(format!("--group {field}: no row has a value for it{hint}"))
    }

    /// Returns a line for each field that a metric reads but no row has.
    fn unknown_fields(&self, result: &EvaluationResult) -> Vec<String> {
        let metrics = result.metric_names().filter_map(|name| result.metric(name));
        let all = metrics.flat_map(|metric| {
            let fields = metric.unknown_fields.iter();
            fields.map(move |field| (&metric.name, field))
        });
        let line = |(metric, field): (&String, &UnknownField)| {
            // A suggestion ends with a question mark, so it needs no semicolon.
            let end = if field.nearest.is_some() { "" } else { ";" };
            let name = (Side::Pred, &*field.name);
            let hint = self.elsewhere(name, "no row has", "the rows have it");
            format!("{metric}: {field}{end} {hint}")
        };
        all.map(line).collect()
    }
}

/// The `--json` output: the result and, if any commands were run, how they were isolated.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    result: &'a EvaluationResult,
    #[serde(skip_serializing_if = "Value::is_null")]
    sandbox: Value,
}

/// Returns how commands were isolated, or null if none were run.
fn sandbox() -> Value {
    #[cfg(feature = "sandbox")]
    {
        let accounting = dsrs_metrics_sandbox::Accounting::used();
        if !accounting.is_empty() {
            return serde_json::json!({ "accounting": accounting });
        }
    }
    Value::Null
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

/// Returns a sentence about what came from the store and what was paid for, if anything.
fn of_store(rows: u64, store: StoreUse) -> Option<String> {
    let (before, found, paid) = (store.rows_as_before, store.found, store.paid);
    let (results, evaluated) = (found + paid, rows.saturating_sub(before));
    (results > 0).then(|| {
        format!(
            "{rows} rows: {before} unchanged, {evaluated} evaluated; {results} billable results: {found} from the store, {paid} newly paid for"
        )
    })
}

/// Returns warnings about anything that the manifest cannot describe, such as a file that grew while it was read or an
/// unreadable git repository.
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

/// Returns a line for each judge whose replies came from more than one model or fingerprint.
fn reported_models(metric: &MetricSummary) -> impl Iterator<Item = String> {
    let judges = JudgeReplies::of_each(&metric.judged_by);
    let changed = judges.filter(|it| it.models.len() > 1 || it.fingerprints.len() > 1);
    changed.map(|replies| format!("warning: {}: {replies}", metric.name))
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
