//! The metric's struct, its `Clone` and `Default` impls, and the defaults of its parameters.
//!
//! The file is long because the parts of the generated struct depend on one another.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, Ident, Lit};

use super::context::Context;
use super::spec::group_item;
use super::spec_line::spec_line;
use crate::shared::attributes::is_cfg;
use crate::shared::contract::unit_struct;
use crate::shared::function::param::{Config, Param};
use crate::shared::tokens::ends;
use crate::shared::types::{Form, is_string, option_of};

pub(crate) fn definition(cx: &Context<'_>) -> TokenStream {
    let Context {
        model, span, ident, ..
    } = cx;
    let vis = &model.function.vis;
    let doc = &model.names.origin;
    let spec_line = spec_line(cx);
    let value = default_by_name(cx);
    let attrs = model
        .function
        .attrs
        .iter()
        .filter(|attr| belongs_to_struct(attr));
    let derives = derives(cx);
    let body = if is_unit(cx) {
        quote_spanned!(*span=> ;)
    } else {
        let (_, _, where_clause) = cx.split();
        let fields = model
            .configs()
            .map(|(name, param, _)| field(cx, name, param));
        let types = marker(cx);
        quote_spanned!(*span=> #where_clause { #(#fields,)* #types })
    };
    let params = (!cx.generics.params.is_empty()).then(|| {
        let params = &cx.generics.params;
        quote_spanned!(*span=> <#params>)
    });
    quote_spanned! {*span=>
        #(#attrs)*
        #[doc = ""]
        #[doc = #doc]
        #[doc = ""]
        #[doc = #spec_line]
        #derives
        #[allow(private_interfaces)]
        #vis struct #ident #params #body
        #value
    }
}

/// Emits `Clone`, `Default`, and the functions that return the parameters' defaults.
pub(super) fn impls(cx: &Context<'_>) -> TokenStream {
    let (defaults, default, clone) = (default_fns(cx), default_impl(cx), clone_impl(cx));
    quote!(#defaults #default #clone)
}

fn belongs_to_struct(attr: &Attribute) -> bool {
    ["doc", "cfg", "allow", "deprecated"]
        .iter()
        .any(|name| attr.path().is_ident(name))
}

/// Returns `true` if the metric is a unit struct, because it has neither parameters nor generics:
/// `IntentAccuracy.score(..)`.
pub(super) fn is_unit(cx: &Context<'_>) -> bool {
    cx.model.configs().next().is_none() && cx.generics.params.is_empty()
}

fn derives(cx: &Context<'_>) -> TokenStream {
    let Context { span, .. } = cx;
    // The impls of a unit struct are written out, because they compile faster than a derive.
    if is_unit(cx) {
        return TokenStream::new();
    }
    quote_spanned!(*span=> #[derive(::core::fmt::Debug)])
}

/// Returns the struct's field for a `#[param]`.
fn field(cx: &Context<'_>, name: &Ident, param: &Param) -> TokenStream {
    let vis = &cx.model.function.vis;
    let ty = cx.owner(param);
    let docs = docs(name, param);
    quote_spanned!(name.span()=> #(#docs)* #vis #name: #ty)
}

pub(super) fn docs(name: &Ident, param: &Param) -> Vec<TokenStream> {
    if !param.attrs.is_empty() {
        return param
            .attrs
            .iter()
            .map(quote::ToTokens::to_token_stream)
            .collect();
    }
    let doc = format!("The parameter `{name}`.");
    vec![quote!(#[doc = #doc])]
}

fn is_optional(param: &Param) -> bool {
    option_of(&param.ty).is_some()
}

/// Returns the function that returns the default of a `#[param]`, or `None` if a value is required.
pub(super) fn default_fn(
    cx: &Context<'_>,
    name: &Ident,
    param: &Param,
    config: &Config,
) -> Option<Ident> {
    let has_default = config.default.is_some() || is_optional(param);
    has_default.then(|| format_ident!("__default_{}", name.unraw(), span = cx.span))
}

pub(super) fn default_fns(cx: &Context<'_>) -> TokenStream {
    if cx.model.has_only_a_panel() {
        return TokenStream::new();
    }
    let Context { span, ident, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let functions = cx.model.configs().filter_map(|(name, param, config)| {
        let function = default_fn(cx, name, param, config)?;
        let (owner, value) = (cx.owner(param), default_value(cx, param, config));
        let constant = is_constant(param, config).then(|| quote_spanned!(*span=> const));
        Some(quote_spanned!(*span=> #constant fn #function() -> #owner { #value }))
    });
    let functions: Vec<_> = functions.collect();
    if functions.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {*span=>
        impl #impl_generics #ident #ty_generics #where_clause {
            #(#functions)*
        }
    }
}

/// Returns the default of a `#[param]` as a value of the parameter's owning type, with the user's span.
fn default_value(cx: &Context<'_>, param: &Param, config: &Config) -> TokenStream {
    let Some(default) = &config.default else {
        return quote_spanned!(cx.span=> ::core::option::Option::None);
    };
    if config.is_group {
        let defaults = group_item(cx, param, "defaults");
        return quote_spanned!(cx.span=> #defaults());
    }
    let Some(expr) = &default.expr else {
        return quote_spanned!(default.span=> ::core::default::Default::default());
    };
    let (form, _) = Form::of(&param.ty);
    if form.is_borrowed() {
        let Context { span, private, .. } = cx;
        let ty = &param.ty;
        let borrowed = quote_spanned!(*span=> { let default: #ty = #expr; default });
        return quote_spanned!(*span=> #private::borrow::ToOwned::to_owned(#borrowed));
    }
    owned_default(cx, param, expr)
}

/// Returns a default for an owned parameter. Converts a string literal if the type is `String`.
pub(super) fn owned_default(cx: &Context<'_>, param: &Param, expr: &Expr) -> TokenStream {
    let is_text = matches!(expr, Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)));
    if is_string(&param.ty) && is_text {
        let private = &cx.private;
        return quote_spanned!(cx.span=> #private::string::ToString::to_string(#expr));
    }
    expr.to_token_stream()
}

/// Returns the marker field for the struct's type parameters, which might not be used by any other field.
pub(super) fn marker(cx: &Context<'_>) -> TokenStream {
    let types = cx.generics.type_params().map(|param| &param.ident);
    if cx.generics.type_params().next().is_none() {
        return TokenStream::new();
    }
    quote_spanned! {cx.span=>
        __types: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
    }
}

/// Returns the value of the marker field.
pub(super) fn marker_value(cx: &Context<'_>) -> TokenStream {
    match cx.generics.type_params().next() {
        Some(_) => quote_spanned!(cx.span=> __types: ::core::marker::PhantomData,),
        None => TokenStream::new(),
    }
}

/// Returns the struct's fields with their defaults, if no `#[param]` requires a value.
fn default_fields(cx: &Context<'_>, of: &Ident) -> Option<Vec<TokenStream>> {
    let span = &cx.span;
    let field = |(name, param, config): (&Ident, &Param, &Config)| {
        let function = default_fn(cx, name, param, config)?;
        if cx.model.has_only_a_panel() {
            return Some(quote_spanned!(*span=> #name: ::core::default::Default::default()));
        }
        Some(quote_spanned!(*span=> #name: #of::#function()))
    };
    cx.model.configs().map(field).collect()
}

/// Emits a value with the name of the struct, if no `#[param]` requires a value: `metric(Em)` and `Em.score(..)` then
/// work as they do for a metric without parameters. The value is a constant if the defaults are. If not, it is a
/// function, and rustc suggests calling it.
fn default_by_name(cx: &Context<'_>) -> TokenStream {
    let Context {
        model, span, ident, ..
    } = cx;
    let values =
        default_fields(cx, ident).filter(|_| cx.generics.params.is_empty() && !is_unit(cx));
    let Some(values) = values else {
        return TokenStream::new();
    };
    let vis = &model.function.vis;
    let cfgs = model.function.attrs.iter().filter(|attr| is_cfg(attr));
    let item = match has_constants(cx) {
        true => {
            quote_spanned!(*span=> #vis const #ident: #ident = #ident { #(#values,)* };)
        }
        false => quote_spanned! {*span=>
            #vis fn #ident() -> #ident {
                ::core::default::Default::default()
            }
        },
    };
    quote_spanned! {*span=>
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(
            dead_code,
            deprecated,
            non_snake_case,
            non_upper_case_globals,
            private_interfaces,
            unreachable_pub,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
        #item
    }
}

/// Returns `true` if the defaults of all parameters are constants. The defaults of a struct of parameters are not.
fn has_constants(cx: &Context<'_>) -> bool {
    let mut configs = cx.model.configs();
    configs.all(|(_, param, config)| !config.is_group && is_constant(param, config))
}

/// Returns `true` if the tokens show that the default of a `#[param]` is a constant expression.
fn is_constant(param: &Param, config: &Config) -> bool {
    let Some(default) = &config.default else {
        return is_optional(param);
    };
    let is_borrowed = Form::of(&param.ty).0.is_borrowed();
    let is_string = is_string(&param.ty) || option_of(&param.ty).is_some_and(is_string);
    !is_borrowed && !is_string && default.expr.as_ref().is_some_and(is_constant_expression)
}

fn is_constant_expression(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Unary(unary) => is_constant_expression(&unary.expr),
        Expr::Cast(cast) => is_constant_expression(&cast.expr),
        Expr::Paren(paren) => is_constant_expression(&paren.expr),
        Expr::Group(group) => is_constant_expression(&group.expr),
        Expr::Array(array) => array.elems.iter().all(is_constant_expression),
        Expr::Tuple(tuple) => tuple.elems.iter().all(is_constant_expression),
        _ => false,
    }
}

/// Emits `Default`, if no `#[param]` requires a value.
pub(super) fn default_impl(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let Some(values) = default_fields(cx, &Ident::new("Self", *span)) else {
        return no_default(cx);
    };
    let marker = marker_value(cx);
    let value = if is_unit(cx) {
        // With braces, rustc reports nothing here if the struct is in an `impl`, where it cannot be.
        quote_spanned!(*span=> Self {})
    } else {
        quote_spanned!(*span=> Self { #(#values,)* #marker })
    };
    quote_spanned! {*span=>
        impl #impl_generics ::core::default::Default for #ident #ty_generics #where_clause {
            fn default() -> Self {
                #value
            }
        }
    }
}

/// Emits a `default` with an unsatisfiable bound: rustc reports that the builder sets the values.
fn no_default(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        runtime,
        ..
    } = cx;
    if !cx.generics.params.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {*span=>
        impl #ident
        where
            for<'metric> #ident: #runtime::HasDefaults<'metric>,
        {
            pub fn default() -> Self {
                ::core::unreachable!()
            }
        }
    }
}

/// Emits `Clone` without bounds on the type parameters, because the struct contains no values of these types.
fn clone_impl(cx: &Context<'_>) -> TokenStream {
    if is_unit(cx) {
        return unit_struct(cx.span, cx.ident, &[]);
    }
    let Context { span, ident, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let values = cx.model.configs().map(|(name, param, _)| {
        let copy = copied(cx, name, param);
        quote_spanned!(*span=> #name: #copy)
    });
    let marker = marker_value(cx);
    quote_spanned! {*span=>
        #[automatically_derived]
        impl #impl_generics ::core::clone::Clone for #ident #ty_generics #where_clause {
            fn clone(&self) -> Self {
                Self { #(#values,)* #marker }
            }
        }
    }
}

/// Returns a clone of a `#[param]` from `self`. Every use has the span of the parameter's type, so rustc reports only
/// once that the type is not `Clone`.
pub(super) fn copied(cx: &Context<'_>, name: &Ident, param: &Param) -> TokenStream {
    let (start, end) = ends(&param.ty);
    let owner = cx.owner(param);
    let argument = quote_spanned!(end.resolved_at(cx.span)=> (&self.#name));
    let clone = quote_spanned!(start=> <#owner as ::core::clone::Clone>::clone);
    quote!(#clone #argument)
}
