//! The trait impls derived from the components' types: whether the composite has a verdict, whether it is async, and
//! its row types.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};

use super::context::Context;
use super::contract;
use crate::composite::expression::{Combination, Expression, Kind};
use crate::shared::names;

pub(super) fn declared(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        ..
    } = cx;
    let verdict = verdict(cx);
    let (gold, pred) = (rows(cx, "Gold"), rows(cx, "Pred"));
    let params = (0..cx.leaves.len()).map(|index| component_params(cx, index));
    let (names, conditions): (Vec<_>, Vec<_>) = params.unzip();
    let at_once = (0..cx.leaves.len()).map(|index| {
        let (alias, at) = (cx.alias(index), cx.leaves[index].span);
        quote_spanned!(at=> #alias: #runtime::__private::ScoredAtOnce<GoldRow>)
    });
    let (agree, component) = (rows_agree(cx), contract::component(cx));
    let ([gold_names, gold_conditions], [pred_names, pred_conditions]) = (gold.joined, pred.joined);
    let (gold, pred) = (gold.last, pred.last);
    quote_spanned! {*span=>
        #[automatically_derived]
        impl<#(#names)* #gold_names #pred_names> #runtime::Declared for #ident
        where
            #(#conditions)*
            #gold_conditions
            #pred_conditions
        {
            type Verdict = #verdict;
            type OverGold = #gold;
            type OverPred = #pred;
            type Start = #runtime::WithoutParameters<Self>;

            const SPEC: #runtime::__private::MetricSpec<'static> = __SPEC;

            fn start() -> Self::Start {
                #runtime::WithoutParameters(|| Self)
            }

            #component
        }

        #[automatically_derived]
        impl<GoldRow> #runtime::__private::ScoredAtOnce<GoldRow> for #ident
        where
            #(#at_once,)*
        {
        }

        #agree
    }
}

/// Returns a type parameter of the impl that stands for a component's associated type. If the impl named the
/// component's type instead, a composite could not be more visible than its components.
fn param(cx: &Context<'_>, of: &str, index: usize) -> Ident {
    format_ident!("__{of}{index}", span = cx.span)
}

/// Returns the type parameters for one component, and the bound that defines them.
fn component_params(cx: &Context<'_>, index: usize) -> (TokenStream, TokenStream) {
    let runtime = &cx.runtime;
    let (alias, at) = (cx.alias(index), cx.leaves[index].span);
    let [verdict, gold, pred] = ["Verdict", "Gold", "Pred"].map(|of| param(cx, of, index));
    let index = Literal::usize_unsuffixed(index);
    let condition = quote_spanned! {at=>
        for<'declared> #alias: #runtime::DeclaredIn<
            'declared,
            #index,
            Verdict = #verdict,
            OverGold = #gold,
            OverPred = #pred,
        >,
    };
    (quote_spanned!(cx.span=> #verdict, #gold, #pred,), condition)
}

fn verdict(cx: &Context<'_>) -> TokenStream {
    if cx.attrs.threshold.is_some() {
        let private = &cx.private;
        return quote_spanned!(cx.span=> #private::Decided);
    }
    verdict_of(cx, cx.root)
}

/// Returns the verdict type of an expression. A gate with one truth has that truth's verdict.
fn verdict_of(cx: &Context<'_>, expression: &Expression) -> TokenStream {
    let Context { span, private, .. } = cx;
    match expression {
        Expression::Component(component) => {
            param(cx, "Verdict", cx.index(component)).into_token_stream()
        }
        Expression::Combination(Combination {
            kind: Kind::All | Kind::Any,
            ..
        }) => {
            quote_spanned!(*span=> #private::Decided)
        }
        Expression::Combination(_) | Expression::Decision(_) => {
            quote_spanned!(*span=> #private::Undecided)
        }
        Expression::Gate(gate) => match &gate.truths[..] {
            [only] => verdict_of(cx, &only.expression),
            _ => quote_spanned!(*span=> #private::Undecided),
        },
    }
}

/// The rows that all components accept. Type parameters stand for the rows of the first two components, the first three
/// and so on, with the bounds that define them.
struct Joined {
    joined: [TokenStream; 2],
    last: Ident,
}

fn rows(cx: &Context<'_>, half: &str) -> Joined {
    let private = &cx.private;
    let (mut names, mut conditions) = (TokenStream::new(), TokenStream::new());
    let mut last = param(cx, half, 0);
    for (index, leaf) in cx.leaves.iter().enumerate().skip(1) {
        let (next, both) = (
            param(cx, half, index),
            param(cx, &format!("{half}To"), index),
        );
        names.extend(quote_spanned!(cx.span=> #both,));
        conditions
            .extend(quote_spanned! {leaf.span=> #last: #private::First<#next, Rows = #both>,});
        last = both;
    }
    Joined {
        joined: [names, conditions],
        last,
    }
}

/// Emits an unused function. In it, rustc reports a component whose rows differ from those before it, or a row that
/// lacks a field a component reads.
pub(super) fn rows_agree(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        runtime,
        private,
        ..
    } = cx;
    let components = (0..cx.leaves.len()).map(|index| {
        let (alias, at) = (cx.alias(index), cx.leaves[index].span);
        let runtime = names::runtime_at(cx.attrs.krate.as_ref(), at, cx.span);
        (
            at,
            quote_spanned!(at=> #runtime::__private::MaybeMetric::<#alias>::component()),
        )
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
            use #private::FallbackMetric as _;
            let rows = #runtime::Rows::any();
            #(#joined)*
            #(#suited)*
            // After an error, there may be no component.
            let _ = rows;
        }
    }
}
