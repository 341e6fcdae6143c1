//! How the parameters of a program are read from the inputs of a row.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::core::__private::ReadValue;
use crate::core::program::ProgramReturn;
use crate::core::program::ProgramRunError;
use crate::core::program_run::ProgramOutput;
use crate::core::rows::dynamic::Example;
use crate::core::rows::field_error::FieldError;
use crate::core::spec::FieldSpec;
use crate::messages::escape;

/// Reads an input in the form that a parameter requires; `ty` is the type as written.
///
/// # Errors
/// A message, if the row lacks the input or it has another type.
pub fn input<'r, W: ReadValue<'r>>(
    row: &'r Example,
    name: &'static str,
    ty: &'static str,
) -> Result<W::Output, String> {
    let read = W::read_from(&row.data, &FieldSpec::new(name, ty, true));
    read.map_err(|error| match *error {
        FieldError::WrongType {
            expected, found, ..
        } => {
            format!("input `{name}`: expected {expected}, found {found}")
        }
        FieldError::Null { expected, .. } => {
            format!("input `{name}`: expected {expected}, found null")
        }
        _ => format!("no input `{name}`"),
    })
}

/// Reads all inputs as one value.
///
/// # Errors
/// A message, if they do not have the form of the type.
pub fn inputs_as<T: DeserializeOwned>(row: Example) -> Result<T, String> {
    let inputs: serde_json::Map<String, Value> = row.data.into_iter().collect();
    let names = escape::names(inputs.keys().map(String::as_str));
    serde_json::from_value(Value::Object(inputs))
        .map_err(|error| format!("cannot read the inputs {names}: {error}"))
}

/// Returns the output of a program.
///
/// # Errors
/// Its error.
pub fn returned<P, R: ProgramReturn<P>>(output: R) -> Result<ProgramOutput<P>, ProgramRunError> {
    output.into_output()
}
