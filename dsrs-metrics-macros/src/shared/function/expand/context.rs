//! A metric with the names that its expansion uses.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Attribute, Generics, ImplGenerics, Lifetime, Type, TypeGenerics};

use super::field_use::FieldUse;
use crate::shared::attributes::is_cfg;
use crate::shared::contract::{self, Paths};
use crate::shared::function::model::Model;
use crate::shared::function::param::Param;
use crate::shared::function::rows::Row;
use crate::shared::function::side::Side;
use crate::shared::tokens::{as_written, words};
use crate::shared::types::Form;

/// Wraps impls in a block whose names the user's module cannot see.
pub(crate) fn hidden(cx: &Context<'_>, items: &TokenStream) -> TokenStream {
    let (span, cfgs) = (cx.span, cx.cfgs());
    // For the descriptions of field and parameter types.
    let items = quote_spanned!(span=> use __p::FallbackValueType as _; #items);
    contract::hidden(span, &quote!(#(#cfgs)*), &cx.model.names.runtime, &items)
}

/// A model and the names that its expansion uses.
pub(crate) struct Context<'a> {
    pub(crate) model: &'a Model,
    pub(crate) span: Span,
    pub(crate) ident: &'a Ident,
    pub(crate) runtime: TokenStream,
    pub(crate) private: TokenStream,
    /// The lifetime of the rows.
    pub(crate) row: Lifetime,
    /// The lifetime of the input that rows and parameters are deserialized from.
    pub(crate) read: Lifetime,
    /// The type parameters for generic rows.
    pub(crate) gold: Ident,
    pub(crate) pred: Ident,
    pub(crate) fresh: Fresh,
    /// The generics of the metric's struct, with `'static` bounds, because a metric outlives every
    /// row.
    pub(crate) generics: Generics,
    /// The fields that the metric reads, on both sides.
    pub(crate) fields: Vec<FieldUse<'a>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        let (span, runtime) = (model.names.span, model.names.runtime.clone());
        let private = quote_spanned!(span=> #runtime::__private);
        Self::with_paths(model, runtime, private)
    }

    /// Creates the context for what [`hidden`] wraps.
    pub(crate) fn hidden(model: &'a Model) -> Self {
        let span = model.names.span;
        Self::with_paths(model, contract::short(span), contract::short_private(span))
    }

    fn with_paths(model: &'a Model, runtime: TokenStream, private: TokenStream) -> Self {
        let span = model.names.span;
        let mut generics = model.generics.clone();
        for param in generics.type_params_mut() {
            // Inserted first, so rustc suggests further bounds after the user's own.
            param
                .bounds
                .insert(0, syn::parse_quote_spanned!(span=> 'static));
            param.default = None;
        }
        let fresh = Fresh::new(model);
        let row = Lifetime::new(&format!("'{}", fresh.name("row")), span);
        Self {
            model,
            span,
            ident: &model.names.ident,
            runtime,
            private,
            fields: FieldUse::all(model, &row, span),
            row,
            read: Lifetime::new(&format!("'{}", fresh.name("read")), span),
            gold: Ident::new(&fresh.name("GoldRow"), span),
            pred: Ident::new(&fresh.name("PredRow"), span),
            generics,
            fresh,
        }
    }

    pub(crate) fn paths(&self) -> Paths<'_> {
        Paths {
            span: self.span,
            runtime: &self.runtime,
            private: &self.private,
        }
    }

    pub(crate) fn cfgs(&self) -> impl Iterator<Item = &Attribute> {
        self.model.function.attrs.iter().filter(|attr| is_cfg(attr))
    }

    /// Returns the generics of an impl for the metric's struct.
    pub(crate) fn split(
        &self,
    ) -> (
        ImplGenerics<'_>,
        TypeGenerics<'_>,
        Option<&syn::WhereClause>,
    ) {
        self.generics.split_for_impl()
    }

    /// Returns the row type of a side: the user's type, the dynamic row, or a type parameter.
    pub(crate) fn row_type(&self, side: Side) -> TokenStream {
        let runtime = &self.runtime;
        match self.model.rows.get(side) {
            Row::Typed(_) => self.typed(side).to_token_stream(),
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

    /// Returns the user's type for a side. If it has an alias, returns that, so rustc reports an unknown type once and
    /// does not suggest a type parameter.
    pub(super) fn typed(&self, side: Side) -> Option<Type> {
        let Row::Typed(ty) = self.model.rows.get(side) else {
            return None;
        };
        let alias = self.row_alias(side);
        Some(alias.map_or_else(|| (**ty).clone(), |(alias, _)| syn::parse_quote!(#alias)))
    }

    /// Returns the sides whose row type is the user's.
    pub(super) fn typed_sides(&self) -> Vec<Side> {
        let is_typed = |side: &Side| matches!(self.model.rows.get(*side), Row::Typed(_));
        Side::BOTH.into_iter().filter(is_typed).collect()
    }

    /// Returns the user's type for a side as in the source, for messages.
    pub(super) fn row_as_written(&self, side: Side) -> Option<String> {
        match self.model.rows.get(side) {
            Row::Typed(ty) => Some(as_written(ty)),
            _ => None,
        }
    }

    /// Returns the alias of the user's type for a side. A type with lifetimes or type parameters has none.
    pub(super) fn row_alias(&self, side: Side) -> Option<(Ident, &Type)> {
        let Row::Typed(ty) = self.model.rows.get(side) else {
            return None;
        };
        let is_plain = matches!(&**ty, Type::Path(path)
            if path.qself.is_none() && path.path.segments.iter().all(|it| it.arguments.is_empty()));
        let is_generic = self
            .generics
            .type_params()
            .any(|param| matches!(&**ty, Type::Path(path) if path.path.is_ident(&param.ident)));
        let alias = Ident::new(&self.fresh.name(side.row_name()), self.span);
        (is_plain && !is_generic).then_some((alias, &**ty))
    }

    pub(super) fn row_param(&self, side: Side) -> &Ident {
        match side {
            Side::Gold => &self.gold,
            Side::Pred => &self.pred,
        }
    }

    /// Returns the sides whose row type is generic.
    pub(crate) fn open_sides(&self) -> impl Iterator<Item = Side> {
        Side::BOTH
            .into_iter()
            .filter(|side| matches!(self.model.rows.get(*side), Row::Any))
    }

    /// Returns `true` if the fields of a side are read through `ReadField`.
    pub(super) fn is_looked_up(&self, side: Side) -> bool {
        !matches!(self.model.rows.get(side), Row::Typed(_))
    }

    /// Returns the fields that are read through `ReadField`.
    pub(super) fn looked_up(&self) -> impl Iterator<Item = &FieldUse<'a>> {
        self.fields
            .iter()
            .filter(|field| self.is_looked_up(field.side))
    }

    /// Returns `Side::Gold` or `Side::Pred` of the runtime crate.
    pub(super) fn side(&self, side: Side) -> TokenStream {
        let private = &self.private;
        match side {
            Side::Gold => quote_spanned!(self.span=> #private::Side::Gold),
            Side::Pred => quote_spanned!(self.span=> #private::Side::Pred),
        }
    }

    /// Returns the type of a `#[param]` in the struct.
    pub(crate) fn owner(&self, param: &Param) -> TokenStream {
        let (form, is_optional) = Form::of(&param.ty);
        if !form.is_borrowed() {
            return param.ty.to_token_stream();
        }
        let owner = form.owner(&self.private);
        match is_optional {
            true => quote_spanned!(self.span=> ::core::option::Option<#owner>),
            false => owner,
        }
    }

    /// Returns the type parameters of generic rows, each followed by a comma.
    pub(crate) fn row_params(&self) -> TokenStream {
        let params = self.open_sides().map(|side| self.row_param(side));
        quote!(#(#params,)*)
    }

    /// Returns the spec. It is a static unless the metric is generic, because the compiler evaluates a constant again
    /// wherever it is used.
    pub(crate) fn spec(&self) -> TokenStream {
        match self.has_static_spec() {
            true => quote_spanned!(self.span=> __SPEC),
            false => quote_spanned!(self.span=> Self::SPEC),
        }
    }

    /// Returns the spec as a `'static` reference.
    pub(crate) fn spec_ref(&self) -> TokenStream {
        match self.has_static_spec() {
            true => quote_spanned!(self.span=> &__SPEC),
            false => quote_spanned!(self.span=> const { &Self::SPEC }),
        }
    }

    pub(crate) fn has_static_spec(&self) -> bool {
        self.generics.params.is_empty()
    }
}

/// Unused names for generated parameters. They are plain words if possible, because rustc shows them.
pub(crate) struct Fresh(Vec<String>);

impl Fresh {
    fn new(model: &Model) -> Self {
        let mut taken = Vec::new();
        let attrs = &model.attrs;
        words(model.function.sig.to_token_stream(), &mut taken);
        words(model.names.ident.to_token_stream(), &mut taken);
        for ty in [&attrs.gold, &attrs.pred].into_iter().flatten() {
            words(ty.to_token_stream(), &mut taken);
        }
        words(attrs.explain.to_token_stream(), &mut taken);
        for value in [&attrs.threshold, &attrs.range].into_iter().flatten() {
            words(value.to_token_stream(), &mut taken);
        }
        for (_, _, config) in model.configs() {
            let default = config
                .default
                .as_ref()
                .and_then(|default| default.expr.as_ref());
            words(default.to_token_stream(), &mut taken);
        }
        Self(taken)
    }

    pub(crate) fn name(&self, word: &str) -> String {
        let mut name = word.to_owned();
        while self.0.contains(&name) {
            name.push('_');
        }
        name
    }
}
