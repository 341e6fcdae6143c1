#![doc = include_str!("../../README.md")]

// Lets `#[metric]` be used inside this crate with the path that its users have.
#[allow(unused_extern_crates)]
extern crate self as dsrs_metrics;

pub mod agreement;
#[cfg(feature = "cli")]
pub mod cli;
pub mod composite;
mod core;
pub mod data;
mod evaluate;
mod json;
pub mod judge;
pub mod lm;
pub mod metrics;
pub mod prelude;
pub mod retrieval;
#[cfg(feature = "sandbox")]
pub mod sandbox;
mod scoring;
#[cfg(feature = "sparql")]
pub mod sparql;
pub mod stats;
pub mod structured;
pub mod syntax;
pub mod text;

#[doc(hidden)]
pub mod __private;

pub use crate::metrics::agents::outcome_coupled;
pub use async_trait::async_trait;
pub use dsrs_metrics_macros::Record;
#[doc = include_str!("../docs/judge.md")]
pub use dsrs_metrics_macros::judge;
#[doc = include_str!("../docs/judge_output.md")]
pub use dsrs_metrics_macros::judge_output;
#[doc = include_str!("../docs/metric.md")]
#[doc = include_str!("../docs/composition.md")]
pub use dsrs_metrics_macros::metric;

pub use crate::core::answer::Answer;
pub use crate::core::call::MetricCall;
pub use crate::core::component_results::Component;
pub use crate::core::corpus::{CorpusCounts, CorpusFormula, WithCorpus};
#[doc(hidden)]
pub use crate::core::declared::{
    AnyRow, Declared, DeclaredIn, GoldRows, PredRows, Rows, SameRows, ScoredBy, UnknownRows,
    WithoutParameters,
};
pub use crate::core::error::{FieldError, MetricError, MetricErrorKind, Result};
pub use crate::core::fn_metric::{FnMetric, metric_fn, typed_metric_fn};
pub use crate::core::metric::{AcceptanceTest, FeedbackEvaluator, Metric, ScoredAtOnce};
pub use crate::core::outcome::Outcome;
pub use crate::core::params::{Configure, ParamError, Params};
pub use crate::core::requirements::Requirement;
pub use crate::core::return_types::MetricReturn;
#[doc(hidden)]
pub use crate::core::rows::by_name::NamedFields;
pub use crate::core::rows::dynamic::{Example, Fields, Prediction, Trace, TraceStep};
pub use crate::core::rows::fields::{FieldType, Record, RowType};
pub use crate::core::rows::pair::{Origin, Pair};
pub use crate::core::score::{FeedbackMetric, Grade, MetricScore, Part, Scored, Scores};
pub use crate::core::settings::Settings;
pub use crate::core::spec::{
    Direction, FieldSpec, MetricSpec, MetricTier, ParamSpec, ScoreKind, ScoreRange, Side,
};
pub use crate::core::weights::{InvalidWeights, Weights};
pub use crate::evaluate::program::{ByCall, ByForward, Fallible, Module, Program, ProgramError};
pub use crate::evaluate::report::ProgressDisplay;
#[cfg(feature = "report")]
pub use crate::evaluate::report::ResultTable;
pub use crate::evaluate::{
    Ending, Evaluate, EvaluateBuilder, EvaluateError, EvaluationResult, Evaluator, MetricSummary,
    RowResult, Running,
};
pub use crate::scoring::{
    AggregationError, AggregationMethod, BoxedMetric, BudgetReport, MetricSet, OnMissing, Rank,
    Rollout, Rollouts, RowScore, RowStatus, Scorer, ScorerBuilder, ScorerError, ScoringConfig,
    ScoringResult, ScoringSummary, Spending,
};
