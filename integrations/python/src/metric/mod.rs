//! The class `Metric`: a built-in metric as a callable for Python.
//!
//! `create.rs` makes one, `call.rs` evaluates a row, `batch.rs` a list of rows, `evaluate.rs` summarizes a list of rows.
//! `details.rs` and `feedback.rs` convert what a row got, `describe.rs` the spec.

mod batch;
mod call;
mod create;
mod describe;
mod details;
mod evaluate;
mod feedback;

use std::collections::BTreeMap;
use std::sync::Arc;

use dsrs_metrics::contract::{MetricIdentity, MetricSpec, MetricTier, ScoreKind, Settings};
use dsrs_metrics::prelude::{Example, Prediction};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use serde_json::json;

use self::call::Call;
use self::evaluate::Options;
use crate::errors::guarded;
use crate::json::to_python;
use crate::row_reader::RowReader;

pub(crate) use create::{metric, metrics};

/// A built-in metric. `metric(name, **params)` creates one.
///
/// Call it with a gold row and a prediction: `dspy.Example` and `dspy.Prediction`, dicts, or objects with attributes. The
/// value of the only field that the metric reads may take the place of a row. Only the fields that the metric declares are
/// read.
///
/// >>> em = metric("em")
/// >>> em({"answer": ["Paris", "Paris, France"]}, {"answer": "paris!"})
/// True
/// >>> em("Paris", "Rome")
/// False
#[pyclass(frozen, module = "dsrs_metrics")]
pub(crate) struct Metric {
    metric: Arc<dyn dsrs_metrics::Metric>,
    /// The readers of gold rows and predictions.
    readers: Arc<[RowReader; 2]>,
    /// The scope with the model of `lm`, or without models.
    settings: Settings,
    lm: Option<Py<PyAny>>,
    offline: bool,
    params: Py<PyDict>,
    /// `true` if a call returns feedback.
    feedback: bool,
    name: String,
    kind: ScoreKind,
    is_async: bool,
    /// `true` if a row takes so long that the interpreter lock is released for it, whatever its size.
    is_slow: bool,
}

impl Metric {
    fn new(
        metric: Arc<dyn dsrs_metrics::Metric>,
        readers: Arc<[RowReader; 2]>,
        settings: Settings,
        (lm, offline): (Option<Py<PyAny>>, bool),
        params: Py<PyDict>,
        feedback: bool,
    ) -> Self {
        let MetricSpec {
            name,
            kind,
            is_async,
            tier,
            ..
        } = metric.spec();
        let (name, is_slow) = (name.to_owned(), tier == MetricTier::Truth);
        Self {
            readers,
            settings,
            lm,
            offline,
            params,
            feedback,
            name,
            kind,
            is_async,
            is_slow,
            metric,
        }
    }
}

