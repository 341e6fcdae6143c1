//! `--junit`, `--markdown` and `--summary`: output for CI systems and dashboards, in files or on standard output.

use std::io;
use std::sync::Arc;

use super::limits;
use super::not_passed::NotPassed;
use crate::args::ScoreArguments;
use crate::error::CliError;
use crate::evaluate::EvaluationResult;
use crate::metrics::Registry;
use crate::output::Output;
use crate::results::{Results, markdown_with_rows, summary_csv};
use crate::stdio::{print, print_xml};

/// A format, and the output of the option that names it.
pub(super) struct CiFile<'r> {
    format: Format<'r>,
    output: Output,
}

enum Format<'r> {
    /// With the limits of metrics in this registry.
    JUnit(&'r Registry),
    /// With the rows that do not pass.
    Markdown(Arc<NotPassed>),
    Summary,
}

/// Checks before the first row that the files can be written.
pub(super) fn create<'r>(
    registry: &'r Registry,
    args: &ScoreArguments,
) -> Result<Vec<CiFile<'r>>, CliError> {
    let options = [
        (Format::JUnit(registry), "--junit", &args.junit),
        (Format::Markdown(Arc::new(NotPassed::new(&args.data))), "--markdown", &args.markdown),
        (Format::Summary, "--summary", &args.summary),
    ];
    let named = options.into_iter().filter_map(|(format, name, path)| {
        Some(Output::create(name, path.as_ref()?).map(|output| CiFile { format, output }))
    });
    named.collect()
}

impl CiFile<'_> {
    /// Returns what collects rows for the file during the run.
    pub(super) fn observer(&self) -> Option<Arc<NotPassed>> {
        match &self.format {
            Format::Markdown(rows) => Some(Arc::clone(rows)),
            Format::JUnit(_) | Format::Summary => None,
        }
    }

    pub(super) fn is_standard(&self) -> bool {
        self.output.is_standard()
    }

    /// Prints the content on standard output.
    pub(super) fn print(&self, args: &ScoreArguments, result: &EvaluationResult) -> io::Result<()> {
        let content = self.format.content(args, result)?;
        if matches!(self.format, Format::JUnit(_)) { print_xml(&content) } else { print(&content) }
    }

    /// Writes the file. An evaluation without rows has no JUnit file.
    pub(super) fn write(
        &self,
        args: &ScoreArguments,
        result: &EvaluationResult,
    ) -> Result<(), CliError> {
        let has_content = result.rows > 0 || !matches!(self.format, Format::JUnit(_));
        if has_content && !self.output.is_standard() {
            self.output.write(self.format.content(args, result))?;
        }
        Ok(())
    }

    /// Returns a note for a run without a result, if the file of an earlier run remains.
    pub(super) fn unchanged(&self) -> Option<String> {
        self.output.unchanged()
    }
}

impl Format<'_> {
    fn content(&self, args: &ScoreArguments, result: &EvaluationResult) -> io::Result<String> {
        match self {
            Self::JUnit(registry) => {
                let name = args.data.first().map(|data| data.display().to_string());
                let mut results = Results::of(result).map_err(io::Error::other)?;
                for limits::Gate { threshold, bound, violation } in
                    limits::gates(registry, result, args)
                {
                    let metric = threshold.metric();
                    let part = &threshold.name[metric.len()..];
                    let verdict = if violation.is_some() { "failed" } else { "passed" };
                    let gate = format!("{bound} {}: {verdict}", threshold.limit);
                    results.add_property(metric, &format!("gate{part}"), gate);
                }
                results.with_name(name.unwrap_or_default()).junit()
            }
            Self::Markdown(rows) => Ok(markdown_with_rows(result, &rows.rows())),
            Self::Summary => summary_csv(result),
        }
    }
}
