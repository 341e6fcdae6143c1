//! Errors of a command. Each message is one line.

use std::io;
use std::path::PathBuf;

use super::hint::Hint;
use crate::core::metric::params::ParamError;
use crate::data::DataError;
use crate::evaluate::EvaluateError;
use crate::lm::LmError;
use crate::metrics::CreateError;
use crate::results::ResultsError;

/// Why a command failed before or during its run.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error("unknown metric `{name}`{hint}")]
    UnknownMetric { name: String, hint: Hint },
    #[error(
        "metric `{name}` needs the feature `{feature}`, which this program was built without; build it with `cargo install dsrs-metrics --features cli,{feature}`, or enable the feature `{feature}` of the dependency `dsrs-metrics`"
    )]
    MissingFeature { name: String, feature: &'static str },
    #[error("duplicate metric `{name}`; name it once")]
    DuplicateMetric { name: String },
    #[error("{option}: `{name}` is not a metric of this run{hint}")]
    NotInRun {
        option: String,
        name: String,
        hint: Hint,
    },
    #[error("{option}: expected {expected}")]
    Limit { option: String, expected: String },
    #[error("{error}{hint}")]
    Param { error: Box<ParamError>, hint: Hint },
    #[error("--param {metric}.{key}: set twice; set it once")]
    DuplicateParam { metric: String, key: String },
    #[error("--map: duplicate mapping of `{field}`; write one")]
    DuplicateMapping { field: String },
    #[error("--map {mapping}: no metric of this run reads `{field}`{hint}")]
    UnreadMapping {
        mapping: String,
        field: String,
        hint: Hint,
    },
    #[error("--out {}: {reason}", file.display())]
    Out { file: PathBuf, reason: String },
    #[error("{option} {}: cannot be written: {reason}", file.display())]
    Unwritable {
        option: &'static str,
        file: PathBuf,
        reason: io::Error,
    },
    #[error("{output} and {other} are the same file; choose another file for {option}")]
    SameFile {
        output: String,
        other: String,
        option: String,
    },
    #[error(
        "{output} is {}`{}`, which the parameter `{parameter}` names; choose another file for {option}",
        if *is_folder { "in the folder " } else { "the file " }, path.display()
    )]
    ReadByMetric {
        output: String,
        option: String,
        path: PathBuf,
        parameter: String,
        is_folder: bool,
    },
    #[error("{first} and {second} both write to standard output; choose one of them")]
    StandardOutputTwice { first: String, second: String },
    #[cfg(not(feature = "lm"))]
    #[error(
        "{option}: this program was built without language models; build it with `cargo install dsrs-metrics --features cli,lm`, or enable the feature `lm` of the dependency `dsrs-metrics`"
    )]
    NoLm { option: &'static str },
    #[error(
        "--from: expected a file, found standard input, which cannot be read in another order; write it to a file"
    )]
    FromStandardInput,
    #[error(
        "{}: no row has a score; score the rows first: `score FILE --from {format} -m NAME --out RUN.jsonl`",
        file.display()
    )]
    FromWithoutScores { file: PathBuf, format: &'static str },
    #[error("--from: cannot create the folder of the converted rows: {0}")]
    TemporaryFolder(io::Error),
    #[error(transparent)]
    Format(#[from] dsrs_metrics_formats::FormatError),
    #[error("{0}")]
    #[cfg(feature = "otel")]
    Otlp(String),
    #[cfg(not(feature = "otel"))]
    #[error(
        "--otlp: this program was built without OpenTelemetry; build it with `cargo install dsrs-metrics --features cli,otel`, or enable the feature `otel` of the dependency `dsrs-metrics`"
    )]
    NoOtel,
    #[error(
        "export: missing destination; write --to FORMAT --out PATH, or --otlp URL, as in --otlp http://localhost:4318"
    )]
    NoDestination,
    #[error("standard input (`-`) is named twice, but can be read only once; name it once")]
    StandardInputTwice,
    #[error("{} and {} are the same file; name it once", first.display(), second.display())]
    SameFileTwice { first: PathBuf, second: PathBuf },
    #[error(transparent)]
    Store(#[from] LmError),
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    #[error(transparent)]
    Metric(CreateError),
    #[error("{error}; {hint}")]
    UnreadableRow {
        error: Box<EvaluateError>,
        hint: String,
    },
    #[error("cannot start the threads of the run: {0}")]
    Runtime(io::Error),
    #[error("cannot write to standard output: {0}")]
    StandardOutput(io::Error),
}

impl From<CreateError> for CliError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::UnknownMetric { name, nearest } => {
                let hint = Hint::from(nearest).or(Hint::Instead("see `list` for all metrics"));
                Self::UnknownMetric { name, hint }
            }
            CreateError::MissingFeature { name, feature } => Self::MissingFeature { name, feature },
            CreateError::Param { error, nearest } => Self::Param {
                error,
                hint: Hint::from(nearest),
            },
            error => Self::Metric(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CliError;
    use crate::metrics::CreateError;

    #[test]
    fn an_error_of_the_registry_states_what_to_do_on_the_command_line() {
        let feature = CreateError::MissingFeature {
            name: "sandbox".to_owned(),
            feature: "sandbox",
        };
        assert_eq!(
            CliError::from(feature).to_string(),
            "metric `sandbox` needs the feature `sandbox`, which this program was built without; build it with `cargo \
             install dsrs-metrics --features cli,sandbox`, or enable the feature `sandbox` of the dependency \
             `dsrs-metrics`"
        );
        let unknown = CreateError::UnknownMetric {
            name: "zzz".to_owned(),
            nearest: None,
        };
        assert_eq!(
            CliError::from(unknown).to_string(),
            "unknown metric `zzz`; see `list` for all metrics"
        );
    }
}
