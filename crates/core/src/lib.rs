//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.
//!
//! The contract that all metrics implement.
//!
//! The contract consists of the metric trait, its calls, its results and its errors.
//!
//! The folders import from each other in this order:
//! - `spec/`: declarations
//! - `rows/`: reading rows
//! - `score/`: results
//! - `dedup/`: evaluating equal metrics once per row
//! - `declared/`: declarations for the compiler
//! - `metric/`: the trait and its calls
//! - `composite/`: metrics of metrics
//! - `judge/`: language models
//!
//! A separate package runs metrics over many rows.
//!
//! `program.rs` and `program_run.rs` define programs and what they return, such as the trace, usage, latency and
//! errors. `panic.rs` catches panics.

// The macros' expansions name the library by this path.
#[allow(unused_extern_crates)]
extern crate self as dsrs_metrics;
#[macro_use]
extern crate dsrs_metrics_values;

/// The path that compiler errors show for a JSON value.
///
/// The module is hidden. If it were public, the variant `Value::String` would make rustc write `std::string::String`
/// instead of `String`.
#[doc(hidden)]
pub mod value {
    pub use serde_json::Value;
}

#[doc(hidden)]
pub mod __private;
pub mod composite;
#[doc(hidden)]
pub mod declared;
#[doc(hidden)]
pub mod dedup;
#[doc(hidden)]
pub mod gate_rules;
pub mod judge;
#[doc(hidden)]
pub mod metric;
#[doc(hidden)]
pub mod panic;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod program_run;
#[doc(hidden)]
pub mod rows;
#[doc(hidden)]
pub mod score;
#[doc(hidden)]
pub mod sentence;
#[doc(hidden)]
pub mod spec;

#[doc(hidden)]
pub use async_trait::async_trait;
pub use dsrs_metrics_lm as lm;
#[doc(hidden)]
pub use dsrs_metrics_macros::{ParamGroup, Record, judge, judge_output, metric};
#[doc(hidden)]
pub use dsrs_metrics_values::{files, value_type, weights};
pub use dsrs_metrics_values::{json, messages, retrieval, stats, text, trajectory};

pub use crate::composite::OnMissing;
pub use crate::declared::Requirement;
pub use crate::files::{MetricFile, NamesFiles};
pub use crate::metric::fn_metric::{
    ClosureReturn, FnMetric, MetricName, metric_fn, traced_metric_fn, typed_metric_fn,
};
pub use crate::metric::identity::{IdentityDifference, MetricIdentity};
pub use crate::metric::instance::{Instance, WithSettings};
pub use crate::metric::params::{Configure, ParamError, Params};
pub use crate::metric::{
    AcceptanceTest, Answer, FeedbackEvaluator, Metric, MetricCall, ParamGroup, RepeatNumber,
    ScoredAtOnce, Settings,
};
#[doc(hidden)]
pub use crate::program::IsProgram;
pub use crate::program::{
    ByCall, ByForward, Fallible, Module, Program, ProgramError, ProgramReturn, ProgramRunError,
};
pub use crate::program_run::{ProgramOutput, ProgramRun, ProgramUsage};
pub use crate::rows::{
    Example, FieldError, FieldType, Fields, FromSerializeError, InputError, Origin, Pair,
    Prediction, Record, RowType, Trace, TraceStep,
};
pub use crate::score::{
    Component, CorpusCounts, CorpusFormula, CorpusState, Counted, Explanation, FeedbackMetric,
    Grade, MetricError, MetricErrorKind, MetricReturn, MetricScore, Outcome, Part, RepliedBy,
    Result, RowAnswer, Scored, Scores, WithCorpus,
};
pub use crate::spec::{
    Direction, FieldSpec, MetricSpec, MetricTier, ParamSpec, ScoreKind, ScoreRange, Side,
};
pub use crate::value_type::{TypeHelp, ValueKind, ValueType};
pub use crate::weights::{InvalidWeights, Weights};
#[doc(hidden)]
pub use crate::{
    composite::row_types::{Rows, SameRows, ScoredBy, UnknownRows},
    declared::{AnyRow, Declared, DeclaredIn, GoldRows, PredRows, Requires, WithoutParameters},
    dedup::{Configured, Key},
    metric::optimizer::{HasVerdict, objectives},
    metric::params::{HasDefaults, ParamType},
    metric::typed_rows::{Pointer, TypedField, TypedRow},
    rows::by_name::{self, NamedFields},
    rows::field_types::{Label, References, StrOrList, StrOrNumber, TextOrList, Truth},
    score::check::{Check, Explained, Unscored, at_least, valid_beta, within},
    score::corpus::{CountFormula, LabelFormula, LabelScore},
    score::return_types::{CorpusReturn, Decided, Undecided},
    spec::instance_settings::InstanceSettings,
};
