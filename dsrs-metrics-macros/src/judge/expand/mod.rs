//! Expands a judge that has been checked.
//!
//! The expansion contains the struct as written, its `Input` and `Output`, the metric, and the `Judge` impl that
//! connects them. It also contains the judge as a `Module`.

mod answers;
mod context;
mod module;
mod options;
mod output;
mod setters;
mod signature;

use context::{Context, docs};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::model::{Field, Judge};
use crate::shared::function::expand as function;
use crate::shared::function::model::Model;

pub(crate) fn expand(judge: &Judge, metric: &Model) -> TokenStream {
    let cx = &Context::new(judge, metric);
    let item = item(judge, &metric.names.ident);
    let (input, output) = (input(cx), output::definition(cx));
    let cx = &Context::hidden(judge, metric);
    let parts = [
        output::impls(cx),
        output::reading(cx),
        signature::judge(cx),
        setters::setters(cx),
        module::module(cx),
        answers::answers(cx).unwrap_or_default(),
        not_the_metric(cx),
    ];
    let metric = function::expand_judge(metric, &quote!(#(#parts)*));
    quote!(#item #input #output #metric)
}

/// Returns the struct as written, without warnings that it is never constructed. If the metric has the struct's name,
/// the struct is in a separate scope, so its types and derives are still checked.
fn item(judge: &Judge, metric: &syn::Ident) -> TokenStream {
    let item = &judge.item;
    let item = quote_spanned! {judge.span()=>
        #[allow(dead_code, missing_debug_implementations, missing_copy_implementations)]
        #item
    };
    if !judge.is_named_as_metric(metric) {
        return item;
    }
    quote_spanned! {judge.span()=>
        #[doc(hidden)]
        #[allow(unreachable_pub, missing_docs, clippy::all, clippy::pedantic)]
        const _: () = { #item };
    }
}

/// Emits constructors of the metric for the signature, with an unsatisfiable bound: rustc reports the metric's name.
fn not_the_metric(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        runtime,
        metric,
        ..
    } = cx;
    let (signature, metric) = (&judge.item.ident, &metric.names.ident);
    if judge.is_named_as_metric(metric) {
        return TokenStream::new();
    }
    quote_spanned! {*span=>
        impl #signature
        where
            for<'judge> #signature: #runtime::judge::IsMetric<'judge, #metric>,
        {
            pub fn default() -> #metric {
                ::core::unreachable!()
            }

            pub fn builder() -> #metric {
                ::core::unreachable!()
            }
        }
    }
}

/// Emits `XInput`, which contains the judge's inputs from one row.
fn input(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        runtime,
        input,
        ..
    } = cx;
    let vis = &judge.item.vis;
    let fields = cx.shown().map(|input| {
        let Field { ident, ty, .. } = &input.field;
        let docs = docs(&input.field);
        quote_spanned!(*span=> #docs #vis #ident: #runtime::judge::Untrusted<#ty>)
    });
    let doc = format!(
        "The inputs of the judge [`{}`] from one row.",
        judge.item.ident
    );
    let cfgs = cx.cfgs();
    quote_spanned! {*span=>
        #(#cfgs)*
        #[doc = #doc]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #[allow(dead_code)]
        #vis struct #input { #(#fields,)* }
    }
}
