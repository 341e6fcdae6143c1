//! The macros of dsrs-metrics: `#[metric]`, `#[judge]`, `#[judge_output]` and `#[derive(Record)]`. Use them through that crate, which
//! documents them.
#![allow(
    clippy::large_enum_variant,
    reason = "spans are larger with the feature of proc_macro2 that the tests turn on"
)]

mod composite;
mod contract;
mod errors;
mod judge;
mod judge_output;
mod list;
#[cfg(test)]
mod messages;
mod metric;
mod names;
mod record;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;

/// Turns a plain function into a typed metric. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn metric(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_metric(args.into(), &item.into()).into()
}

/// Turns a signature struct into a metric that a language model answers. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn judge(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_judge(args.into(), &item.into()).into()
}

/// Lets a judge answer with a type. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn judge_output(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_judge_output(args.into(), &item.into()).into()
}

/// Lets every dynamic metric score a struct without conversion. See the crate `dsrs-metrics`.
#[proc_macro_derive(Record, attributes(record))]
pub fn record(item: TokenStream) -> TokenStream {
    expand_record(item.into()).into()
}

// The expansions on tokens of proc_macro2, which exist outside of a compilation too: tests call them.

fn expand_metric(args: TokenStream2, item: &TokenStream2) -> TokenStream2 {
    metric::expand(args, item)
}

fn expand_judge(args: TokenStream2, item: &TokenStream2) -> TokenStream2 {
    judge::expand(args, item)
}

fn expand_judge_output(args: TokenStream2, item: &TokenStream2) -> TokenStream2 {
    judge_output::expand(args, item)
}

fn expand_record(item: TokenStream2) -> TokenStream2 {
    match syn::parse2(item) {
        Ok(item) => record::expand(&item),
        Err(error) => error.into_compile_error(),
    }
}
