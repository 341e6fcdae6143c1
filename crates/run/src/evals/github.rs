//! Annotations for GitHub Actions.

use std::env;
use std::path::Path;

use super::decide::{GateResult, Verdicts};
use super::eval::Source;
use super::findings::GateVerdict;
use crate::results::Annotation;

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
