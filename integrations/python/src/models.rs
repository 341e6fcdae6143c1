//! The language model of a judge: a name such as `openai:gpt-6-luna`, or a Python callable.

use std::sync::Arc;

use dsrs_metrics::async_trait;
use dsrs_metrics::judge::Models;
use dsrs_metrics::lm::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, Role};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::errors::{parameter_error, type_name, wrong_type};

/// Creates the models of judges from the argument `lm`.
///
/// # Errors
/// `ParameterError` for a name that is not a model; `TypeError` for a value that is neither a name nor a callable.
pub(crate) fn models(metric: &str, lm: &Bound<'_, PyAny>) -> PyResult<Models> {
    if let Ok(id) = lm.cast::<PyString>() {
        return named(lm.py(), metric, id.to_str()?);
    }
    if !lm.is_callable() {
        return Err(wrong_type("`lm` as \"provider:model\" or a callable", lm));
    }
    let id = format!("python:{}", type_name(lm));
    Ok(with_names(Models::new(Callable {
        id,
        call: lm.clone().unbind(),
    })))
}

#[cfg(feature = "lm")]
fn named(py: Python<'_>, metric: &str, id: &str) -> PyResult<Models> {
    let lm = dsrs_metrics::lm::Lm::from_id(id);
    let lm = lm.map_err(|error| parameter_error(py, metric, error))?;
    Ok(with_names(Models::new(lm)))
}

#[cfg(not(feature = "lm"))]
fn named(py: Python<'_>, metric: &str, id: &str) -> PyResult<Models> {
    let message = format!(
        "expected a callable as `lm`, found \"{id}\"; this module was built without the `lm` feature"
    );
    Err(parameter_error(py, metric, message))
}

/// Lets the members of a panel be models of other names.
#[cfg(feature = "lm")]
fn with_names(models: Models) -> Models {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex, PoisonError};

    let known: Mutex<HashMap<String, Arc<dyn LanguageModel>>> = Mutex::default();
    models.connecting(move |id| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lm) = known.get(id) {
            return Ok(Arc::clone(lm));
        }
        let lm: Arc<dyn LanguageModel> = Arc::new(dsrs_metrics::lm::Lm::from_id(id)?);
        known.insert(id.to_owned(), Arc::clone(&lm));
        Ok(lm)
    })
}

#[cfg(not(feature = "lm"))]
fn with_names(models: Models) -> Models {
    models
}

/// A model that is a Python callable: `lm(messages=[{"role": .., "content": ..}, ..])` returns the reply as a string, or a
/// list whose first item is it, as `dspy.LM` does.
struct Callable {
    id: String,
    call: Py<PyAny>,
}

#[async_trait]
impl LanguageModel for Callable {
    fn id(&self) -> &str {
        &self.id
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let failed = |reason| LmError::new(&*self.id, LmErrorKind::Other(reason));
        let call = Python::attach(|py| self.call.clone_ref(py));
        let messages: Vec<_> = request
            .messages
            .iter()
            .map(|message| (role(message.role), Arc::clone(&message.content)))
            .collect();
        // The callable may block, also on other calls of this runtime.
        let reply = tokio::task::spawn_blocking(move || {
            Python::attach(|py| reply(call.bind(py), &messages).map_err(|error| error.to_string()))
        });
        let reply = reply.await.map_err(|error| failed(error.to_string()))?;
        Ok(LmReply::new(reply.map_err(failed)?))
    }

    /// A probe would cost a call; a callable that fails shows that at the first row.
    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        Ok(None)
    }
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn reply(call: &Bound<'_, PyAny>, messages: &[(&'static str, Arc<str>)]) -> PyResult<String> {
    let py = call.py();
    let message = |(role, content): &(&'static str, Arc<str>)| {
        let message = PyDict::new(py);
        message.set_item(intern!(py, "role"), role)?;
        message.set_item(intern!(py, "content"), &**content)?;
        Ok(message)
    };
    let messages = messages.iter().map(message).collect::<PyResult<Vec<_>>>()?;
    let arguments = PyDict::new(py);
    arguments.set_item(intern!(py, "messages"), PyList::new(py, messages)?)?;
    let reply = call.call((), Some(&arguments))?;
    let first = match reply.cast::<PyList>() {
        Ok(list) if !list.is_empty() => list.get_item(0)?,
        _ => reply,
    };
    // With log probabilities, the items of `dspy.LM` are dicts.
    let text = match first.cast::<PyDict>() {
        Ok(dict) => dict.get_item(intern!(py, "text"))?.unwrap_or(first),
        Err(_) => first,
    };
    let text = text.cast_into::<PyString>().map_err(|error| {
        wrong_type(
            "the reply of `lm` as a str or a list of one",
            &error.into_inner(),
        )
    })?;
    Ok(text.to_str()?.to_owned())
}
