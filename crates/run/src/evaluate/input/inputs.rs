//! The check of the inputs of a devset before the first row.

use indexmap::IndexMap;

use crate::core::rows::dynamic::Example;
use crate::core::rows::inputs::{self, as_example};
use crate::evaluate::error::EvaluateError;

/// Checks that the inputs of a row are declared, by the row or by the run. Rows are numbered from 1.
pub(crate) fn check_row<G: 'static>(
    row: u64,
    gold: &G,
    of_run: Option<&[String]>,
) -> Result<(), EvaluateError> {
    let declared = as_example(gold).map_or(Ok(()), |example| example.input_names(of_run).map(drop));
    declared.map_err(|error| EvaluateError::Inputs { row, error })
}

/// Checks a list of rows before the first one is run: each row declares its inputs, and each input is a field of at least
/// one of the rows that declare it.
pub(crate) fn check_rows<'a, G: 'static>(
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
    let unknown = unknown
        .iter()
        .find_map(|(name, row)| Some((*name, (*row)?)));
    unknown.map_or(Ok(()), |(name, row)| {
        let (name, nearest) = (name.to_owned(), inputs::nearest(name, row));
        Err(EvaluateError::UnknownInput {
            name,
            nearest,
            present: inputs::names_of(row),
        })
    })
}
