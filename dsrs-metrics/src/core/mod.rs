//! The contract: what a metric is, how it is called, what it returns, and which errors it may report.
//!
//! Reading rows is in `rows/`, evaluating equal metrics once per row in `dedup/`. Combining metrics
//! (`composite`), models (`judge`), runs over many rows (`evaluate`, `scoring`) are built on this module.

pub(crate) mod absent;
pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod batching;
pub(crate) mod call;
pub(crate) mod closure_return;
pub(crate) mod component_results;
pub(crate) mod corpus;
pub(crate) mod counted;
pub(crate) mod declared;
pub(crate) mod dedup;
pub(crate) mod error;
pub(crate) mod explanation;
pub(crate) mod field_error;
pub(crate) mod files;
pub(crate) mod fn_metric;
pub(crate) mod identity;
pub(crate) mod instance;
pub(crate) mod instance_settings;
pub(crate) mod interned_names;
pub(crate) mod metric;
pub(crate) mod missing;
pub(crate) mod objectives;
pub(crate) mod optimizer;
pub(crate) mod outcome;
pub(crate) mod panic;
pub(crate) mod param_group;
mod param_reason;
pub(crate) mod params;
pub(crate) mod probe;
pub(crate) mod program;
pub(crate) mod program_run;
pub(crate) mod repeat;
pub(crate) mod requirements;
pub(crate) mod return_types;
pub(crate) mod rows;
pub(crate) mod score;
pub(crate) mod sentence;
pub(crate) mod settings;
pub(crate) mod spec;
pub(crate) mod value_type;
pub(crate) mod weights;
