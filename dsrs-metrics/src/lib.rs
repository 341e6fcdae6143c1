#![doc = include_str!("../../README.md")]

// Lets `#[metric]` be used inside this crate with the path that its users have.
#[allow(unused_extern_crates)]
extern crate self as dsrs_metrics;

pub mod agreement;
mod cell;
#[cfg(feature = "cli")]
pub mod cli;
mod closure;
mod components;
pub mod composite;
mod corpus;
pub mod data;
mod declared;
mod depth;
mod error;
mod evaluate;
mod give;
mod identity;
pub mod judge;
mod memo;
mod metric;
mod named;
#[cfg(any(feature = "cli", feature = "lm"))]
mod nearest;
mod need;
mod outcome;
pub mod outcome_coupled;
mod pair;
mod params;
mod program;
mod record;
mod report;
pub mod retrieval;
mod returns;
mod row;
mod same_value;
#[cfg(feature = "sandbox")]
pub mod sandbox;
mod score;
mod scoring;
mod settings;
#[cfg(feature = "sparql")]
pub mod sparql;
mod spec;
pub mod stats;
pub mod structured;
mod sum;
pub mod syntax;
mod type_words;
mod weights;

#[doc(hidden)]
pub mod __private;
pub mod lm;
pub mod metrics;
pub mod prelude;
pub mod text;

pub use async_trait::async_trait;
pub use dsrs_metrics_macros::Record;
#[doc = include_str!("../docs/judge.md")]
pub use dsrs_metrics_macros::judge;
#[doc = include_str!("../docs/judge_output.md")]
pub use dsrs_metrics_macros::judge_output;
#[doc = include_str!("../docs/metric.md")]
#[doc = include_str!("../docs/composition.md")]
pub use dsrs_metrics_macros::metric;

pub use crate::closure::{FnMetric, metric_fn, typed_metric_fn};
pub use crate::components::Component;
pub use crate::corpus::{CorpusCounts, CorpusFormula, WithCorpus};
#[doc(hidden)]
pub use crate::declared::{
    AnyRow, Declared, DeclaredIn, GoldRows, PredRows, Rows, SameRows, ScoredBy, UnknownRows,
    WithoutParameters,
};
pub use crate::error::{MetricError, Result};
pub use crate::evaluate::{
    Ending, Evaluate, EvaluateBuilder, EvaluateError, EvaluationResult, Evaluator, MetricSummary,
    RowResult, Running,
};
pub use crate::metric::{AcceptanceTest, FeedbackEvaluator, Metric, MetricCall, ScoredAtOnce};
#[doc(hidden)]
pub use crate::named::NamedFields;
pub use crate::need::Need;
pub use crate::outcome::Outcome;
pub use crate::pair::{Origin, Pair};
pub use crate::params::{Configure, ParamError, Params};
pub use crate::program::{ByCall, ByForward, Fallible, Module, Program, ProgramError};
pub use crate::record::{FieldType, Record, RowType};
pub use crate::report::ProgressDisplay;
#[cfg(feature = "report")]
pub use crate::report::ResultTable;
pub use crate::returns::MetricReturn;
pub use crate::row::{Example, Fields, Prediction, Trace, TraceStep};
pub use crate::score::{FeedbackMetric, Grade, MetricScore, Part, Scored, Scores};
pub use crate::scoring::{
    AggregationError, AggregationMethod, BoxedMetric, BudgetReport, MetricSet, OnMissing, Rank,
    Rollout, Rollouts, RowScore, Scorer, ScorerBuilder, ScorerError, ScoringConfig, ScoringResult,
    ScoringSummary, Spending, Standing,
};
pub use crate::settings::Settings;
pub use crate::spec::{
    Direction, FieldSpec, MetricSpec, MetricTier, ParamSpec, ScoreKind, ScoreRange, Side,
};
pub use crate::weights::{InvalidWeights, Weights};
