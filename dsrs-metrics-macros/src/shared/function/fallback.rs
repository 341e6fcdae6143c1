//! The expansion after an error: the function as written and a stub of the metric. Uses of the metric still resolve, so
//! one error gives one message.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::model::Model;
use syn::ext::IdentExt as _;

use crate::shared::contract;
use crate::shared::errors::Errors;
use crate::shared::function::expand::context::{Context, hidden};
use crate::shared::names::shadows_prelude;
use crate::shared::tokens::as_written;

pub(crate) fn expand(model: &Model, errors: Errors) -> TokenStream {
    let function = model.function.stripped();
    let stub = stub(model, errors);
    quote!(#function #stub)
}

/// Returns the stub of the metric and the errors.
pub(crate) fn stub(model: &Model, errors: Errors) -> TokenStream {
    let ident = stub_ident(model);
    let cx = &Context {
        ident: &ident,
        ..Context::new(model)
    };
    let errors = errors.finish();
    let definition = definition(cx);
    let stubs = hidden(cx, &stubs(cx));
    quote!(#definition #stubs #errors)
}

/// Returns the name of the struct, or an unused name if the name itself is the error.
fn stub_ident(model: &Model) -> Ident {
    let ident = &model.names.ident;
    if shadows_prelude(ident) || *ident == model.function.sig.ident {
        return format_ident!("{ident}Metric");
    }
    ident.clone()
}

fn definition(cx: &Context<'_>) -> TokenStream {
    let Context {
        model, span, ident, ..
    } = cx;
    let vis = &model.function.vis;
    quote_spanned! {*span=>
        #[doc = ""]
        #[allow(dead_code, non_camel_case_types)]
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::default::Default)]
        #vis struct #ident;
    }
}

fn stubs(cx: &Context<'_>) -> TokenStream {
    let Context {
        span, ident, model, ..
    } = cx;
    let names: BTreeSet<_> = model.configs().map(|(name, _, _)| name).collect();
    let setters = names.into_iter().map(|name| {
        quote_spanned! {*span=>
            pub fn #name<T>(self, _: T) -> Self { self }
        }
    });
    let stub = contract::stub(&cx.paths(), ident, &stub_name(model), &quote!(#(#setters)*));
    let groups: BTreeMap<_, _> = model
        .groups()
        .map(|(_, it)| (as_written(&it.ty), it))
        .collect();
    let groups = groups
        .into_values()
        .map(|param| has_params(cx, &cx.owner(param)));
    quote!(#stub #(#groups)*)
}

/// Returns the metric's name, or the function's name if `name` is the error.
fn stub_name(model: &Model) -> String {
    let name = model.attrs.name.as_ref().map(syn::LitStr::value);
    name.unwrap_or_else(|| model.function.sig.ident.unraw().to_string())
}

/// Emits the setters for a struct of parameters.
fn has_params(cx: &Context<'_>, group: &TokenStream) -> TokenStream {
    let Context {
        span,
        ident,
        private,
        ..
    } = cx;
    quote_spanned! {*span=>
        impl #private::HasParams<#group> for #ident {
            fn params_mut(&mut self) -> &mut #group { ::core::unreachable!() }
        }
    }
}