#[pymethods]
impl Metric {
    /// Scores a prediction.
    ///
    /// Without a trace, returns the score: a bool if the metric is one, otherwise a float. With a trace, as optimizers pass
    /// it, returns the verdict, a bool; a metric without a verdict raises `MetricError`, because a number would be taken
    /// for true: create it with a threshold. A metric with feedback returns a `dspy.Prediction` with `score`, `feedback` and
    /// `objective_scores` in both cases.
    #[pyo3(signature = (gold, pred, trace=None, pred_name=None, pred_trace=None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        gold: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        trace: Option<&Bound<'py, PyAny>>,
        pred_name: Option<String>,
        pred_trace: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, &self.name, || {
            let call = Call::read(self, gold, pred, trace, pred_name, pred_trace)?;
            self.call(py, call)
        })
    }

    /// As a call of the metric, in a thread, for `await`.
    #[pyo3(signature = (gold, pred, trace=None, pred_name=None, pred_trace=None))]
    fn acall<'py>(
        slf: &Bound<'py, Self>,
        gold: Bound<'py, PyAny>,
        pred: Bound<'py, PyAny>,
        trace: Option<Bound<'py, PyAny>>,
        pred_name: Option<String>,
        pred_trace: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let asyncio = slf.py().import("asyncio")?;
        asyncio.call_method1("to_thread", (slf, gold, pred, trace, pred_name, pred_trace))
    }

    /// Scores a prediction, and returns the score with its explanation as a dict.
    ///
    /// The keys: `score`, `passed`, `confidence`, `details`, `feedback`, `cost_msats`, `metadata`, `parts` (named scores),
    /// `components` (of a composite) and `missing_fields` (of the prediction).
    ///
    /// >>> details = metric("em").details("Paris", "Lyon")
    /// >>> details["score"], details["passed"], details["details"]
    /// (0.0, False, 'expected "Paris", found "Lyon"')
    #[pyo3(signature = (gold, pred, trace=None, pred_name=None, pred_trace=None))]
    fn details<'py>(
        &self,
        py: Python<'py>,
        gold: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        trace: Option<&Bound<'py, PyAny>>,
        pred_name: Option<String>,
        pred_trace: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, &self.name, || {
            let call = Call::read(self, gold, pred, trace, pred_name, pred_trace)?;
            details::details(py, &self.scored(py, &call.explained())?)
        })
    }

    /// Scores a list of predictions on all cores, without the interpreter lock, and returns the scores in their order. Rows may
    /// be Arrow tables with a column for each field, or columns with the values of the only field; the scores are a column then.
    ///
    /// A metric that waits, such as a judge, scores up to `concurrency` rows at once. A row that fails raises its exception,
    /// whose `row` is its index; with `return_exceptions`, the exception is an item of the list instead. Ctrl-C raises
    /// `KeyboardInterrupt`.
    ///
    /// >>> metric("f1").batch(["Paris", ["Rome", "Roma"]], ["in Paris", "Roma"], )
    /// [0.6666666666666666, 1.0]
    #[pyo3(signature = (golds, preds, *, concurrency=32, return_exceptions=false))]
    fn batch<'py>(
        &self,
        py: Python<'py>,
        golds: Option<&Bound<'py, PyAny>>,
        preds: &Bound<'py, PyAny>,
        concurrency: usize,
        return_exceptions: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, &self.name, || {
            self.batch_of(py, golds, preds, concurrency, return_exceptions)
        })
    }

    /// Scores a list of predictions and returns a summary of all rows as a dict.
    ///
    /// `score` is in the range of the metric: the share of true for a bool, a mean for a number, one score for all rows for a
    /// metric such as `accuracy`. `ci95` and `stderr` belong to it. `mean` counts a failed row as `failure_score`, `mean_scored` leaves it
    /// out; `scored`, `failed` and `abstained` are numbers of rows. `parts` has the summaries of named scores. `manifest` states
    /// what was measured: the identity of the metric, the number of rows, the version of the library, and `label` and `tags`,
    /// which describe the program.
    ///
    /// >>> accuracy = metric("accuracy")
    /// >>> summary = accuracy.evaluate(["a", "b", "b"], ["a", "b", "a"], label="baseline", tags={"prompt": "v2"})
    /// >>> round(summary["score"], 3), summary["scored"]
    /// (0.667, 3)
    /// >>> run = summary["manifest"]["run"]
    /// >>> run["label"], run["tags"], run["metrics"]["accuracy"] == accuracy.identity
    /// ('baseline', {'prompt': 'v2'}, True)
    #[pyo3(signature = (golds, preds, *, concurrency=32, failure_score=0.0, label=None, tags=None))]
    fn evaluate<'py>(
        &self,
        golds: Option<&Bound<'py, PyAny>>,
        preds: &Bound<'py, PyAny>,
        concurrency: usize,
        failure_score: f64,
        label: Option<String>,
        tags: Option<BTreeMap<String, String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = Options {
            concurrency,
            failure_score,
            label,
            tags: tags.unwrap_or_default(),
        };
        guarded(preds.py(), &self.name, || {
            self.summary_of(golds, preds, options)
        })
    }

    /// Returns the same metric, whose calls return a `dspy.Prediction` with `score`, `feedback` and `objective_scores`, as GEPA
    /// expects.
    ///
    /// `objective_scores` has, by name, each named score of the metric, or the score of each component of a composite, or the
    /// score itself of any other metric. A component that was not evaluated, or failed, has no entry for the row. GEPA keeps the
    /// best programs of each objective with `gepa_kwargs={"frontier_type": "objective"}`.
    ///
    /// >>> rouge = metric("rouge_1").with_feedback()
    /// >>> rouge({"answer": "the cat sat"}, {"answer": "the cat"}).objective_scores
    /// {'f1': 0.8, 'precision': 1.0, 'recall': 0.6666666666666666}
    fn with_feedback(&self, py: Python<'_>) -> PyResult<Self> {
        feedback::prediction_class(py)?;
        Ok(Self {
            metric: Arc::clone(&self.metric),
            readers: Arc::clone(&self.readers),
            settings: self.settings.clone(),
            lm: self.lm.as_ref().map(|lm| lm.clone_ref(py)),
            offline: self.offline,
            params: self.params.clone_ref(py),
            feedback: true,
            name: self.name.clone(),
            kind: self.kind,
            is_async: self.is_async,
            is_slow: self.is_slow,
        })
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The name, as of a function.
    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// The declaration as a dict: name, tier, fields, parameters, range, threshold, and so on.
    ///
    /// >>> spec = metric("f1", threshold=0.8).spec
    /// >>> spec["tier"], spec["threshold"], spec["range"]
    /// ('proxy', 0.8, {'min': 0.0, 'max': 1.0})
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, &self.name, || {
            describe::spec(py, &self.metric.spec(), &self.readers)
        })
    }

    /// Returns everything that a score depends on, as a dict: the declaration with the version, the parameters, the contents of files, the models
    /// and the prompts. Metrics of two runs measure the same if their identities are equal. It is the same JSON as in manifests.
    ///
    /// >>> identity = metric("f1", threshold=0.8).identity
    /// >>> identity["name"], identity["threshold"], identity["parameters"]
    /// ('f1', 0.8, {'F1.profile': 'dspy'})
    /// >>> identity == metric("f1").identity
    /// False
    #[getter]
    fn identity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, &self.name, || {
            let identity = || MetricIdentity::of::<Example, Prediction>(&*self.metric);
            to_python(py, &json!(self.settings.clone().scope_sync(identity)))
        })
    }

    /// The signature of a call, which GEPA inspects.
    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static SIGNATURE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let make = || -> PyResult<Py<PyAny>> {
            Ok(py
                .import("dsrs_metrics._signature")?
                .getattr("SIGNATURE")?
                .unbind())
        };
        Ok(SIGNATURE.get_or_try_init(py, make)?.bind(py).clone())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut arguments = vec![format!("\"{}\"", self.name)];
        for (name, value) in self.arguments(py)?.iter() {
            arguments.push(format!("{}={}", name.str()?, value.repr()?));
        }
        Ok(format!("metric({})", arguments.join(", ")))
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        let _ = memo;
        slf
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let create = py.import("dsrs_metrics")?.getattr("metric")?;
        let partial = py.import("functools")?.getattr("partial")?;
        let create = partial.call((create,), Some(&self.arguments(py)?))?;
        Ok((create, PyTuple::new(py, [&self.name])?))
    }
}

impl Metric {
    /// Returns the keyword arguments that create the metric.
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arguments = self.params.bind(py).copy()?;
        if let Some(lm) = &self.lm {
            arguments.set_item(intern!(py, "lm"), lm)?;
        }
        if self.offline {
            arguments.set_item(intern!(py, "offline"), true)?;
        }
        if self.feedback {
            arguments.set_item(intern!(py, "feedback"), true)?;
        }
        Ok(arguments)
    }
}
