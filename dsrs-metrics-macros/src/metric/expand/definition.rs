//! The metric's struct, its builder and its `Default`.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::{Attribute, Expr, Ident};

use super::super::check::{is_string, is_text_literal};
use super::super::model::{Config, Param};
use super::super::types::Form;
use super::Context;

pub(crate) fn definition(cx: &Context<'_>) -> TokenStream {
    let Context { model, span, ident, .. } = cx;
    let vis = &model.function.vis;
    let function = &model.function.sig.ident;
    let attrs = model.function.attrs.iter().filter(|attr| belongs_to_struct(attr));
    let doc = format!("The metric of the function [`{function}`].");
    let (_, ty_generics, where_clause) = cx.split();
    let declared = &cx.generics;
    let derives = derives(cx);
    let body = if is_unit(cx) {
        quote_spanned!(*span=> ;)
    } else {
        let fields = model.configs().map(|(name, param, config)| field(cx, name, param, config));
        let types = marker(cx);
        quote_spanned!(*span=> #where_clause { #(#fields,)* #types })
    };
    let default = default_impl(cx);
    let _ = ty_generics;
    let params = declared_params(declared);
    quote_spanned! {*span=>
        #(#attrs)*
        #[doc = ""]
        #[doc = #doc]
        #derives
        #vis struct #ident #params #body
        #default
    }
}

fn declared_params(generics: &syn::Generics) -> TokenStream {
    if generics.params.is_empty() {
        return TokenStream::new();
    }
    let params = &generics.params;
    quote!(<#params>)
}

fn belongs_to_struct(attr: &Attribute) -> bool {
    ["doc", "cfg", "allow", "expect", "deprecated"].iter().any(|name| attr.path().is_ident(name))
}

/// A metric without configuration is a value as it stands: `IntentAccuracy.score(..)`.
pub(super) fn is_unit(cx: &Context<'_>) -> bool {
    cx.model.configs().next().is_none() && cx.generics.params.is_empty()
}

fn derives(cx: &Context<'_>) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    if is_unit(cx) {
        return quote_spanned! {*span=>
            #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
        };
    }
    quote_spanned! {*span=>
        #[derive(::core::fmt::Debug, ::core::clone::Clone, #runtime::bon::Builder)]
        #[builder(crate = #runtime::bon)]
    }
}

/// The struct's field for a `#[param]`, with the builder's default.
fn field(cx: &Context<'_>, name: &Ident, param: &Param, config: &Config) -> TokenStream {
    let vis = &cx.model.function.vis;
    let ty = owner(cx, param);
    let docs = docs(name, param);
    let attr = match default_value(cx, param, config) {
        Some(default) if !is_optional(param) => {
            quote_spanned!(cx.span=> #[builder(default = #default, into)])
        }
        _ => quote_spanned!(cx.span=> #[builder(into)]),
    };
    quote_spanned!(name.span()=> #(#docs)* #attr #vis #name: #ty)
}

fn docs(name: &Ident, param: &Param) -> Vec<TokenStream> {
    if !param.attrs.is_empty() {
        return param.attrs.iter().map(quote::ToTokens::to_token_stream).collect();
    }
    let doc = format!("The parameter `{name}` of the function.");
    vec![quote!(#[doc = #doc])]
}

fn is_optional(param: &Param) -> bool {
    super::super::bind::option_of(&param.ty).is_some()
}

/// The type that holds a `#[param]` in the struct.
pub(super) fn owner(cx: &Context<'_>, param: &Param) -> TokenStream {
    let (form, optional) = Form::of(&param.ty);
    if !form.is_borrowed() {
        return param.ty.to_token_stream();
    }
    let owner = form.owner(&cx.private);
    if optional { quote_spanned!(cx.span=> ::core::option::Option<#owner>) } else { owner }
}

/// The default of a `#[param]` as a value of its owner; `None` if the user must give one.
pub(super) fn default_value(
    cx: &Context<'_>,
    param: &Param,
    config: &Config,
) -> Option<TokenStream> {
    let span = cx.span;
    let Some(default) = &config.default else {
        return is_optional(param).then(|| quote_spanned!(span=> ::core::option::Option::None));
    };
    let Some(expr) = &default.expr else {
        let owner = owner(cx, param);
        return Some(quote_spanned!(span=> <#owner as ::core::default::Default>::default()));
    };
    let (form, optional) = Form::of(&param.ty);
    let borrowed = matches!(form, Form::Text | Form::Slice(_) | Form::Ref(_) | Form::Raw);
    Some(match (borrowed, optional) {
        (true, false) => owned(cx, param, expr),
        (false, false) if is_string(&param.ty) && is_text_literal(expr) => {
            let private = &cx.private;
            quote_spanned!(span=> #private::string::ToString::to_string(#expr))
        }
        _ => expr.to_token_stream(),
    })
}

fn owned(cx: &Context<'_>, param: &Param, expr: &Expr) -> TokenStream {
    let Context { span, private, .. } = cx;
    let ty = &param.ty;
    quote_spanned!(*span=> #private::borrow::ToOwned::to_owned({ let default: #ty = #expr; default }))
}

/// The struct's type parameters, which no other field may mention.
fn marker(cx: &Context<'_>) -> TokenStream {
    let types = cx.generics.type_params().map(|param| &param.ident);
    if cx.generics.type_params().next().is_none() {
        return TokenStream::new();
    }
    quote_spanned! {cx.span=>
        #[builder(skip)]
        __types: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
    }
}

/// `Default`, where no `#[param]` needs a value.
fn default_impl(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let values: Option<Vec<_>> = cx
        .model
        .configs()
        .map(|(name, param, config)| {
            let value = default_value(cx, param, config)?;
            Some(quote_spanned!(*span=> #name: #value))
        })
        .collect();
    let Some(values) = values else {
        return TokenStream::new();
    };
    let marker = marker_value(cx);
    let cfgs = cx.cfgs();
    let value = if is_unit(cx) { quote!(Self) } else { quote!(Self { #(#values,)* #marker }) };
    quote_spanned! {*span=>
        #(#cfgs)*
        #[automatically_derived]
        impl #impl_generics ::core::default::Default for #ident #ty_generics #where_clause {
            fn default() -> Self {
                #value
            }
        }
    }
}

/// The value of the field that holds the struct's type parameters.
pub(super) fn marker_value(cx: &Context<'_>) -> TokenStream {
    match cx.generics.type_params().next() {
        Some(_) => quote_spanned!(cx.span=> __types: ::core::marker::PhantomData,),
        None => TokenStream::new(),
    }
}
