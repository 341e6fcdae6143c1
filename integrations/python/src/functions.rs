//! The functions of `dspy.evaluate.metrics`, with their names, signatures, values and exceptions.

use dsrs_metrics::text;
use pyo3::intern;
use pyo3::prelude::*;

use crate::errors::{RowError, guarded};
use crate::rows::attribute;
use crate::strings::{self, Strings};

/// Normalizes a string for comparison, as DSPy does.
///
/// The steps: Unicode NFD, lower case, removal of ASCII punctuation, removal of the articles a, an and the, white space
/// collapsed.
///
/// >>> normalize_text("The,  Eiffel  Tower!")
/// 'eiffel tower'
#[pyfunction]
pub(crate) fn normalize_text(s: &Bound<'_, PyAny>) -> PyResult<String> {
    guarded(s.py(), "normalize_text", || {
        Ok(text::normalize_text(strings::text(s)?))
    })
}

/// Computes a score of a prediction and several references.
fn with_references<'py, T>(
    name: &str,
    prediction: &Bound<'py, PyAny>,
    answers: impl FnOnce() -> PyResult<Strings<'py>>,
    score: impl FnOnce(&str, &[&str]) -> Result<T, text::NoReferences>,
) -> PyResult<T> {
    let py = prediction.py();
    guarded(py, name, || {
        let answers = answers()?;
        let answers = answers.texts()?;
        score(strings::text(prediction)?, &answers)
            .map_err(|error| RowError::input(name, error).into_exception(py, None))
    })
}

/// Returns `True` if the prediction equals any reference after `normalize_text`.
///
/// Raises `ValueError` if `answers_list` is not a list, or is empty.
///
/// >>> EM("The Eiffel Tower", ["Eiffel Tower", "Louvre"])
/// True
/// >>> EM("paris", ["Paris, France"])
/// False
#[pyfunction(name = "EM")]
pub(crate) fn em(prediction: &Bound<'_, PyAny>, answers_list: &Bound<'_, PyAny>) -> PyResult<bool> {
    let answers = || Strings::of_answers_list(answers_list);
    with_references("EM", prediction, answers, |prediction, answers| {
        text::em(prediction, answers)
    })
}

/// Returns the best token-level F1 over the references, in [0, 1].
///
/// Raises `ValueError` if `answers_list` is not a list, or is empty.
///
/// >>> F1("Eiffel Tower in Paris", ["Paris"])
/// 0.4
#[pyfunction(name = "F1")]
pub(crate) fn f1(prediction: &Bound<'_, PyAny>, answers_list: &Bound<'_, PyAny>) -> PyResult<f64> {
    let answers = || Strings::of_answers_list(answers_list);
    with_references("F1", prediction, answers, |prediction, answers| {
        text::f1(prediction, answers)
    })
}

/// Returns the best F1 of HotPotQA over the references, in [0, 1].
///
/// As `F1`, except that the score is 0 if either side is yes, no or noanswer and the sides differ.
///
/// Raises `ValueError` if `answers_list` is not a list, or is empty.
///
/// >>> HotPotF1("yes", ["yes it is"])
/// 0.0
/// >>> F1("yes", ["yes it is"])
/// 0.5
#[pyfunction(name = "HotPotF1")]
pub(crate) fn hotpot_f1(
    prediction: &Bound<'_, PyAny>,
    answers_list: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    let answers = || Strings::of_answers_list(answers_list);
    with_references("HotPotF1", prediction, answers, |prediction, answers| {
        text::hotpot_f1(prediction, answers)
    })
}

/// Returns `True` if the prediction equals any reference. This is HotPotQA's exact match.
///
/// DSPy has no function of this name. HotPotQA normalizes as `normalize_text` does, so this is `EM`.
///
/// Raises `ValueError` if `answers_list` is not a list, or is empty.
///
/// >>> HotPotEM("Yes.", ["yes"])
/// True
#[pyfunction(name = "HotPotEM")]
pub(crate) fn hotpot_em(
    prediction: &Bound<'_, PyAny>,
    answers_list: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let answers = || Strings::of_answers_list(answers_list);
    with_references("HotPotEM", prediction, answers, |prediction, answers| {
        text::em(prediction, answers)
    })
}

