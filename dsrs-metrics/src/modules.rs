//! The public modules that re-export the items of one subject.

pub mod contract {
    //! The contract of metrics: what a metric declares ([`MetricSpec`]), how it is called ([`MetricCall`]) and configured
    //! ([`Params`]), and what it returns ([`Answer`], [`MetricReturn`]).
    //!
    //! `#[metric]` and `#[judge]` implement this contract for you. Import these types if you implement
    //! [`Metric`](crate::Metric) by hand, or call metrics from a different harness.

    pub use dsrs_metrics_core::{
        Answer, ClosureReturn, Component, Configure, CorpusCounts, CorpusFormula, CorpusState,
        Counted, Direction, Explanation, FieldSpec, FnMetric, IdentityDifference, Instance,
        InvalidWeights, MetricCall, MetricErrorKind, MetricFile, MetricIdentity, MetricName,
        MetricReturn, MetricSpec, MetricTier, NamesFiles, ParamError, ParamSpec, Params, Part,
        RepeatNumber, RepliedBy, Requirement, RowAnswer, ScoreKind, ScoreRange, ScoredAtOnce,
        Scores, Settings, Side, Weights, WithCorpus, WithSettings, typed_metric_fn,
    };
}

pub mod judge {
    //! Judges: metrics that ask a language model. A [`Signature`] describes the question, [`Untrusted`] inserts row content
    //! into the prompt safely, and a [`Panel`] aggregates the verdicts of several judges.
    //!
    //! Language models are in [`lm`](crate::lm), and the library's built-in judges are in [`shipped`].
    //!
    //! ```
    //! use dsrs_metrics::lm::ScriptedLm;
    //! use dsrs_metrics::prelude::*;
    //! use serde_json::json;
    //!
    //! /// Compare a system's response to the ground truth and report recall and precision.
    //! #[judge(score = harmonic_mean(precision, recall), threshold = 0.66, cost = "100 msat")]
    //! struct SemanticRecallPrecision {
    //!     #[input(gold)]
    //!     question: String,
    //!     #[input(gold = "response")]
    //!     ground_truth: String,
    //!     #[input(pred = "response")]
    //!     system_response: String,
    //!     /// fraction of the ground truth that the response covers
    //!     #[output(range = 0.0..=1.0)]
    //!     recall: f64,
    //!     /// fraction of the response that the ground truth supports
    //!     #[output(range = 0.0..=1.0)]
    //!     precision: f64,
    //! }
    //!
    //! # #[tokio::main(flavor = "current_thread")]
    //! # async fn main() -> dsrs_metrics::Result<()> {
    //! let lm = ScriptedLm::new()
    //!     .otherwise(json!({ "reasoning": "Half of it.", "recall": 0.5, "precision": 1.0 }));
    //! let judge = SemanticRecallPrecisionJudge::default().with_lm(lm);
    //! let gold = example! { "question" => "Capital of France?", "response" => "Paris, on the Seine" };
    //! let score = judge.evaluate(&gold, &prediction! { "response" => "Paris" }).await?;
    //! assert_eq!(score.value, 2.0 / 3.0);
    //! assert_eq!(score.details.as_deref(), Some("Half of it."));
    //! # Ok(())
    //! # }
    //! ```

    #[cfg(feature = "metrics")]
    pub use dsrs_metrics_builtin::shipped;
    pub use dsrs_metrics_core::judge::*;
}

pub mod optimizers {
    //! Interfaces for program optimizers: [`FeedbackEvaluator`] gives feedback on a row, and [`AcceptanceTest`] says if a
    //! row passes while the program is traced.
    //!
    //! While an optimizer runs, it passes the program's [`Trace`](crate::rows::Trace) to the metric. If the metric returns
    //! `bool` or has a threshold, it then returns `true` for the rows it accepts.

    #[doc(hidden)]
    pub use dsrs_metrics_core::objectives;
    pub use dsrs_metrics_core::{
        AcceptanceTest, FeedbackEvaluator, FeedbackMetric, Grade, MetricScore, traced_metric_fn,
    };
}

pub mod rows {
    //! Rows: the fields of an [`Example`](crate::Example) and a [`Prediction`](crate::Prediction), the types a field can
    //! have, program traces, and pairs of rows with their origin in a file.
    //!
    //! To learn about dynamic and typed rows, see the [guide](crate::guide::rows).

