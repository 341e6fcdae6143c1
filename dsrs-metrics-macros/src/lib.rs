//! The macros of dsrs-metrics: `#[metric]`, `#[judge]`, `#[judge_output]` and `#[derive(Record)]`. Use them through that crate, which
//! documents them.

mod composite;
mod contract;
mod errors;
mod judge;
mod judge_output;
mod list;
mod metric;
mod names;
mod record;

use proc_macro::TokenStream;

/// Turns a plain function into a typed metric. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn metric(args: TokenStream, item: TokenStream) -> TokenStream {
    metric::expand(args.into(), &item.into()).into()
}

/// Turns a signature struct into a metric that a language model answers. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn judge(args: TokenStream, item: TokenStream) -> TokenStream {
    judge::expand(args.into(), &item.into()).into()
}

/// Lets a judge answer with a type. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn judge_output(args: TokenStream, item: TokenStream) -> TokenStream {
    judge_output::expand(args.into(), &item.into()).into()
}

/// Lets every dynamic metric score a struct without conversion. See the crate `dsrs-metrics`.
#[proc_macro_derive(Record, attributes(record))]
pub fn record(item: TokenStream) -> TokenStream {
    record::expand(&syn::parse_macro_input!(item as syn::DeriveInput)).into()
}
