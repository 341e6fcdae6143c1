// Each page defines its links at its end, for readers of the repository. Markdown uses the first definition of a link, so
// these definitions point to the same pages in the crate documentation.
#![doc = "[write_a_metric]: crate::guide::write_a_metric"]
#![doc = "[rows]: crate::guide::rows"]
#![doc = "[evaluate]: crate::guide::evaluate"]
#![doc = "[composites]: crate::guide::composites"]
#![doc = "[scorer]: crate::guide::scorer"]
#![doc = "[judges]: crate::guide::judges"]
#![doc = "[agents]: crate::guide::agents"]
#![doc = "[agreement]: crate::guide::agreement"]
#![doc = "[durability]: crate::guide::durability"]
#![doc = "[command_line]: crate::guide::command_line"]
#![doc = "[code_and_sandbox]: crate::guide::code_and_sandbox"]
#![doc = "[sparql]: crate::guide::sparql"]
#![doc = "[metrics]: crate::metrics"]
#![doc = ""]
#![doc = include_str!("../../README.md")]

// `#[metric]` expands to paths that start with `dsrs_metrics`, also inside this crate.
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

pub mod agreement;
#[cfg(feature = "cli")]
pub mod cli;
pub mod composite;
mod core;
pub mod data;
mod evaluate;
pub mod judge;
pub mod metrics;
pub mod prelude;
pub mod results;
mod scoring;

