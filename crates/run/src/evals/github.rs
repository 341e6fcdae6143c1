//! Annotations and the step summary for GitHub Actions.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use super::decide::{GateResult, Verdicts};
use super::eval::Source;
use super::findings::GateVerdict;
use crate::named_files::require_regular;
use crate::results::{Annotation, markdown_table};

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
    let title = &*format!("eval {}", source.name);
    let annotation = Annotation {
        kind,
        title,
        at: Some((&file, source.line)),
        message,
    };
    format!("{annotation}\n")
}

/// Returns the table of the gates for the step summary, as Markdown.
pub(super) fn summary(name: &str, verdicts: &Verdicts) -> String {
    let verdict = match verdicts.is_failure() {
        true => "failed",
        false => "passed",
    };
    let rows = verdicts.gates.iter().map(|gate| {
        let verdict = gate.verdict.name().to_owned();
        let sentence = gate.sentence.replace(['\n', '\r'], " ");
        vec![gate.text.to_owned(), verdict, sentence]
    });
    let table = markdown_table(["gate", "verdict", "figure"].into_iter(), rows);
    format!("### eval `{name}` {verdict}\n\n{table}\n")
}

/// Appends to the summary of the step with a single write, because several tests do so at once.
pub(super) fn append_summary(text: &str) -> Result<(), String> {
    env::var_os("GITHUB_STEP_SUMMARY").map_or(Ok(()), |path| append(Path::new(&path), text))
}

fn append(path: &Path, text: &str) -> Result<(), String> {
    // A pipe that nobody reads would block. Paths below `/dev` are streams of this process.
    let is_usable = match path.starts_with("/dev") {
        true => Ok(()),
        false => require_regular(path),
    };
    let file = is_usable.and_then(|()| OpenOptions::new().append(true).create(true).open(path));
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    let path = path.display();
    written.map_err(|error| format!("warning: cannot write the step summary `{path}`: {error}\n"))
}

#[cfg(test)]
mod tests {
    use super::super::decide::{GateResult, Verdicts};
    use super::super::eval::Source;
    use super::super::findings::GateVerdict;
    use super::{Path, annotations, append, summary};

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
    #[cfg(unix)]
    fn a_summary_is_appended_and_a_pipe_is_refused() {
        let path = std::env::temp_dir().join(format!("dsrs-summary-{}", std::process::id()));
        append(&path, "a\n").unwrap();
        append(&path, "b\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\nb\n");
        std::fs::remove_file(&path).unwrap();
        append(Path::new("/dev/null"), "a\n").unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(
            append(&path, "a\n").unwrap_err(),
            format!(
                "warning: cannot write the step summary `{}`: expected a regular file, found a pipe, socket or device\n",
                path.display()
            )
        );
        std::fs::remove_file(&path).unwrap();
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
        assert_eq!(
            summary("capitals", &verdicts(false)),
            "### eval `capitals` failed\n\n| gate | verdict | figure |\n| --- | --- | --- |\n| f1 \\>= 0.8 | passed | fine |\n| f1 \\>= 0.8 | failed | 50% of 2 rows |\n| f1 \\>= 0.8 | undecided | few |\n\n"
        );
    }
}
