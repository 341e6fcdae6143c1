//! Part of [dsrs-metrics](https://docs.rs/dsrs-metrics), which documents it. This package has no stable API of its own.
//!
//! The contract: what a metric is, how it is called, what it returns, and which errors it may report.
//!
//! Reading rows is in `rows/`, evaluating equal metrics once per row in `dedup/`. Combining metrics
//! (`composite`), models (`judge`), runs over many rows (`evaluate`, `scoring`) are built on this module.

// Expansions of the macros name the library by this path.
#[allow(unused_extern_crates)]
extern crate self as dsrs_metrics;
#[macro_use]
extern crate dsrs_metrics_values;

/// The path that errors about a JSON value show. In a public module the variant `Value::String` would make rustc write
/// `std::string::String` for `String`.
#[doc(hidden)]
pub mod value {
    pub use serde_json::Value;
}

#[doc(hidden)]
pub mod __private;
#[doc(hidden)]
pub mod absent;
#[doc(hidden)]
pub mod answer;
#[doc(hidden)]
pub mod batch;
#[doc(hidden)]
pub mod batching;
#[doc(hidden)]
pub mod call;
#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod closure_return;
#[doc(hidden)]
pub mod component_results;
pub mod composite;
#[doc(hidden)]
pub mod corpus;
#[doc(hidden)]
pub mod counted;
#[doc(hidden)]
pub mod declared;
#[doc(hidden)]
pub mod dedup;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod explanation;
#[doc(hidden)]
pub mod field_error;
#[doc(hidden)]
pub mod field_types;
#[doc(hidden)]
pub mod fn_metric;
#[doc(hidden)]
pub mod identity;
#[doc(hidden)]
pub mod instance;
#[doc(hidden)]
pub mod instance_settings;
#[doc(hidden)]
pub mod interned_names;
pub mod judge;
#[doc(hidden)]
pub mod metric;
#[doc(hidden)]
pub mod missing;
#[doc(hidden)]
pub mod objectives;
#[doc(hidden)]
pub mod optimizer;
#[doc(hidden)]
pub mod outcome;
#[doc(hidden)]
pub mod panic;
#[doc(hidden)]
pub mod param_group;
mod param_reason;
#[doc(hidden)]
pub mod params;
#[doc(hidden)]
pub mod probe;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod program_run;
#[doc(hidden)]
pub mod repeat;
#[doc(hidden)]
pub mod requirements;
#[doc(hidden)]
pub mod return_types;
#[doc(hidden)]
pub mod rows;
#[doc(hidden)]
pub mod score;
#[doc(hidden)]
pub mod sentence;
#[doc(hidden)]
pub mod settings;
#[doc(hidden)]
pub mod spec;

#[doc(hidden)]
pub use async_trait::async_trait;
pub use dsrs_metrics_lm as lm;
#[doc(hidden)]
pub use dsrs_metrics_macros::{ParamGroup, Record, judge, judge_output, metric};
#[doc(hidden)]
pub use dsrs_metrics_values::{files, value_type, weights};
pub use dsrs_metrics_values::{json, messages, retrieval, stats, text};

pub use crate::answer::{Answer, RowAnswer};
pub use crate::call::MetricCall;
pub use crate::closure_return::{AtOnce, Awaited, ClosureReturn};
pub use crate::component_results::Component;
pub use crate::composite::OnMissing;
pub use crate::corpus::{CorpusCounts, CorpusFormula, WithCorpus};
pub use crate::counted::{CorpusState, Counted};
#[doc(hidden)]
pub use crate::declared::{
    AnyRow, Declared, DeclaredIn, GoldRows, PredRows, Rows, SameRows, ScoredBy, UnknownRows,
    WithoutParameters,
};
pub use crate::error::{MetricError, MetricErrorKind, Result};
pub use crate::explanation::Explanation;
pub use crate::field_error::FieldError;
pub use crate::files::{MetricFile, NamesFiles};
pub use crate::fn_metric::{
    FiveArguments, FnMetric, MetricName, TwoArguments, metric_fn, traced_metric_fn, typed_metric_fn,
};
pub use crate::identity::{IdentityDifference, MetricIdentity};
pub use crate::instance::{Instance, WithSettings};
pub use crate::metric::{Metric, ScoredAtOnce};
#[doc(hidden)]
pub use crate::optimizer::HasVerdict;
pub use crate::optimizer::{AcceptanceTest, FeedbackEvaluator};
pub use crate::outcome::Outcome;
pub use crate::param_group::ParamGroup;
#[doc(hidden)]
pub use crate::param_group::ParamType;
#[doc(hidden)]
pub use crate::params::HasDefaults;
pub use crate::params::{Configure, ParamError, Params};
pub use crate::program::{
    ByCall, ByForward, Fallible, Module, Program, ProgramError, ProgramReturn,
};
pub use crate::program_run::{ProgramOutput, ProgramRun, ProgramUsage};
pub use crate::repeat::RepeatNumber;
pub use crate::requirements::Requirement;
#[doc(hidden)]
pub use crate::return_types::CorpusReturn;
pub use crate::return_types::MetricReturn;
#[doc(hidden)]
pub use crate::rows::by_name::NamedFields;
pub use crate::rows::dynamic::{Example, Fields, Prediction, Trace, TraceStep};
pub use crate::rows::fields::{FieldType, Record, RowType};
pub use crate::rows::from_serialize::FromSerializeError;
pub use crate::rows::inputs::InputError;
pub use crate::rows::pair::{Origin, Pair};
#[doc(hidden)]
pub use crate::rows::typed::{Pointer, TypedField, TypedRow};
pub use crate::score::{FeedbackMetric, Grade, MetricScore, Part, Scored, Scores};
pub use crate::settings::Settings;
pub use crate::spec::{
    Direction, FieldSpec, MetricSpec, MetricTier, ParamSpec, ScoreKind, ScoreRange, Side,
};
pub use crate::value_type::{TypeHelp, ValueKind, ValueType};
pub use crate::weights::{InvalidWeights, Weights};
