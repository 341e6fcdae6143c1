//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.

#[macro_use]
extern crate dsrs_metrics_values;

pub mod agreement;
pub mod data;
#[doc(hidden)]
pub mod evals;
#[doc(hidden)]
pub mod evaluate;
mod in_order;
pub mod results;
#[doc(hidden)]
pub mod scoring;

use dsrs_metrics_core::{self as contract, composite, lm};
use dsrs_metrics_values::{json, messages, named_files, stats};

#[cfg(feature = "report")]
pub use crate::evaluate::TableRows;
pub use crate::evaluate::report::ProgressDisplay;
#[cfg(feature = "report")]
pub use crate::evaluate::report::ResultTable;
pub use crate::evaluate::{
    BudgetReport, DecidedGate, DevsetRows, EarlyResult, Ending, Evaluate, EvaluateBuilder,
    EvaluateError, EvaluateErrorKind, EvaluationResult, Evaluator, FailureSettings, FileSettings,
    InputNames, JudgedBy, MetricList, MetricSummary, ModelSettings, Observer, ProgramTotals,
    Repeat, RepeatSummary, RolloutNumber, RowResult, RunStart, Running, Sample, Spending,
    StatisticsSettings, StopSettings, StoreUse, TruthMethod, TruthResult, TruthStratum,
    UnknownField,
};
#[doc(hidden)]
pub use crate::evaluate::{ByList, ByName, DevsetRow, missing_features};
pub use crate::scoring::{
    AggregationError, AggregationMethod, BoxedMetric, FinalScore, MetricSet, OnMissing, Rank,
    Rollout, Rollouts, RowScore, RowStatus, Scorer, ScorerBuilder, ScorerError, ScoringConfig,
    ScoringResult, ScoringSummary,
};
