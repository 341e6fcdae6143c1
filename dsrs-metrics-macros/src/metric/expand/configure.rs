//! `Configure`: the metric from `--param NAME.KEY=VALUE`, where every `#[param]` can be deserialized.

use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;

use super::Context;
use super::definition::{default_fn, is_unit, marker_value, owner};

pub(super) fn configure(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, runtime, private, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let read = &cx.read;
    let readable = cx.model.configs().map(|(_, param, _)| {
        let owner = owner(cx, param);
        quote_spanned!(*span=> for<#read> #owner: #private::Deserialize<#read>,)
    });
    let values = cx.model.configs().enumerate().map(|(index, (name, param, config))| {
        let index = Literal::usize_unsuffixed(index);
        let owner = owner(cx, param);
        let default = match default_fn(cx, name, param, config) {
            Some(default) => quote_spanned!(*span=> ::core::option::Option::Some(Self::#default)),
            None => quote_spanned!(*span=> ::core::option::Option::None),
        };
        quote_spanned! {*span=>
            #name: match #private::read_param::<#owner>(params, spec, &spec.params[#index], #default) {
                ::core::result::Result::Ok(value) => value,
                ::core::result::Result::Err(error) => return ::core::result::Result::Err(error),
            }
        }
    });
    let defaults =
        cx.model.configs().map(|(name, param, config)| match default_fn(cx, name, param, config) {
            Some(default) => quote_spanned!(*span=> #private::Typed(&Self::#default()).text()),
            None => quote_spanned!(*span=> ::core::option::Option::None),
        });
    let marker = marker_value(cx);
    let value = if is_unit(cx) {
        quote_spanned!(*span=> Self)
    } else {
        quote_spanned!(*span=> Self { #(#values,)* #marker })
    };
    let predicates = where_clause.map(|clause| clause.predicates.iter()).into_iter().flatten();
    let spec = cx.spec_ref();
    let hint = super::fields::has_sentences(cx)
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

            fn defaults() -> #private::vec::Vec<::core::option::Option<#private::string::String>> {
                #[allow(unused_imports)]
                use #private::Untyped as _;
                #private::vec![#(#defaults),*]
            }
        }
    }
}
