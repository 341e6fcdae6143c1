//! A checked judge becomes code: the struct as written, its `Input` and `Output`, the judge as a
//! metric, and what ties them together.

mod output;
mod setters;
mod signature;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};

use super::field::Source;
use super::model::{Field, Input, Judge};
use crate::metric::Model;

pub(crate) fn expand(judge: &Judge, metric: &Model) -> TokenStream {
    let cx = &Context::new(judge, metric);
    let item = item(judge);
    let (input, output) = (input(cx), output::definition(cx));
    let parts = [output::reading(cx), signature::judge(cx), setters::setters(cx)];
    let metric = crate::metric::expand_hidden(metric, &quote!(#(#parts)*));
    quote!(#item #input #output #metric)
}

/// A judge with the names that its expansion uses throughout.
pub(super) struct Context<'a> {
    pub(super) judge: &'a Judge,
    pub(super) metric: &'a Model,
    pub(super) span: Span,
    pub(super) runtime: &'a TokenStream,
    pub(super) private: TokenStream,
    pub(super) input: syn::Ident,
    pub(super) output: syn::Ident,
}

impl<'a> Context<'a> {
    pub(super) fn new(judge: &'a Judge, metric: &'a Model) -> Self {
        let (span, runtime) = (judge.span(), &metric.names.runtime);
        let private = quote_spanned!(span=> #runtime::__private);
        let (input, output) = (judge.part("Input"), judge.part("Output"));
        Self { judge, metric, span, runtime, private, input, output }
    }

    /// The inputs that come from rows.
    pub(super) fn shown(&self) -> impl Iterator<Item = &'a Input> {
        let inputs = self.judge.inputs.iter();
        inputs.filter(|input| input.attr.source != Some(Source::Param))
    }

    /// The inputs that are configuration.
    pub(super) fn configs(&self) -> impl Iterator<Item = &'a Input> {
        let inputs = self.judge.inputs.iter();
        inputs.filter(|input| input.attr.source == Some(Source::Param))
    }

    fn cfgs(&self) -> impl Iterator<Item = &'a syn::Attribute> {
        self.judge.item.attrs.iter().filter(|attr| crate::metric::attr::is_cfg(attr))
    }
}

/// The struct as written: the signature, which nothing need ever construct.
fn item(judge: &Judge) -> TokenStream {
    let item = &judge.item;
    quote_spanned! {judge.span()=>
        #[allow(dead_code, missing_debug_implementations, missing_copy_implementations)]
        #item
    }
}

/// `XInput`: what the judge is shown of a row.
fn input(cx: &Context<'_>) -> TokenStream {
    let Context { judge, span, runtime, input, .. } = cx;
    let vis = &judge.item.vis;
    let fields = cx.shown().map(|input| {
        let Field { ident, ty, .. } = &input.field;
        let docs = docs(&input.field);
        quote_spanned!(*span=> #docs #vis #ident: #runtime::judge::Untrusted<#ty>)
    });
    let doc = format!("What the judge of [`{}`] is shown of a row.", judge.item.ident);
    let cfgs = cx.cfgs();
    quote_spanned! {*span=>
        #(#cfgs)*
        #[doc = #doc]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #[allow(dead_code)]
        #vis struct #input { #(#fields,)* }
    }
}

/// A field's documentation as the user wrote it, or else what the model is told.
pub(super) fn docs(field: &Field) -> TokenStream {
    if !field.docs.is_empty() {
        return field.docs.iter().map(quote::ToTokens::to_token_stream).collect();
    }
    let doc = match field.desc.as_str() {
        "" => format!("The field `{}` of the signature.", field.name()),
        desc => desc.to_owned(),
    };
    quote!(#[doc = #doc]).to_token_stream()
}
