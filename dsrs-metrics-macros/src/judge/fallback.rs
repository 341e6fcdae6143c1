//! The expansion after an error: the struct as written, and stubs of the generated items, so one error gives one
//! message.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use syn::Type;

use super::lower::{SETTERS, SETTINGS};
use super::model::Judge;
use crate::shared::errors::Errors;
use crate::shared::function::fallback::stub;
use crate::shared::function::model::Model;
use crate::shared::types::ungrouped;

/// The setters of a judge that is already built, except the one for demonstrations.
const WITH: [&str; 2] = ["with_instruction", "with_context"];

pub(crate) fn expand(judge: &Judge, metric: &Model, errors: Errors) -> TokenStream {
    let mut item = without_references(judge);
    if judge.is_named_as_metric(&metric.names.ident) {
        item =
            quote!(#[doc(hidden)] #[allow(unreachable_pub, missing_docs)] const _: () = { #item };);
    }
    let parts = parts(judge, metric);
    let metric = stub(metric, errors);
    quote!(#item #parts #metric)
}

fn parts(judge: &Judge, metric: &Model) -> TokenStream {
    let span = judge.span();
    if !judge.item.generics.params.is_empty() {
        return TokenStream::new();
    }
    let (vis, metric) = (&judge.item.vis, &metric.names.ident);
    let setters = SETTERS
        .iter()
        .chain(&SETTINGS)
        .filter(|name| !["offline", "demos"].contains(*name) && !judge.has_param(name))
        .map(|name| {
            let name = quote::format_ident!("{name}", span = span);
            quote_spanned!(span=> pub fn #name<T>(self, _: T) -> Self { self })
        });
    let with = WITH.iter().map(|name| {
        let name = quote::format_ident!("{name}", span = span);
        quote_spanned!(span=> pub fn #name<T>(self, _: T) -> Self { self })
    });
    let runtime = crate::shared::names::runtime(judge.attrs.metric.krate.as_ref(), span);
    let demos = quote_spanned! {span=>
        pub fn with_demos(self, _: impl ::core::iter::IntoIterator<Item = #runtime::Example>) -> Self { self }
        pub fn demos(self, _: impl ::core::iter::IntoIterator<Item = #runtime::Example>) -> Self { self }
    };
    let (input, output) = (judge.part("Input"), judge.part("Output"));
    quote_spanned! {span=>
        #[doc = ""]
        #[allow(dead_code)]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #vis struct #input;
        #[doc = ""]
        #[allow(dead_code)]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #vis struct #output;
        #[doc(hidden)]
        #[allow(dead_code, unreachable_pub, missing_docs, clippy::all, clippy::pedantic)]
        const _: () = {
            impl #metric {
                #(#setters)*
                #(#with)*
                #demos
                pub fn offline(self) -> Self { self }
                pub fn num_judges(&self) -> ::core::primitive::usize { 1 }
            }
        };
    }
}

/// Returns the struct without borrowed fields, because rustc would report a missing lifetime for them.
fn without_references(judge: &Judge) -> TokenStream {
    let mut item = judge.item.clone();
    for field in &mut item.fields {
        if matches!(ungrouped(&field.ty), Type::Reference(reference) if reference.lifetime.is_none())
        {
            field.ty = syn::parse_quote!(());
        }
    }
    quote!(#[allow(dead_code)] #item)
}
