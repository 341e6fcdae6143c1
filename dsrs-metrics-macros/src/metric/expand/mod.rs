//! A checked model becomes code: the function as written, the metric's struct, and one hidden block of
//! impls. Everything generated bears the function's own span, so that rustc points at the user's
//! tokens and never at the attribute.

mod assert;
mod builder;
mod configure;
mod declared;
mod definition;
mod fields;
mod rows;
mod run;
mod spec;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Generics, ImplGenerics, Lifetime, TypeGenerics};

use super::attr::is_cfg;
use super::bind::Side;
use super::model::Model;
use super::rows::Row;
use crate::contract::{self, Paths};

/// The type parameters of the metric's builder.
pub(crate) fn builder_params(model: &Model) -> Vec<Ident> {
    builder::params(&Context::new(model))
}

pub(super) use definition::definition;
pub(crate) use spec::number;

pub(crate) fn expand(model: &Model) -> TokenStream {
    let function = model.function.stripped();
    let metric = metric(model, &TokenStream::new());
    quote!(#function #metric)
}

/// As [`expand`], but nobody sees the function: it stands in the hidden block, with `items`.
pub(crate) fn expand_hidden(model: &Model, items: &TokenStream) -> TokenStream {
    let function = model.function.stripped();
    metric(model, &quote!(#function #items))
}

/// The metric's struct and its hidden block, with further items in it.
fn metric(model: &Model, items: &TokenStream) -> TokenStream {
    let cx = &Context::new(model);
    let (definition, builder) = (definition(cx), builder::definition(cx));
    let parts = [
        fields::aliases(cx),
        fields::traits(cx),
        fields::specs(cx),
        definition::impls(cx),
        builder::impls(cx),
        spec::inherent(cx),
        run::inherent(cx),
        run::entry_points(cx),
        rows::metric(cx),
        declared::declared(cx),
        rows::bridge(cx),
        configure::configure(cx),
        assert::assertions(cx),
    ];
    let hidden = hidden(cx, &quote!(#items #(#parts)*));
    quote!(#definition #builder #hidden)
}

/// Wraps impls in a block whose names the user's module does not see.
pub(super) fn hidden(cx: &Context<'_>, items: &TokenStream) -> TokenStream {
    let cfgs = cx.cfgs();
    contract::hidden(cx.span, &quote!(#(#cfgs)*), items)
}

/// A model with the names that its expansion uses throughout.
pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    pub(super) span: Span,
    pub(super) ident: &'a Ident,
    pub(super) runtime: &'a TokenStream,
    pub(super) private: TokenStream,
    /// The lifetime of the rows.
    pub(super) row: Lifetime,
    /// The lifetime of what rows and parameters are deserialized from.
    pub(super) read: Lifetime,
    /// The type parameters that stand for rows of any type.
    pub(super) gold: Ident,
    pub(super) pred: Ident,
    /// The type parameter that stands for whoever asks.
    pub(super) asker: Ident,
    pub(super) fresh: Fresh,
    /// The generics of the metric's struct, `'static` because a metric outlives every row.
    pub(super) generics: Generics,
}

impl<'a> Context<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let span = model.names.span;
        let runtime = &model.names.runtime;
        let mut generics = model.generics.clone();
        for param in generics.type_params_mut() {
            // In front, so that rustc proposes a further bound behind the user's own.
            param.bounds.insert(0, syn::parse_quote_spanned!(span=> 'static));
            param.default = None;
        }
        let fresh = Fresh::new(model);
        Self {
            model,
            span,
            ident: &model.names.ident,
            runtime,
            private: quote_spanned!(span=> #runtime::__private),
            row: Lifetime::new(&format!("'{}", fresh.name("row")), span),
            read: Lifetime::new(&format!("'{}", fresh.name("read")), span),
            gold: Ident::new(&fresh.name("GoldRow"), span),
            pred: Ident::new(&fresh.name("PredRow"), span),
            asker: Ident::new(&fresh.name("Asker"), span),
            generics,
            fresh,
        }
    }

    pub(super) fn paths(&self) -> Paths<'_> {
        Paths { span: self.span, runtime: self.runtime, private: &self.private }
    }

    pub(super) fn cfgs(&self) -> impl Iterator<Item = &Attribute> {
        self.model.function.attrs.iter().filter(|attr| is_cfg(attr))
    }

    /// The generics of an impl for the metric's struct.
    pub(super) fn split(&self) -> (ImplGenerics<'_>, TypeGenerics<'_>, Option<&syn::WhereClause>) {
        self.generics.split_for_impl()
    }

    /// The type of one half of the row: the user's, the dynamic one, or a type parameter.
    pub(super) fn row_type(&self, side: Side) -> TokenStream {
        let runtime = self.runtime;
        match self.model.rows.get(side) {
            Row::Typed(ty) => quote!(#ty),
            Row::Dynamic => {
                let dynamic = format_ident!("{}", side.dynamic(), span = self.span);
                quote_spanned!(self.span=> #runtime::#dynamic)
            }
            Row::Any => {
                let ident = self.row_param(side);
                quote!(#ident)
            }
        }
    }

    fn row_param(&self, side: Side) -> &Ident {
        match side {
            Side::Gold => &self.gold,
            Side::Pred => &self.pred,
        }
    }

    /// The sides whose row may be of any type.
    pub(super) fn open_sides(&self) -> impl Iterator<Item = Side> {
        Side::BOTH.into_iter().filter(|side| matches!(self.model.rows.get(*side), Row::Any))
    }

    /// The type parameters that stand for rows, each followed by a comma.
    pub(super) fn row_params(&self) -> TokenStream {
        let params = self.open_sides().map(|side| self.row_param(side));
        quote!(#(#params,)*)
    }

    /// The spec as a reference that lives for ever.
    pub(super) fn spec_ref(&self) -> TokenStream {
        quote_spanned!(self.span=> const { &Self::SPEC })
    }
}

/// Names for our own parameters, which rustc shows, so they are plain words unless the user has them.
pub(super) struct Fresh(Vec<String>);

impl Fresh {
    fn new(model: &Model) -> Self {
        let mut taken = Vec::new();
        let attrs = &model.attrs;
        words(model.function.sig.to_token_stream(), &mut taken);
        words(model.names.ident.to_token_stream(), &mut taken);
        for ty in [&attrs.gold, &attrs.pred].into_iter().flatten() {
            words(ty.to_token_stream(), &mut taken);
        }
        for value in [&attrs.threshold, &attrs.range].into_iter().flatten() {
            words(value.to_token_stream(), &mut taken);
        }
        for (_, _, config) in model.configs() {
            let default = config.default.as_ref().and_then(|default| default.expr.as_ref());
            words(default.to_token_stream(), &mut taken);
        }
        Self(taken)
    }

    pub(super) fn name(&self, word: &str) -> String {
        let mut name = word.to_owned();
        while self.0.contains(&name) {
            name.push('_');
        }
        name
    }
}

fn words(tokens: TokenStream, into: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => into.push(word.to_string()),
            TokenTree::Group(group) => words(group.stream(), into),
            _ => {}
        }
    }
}
