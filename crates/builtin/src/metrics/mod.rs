//! The built-in metrics.
//!
//! Each metric is a `#[metric]` function with a struct of the same name. The functions call the pure functions in
//! [`text`](crate::text), [`retrieval`](crate::retrieval) and [`structured`](dsrs_metrics_values::json::structured).
//!
//! Metrics read `gold.answer` and `pred.answer` unless their documentation names other fields. If your rows use other
//! names, map them with `--map` on the command line. Some metrics have a `field` parameter and can read any field.
//!
//! The library's metrics.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a metric function takes its parameters by value, and so does the function that explains its score"
)]

/// Implements `Requires` for metrics that check their parameters before the first row. If a check fails, its message
/// becomes the reason.
macro_rules! requires_valid {
    ($($metric:ident: |$this:ident| $($check:expr),+;)*) => {$(
        impl $crate::contract::declared::requirements::Requires for $metric {
            fn requirements(&self, all: &mut Vec<$crate::Requirement>) {
                let $this = self;
                $(all.extend($crate::Requirement::unless(Self::SPEC.name, $check));)+
            }
        }
    )*};
}

mod agents;
mod answers;
mod breakdown;
mod corpus;
mod diff;
mod edits;
mod explained;
mod inputs;
mod matching;
mod overlap;
mod program;
mod proxies;
pub(crate) mod rag;
#[doc(hidden)]
pub mod registry;
mod retrieval;
#[cfg(feature = "sandbox")]
mod sandbox;
mod similarity;
#[cfg(feature = "sparql")]
mod sparql;
mod structured;
mod tool_calls;
mod trajectories;

pub use crate::contract::score::check::{Check, Unscored};
pub use breakdown::Breakdown;
pub use inputs::LanguageSetting;
pub use registry::{CreateError, Registry, RegistryError};

/// Traits with setters for parameters that several metrics share.
///
/// The prelude re-exports these traits as `_`.
#[doc(hidden)]
pub mod setters {
    pub use super::corpus::LabelComparisonSetters as _;
    pub use super::matching::StringSearchSetters as _;
    pub use super::overlap::RougeWordsSetters as _;
    #[cfg(feature = "sandbox")]
    pub use super::sandbox::CommandSettingsSetters as _;
}

// These are re-exported by name, so that rustc names the feature if it is not enabled.
#[cfg(feature = "sparql")]
pub use self::rag::{HeritageRag, HeritageRagStrict};
#[cfg(feature = "sandbox")]
pub use self::sandbox::{
    CommandSettings, CommandSettingsSetters, FileSource, Isolation, Sandbox, SandboxFiles,
    TestPass, VerificationDelta, sandbox, test_pass, verification_delta,
};
#[cfg(feature = "sparql")]
pub use self::sparql::{
    SparqlExecutes, SparqlExecutesBuilder, SparqlReturnsResults, SparqlReturnsResultsBuilder,
    SparqlSyntaxValid, sparql_executes, sparql_returns_results, sparql_syntax_valid,
};
#[cfg(feature = "schema")]
pub use self::tool_calls::{InvalidSchema, ToolParamsSchema, ToolSchemas, tool_params_schema};
pub use self::{
    agents::*, answers::*, corpus::*, diff::*, edits::*, matching::*, overlap::*, program::*,
    proxies::*, rag::*, retrieval::*, similarity::*, structured::*, tool_calls::*, trajectories::*,
};
pub use crate::json::same_value;

/// Returns the default proxy metrics for `ScorerBuilder`.
#[doc(hidden)]
pub fn default_proxies() -> [std::sync::Arc<dyn crate::contract::Metric>; 3] {
    [
        std::sync::Arc::new(Format::default()),
        std::sync::Arc::new(Length::default()),
        std::sync::Arc::new(Syntax::default()),
    ]
}

/// Returns the default truth metrics for `ScorerBuilder`: one with a cost, then one without.
#[doc(hidden)]
pub fn default_truths() -> [std::sync::Arc<dyn crate::contract::Metric>; 2] {
    [
        std::sync::Arc::new(crate::shipped::LlmJudge::default()),
        std::sync::Arc::new(Diff::default()),
    ]
}
