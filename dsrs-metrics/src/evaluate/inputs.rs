//! What a program receives of a row, and the check of a devset before the first row.
//!
//! The inputs of one example are in `core/rows/inputs.rs`.

use std::any::Any;
use std::sync::Arc;

use indexmap::IndexMap;

use super::error::EvaluateError;
use crate::core::rows::dynamic::Example;
use crate::core::rows::inputs::{self, InputError};

/// Returns the row as an [`Example`], the only type that distinguishes inputs from labels.
fn as_example<G: 'static>(gold: &G) -> Option<&Example> {
    let gold: &dyn Any = gold;
    gold.downcast_ref()
        .or_else(|| gold.downcast_ref::<Arc<Example>>().map(|gold| &**gold))
        .or_else(|| gold.downcast_ref::<Box<Example>>().map(|gold| &**gold))
}

/// Returns what a program receives of a row: the inputs of an [`Example`], or else the whole row.
pub(super) fn of_row<G: Clone + 'static>(
    gold: &G,
    of_run: Option<&[String]>,
) -> Result<G, InputError> {
    let Some(example) = as_example(gold) else {
        return Ok(gold.clone());
    };
    let mut inputs = Some(example.inputs_in(of_run)?);
    // `G` is one of these types; the cast through `Any` proves it to the compiler.
    let of_type = cast(&mut inputs)
        .or_else(|| cast(&mut inputs.clone().map(Arc::new)))
        .or_else(|| cast(&mut inputs.map(Box::new)));
    Ok(of_type.unwrap_or_else(|| gold.clone()))
}

fn cast<T: 'static, G: 'static>(value: &mut Option<T>) -> Option<G> {
    let value: &mut dyn Any = value;
    value.downcast_mut::<Option<G>>().and_then(Option::take)
}

/// Returns the inputs that the row itself declares.
pub(super) fn declared_by<G: 'static>(gold: &G) -> Option<&[String]> {
    as_example(gold)?.input_keys()
}

/// Checks that the inputs of a row are declared, by the row or by the run. Rows are numbered from 1.
pub(super) fn check_row<G: 'static>(
    row: u64,
    gold: &G,
    of_run: Option<&[String]>,
) -> Result<(), EvaluateError> {
    let declared = as_example(gold).map_or(Ok(()), |example| example.input_names(of_run).map(drop));
    declared.map_err(|error| EvaluateError::Inputs { row, error })
}

/// Checks a list of rows before the first one is run: each row declares its inputs, and each input is a field of at least
/// one of the rows that declare it.
pub(super) fn check_rows<'a, G: 'static>(
    rows: impl Iterator<Item = &'a G>,
    of_run: Option<&[String]>,
) -> Result<(), EvaluateError> {
    // Each input, with the first row that declares it, until a row has it.
    let mut unknown: IndexMap<&str, Option<&Example>> = IndexMap::new();
    for (row, example) in (1..).zip(rows.map_while(as_example)) {
        let names = example.input_names(of_run);
        for name in names.map_err(|error| EvaluateError::Inputs { row, error })? {
            let first = unknown.entry(name).or_insert(Some(example));
            if example.data.contains_key(name) {
                *first = None;
            }
        }
    }
    let unknown = unknown.iter().find_map(|(name, row)| Some((*name, (*row)?)));
    unknown.map_or(Ok(()), |(name, row)| {
        let (name, nearest) = (name.to_owned(), inputs::nearest(name, row));
        Err(EvaluateError::UnknownInput { name, nearest, present: inputs::names_of(row) })
    })
}
