//! Python values as JSON values, and back.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::errors::{type_name, wrong_type};
use crate::rows::dspy_fields;

/// The deepest nesting of a value, as of the JSON that the library reads.
const MAX_DEPTH: usize = 128;

/// Converts a Python value: a JSON type, a row of DSPy, or a model of pydantic.
///
/// # Errors
/// `TypeError` for another type; `ValueError` for a number that JSON cannot represent and for nesting that is too deep.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    read(value, 0)
}

fn read(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        let message = format!("expected at most {MAX_DEPTH} levels of nesting, found more");
        return Err(PyValueError::new_err(message));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if value.cast::<PyInt>().is_ok() {
        return integer(value);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return float(number.value());
    }
    if let Ok(list) = value.cast::<PyList>() {
        return list.iter().map(|item| read(&item, depth + 1)).collect();
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return tuple.iter().map(|item| read(&item, depth + 1)).collect();
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return object(dict, depth);
    }
    if let Some(fields) = dspy_fields(value)? {
        return object(&fields, depth);
    }
    other(value, depth)
}

/// Converts a model of pydantic, or a number of another library.
fn other(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let py = value.py();
    if let Some(dump) = value.getattr_opt(intern!(py, "model_dump"))? {
        let options = PyDict::new(py);
        options.set_item("mode", "json")?;
        return read(&dump.call((), Some(&options))?, depth + 1);
    }
    if value.hasattr(intern!(py, "__index__"))? {
        return integer(value);
    }
    let expected = "a str, bool, number, None, list or dict";
    match value.hasattr(intern!(py, "__float__"))? {
        true => float(value.extract()?),
        false => Err(wrong_type(expected, value)),
    }
}

fn integer(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let signed = value.extract::<i64>().map(Value::from);
    signed
        .or_else(|_| value.extract::<u64>().map(Value::from))
        .map_err(|_| {
            PyValueError::new_err("expected an integer of at most 64 bits, found a larger one")
        })
}

fn float(number: f64) -> PyResult<Value> {
    let found = || PyValueError::new_err(format!("expected a finite number, found {number}"));
    Number::from_f64(number)
        .map(Value::Number)
        .ok_or_else(found)
}

fn object(dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<Value> {
    let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = key.cast::<PyString>().map_err(|_| {
            PyTypeError::new_err(format!(
                "expected str as keys of a dict, found {}",
                type_name(&key)
            ))
        })?;
        Ok((key.to_str()?.to_owned(), read(&value, depth + 1)?))
    };
    Ok(Value::Object(
        dict.iter().map(entry).collect::<PyResult<Map<_, _>>>()?,
    ))
}

/// Converts a JSON value to `dict`, `list`, `str`, `int`, `float`, `bool` or `None`.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(key, to_python(py, value)?)?;
            }
            dict.into_any()
        }
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
    })
}
