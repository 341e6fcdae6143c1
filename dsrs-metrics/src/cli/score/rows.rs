//! The rows of a run: opening the files, and what to do about a row that a metric cannot read.

use crate::cli::args::ScoreArguments;
use crate::cli::error::CliError;
use crate::core::error::{FieldError, MetricErrorKind};
use crate::data::{DataReader, Pairs};
use crate::evaluate::EvaluateError;

/// Opens the files, with the format and the mappings of the options.
pub(super) fn open(args: &ScoreArguments) -> Result<Pairs, CliError> {
    let mut reader = DataReader::new();
    if let Some(format) = args.format {
        reader = reader.with_format(format.into());
    }
    for (position, mapping) in args.mappings.iter().enumerate() {
        if args.mappings[..position].iter().any(|other| other.field() == mapping.field()) {
            return Err(CliError::DuplicateMapping { field: mapping.field() });
        }
        reader = reader.with_mapping(mapping.clone());
    }
    Ok(reader.read(&args.data)?)
}

/// Adds what to do about a missing field.
pub(super) fn with_hint(error: EvaluateError, args: &ScoreArguments) -> CliError {
    let EvaluateError::UnreadableRow { error: metric, .. } = &error else { return error.into() };
    let MetricErrorKind::Field { side, error: FieldError::Missing { field, .. } } = metric.kind()
    else {
        return error.into();
    };
    let hint = match args.mappings.iter().find(|mapping| mapping.sets(*side, field)) {
        Some(mapping) => {
            format!("--map names `{}`, which the row does not have", mapping.path())
        }
        None => format!("if the row has it elsewhere, write --map {side}.{field}=PATH"),
    };
    CliError::UnreadableRow { error: Box::new(error), hint }
}
