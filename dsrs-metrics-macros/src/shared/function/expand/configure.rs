//! The `Configure` impl, which builds the metric from `--param NAME.KEY=VALUE`. Every `#[param]` must be
//! deserializable.

use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;

use super::context::Context;
use super::definition::{default_fn, is_unit, marker_value};
use super::fields;
use super::spec::{PANEL, group_item, index};
use crate::shared::function::param::Param;
use crate::shared::types::{is_panel, is_plain};

/// Emits the impl. A metric without parameters, or with only a panel, uses the impl in the runtime crate.
pub(super) fn configure(cx: &Context<'_>) -> TokenStream {
    if is_unit(cx) || cx.model.has_only_a_panel() {
        return TokenStream::new();
    }
    let Context {
        span,
        ident,
        private,
        ..
    } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let predicates = where_clause
        .map(|clause| clause.predicates.iter())
        .into_iter()
        .flatten();
    let (readable, body, defaults) = (readable(cx), body(cx), defaults(cx));
    let spec = cx.spec();
    let hint = fields::has_diagnostics(cx)
        .then(|| quote_spanned!(*span=> #[diagnostic::do_not_recommend]));
    quote_spanned! {*span=>
        #hint
        impl #impl_generics #private::Configure for #ident #ty_generics
        where
            #readable
            #(#predicates,)*
        {
            const SPEC: #private::MetricSpec<'static> = #spec;

            fn configure(
                params: &#private::Params,
            ) -> ::core::result::Result<Self, #private::ParamError> {
                #body
            }

            #defaults
        }
    }
}

/// Returns the bounds that require the `#[param]`s to be deserializable.
fn readable(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        private,
        read,
        ..
    } = cx;
    let params = cx.model.configs();
    let params = params.filter(|(_, param, config)| {
        !is_panel(&param.ty) && !config.is_group && !is_plain(&param.ty)
    });
    let bounds = params.map(|(_, param, _)| {
        let owner = cx.owner(param);
        quote_spanned!(*span=> for<#read> #owner: #private::Deserialize<#read>,)
    });
    bounds.collect()
}

/// Returns the body of `configure`, which checks `params` and reads every `#[param]` from them.
fn body(cx: &Context<'_>) -> TokenStream {
    let (span, spec) = (cx.span, cx.spec_ref());
    let values = values(cx, &quote_spanned!(span=> spec.params), |param| {
        let (private, owner) = (&cx.private, cx.owner(param));
        quote_spanned!(span=> <#owner as #private::ParamType>::read)
    });
    let marker = marker_value(cx);
    let metric = quote_spanned!(span=> Self { #(#values,)* #marker });
    quote_spanned! {span=>
        let spec = #spec;
        match params.check(spec) {
            __p::Ok(()) => __p::Ok(#metric),
            __p::Err(error) => __p::Err(error),
        }
    }
}

/// Returns the value of each `#[param]`, which the function `read` reads from `params`. `specs` has their declarations.
pub(super) fn values(
    cx: &Context<'_>,
    specs: &TokenStream,
    read: impl Fn(&Param) -> TokenStream,
) -> Vec<TokenStream> {
    let Context { span, private, .. } = cx;
    let values = cx.model.configs().map(|(name, param, config)| {
        let value = if is_panel(&param.ty) {
            quote_spanned!(*span=> #private::read_panel(params, spec))
        } else if config.is_group {
            let read = group_item(cx, param, "read");
            quote_spanned!(*span=> #read(params, spec))
        } else {
            let place = index(cx, name);
            let read = read(param);
            let default = match default_fn(cx, name, param, config) {
                Some(default) => {
                    quote_spanned!(*span=> __p::Some(Self::#default))
                }
                None => quote_spanned!(*span=> __p::None),
            };
            quote_spanned!(*span=> #read(params, spec, &#specs[#place], #default))
        };
        quote_spanned! {*span=>
            #name: match #value {
                __p::Ok(value) => value,
                __p::Err(error) => return __p::Err(error),
            }
        }
    });
    values.collect()
}

/// Emits `defaults`, with the text of each default, if there are parameters.
pub(super) fn defaults(cx: &Context<'_>) -> Option<TokenStream> {
    let Context { span, private, .. } = cx;
    let panel = || {
        let spec = cx.spec_ref();
        let default = |index| {
            let index = Literal::usize_unsuffixed(index);
            quote_spanned!(*span=> #private::panel_default(#index, #spec))
        };
        (0..PANEL).map(default).collect()
    };
    let defaults = cx.model.configs().map(|(name, param, config)| {
        if is_panel(&param.ty) {
            let panel: Vec<_> = panel();
            return quote_spanned!(*span=> all.extend([#(#panel),*]););
        }
        if config.is_group {
            let texts = group_item(cx, param, "param_texts");
            return quote_spanned!(*span=> all.extend(#texts()););
        }
        let text = match default_fn(cx, name, param, config) {
            Some(default) if is_plain(&param.ty) => {
                quote_spanned!(*span=> #private::shown(&Self::#default()))
            }
            Some(default) => quote_spanned!(*span=> #private::Maybe(&Self::#default()).text()),
            None => quote_spanned!(*span=> __p::None),
        };
        quote_spanned!(*span=> all.push(#text);)
    });
    let defaults: Vec<_> = defaults.collect();
    (!defaults.is_empty()).then(|| {
        quote_spanned! {*span=>
            fn param_texts() -> #private::vec::Vec<__p::Option<#private::string::String>> {
                use #private::Fallback as _;
                let mut all = #private::vec::Vec::new();
                #(#defaults)*
                all
            }
        }
    })
}
