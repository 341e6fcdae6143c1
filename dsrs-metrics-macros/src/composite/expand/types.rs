//! What the composite's type says of itself, derived from its components' types: whether it has a verdict,
//! whether it must be awaited, over which rows it is.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::super::expression::{Combination, Expression, Kind};
use super::Context;

pub(super) fn declared(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, runtime, private, .. } = cx;
    let (verdict, asked) = (verdict(cx), asked(cx));
    let (gold, pred) = (rows(cx, "Gold"), rows(cx, "Pred"));
    let fitting = (0..cx.leaves.len()).map(|index| scores_the_rows(cx, index));
    quote_spanned! {*span=>
        #[automatically_derived]
        impl #private::Declared for #ident {
            type Verdict = #verdict;
            type Asked = #asked;
            type Gold = #gold;
            type Pred = #pred;
            type Start = #private::WithoutParameters<Self>;

            const SPEC: #runtime::MetricSpec<'static> = Self::SPEC;

            fn start() -> Self::Start {
                #private::WithoutParameters(|| Self)
            }
        }
        #(#fitting)*
    }
}

fn verdict(cx: &Context<'_>) -> TokenStream {
    if cx.attrs.threshold.is_some() {
        let private = &cx.private;
        return quote_spanned!(cx.span=> #private::Decided);
    }
    verdict_of(cx, cx.whole)
}

/// A gate before one truth says what the truth says.
fn verdict_of(cx: &Context<'_>, expression: &Expression) -> TokenStream {
    let Context { span, private, .. } = cx;
    match expression {
        Expression::Component(component) => {
            let alias = cx.alias(cx.index(component));
            quote_spanned!(component.span=> <#alias as #private::Declared>::Verdict)
        }
        Expression::Combination(Combination { kind: Kind::All | Kind::Any, .. }) => {
            quote_spanned!(*span=> #private::Decided)
        }
        Expression::Combination(_) => quote_spanned!(*span=> #private::Undecided),
        Expression::Gate(gate) => match &gate.truths[..] {
            [only] => verdict_of(cx, &only.expression),
            _ => quote_spanned!(*span=> #private::Undecided),
        },
    }
}

fn asked(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let mut asked = quote_spanned!(*span=> #private::AtOnce);
    for (index, leaf) in cx.leaves.iter().enumerate() {
        let alias = cx.alias(index);
        asked = quote_spanned! {leaf.span=>
            <#asked as #private::And<<#alias as #private::Declared>::Asked>>::Both
        };
    }
    asked
}

/// The rows that all components have in common. Where there are none, rustc says so at the first component
/// that does not fit those before it.
fn rows(cx: &Context<'_>, half: &str) -> TokenStream {
    let Context { span, private, .. } = cx;
    let mut rows = quote_spanned!(*span=> #private::AnyRow);
    for (index, leaf) in cx.leaves.iter().enumerate() {
        let (alias, half) = (cx.alias(index), Ident::new(half, leaf.span));
        rows = quote_spanned! {leaf.span=>
            <#rows as #private::SameRows<<#alias as #private::Declared>::#half>>::Rows
        };
    }
    rows
}

/// A component that reads fields of any row must find them in those that the others are over.
fn scores_the_rows(cx: &Context<'_>, index: usize) -> TokenStream {
    let Context { private, ident, .. } = cx;
    let (alias, span) = (cx.alias(index), cx.leaves[index].span);
    let ident = Ident::new(&ident.to_string(), span.resolved_at(ident.span()));
    let rows = quote_spanned! {span=>
        (<#ident as #private::Declared>::Gold, <#ident as #private::Declared>::Pred)
    };
    quote_spanned!(span=> const _: () = <#rows as #private::ScoredBy<#alias>>::HOLDS;)
}

/// Bounds under which the composite is a metric over two rows.
pub(super) fn bounds(cx: &Context<'_>) -> TokenStream {
    let Context { runtime, .. } = cx;
    let bounds = cx.leaves.iter().enumerate().map(|(index, leaf)| {
        let alias = cx.alias(index);
        quote_spanned!(leaf.span=> #alias: #runtime::Metric<GoldRow, PredRow>,)
    });
    quote!(#(#bounds)*)
}
