//! One call of the metric with rows of dspy-rs, and its outcome.

use std::sync::Arc;

use dspy_rs::Module;
use dsrs_metrics::{
    Example, Metric, MetricError, Outcome, Prediction, Scored,
    contract::{MetricCall, MetricErrorKind},
    rows::Trace,
    runs::ProgramRun,
};

use super::Measured;
use super::report::RowName;
use super::score::{Orientation, to_f32};
use crate::panics::caught;
use crate::rows::{ConvertedExample, ConvertedPrediction, RUN_FIELD, RunField};

/// The rows of one call, as the metric reads them.
pub(super) struct CallRows {
    pub(super) gold: Example,
    /// The prediction, or the error of the program.
    pub(super) pred: Result<Prediction, Arc<str>>,
    pub(super) run: ProgramRun,
    /// The predictor that an optimizer changed last.
    pub(super) predictor: Option<Span>,
}

/// One predictor, with its steps.
pub(super) struct Span {
    pub(super) name: String,
    pub(super) trace: Trace,
}

impl Span {
    /// Returns a predictor with its part of a trace.
    pub(super) fn of(name: String, trace: &Trace) -> Self {
        let steps = trace
            .steps
            .iter()
            .filter(|step| step.predictor == name)
            .cloned()
            .collect();
        Self {
            name,
            trace: Trace { steps },
        }
    }
}

impl CallRows {
    /// Returns the call as in evaluation, without a trace: the metric returns its score.
    pub(super) fn call<'a>(&'a self, pred: &'a Prediction) -> MetricCall<'a> {
        MetricCall::new(&self.gold, pred).with_run(&self.run)
    }

    /// Returns the call of an optimizer that reads feedback on one predictor, or on the whole program.
    pub(super) fn feedback_call<'a>(
        &'a self,
        pred: &'a Prediction,
        span: Option<&'a Span>,
    ) -> MetricCall<'a> {
        let mut call = self.call(pred);
        if let Some(trace) = &self.run.trace {
            call = call.with_trace(trace);
        }
        match span {
            Some(span) => call.with_predictor(&span.name, &span.trace),
            None => call,
        }
    }
}

/// Returns the prediction that stands for a failed run.
pub(super) fn failed_prediction(error: &anyhow::Error) -> dspy_rs::Prediction {
    let run_field = RunField {
        error: Some(format!("{error:#}")),
        ..RunField::default()
    };
    ConvertedPrediction {
        run_field: Some(run_field),
        ..ConvertedPrediction::default()
    }
    .into()
}

impl<M: Module, T: Metric> Measured<M, T> {
    pub(super) fn rows(
        &self,
        example: &dspy_rs::Example,
        prediction: &dspy_rs::Prediction,
    ) -> CallRows {
        let converted = ConvertedPrediction::from(prediction);
        let run = converted.run();
        let field = converted.run_field.unwrap_or_default();
        let pred = match field.error {
            Some(error) => Err(error.into()),
            None => Ok(self.mappings.pred(converted.prediction)),
        };
        let predictor = field.predictor.zip(run.trace.as_ref());
        let predictor = predictor.map(|(name, trace)| Span::of(name, trace));
        let gold = self.mappings.gold(ConvertedExample::from(example));
        CallRows {
            gold,
            pred,
            run,
            predictor,
        }
    }

    /// Calls the metric. A panic is an error.
    pub(super) async fn answer(&self, call: MetricCall<'_>) -> Result<Scored, MetricError> {
        match caught(async { self.metric.answer(call).await }).await {
            Ok(result) => result,
            Err(message) => Err(MetricError::new(
                self.metric.name(),
                MetricErrorKind::Panicked { message },
            )),
        }
    }

    /// Returns the outcome for dspy-rs: a score that it cannot represent is a failure.
    pub(super) async fn outcome(&self, call: MetricCall<'_>) -> Outcome {
        let result = self.answer(call).await;
        result
            .and_then(|scored| self.oriented(scored.score.value).map(|_| scored))
            .into()
    }

    /// Returns a score as dspy-rs reads it: higher is better.
    pub(super) fn oriented(&self, value: f64) -> Result<f32, MetricError> {
        to_f32(
            Orientation::of(&self.metric.spec()).apply(value),
            self.metric.name(),
        )
    }

    /// Returns the exact score of an outcome, where higher is better.
    pub(super) fn exact_score(&self, outcome: &Outcome) -> Option<f64> {
        let value = outcome.value()?;
        Some(Orientation::of(&self.metric.spec()).apply(value))
    }

    /// Adds the outcome of one call to the report, and returns the number for dspy-rs.
    pub(super) fn record(&self, row: impl FnOnce() -> RowName, outcome: &Outcome) -> f32 {
        self.log.add(row, outcome, self.exact_score(outcome));
        let score = outcome.value().and_then(|value| self.oriented(value).ok());
        score.unwrap_or_else(|| self.log.with(|report| report.failure_score))
    }

    /// Returns the name of a row whose position is not known.
    pub(super) fn row_name(&self, example: &dspy_rs::Example) -> RowName {
        if let Some(id) = self.mappings.id(example) {
            return RowName::Id(id);
        }
        let example = ConvertedExample::from(example).example;
        let is_input = |name: &str| {
            example
                .input_keys()
                .is_none_or(|inputs| inputs.iter().any(|input| input == name))
        };
        let fields = example
            .data
            .iter()
            .filter(|(name, _)| *name != RUN_FIELD && is_input(name));
        let fields = fields.map(|(name, value)| format!("`{name}` {value}"));
        let shown: String = fields
            .collect::<Vec<_>>()
            .join(", ")
            .chars()
            .take(MAX_NAME)
            .collect();
        RowName::Inputs(if shown.is_empty() {
            "no inputs".to_owned()
        } else {
            shown
        })
    }
}

/// The maximum number of characters of a row's inputs that name it.
const MAX_NAME: usize = 200;
