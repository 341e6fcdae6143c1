//! The macros of dsrs-metrics.
//!
//! The macros are `#[metric]`, `#[judge]`, `#[judge_output]`, `#[eval]`, `#[derive(Record)]` and
//! `#[derive(ParamGroup)]`. Use them through the `dsrs-metrics` crate, which contains their documentation.
//!
//! `expansions` selects the module that expands an item. The modules of the macros import from `shared`, never from
//! each other.
#![allow(
    clippy::large_enum_variant,
    reason = "spans are larger with the feature of proc_macro2 that the tests turn on"
)]

mod added_metrics;
#[cfg(test)]
mod any_tokens;
mod composite;
#[cfg(test)]
mod documented;
mod eval;
mod expansions;
mod judge;
mod judge_output;
#[cfg(test)]
mod messages;
mod metric;
mod param_group;
mod record;
mod shared;

use expansions::{
    expand_added_metrics, expand_eval, expand_judge, expand_judge_output, expand_metric,
    expand_param_group, expand_record,
};
use proc_macro::TokenStream;

/// Turns a function into a typed metric.
///
/// See the `dsrs-metrics` crate.
#[proc_macro_attribute]
pub fn metric(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_metric(args.into(), &item.into()).into()
}

/// Turns a struct into a metric that asks a language model.
///
/// See the `dsrs-metrics` crate.
#[proc_macro_attribute]
pub fn judge(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_judge(args.into(), &item.into()).into()
}

/// Makes a type usable as a judge's output.
///
/// See the `dsrs-metrics` crate.
#[proc_macro_attribute]
pub fn judge_output(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_judge_output(args.into(), &item.into()).into()
}

/// Turns a program into a test that evaluates it.
///
/// See the `dsrs-metrics` crate.
#[proc_macro_attribute]
pub fn eval(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_eval(args.into(), &item.into()).into()
}

/// Replaces `#[eval]` if the `evaluate` feature of the `dsrs-metrics` crate is disabled.
///
/// The macro reports a compile error that asks for the feature.
#[proc_macro_attribute]
pub fn eval_without_harness(_: TokenStream, item: TokenStream) -> TokenStream {
    let error = "`#[eval]` requires the `evaluate` feature; add `features = [\"evaluate\"]` to the `dsrs-metrics` dependency in Cargo.toml";
    let error: TokenStream = syn::Error::new(proc_macro2::Span::call_site(), error)
        .into_compile_error()
        .into();
    error.into_iter().chain(item).collect()
}

/// Adds the metrics of `dsrs_metrics::main!` to its registry.
///
/// This macro is not part of the public API.
#[proc_macro]
pub fn added_metrics(input: TokenStream) -> TokenStream {
    expand_added_metrics(input.into()).into()
}

/// Lets any dynamic metric use a struct as a row.
///
/// See the `dsrs-metrics` crate.
#[proc_macro_derive(Record, attributes(record))]
pub fn record(item: TokenStream) -> TokenStream {
    expand_record(item.into()).into()
}

/// Lets several metrics share a struct of parameters.
///
/// See the `dsrs-metrics` crate.
#[proc_macro_derive(ParamGroup, attributes(param, param_group))]
pub fn param_group(item: TokenStream) -> TokenStream {
    expand_param_group(item.into()).into()
}
