//! A judge with the names that its expansion uses.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};

use crate::judge::field::Source;
use crate::judge::model::{Field, Input, Judge};
use crate::shared::attributes::is_cfg;
use crate::shared::contract::{short, short_private};
use crate::shared::function::model::Model;

/// A judge and the names that its expansion uses.
pub(super) struct Context<'a> {
    pub(super) judge: &'a Judge,
    pub(super) metric: &'a Model,
    pub(super) span: Span,
    pub(super) runtime: TokenStream,
    pub(super) private: TokenStream,
    pub(super) input: syn::Ident,
    pub(super) output: syn::Ident,
}

impl<'a> Context<'a> {
    pub(super) fn new(judge: &'a Judge, metric: &'a Model) -> Self {
        let (span, runtime) = (judge.span(), metric.names.runtime.clone());
        let private = quote_spanned!(span=> #runtime::__private);
        Self::with_paths(judge, metric, runtime, private)
    }

    /// Creates the context for what is emitted inside of the hidden block.
    pub(super) fn hidden(judge: &'a Judge, metric: &'a Model) -> Self {
        let span = judge.span();
        Self::with_paths(judge, metric, short(span), short_private(span))
    }

    fn with_paths(
        judge: &'a Judge,
        metric: &'a Model,
        runtime: TokenStream,
        private: TokenStream,
    ) -> Self {
        let span = judge.span();
        let (input, output) = (judge.part("Input"), judge.part("Output"));
        Self {
            judge,
            metric,
            span,
            runtime,
            private,
            input,
            output,
        }
    }

    /// Returns the inputs that come from rows.
    pub(super) fn shown(&self) -> impl Iterator<Item = &'a Input> {
        let inputs = self.judge.inputs.iter();
        inputs.filter(|input| input.attr.source != Some(Source::Param))
    }

    /// Returns the inputs that are configuration.
    pub(super) fn configs(&self) -> impl Iterator<Item = &'a Input> {
        let inputs = self.judge.inputs.iter();
        inputs.filter(|input| input.attr.source == Some(Source::Param))
    }

    pub(super) fn cfgs(&self) -> impl Iterator<Item = &'a syn::Attribute> {
        self.judge.item.attrs.iter().filter(|attr| is_cfg(attr))
    }
}

/// Returns the user's documentation of a field, or the field's description in the prompt.
pub(super) fn docs(field: &Field) -> TokenStream {
    if !field.docs.is_empty() {
        return field
            .docs
            .iter()
            .map(quote::ToTokens::to_token_stream)
            .collect();
    }
    let doc = match field.desc.as_str() {
        "" => format!("The field `{}` of the signature.", field.name()),
        desc => desc.to_owned(),
    };
    quote!(#[doc = #doc]).to_token_stream()
}
