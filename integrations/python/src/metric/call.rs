//! One call of a metric: reading its arguments, evaluating them, and the value that Python gets.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;

use dsrs_metrics::{
    Example, MetricError, Prediction, Scored,
    contract::{Answer, MetricCall, MetricErrorKind, RowAnswer, ScoreKind},
    rows::Trace,
    runs::ProgramRun,
};
use futures_util::FutureExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};

use super::Metric;
use super::feedback::prediction;
use crate::errors::{Kind, RowError, caught, panicked};
use crate::row_reader::{Row, RowReader};
use crate::runtime::block_on;
use crate::trace::{program_run, trace as trace_of};

/// Up to this size of strings, releasing the interpreter lock takes longer than most metrics.
const MAX_SIZE_ATTACHED: usize = 4096;

/// The arguments of a call, for use without the interpreter lock.
pub(super) struct Call {
    gold: Row,
    pred: Row,
    /// What few calls have, so that a batch needs little memory for a row.
    program: Option<Box<ProgramData>>,
    is_explained: bool,
}

/// The rows of a call, as the library reads them.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) gold: Example,
    pub(super) pred: Prediction,
}

/// What a call knows of the program, apart from its prediction.
#[derive(Default)]
struct ProgramData {
    trace: Option<Trace>,
    pred_name: Option<String>,
    pred_trace: Option<Trace>,
    run: Option<ProgramRun>,
}

impl Call {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// As [`RowReader::read`](crate::row_reader::RowReader::read).
    pub(super) fn read<'py>(
        metric: &Metric,
        gold: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
        trace: Option<&Bound<'py, PyAny>>,
        pred_name: Option<String>,
        pred_trace: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let mut call = Self::of_rows(metric, gold, pred)?;
        if trace.is_some() || pred_name.is_some() || pred_trace.is_some() {
            let program = call.program.get_or_insert_default();
            program.trace = trace.map(trace_of).transpose()?;
            program.pred_name = pred_name;
            program.pred_trace = pred_trace.map(trace_of).transpose()?;
        }
        Ok(call)
    }

    /// Reads the rows of a call without a trace.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn of_rows<'py>(
        metric: &Metric,
        gold: &Bound<'py, PyAny>,
        pred: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let [golds, preds] = &*metric.readers;
        Ok(Self {
            gold: golds.read(gold)?,
            pred: preds.read(pred)?,
            program: match golds.has_required() || preds.has_required() {
                // Metrics of the run itself require no field.
                true => None,
                false => program_run(pred)?.map(|run| {
                    Box::new(ProgramData {
                        run: Some(run),
                        ..ProgramData::default()
                    })
                }),
            },
            is_explained: false,
        })
    }

    /// Creates a call with rows of columns.
    pub(super) fn of_columns(gold: Row, pred: Row) -> Self {
        Self {
            gold,
            pred,
            program: None,
            is_explained: false,
        }
    }

    /// Requests details and feedback.
    pub(super) fn explained(mut self) -> Self {
        self.is_explained = true;
        self
    }

    /// Returns `true` if an optimizer passed a trace.
    fn is_traced(&self) -> bool {
        self.program
            .as_ref()
            .is_some_and(|program| program.trace.is_some())
    }

    fn is_small(&self) -> bool {
        self.gold.size().saturating_add(self.pred.size()) <= MAX_SIZE_ATTACHED
    }

    /// Returns the rows of the library.
    pub(super) fn rows(&self, readers: &[RowReader; 2]) -> Rows {
        let mut rows = Rows::default();
        self.write(readers, &mut rows);
        rows
    }

    /// Returns the rows of a finished prediction. Its tokens are fields, because it has no run.
    pub(super) fn finished_rows(&self, readers: &[RowReader; 2]) -> Rows {
        let mut rows = self.rows(readers);
        let run = self
            .program
            .as_ref()
            .and_then(|program| program.run.as_ref());
        if let Some(usage) = run.and_then(|run| run.usage) {
            rows.pred.data.insert("input_tokens", usage.input_tokens);
            rows.pred.data.insert("output_tokens", usage.output_tokens);
        }
        rows
    }

    /// Writes the rows of the library in the memory of earlier ones.
    fn write(&self, [golds, preds]: &[RowReader; 2], rows: &mut Rows) {
        golds.write(&self.gold, &mut rows.gold.data);
        preds.write(&self.pred, &mut rows.pred.data);
    }

    fn metric_call<'a>(&'a self, rows: &'a Rows) -> MetricCall<'a> {
        let mut call = MetricCall::new(&rows.gold, &rows.pred);
        if let Some(program) = &self.program {
            call.trace = program.trace.as_ref();
            call.pred_name = program.pred_name.as_deref();
            call.pred_trace = program.pred_trace.as_ref();
            call.run = program.run.as_ref();
        }
        if self.is_explained {
            call
        } else {
            call.without_explanation()
        }
    }
}

