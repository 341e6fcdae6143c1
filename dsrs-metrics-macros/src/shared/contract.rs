//! What every metric's expansion has in common, whether it was made from a function or from components.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::Visibility;
use syn::ext::IdentExt as _;

/// The paths to the runtime crate, at the metric's location.
pub(crate) struct Paths<'a> {
    pub(crate) span: Span,
    pub(crate) runtime: &'a TokenStream,
    pub(crate) private: &'a TokenStream,
}

/// Emits `SPEC` as a `const`, and the inherent methods that read from it. `own` is one value's spec, if it can differ
/// from the type's; `cost` is the maximum expected cost of one call to a value.
pub(crate) fn spec_readers(
    paths: &Paths<'_>,
    vis: &Visibility,
    name: &str,
    spec: &TokenStream,
    own: Option<&TokenStream>,
    cost: &TokenStream,
) -> TokenStream {
    let Paths { span, runtime, .. } = paths;
    let constant = own.is_none().then(|| quote_spanned!(*span=> const));
    let own = own
        .cloned()
        .unwrap_or_else(|| quote_spanned!(*span=> Self::SPEC));
    quote_spanned! {*span=>
        /// The spec of the metric: name, fields, parameters, kind of score, cost.
        #vis const SPEC: #runtime::__private::MetricSpec<'static> = #spec;

        /// Returns the metric's spec.
        #vis #constant fn spec(&self) -> #runtime::__private::MetricSpec<'static> {
            #own
        }

        /// Returns the metric's name.
        #vis const fn name(&self) -> &'static __p::str {
            #name
        }

        /// Returns the tier: cheap and fast, or expensive and accurate.
        #vis const fn tier(&self) -> #runtime::__private::MetricTier {
            Self::SPEC.tier
        }

        /// Returns the maximum expected cost of one call, in millisatoshis. For a judge, this covers all models of its
        /// panel, including repairs.
        #vis fn cost_estimate(&self) -> __p::u64 {
            #cost
        }
    }
}

/// Emits the methods of `Metric` that read from the metric's declaration.
pub(crate) fn described(paths: &Paths<'_>, name: &str, declaration: &TokenStream) -> TokenStream {
    let Paths { span, private, .. } = paths;
    quote_spanned! {*span=>
        fn name(&self) -> &__p::str {
            #name
        }

        fn declaration(&self) -> __p::Option<&dyn #private::Declaration> {
            __p::Some(#declaration)
        }
    }
}

/// Emits an inherent `evaluate`, which returns the future from the method of `Metric` as an opaque type, because rustc
/// suggests `.await` only for those. `gold` and `pred` name its type parameters.
pub(crate) fn evaluate(
    paths: &Paths<'_>,
    vis: &Visibility,
    gold: &Ident,
    pred: &Ident,
) -> TokenStream {
    let Paths {
        span,
        runtime,
        private,
    } = paths;
    quote_spanned! {*span=>
        /// Scores one pair of rows. Returns the same errors as `Metric::evaluate`.
        #vis fn evaluate<'call, #gold: __p::Sync, #pred: __p::Sync>(
            &'call self,
            gold: &'call #gold,
            pred: &'call #pred,
        ) -> impl ::core::future::Future<Output = #runtime::Result<#private::MetricScore>> + 'call
        where
            Self: #runtime::Metric<#gold, #pred>,
        {
            #runtime::Metric::evaluate(self, gold, pred)
        }
    }
}

/// Emits `evaluate` with the signature that `async_trait` generates, and `answer` with the body `answer`. All paths are
/// absolute, so nothing in the user's module can shadow them.
pub(crate) fn calls(
    paths: &Paths<'_>,
    gold: &TokenStream,
    pred: &TokenStream,
    answer: &TokenStream,
) -> TokenStream {
    let Paths {
        span,
        runtime,
        private,
    } = paths;
    quote_spanned! {*span=>
        fn evaluate<'life0, 'life1, 'life2, 'async_trait>(
            &'life0 self,
            gold: &'life1 #gold,
            pred: &'life2 #pred,
        ) -> #private::Evaluation<'async_trait>
        where
            'life0: 'async_trait,
            'life1: 'async_trait,
            'life2: 'async_trait,
            Self: 'async_trait,
        {
            #private::evaluation::<Self, #gold, #pred>(self, gold, pred)
        }

        fn answer<'call>(
            &'call self,
            call: #runtime::__private::MetricCall<'call, #gold, #pred>,
        ) -> #runtime::__private::Answer<'call> {
            #answer
        }
    }
}

