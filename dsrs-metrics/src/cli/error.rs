//! Why a command did not do what it was asked. Each message is one line.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use super::agree::AgreeError;
use super::output::say;
use super::registry::RegistryError;
use crate::core::params::ParamError;
use crate::data::DataError;
use crate::evaluate::EvaluateError;

#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error("no metric is called `{name}`{}", Hint(nearest, "`list` shows all"))]
    UnknownMetric { name: String, nearest: Option<String> },
    #[error("the metric `{name}` is asked for twice")]
    MetricTwice { name: String },
    #[error(
        "{option}: `{name}` is not among the metrics of this run{}",
        Hint(nearest, "add it with -m")
    )]
    NotInRun { option: String, name: String, nearest: Option<String> },
    #[error("{error}{}", Hint(nearest, ""))]
    Param { error: Box<ParamError>, nearest: Option<String> },
    #[error("--map: `{field}` is mapped twice")]
    MappedTwice { field: String },
    #[error("--out {}: {reason}", file.display())]
    Out { file: PathBuf, reason: String },
    #[error("a concurrency of 0 scores nothing: --concurrency takes 1 or more")]
    NoConcurrency,
    #[cfg(not(feature = "lm"))]
    #[error(
        "{option}: this program asks no language models; build it with them: `cargo install dsrs-metrics --features cli,lm`, or feature `lm` of the dependency `dsrs-metrics`"
    )]
    NoLm { option: &'static str },
    #[error("standard input can be read only once")]
    StandardInputTwice,
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Agree(Box<AgreeError>),
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    #[error("the threads for scoring could not be started: {0}")]
    Runtime(std::io::Error),
    #[error("standard output: {0}")]
    StandardOutput(std::io::Error),
}

impl From<AgreeError> for CliError {
    fn from(error: AgreeError) -> Self {
        Self::Agree(Box::new(error))
    }
}

impl CliError {
    /// Says it on standard error.
    pub(super) fn report(&self) -> ExitCode {
        say(format_args!("error: {self}"));
        ExitCode::from(2)
    }
}

/// The nearest name, or else where to look.
struct Hint<'a>(&'a Option<String>, &'a str);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Some(nearest), _) => write!(f, "; did you mean `{nearest}`?"),
            (None, "") => Ok(()),
            (None, otherwise) => write!(f, "; {otherwise}"),
        }
    }
}
