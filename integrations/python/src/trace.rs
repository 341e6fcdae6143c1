//! Traces of DSPy: lists of (predictor, inputs, outputs).

use dsrs_metrics::{
    rows::{Fields, Trace, TraceStep},
    runs::{ProgramRun, ProgramUsage},
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use serde_json::Value;

use crate::json;
use crate::row_reader::as_dict;
use crate::rows::is_prediction;

/// Converts a trace of DSPy. A value that is not data becomes its `str`. Any other object than a list of steps is an
/// optimizer's trace without steps.
pub(crate) fn trace(trace: &Bound<'_, PyAny>) -> PyResult<Trace> {
    let mut steps = Vec::new();
    let Ok(items) = trace.try_iter() else {
        return Ok(Trace::default());
    };
    for item in items {
        let item = item?;
        let Ok(step) = item.cast::<PyTuple>() else {
            continue;
        };
        if step.len() != 3 {
            continue;
        }
        let (predictor, inputs, outputs) =
            (step.get_item(0)?, step.get_item(1)?, step.get_item(2)?);
        steps.push(TraceStep {
            predictor: name(&predictor)?,
            inputs: fields(&inputs)?.into(),
            outputs: fields(&outputs)?.into(),
        });
    }
    Ok(Trace { steps })
}

/// Returns the name of a predictor: that of its signature, or of its type. DSPy's traces do not have the name within the
/// program.
fn name(predictor: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = predictor.py();
    if let Ok(name) = predictor.cast::<PyString>() {
        return Ok(name.to_str()?.to_owned());
    }
    let signature = predictor.getattr_opt(intern!(py, "signature"))?;
    let name = match signature {
        Some(signature) => signature.getattr_opt(intern!(py, "__name__"))?,
        None => None,
    };
    match name {
        Some(name) => Ok(name.str()?.to_str()?.to_owned()),
        None => Ok(predictor.get_type().name()?.to_str()?.to_owned()),
    }
}

fn fields(row: &Bound<'_, PyAny>) -> PyResult<Fields> {
    let dict = match row.cast::<PyDict>() {
        Ok(dict) => dict.clone(),
        Err(_) => as_dict(row)?,
    };
    let mut fields = Fields::default();
    for (name, value) in dict.iter() {
        let name = name.str()?;
        let value = match json::from_python(&value) {
            Ok(value) => value,
            Err(_) => Value::String(value.str()?.to_str()?.to_owned()),
        };
        fields.insert(name.to_str()?, value);
    }
    Ok(fields)
}

/// Returns what DSPy recorded about the run that made a prediction: its tokens, if it tracks usage.
pub(crate) fn program_run(pred: &Bound<'_, PyAny>) -> PyResult<Option<ProgramRun>> {
    let py = pred.py();
    if !is_prediction(pred)? {
        return Ok(None);
    }
    let usage = pred.getattr(intern!(py, "_lm_usage"))?;
    let Ok(by_model) = usage.cast_into::<PyDict>() else {
        return Ok(None);
    };
    let mut total = ProgramUsage::new(0, 0);
    for (_, usage) in by_model.iter() {
        let count = |name| -> PyResult<u64> {
            let count = usage
                .get_item(name)
                .ok()
                .and_then(|count| count.extract().ok());
            Ok(count.unwrap_or(0))
        };
        total += ProgramUsage::new(
            count(intern!(py, "prompt_tokens"))?,
            count(intern!(py, "completion_tokens"))?,
        );
    }
    let mut run = ProgramRun::default();
    run.usage = Some(total);
    Ok(Some(run))
}
