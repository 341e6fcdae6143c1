//! Rows of Python as rows of the library. Only the fields that a metric declares are read, under the interpreter lock and
//! without copying strings; they become a row on any thread.

use std::sync::Arc;

use dsrs_metrics::{
    contract::{FieldSpec, MetricSpec, Side},
    rows::Fields,
};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyDict, PyDictMethods, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;
use smallvec::SmallVec;

use crate::columns::{Chunks, Values, chunks, set_string};
use crate::errors::{in_field, type_name, value_error, wrong_type};
use crate::json;
use crate::rows::dspy_fields;

/// The value of a field, for use without the interpreter lock.
#[derive(Debug)]
pub(crate) enum Cell {
    Text(PyBackedStr),
    /// Inline for one string, as most rows have.
    Texts(SmallVec<[PyBackedStr; 1]>),
    Json(Value),
}

/// What was read of one row.
#[derive(Debug)]
pub(crate) enum Row {
    /// The declared fields: the position of each, and its value.
    Fields(SmallVec<[(usize, Cell); 1]>),
    /// All fields.
    Whole(Fields),
}

/// The fields of one side of a row that a metric reads.
pub(crate) struct RowReader {
    side: Side,
    fields: Vec<Field>,
    /// `true` if the metric reads other fields too.
    reads_all: bool,
}

struct Field {
    name: Arc<str>,
    key: Py<PyString>,
    required: bool,
}

impl RowReader {
    /// Creates the reader of one side of the rows of a metric with this spec. `name_of` returns the name of the field at
    /// a position, if a parameter sets it.
    pub(crate) fn new(
        py: Python<'_>,
        spec: &MetricSpec<'_>,
        side: Side,
        name_of: impl Fn(usize) -> Option<String>,
    ) -> Self {
        let fields: &[FieldSpec<'_>] = match side {
            Side::Gold => spec.gold,
            Side::Pred => spec.pred,
        };
        let field = |(position, field): (usize, &FieldSpec<'_>)| {
            let name: Arc<str> = name_of(position).map_or_else(|| field.name.into(), Arc::from);
            // Interned, as the keys of most rows are, so that a look-up compares addresses.
            let key = PyString::intern(py, &name).unbind();
            Field {
                name,
                key,
                required: field.required,
            }
        };
        let fields: Vec<_> = fields.iter().enumerate().map(field).collect();
        // `*` stands for all fields.
        let reads_all = !spec.only_fields || fields.iter().any(|field| &*field.name == "*");
        Self {
            side,
            fields,
            reads_all,
        }
    }

    /// Reads a row: an object of DSPy, a dict, an object with attributes, or the value of the only field.
    ///
    /// # Errors
    /// `TypeError` and `ValueError`, with the name of the field.
    pub(crate) fn read(&self, row: &Bound<'_, PyAny>) -> PyResult<Row> {
        if row.cast::<PyString>().is_ok() {
            return self.of_value(row);
        }
        if let Some(fields) = dspy_fields(row)? {
            return self.of_dict(&fields);
        }
        if let Ok(dict) = row.cast::<PyDict>() {
            return self.of_dict(dict);
        }
        match (row.is_none(), self.side) {
            (true, Side::Gold) => Ok(Row::Fields(SmallVec::new())),
            // A program without a result has failed, which is not a prediction without fields.
            (true, Side::Pred) => Err(PyTypeError::new_err(
                "expected a prediction, found None; pass dspy.Prediction() or {} for a program without a result",
            )),
            (false, _) if is_value(row) => self.of_value(row),
            (false, _) => self.of_object(row),
        }
    }

    fn of_dict(&self, dict: &Bound<'_, PyDict>) -> PyResult<Row> {
        let mut cells = SmallVec::new();
        for (position, field) in self.fields.iter().enumerate() {
            match dict.get_item(field.key.bind(dict.py()))? {
                Some(value) => cells.push((position, self.cell(&field.name, &value)?)),
                // With all its fields, the message can show what the row has instead.
                None if field.required => return self.all_of(dict),
                None => {}
            }
        }
        if self.reads_all {
            self.all_of(dict)
        } else {
            Ok(Row::Fields(cells))
        }
    }

    fn all_of(&self, dict: &Bound<'_, PyDict>) -> PyResult<Row> {
        let is_read = |name: &str| self.fields.iter().any(|field| &*field.name == name);
        let mut fields = Fields::default();
        for (key, value) in dict.iter() {
            let Ok(key) = key.cast::<PyString>() else {
                return Err(wrong_type("str as names of fields", &key));
            };
            let key = key.to_str()?;
            match json::from_python(&value) {
                Ok(value) => _ = fields.insert(key, value),
                // A value that is not data, in a field that the metric does not name.
                Err(_) if !is_read(key) => {}
                Err(error) => return Err(in_field(dict.py(), self.side, key, error)),
            }
        }
        Ok(Row::Whole(fields))
    }