    pub use dsrs_metrics_core::{
        FieldError, FieldType, Fields, FromSerializeError, InputError, Origin, Pair, RowType,
        Trace, TraceStep, TypeHelp, ValueKind, ValueType,
    };
}

pub mod runs {
    //! Programs, and everything around [`Evaluate`](crate::Evaluate): its builder and errors, the results of a run and of its
    //! rows, repeats, observers and the store. Also converts files of other programs (feature `formats`) and sends results
    //! to OpenTelemetry (feature `otel`).

    #[cfg(feature = "metrics")]
    pub use dsrs_metrics_builtin::SimulatedUser;
    #[doc(hidden)]
    pub use dsrs_metrics_core::IsProgram;
    pub use dsrs_metrics_core::{
        ByCall, ByForward, Fallible, Module, Program, ProgramError, ProgramOutput, ProgramReturn,
        ProgramRun, ProgramRunError, ProgramUsage,
    };
    #[cfg(feature = "formats")]
    #[doc(inline)]
    pub use dsrs_metrics_formats as formats;
    #[cfg(feature = "otel")]
    #[doc(inline)]
    pub use dsrs_metrics_otel as otel;
    #[cfg(feature = "evaluate")]
    pub use dsrs_metrics_run::{
        BudgetReport, DecidedGate, DevsetRows, EarlyResult, Ending, EvaluateBuilder, EvaluateError,
        EvaluateErrorKind, EvaluationResult, Evaluator, FailureSettings, FileSettings, InputNames,
        JudgedBy, MetricList, MetricSummary, ModelSettings, Observer, ProgramTotals,
        ProgressDisplay, Repeat, RepeatSummary, RolloutNumber, RowResult, RunStart, Running,
        Sample, Spending, StatisticsSettings, StopSettings, StoreUse, TruthMethod, TruthResult,
        TruthStratum, UnknownField,
    };
    #[cfg(feature = "evaluate")]
    #[doc(hidden)]
    pub use dsrs_metrics_run::{ByList, ByName, DevsetRow, missing_features};
    #[cfg(feature = "report")]
    pub use dsrs_metrics_run::{ResultTable, TableRows};
}

#[cfg(feature = "evaluate")]
pub mod scoring {
    //! Scores rollouts within a budget: a [`Scorer`] evaluates cheap metrics first, and expensive ones only for the
    //! rollouts that pass.
    //!
    //! For an example, see the [guide](crate::guide::scorer).

    pub use dsrs_metrics_run::{
        AggregationError, AggregationMethod, BoxedMetric, FinalScore, MetricSet, Rank, Rollout,
        Rollouts, RowScore, RowStatus, Scorer, ScorerBuilder, ScorerError, ScoringConfig,
        ScoringResult, ScoringSummary,
    };

    /// Adds built-in metrics to a [`Scorer`] builder.
    #[cfg(feature = "metrics")]
    pub trait DefaultMetrics: Sized {
        /// Adds the default proxy metrics.
        ///
        /// The metrics are [`format`](crate::metrics::format), [`length`](crate::metrics::length) and
        /// [`syntax`](crate::metrics::syntax) with their default settings. They check that `pred.answer` is not empty and
        /// that its brackets and quotes are balanced.
        ///
        /// For other settings, add these metrics yourself, as in `.metric(Length::builder().max_chars(200).build())`.
        fn with_default_proxy_metrics(self) -> Self;

        /// Adds the default truth metrics.
        ///
        /// The metrics are [`llm_judge`](crate::judge::shipped::LlmJudge) and [`diff`](crate::metrics::diff) with their
        /// default settings.
        ///
        /// `llm_judge` asks a language model to grade `pred.answer`, and costs at most 100 msat. `diff` checks that
        /// `pred.answer` equals `gold.answer` except for whitespace, and is [`free`](ScorerBuilder::free).
        ///
        /// If no model is configured, the run ends before its first row. With
        /// [`Models::offline`](crate::judge::Models::offline), `llm_judge` scores by token overlap instead, and every
        /// output says so.
        fn with_default_truth_metrics(self) -> Self;
    }

    #[cfg(feature = "metrics")]
    impl DefaultMetrics for ScorerBuilder {
        fn with_default_proxy_metrics(self) -> Self {
            self.metrics(dsrs_metrics_builtin::metrics::default_proxies())
        }

        fn with_default_truth_metrics(self) -> Self {
            let [judge, diff] = dsrs_metrics_builtin::metrics::default_truths();
            let name = diff.name().to_owned();
            self.metric(judge).metric(diff).free(name)
        }
    }
}
