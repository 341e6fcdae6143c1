//! The impl of `Metric`, and the inherent methods of the composite.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr};

use super::context::Context;
use super::cost;
use super::leaves::bounds;
use super::tree::{Tree, threshold};
use crate::composite::expression::Component;
use crate::shared::attributes::doc_text;
use crate::shared::contract::{calls, described, spec_readers};
use crate::shared::names::{self, lower_snake};

pub(super) fn contract(cx: &Context<'_>, tree: &Tree) -> TokenStream {
    let statics = statics(cx, tree);
    let (inherent, metric) = (inherent(cx, tree), metric(cx));
    quote!(#statics #inherent #metric)
}

/// Emits the plan, the components, and how components are lent to the plan.
fn statics(cx: &Context<'_>, tree: &Tree) -> TokenStream {
    let Context {
        span,
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
    let aliases = (0..cx.leaves.len()).map(|index| cx.alias(index));
    let values = (0..cx.leaves.len()).map(|index| value(cx, index));
    let lent = (0..cx.leaves.len()).map(|index| {
        let index = Literal::usize_unsuffixed(index);
        quote_spanned!(*span=> &components.#index)
    });
    let keys = of_components(cx, "key");
    let all_keys = of_components(cx, "keys");
    let all_requirements = of_components(cx, "requirements");
    let all_files = of_components(cx, "files");
    let max_cost = cost::of_values(cx, &of_components(cx, "max_cost"));
    let specs = of_components(cx, "spec");
    let (count, bounds) = (Literal::usize_unsuffixed(cx.leaves.len()), bounds(cx));
    quote_spanned! {*span=>
        static __PLAN: #private::LazyLock<#compiled::Plan> = #private::LazyLock::new(|| {
            let mut all = #private::vec::Vec::new();
            __keys(&mut all);
            let keys = #private::vec![#(#keys),*];
            #compiled::Plan::declared(#shape, #runtime::__private::OnMissing::#on_missing, keys, &all, &[#(#specs),*])
        });
        static __COMPONENTS: #private::LazyLock<(#(#aliases,)*)> =
            #private::LazyLock::new(|| (#(#values,)*));

        fn __keys(all: &mut #private::vec::Vec<#private::Key>) {
            #(#all_keys;)*
        }

        fn __requirements(all: &mut #private::Requirements) {
            __PLAN.requirements(__SPEC.name, all);
            #(#all_requirements;)*
        }

        fn __files(all: &mut #private::Files) {
            #(#all_files;)*
        }

        fn __max_cost() -> ::core::primitive::u64 {
            #max_cost
        }

        fn __components<'row, GoldRow, PredRow>() -> [&'row dyn #runtime::Metric<GoldRow, PredRow>; #count]
        where
            GoldRow: ::core::marker::Sync + 'row,
            PredRow: ::core::marker::Sync + 'row,
            #bounds
        {
            let components = &*__COMPONENTS;
            [#(#lent),*]
        }
    }
}

/// Returns a call of each component for its key, requirements, files or cost.
fn of_components(cx: &Context<'_>, method_name: &str) -> Vec<TokenStream> {
    let call = |(index, leaf): (usize, &&Component)| {
        let (alias, method) = (cx.alias(index), Ident::new(method_name, leaf.span));
        let index = Literal::usize_unsuffixed(index);
        let runtime = names::runtime_at(cx.attrs.krate.as_ref(), leaf.span, cx.span);
        let all = matches!(method_name, "keys" | "requirements" | "files")
            .then(|| quote_spanned!(cx.span=> , all));
        quote_spanned!(leaf.span=> <#alias as #runtime::Declared>::#method(&__COMPONENTS.#index #all))
    };
    cx.leaves.iter().enumerate().map(call).collect()
}

/// Emits the composite's own key, and the keys, requirements and files of its components.
pub(super) fn identity(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let key = match cx.paths {
        Some(_) => quote_spanned!(*span=> __PLAN.key_of::<Self>()),
        None => quote_spanned!(*span=> #private::Key::of_type::<Self>()),
    };
    quote_spanned! {*span=>
        fn key(&self) -> ::core::option::Option<#private::Key> {
            ::core::option::Option::Some(#key)
        }

        fn keys(&self, all: &mut #private::vec::Vec<#private::Key>) {
            all.push(#key);
            __keys(all);
        }

        fn requirements(&self, all: &mut #private::Requirements) {
            __requirements(all);
        }

        fn files(&self, all: &mut #private::Files) {
            __files(all);
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
        quote_spanned!(*span=> __max_cost()),
    );
    let readers = spec_readers(&cx.paths(), vis, &spec_of_type, None, &cost);
    let private = &cx.private;
    let result = quote_spanned!(*span=> #runtime::Result<#runtime::__private::MetricScore>);
    quote_spanned! {*span=>
        #spec

        // A composite may be more visible than its components.
        #[allow(private_bounds)]
        impl #ident {
            #readers

            /// Scores one pair of rows.
            ///
            /// # Errors
            /// Returns an error if a component has no score, if a gate rejected the row, or if the score is out of
            /// range.
            #vis fn score<GoldRow, PredRow>(&self, gold: &GoldRow, pred: &PredRow) -> #result
            where
                GoldRow: ::core::marker::Sync,
                PredRow: ::core::marker::Sync,
                #bounds
                Self: #runtime::__private::ScoredAtOnce<GoldRow>,
            {
                let call = #runtime::__private::MetricCall::new(gold, pred);
                #private::ready_score(__SPEC.name, #runtime::Metric::answer(self, call))
            }

            /// Scores one pair of rows.
            ///
            /// # Errors
            /// Returns an error if a component has no score, if a gate rejected the row, or if the score is out of
            /// range.
            #vis async fn evaluate<GoldRow, PredRow>(&self, gold: &GoldRow, pred: &PredRow) -> #result
            where
                GoldRow: ::core::marker::Sync,
                PredRow: ::core::marker::Sync,
                #bounds
            {
                let call = #runtime::__private::MetricCall::new(gold, pred);
                #private::score(#runtime::Metric::answer(self, call).await)
            }
        }
    }
}

/// Emits the spec as a constant, derived by the compiler.
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
            quote_spanned!(*span=> ::core::option::Option::Some(#runtime::__private::MetricTier::Truth))
        }
        _ => quote_spanned!(*span=> ::core::option::Option::None),
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
    // The paths of a tree are parameters of its identity, which compares their values.
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
        const __GOLD: #compiled::FieldList<{ #compiled::count(#gold) }> = #compiled::union(#gold);
        const __PRED: #compiled::FieldList<{ #compiled::count(#pred) }> = #compiled::union(#pred);
        const __SPEC: #runtime::__private::MetricSpec<'static> = #derived
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
        #compiled::Plan::answer(&__PLAN, &__components::<GoldRow, PredRow>(), call, __SPEC.name, const { &__SPEC })
    };
    let cost = quote_spanned!(*span=> __max_cost());
    let (described, calls) = (
        described(paths, None, &cost, &identity(cx)),
        calls(paths, &gold, &pred, &answer),
    );
    quote_spanned! {*span=>
        #[automatically_derived]
        impl<GoldRow, PredRow> #runtime::Metric<GoldRow, PredRow> for #ident
        where
            GoldRow: ::core::marker::Sync,
            PredRow: ::core::marker::Sync,
            #bounds
        {
            #described
            #calls

            fn can_evaluate(&self, gold: &GoldRow, pred: &PredRow) -> ::core::primitive::bool {
                let components = __components::<GoldRow, PredRow>();
                ::core::iter::Iterator::all(&mut components.iter(), |component| {
                    component.can_evaluate(gold, pred)
                })
            }
        }
    }
}