    /// Reads a value that is passed instead of a row with one field.
    fn of_value(&self, value: &Bound<'_, PyAny>) -> PyResult<Row> {
        let (position, field) = self.only_field(|| type_name(value))?;
        Ok(Row::Fields(SmallVec::from_iter([(
            position,
            self.cell(&field.name, value)?,
        )])))
    }

    /// The field whose value may be passed instead of a row.
    fn only_field(&self, found: impl FnOnce() -> String) -> PyResult<(usize, &Field)> {
        let mut required = self
            .fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.required);
        let only = match (required.next(), required.next(), &*self.fields) {
            (Some(only), None, _) => Some(only),
            (None, _, [only]) => Some((0, only)),
            _ => None,
        };
        only.ok_or_else(|| {
            let names: Vec<_> =
                self.fields.iter().map(|field| format!("`{}`", field.name)).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            PyTypeError::new_err(format!(
                "expected a row with the fields that the metric reads of `{}` ({names}), found {}; pass a dict or a dspy.Example",
                self.side,
                found()
            ))
        })
    }

    /// Reads a table of rows, or a column with the values of the only field; `None` for another object.
    ///
    /// # Errors
    /// `TypeError` for a column if the metric reads several fields, `ValueError` if a column cannot be read.
    pub(crate) fn columns(&self, rows: &Bound<'_, PyAny>) -> PyResult<Option<Columns>> {
        let Some(chunks) = chunks(rows)? else {
            return Ok(None);
        };
        let (side, len) = (self.side, chunks.len());
        let values = |name: &str, chunks: &Chunks| {
            Ok((Arc::from(name), chunks.values(&format!("{side}.{name}"))?))
        };
        let fields = match chunks.table() {
            Some(table) => {
                let has = |field: &Field| table.iter().any(|(name, _)| *name == &*field.name);
                // With all its fields, the message can show what the row has instead.
                let lacks = self
                    .fields
                    .iter()
                    .any(|field| field.required && !has(field));
                let is_read = |name: &str| {
                    self.reads_all || lacks || self.fields.iter().any(|field| &*field.name == name)
                };
                let read = table.iter().filter(|(name, _)| is_read(name));
                read.map(|(name, chunks)| values(name, chunks))
                    .collect::<PyResult<_>>()?
            }
            None => {
                let (_, field) = self.only_field(|| "a column".to_owned())?;
                vec![values(&field.name, &chunks)?]
            }
        };
        Ok(Some(Columns { side, fields, len }))
    }

    fn of_object(&self, row: &Bound<'_, PyAny>) -> PyResult<Row> {
        let py = row.py();
        if self.reads_all {
            return self.all_of(&as_dict(row)?);
        }
        let mut cells = SmallVec::new();
        for (position, field) in self.fields.iter().enumerate() {
            match row.getattr(field.key.bind(py)) {
                Ok(value) => cells.push((position, self.cell(&field.name, &value)?)),
                Err(error) if !error.is_instance_of::<PyAttributeError>(py) => return Err(error),
                Err(_) if field.required => {
                    return as_dict(row).map_or(Ok(Row::Fields(cells)), |row| self.all_of(&row));
                }
                Err(_) => {}
            }
        }
        Ok(Row::Fields(cells))
    }

    fn cell(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Cell> {
        let read = || {
            if let Ok(text) = value.cast::<PyString>() {
                return Ok(Cell::Text(PyBackedStr::try_from(text.clone())?));
            }
            if let Ok(list) = value.cast::<PyList>()
                && let Some(texts) = strings(list)?
            {
                return Ok(Cell::Texts(texts));
            }
            Ok(Cell::Json(json::from_python(value)?))
        };
        read().map_err(|error| in_field(value.py(), self.side, name, error))
    }

    /// Writes what was read to the fields of a row of the library, whose memory is reused if it has the same fields.
    pub(crate) fn write(&self, row: &Row, fields: &mut Fields) {
        let cells = match row {
            Row::Whole(all) => return fields.clone_from(all),
            Row::Fields(cells) => cells,
        };
        let name = |position: usize| &*self.fields[position].name;
        let names = cells.iter().map(|(position, _)| name(*position));
        if !names.eq(fields.keys()) {
            let values = cells
                .iter()
                .map(|(position, cell)| (name(*position), cell.value()));
            *fields = values.collect();
            return;
        }
        for (position, cell) in cells {
            if let Some(value) = fields.get_mut(name(*position)) {
                cell.write(value);
            }
        }
    }

    /// Returns `true` if the metric requires a field of this side.
    pub(crate) fn has_required(&self) -> bool {
        self.fields.iter().any(|field| field.required)
    }

    /// Returns the names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| &*field.name)
    }
}

