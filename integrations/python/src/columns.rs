//! Columns of Arrow: of pyarrow, polars, pandas, DuckDB and others that have its PyCapsule interface. They are read and returned
//! without a Python object for each row.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, LargeListArray, LargeStringArray, StringViewArray,
};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use pyo3::exceptions::PyImportError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3_arrow::PyArray;
use pyo3_arrow::input::AnyArray;
use serde_json::{Map, Number, Value};

use crate::errors::value_error;

/// The chunks of a column, or of a table as a column of structs.
pub(crate) struct Chunks {
    chunks: Vec<ArrayRef>,
    data_type: DataType,
}

/// Returns the chunks of a column or table; `None` if the object does not have the interface.
pub(crate) fn chunks(value: &Bound<'_, PyAny>) -> PyResult<Option<Chunks>> {
    let py = value.py();
    let is_column = value.hasattr(intern!(py, "__arrow_c_array__"))?
        || value.hasattr(intern!(py, "__arrow_c_stream__"))?;
    if !is_column {
        return Ok(None);
    }
    let exported = match value.extract::<AnyArray>() {
        // pandas needs pyarrow for this, and its columns are iterables.
        Err(error) if error.is_instance_of::<PyImportError>(py) => return Ok(None),
        exported => exported?,
    };
    let (chunks, field) = exported.into_chunked_array()?.into_inner();
    Ok(Some(Chunks {
        chunks,
        data_type: field.data_type().clone(),
    }))
}

/// Returns the values of a column; `None` if the object is not a column.
///
/// # Errors
/// `ValueError` if its type is not a type of a row's values.
pub(crate) fn column(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<Values>> {
    chunks(value)?.map(|chunks| chunks.values(name)).transpose()
}

impl Chunks {
    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(Array::len).sum()
    }

    /// Returns the names and the chunks of the columns of a table without null rows; `None` if it is a column.
    pub(crate) fn table(&self) -> Option<Vec<(&str, Self)>> {
        let DataType::Struct(fields) = &self.data_type else {
            return None;
        };
        if self.chunks.iter().any(|chunk| chunk.null_count() > 0) {
            return None;
        }
        let column = |(position, field): (usize, &'_ Arc<Field>)| {
            let chunks = self
                .chunks
                .iter()
                .map(|chunk| chunk.as_struct().column(position).clone());
            let data_type = field.data_type().clone();
            Self {
                chunks: chunks.collect(),
                data_type,
            }
        };
        let names = fields.iter().map(|field| field.name().as_str());
        Some(names.zip(fields.iter().enumerate().map(column)).collect())
    }

    /// Returns the values of a column.
    ///
    /// # Errors
    /// As [`column`].
    pub(crate) fn values(&self, name: &str) -> PyResult<Values> {
        let target = target(&self.data_type).ok_or_else(|| unsupported(name, &self.data_type))?;
        let whole = || {
            let chunks = self
                .chunks
                .iter()
                .map(|chunk| arrow_cast::cast(chunk, &target));
            let chunks = chunks.collect::<Result<Vec<_>, ArrowError>>()?;
            let chunks: Vec<_> = chunks.iter().map(|chunk| &**chunk).collect();
            match &*chunks {
                [] => Ok(arrow_array::new_empty_array(&target)),
                _ => arrow_select::concat::concat(&chunks),
            }
        };
        let whole = whole().map_err(|error| value_error(format!("column `{name}`: {error}")))?;
        Ok(whole.into())
    }
}

#[cold]
fn unsupported(name: &str, found: &DataType) -> PyErr {
    value_error(format!(
        "column `{name}`: expected strings, numbers, bools, lists or structs of these, found {found}; cast the column"
    ))
}

/// The type to which a column is cast: strings to views, which share the bytes of the column. `None` for a type that is not a type
/// of a row's values.
fn target(found: &DataType) -> Option<DataType> {
    let item = |field: &Field| Some(Field::new(field.name(), target(field.data_type())?, true));
    Some(match found {
        DataType::Null => DataType::Null,
        DataType::Boolean => DataType::Boolean,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8View,
        found if found.is_signed_integer() => DataType::Int64,
        found if found.is_unsigned_integer() => DataType::UInt64,
        found if found.is_floating() => DataType::Float64,
        DataType::Dictionary(_, values) => target(values)?,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => DataType::LargeList(Arc::new(item(field)?)),
        DataType::Struct(fields) => {
            let fields: Option<Fields> = fields.iter().map(|field| item(field)).collect();
            DataType::Struct(fields?)
        }
        _ => return None,
    })
}