/// Returns `True` if two strings are equal after `normalize_text`.
///
/// >>> em_score("Paris", "paris")
/// True
#[pyfunction]
pub(crate) fn em_score(
    prediction: &Bound<'_, PyAny>,
    ground_truth: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    guarded(prediction.py(), "em_score", || {
        Ok(text::em_score(
            strings::text(prediction)?,
            strings::text(ground_truth)?,
        ))
    })
}

/// Returns the token-level F1 with one reference, in [0, 1].
///
/// >>> f1_score("the Eiffel Tower", "Eiffel Tower")
/// 1.0
#[pyfunction]
pub(crate) fn f1_score(
    prediction: &Bound<'_, PyAny>,
    ground_truth: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    guarded(prediction.py(), "f1_score", || {
        Ok(text::f1_score(
            strings::text(prediction)?,
            strings::text(ground_truth)?,
        ))
    })
}

/// Returns the F1 of HotPotQA with one reference, in [0, 1].
///
/// >>> hotpot_f1_score("no", "yes")
/// 0.0
#[pyfunction]
pub(crate) fn hotpot_f1_score(
    prediction: &Bound<'_, PyAny>,
    ground_truth: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    guarded(prediction.py(), "hotpot_f1_score", || {
        Ok(text::hotpot_f1_score(
            strings::text(prediction)?,
            strings::text(ground_truth)?,
        ))
    })
}

/// Returns the share of the prediction's tokens that the reference has, in [0, 1].
///
/// >>> precision_score("eiffel tower in paris", "Eiffel Tower")
/// 0.5
#[pyfunction]
pub(crate) fn precision_score(
    prediction: &Bound<'_, PyAny>,
    ground_truth: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    guarded(prediction.py(), "precision_score", || {
        Ok(text::precision_score(
            strings::text(prediction)?,
            strings::text(ground_truth)?,
        ))
    })
}

/// Returns `True` if `pred.answer` matches `example.answer`, a string or a list of strings.
///
/// With `frac` below 1, a token-level F1 of at least `frac` is a match. `trace` is ignored. Raises `ValueError` if
/// `example.answer` has another type.
///
/// >>> from types import SimpleNamespace as Row
/// >>> answer_exact_match(Row(answer=["Eiffel Tower", "Louvre"]), Row(answer="The Eiffel Tower"))
/// True
/// >>> answer_exact_match(Row(answer="Paris"), Row(answer="Paris, France"), frac=0.5)
/// True
#[pyfunction]
#[pyo3(signature = (example, pred, trace=None, frac=1.0))]
pub(crate) fn answer_exact_match(
    example: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
    trace: Option<&Bound<'_, PyAny>>,
    frac: f64,
) -> PyResult<bool> {
    let _ = trace;
    let name = intern!(example.py(), "answer");
    let answers = || Strings::of_answer(attribute(example, name)?);
    let prediction = attribute(pred, name)?;
    with_references(
        "answer_exact_match",
        &prediction,
        answers,
        |prediction, answers| text::answer_exact_match(prediction, answers, frac),
    )
}

/// Returns `True` if any passage of `pred.context` contains any answer of `example.answer`, a string or a list of strings.
///
/// `trace` is ignored. Raises `ValueError` if `example.answer` has another type, and `TypeError` if `pred.context` is a
/// string.
///
/// >>> from types import SimpleNamespace as Row
/// >>> answer_passage_match(Row(answer="Eiffel Tower"), Row(context=["The Eiffel Tower is in Paris.", "..."]))
/// True
#[pyfunction]
#[pyo3(signature = (example, pred, trace=None))]
pub(crate) fn answer_passage_match(
    example: &Bound<'_, PyAny>,
    pred: &Bound<'_, PyAny>,
    trace: Option<&Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let _ = trace;
    let py = example.py();
    guarded(py, "answer_passage_match", || {
        let answers = Strings::of_answer(attribute(example, intern!(py, "answer"))?)?;
        let passages = Strings::of_passages(&attribute(pred, intern!(py, "context"))?)?;
        Ok(text::answer_passage_match(
            &passages.texts()?,
            &answers.texts()?,
        ))
    })
}
