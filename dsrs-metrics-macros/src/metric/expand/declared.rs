//! What the metric's type says of itself, so that the compiler can put metrics together.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Lifetime;

use super::super::bind::Side;
use super::super::rows::Row;
use super::super::types::in_lifetime;
use super::{Context, builder, definition};
use crate::names::ends;

pub(super) fn declared(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, private, runtime, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let verdict = verdict(cx);
    let asked = if cx.model.is_async() { "Awaited" } else { "AtOnce" };
    let asked = Ident::new(asked, *span);
    let (gold, pred) = (row(cx, Side::Gold), row(cx, Side::Pred));
    let (start, started) = match definition::is_unit(cx) {
        true => {
            let start = quote_spanned!(*span=> #private::WithoutParameters);
            (quote_spanned!(*span=> #start<Self>), quote_spanned!(*span=> #start(|| Self)))
        }
        false => (builder::unstarted(cx), quote_spanned!(*span=> Self::builder())),
    };
    quote_spanned! {*span=>
        #[automatically_derived]
        impl #impl_generics #private::Declared for #ident #ty_generics #where_clause {
            #verdict
            type Asked = #private::#asked;
            type Gold = #gold;
            type Pred = #pred;
            type Start = #start;

            const SPEC: #runtime::MetricSpec<'static> = Self::SPEC;

            fn start() -> Self::Start {
                #started
            }
        }
    }
}

fn verdict(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    if cx.model.attrs.threshold.is_some() {
        return quote_spanned!(*span=> type Verdict = #private::Decided;);
    }
    let (start, end) = ends(cx.model.output());
    let ty = super::spec::returns(cx, "Verdict", &Lifetime::new("'static", *span));
    let (before, after) = (quote_spanned!(start=> type), quote_spanned!(end=> ;));
    let name = quote_spanned!(end=> Verdict =);
    quote!(#before #name #ty #after)
}

/// Which rows of a side the metric is over.
fn row(cx: &Context<'_>, side: Side) -> TokenStream {
    let Context { span, private, .. } = cx;
    let half = match side {
        Side::Gold => quote_spanned!(*span=> #private::Gold),
        Side::Pred => quote_spanned!(*span=> #private::Pred),
    };
    match cx.model.rows.get(side) {
        Row::Any => quote_spanned!(*span=> #private::AnyRow),
        Row::Dynamic => {
            let row = cx.row_type(side);
            quote_spanned!(*span=> #half<#row>)
        }
        Row::Typed(ty) => {
            let ty = in_lifetime(ty, &Lifetime::new("'static", *span));
            quote_spanned!(*span=> #half<#ty>)
        }
    }
}
