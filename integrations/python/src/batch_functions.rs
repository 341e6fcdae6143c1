//! DSPy's functions over lists and columns of rows: on all cores, without the interpreter lock.

use dsrs_metrics::text;
use pyo3::prelude::*;

use crate::columns::{Results, results};
use crate::errors::RowError;
use crate::parallel::map;
use crate::strings::{AnswerRows, PassageRows, StringRows, same_length};

/// Scores each prediction with its reference answers.
fn scores<'py, T>(
    name: &str,
    predictions: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
    score: impl Fn(&str, &[&str]) -> Result<T, text::NoReferences> + Sync,
) -> PyResult<Bound<'py, PyAny>>
where
    T: Default + Send + IntoPyObject<'py>,
    Vec<T>: Results,
{
    let py = predictions.py();
    let (predictions, answers) = (
        StringRows::read("predictions", predictions)?,
        AnswerRows::read("answers", answers)?,
    );
    same_length(
        ("predictions", predictions.len()),
        ("answers", answers.len()),
    )?;
    let worker = || {
        let mut references = Vec::new();
        let (predictions, answers, score) = (&predictions, &answers, &score);
        move |row| {
            answers.get(row, &mut references);
            score(predictions.get(row), &references).map_err(|error| RowError::input(name, error))
        }
    };
    let is_column = predictions.is_column() || answers.is_column();
    results(py, map(py, name, predictions.len(), worker)?, is_column)
}

/// Normalizes a list of strings; `normalize_text` of each.
///
/// >>> normalize_text_batch(["The Eiffel Tower!", "A  Louvre"])
/// ['eiffel tower', 'louvre']
#[pyfunction]
pub(crate) fn normalize_text_batch<'py>(texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (py, texts) = (texts.py(), StringRows::read("texts", texts)?);
    let worker = || |row| Ok(text::normalize_text(texts.get(row)));
    results(
        py,
        map(py, "normalize_text", texts.len(), worker)?,
        texts.is_column(),
    )
}

/// Returns `EM` of each prediction; its answers are a string or a list of strings.
///
/// >>> em_batch(["The Louvre", "Rome"], ["louvre", ["Paris", "Lyon"]])
/// [True, False]
#[pyfunction]
pub(crate) fn em_batch<'py>(
    predictions: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    scores("EM", predictions, answers, |prediction, answers| {
        text::em(prediction, answers)
    })
}

/// Returns `F1` of each prediction; its answers are a string or a list of strings.
///
/// >>> f1_batch(["Eiffel Tower in Paris", "Rome"], ["Paris", ["Rome", "Roma"]])
/// [0.4, 1.0]
#[pyfunction]
pub(crate) fn f1_batch<'py>(
    predictions: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    scores("F1", predictions, answers, |prediction, answers| {
        text::f1(prediction, answers)
    })
}

/// Returns `HotPotF1` of each prediction; its answers are a string or a list of strings.
///
/// >>> hotpot_f1_batch(["yes"], [["yes it is"]])
/// [0.0]
#[pyfunction]
pub(crate) fn hotpot_f1_batch<'py>(
    predictions: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    scores("HotPotF1", predictions, answers, |prediction, answers| {
        text::hotpot_f1(prediction, answers)
    })
}

/// Returns the best `precision_score` of each prediction over its answers, a string or a list of strings.
///
/// >>> precision_batch(["eiffel tower in paris"], ["Eiffel Tower"])
/// [0.5]
#[pyfunction]
pub(crate) fn precision_batch<'py>(
    predictions: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    scores(
        "precision_score",
        predictions,
        answers,
        |prediction, answers| text::precision(prediction, answers),
    )
}

/// Returns `answer_exact_match` of each prediction; its answers are a string or a list of strings.
///
/// >>> answer_exact_match_batch(["Paris, France"], ["Paris"], frac=0.5)
/// [True]
#[pyfunction]
#[pyo3(signature = (predictions, answers, frac=1.0))]
pub(crate) fn answer_exact_match_batch<'py>(
    predictions: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
    frac: f64,
) -> PyResult<Bound<'py, PyAny>> {
    scores(
        "answer_exact_match",
        predictions,
        answers,
        |prediction, answers| text::answer_exact_match(prediction, answers, frac),
    )
}

/// Returns `answer_passage_match` of each list of passages; its answers are a string or a list of strings.
///
/// >>> answer_passage_match_batch([["The Eiffel Tower is in Paris."]], ["Eiffel Tower"])
/// [True]
#[pyfunction]
pub(crate) fn answer_passage_match_batch<'py>(
    contexts: &Bound<'py, PyAny>,
    answers: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = contexts.py();
    let (contexts, answers) = (
        PassageRows::read("contexts", contexts)?,
        AnswerRows::read("answers", answers)?,
    );
    same_length(("contexts", contexts.len()), ("answers", answers.len()))?;
    let worker = || {
        let (mut passages, mut references) = (Vec::new(), Vec::new());
        let (contexts, answers) = (&contexts, &answers);
        move |row| {
            contexts.get(row, &mut passages);
            answers.get(row, &mut references);
            Ok(text::answer_passage_match(&passages, &references))
        }
    };
    let matches = map(py, "answer_passage_match", contexts.len(), worker)?;
    results(py, matches, contexts.is_column() || answers.is_column())
}
