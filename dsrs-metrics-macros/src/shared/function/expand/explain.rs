//! `explain = ..`: calls the function or closure that explains a score, if the explanation is read.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::Lifetime;

use super::context::Context;
use super::fields::bounds;
use super::lookup::{absent, arguments, readings, spec_of_call};
use crate::shared::function::side::Side;
use crate::shared::tokens::ends;
use crate::shared::types::in_lifetime;

/// Returns the answer with the score expression `scored`, and its explanation if there is a function for it.
pub(super) fn if_read(cx: &Context<'_>, scored: &TokenStream) -> TokenStream {
    let (span, private) = (cx.span, &cx.private);
    if cx.model.attrs.explain.is_none() {
        return quote_spanned!(span=> #private::row_answer(#scored));
    }
    quote_spanned! {span=>
        match #scored {
            __p::Ok(scored) if __call.is_explained() => self.__explain(__call, scored),
            scored => #private::row_answer(scored),
        }
    }
}

/// Emits `__explain`, which reads the fields again, because the metric's function may have taken them by value. The
/// function pointer's type is at the metric's name, so rustc shows the expected signature at the path and infers a
/// closure's parameter types.
pub(super) fn explain(cx: &Context<'_>) -> TokenStream {
    let Context {
        model,
        span,
        runtime,
        private,
        row,
        ..
    } = cx;
    let Some(path) = &model.attrs.explain else {
        return TokenStream::new();
    };
    let row_params = cx.row_params();
    let (gold, pred) = (cx.row_type(Side::Gold), cx.row_type(Side::Pred));
    let (bounds, readings, spec, absent) = (
        bounds(cx, false),
        readings(cx),
        spec_of_call(cx),
        absent(cx),
    );
    let elided = Lifetime::new("'_", *span);
    let types = model
        .params
        .iter()
        .map(|param| in_lifetime(&param.ty, &elided));
    let signature = quote_spanned!(*span=> fn(#(#types,)* __p::f64) -> _);
    let arguments = arguments(cx);
    let (start, end) = ends(path);
    let at_path = start.resolved_at(*span);
    let explanation = quote_spanned!(at_path=> __explain(#(#arguments,)* __score));
    let into_details = {
        let details = quote_spanned!(end=> ::into_details);
        quote_spanned!(start=> #runtime::__private::Explanation #details)
    };
    quote_spanned! {*span=>
        #[cold]
        fn __explain<#row, #row_params>(
            &self,
            __call: #runtime::__private::MetricCall<#row, #gold, #pred>,
            __scored: #runtime::Scored,
        ) -> #runtime::Result<#runtime::__private::RowAnswer>
        where
            #bounds
        {
            #spec
            #absent
            #readings
            let __score = __scored.score.value;
            let __explain: #signature = #path;
            let __details = #into_details(#explanation);
            __p::Ok(#runtime::__private::RowAnswer::Scored(#private::explained(__scored, __details)))
        }
    }
}
