//! Python strings as UTF-8, without copies: one, or a list of reference answers.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyList, PyString, PyTuple};
use smallvec::SmallVec;

use crate::errors::{type_name, value_error, wrong_type};

/// Most rows have one or two reference answers.
pub(crate) type Few<T> = SmallVec<[T; 2]>;

/// Returns a `str` as UTF-8.
///
/// # Errors
/// `TypeError` for another type, `UnicodeEncodeError` for a lone surrogate.
pub(crate) fn text<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    value.cast::<PyString>().map_err(|_| wrong_type("str", value))?.to_str()
}

/// As [`text`], for a string that is read after the interpreter lock is released.
pub(crate) fn shared(value: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let string = value.cast::<PyString>().map_err(|_| wrong_type("str", value))?;
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
                Err(value_error(format!("`answers_list` must be a list, got {found}")))
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
            Err(_) => {
                Err(value_error(format!("Invalid answer type: {}", answer.get_type().repr()?)))
            }
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
        Ok(Self(items(passages, "a list of strings")?.collect::<PyResult<_>>()?))
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
    let items = items(value, "a list").map_err(|_| wrong())?.collect::<PyResult<Vec<_>>>()?;
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
            Ok(list) => {
                Ok(Self::Many(list.iter().map(|item| shared(&item)).collect::<PyResult<_>>()?))
            }
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
