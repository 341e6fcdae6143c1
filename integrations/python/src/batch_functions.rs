//! DSPy's functions over lists of rows: on all cores, without the interpreter lock.

use dsrs_metrics::text;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyTuple;

use crate::errors::{RowError, in_row};
use crate::parallel::map;
use crate::strings::{Answers, items, rows, same_length, shared};

/// Reads every item of a list of rows.
fn read<'py, T>(
    rows: &Bound<'py, PyTuple>,
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let read = |(row, item)| read(&item).map_err(|error| in_row(rows.py(), row, error));
    rows.iter().enumerate().map(read).collect()
}

/// The predictions and reference answers of a batch.
fn with_answers<'py>(
    predictions: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
) -> PyResult<Vec<(PyBackedStr, Answers)>> {
    let (predictions, answers) = (rows("predictions", predictions)?, rows("answers", answers)?);
    same_length(("predictions", predictions.len()), ("answers", answers.len()))?;
    let py = predictions.py();
    let pairs = predictions.iter().zip(answers.iter()).enumerate();
    let read = |(row, (prediction, answers))| {
        let both = || Ok((shared(&prediction)?, Answers::new(&answers)?));
        both().map_err(|error| in_row(py, row, error))
    };
    pairs.map(read).collect()
}

/// Normalizes a list of strings; `normalize_text` of each.
///
/// >>> normalize_text_batch(["The Eiffel Tower!", "A  Louvre"])
/// ['eiffel tower', 'louvre']
#[pyfunction]
pub(crate) fn normalize_text_batch(texts: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let texts_read = read(&rows("texts", texts)?, shared)?;
    map(texts.py(), "normalize_text", &texts_read, || |one| Ok(text::normalize_text(one)))
}

/// Returns `EM` of each prediction; its answers are a string or a list of strings.
///
/// >>> em_batch(["The Louvre", "Rome"], ["louvre", ["Paris", "Lyon"]])
/// [True, False]
#[pyfunction]
pub(crate) fn em_batch(
    predictions: &Bound<'_, PyAny>,
    answers: &Bound<'_, PyAny>,
) -> PyResult<Vec<bool>> {
    let pairs = with_answers(predictions, answers)?;
    map(predictions.py(), "EM", &pairs, || {
        |(prediction, answers)| {
            text::em(prediction, answers).map_err(|error| RowError::input("EM", error))
        }
    })
}

/// Returns `F1` of each prediction; its answers are a string or a list of strings.
///
/// >>> f1_batch(["Eiffel Tower in Paris", "Rome"], ["Paris", ["Rome", "Roma"]])
/// [0.4, 1.0]
#[pyfunction]
pub(crate) fn f1_batch(
    predictions: &Bound<'_, PyAny>,
    answers: &Bound<'_, PyAny>,
) -> PyResult<Vec<f64>> {
    let pairs = with_answers(predictions, answers)?;
    map(predictions.py(), "F1", &pairs, || {
        |(prediction, answers)| {
            text::f1(prediction, answers).map_err(|error| RowError::input("F1", error))
        }
    })
}

/// Returns `HotPotF1` of each prediction; its answers are a string or a list of strings.
///
/// >>> hotpot_f1_batch(["yes"], [["yes it is"]])
/// [0.0]
#[pyfunction]
pub(crate) fn hotpot_f1_batch(
    predictions: &Bound<'_, PyAny>,
    answers: &Bound<'_, PyAny>,
) -> PyResult<Vec<f64>> {
    let pairs = with_answers(predictions, answers)?;
    map(predictions.py(), "HotPotF1", &pairs, || {
        |(prediction, answers)| {
            text::hotpot_f1(prediction, answers).map_err(|error| RowError::input("HotPotF1", error))
        }
    })
}

/// Returns the best `precision_score` of each prediction over its answers, a string or a list of strings.
///
/// >>> precision_batch(["eiffel tower in paris"], ["Eiffel Tower"])
/// [0.5]
#[pyfunction]
pub(crate) fn precision_batch(
    predictions: &Bound<'_, PyAny>,
    answers: &Bound<'_, PyAny>,
) -> PyResult<Vec<f64>> {
    let pairs = with_answers(predictions, answers)?;
    map(predictions.py(), "precision_score", &pairs, || {
        |(prediction, answers)| {
            text::precision(prediction, answers)
                .map_err(|error| RowError::input("precision_score", error))
        }
    })
}

/// Returns `answer_exact_match` of each prediction; its answers are a string or a list of strings.
///
/// >>> answer_exact_match_batch(["Paris, France"], ["Paris"], frac=0.5)
/// [True]
#[pyfunction]
#[pyo3(signature = (predictions, answers, frac=1.0))]
pub(crate) fn answer_exact_match_batch(
    predictions: &Bound<'_, PyAny>,
    answers: &Bound<'_, PyAny>,
    frac: f64,
) -> PyResult<Vec<bool>> {
    let (name, pairs) = ("answer_exact_match", with_answers(predictions, answers)?);
    map(predictions.py(), name, &pairs, || {
        |(prediction, answers)| {
            text::answer_exact_match(prediction, answers, frac)
                .map_err(|error| RowError::input(name, error))
        }
    })
}

/// Returns `answer_passage_match` of each list of passages; its answers are a string or a list of strings.
///
/// >>> answer_passage_match_batch([["The Eiffel Tower is in Paris."]], ["Eiffel Tower"])
/// [True]
#[pyfunction]
pub(crate) fn answer_passage_match_batch(
    contexts: &Bound<'_, PyAny>,
    answers: &Bound<'_, PyAny>,
) -> PyResult<Vec<bool>> {
    let (contexts, answers) = (rows("contexts", contexts)?, rows("answers", answers)?);
    same_length(("contexts", contexts.len()), ("answers", answers.len()))?;
    let passages = |context: &Bound<'_, PyAny>| {
        let all = items(context, "a list of strings")?;
        all.map(|passage| shared(&passage?)).collect::<PyResult<Vec<_>>>()
    };
    let contexts_read = read(&contexts, passages)?;
    let answers = read(&answers, Answers::new)?;
    let pairs: Vec<_> = contexts_read.into_iter().zip(answers).collect();
    map(contexts.py(), "answer_passage_match", &pairs, || {
        |(passages, answers)| Ok(text::answer_passage_match(passages, answers))
    })
}
