//! Expands a struct of parameters: its setters, its default, and `ParamGroup`. The model describes a function whose
//! parameters are the struct's fields.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;

use super::context::{Context, hidden};
use super::definition::{default_fns, default_impl, docs};
use super::{builder, configure, declared, spec};
use crate::shared::function::model::Model;
use crate::shared::names;
use crate::shared::tokens::ends;

/// Returns the setters' trait and the hidden block of impls.
pub(crate) fn expand(model: &Model) -> TokenStream {
    let cx = &Context::new(model);
    let Context {
        span,
        ident,
        private,
        ..
    } = cx;
    let setters = cx.model.configs().map(|(name, param, config)| {
        let docs = docs(name, param);
        let (ty, value) = builder::argument(cx, param, config.into);
        quote_spanned! {*span=>
            #(#docs)*
            #[must_use]
            fn #name(mut self, value: #ty) -> Self {
                #private::HasParams::<#ident>::params_mut(&mut self).#name = #value;
                self
            }
        }
    });
    let definition = setters_trait(cx, &setters.collect());
    let (defaults, default, group) = (default_fns(cx), default_impl(cx), group(cx));
    let hidden = hidden(cx, &quote!(#defaults #default #group));
    quote!(#definition #hidden)
}

/// After an error, expands to a struct without parameters, whose setters accept any value.
pub(crate) fn stub(model: &Model) -> TokenStream {
    let cx = &Context::new(model);
    let Context {
        span,
        ident,
        runtime,
        ..
    } = cx;
    let setters = cx.model.configs().map(|(name, ..)| {
        quote_spanned!(*span=> #[doc = ""] #[must_use] fn #name<T>(self, _: T) -> Self { self })
    });
    let definition = setters_trait(cx, &setters.collect());
    let unreachable = quote_spanned!(*span=> ::core::unreachable!());
    let methods = methods(cx, &unreachable, &TokenStream::new());
    let hidden = hidden(
        cx,
        &quote_spanned! {*span=>
            impl ::core::default::Default for #ident {
                fn default() -> Self { #unreachable }
            }
            impl #runtime::ParamGroup for #ident {
                const PARAMS: &'static [#runtime::__private::ParamSpec<'static>] = &[];
                #methods
            }
        },
    );
    quote!(#definition #hidden)
}

/// Emits the trait whose methods set the parameters in a metric's builder.
fn setters_trait(cx: &Context<'_>, setters: &TokenStream) -> TokenStream {
    let Context {
        span,
        ident,
        private,
        ..
    } = cx;
    let (vis, name) = (&cx.model.function.vis, format_ident!("{ident}Setters"));
    let doc = format!(
        "The setters of [`{ident}`], available on the builder of every metric that flattens it."
    );
    quote_spanned! {*span=>
        #[doc = #doc]
        #[allow(dead_code, private_bounds, private_interfaces, unreachable_pub, clippy::pedantic)]
        #vis trait #name: #private::HasParams<#ident> + ::core::marker::Sized {
            #setters
        }
        #[doc(hidden)]
        impl<Builder: #private::HasParams<#ident>> #name for Builder {}
    }
}

fn group(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        private,
        ..
    } = cx;
    let (params, parameters) = (spec::params(cx), declared::parameters(cx));
    let values = configure::values(cx, &quote_spanned!(*span=> Self::PARAMS), |param| {
        let (start, ty) = (ends(&param.ty).0, &param.ty);
        let runtime = names::runtime_at(cx.model.attrs.krate.as_ref(), start, *span);
        quote_spanned!(start=> <#ty as #runtime::ParamType>::read)
    });
    let read = quote_spanned!(*span=> ::core::result::Result::Ok(Self { #(#values,)* }));
    let files = cx.model.configs().map(|(name, ..)| {
        let path = format!(".{}", name.unraw());
        quote_spanned!(*span=> #private::Maybe(&self.#name).files(&[metric, #path].concat(), all);)
    });
    let files = quote_spanned!(*span=> use #private::Fallback as _; #(#files)*);
    let (methods, texts) = (methods(cx, &read, &files), configure::defaults(cx));
    quote_spanned! {*span=>
        impl #runtime::ParamGroup for #ident {
            const PARAMS: &'static [#runtime::__private::ParamSpec<'static>] = #params;
            #methods
            #texts
            #parameters
        }
    }
}

/// Returns the methods of `ParamGroup` without a default. `read` and `files` are the bodies of two of them.
fn methods(cx: &Context<'_>, read: &TokenStream, files: &TokenStream) -> TokenStream {
    let Context {
        span,
        runtime,
        private,
        ..
    } = cx;
    quote_spanned! {*span=>
        fn defaults() -> Self {
            ::core::default::Default::default()
        }

        fn read(
            params: &#runtime::__private::Params,
            spec: &#runtime::__private::MetricSpec<'static>,
        ) -> ::core::result::Result<Self, #runtime::__private::ParamError> {
            #read
        }

        fn files(&self, metric: &::core::primitive::str, all: &mut #private::Files) {
            #files
        }
    }
}
