// The README defines its links at its end, for readers of the repository. Markdown uses the first definition of a link, so
// these definitions lead to pages of the crate documentation, and to the files of the repository that are not part of it.
#![doc = include_str!("links.md")]
#![doc = concat!("[CONTRIBUTING]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/CONTRIBUTING.md")]
#![doc = concat!("[SECURITY]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/SECURITY.md")]
#![doc = concat!("[conformance]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/dsrs-metrics/docs/conformance.md")]
#![doc = concat!("[integrations]: ", env!("CARGO_PKG_REPOSITORY"), "/tree/HEAD/integrations")]
#![doc = concat!("[report]: ", env!("CARGO_PKG_REPOSITORY"), "/raw/HEAD/examples/pictures/report.png")]
#![doc = concat!("[terminal]: ", env!("CARGO_PKG_REPOSITORY"), "/raw/HEAD/examples/pictures/terminal.svg")]
#![doc = ""]
#![doc = include_str!("../README.md")]
// Without the field `repository` in Cargo.toml there are no such files: no broken pictures, and names in place of links.
#![doc = "\n<style>[src^='/raw/'] { display: none } [href^='/blob/'], [href^='/tree/'] { pointer-events: none; color: inherit }</style>"]

pub mod contract;
pub mod judge;
pub mod optimizers;
pub mod prelude;
pub mod rows;
pub mod runs;
#[cfg(feature = "evaluate")]
pub mod scoring;

/// The path that errors about a JSON value show. In a public module the variant `Value::String` would make rustc write
/// `std::string::String` for `String`.
#[doc(hidden)]
pub mod value {
    pub use dsrs_metrics_core::value::Value;
}

