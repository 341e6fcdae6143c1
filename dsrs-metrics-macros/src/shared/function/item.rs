//! The function that a metric is made from, as written.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::parse::{Parse as _, ParseStream, Parser as _};
use syn::{Attribute, Signature, Token, Visibility};

use super::role::Role;
use crate::shared::attributes::{take_duplicates, without_attributes};
use crate::shared::errors::Errors;
use crate::shared::item_kind::item_kind;
use crate::shared::tokens::find;

/// The function as written. Its body is not parsed; rustc reports errors in it.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

impl Function {
    pub(crate) fn parse(item: TokenStream, errors: &mut Errors) -> Option<Self> {
        Self::parse_for("metric", item, errors)
    }

    /// Parses the function for the attribute with this name.
    pub(crate) fn parse_for(
        attribute: &str,
        item: TokenStream,
        errors: &mut Errors,
    ) -> Option<Self> {
        let form = match attribute {
            "eval" => "#[eval(..)] async fn name(question: String) -> Prediction",
            _ => "#[metric] fn name(#[gold] .., #[pred] ..) -> bool",
        };
        let not_a_function = |found: &str| not_a_function(found, form);
        let kind = item_kind(&item);
        let parser = |input: ParseStream<'_>| {
            let attrs = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            let start = input.fork();
            let sig = Signature::parse(input).map_err(|error| match &kind {
                Some((keyword, _)) if keyword == "fn" => error,
                _ if start.peek(Token![extern]) => error,
                Some((_, kind)) => start.error(not_a_function(kind)),
                None => start.error(not_a_function("another item")),
            })?;
            Ok(Self {
                attrs,
                vis,
                sig,
                body: input.parse()?,
            })
        };
        let mut function: Self = errors.ok(parser.parse2(item))?;
        take_duplicates(&mut function.attrs, attribute, errors);
        Some(function)
    }

    /// Returns `true` if the function is in an `impl` or a `trait`, where the metric's struct cannot be emitted.
    pub(crate) fn is_associated(&self) -> bool {
        self.sig.receiver().is_some() || !self.has_body() || self.self_type().is_some()
    }

    /// Returns `Self` in the signature, which only an associated function can name.
    pub(crate) fn self_type(&self) -> Option<Ident> {
        find(self.sig.to_token_stream(), &|word| word == "Self")
    }

    pub(crate) fn has_body(&self) -> bool {
        self.body.to_string() != ";"
    }

    /// Returns the function without its visibility, which changes if the function moves to another module.
    pub(super) fn code(&self) -> TokenStream {
        let Self {
            attrs, sig, body, ..
        } = self;
        quote::quote!(#(#attrs)* #sig #body)
    }

    /// Returns the function without the macro's attributes.
    pub(crate) fn stripped(&self) -> TokenStream {
        let Self {
            attrs,
            vis,
            sig,
            body,
        } = self;
        quote::quote!(#(#attrs)* #vis #sig #body)
    }
}

fn not_a_function(found: &str, form: &str) -> String {
    format!("expected a function, found {found}; write `{form}`")
}

/// Returns the item without `#[gold]`, `#[pred]` and `#[param]`, which rustc does not know.
pub(crate) fn without_roles(item: TokenStream) -> TokenStream {
    without_attributes(item, &Role::is_name)
}
