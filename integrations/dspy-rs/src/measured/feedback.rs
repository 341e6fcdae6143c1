//! `FeedbackEvaluator` of dspy-rs, for a module with a metric, and feedback for each predictor.

use std::fmt::Write as _;

use dspy_rs::{ExecutionTrace, Module};
use dsrs_metrics::optimizers::{FeedbackMetric, objectives};
use dsrs_metrics::{Metric, Outcome};
use serde_json::json;

use super::Measured;
use super::calls::{CallRows, Span};
use super::score::Orientation;
use crate::recorded::run_program;
use crate::rows::{ConvertedExecution, ConvertedPrediction, RunField, trace_into_steps};

/// The feedback on one predictor of a program.
#[derive(Debug, Clone)]
pub struct SpanFeedback {
    /// The predictor's name.
    pub predictor: String,
    /// Score and feedback.
    pub feedback: dspy_rs::FeedbackMetric,
}

impl<M: Module, T: Metric> dspy_rs::FeedbackEvaluator for Measured<M, T> {
    /// Returns the score with the metric's feedback. Its metadata has that of the metric, the exact score as `value`, and
    /// the verdict as `passed` if there is one.
    ///
    /// If the module has [`Recorded`](crate::Recorded) predictors, the metric gets the trace, and the predictor whose
    /// instruction was changed last, which is the one that GEPA is improving. The feedback of a failure states the error.
    async fn feedback_metric(
        &self,
        example: &dspy_rs::Example,
        prediction: &dspy_rs::Prediction,
    ) -> dspy_rs::FeedbackMetric {
        let rows = self.rows(example, prediction);
        self.feedback_on(example, &rows, rows.predictor.as_ref())
            .await
    }

    /// Returns one objective for each named score or component of the metric, or a single one. The metadata has its `name`.
    async fn multi_objective_metric(
        &self,
        example: &dspy_rs::Example,
        prediction: &dspy_rs::Prediction,
    ) -> Vec<dspy_rs::FeedbackMetric> {
        let rows = self.rows(example, prediction);
        let outcome = self.explained(&rows, rows.predictor.as_ref()).await;
        self.record(|| self.row_name(example), &outcome);
        match outcome {
            Outcome::Scored(scored) => {
                let objectives = objectives(&scored, &self.metric.spec());
                objectives
                    .into_iter()
                    .map(|objective| self.converted(objective, None))
                    .collect()
            }
            outcome => vec![self.unscored(&outcome)],
        }
    }
}

