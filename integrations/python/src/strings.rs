//! Python strings as UTF-8, without copies: one, or a list of reference answers.

use arrow_array::{Array, LargeListArray, StringViewArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString, PyTuple};
use smallvec::SmallVec;

use crate::columns::{Values, column, range};
use crate::errors::{in_row, type_name, value_error, wrong_type};

/// Most rows have one or two reference answers.
pub(crate) type Few<T> = SmallVec<[T; 2]>;

/// Returns a `str` as UTF-8.
///
/// # Errors
/// `TypeError` for another type, `UnicodeEncodeError` for a lone surrogate.
pub(crate) fn text<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    value
        .cast::<PyString>()
        .map_err(|_| wrong_type("str", value))?
        .to_str()
}

/// As [`text`], for a string that is read after the interpreter lock is released.
pub(crate) fn shared(value: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let string = value
        .cast::<PyString>()
        .map_err(|_| wrong_type("str", value))?;
    PyBackedStr::try_from(string.clone())
}

/// Strings of a Python list, which stay alive while they are borrowed.
pub(crate) struct Strings<'py>(Few<Bound<'py, PyAny>>);

impl<'py> Strings<'py> {
    /// Reads the items of DSPy's `answers_list`.
    ///
    /// # Errors
    /// `ValueError` if it is not a list, as in DSPy.
    pub(crate) fn of_answers_list(list: &Bound<'py, PyAny>) -> PyResult<Self> {
        match list.cast::<PyList>() {
            Ok(list) => Ok(Self(list.iter().collect())),
            Err(_) => {
                let found = list.get_type().repr()?;
                Err(value_error(format!(
                    "`answers_list` must be a list, got {found}"
                )))
            }
        }
    }

    /// Reads a field `answer`: a string or a list of strings.
    ///
    /// # Errors
    /// `ValueError` for another type, as in DSPy.
    pub(crate) fn of_answer(answer: Bound<'py, PyAny>) -> PyResult<Self> {
        if answer.cast::<PyString>().is_ok() {
            return Ok(Self(SmallVec::from_iter([answer])));
        }
        match answer.cast::<PyList>() {
            Ok(list) => Ok(Self(list.iter().collect())),
            Err(_) => Err(value_error(format!(
                "Invalid answer type: {}",
                answer.get_type().repr()?
            ))),
        }
    }

    /// Reads passages: a list or another iterable of strings.
    ///
    /// # Errors
    /// `TypeError` for a string, whose characters DSPy would take for passages, and for a value that is not iterable.
    pub(crate) fn of_passages(passages: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = passages.cast::<PyList>() {
            return Ok(Self(list.iter().collect()));
        }
        Ok(Self(
            items(passages, "a list of strings")?.collect::<PyResult<_>>()?,
        ))
    }

    /// Returns the strings.
    ///
    /// # Errors
    /// As [`text`].
    pub(crate) fn texts(&self) -> PyResult<Few<&str>> {
        self.0.iter().map(text).collect()
    }
}

/// Iterates over a list, a tuple or another iterable that is not a string.
///
/// # Errors
/// `TypeError` for another value.
pub(crate) fn items<'py>(
    value: &Bound<'py, PyAny>,
    expected: &str,
) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>> + use<'py>> {
    if value.cast::<PyString>().is_ok() {
        return Err(wrong_type(expected, value));
    }
    value.try_iter().map_err(|_| wrong_type(expected, value))
}

/// Returns the items of a sequence of rows as a tuple, which cannot change while it is read.
///
/// # Errors
/// `TypeError` for a string and for a value that is not iterable.
pub(crate) fn rows<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Ok(tuple.clone());
    }
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(list.to_tuple());
    }
    let wrong = || wrong_type(&format!("a list for `{name}`"), value);
    let items = items(value, "a list")
        .map_err(|_| wrong())?
        .collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(value.py(), items)
}

