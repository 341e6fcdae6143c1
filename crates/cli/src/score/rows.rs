//! The rows of a run: opening the files, and what to do about a row that a metric cannot read.

use std::sync::Arc;

use crate::args::ScoreArguments;
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::field_error::FieldError;
use crate::core::score::error::MetricErrorKind;
use crate::core::spec::Side;
use crate::data::{DataReader, Pairs};
use crate::error::CliError;
use crate::evaluate::{EvaluateBuilder, EvaluateError};
use crate::hint::Hint;
use crate::messages::suggest::nearest;

/// The builder of an evaluation of the rows of files.
pub(super) type Builder = EvaluateBuilder<Example, Prediction>;

/// Opens the files, with the format and the mappings of the options, for these metrics.
pub(super) fn open(args: &ScoreArguments, metrics: &[Arc<dyn Metric>]) -> Result<Pairs, CliError> {
    let mut reader = DataReader::new();
    if let Some(format) = args.format {
        reader = reader.with_format(format.into());
    }
    for (position, mapping) in args.mappings.iter().enumerate() {
        if args.mappings[..position]
            .iter()
            .any(|other| other.field() == mapping.field())
        {
            return Err(CliError::DuplicateMapping {
                field: mapping.field(),
            });
        }
        reader = reader.with_mapping(mapping.clone());
    }
    check_mappings(args, metrics)?;
    Ok(reader.read_named(args.inputs())?)
}

/// Checks that no mapping has a misspelt field: one that nothing reads, beside a field of a similar name that is read and
/// not mapped. Another mapping that nothing reads has no effect: several runs may share the options.
fn check_mappings(args: &ScoreArguments, metrics: &[Arc<dyn Metric>]) -> Result<(), CliError> {
    let may_read_others = |metric: &Arc<dyn Metric>| !metric.spec().only_fields;
    if args.with_rows || metrics.iter().any(may_read_others) {
        return Ok(());
    }
    let mut read: Vec<(Side, &str)> = Vec::new();
    for metric in metrics {
        read.extend(
            metric
                .spec()
                .get_input_spec()
                .map(|(side, field)| (side, field.name)),
        );
    }
    let is_mapped = |side, name: &str| args.mappings.iter().any(|mapping| mapping.sets(side, name));
    for mapping in &args.mappings {
        let field = mapping.field();
        let Some((side, name)) = field.split_once('.') else {
            continue;
        };
        let side = if side == "gold" {
            Side::Gold
        } else {
            Side::Pred
        };
        let is_group = args
            .group
            .as_deref()
            .is_some_and(|group| group.starts_with(&field));
        if is_group || read.contains(&(side, name)) {
            continue;
        }
        let of_side = read
            .iter()
            .filter(|(its, _)| *its == side)
            .map(|(_, name)| *name);
        if let Some(meant) = nearest(name, of_side).filter(|meant| !is_mapped(side, meant)) {
            let hint = Hint::DidYouMean(format!("{side}.{meant}"));
            return Err(CliError::UnreadMapping {
                mapping: mapping.to_string(),
                field,
                hint,
            });
        }
    }
    Ok(())
}

/// Adds what to do about a missing field.
pub(super) fn with_hint(error: EvaluateError, args: &ScoreArguments) -> CliError {
    let EvaluateError::UnreadableRow { error: metric, .. } = &error else {
        return error.into();
    };
    let MetricErrorKind::Field {
        side,
        error: FieldError::Missing { field, .. },
    } = metric.kind()
    else {
        return error.into();
    };
    let hint = match args
        .mappings
        .iter()
        .find(|mapping| mapping.sets(*side, field))
    {
        Some(mapping) => {
            format!(
                "--map names `{}`, which the row does not have",
                mapping.path()
            )
        }
        None => format!("if the row has it elsewhere, write --map {side}.{field}=PATH"),
    };
    CliError::UnreadableRow {
        error: Box::new(error),
        hint,
    }
}
