//! `report`: writes result files as an HTML page. The page is in `results/html/`.

mod args;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dsrs_metrics_formats::Epochs;

use super::error::CliError;
use super::files::Files;
use super::from::InputFile;
use crate::metrics::Registry;
use crate::results::{HtmlReport, ReportRun, ResultsError, ResultsErrorKind};

pub(super) use args::ReportArguments;

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReportError {
    #[error("expected one or two result files, found {found}; name two to compare them")]
    NumberOfFiles { found: usize },
    #[error("{option} needs two result files to compare, found one; remove it")]
    NothingToCompare { option: &'static str },
    #[error("--out {}: unknown extension; expected .html", file.display())]
    NotHtml { file: PathBuf },
    #[error("{option} {error}")]
    Option {
        option: &'static str,
        error: ResultsError,
    },
    #[error(transparent)]
    Results(ResultsError),
    #[error(transparent)]
    Cli(#[from] CliError),
}

impl From<ResultsError> for ReportError {
    fn from(error: ResultsError) -> Self {
        let option = match (error.kind(), error.name()) {
            (ResultsErrorKind::Setting, Some("group")) => "--group:",
            (ResultsErrorKind::Setting, Some("lower_is_better")) => "--lower-is-better:",
            (ResultsErrorKind::Setting, Some("allow_different")) => "--allow-different:",
            (ResultsErrorKind::Output, _) => "--out",
            _ => return Self::Results(error),
        };
        Self::Option { option, error }
    }
}

pub(super) fn run(registry: &Registry, args: &ReportArguments) -> Result<ExitCode, ReportError> {
    let is_html = |file: &Path| {
        file.extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("html"))
    };
    if !is_html(&args.out) {
        return Err(ReportError::NotHtml {
            file: args.out.clone(),
        });
    }
    Files::new()
        .read("RESULTS", &args.results)
        .write("--out", Some(&args.out))
        .check()?;
    if args.results.len() > 2 {
        return Err(ReportError::NumberOfFiles {
            found: args.results.len(),
        });
    }
    if args.results.len() == 1 && !args.allow_different.is_empty() {
        return Err(ReportError::NothingToCompare {
            option: "--allow-different",
        });
    }
    if args.results.len() == 1 && args.strict_identity {
        return Err(ReportError::NothingToCompare {
            option: "--strict-identity",
        });
    }
    let files = args.results.iter();
    let files = files.map(|file| InputFile::open(args.from, Epochs::Repeats, file, false));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let read = |file: &InputFile<'_>| args.runs.read_report(file.named(), args.group.as_deref());
    let runs = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let metrics = runs.iter().flat_map(ReportRun::metrics);
    let mut report = HtmlReport::of_runs(&runs)
        .require_identity(args.runs.require_identity)
        .lower_is_better(args.runs.lower_is_better(registry, metrics))
        .allow_different(args.allow_different.iter().map(String::as_str))
        .strict_identity(args.strict_identity);
    if let Some(field) = &args.group {
        report = report.group(field);
    }
    if let Some(title) = &args.title {
        report = report.title(title);
    }
    report.write(&args.out)?;
    Ok(ExitCode::SUCCESS)
}
