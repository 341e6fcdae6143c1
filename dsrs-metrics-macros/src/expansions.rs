//! The expansions on tokens of `proc_macro2`, which unit tests and the fuzz target `macros` can call outside a
//! compilation. Only this file selects the module that expands an item.

use proc_macro2::TokenStream;

use crate::shared::item_kind::is_struct;
use crate::{added_metrics, composite, eval, judge, judge_output, metric, param_group, record};

pub(crate) fn expand_metric(args: TokenStream, item: &TokenStream) -> TokenStream {
    if is_struct(item) {
        return composite::expand(args, item);
    }
    metric::expand(args, item)
}

pub(crate) fn expand_judge(args: TokenStream, item: &TokenStream) -> TokenStream {
    judge::expand(args, item)
}

pub(crate) fn expand_eval(args: TokenStream, item: &TokenStream) -> TokenStream {
    eval::expand(args, item)
}

pub(crate) fn expand_judge_output(args: TokenStream, item: &TokenStream) -> TokenStream {
    judge_output::expand(args, item)
}

pub(crate) fn expand_added_metrics(input: TokenStream) -> TokenStream {
    added_metrics::expand(input)
}

pub(crate) fn expand_record(item: TokenStream) -> TokenStream {
    match syn::parse2(item) {
        Ok(item) => record::expand(&item),
        Err(error) => error.into_compile_error(),
    }
}

pub(crate) fn expand_param_group(item: TokenStream) -> TokenStream {
    match syn::parse2(item) {
        Ok(item) => param_group::expand(&item),
        Err(error) => error.into_compile_error(),
    }
}