impl Metric {
    /// Returns what a call of the metric returns.
    pub(super) fn call<'py>(&self, py: Python<'py>, call: Call) -> PyResult<Bound<'py, PyAny>> {
        if self.feedback {
            let scored = self.scored(py, &call.explained())?;
            return prediction(py, scored, &self.metric.spec());
        }
        if !call.is_traced() {
            let scored = self.scored(py, &call)?;
            return Ok(self.value(py, scored.score.value));
        }
        let passed = match self.outcome(py, &call)? {
            Ok(scored) => scored.passed.ok_or_else(|| self.without_verdict()),
            Err(error) if error.is_missing_from_prediction => Ok(false),
            Err(error) => Err(error),
        };
        let passed = passed.map_err(|error| error.into_exception(py, None))?;
        Ok(PyBool::new(py, passed).to_owned().into_any())
    }

    fn without_verdict(&self) -> RowError {
        let name = &self.name;
        RowError::new(
            Kind::Metric,
            name,
            format!(
                "metric `{name}`: expected a verdict for the trace of an optimizer, found a score only; set a threshold: metric(\"{name}\", threshold=..)"
            ),
        )
    }

    /// Converts a score to `bool` or `float`.
    pub(super) fn value<'py>(&self, py: Python<'py>, value: f64) -> Bound<'py, PyAny> {
        match self.kind {
            ScoreKind::Bool => PyBool::new(py, value >= 1.0).to_owned().into_any(),
            _ => PyFloat::new(py, value).into_any(),
        }
    }

    /// Evaluates a call.
    ///
    /// # Errors
    /// The exception of a metric without a score.
    pub(super) fn scored(&self, py: Python<'_>, call: &Call) -> PyResult<Scored> {
        self.outcome(py, call)?
            .map_err(|error| error.into_exception(py, None))
    }

    fn outcome(&self, py: Python<'_>, call: &Call) -> PyResult<Result<Scored, RowError>> {
        Ok(match (self.is_async, self.is_slow || !call.is_small()) {
            (true, _) => block_on(py, self.awaited(call))?,
            (false, true) => py.detach(|| self.at_once(call, &mut Rows::default())),
            (false, false) => self.at_once_small(call),
        })
    }

    /// Evaluates a call whose rows are small in memory that this thread keeps for the next one.
    fn at_once_small(&self, call: &Call) -> Result<Scored, RowError> {
        thread_local! {
            static ROWS: Cell<Rows> = Cell::default();
        }
        let mut rows = ROWS.take();
        let outcome = self.at_once(call, &mut rows);
        ROWS.set(rows);
        outcome
    }

    /// Evaluates a call of a metric that does not wait, in the memory of the rows of an earlier call.
    pub(super) fn at_once(&self, call: &Call, rows: &mut Rows) -> Result<Scored, RowError> {
        call.write(&self.readers, rows);
        self.answer_now(call.metric_call(rows))
    }

    /// Evaluates rows of a metric that does not wait.
    pub(super) fn score_now(&self, rows: &Rows) -> Result<Scored, RowError> {
        self.answer_now(MetricCall::new(&rows.gold, &rows.pred).without_explanation())
    }

    fn answer_now(&self, call: MetricCall<'_>) -> Result<Scored, RowError> {
        let answer = || self.metric.answer(call);
        match caught(&self.name, answer)? {
            Answer::Ready(answer) => answer
                .and_then(RowAnswer::scored)
                .map_err(|error| self.error(error)),
            Answer::Pending(_) => {
                let message = "expected a score at once, found a metric that waits; please report this bug of dsrs-metrics";
                Err(RowError::new(Kind::Metric, &self.name, message))
            }
        }
    }

    /// Evaluates a call of a metric that waits.
    pub(super) async fn awaited(&self, call: &Call) -> Result<Scored, RowError> {
        let rows = call.rows(&self.readers);
        let answer = async { self.metric.answer(call.metric_call(&rows)).await };
        let answer = self.settings.clone().scope(answer);
        match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(scored) => scored.map_err(|error| self.error(error)),
            Err(payload) => Err(panicked(&self.name, payload)),
        }
    }

    fn error(&self, error: MetricError) -> RowError {
        if *error.kind() == MetricErrorKind::NoRowScore {
            let name = &self.name;
            return RowError::new(
                Kind::Metric,
                name,
                format!(
                    "metric `{name}` scores all rows together, so that one row has no score; write metric(\"{name}\").evaluate(golds, preds)"
                ),
            );
        }
        error.into()
    }
}
