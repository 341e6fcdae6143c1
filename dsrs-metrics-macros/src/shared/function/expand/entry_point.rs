//! The inherent methods that users call: `score`, or for an asynchronous metric, `evaluate`.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use super::context::Context;
use super::fields::bounds_of;
use crate::shared::contract::evaluate;
use crate::shared::function::side::Side;
use crate::shared::types::in_lifetime;

/// Emits `score` for a synchronous metric, whose `evaluate` is a method of `Metric`. An asynchronous metric gets
/// `evaluate`; its `score` is the method of `Metric`, which cannot be called.
pub(super) fn entry_point(cx: &Context<'_>) -> TokenStream {
    if !cx.model.is_async() {
        return score(cx);
    }
    evaluate(&cx.paths(), &cx.model.function.vis, &cx.gold, &cx.pred)
}

fn score(cx: &Context<'_>) -> TokenStream {
    let Context {
        model,
        span,
        runtime,
        private,
        gold,
        pred,
        ..
    } = cx;
    let vis = &model.function.vis;
    let typed_sides = cx.typed_sides();
    let mut params: Vec<_> = cx
        .open_sides()
        .map(|side| cx.row_param(side).clone())
        .collect();
    let mut body = quote_spanned!(*span=> self.__dsrs_answer(#runtime::__private::MetricCall::new(gold, pred)));
    let mut accepted = TokenStream::new();
    for side in &typed_sides {
        let kind = Ident::new(&cx.fresh.name(kind_name(*side)), *span);
        let row_param = cx.row_param(*side);
        accepted.extend(accepts(cx, *side, &kind));
        body = lend(cx, *side, &body);
        params.extend([row_param.clone(), kind]);
    }
    let row_type = |side: Side, param: &Ident| match typed_sides.contains(&side) {
        true => quote_spanned!(*span=> #param),
        false => cx.row_type(side),
    };
    let (gold, pred) = (row_type(Side::Gold, gold), row_type(Side::Pred, pred));
    // A row that is read from a dynamic one does not live as long as the other row.
    let (bounds, row) = match typed_sides.is_empty() {
        true => (bounds_of(cx, false, false), &cx.row),
        false => (bounds_of(cx, true, false), &cx.read),
    };
    quote_spanned! {*span=>
        /// Scores one pair of rows. Returns the same errors as `Metric::evaluate`.
        #vis fn score<#row, #(#params),*>(
            &self,
            gold: &#row #gold,
            pred: &#row #pred,
        ) -> #runtime::Result<#runtime::__private::MetricScore>
        where
            #bounds
            #accepted
        {
            #private::score(#body)
        }
    }
}

fn kind_name(side: Side) -> &'static str {
    match side {
        Side::Gold => "GoldKind",
        Side::Pred => "PredKind",
    }
}

/// Returns the bound on the rows that are accepted for a typed row.
fn accepts(cx: &Context<'_>, side: Side, kind: &Ident) -> TokenStream {
    let Context {
        span,
        runtime,
        read: row,
        ..
    } = cx;
    let (param, dynamic) = (cx.row_param(side), Ident::new(side.dynamic(), *span));
    let ty = cx.typed(side).map(|ty| in_lifetime(&ty, row));
    quote_spanned!(*span=> #param: #runtime::TypedRow<#row, #ty, #runtime::#dynamic, #kind>,)
}

/// Returns `body` with the row of a side read as the metric's type.
fn lend(cx: &Context<'_>, side: Side, body: &TokenStream) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let (name, variant) = (Ident::new(side.name(), *span), cx.side(side));
    let (spec, written) = (cx.spec_ref(), cx.row_as_written(side));
    quote_spanned! {*span=>
        match #runtime::TypedRow::typed(#name, #spec, #variant, #written) {
            __p::Ok(#name) => { let #name = &*#name; #body }
            __p::Err(error) => __p::Err(error),
        }
    }
}
