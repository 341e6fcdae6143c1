//! The `Configure` impl, which builds the metric from `--param NAME.KEY=VALUE`. It requires that
//! every `#[param]` can be deserialized.

use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;

use super::context::Context;
use super::definition::{default_fn, is_unit, marker_value, owner};
use super::fields;
use super::spec::PANEL;
use crate::shared::types::is_panel;

pub(super) fn configure(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, runtime, private, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let read = &cx.read;
    let from_text = cx.model.configs().filter(|(_, param, _)| !is_panel(&param.ty));
    let readable = from_text.map(|(_, param, _)| {
        let owner = owner(cx, param);
        quote_spanned!(*span=> for<#read> #owner: #private::Deserialize<#read>,)
    });
    let mut place = 0;
    let values = cx.model.configs().map(|(name, param, config)| {
        let value = if is_panel(&param.ty) {
            place += PANEL;
            quote_spanned!(*span=> #private::read_panel(params, spec))
        } else {
            let index = Literal::usize_unsuffixed(place);
            place += 1;
            let owner = owner(cx, param);
            let default = match default_fn(cx, name, param, config) {
                Some(default) => quote_spanned!(*span=> ::core::option::Option::Some(Self::#default)),
                None => quote_spanned!(*span=> ::core::option::Option::None),
            };
            quote_spanned!(*span=> #private::read_param::<#owner>(params, spec, &spec.params[#index], #default))
        };
        quote_spanned! {*span=>
            #name: match #value {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => return ::core::result::Result::Err(error),
            }
        }
    });
    let values: Vec<_> = values.collect();
    let defaults = cx.model.configs().flat_map(|(name, param, config)| {
        let none = quote_spanned!(*span=> ::core::option::Option::None);
        match default_fn(cx, name, param, config) {
            _ if is_panel(&param.ty) => (0..PANEL)
                .map(|index| {
                    let index = Literal::usize_unsuffixed(index);
                    quote_spanned!(*span=> #private::panel_default(#index, &Self::SPEC))
                })
                .collect(),
            Some(default) => {
                vec![quote_spanned!(*span=> #private::Typed(&Self::#default()).text())]
            }
            None => vec![none],
        }
    });
    let defaults: Vec<_> = defaults.collect();
    let defaults = (!defaults.is_empty()).then(|| {
        quote_spanned! {*span=>
            fn defaults() -> #private::vec::Vec<::core::option::Option<#private::string::String>> {
                #[allow(unused_imports)]
                use #private::Untyped as _;
                <#private::vec::Vec<_> as ::core::convert::From<_>>::from([#(#defaults),*])
            }
        }
    });
    let marker = marker_value(cx);
    let value = if is_unit(cx) {
        quote_spanned!(*span=> Self)
    } else {
        quote_spanned!(*span=> Self { #(#values,)* #marker })
    };
    let predicates = where_clause.map(|clause| clause.predicates.iter()).into_iter().flatten();
    let spec = cx.spec_ref();
    let hint = fields::has_diagnostics(cx)
        .then(|| quote_spanned!(*span=> #[diagnostic::do_not_recommend]));
    quote_spanned! {*span=>
        #[automatically_derived]
        #hint
        impl #impl_generics #runtime::Configure for #ident #ty_generics
        where
            #(#readable)*
            #(#predicates,)*
        {
            const SPEC: #runtime::MetricSpec<'static> = Self::SPEC;

            fn configure(
                params: &#runtime::Params,
            ) -> ::core::result::Result<Self, #runtime::ParamError> {
                let spec = #spec;
                match params.check(spec) {
                    ::core::result::Result::Ok(()) => ::core::result::Result::Ok(#value),
                    ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
                }
            }

            #defaults
        }
    }
}
