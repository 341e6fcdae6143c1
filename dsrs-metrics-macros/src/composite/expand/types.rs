//! What the composite's type says of itself, derived from its components' types: whether it has a verdict,
//! whether it must be awaited, over which rows it is.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::super::expression::{Combination, Expression, Kind};
use super::Context;
use crate::names;

pub(super) fn declared(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, runtime, .. } = cx;
    let verdict = verdict(cx);
    let (gold, pred) = (rows(cx, "OverGold"), rows(cx, "OverPred"));
    let conditions = (0..cx.leaves.len()).map(|index| {
        let (alias, at) = (cx.alias(index), cx.leaves[index].span);
        quote_spanned!(at=> for<'declared> #alias: #runtime::DeclaredIn<'declared>)
    });
    let at_once = (0..cx.leaves.len()).map(|index| {
        let (alias, at) = (cx.alias(index), cx.leaves[index].span);
        quote_spanned!(at=> #alias: #runtime::ScoredAtOnce<GoldRow>)
    });
    let (agree, identity) = (rows_agree(cx), super::contract::identity(cx));
    quote_spanned! {*span=>
        #[automatically_derived]
        impl #runtime::Declared for #ident
        where
            #(#conditions,)*
        {
            type Verdict = #verdict;
            type OverGold = #gold;
            type OverPred = #pred;
            type Start = #runtime::WithoutParameters<Self>;

            const SPEC: #runtime::MetricSpec<'static> = Self::SPEC;

            fn start() -> Self::Start {
                #runtime::WithoutParameters(|| Self)
            }

            #identity
        }

        #[automatically_derived]
        impl<GoldRow> #runtime::ScoredAtOnce<GoldRow> for #ident
        where
            #(#at_once,)*
        {
        }

        #agree
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
    let Context { span, private, runtime, .. } = cx;
    match expression {
        Expression::Component(component) => {
            let alias = cx.alias(cx.index(component));
            quote_spanned!(component.span=> <#alias as #runtime::Declared>::Verdict)
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

/// The rows that all components have in common.
fn rows(cx: &Context<'_>, half: &str) -> TokenStream {
    let Context { span, runtime, private, .. } = cx;
    let mut rows = quote_spanned!(*span=> #runtime::AnyRow);
    for (index, leaf) in cx.leaves.iter().enumerate() {
        let (alias, half) = (cx.alias(index), Ident::new(half, leaf.span));
        rows = quote_spanned! {leaf.span=>
            <#rows as #private::First<<#alias as #runtime::Declared>::#half>>::Rows
        };
    }
    rows
}

/// A function that nobody calls, in which rustc says at a component that it is over other rows than those
/// before it, or that a row lacks a field which it reads.
pub(super) fn rows_agree(cx: &Context<'_>) -> TokenStream {
    let Context { span, runtime, private, .. } = cx;
    let components = (0..cx.leaves.len()).map(|index| {
        let (alias, at) = (cx.alias(index), cx.leaves[index].span);
        let runtime = names::runtime(cx.attrs.krate.as_ref(), at);
        (at, quote_spanned!(at=> #runtime::__private::Of::<#alias>::component()))
    });
    let components: Vec<_> = components.collect();
    let joined = components
        .iter()
        .map(|(at, component)| quote_spanned!(*at=> let rows = rows.and(&(&#component).rows());));
    let suited = components
        .iter()
        .map(|(at, component)| quote_spanned!(*at=> rows.suit(&(&#component).rows(), #component);));
    quote_spanned! {*span=>
        #[allow(unused_imports)]
        fn __rows_agree() {
            use #private::OfNoMetric as _;
            let rows = #runtime::Rows::any();
            #(#joined)*
            #(#suited)*
        }
    }
}

/// Bounds under which the composite is a metric over two rows.
pub(super) fn bounds(cx: &Context<'_>) -> TokenStream {
    let bounds = cx.leaves.iter().enumerate().map(|(index, leaf)| {
        let alias = cx.alias(index);
        let runtime = names::runtime(cx.attrs.krate.as_ref(), leaf.span);
        quote_spanned!(leaf.span=> #alias: #runtime::Metric<GoldRow, PredRow>,)
    });
    quote!(#(#bounds)*)
}