/// The guide: one page for each task.
///
/// The reference pages are with their items: [`metric`](macro@metric), [`judge`](macro@judge),
/// [`judge_output`](macro@judge_output) and [`metrics`].
pub mod guide {
    // Includes a page. The definitions before the text replace those at its end, as in the crate documentation.
    macro_rules! pages {
        ($($(#[$summary:meta])* $page:ident: $file:literal $(if $feature:literal)?;)*) => {$(
            $(#[$summary])*
            #[doc = "\n"]
            #[doc = "[write_a_metric]: crate::guide::write_a_metric"]
            #[doc = "[rows]: crate::guide::rows"]
            #[doc = "[evaluate]: crate::guide::evaluate"]
            #[doc = "[composites]: crate::guide::composites"]
            #[doc = "[scorer]: crate::guide::scorer"]
            #[doc = "[judges]: crate::guide::judges"]
            #[doc = "[models]: crate::guide::models"]
            #[doc = "[agreement]: crate::guide::agreement"]
            #[doc = "[results]: crate::guide::results"]
            #[doc = "[command_line]: crate::guide::command_line"]
            #[doc = "[durability]: crate::guide::durability"]
            #[doc = "[code_and_sandbox]: crate::guide::code_and_sandbox"]
            #[doc = "[untrusted_input]: crate::guide::untrusted_input"]
            #[doc = "[metrics]: crate::metrics"]
            #[doc = "\n"]
            #[cfg_attr(all($(feature = $feature)?), doc = include_str!($file))]
            pub mod $page {}
        )*};
    }

    pages! {
        /// Functions as metrics: parameters, return types, errors, verdicts.
        write_a_metric: "../docs/guide/write_a_metric.md";
        /// Dynamic rows and typed rows.
        rows: "../docs/guide/rows.md";
        /// Running a program over a devset, and the outcomes of its rows.
        evaluate: "../docs/guide/evaluate.md";
        /// Several metrics combined into one.
        composites: "../docs/guide/composites.md";
        /// Cheap metrics before expensive ones, within a budget.
        scorer: "../docs/guide/scorer.md";
        /// Metrics that a language model answers.
        judges: "../docs/guide/judges.md";
        /// Providers of language models, their keys and addresses (feature `lm`).
        models: "../docs/guide/models.md" if "lm";
        /// Scores for the steps of an agent.
        agents: "../docs/guide/agents.md";
        /// A metric compared with labels.
        agreement: "../docs/guide/agreement.md";
        /// Result files, and the comparison of two runs.
        results: "../docs/guide/results.md";
        /// Interrupted runs, and what every fault does to a run.
        durability: "../docs/guide/durability.md";
        /// The commands `list`, `score`, `agree`, `compare` and `report` (feature `cli`).
        command_line: "../docs/guide/command_line.md" if "cli";
        /// Limits on files and replies of unknown origin.
        untrusted_input: "../docs/guide/untrusted_input.md";
        /// Metrics of code, tool calls and programs.
        code_and_sandbox: "../docs/guide/code_and_sandbox.md";
        /// Metrics of predicted SPARQL queries (feature `sparql`).
        sparql: "../docs/guide/sparql.md" if "sparql";
    }
}

#[doc(hidden)]
pub mod __private;

/// Defines a `main` function with the commands of `dsrs-metrics`. Requires the feature `cli`.
#[cfg(not(feature = "cli"))]
#[macro_export]
macro_rules! main {
    ($($metrics:tt)*) => {
        ::core::compile_error!(
            "`dsrs_metrics::main!` requires the feature `cli`; write `features = [\"cli\"]` after the version of `dsrs-metrics` in Cargo.toml"
        );
        fn main() {}
    };
}

#[cfg(feature = "sparql")]
pub use dsrs_metrics_code::sparql;
pub use dsrs_metrics_code::syntax;
#[doc(inline)]
pub use dsrs_metrics_lm as lm;
#[cfg(feature = "sandbox")]
#[doc(inline)]
pub use dsrs_metrics_sandbox as sandbox;
use dsrs_metrics_values::{json, messages};
pub use dsrs_metrics_values::{retrieval, stats, text};

pub use crate::metrics::agents::outcome_coupled;
pub use async_trait::async_trait;
#[doc = include_str!("../docs/judge.md")]
pub use dsrs_metrics_macros::judge;
#[doc = include_str!("../docs/judge_output.md")]
pub use dsrs_metrics_macros::judge_output;
#[doc = include_str!("../docs/metric.md")]
#[doc = include_str!("../docs/composition.md")]
pub use dsrs_metrics_macros::metric;
pub use dsrs_metrics_macros::{ParamGroup, Record};

pub use crate::core::answer::{Answer, RowAnswer};
pub use crate::core::call::MetricCall;
pub use crate::core::closure_return::{AtOnce, Awaited, ClosureReturn};
pub use crate::core::component_results::Component;
pub use crate::core::corpus::{CorpusCounts, CorpusFormula, WithCorpus};
pub use crate::core::counted::{CorpusState, Counted};
#[doc(hidden)]
pub use crate::core::declared::{
    AnyRow, Declared, DeclaredIn, GoldRows, PredRows, Rows, SameRows, ScoredBy, UnknownRows,
    WithoutParameters,
};
pub use crate::core::error::{MetricError, MetricErrorKind, Result};
pub use crate::core::explanation::Explanation;
pub use crate::core::field_error::FieldError;
pub use crate::core::files::{MetricFile, NamesFiles};
pub use crate::core::fn_metric::{
    FiveArguments, FnMetric, MetricName, TwoArguments, metric_fn, traced_metric_fn, typed_metric_fn,
};
pub use crate::core::identity::{IdentityDifference, MetricIdentity};
pub use crate::core::instance::{Instance, WithSettings};
pub use crate::core::metric::{Metric, ScoredAtOnce};
#[doc(hidden)]
pub use crate::core::optimizer::HasVerdict;
pub use crate::core::optimizer::{AcceptanceTest, FeedbackEvaluator};
pub use crate::core::outcome::Outcome;
pub use crate::core::param_group::ParamGroup;
#[doc(hidden)]
pub use crate::core::param_group::ParamType;
#[doc(hidden)]
pub use crate::core::params::HasDefaults;
pub use crate::core::params::{Configure, ParamError, Params};
pub use crate::core::program::{
    ByCall, ByForward, Fallible, Module, Program, ProgramError, ProgramReturn,
};
pub use crate::core::program_run::{ProgramOutput, ProgramRun, ProgramUsage};
pub use crate::core::repeat::RepeatNumber;
pub use crate::core::requirements::Requirement;
#[doc(hidden)]
pub use crate::core::return_types::CorpusReturn;
pub use crate::core::return_types::MetricReturn;
#[doc(hidden)]
pub use crate::core::rows::by_name::NamedFields;
pub use crate::core::rows::dynamic::{Example, Fields, Prediction, Trace, TraceStep};
pub use crate::core::rows::fields::{FieldType, Record, RowType};
pub use crate::core::rows::from_serialize::FromSerializeError;
pub use crate::core::rows::inputs::InputError;
pub use crate::core::rows::pair::{Origin, Pair};
#[doc(hidden)]
pub use crate::core::rows::typed::{TypedField, TypedRow};
pub use crate::core::score::{FeedbackMetric, Grade, MetricScore, Part, Scored, Scores};
pub use crate::core::settings::Settings;
pub use crate::core::spec::{
    Direction, FieldSpec, MetricSpec, MetricTier, ParamSpec, ScoreKind, ScoreRange, Side,
};
pub use crate::core::value_type::{TypeHelp, ValueKind, ValueType};
pub use crate::core::weights::{InvalidWeights, Weights};
#[doc(hidden)]
pub use crate::evaluate::DevsetRow;
#[cfg(feature = "report")]
pub use crate::evaluate::TableRows;
pub use crate::evaluate::journal::{JournalError, journal_cost_msats};
pub use crate::evaluate::report::ProgressDisplay;
#[cfg(feature = "report")]
pub use crate::evaluate::report::ResultTable;
pub use crate::evaluate::{
    BudgetReport, DevsetRows, Ending, Evaluate, EvaluateBuilder, EvaluateError, EvaluationResult,
    Evaluator, JournalUse, MetricSummary, Observer, ProgramTotals, Repeat, RepeatSummary,
    RolloutNumber, RowResult, RunStart, Running, Spending, UnknownField,
};
pub use crate::scoring::{
    AggregationError, AggregationMethod, BoxedMetric, FinalScore, MetricSet, OnMissing, Rank,
    Rollout, Rollouts, RowScore, RowStatus, Scorer, ScorerBuilder, ScorerError, ScoringConfig,
    ScoringResult, ScoringSummary,
};
pub use dsrs_metrics_values::json::structured;
