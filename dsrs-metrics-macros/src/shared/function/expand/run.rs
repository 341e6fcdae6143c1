//! The call: reads each parameter from its row, calls the function, and validates its return value against the spec.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::context::Context;
use super::fields::bounds;
use super::lookup::{absent, arguments, readings, spec_of_call};
use super::{explain, spec};
use crate::shared::function::model::Model;
use crate::shared::function::param::Binding;
use crate::shared::function::side::Side;

/// Emits `__dsrs_answer`, which reads the fields, calls the function and validates the score. A judge does this in `answer`.
pub(super) fn run(cx: &Context<'_>) -> TokenStream {
    let Context {
        model,
        span,
        runtime,
        row,
        ..
    } = cx;
    if model.judged.is_some() {
        return TokenStream::new();
    }
    let row_params = cx.row_params();
    let (gold, pred) = (cx.row_type(Side::Gold), cx.row_type(Side::Pred));
    let bounds = bounds(cx, false);
    let body = body(cx);
    let (keyword, lifetime) = match model.is_async() {
        true => (quote_spanned!(*span=> async), quote_spanned!(*span=> #row)),
        false => (quote_spanned!(*span=> #[inline]), TokenStream::new()),
    };
    quote_spanned! {*span=>
        #keyword fn __dsrs_answer<#row, #row_params>(
            &#lifetime self,
            __call: #runtime::__private::MetricCall<#row, #gold, #pred>,
        ) -> #runtime::Result<#runtime::__private::RowAnswer>
        where
            #bounds
        {
            #body
        }
    }
}

/// Returns the statements that score `__call`.
fn body(cx: &Context<'_>) -> TokenStream {
    let Context { model, span, .. } = cx;
    let (readings, spec, absent) = (readings(cx), spec_of_call(cx), absent(cx));
    let mut scored = scored(cx);
    if !absent.is_empty() && model.judged.is_none() {
        scored = quote_spanned!(*span=> let __scored = { #scored }; __absent.mark(__scored));
    }
    quote_spanned!(*span=> #spec #absent #readings #scored)
}

/// Returns the body of `answer`, which takes `call`.
pub(super) fn answer(cx: &Context<'_>) -> TokenStream {
    let Context {
        model,
        span,
        runtime,
        ..
    } = cx;
    if model.judged.is_some() {
        let body = body(cx);
        return quote_spanned!(*span=> let __call = call; #body);
    }
    match model.is_async() {
        true => {
            quote_spanned!(*span=> #runtime::__private::Answer::pending(self.__dsrs_answer(call)))
        }
        false => {
            quote_spanned!(*span=> #runtime::__private::Answer::Ready(self.__dsrs_answer(call)))
        }
    }
}

/// Returns the expression that calls the function or the judge and scores its return value.
fn scored(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        runtime,
        private,
        ..
    } = cx;
    let Some(input) = &cx.model.judged else {
        let into_scored = spec::returns(cx, "into_scored", &syn::Lifetime::new("'_", *span));
        let call = call(cx);
        return explain::if_read(cx, &quote_spanned!(*span=> #into_scored(#call, __spec)));
    };
    let params = cx.model.params.iter().zip(arguments(cx));
    let fields = params.filter_map(|(param, argument)| {
        let name = param.ident.as_ref()?;
        let value = match param.binding {
            Binding::Config(_) => return None,
            Binding::Steps { is_required: true } => {
                quote_spanned!(*span=> __p::Clone::clone(#argument))
            }
            Binding::Steps { is_required: false } => quote_spanned!(*span=> #argument.cloned()),
            _ => argument,
        };
        Some(quote_spanned!(*span=> #name: #runtime::judge::Untrusted::new(#value)))
    });
    let absent = match absent(cx).is_empty() {
        true => quote_spanned!(*span=> <#private::Absent as ::core::default::Default>::default()),
        false => quote_spanned!(*span=> __absent),
    };
    quote_spanned! {*span=>
        #private::judged::<Self>(self, #input { #(#fields,)* }, *__spec, #absent)
    }
}

/// Returns the call to the user's function.
fn call(cx: &Context<'_>) -> TokenStream {
    let Context { model, .. } = cx;
    let function = &model.function.sig.ident;
    let turbofish = turbofish(model);
    let arguments = arguments(cx);
    let call = quote_spanned!(cx.span=> #function #turbofish(#(#arguments),*));
    if model.is_async() {
        quote_spanned!(cx.span=> #call.await)
    } else {
        call
    }
}

fn turbofish(model: &Model) -> TokenStream {
    let params = model
        .generics
        .params
        .iter()
        .filter_map(|param| match param {
            syn::GenericParam::Type(param) => Some(&param.ident),
            syn::GenericParam::Const(param) => Some(&param.ident),
            syn::GenericParam::Lifetime(_) => None,
        });
    let params: Vec<_> = params.collect();
    if params.is_empty() {
        TokenStream::new()
    } else {
        quote!(::<#(#params),*>)
    }
}