/// Checks that two lists of rows have one length.
///
/// # Errors
/// `ValueError` otherwise.
pub(crate) fn same_length(first: (&str, usize), second: (&str, usize)) -> PyResult<()> {
    if first.1 == second.1 {
        return Ok(());
    }
    let ((one, len), (other, other_len)) = (first, second);
    Err(value_error(format!(
        "expected as many items in `{one}` as in `{other}`, found {len} and {other_len}"
    )))
}

/// A string of each row, for use without the interpreter lock.
pub(crate) enum StringRows {
    Objects(Vec<PyBackedStr>),
    Column(StringViewArray),
}

/// The reference answers of each row.
pub(crate) enum AnswerRows {
    Objects(Vec<Answers>),
    /// One string for each row.
    Strings(StringViewArray),
    Lists(Lists),
}

/// The passages of each row.
pub(crate) enum PassageRows {
    Objects(Vec<Vec<PyBackedStr>>),
    Lists(Lists),
}

/// A column of lists of strings.
pub(crate) struct Lists {
    lists: LargeListArray,
    strings: StringViewArray,
}

impl StringRows {
    /// Reads a list or a column of strings.
    ///
    /// # Errors
    /// `TypeError` for another value, with the index of its row.
    pub(crate) fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        match column(name, value)? {
            None => Ok(Self::Objects(objects(name, value, shared)?)),
            Some(Values::Strings(strings)) => {
                check(value.py(), &strings, no_string)?;
                Ok(Self::Column(strings))
            }
            Some(other) => Err(wrong_column(name, "strings", &other)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Objects(strings) => strings.len(),
            Self::Column(strings) => strings.len(),
        }
    }

    pub(crate) fn is_column(&self) -> bool {
        matches!(self, Self::Column(_))
    }

    pub(crate) fn get(&self, row: usize) -> &str {
        match self {
            Self::Objects(strings) => &strings[row],
            Self::Column(strings) => strings.value(row),
        }
    }
}

impl AnswerRows {
    /// Reads a list or a column whose values are strings or lists of strings.
    ///
    /// # Errors
    /// `ValueError` and `TypeError` for another value, with the index of its row.
    pub(crate) fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = value.py();
        Ok(match column(name, value)? {
            None => Self::Objects(objects(name, value, Answers::new)?),
            Some(Values::Strings(strings)) => {
                check_answers(py, &strings)?;
                Self::Strings(strings)
            }
            Some(Values::StringLists(lists, strings)) => {
                check_answers(py, &lists)?;
                Self::Lists(Lists::new(py, lists, strings)?)
            }
            Some(other) => return Err(wrong_column(name, "strings or lists of strings", &other)),
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Objects(answers) => answers.len(),
            Self::Strings(strings) => strings.len(),
            Self::Lists(lists) => lists.lists.len(),
        }
    }

    pub(crate) fn is_column(&self) -> bool {
        !matches!(self, Self::Objects(_))
    }

    /// Replaces strings by the answers of a row.
    pub(crate) fn get<'a>(&'a self, row: usize, answers: &mut Vec<&'a str>) {
        answers.clear();
        match self {
            Self::Objects(all) => answers.extend(all[row].iter().map(|answer| &**answer)),
            Self::Strings(strings) => answers.push(strings.value(row)),
            Self::Lists(lists) => lists.add(row, answers),
        }
    }
}

