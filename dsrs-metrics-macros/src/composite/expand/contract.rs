//! The impl of `Metric`, and the inherent methods of the composite.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr};

use super::context::Context;
use super::leaves::bounds;
use super::tree::{Tree, threshold};
use crate::shared::attributes::doc_text;
use crate::shared::contract::{calls, described, evaluate, spec_readers};
use crate::shared::names::{self, lower_snake};

pub(super) fn contract(cx: &Context<'_>, tree: &Tree) -> TokenStream {
    let statics = statics(cx, tree);
    let (inherent, metric) = (inherent(cx, tree), metric(cx));
    quote!(#statics #inherent #metric)
}

/// Emits the components, the compiled composite, and how components are lent to it.
fn statics(cx: &Context<'_>, tree: &Tree) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        private,
        compiled,
        ..
    } = cx;
    let shape = &tree.shape;
    let on_missing = match cx
        .attrs
        .on_missing
        .as_ref()
        .map(ToString::to_string)
        .as_deref()
    {
        Some("skip") => "Skip",
        Some("zero") => "Zero",
        _ => "Fail",
    };
    let on_missing = Ident::new(on_missing, *span);
    let paths = match cx.paths {
        Some(_) => quote_spanned!(*span=> __p::Some(__PATHS)),
        None => quote_spanned!(*span=> __p::None),
    };
    let aliases = (0..cx.leaves.len()).map(|index| cx.alias(index));
    let values = (0..cx.leaves.len()).map(|index| value(cx, index));
    let declared = (0..cx.leaves.len()).map(|index| declared(cx, index));
    let lent = (0..cx.leaves.len()).map(|index| {
        let index = Literal::usize_unsuffixed(index);
        quote_spanned!(*span=> &components.#index)
    });
    let (count, bounds) = (Literal::usize_unsuffixed(cx.leaves.len()), bounds(cx));
    quote_spanned! {*span=>
        static __COMPONENTS: #private::LazyLock<(#(#aliases,)*)> =
            #private::LazyLock::new(|| (#(#values,)*));
        static __COMPILED: #private::LazyLock<#compiled::Compiled> = #private::LazyLock::new(|| {
            let shape = (#shape, #runtime::__private::OnMissing::#on_missing);
            #compiled::Compiled::new::<#ident, #count>(&__SPEC, shape, [#(#declared),*], #paths)
        });

        fn __components<'row, GoldRow, PredRow>() -> [&'row dyn #runtime::Metric<GoldRow, PredRow>; #count]
        where
            GoldRow: __p::Sync + 'row,
            PredRow: __p::Sync + 'row,
            #bounds
        {
            let components = &*__COMPONENTS;
            [#(#lent),*]
        }
    }
}

/// Returns a component without its row types.
fn declared(cx: &Context<'_>, index: usize) -> TokenStream {
    let (alias, at) = (cx.alias(index), cx.leaves[index].span);
    let index = Literal::usize_unsuffixed(index);
    let runtime = names::runtime_at(cx.attrs.krate.as_ref(), at, cx.span);
    quote_spanned!(at=> <#alias as #runtime::Declared>::component(&__COMPONENTS.#index))
}

/// Emits the code that makes the composite a component of another composite.
pub(super) fn component(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    quote_spanned! {*span=>
        fn component(&self) -> &(dyn #private::Declaration + __p::Sync) {
            &*__COMPILED
        }
    }
}

/// Returns a component as configured.
fn value(cx: &Context<'_>, index: usize) -> TokenStream {
    let runtime = &cx.runtime;
    let (alias, leaf) = (cx.alias(index), cx.leaves[index]);
    let mut value = quote_spanned!(leaf.span=> <#alias as #runtime::Declared>::start());
    for (key, argument) in &leaf.args {
        value = quote_spanned!(key.span()=> #value.#key(#argument));
    }
    let imports = (!leaf.args.is_empty()).then(|| {
        let private = &cx.private;
        quote_spanned!(cx.span=> #[allow(unused_imports)] use #private::setters::*;)
    });
    quote_spanned!(leaf.span=> { #imports #value.build() })
}

fn name(cx: &Context<'_>) -> String {
    let given = cx.attrs.name.as_ref().map(LitStr::value);
    given.unwrap_or_else(|| lower_snake(&cx.ident.to_string()))
}

fn inherent(cx: &Context<'_>, tree: &Tree) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        ..
    } = cx;
    let vis = &cx.item.item.vis;
    let (spec, bounds) = (spec(cx, tree), bounds(cx));
    let (spec_of_type, cost) = (
        quote_spanned!(*span=> __SPEC),
        quote_spanned!(*span=> #runtime::__private::Declaration::max_cost(&*__COMPILED)),
    );
    let readers = spec_readers(&cx.paths(), vis, &name(cx), &spec_of_type, None, &cost);
    let private = &cx.private;
    let [gold, pred] = ["GoldRow", "PredRow"].map(|name| Ident::new(name, *span));
    let evaluate = evaluate(&cx.paths(), vis, &gold, &pred);
    let result = quote_spanned!(*span=> #runtime::Result<#runtime::__private::MetricScore>);
    quote_spanned! {*span=>
        #spec

        // A composite may be more visible than its components.
        #[allow(private_bounds)]
        impl #ident {
            #readers

            /// Compares a prediction with a gold row, calling a model if necessary.
            ///
            /// # Errors
            /// Returns an error if a component has no score, if a gate rejected the row, or if the score is out of
            /// range.
            #vis fn score<GoldRow, PredRow>(&self, gold: &GoldRow, pred: &PredRow) -> #result
            where
                GoldRow: __p::Sync,
                PredRow: __p::Sync,
                #bounds
                Self: #runtime::__private::ScoredAtOnce<GoldRow>,
            {
                let call = #runtime::__private::MetricCall::new(gold, pred);
                #private::ready_score(__SPEC.name, #runtime::Metric::answer(self, call))
            }

            #evaluate
        }
    }
}

/// Emits the spec, derived by the compiler. It is a static, because the compiler evaluates a constant again wherever it
/// is used.
fn spec(cx: &Context<'_>, tree: &Tree) -> TokenStream {
    let Context {
        span,
        runtime,
        compiled,
        ..
    } = cx;
    let (name, doc) = (name(cx), doc_text(cx.item.attrs()));
    let (derived, threshold) = (&tree.derived, threshold(cx));
    let strict = cx.attrs.strict.is_some();
    let tier = match &cx.attrs.tier {
        Some(tier) if tier == "truth" => {
            quote_spanned!(*span=> __p::Some(#runtime::__private::MetricTier::Truth))
        }
        _ => quote_spanned!(*span=> __p::None),
    };
    let version = cx
        .attrs
        .version
        .as_ref()
        .map(|version| quote_spanned!(*span=> .with_version(#version)));
    let cost = cx
        .paths
        .as_ref()
        .map(|_| quote_spanned!(*span=> .with_cost_msats(__COST)));
    // A tree's paths are parameters in its identity, which compares their values.
    let code = cx.paths.is_none().then(|| {
        let code = Literal::u64_suffixed(cx.code);
        quote_spanned!(*span=> .with_code(#compiled::combined_code(#code, &__SPECS)))
    });
    let fields = |side: &str| {
        let side = Ident::new(side, *span);
        quote_spanned!(*span=> &__SPECS, #runtime::__private::Side::#side)
    };
    let (gold, pred) = (fields("Gold"), fields("Pred"));
    quote_spanned! {*span=>
        static __GOLD: #compiled::FieldList<{ #compiled::count(#gold) }> = #compiled::union(#gold);
        static __PRED: #compiled::FieldList<{ #compiled::count(#pred) }> = #compiled::union(#pred);
        static __SPEC: #runtime::__private::MetricSpec<'static> = #derived
            .spec(#name, &__SPECS, #tier, #threshold, #strict)
            .with_doc(#doc)
            #code
            #cost
            .with_fields(#compiled::FieldList::as_slice(&__GOLD), #compiled::FieldList::as_slice(&__PRED))
            #version;
    }
}

fn metric(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        compiled,
        ..
    } = cx;
    let paths = &cx.paths();
    let bounds = bounds(cx);
    let (gold, pred) = (
        quote_spanned!(*span=> GoldRow),
        quote_spanned!(*span=> PredRow),
    );
    let answer = quote_spanned! {*span=>
        #compiled::Compiled::answer(&__COMPILED, &__components::<GoldRow, PredRow>(), call)
    };
    let declaration = quote_spanned!(*span=> &*__COMPILED);
    let (described, calls) = (
        described(paths, &name(cx), &declaration),
        calls(paths, &gold, &pred, &answer),
    );
    quote_spanned! {*span=>
        #[automatically_derived]
        impl<GoldRow, PredRow> #runtime::Metric<GoldRow, PredRow> for #ident
        where
            GoldRow: __p::Sync,
            PredRow: __p::Sync,
            #bounds
        {
            #described
            #calls

            fn can_evaluate(&self, gold: &GoldRow, pred: &PredRow) -> __p::bool {
                #compiled::can_evaluate(&__components::<GoldRow, PredRow>(), gold, pred)
            }
        }
    }
}