/// Emits a constant whose evaluation fails at the tokens from `start` to `end`, with a rule's message, if the rule is
/// broken. `__rules` is the rule's module in the runtime crate, with its function `check`. `guard` contains additional
/// arguments for `check`, each followed by a comma.
pub(crate) fn rule(
    span: Span,
    (start, end): (Span, Span),
    guard: &TokenStream,
    name: &str,
    args: &TokenStream,
) -> TokenStream {
    let name = Ident::new(name, span);
    let mut broken = Group::new(
        Delimiter::Parenthesis,
        quote_spanned!(span=> #guard __rules::#name(#args)),
    );
    broken.set_span(end.resolved_at(span));
    let check = quote_spanned!(start.resolved_at(span)=> __rules::check);
    quote_spanned!(span=> const _: () = #check #broken;)
}

/// Returns the short path to the runtime crate inside of [`hidden`], which imports it. Short paths halve the tokens that
/// rustc reads.
pub(crate) fn short(span: Span) -> TokenStream {
    quote_spanned!(span=> __r)
}

/// Returns the short path to the runtime crate's private items inside of [`hidden`].
pub(crate) fn short_private(span: Span) -> TokenStream {
    quote_spanned!(span=> __p)
}

/// Wraps impls in a block whose names the user's module cannot see.
pub(crate) fn hidden(
    span: Span,
    cfgs: &TokenStream,
    runtime: &TokenStream,
    items: &TokenStream,
) -> TokenStream {
    quote_spanned! {span=>
        #cfgs
        #[doc(hidden)]
        #[allow(
            dead_code,
            deprecated,
            private_bounds,
            private_interfaces,
            unnameable_types,
            unreachable_pub,
            unused_imports,
            unused_qualifications,
            unused_variables,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
        const _: () = {
            use #runtime::__private as __p;
            use __p::root as __r;
            #items
        };
    }
}

/// Emits `Debug`, `Clone` and `Copy` for a unit struct, except those that the user derives. They compile faster than a
/// derive.
pub(crate) fn unit_struct(span: Span, ident: &Ident, derived: &[Ident]) -> TokenStream {
    let name = ident.unraw().to_string();
    let debug = quote_spanned! {span=>
        impl ::core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(#name)
            }
        }
    };
    let clone = quote_spanned! {span=>
        impl ::core::clone::Clone for #ident {
            fn clone(&self) -> Self { *self }
        }
    };
    let copy = quote_spanned!(span=> impl ::core::marker::Copy for #ident {});
    let impls = [("Debug", debug), ("Clone", clone), ("Copy", copy)];
    let missing = impls
        .into_iter()
        .filter(|(name, _)| !derived.iter().any(|own| own == name));
    missing.map(|(_, item)| item).collect()
}

/// Emits the impls of a metric after a mistake, so uses of the metric still resolve.
pub(crate) fn stub(
    paths: &Paths<'_>,
    ident: &Ident,
    name: &str,
    setters: &TokenStream,
) -> TokenStream {
    let Paths {
        span,
        runtime,
        private,
    } = paths;
    // Not the name of the metric's own struct, which they would shadow.
    let (gold, pred) = (format_ident!("{ident}Gold"), format_ident!("{ident}Pred"));
    quote_spanned! {*span=>
        impl #ident {
            pub const SPEC: #runtime::__private::MetricSpec<'static> = #runtime::__private::MetricSpec::stub(#name);
            pub fn spec(&self) -> #runtime::__private::MetricSpec<'static> { Self::SPEC }
            pub fn builder() -> Self { Self }
            pub fn build(self) -> Self { self }
            pub const fn name(&self) -> &'static __p::str { #name }
            pub const fn tier(&self) -> #runtime::__private::MetricTier { Self::SPEC.tier }
            pub fn cost_estimate(&self) -> __p::u64 { 0 }
            #setters
            pub fn score<#gold, #pred>(&self, _: &#gold, _: &#pred) -> #runtime::Result<#runtime::__private::MetricScore> {
                ::core::unreachable!()
            }
            pub async fn evaluate<#gold, #pred>(&self, _: &#gold, _: &#pred) -> #runtime::Result<#runtime::__private::MetricScore> {
                ::core::unreachable!()
            }
        }
        impl<#gold> #runtime::__private::ScoredAtOnce<#gold> for #ident {}
        impl #runtime::Declared for #ident {
            type Verdict = #private::Decided;
            type OverGold = #runtime::AnyRow;
            type OverPred = #runtime::AnyRow;
            type Start = Self;
            const SPEC: #runtime::__private::MetricSpec<'static> = Self::SPEC;
            fn start() -> Self { Self }
        }
        impl #runtime::__private::Configure for #ident {
            const SPEC: #runtime::__private::MetricSpec<'static> = Self::SPEC;
            fn configure(_: &#runtime::__private::Params) -> ::core::result::Result<Self, #runtime::__private::ParamError> {
                ::core::unreachable!()
            }
        }
        impl<#gold: __p::Sync, #pred: __p::Sync>
            #runtime::Metric<#gold, #pred> for #ident {
            fn name(&self) -> &__p::str { #name }
            fn evaluate<'life0, 'life1, 'life2, 'async_trait>(
                &'life0 self,
                _: &'life1 #gold,
                _: &'life2 #pred,
            ) -> #private::Evaluation<'async_trait>
            where
                'life0: 'async_trait,
                'life1: 'async_trait,
                'life2: 'async_trait,
                Self: 'async_trait,
            {
                ::core::unreachable!()
            }
        }
    }
}
