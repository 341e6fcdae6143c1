//! The message that an eval prints: its gates with their figures, the rows that explain a failure, and what to do next.
//! Also annotations for GitHub Actions.

use std::env;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::Value;

use super::decide::{GateResult, Verdicts};
use super::eval::Source;
use super::figures::counted;
use super::findings::GateVerdict;
use crate::evaluate::report::ResultRow;
use crate::json::sorted;
use crate::messages::escape;
use crate::results::{self, Results};
use crate::stats::score_difference;

/// The maximum number of rows shown.
const SHOWN_ROWS: usize = 10;

/// The maximum length of a value shown, in bytes.
const SHOWN_BYTES: usize = 300;

/// What a message contains besides the gates.
#[derive(Default)]
pub(super) struct Notes {
    /// Lines about the run and the baseline.
    pub(super) lines: Vec<String>,
    /// Lines about what to do next.
    pub(super) next: Vec<String>,
}

/// Returns the first line: the verdict of the eval.
fn headline(name: &str, verdicts: &Verdicts) -> String {
    let (gates, fails) = (&verdicts.gates, verdicts.is_failure());
    let count = |verdict| gates.iter().filter(|gate| gate.verdict == verdict).count();
    let worst = gates.iter().rev().max_by_key(|gate| gate.verdict);
    let verdict = match worst.map(|gate| gate.verdict) {
        _ if !fails => "passed",
        Some(GateVerdict::Undecided) => "failed, because `strict` is set and a gate is undecided",
        _ => "failed",
    };
    let unchanged = match count(GateVerdict::Unchanged) {
        0 => String::new(),
        unchanged => format!(", {unchanged} unchanged"),
    };
    let passed = count(GateVerdict::Passed);
    let counts = format!("{passed} of {} gates passed{unchanged}", gates.len());
    match worst {
        Some(gate) if fails => {
            let (text, of_gate, sentence) = (gate.text, gate.verdict.name(), &gate.sentence);
            format!("eval `{name}` {verdict}: {text} {of_gate}: {sentence} ({counts})")
        }
        _ => format!("eval `{name}` {verdict} ({counts})"),
    }
}