/// The guide: a tutorial, a page for each task, and reference pages.
///
/// Start with the [`tutorial`](guide::tutorial). Pages on tasks, in an order in which they can be read:
/// [`write_a_metric`](guide::write_a_metric), [`rows`](guide::rows), [`evaluate`](guide::evaluate),
/// [`evals`](guide::evals), [`results`](guide::results), [`composites`](guide::composites), [`judges`](guide::judges),
/// [`models`](guide::models), [`store`](guide::store), [`rag`](guide::rag), [`agents`](guide::agents),
/// [`conversations`](guide::conversations), [`agreement`](guide::agreement), [`scorer`](guide::scorer),
/// [`code_and_sandbox`](guide::code_and_sandbox), [`sparql`](guide::sparql), [`tracing`](guide::tracing). For users of
/// other libraries: [`coming_from`](guide::coming_from).
///
/// Reference: [`command_line`](guide::command_line), [`formats`](guide::formats), [`identity`](guide::identity),
/// [`durability`](guide::durability), [`untrusted_input`](guide::untrusted_input), [`glossary`](guide::glossary). Other
/// reference pages are with their items: [`metric`](macro@metric), [`judge`](macro@judge), [`eval`](macro@eval),
/// [`judge_output`](macro@judge_output) and [`metrics`].
pub mod guide {
    // Includes a page. The definitions before the text replace those at its end, as in the crate documentation.
    macro_rules! pages {
        ($($(#[$summary:meta])* $page:ident: $file:literal $(if $feature:literal)?;)*) => {$(
            $(#[$summary])*
            #[doc = "\n"]
            #[doc = "[tutorial]: crate::guide::tutorial"]
            #[doc = "[write_a_metric]: crate::guide::write_a_metric"]
            #[doc = "[rows]: crate::guide::rows"]
            #[doc = "[evaluate]: crate::guide::evaluate"]
            #[doc = "[evals]: crate::guide::evals"]
            #[doc = "[composites]: crate::guide::composites"]
            #[doc = "[scorer]: crate::guide::scorer"]
            #[doc = "[judges]: crate::guide::judges"]
            #[doc = "[models]: crate::guide::models"]
            #[doc = "[store]: crate::guide::store"]
            #[doc = "[agents]: crate::guide::agents"]
            #[doc = "[conversations]: crate::guide::conversations"]
            #[doc = "[rag]: crate::guide::rag"]
            #[doc = "[agreement]: crate::guide::agreement"]
            #[doc = "[results]: crate::guide::results"]
            #[doc = "[identity]: crate::guide::identity"]
            #[doc = "[formats]: crate::guide::formats"]
            #[doc = "[command_line]: crate::guide::command_line"]
            #[doc = "[durability]: crate::guide::durability"]
            #[doc = "[tracing]: crate::guide::tracing"]
            #[doc = "[code_and_sandbox]: crate::guide::code_and_sandbox"]
            #[doc = "[untrusted_input]: crate::guide::untrusted_input"]
            #[doc = "[coming_from]: crate::guide::coming_from"]
            #[doc = "[glossary]: crate::guide::glossary"]
            #[doc = "[metric]: macro@crate::metric"]
            #[doc = "[composition]: macro@crate::metric#on-a-unit-struct-a-composite"]
            #[doc = "[judge]: macro@crate::judge"]
            #[doc = "[metrics]: crate::metrics"]
            #[doc = "\n"]
            #[cfg_attr(all($(feature = $feature)?), doc = include_str!($file))]
            pub mod $page {}
        )*};
    }

    pages! {
        /// From an empty folder to a gate in CI.
        tutorial: "../docs/guide/tutorial.md";
        /// Functions as metrics: parameters, return types, errors, verdicts.
        write_a_metric: "../docs/guide/write_a_metric.md";
        /// Dynamic rows and typed rows.
        rows: "../docs/guide/rows.md";
        /// Running a program over a devset, and the outcomes of its rows.
        evaluate: "../docs/guide/evaluate.md";
        /// Gates in `cargo test` and in CI.
        evals: "../docs/guide/evals.md";
        /// Several metrics combined into one.
        composites: "../docs/guide/composites.md";
        /// Cheap metrics before expensive ones, within a budget.
        scorer: "../docs/guide/scorer.md";
        /// Metrics that a language model answers.
        judges: "../docs/guide/judges.md";
        /// Providers of language models, their keys and addresses (feature `lm`).
        models: "../docs/guide/models.md" if "lm";
        /// What a run keeps, what a change pays for again, and where the store is (feature `store`).
        store: "../docs/guide/store.md" if "store";
        /// Retrieved contexts and the answers from them, judged statement by statement.
        rag: "../docs/guide/rag.md";
        /// Conversations, judged reply by reply.
        conversations: "../docs/guide/conversations.md";
        /// Trajectories and tool calls of agents.
        agents: "../docs/guide/agents.md";
        /// A metric compared with labels.
        agreement: "../docs/guide/agreement.md";
        /// Result files, and the comparison of two runs.
        results: "../docs/guide/results.md";
        /// Logs of inspect_ai, samples of lm-eval, traces and trajectories (feature `formats`).
        formats: "../docs/guide/formats.md" if "formats";
        /// The output of each command for each difference between two runs.
        identity: "../docs/guide/identity.md";
        /// Scores and calls of models as OpenTelemetry events and spans (feature `otel`).
        tracing: "../docs/guide/tracing.md" if "otel";
        /// Interrupted runs, and what every fault does to a run.
        durability: "../docs/guide/durability.md";
        /// The commands `list`, `score`, `agree`, `compare`, `report`, `export` and `accept` (feature `cli`).
        command_line: "../docs/guide/command_line.md" if "cli";
        /// Limits on files and replies of unknown origin.
        untrusted_input: "../docs/guide/untrusted_input.md";
        /// Metrics of code, tool calls and programs.
        code_and_sandbox: "../docs/guide/code_and_sandbox.md";
        /// Metrics of predicted SPARQL queries (feature `sparql`).
        sparql: "../docs/guide/sparql.md" if "sparql";
        /// Metrics, judges and evaluations of DSPy, deepeval and inspect_ai, and what to write here.
        coming_from: "../docs/guide/coming_from.md";
        /// Each term in one sentence, with its page.
        glossary: "../docs/guide/glossary.md";
    }

    /// This library beside DSPy, inspect_ai, deepeval, ragas and others, each fact with its source.
    #[doc = "\n"]
    #[doc = include_str!("links.md")]
    #[doc = concat!("[datafusion]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/integrations/datafusion/README.md")]
    #[doc = concat!("[python]: ", env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/integrations/python/README.md")]
    #[doc = "\n"]
    #[doc = include_str!("../COMPARE.md")]
    pub mod comparison {}
}

#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "metrics")]
    pub use dsrs_metrics_builtin::metrics::setters;
    pub use dsrs_metrics_core::__private::*;
    #[cfg(feature = "evaluate")]
    pub use dsrs_metrics_run::evals;
}

/// Defines a `main` function with the commands of `dsrs-metrics`, for these metrics and the
/// built-in ones.
///
/// Each metric is named by its function or its struct, as in a composite: `sources_used`, `rag::sources_used`,
/// `SourcesUsed`. The struct must be in scope and implement [`Configure`](crate::Configure); `#[metric]` implements it.
/// Requires the feature `cli`.
///
/// ```no_run
/// # #[cfg(any())] fn main() {} // so that rustdoc adds none
/// use dsrs_metrics::prelude::*;
///
/// /// Whether the answer names its sources.
/// #[metric]
/// fn sources_used(#[pred] sources: &[String]) -> bool {
///     !sources.is_empty()
/// }
///
/// dsrs_metrics::main![sources_used];
/// ```
///
/// A metric replaces the built-in metric of the same name. Two metrics of the user with the same
/// name are an error when the program starts.
///
/// Write it outside of all functions. Inside a function it would define a `main` that nothing calls, so it does not compile:
///
/// ```compile_fail,E0277
/// fn main() {
///     dsrs_metrics::main![];
/// }
/// ```
#[cfg(feature = "cli")]
#[macro_export]
macro_rules! main {
    ($($metrics:tt)*) => {
        fn main() -> $crate::cli::MainExit {
            $crate::cli::main(|registry| $crate::__private::added_metrics!(registry, $($metrics)*)).into()
        }
        // Within a function, it is the `main` of the module.
        const _: () = $crate::cli::is_main(self::main);
    };
}

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

/// Labels of tool calls, and training data with them.
pub mod outcome_coupled {
    #[cfg(feature = "metrics")]
    pub use dsrs_metrics_builtin::metrics::agents::{OutcomeCoupled, outcome_coupled};
    #[cfg(feature = "evaluate")]
    pub use dsrs_metrics_run::data::outcome_labels::*;
    pub use dsrs_metrics_values::outcome_coupled::*;
}
