//! Attributes of an item: documentation, `cfg`, and the item without the attributes that only a
//! macro reads.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Lit, Path, Token};

use super::errors::Errors;

/// Returns `true` if an attribute is `cfg`, which must be repeated on everything generated from the item.
pub(crate) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
}

/// Returns the text of the doc comments, one line each.
pub(crate) fn doc_text(attrs: &[Attribute]) -> String {
    let line = |attr: &Attribute| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attrs.iter().filter_map(line).collect();
    let unindented = lines
        .iter()
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    unindented.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns the item without the attributes selected by `is_ours`, at any depth.
pub(crate) fn without_attributes(
    item: TokenStream,
    is_ours: &dyn Fn(&Ident) -> bool,
) -> TokenStream {
    let is_attribute = |token: &TokenTree| match token {
        TokenTree::Group(group) => matches!(
            group.stream().into_iter().next(),
            Some(TokenTree::Ident(word)) if is_ours(&word)
        ),
        _ => false,
    };
    let mut kept = TokenStream::new();
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Punct(hash) if hash.as_char() == '#')
            && tokens.next_if(is_attribute).is_some()
        {
            continue;
        }
        kept.extend([match token {
            TokenTree::Group(group) => {
                let inner = without_attributes(group.stream(), is_ours);
                let mut stripped = Group::new(group.delimiter(), inner);
                stripped.set_span(group.span());
                stripped.into()
            }
            token => token,
        }]);
    }
    kept
}

/// Returns the traits that an item derives, by the last segment of each path.
pub(crate) fn derived_traits(attrs: &[Attribute]) -> Vec<Ident> {
    let derives = attrs.iter().filter(|attr| attr.path().is_ident("derive"));
    let paths = derives.filter_map(|attr| {
        attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
            .ok()
    });
    paths
        .flatten()
        .filter_map(|path| path.segments.last().map(|last| last.ident.clone()))
        .collect()
}

/// Removes and reports attributes named `name` if the item already has one.
pub(crate) fn take_duplicates(attrs: &mut Vec<Attribute>, name: &str, errors: &mut Errors) {
    attrs.retain(|attr| {
        let is_duplicate = attr
            .path()
            .segments
            .last()
            .is_some_and(|last| last.ident == name);
        if is_duplicate {
            errors.at(attr, format!("duplicate `#[{name}]`; keep one"));
        }
        !is_duplicate
    });
}