impl PassageRows {
    /// Reads a list or a column of lists of strings.
    ///
    /// # Errors
    /// `TypeError` for another value, with the index of its row.
    pub(crate) fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = value.py();
        let passages = |context: &Bound<'_, PyAny>| {
            items(context, "a list of strings")?
                .map(|passage| shared(&passage?))
                .collect()
        };
        match column(name, value)? {
            None => Ok(Self::Objects(objects(name, value, passages)?)),
            Some(Values::StringLists(lists, strings)) => {
                let missing = || PyTypeError::new_err("expected a list of strings, found NoneType");
                check(py, &lists, missing)?;
                Ok(Self::Lists(Lists::new(py, lists, strings)?))
            }
            Some(other) => Err(wrong_column(name, "lists of strings", &other)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Objects(passages) => passages.len(),
            Self::Lists(lists) => lists.lists.len(),
        }
    }

    pub(crate) fn is_column(&self) -> bool {
        matches!(self, Self::Lists(_))
    }

    /// Replaces strings by the passages of a row.
    pub(crate) fn get<'a>(&'a self, row: usize, passages: &mut Vec<&'a str>) {
        passages.clear();
        match self {
            Self::Objects(all) => passages.extend(all[row].iter().map(|passage| &**passage)),
            Self::Lists(lists) => lists.add(row, passages),
        }
    }
}

impl Lists {
    fn new(py: Python<'_>, lists: LargeListArray, strings: StringViewArray) -> PyResult<Self> {
        if strings.null_count() > 0 {
            let has_null = |row: &usize| range(&lists, *row).any(|item| strings.is_null(item));
            if let Some(row) = (0..lists.len()).find(has_null) {
                return Err(in_row(py, row, no_string()));
            }
        }
        Ok(Self { lists, strings })
    }

    fn add<'a>(&'a self, row: usize, strings: &mut Vec<&'a str>) {
        strings.extend(range(&self.lists, row).map(|item| self.strings.value(item)));
    }
}

fn no_string() -> PyErr {
    PyTypeError::new_err("expected str, found NoneType")
}

/// Checks that no row of a column is null.
fn check(py: Python<'_>, column: &dyn Array, error: impl FnOnce() -> PyErr) -> PyResult<()> {
    match (0..column.len()).find(|row| column.null_count() > 0 && column.is_null(*row)) {
        Some(row) => Err(in_row(py, row, error())),
        None => Ok(()),
    }
}

fn check_answers(py: Python<'_>, column: &dyn Array) -> PyResult<()> {
    check(py, column, || {
        value_error("expected a str or a list of str as answer, found NoneType")
    })
}

fn wrong_column(name: &str, expected: &str, found: &Values) -> PyErr {
    let found = found.array().data_type();
    PyTypeError::new_err(format!(
        "column `{name}`: expected {expected}, found {found}"
    ))
}

/// Reads every item of a list of rows.
fn objects<'py, T>(
    name: &str,
    value: &Bound<'py, PyAny>,
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let py = value.py();
    let read = |(row, item)| read(&item).map_err(|error| in_row(py, row, error));
    rows(name, value)?.iter().enumerate().map(read).collect()
}

/// The reference answers of one row, for use without the interpreter lock.
pub(crate) enum Answers {
    One(PyBackedStr),
    Many(Vec<PyBackedStr>),
}

impl Answers {
    /// Reads a string or a list of strings.
    ///
    /// # Errors
    /// `ValueError` for another type.
    pub(crate) fn new(answer: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(string) = answer.cast::<PyString>() {
            return Ok(Self::One(PyBackedStr::try_from(string.clone())?));
        }
        match answer.cast::<PyList>() {
            // Most rows have one answer, which needs no allocation.
            Ok(list) if list.len() == 1 => Ok(Self::One(shared(&list.get_item(0)?)?)),
            Ok(list) => Ok(Self::Many(
                list.iter()
                    .map(|item| shared(&item))
                    .collect::<PyResult<_>>()?,
            )),
            Err(_) => Err(value_error(format!(
                "expected a str or a list of str as answer, found {}",
                type_name(answer)
            ))),
        }
    }
}

impl std::ops::Deref for Answers {
    type Target = [PyBackedStr];

    fn deref(&self) -> &[PyBackedStr] {
        match self {
            Self::One(string) => std::slice::from_ref(string),
            Self::Many(strings) => strings,
        }
    }
}
