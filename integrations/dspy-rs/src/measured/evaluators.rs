//! `Evaluator` of dspy-rs, for a module with a metric.

use std::time::Instant;

use dspy_rs::{Evaluator, Module};
use dsrs_metrics::{Metric, Outcome};
use futures_util::{StreamExt, stream};

use super::Measured;
use super::report::RowName;
use crate::recorded::run_program;

impl<M: Module, T: Metric> Evaluator for Measured<M, T> {
    const DISPLAY_PROGRESS: bool = false;

    /// Returns the score of one prediction, or the failure score, with which the report counts the call.
    async fn metric(&self, example: &dspy_rs::Example, prediction: &dspy_rs::Prediction) -> f32 {
        let rows = self.rows(example, prediction);
        let outcome = match &rows.pred {
            Ok(pred) => self.outcome(rows.call(pred).without_explanation()).await,
            Err(error) => Outcome::ProgramFailed {
                error: error.clone(),
            },
        };
        self.record(|| self.row_name(example), &outcome)
    }

    /// Runs the module on each example and returns the mean score. A failure of the program or of the metric counts as the
    /// failure score; an abstention does not count.
    async fn evaluate(&self, examples: Vec<dspy_rs::Example>) -> f32 {
        // Owned examples: with borrowed ones, the compiler cannot prove that the future is `Send`.
        let calls = stream::iter(examples.into_iter().enumerate());
        let calls = calls.map(|(row, example)| async move { (row, self.run_row(&example).await) });
        let mut calls: Vec<_> = calls.buffer_unordered(self.concurrency).collect().await;
        // Sums do not depend on which row was finished first.
        calls.sort_unstable_by_key(|(row, _)| *row);
        for (row, outcome) in &calls {
            self.record(|| RowName::Position(*row), outcome);
        }
        let outcomes = calls
            .iter()
            .map(|(_, outcome)| (outcome, self.exact_score(outcome)));
        let failure_score = self.log.with(|report| report.failure_score);
        let mean = self.log.add_evaluation(outcomes);
        mean.map_or(failure_score, narrowed)
    }
}

impl<M: Module, T: Metric> Measured<M, T> {
    /// Runs the module on one example, and scores its prediction.
    async fn run_row(&self, example: &dspy_rs::Example) -> Outcome {
        let start = Instant::now();
        let result = run_program(&self.module, example.clone()).await;
        let latency = start.elapsed();
        let prediction = match result {
            Ok(prediction) => prediction,
            Err(error) => {
                return Outcome::ProgramFailed {
                    error: format!("{error:#}").into(),
                };
            }
        };
        let mut rows = self.rows(example, &prediction);
        rows.run.latency.get_or_insert(latency);
        match &rows.pred {
            Ok(pred) => self.outcome(rows.call(pred).without_explanation()).await,
            Err(error) => Outcome::ProgramFailed {
                error: error.clone(),
            },
        }
    }
}

/// A mean of numbers that are within `f32`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a mean is between its values"
)]
const fn narrowed(mean: f64) -> f32 {
    mean as f32
}