/// The fields of one side of many rows.
pub(crate) struct Columns {
    side: Side,
    fields: Vec<(Arc<str>, Values)>,
    len: usize,
}

impl Columns {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns a row.
    ///
    /// # Errors
    /// `ValueError` for a number that is not finite.
    pub(crate) fn row(&self, row: usize) -> PyResult<Row> {
        let mut fields = Fields::default();
        self.write(row, &mut fields).map_err(value_error)?;
        Ok(Row::Whole(fields))
    }

    /// Writes a row in the memory of another one.
    ///
    /// # Errors
    /// A number that is not finite.
    pub(crate) fn write(&self, row: usize, fields: &mut Fields) -> Result<(), String> {
        if !self
            .fields
            .iter()
            .map(|(name, _)| &**name)
            .eq(fields.keys())
        {
            *fields = self
                .fields
                .iter()
                .map(|(name, _)| (&**name, Value::Null))
                .collect();
        }
        for (name, values) in &self.fields {
            if let Some(value) = fields.get_mut(name) {
                values.write(row, value).map_err(|number| {
                    let side = self.side;
                    format!("field `{side}.{name}`: expected a finite number, found {number}")
                })?;
            }
        }
        Ok(())
    }
}

impl Row {
    /// Returns the size of the strings in bytes, or `usize::MAX` if it is not known.
    pub(crate) fn size(&self) -> usize {
        let Self::Fields(cells) = self else {
            return usize::MAX;
        };
        let size = |cell: &Cell| match cell {
            Cell::Text(text) => text.len(),
            Cell::Texts(texts) => texts.iter().map(|text| text.len()).sum(),
            Cell::Json(Value::Array(_) | Value::Object(_)) => usize::MAX,
            Cell::Json(_) => 0,
        };
        cells
            .iter()
            .fold(0, |sum, (_, cell)| sum.saturating_add(size(cell)))
    }
}

impl Cell {
    fn value(&self) -> Value {
        let mut value = Value::Null;
        self.write(&mut value);
        value
    }

    /// Replaces a value, and reuses the memory of strings and lists.
    fn write(&self, value: &mut Value) {
        match (self, value) {
            (Self::Text(text), value) => set_string(text, value),
            (Self::Texts(texts), Value::Array(items)) => {
                items.resize(texts.len(), Value::Null);
                texts
                    .iter()
                    .zip(items)
                    .for_each(|(text, item)| set_string(text, item));
            }
            (Self::Texts(texts), value) => {
                let text = |text: &PyBackedStr| Value::String(text.as_str().to_owned());
                *value = Value::Array(texts.iter().map(text).collect());
            }
            (Self::Json(json), value) => value.clone_from(json),
        }
    }
}

/// Returns the items of a list of strings, or `None` for another list.
fn strings(list: &Bound<'_, PyList>) -> PyResult<Option<SmallVec<[PyBackedStr; 1]>>> {
    let mut strings = SmallVec::with_capacity(list.len());
    for item in list.iter() {
        match item.cast_into::<PyString>() {
            Ok(text) => strings.push(PyBackedStr::try_from(text)?),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(strings))
}

/// Returns `true` if this is the value of a field and not a row. Strings are read before.
fn is_value(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyList>().is_ok()
        || value.cast::<PyTuple>().is_ok()
        || value.cast::<PyInt>().is_ok()
        || value.cast::<PyFloat>().is_ok()
        || value.cast::<PyBool>().is_ok()
}

/// Returns the fields of an object: of its `toDict`, as rows of DSPy have it, or else its attributes.
pub(crate) fn as_dict<'py>(row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = row.py();
    if let Some(fields) = dspy_fields(row)? {
        return Ok(fields);
    }
    let fields = match row.getattr_opt(intern!(py, "toDict"))? {
        Some(to_dict) => Some(to_dict.call0()?),
        None => row.getattr_opt(intern!(py, "__dict__"))?,
    };
    let fields = fields.and_then(|fields| fields.cast_into::<PyDict>().ok());
    fields.ok_or_else(|| {
        wrong_type(
            "a row: a dspy.Example, a dict or an object with attributes",
            row,
        )
    })
}
