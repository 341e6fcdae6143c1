//! `impl Metric` for the metric's rows, and for typed rows a second one for dynamic rows, which deserializes them
//! first.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};

use super::context::Context;
use super::fields::{self, bounds};
use super::lookup::read;
use super::run::answer;
use crate::shared::contract::{calls, described};
use crate::shared::function::side::Side;
use crate::shared::types::in_lifetime;

pub(super) fn metric(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        ..
    } = cx;
    let (_, ty_generics, _) = cx.split();
    let (gold, pred) = (cx.row_type(Side::Gold), cx.row_type(Side::Pred));
    let params = fields::trailing(&cx.generics);
    let row_params = cx.row_params();
    let bounds = bounds(cx, true);
    let predicates = cx
        .generics
        .where_clause
        .as_ref()
        .map(|clause| &clause.predicates);
    let predicates = predicates
        .filter(|predicates| !predicates.is_empty())
        .map(|predicates| {
            let predicates = predicates.iter();
            quote!(#(#predicates,)*)
        });
    let methods = methods(cx, &gold, &pred);
    let checks = checks(cx);
    quote_spanned! {*span=>
        impl<#params #row_params> #runtime::Metric<#gold, #pred> for #ident #ty_generics
        where
            #bounds
            #predicates
        {
            #methods

            fn can_evaluate(&self, gold: &#gold, pred: &#pred) -> __p::bool {
                #checks
            }
        }
    }
}

/// Returns the expression that is `true` if every looked-up field can be read.
fn checks(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let span = *span;
    let checks = cx.looked_up().map(|field| {
        let row = syn::Ident::new(field.side.name(), span);
        let row = quote_spanned!(span=> #row);
        let is_scored = cx.model.attrs.missing.is_some() && field.param.is_required(Side::Pred);
        let value = read(cx, field, &row);
        match is_scored {
            true => quote_spanned!(span=> #private::is_scored(&#value)),
            false => quote_spanned!(span=> #value.is_ok()),
        }
    });
    let checks: Vec<_> = checks.collect();
    if checks.is_empty() {
        return quote_spanned!(span=> true);
    }
    quote_spanned!(span=> #(#checks)&&*)
}

/// Emits the methods that read from the spec, and the calls.
fn methods(cx: &Context<'_>, gold: &TokenStream, pred: &TokenStream) -> TokenStream {
    let described = described(
        &cx.paths(),
        &cx.model.names.metric,
        &quote_spanned!(cx.span=> self),
    );
    let calls = calls(&cx.paths(), gold, pred, &answer(cx));
    quote!(#described #calls)
}

/// Emits the impl that lets a metric over typed rows also score dynamic ones, if the types can be deserialized.
pub(super) fn bridge(cx: &Context<'_>) -> TokenStream {
    let typed_sides = cx.typed_sides();
    if typed_sides.is_empty() {
        return TokenStream::new();
    }
    let Context {
        span,
        ident,
        runtime,
        ..
    } = cx;
    let (_, ty_generics, _) = cx.split();
    let params = fields::trailing(&cx.generics);
    let gold = quote_spanned!(*span=> #runtime::Example);
    let pred = quote_spanned!(*span=> #runtime::Prediction);
    let readable = typed_sides
        .iter()
        .filter_map(|side| cx.typed(*side))
        .map(|ty| {
            let read = &cx.read;
            let ty = in_lifetime(&ty, read);
            quote_spanned!(*span=> for<#read> #ty: #runtime::__private::RowType<#read>,)
        });
    let predicates = cx
        .generics
        .where_clause
        .as_ref()
        .map(|clause| clause.predicates.iter())
        .into_iter()
        .flatten();
    let described = described(
        &cx.paths(),
        &cx.model.names.metric,
        &quote_spanned!(*span=> self),
    );
    let body = bridged(cx, &typed_sides);
    let answer = match cx.model.is_async() {
        true => quote_spanned!(*span=> #runtime::__private::Answer::pending(async move { #body })),
        false => quote_spanned!(*span=> #runtime::__private::Answer::Ready(#body)),
    };
    let calls = calls(&cx.paths(), &gold, &pred, &answer);
    let checks = typed_sides.iter().map(|side| {
        let read = read_row(cx, *side, &syn::Ident::new(side.name(), *span));
        quote_spanned!(*span=> #read.is_ok())
    });
    quote_spanned! {*span=>
        impl<#params> #runtime::Metric<#gold, #pred> for #ident #ty_generics
        where
            #(#readable)*
            #(#predicates,)*
        {
            #described
            #calls

            fn can_evaluate(&self, gold: &#gold, pred: &#pred) -> __p::bool {
                let _ = (gold, pred);
                #(#checks)&&*
            }
        }
    }
}

/// Deserializes the dynamic rows of `call` and scores them.
fn bridged(cx: &Context<'_>, typed_sides: &[Side]) -> TokenStream {
    let span = cx.span;
    let row = |side: Side| {
        let name = syn::Ident::new(side.name(), span);
        if typed_sides.contains(&side) {
            quote_spanned!(span=> &#name)
        } else {
            quote_spanned!(span=> call.#name)
        }
    };
    let (gold, pred) = (row(Side::Gold), row(Side::Pred));
    let call = quote_spanned!(span=> call.over(#gold, #pred));
    let row_type = |side: Side| match cx.typed(side) {
        Some(ty) => in_lifetime(&ty, &syn::Lifetime::new("'_", span)).to_token_stream(),
        None => {
            let (runtime, dynamic) = (&cx.runtime, syn::Ident::new(side.dynamic(), span));
            quote_spanned!(span=> #runtime::#dynamic)
        }
    };
    let (gold, pred) = (row_type(Side::Gold), row_type(Side::Pred));
    let runtime = &cx.runtime;
    let mut body = match cx.model.is_async() {
        // Goes through `answer`, so rustc checks in only one place that the future is `Send`.
        true => quote_spanned! {span=>
            <Self as #runtime::Metric<#gold, #pred>>::answer(self, #call).resolved().await
        },
        false => quote_spanned!(span=> self.__dsrs_answer(#call)),
    };
    for side in typed_sides.iter().rev() {
        let name = syn::Ident::new(side.name(), span);
        let read = read_row(cx, *side, &quote_spanned!(span=> call.#name));
        body = quote_spanned! {span=>
            match #read {
                __p::Ok(#name) => #body,
                __p::Err(error) => __p::Err(error),
            }
        };
    }
    body
}

fn read_row(cx: &Context<'_>, side: Side, row: &impl quote::ToTokens) -> TokenStream {
    let Context { span, private, .. } = cx;
    let Some(ty) = cx.typed(side) else {
        return TokenStream::new();
    };
    let written = cx.row_as_written(side);
    let spec = cx.spec_ref();
    let variant = cx.side(side);
    quote_spanned! {*span=>
        #private::read_row::<#ty>(&#row.data, #spec, #variant, #written)
    }
}