impl<M: Module, T: Metric> Measured<M, T> {
    /// Returns feedback on each predictor of a run, in the order of their first steps: one call of the metric for each,
    /// with the predictor's name and its steps. The steps are those of the trace; the names are the metric's `pred_name`.
    ///
    /// ```
    /// use dspy_rs::ExecutionTrace;
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics_dspy_rs::WithMetric;
    /// use serde_json::json;
    /// # struct Program;
    /// # impl dspy_rs::Module for Program {
    /// #     async fn forward(&self, inputs: dspy_rs::Example) -> anyhow::Result<dspy_rs::Prediction> {
    /// #         Ok(dspy_rs::Prediction::from(vec![("answer".to_owned(), "Paris".into())]))
    /// #     }
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let steps = traced_metric_fn("steps", |_, _, _, name, trace| {
    ///     let (name, steps) = (name.unwrap_or("program"), trace.map_or(0, |trace| trace.steps.len()));
    ///     FeedbackMetric::new(1.0, format!("{name} took {steps} steps"))
    /// });
    /// let module = Program.with_metric(steps);
    /// let run = ExecutionTrace::builder(dspy_rs::Example::default());
    /// let run = run.add_step("search", json!(["Paris"])).add_step("search", json!([])).add_step("answer", json!("Paris"));
    /// let spans = module.evaluate_spans(&run.outputs(dspy_rs::Prediction::default()).build()).await;
    /// let feedback: Vec<_> = spans.iter().map(|span| &*span.feedback.feedback).collect();
    /// assert_eq!(feedback, ["search took 2 steps", "answer took 1 steps"]);
    /// # }
    /// ```
    pub async fn evaluate_spans(&self, run: &ExecutionTrace) -> Vec<SpanFeedback> {
        let converted = ConvertedExecution::from(run.clone());
        let error = || RunField {
            error: Some(match run.errors.is_empty() {
                true => "the run has no prediction".to_owned(),
                false => run.errors.join("; "),
            }),
            ..RunField::default()
        };
        let outputs = converted.outputs.unwrap_or_else(|| ConvertedPrediction {
            run_field: Some(error()),
            ..ConvertedPrediction::default()
        });
        let mut rows = self.rows(&run.inputs, &outputs.into());
        rows.run.trace = Some(converted.trace.clone());
        let mut spans: Vec<SpanFeedback> = Vec::new();
        for step in &converted.trace.steps {
            if spans.iter().any(|span| span.predictor == step.predictor) {
                continue;
            }
            let span = Span::of(step.predictor.clone(), &converted.trace);
            let feedback = self.feedback_on(&run.inputs, &rows, Some(&span)).await;
            spans.push(SpanFeedback {
                predictor: span.name,
                feedback,
            });
        }
        spans
    }

    /// Runs the module on one example, and returns dspy-rs's trace of the run: the steps of its
    /// [`Recorded`](crate::Recorded) predictors, its prediction or its error, and the metric's feedback.
    pub async fn execution_trace(&self, inputs: dspy_rs::Example) -> ExecutionTrace {
        let trace = ExecutionTrace::builder(inputs.clone());
        let prediction = match run_program(&self.module, inputs.clone()).await {
            Ok(prediction) => prediction,
            Err(error) => return trace.add_error(format!("{error:#}")).build(),
        };
        let rows = self.rows(&inputs, &prediction);
        let feedback = self.feedback_on(&inputs, &rows, None).await;
        let mut converted = ConvertedPrediction::from(prediction);
        let steps = converted
            .run_field
            .take()
            .and_then(|run| run.trace)
            .unwrap_or_default();
        let mut trace = trace.outputs(converted.into()).feedback(feedback).build();
        trace.intermediate_steps = trace_into_steps(steps);
        trace
    }

    /// Returns the feedback of one call, which is added to the report.
    async fn feedback_on(
        &self,
        example: &dspy_rs::Example,
        rows: &CallRows,
        span: Option<&Span>,
    ) -> dspy_rs::FeedbackMetric {
        let outcome = self.explained(rows, span).await;
        self.record(|| self.row_name(example), &outcome);
        match outcome {
            Outcome::Scored(scored) => {
                let passed = scored.passed;
                self.converted(scored.into_feedback(), passed)
            }
            outcome => self.unscored(&outcome),
        }
    }

    async fn explained(&self, rows: &CallRows, span: Option<&Span>) -> Outcome {
        match &rows.pred {
            Ok(pred) => self.outcome(rows.feedback_call(pred, span)).await,
            Err(error) => Outcome::ProgramFailed {
                error: error.clone(),
            },
        }
    }

    /// Returns feedback as that of dspy-rs. Its score is an `f32` where higher is better.
    fn converted(&self, ours: FeedbackMetric, passed: Option<bool>) -> dspy_rs::FeedbackMetric {
        let FeedbackMetric {
            score,
            feedback,
            mut metadata,
        } = ours;
        metadata.entry("value".to_owned()).or_insert(score.into());
        if let Some(passed) = passed {
            metadata.entry("passed".to_owned()).or_insert(passed.into());
        }
        if Orientation::of(&self.metric.spec()).is_changed() {
            metadata
                .entry("direction".to_owned())
                .or_insert("lower is better".into());
        }
        match self.oriented(score) {
            Ok(score) => dspy_rs::FeedbackMetric {
                score,
                feedback,
                metadata,
            },
            Err(error) => self.unscored(&Outcome::MetricFailed { error }),
        }
    }

    /// Returns the feedback of an outcome without a score.
    fn unscored(&self, outcome: &Outcome) -> dspy_rs::FeedbackMetric {
        let mut feedback = format!("not scored ({})", outcome.name().replace('_', " "));
        if let Some(error) = outcome.error() {
            _ = write!(feedback, ": {error}");
        }
        let score = self.log.with(|report| report.failure_score);
        dspy_rs::FeedbackMetric::new(score, feedback).add_metadata("outcome", json!(outcome.name()))
    }
}
