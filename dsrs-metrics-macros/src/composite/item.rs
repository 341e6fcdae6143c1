//! The struct that has the `#[metric]` of a composite.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser as _;
use syn::{Attribute, Fields, Generics, ItemStruct};

use crate::shared::attributes::{is_cfg, take_duplicates};
use crate::shared::errors::Errors;
use crate::shared::function::item::without_roles;

/// The unit struct, such as `struct HeritageRag;`.
pub(super) struct Item {
    pub(super) item: ItemStruct,
}

impl Item {
    pub(super) fn parse(tokens: TokenStream, has_root: bool, errors: &mut Errors) -> Option<Self> {
        let parser = <ItemStruct as syn::parse::Parse>::parse;
        let mut item = errors.ok(parser.parse2(without_roles(tokens)))?;
        take_duplicates(&mut item.attrs, "metric", errors);
        let mut item = Self { item };
        item.is_unit(has_root, errors);
        // Unused generic parameters would cause a second error.
        item.item.generics = Generics::default();
        Some(item)
    }

    fn is_unit(&self, has_root: bool, errors: &mut Errors) {
        let ItemStruct {
            ident,
            generics,
            fields,
            ..
        } = &self.item;
        let write = format!("write `struct {ident};`");
        if !generics.params.is_empty() {
            errors.at(
                generics,
                format!("generic parameters are not supported on a composite; {write}"),
            );
        }
        if has_root && !matches!(fields, Fields::Unit) {
            errors.at(
                fields,
                format!("expected a unit struct for a composite, found fields; {write}"),
            );
        } else if !has_root && !matches!(fields, Fields::Unit) {
            errors.at(ident, "expected a function, or a unit struct with a combinator; write `#[metric] fn name(#[gold] .., #[pred] ..) -> bool`");
        }
    }

    pub(super) fn ident(&self) -> &Ident {
        &self.item.ident
    }

    /// Returns the `cfg` attributes.
    pub(super) fn cfgs(&self) -> TokenStream {
        let cfgs = self.item.attrs.iter().filter(|attr| is_cfg(attr));
        quote!(#(#cfgs)*)
    }

    pub(super) fn attrs(&self) -> &[Attribute] {
        &self.item.attrs
    }
}

impl ToTokens for Item {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.item.to_tokens(tokens);
    }
}
