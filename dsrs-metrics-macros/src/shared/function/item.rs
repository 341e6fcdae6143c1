//! The function that a metric is made of, as written.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse as _, ParseStream, Parser as _};
use syn::{Attribute, Signature, Token, Visibility};

use super::role::Role;
use crate::shared::attributes::without_attributes;
use crate::shared::errors::Errors;

/// The function as written. The body is not parsed; rustc reports errors in it.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

impl Function {
    pub(crate) fn parse(item: TokenStream, errors: &mut Errors) -> Option<Self> {
        let parser = |input: ParseStream<'_>| {
            let attrs = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            let at = input.fork();
            let sig = Signature::parse(input).map_err(|error| not_a_function(&at, error))?;
            Ok(Self { attrs, vis, sig, body: input.parse()? })
        };
        let mut function: Self = errors.ok(parser.parse2(item))?;
        function.attrs.retain(|attr| {
            let again = attr.path().segments.last().is_some_and(|last| last.ident == "metric");
            if again {
                errors.at(attr, "duplicate `#[metric]`; keep one");
            }
            !again
        });
        Some(function)
    }

    /// Whether it is in an `impl` or a `trait`, where the metric's struct cannot be emitted.
    pub(crate) fn is_associated(&self) -> bool {
        self.sig.receiver().is_some() || !self.has_body()
    }

    pub(crate) fn has_body(&self) -> bool {
        self.body.to_string() != ";"
    }

    /// Returns the function without the attributes of the macro.
    pub(crate) fn stripped(&self) -> TokenStream {
        let Self { attrs, vis, sig, body } = self;
        quote::quote!(#(#attrs)* #vis #sig #body)
    }
}

fn not_a_function(at: ParseStream<'_>, error: syn::Error) -> syn::Error {
    let after_qualifiers = at.fork();
    while after_qualifiers.peek(Token![const])
        || after_qualifiers.peek(Token![async])
        || after_qualifiers.peek(Token![unsafe])
    {
        let _ = after_qualifiers.call(Ident::parse_any);
    }
    if after_qualifiers.peek(Token![fn]) || at.peek(Token![extern]) {
        return error;
    }
    let keyword = at.fork().call(Ident::parse_any);
    let what = keyword.map_or("another item", |keyword| item_kind(&keyword.to_string()));
    at.error(format!("expected a function, found {what}; write `#[metric] fn name(#[gold] .., #[pred] ..) -> bool`"))
}

fn item_kind(keyword: &str) -> &'static str {
    match keyword {
        "enum" => "an enum",
        "union" => "a union",
        "impl" => "an impl block",
        "trait" => "a trait",
        "mod" => "a module",
        "const" => "a constant",
        "static" => "a static",
        "type" => "a type alias",
        "use" => "an import",
        _ => "another item",
    }
}

/// Returns the item without `#[gold]`, `#[pred]` and `#[param]`, which rustc does not know.
pub(crate) fn without_roles(item: TokenStream) -> TokenStream {
    without_attributes(item, &Role::is_name)
}