/// Prints text past the test harness's capture.
pub(super) fn print_always(text: &str) {
    // A closed standard error changes no verdict.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Returns the whole message.
pub(super) fn message(
    name: &str,
    verdicts: &Verdicts,
    rows: Option<String>,
    notes: &Notes,
) -> String {
    let gates = &verdicts.gates;
    let mut text = headline(name, verdicts) + "\n\n";
    let widths = gates.iter().map(|gate| gate.text.chars().count());
    let width = widths.max().unwrap_or(0);
    for gate in gates {
        let (verdict, sentence) = (gate.verdict.name(), &gate.sentence);
        let gate = gate.text;
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {verdict:9}  {gate:width$}  {sentence}");
    }
    for line in &notes.lines {
        let _ = writeln!(text, "{line}");
    }
    if let Some(rows) = rows {
        let _ = write!(text, "\n{rows}");
    }
    if !notes.next.is_empty() {
        text.push('\n');
    }
    for line in &notes.next {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Returns the rows whose scores changed most since the baseline, or the rows with the worst scores. `sign` is -1 if a
/// lower score is better.
pub(super) fn rows<'r>(
    metric: &str,
    sign: f64,
    baseline: Option<&'r Results>,
    results: &'r Results,
) -> Option<String> {
    let value = |of, row| Some(sign * counted(of, row, metric)?);
    let rank = |row: &'r ResultRow| {
        let new = value(results, row)?;
        let Some(baseline) = baseline else {
            return Some((new, row, None));
        };
        let old = baseline.row(&row.id)?;
        Some((score_difference(new, value(baseline, old)?), row, Some(old)))
    };
    let mut ranked: Vec<_> = results.rows().iter().filter_map(rank).collect();
    // Unchanged rows, and rows with the best score, explain nothing.
    let unexplaining = match baseline {
        Some(_) => 0.0,
        None => ranked
            .iter()
            .fold(f64::NEG_INFINITY, |best, it| best.max(it.0)),
    };
    ranked.retain(|(value, ..)| *value != unexplaining);
    // Stable, so equal rows stay in order. The worst come first.
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = ranked.len();
    let name = escape::name(metric);
    let title = match baseline {
        Some(_) => format!("rows whose {name} changed most, of {count}:"),
        None => format!("rows with the worst {name} scores:"),
    };
    let worst = ranked.iter().take(SHOWN_ROWS);
    let shown: String = worst
        .map(|(_, row, old)| shown(metric, row, *old))
        .collect();
    (!shown.is_empty()).then(|| format!("{title}\n{shown}"))
}

/// Formats a row: its id with the old and new scores, the gold row, and the predictions.
fn shown(metric: &str, row: &ResultRow, old: Option<&ResultRow>) -> String {
    let score = |row: &ResultRow| match row.scores.get(metric) {
        None => "no result".to_owned(),
        Some(score) => match score.value {
            Some(value) => value.to_string(),
            None => {
                let error = score.error.as_deref().map(|it| format!(": {}", text(it)));
                format!("{}{}", score.outcome.name(), error.unwrap_or_default())
            }
        },
    };
    let (id, new) = (escape::name(&row.id), score(row));
    let mut lines = match old {
        Some(old) => format!("  {id}  {} -> {new}\n", score(old)),
        None => format!("  {id}  {new}\n"),
    };
    let mut line = |name: &str, value: Option<&Value>| {
        if let Some(value) = value {
            let _ = writeln!(lines, "    {name}  {}", text(&sorted(value).to_string()));
        }
    };
    line("gold", row.gold.as_ref());
    if let Some(old) = old {
        line("old ", old.pred.as_ref());
    }
    let name = if old.is_some() { "new " } else { "pred" };
    line(name, row.pred.as_ref());
    lines
}

fn text(value: &str) -> String {
    let mut text = escape::escaped(value).into_owned();
    escape::truncate(&mut text, SHOWN_BYTES);
    text
}

/// Returns a workflow command for each failing gate, and a warning for each undecided one.
pub(super) fn annotations(source: &Source, verdicts: &Verdicts) -> String {
    let line = |gate: &GateResult| {
        let kind = match gate.verdict {
            _ if verdicts.fails(gate) => "error",
            GateVerdict::Passed | GateVerdict::Unchanged => return None,
            _ => "warning",
        };
        let message = format!("{}: {}: {}", gate.text, gate.verdict.name(), gate.sentence);
        Some(annotation(source, kind, &message))
    };
    verdicts.gates.iter().filter_map(line).collect()
}

/// Returns a workflow command at the line of the attribute.
pub(super) fn annotation(source: &Source, kind: &str, message: &str) -> String {
    let file = source.source_file();
    let repository = env::var_os("GITHUB_WORKSPACE").unwrap_or_default();
    let relative = file.strip_prefix(Path::new(&repository)).unwrap_or(&file);
    let file = relative.to_string_lossy().replace('\\', "/");
    let (title, at) = (format!("eval {}", source.name), (&*file, source.line));
    format!("{}\n", results::annotation(kind, &title, Some(at), message))
}

#[cfg(test)]
mod tests {
    use super::super::decide::{GateResult, Verdicts};
    use super::super::eval::Source;
    use super::super::findings::GateVerdict;
    use super::annotations;

    fn gate(verdict: GateVerdict, sentence: &str) -> GateResult {
        let sentence = sentence.to_owned();
        GateResult {
            text: "f1 >= 0.8",
            verdict,
            sentence,
            metric: Some("f1"),
            is_relative: false,
        }
    }

    #[test]
    fn a_gate_that_fails_is_one_annotation_at_the_attribute() {
        let source = Source {
            name: "capitals",
            module: "evals",
            file: "src/no such, file.rs",
            line: 7,
            package: "demo",
            folder: "/nowhere",
        };
        let verdicts = |is_strict| {
            let passed = gate(GateVerdict::Passed, "fine");
            let failed = gate(GateVerdict::Failed, "50% of 2\nrows");
            let undecided = gate(GateVerdict::Undecided, "few");
            Verdicts {
                gates: vec![passed, failed, undecided],
                is_strict,
            }
        };
        let warning = "::warning file=src/no such%2C file.rs,line=7,title=eval capitals::f1 >= 0.8: undecided: few\n";
        let error = "::error file=src/no such%2C file.rs,line=7,title=eval capitals::f1 >= 0.8: failed: 50%25 of 2%0Arows\n";
        assert_eq!(
            annotations(&source, &verdicts(false)),
            format!("{error}{warning}")
        );
        let strict = warning.replace("::warning", "::error");
        assert_eq!(
            annotations(&source, &verdicts(true)),
            format!("{error}{strict}")
        );
    }
}
