//! The macros of dsrs-metrics: `#[metric]`, `#[judge]`, `#[judge_output]` and `#[derive(Record)]`.
//! Use them through that crate, which contains their documentation.
//!
//! Only this file selects the module that expands an item. The modules of the attributes import
//! from `shared`, never from each other.

mod composite;
mod judge;
mod judge_output;
mod metric;
mod record;
mod shared;

use proc_macro::TokenStream;
use shared::attributes::is_struct;

/// Turns a plain function into a typed metric. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn metric(args: TokenStream, item: TokenStream) -> TokenStream {
    let (args, item) = (args.into(), item.into());
    if is_struct(&item) {
        return composite::expand(args, &item).into();
    }
    metric::expand(args, &item).into()
}

/// Turns a signature struct into a metric that a language model evaluates. See the crate
/// `dsrs-metrics`.
#[proc_macro_attribute]
pub fn judge(args: TokenStream, item: TokenStream) -> TokenStream {
    judge::expand(args.into(), &item.into()).into()
}

/// Makes a type usable as the output of a judge. See the crate `dsrs-metrics`.
#[proc_macro_attribute]
pub fn judge_output(args: TokenStream, item: TokenStream) -> TokenStream {
    judge_output::expand(args.into(), &item.into()).into()
}

/// Makes a struct usable as a row of every dynamic metric. See the crate `dsrs-metrics`.
#[proc_macro_derive(Record, attributes(record))]
pub fn record(item: TokenStream) -> TokenStream {
    record::expand(&syn::parse_macro_input!(item as syn::DeriveInput)).into()
}
