//! Reads the struct of a derive: the arguments of its attributes, the path to the runtime crate, and the fields.

use proc_macro2::TokenStream;
use syn::{Data, DeriveInput, Field, Fields, Meta, Path};

use super::attrs::{self, Attribute};
use super::errors::Errors;
use super::names::check_crate_path;
use super::settings::Settings;

/// Returns the arguments of each attribute `#[name(..)]`. `alone` is the message for an attribute without arguments.
pub(crate) fn arguments(
    attrs: &[syn::Attribute],
    name: &str,
    alone: &str,
    errors: &mut Errors,
) -> Vec<TokenStream> {
    let mut arguments = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        match &attr.meta {
            Meta::List(list) => arguments.push(list.tokens.clone()),
            _ => errors.at(&attr.meta, alone),
        }
    }
    arguments
}

/// Returns the path in `#[name(crate = path)]` on a struct.
pub(crate) fn crate_path<A>(
    attrs: &[syn::Attribute],
    name: &str,
    errors: &mut Errors,
) -> Option<Path>
where
    A: Attribute + AsMut<Settings> + Default,
{
    let mut parsed = A::default();
    let alone = format!("missing arguments for `#[{name}]`; remove it");
    for tokens in arguments(attrs, name, &alone, errors) {
        attrs::parse_into(&mut parsed, tokens, errors);
    }
    let path = parsed.as_mut().krate.take();
    if let Some(path) = &path {
        check_crate_path(path, errors);
    }
    path
}

/// Returns the fields of a struct with named fields. `message` returns the message for any other item.
pub(crate) fn named_fields<'a>(
    input: &'a DeriveInput,
    message: impl Fn(&str) -> String,
    errors: &mut Errors,
) -> Vec<&'a Field> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => return fields.named.iter().collect(),
            Fields::Unnamed(_) => errors.at(&input.ident, message("a tuple struct")),
            Fields::Unit => errors.at(&input.ident, message("a unit struct")),
        },
        Data::Enum(data) => errors.at(data.enum_token, message("an enum")),
        Data::Union(data) => errors.at(data.union_token, message("a union")),
    }
    Vec::new()
}