/// The values of a column, in the types of `target`.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    Strings(StringViewArray),
    /// Lists of strings, and the strings of all lists.
    StringLists(LargeListArray, StringViewArray),
    Others(ArrayRef),
}

impl From<ArrayRef> for Values {
    fn from(column: ArrayRef) -> Self {
        match column.data_type() {
            DataType::Utf8View => Self::Strings(column.as_string_view().clone()),
            DataType::LargeList(item) if *item.data_type() == DataType::Utf8View => {
                let lists = column.as_list().clone();
                let strings = lists.values().as_string_view().clone();
                Self::StringLists(lists, strings)
            }
            _ => Self::Others(column),
        }
    }
}

impl Values {
    pub(crate) fn array(&self) -> &dyn Array {
        match self {
            Self::Strings(column) => column,
            Self::StringLists(column, _) => column,
            Self::Others(column) => column,
        }
    }

    /// Writes the value of a row over another value, and reuses the memory of strings and lists.
    ///
    /// # Errors
    /// The number, if it is not finite.
    pub(crate) fn write(&self, row: usize, value: &mut Value) -> Result<(), f64> {
        match self {
            Self::Strings(strings) if strings.is_valid(row) => {
                set_string(strings.value(row), value);
            }
            Self::StringLists(lists, strings) if lists.is_valid(row) => {
                let Value::Array(items) = value else {
                    *value = Value::Array(Vec::new());
                    return self.write(row, value);
                };
                let range = range(lists, row);
                items.resize(range.len(), Value::Null);
                for (item, string) in items.iter_mut().zip(range) {
                    match strings.is_valid(string) {
                        true => set_string(strings.value(string), item),
                        false => *item = Value::Null,
                    }
                }
            }
            _ => *value = value_of(self.array(), row)?,
        }
        Ok(())
    }
}

/// The positions of the items of a list.
pub(crate) fn range(lists: &LargeListArray, row: usize) -> std::ops::Range<usize> {
    let at = |offset: i64| usize::try_from(offset).unwrap_or_default();
    let offsets = lists.value_offsets();
    at(offsets[row])..at(offsets[row + 1])
}

fn value_of(array: &dyn Array, row: usize) -> Result<Value, f64> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Float64 => {
            let number = array.as_primitive::<Float64Type>().value(row);
            Number::from_f64(number).map(Value::Number).ok_or(number)?
        }
        DataType::LargeList(_) => {
            let lists = array.as_list();
            range(lists, row)
                .map(|item| value_of(lists.values(), item))
                .collect::<Result<_, _>>()?
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            let entry = |(field, column): (&Arc<Field>, &ArrayRef)| {
                Ok((field.name().clone(), value_of(column, row)?))
            };
            Value::Object(columns.map(entry).collect::<Result<Map<_, _>, f64>>()?)
        }
        _ => Value::Null,
    })
}

pub(crate) fn set_string(text: &str, value: &mut Value) {
    match value {
        Value::String(old) => {
            old.clear();
            old.push_str(text);
        }
        value => *value = Value::String(text.to_owned()),
    }
}

/// Results that are returned as a column or as a list.
pub(crate) trait Results {
    /// Returns the results as a column.
    fn column(self) -> ArrayRef;
}

impl Results for Vec<bool> {
    fn column(self) -> ArrayRef {
        Arc::new(BooleanArray::from(self))
    }
}

impl Results for Vec<f64> {
    fn column(self) -> ArrayRef {
        Arc::new(Float64Array::from(self))
    }
}

impl Results for Vec<String> {
    fn column(self) -> ArrayRef {
        Arc::new(LargeStringArray::from_iter_values(self))
    }
}

/// Returns results as a column if `is_column` is true, and as a list otherwise.
pub(crate) fn results<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    results: Vec<T>,
    is_column: bool,
) -> PyResult<Bound<'py, PyAny>>
where
    Vec<T>: Results,
{
    match is_column {
        true => Ok(Bound::new(py, PyArray::from_array_ref(results.column()))?.into_any()),
        false => Ok(PyList::new(py, results)?.into_any()),
    }
}
