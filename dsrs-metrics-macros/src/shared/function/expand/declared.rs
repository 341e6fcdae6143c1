//! The impl of `Declared`: the rows, verdict, spec and identity of the metric's type. Composites are compiled from
//! these.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Lifetime;

use super::context::Context;
use super::spec::group_item;
use super::{builder, definition, fields, spec};
use crate::shared::function::rows::Row;
use crate::shared::function::side::Side;
use crate::shared::tokens::ends;
use crate::shared::types::{in_lifetime, is_panel, is_plain};

pub(super) fn declared(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        private,
        ..
    } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let at_once = (!cx.model.is_async()).then(|| {
        let params = fields::trailing(&cx.generics);
        let gold = &cx.gold;
        quote_spanned! {*span=>
                impl<#params #gold> #private::ScoredAtOnce<#gold> for #ident #ty_generics #where_clause {}
        }
    });
    let (verdict, gold, pred) = (verdict(cx), row(cx, Side::Gold), row(cx, Side::Pred));
    let (start, started) = match definition::is_unit(cx) {
        true => {
            let start = quote_spanned!(*span=> #runtime::WithoutParameters);
            (
                quote_spanned!(*span=> #start<Self>),
                quote_spanned!(*span=> #start::of_default()),
            )
        }
        false => (
            builder::unstarted(cx),
            quote_spanned!(*span=> Self::builder()),
        ),
    };
    let (identity, configured, spec) = (identity(cx), configured(cx), cx.spec());
    let own = spec::own(cx).map(
        |own| quote_spanned!(*span=> fn spec(&self) -> #private::MetricSpec<'static> { #own }),
    );
    quote_spanned! {*span=>
        #at_once
        #configured
        impl #impl_generics #runtime::Declared for #ident #ty_generics #where_clause {
            #verdict
            type OverGold = #gold;
            type OverPred = #pred;
            type Start = #start;

            const SPEC: #private::MetricSpec<'static> = #spec;

            fn start() -> Self::Start {
                #started
            }

            #own
            #identity
        }
    }
}

/// Emits the requirements, the files, and the key of type and parameters, which is equal for two values of the same
/// metric. A metric with type parameters has none of these.
fn identity(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    if !cx.generics.params.is_empty() {
        return TokenStream::new();
    }
    let (requires, requirements, files) = (requires(cx), requirements(cx), files(cx));
    let key = if definition::is_unit(cx) {
        quote_spanned!(*span=> #private::Key::of_type::<Self>())
    } else {
        quote_spanned!(*span=> #private::Key::of(self))
    };
    quote_spanned! {*span=>
        fn key(&self) -> __p::Option<#private::Key> {
            __p::Some(#key)
        }

        #requires
        #requirements
        #files
    }
}

/// Emits `requires`, which returns the metric if it implements `Requires`. Every judge does.
fn requires(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let requires = match cx.model.judged {
        Some(_) => quote_spanned!(*span=> __p::Some(self)),
        None => quote_spanned! {*span=>
            use #private::Fallback as _;
            #private::Maybe(self).requires()
        },
    };
    quote_spanned! {*span=>
        fn requires(&self) -> __p::Option<&dyn #private::Requires> {
            #requires
        }
    }
}

/// Emits `requirements`, if there are parameters that might be embedding models.
fn requirements(cx: &Context<'_>) -> Option<TokenStream> {
    let Context {
        span,
        private,
        runtime,
        ..
    } = cx;
    let params = cx
        .model
        .configs()
        .filter(|(_, param, config)| !is_panel(&param.ty) && !config.is_group);
    let params = params.filter(|(_, param, _)| !is_plain(&param.ty));
    let metric = &cx.model.names.metric;
    let models = params.map(
        |(name, ..)| quote_spanned!(*span=> #private::Maybe(&self.#name).embedder(#metric, all);),
    );
    let models: Vec<_> = models.collect();
    (!models.is_empty()).then(|| {
        quote_spanned! {*span=>
            fn requirements(&self, all: &mut #private::Requirements) {
                use #private::Fallback as _;
                #(#models)*
                if let __p::Some(requires) = #runtime::Declared::requires(self) {
                    requires.requirements(all);
                }
            }
        }
    })
}

/// Emits `files`, if there are parameters that might name files.
fn files(cx: &Context<'_>) -> Option<TokenStream> {
    let Context {
        span,
        ident,
        private,
        runtime,
        ..
    } = cx;
    let params = cx
        .model
        .configs()
        .filter(|(_, param, _)| !is_panel(&param.ty) && !is_plain(&param.ty));
    let named = params.map(|(name, param, config)| {
        if config.is_group {
            let (files, metric) = (group_item(cx, param, "files"), ident.to_string());
            return quote_spanned!(*span=> #files(&self.#name, #metric, all););
        }
        let text = format!("{ident}.{}", syn::ext::IdentExt::unraw(name));
        quote_spanned!(*span=> #private::Maybe(&self.#name).files(#text, all);)
    });
    let named: Vec<_> = named.collect();
    (!named.is_empty()).then(|| {
        quote_spanned! {*span=>
            fn files(&self, all: &mut #private::Files) {
                use #private::Fallback as _;
                #(#named)*
                if let __p::Some(requires) = #runtime::Declared::requires(self) {
                    requires.files(all);
                }
            }
        }
    })
}

/// Emits the comparison of two values with parameters.
fn configured(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        private,
        ..
    } = cx;
    if !cx.generics.params.is_empty() || definition::is_unit(cx) {
        return TokenStream::new();
    }
    let methods = parameters(cx);
    quote_spanned!(*span=> impl #private::Configured for #ident { #methods })
}

/// Returns the methods of `Configured`, which `ParamGroup` also has.
pub(super) fn parameters(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let equal = cx
        .model
        .configs()
        .map(|(name, param, config)| match is_panel(&param.ty) {
            true => quote_spanned!(*span=> self.#name == other.#name),
            false if config.is_group => {
                let same = group_item(cx, param, "has_same_parameters");
                quote_spanned!(*span=> #same(&self.#name, &other.#name))
            }
            false if is_plain(&param.ty) => quote_spanned!(*span=> self.#name == other.#name),
            false => {
                quote_spanned!(*span=> #private::Maybe(&self.#name).equals(&other.#name))
            }
        });
    let shown = cx.model.configs().map(|(name, param, config)| {
        let text = syn::ext::IdentExt::unraw(name).to_string();
        match is_panel(&param.ty) {
            true => quote_spanned!(*span=> all.extend(self.#name.shown());),
            false if config.is_group => {
                let shown = group_item(cx, param, "parameters");
                quote_spanned!(*span=> all.extend(#shown(&self.#name));)
            }
            false if is_plain(&param.ty) => {
                quote_spanned!(*span=> all.push((#text, #private::shown(&self.#name)));)
            }
            false => {
                let shown = quote_spanned!(*span=> (&#private::Maybe(&self.#name)).shown());
                quote_spanned!(*span=> all.push((#text, #shown));)
            }
        }
    });
    quote_spanned! {*span=>
        fn has_same_parameters(&self, other: &Self) -> __p::bool {
            use #private::Fallback as _;
            #(#equal)&&*
        }

        fn parameters(
            &self,
        ) -> #private::vec::Vec<(
            &'static __p::str,
            __p::Option<#private::string::String>,
        )> {
            #[allow(unused_imports)]
            use #private::{FallbackDebug as _, FallbackShown as _};
            let mut all = #private::vec::Vec::new();
            #(#shown)*
            all
        }
    }
}

fn verdict(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    if cx.model.attrs.threshold.is_some() {
        return quote_spanned!(*span=> type Verdict = #private::Decided;);
    }
    let (start, end) = ends(cx.model.output());
    let ty = spec::returns(cx, "Verdict", &Lifetime::new("'static", *span));
    let (before, after) = (quote_spanned!(start=> type), quote_spanned!(end=> ;));
    let name = quote_spanned!(end=> Verdict =);
    quote!(#before #name #ty #after)
}

/// Returns the type of the rows that the metric accepts on a side.
fn row(cx: &Context<'_>, side: Side) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let half = match side {
        Side::Gold => quote_spanned!(*span=> #runtime::GoldRows),
        Side::Pred => quote_spanned!(*span=> #runtime::PredRows),
    };
    match cx.model.rows.get(side) {
        Row::Any => quote_spanned!(*span=> #runtime::AnyRow),
        Row::Dynamic => {
            let row = cx.row_type(side);
            quote_spanned!(*span=> #half<#row>)
        }
        Row::Typed(_) => {
            let ty = cx
                .typed(side)
                .map(|ty| in_lifetime(&ty, &Lifetime::new("'static", *span)));
            quote_spanned!(*span=> #half<#ty>)
        }
    }
}
