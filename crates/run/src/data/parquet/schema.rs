//! The schema of a Parquet file: its names must be unique, and only the columns that a run reads are decoded.

use std::collections::HashSet;
use std::sync::Arc;

use parquet::basic::ConvertedType;
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};

use crate::core::rows::pair::Origin;
use crate::core::spec::Side;
use crate::data::columns::result_columns;
use crate::data::error::DataError;
use crate::data::selection::FieldSelection;

/// Checks that no column or field of a struct occurs twice, since only one of them would be read.
pub(super) fn check_names(schema: &Type, at: &Origin) -> Result<(), DataError> {
    check_group(schema, &mut Vec::new(), at)
}

fn check_group<'s>(group: &'s Type, path: &mut Vec<&'s str>, at: &Origin) -> Result<(), DataError> {
    let mut names = HashSet::new();
    for field in group.get_fields() {
        path.push(field.name());
        if !names.insert(field.name()) {
            return Err(DataError::DuplicateColumn {
                at: at.clone(),
                column: path.join("."),
            });
        }
        if field.is_group() {
            check_group(field, path, at)?;
        }
        path.pop();
    }
    Ok(())
}

/// Returns the schema with the columns that are read.
pub(super) fn project(
    schema: &Type,
    selection: &FieldSelection,
    are_of_results: bool,
) -> Result<Type, ParquetError> {
    let columns = schema.get_fields();
    let names = columns.iter().map(|column| column.name());
    let of_results = match are_of_results {
        true => result_columns(names, selection),
        false => HashSet::new(),
    };
    let columns = columns
        .iter()
        .map(|column| match of_results.contains(column.name()) {
            true => Ok(Some(Arc::clone(column))),
            false => project_column(column, selection),
        });
    let columns = columns
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    Type::group_type_builder(schema.name())
        .with_fields(columns)
        .build()
}

fn project_column(
    column: &TypePtr,
    selection: &FieldSelection,
) -> Result<Option<TypePtr>, ParquetError> {
    let is_read = match column.name() {
        "gold" => return project_side(column, Side::Gold, selection),
        "pred" => return project_side(column, Side::Pred, selection),
        name => selection.reads_column(name),
    };
    Ok(is_read.then(|| Arc::clone(column)))
}

/// A column that is not a struct is read as it is: an error may name its value.
fn project_side(
    column: &TypePtr,
    side: Side,
    selection: &FieldSelection,
) -> Result<Option<TypePtr>, ParquetError> {
    let info = column.get_basic_info();
    let is_struct = column.is_group() && info.converted_type() == ConvertedType::NONE;
    if !is_struct || info.repetition() == parquet::basic::Repetition::REPEATED {
        return Ok(Some(Arc::clone(column)));
    }
    let fields = column.get_fields().iter();
    let fields = fields.filter(|field| selection.field(side, field.name()).is_some());
    let fields: Vec<_> = fields.cloned().collect();
    if fields.is_empty() {
        return Ok(None);
    }
    let group = Type::group_type_builder(column.name()).with_repetition(info.repetition());
    group
        .with_fields(fields)
        .build()
        .map(|group| Some(Arc::new(group)))
}
