//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.

// `#[metric]` expands to paths that start with `dsrs_metrics`.
extern crate dsrs_metrics_core as dsrs_metrics;
#[macro_use]
extern crate dsrs_metrics_values;

pub mod metrics;
pub mod shipped;
mod simulated_user;

pub use self::simulated_user::SimulatedUser;

#[cfg(feature = "sparql")]
use dsrs_metrics_code::sparql;
use dsrs_metrics_code::syntax;
#[cfg(feature = "schema")]
use dsrs_metrics_code::within_deadline;
use dsrs_metrics_core::{self as contract, ParamGroup, Requirement, judge, lm, metric};
#[cfg(feature = "sandbox")]
use dsrs_metrics_sandbox as sandbox;
use dsrs_metrics_values::{json, messages, retrieval, stats, text, trajectory};
