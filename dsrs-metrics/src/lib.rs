//! Metrics, judges and regression tests for programs built on language models.
//!
//! Annotate a function with [`#[metric]`](macro@metric) to get a typed metric whose name, fields and range the compiler
//! checks:
//!
//! ```
//! use dsrs_metrics::prelude::*;
//!
//! /// The answer names one of the expected cities.
//! #[metric]
//! fn names_city(#[gold] cities: &[String], #[pred] answer: &str) -> bool {
//!     cities.iter().any(|city| answer.contains(city))
//! }
//!
//! # fn main() -> dsrs_metrics::Result<()> {
//! let gold = example! { "cities" => ["Paris", "Lyon"] };
//! let score = NamesCity.score(&gold, &prediction! { "answer" => "It is Lyon." })?;
//! assert_eq!(score.value, 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! - [`#[judge]`](macro@judge) turns a struct into a metric that asks a language model.
//! - [`metrics`] contains the built-in metrics, from exact match to RAG and agents.
//! - [`Evaluate`] runs your program over a devset, and [`results`] compares two runs.
//! - [`#[eval]`](macro@eval) turns a run into a test with gates, for `cargo test` and CI.
//!
//! Start with the [`tutorial`](guide::tutorial). The [`guide`] has a page for each task.

pub mod contract;
pub mod guide;
pub mod judge;
#[doc(hidden)]
pub mod main_function;
pub mod optimizers;
pub mod prelude;
pub mod rows;
pub mod runs;
#[cfg(feature = "evaluate")]
pub mod scoring;

/// The path that rustc shows in errors about a JSON value. If this module were public, the variant `Value::String`
/// would make rustc write `std::string::String` instead of `String`.
#[doc(hidden)]
pub mod value {
    pub use dsrs_metrics_core::value::Value;
}

#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "metrics")]
    pub use dsrs_metrics_builtin::metrics::setters;
    pub use dsrs_metrics_core::__private::*;
    // `core` also has a module with this name, but without the metrics.
    pub mod root {
        pub use crate::*;
    }
}

// The test that `#[eval]` generates uses these items. Errors in the attribute show this path.
#[cfg(feature = "evaluate")]
#[doc(hidden)]
pub use dsrs_metrics_run::evals;

// Names that the pages about attributes link to.
#[cfg(doc)]
use crate::{contract::*, optimizers::*, rows::*, runs::*};

pub use async_trait::async_trait;
#[cfg(feature = "metrics")]
#[doc = include_str!("../docs/metrics.md")]
pub use dsrs_metrics_builtin::metrics;
#[cfg(feature = "cli")]
#[doc(inline)]
pub use dsrs_metrics_cli as cli;
#[cfg(feature = "sparql")]
pub use dsrs_metrics_code::sparql;
#[cfg(feature = "metrics")]
pub use dsrs_metrics_code::syntax;
#[doc(hidden)]
pub use dsrs_metrics_core::{
    AnyRow, CorpusReturn, Declared, DeclaredIn, GoldRows, HasDefaults, HasVerdict, NamedFields,
    ParamType, Pointer, PredRows, Rows, SameRows, ScoredBy, TypedField, TypedRow, UnknownRows,
    WithoutParameters,
};
pub use dsrs_metrics_core::{
    Example, Metric, MetricError, Outcome, ParamGroup, Prediction, Record, Result, Scored,
    composite, example, metric_fn, prediction,
};
#[doc(inline)]
pub use dsrs_metrics_lm as lm;
#[cfg(feature = "evaluate")]
#[doc = include_str!("../docs/eval.md")]
pub use dsrs_metrics_macros::eval;
#[cfg(not(feature = "evaluate"))]
#[doc(hidden)]
pub use dsrs_metrics_macros::eval_without_harness as eval;
#[doc = include_str!("../docs/judge.md")]
pub use dsrs_metrics_macros::judge;
#[doc = include_str!("../docs/judge_output.md")]
pub use dsrs_metrics_macros::judge_output;
#[doc = include_str!("../docs/metric.md")]
#[doc = include_str!("../docs/composition.md")]
pub use dsrs_metrics_macros::metric;
#[cfg(feature = "evaluate")]
pub use dsrs_metrics_run::{Evaluate, agreement, data, results};
#[cfg(feature = "sandbox")]
#[doc(inline)]
pub use dsrs_metrics_sandbox as sandbox;
pub use dsrs_metrics_values::json::structured;
pub use dsrs_metrics_values::{retrieval, stats, text, trajectory};

/// Labels for tool calls, and training data built from these labels.
pub mod outcome_coupled {
    #[cfg(feature = "evaluate")]
    pub use dsrs_metrics_run::data::outcome_labels::*;
    pub use dsrs_metrics_values::outcome_coupled::*;
}
