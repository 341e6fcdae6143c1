//! Comma-separated items of an attribute. Parsing continues after an invalid item, and an invalid
//! value is reported at the value.

use std::fmt::Display;

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Result, Token};

use super::errors::Errors;
use super::tokens::as_written;

/// The keys of the list parsed so far.
#[derive(Default)]
pub(crate) struct FoundKeys(Vec<String>);

impl FoundKeys {
    /// Adds a key. A key that occurs twice is an error.
    pub(crate) fn add(&mut self, key: &Ident, errors: &mut Errors) {
        let name = key.to_string();
        if self.0.contains(&name) {
            errors.at(key, format!("duplicate `{name}`; keep one"));
        }
        self.0.push(name);
    }
}

/// Runs `item` for each item. An item that fails is reported and skipped.
pub(crate) fn for_each(
    tokens: TokenStream,
    errors: &mut Errors,
    mut item: impl FnMut(ParseStream<'_>, &mut FoundKeys, &mut Errors) -> Result<()>,
) {
    let mut found_keys = FoundKeys::default();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let result = item(input, &mut found_keys, errors);
            if let Err(error) = result {
                errors.push(error);
            } else if input.peek(Token![;]) {
                let semicolon = input.parse::<Token![;]>()?;
                errors.at(
                    semicolon,
                    "expected `,`, found `;`; write `,` between items",
                );
                continue;
            } else if next_item_follows(input) {
                let next = input.fork().call(Ident::parse_any)?;
                errors.at(
                    &next,
                    format!("expected `,`, found `{next}`; write `,` before it"),
                );
                continue;
            } else if !at_end(input) {
                let rest = to_comma(&input.fork())?;
                let message = format!("unexpected `{}`; remove it", as_written(&rest));
                errors.at(rest, message);
            }
            to_comma(input)?;
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    let parsed = parser.parse2(tokens);
    errors.ok(parsed);
}

/// Parses the value of `key`. On failure, passes the text found there to `explain`, which returns the message.
pub(crate) fn value<T, M: Display>(
    key: &Ident,
    input: ParseStream<'_>,
    parse: impl FnOnce(ParseStream<'_>) -> Result<T>,
    explain: impl FnOnce(&str) -> M,
) -> Result<T> {
    let ahead = input.fork();
    match parse(&ahead) {
        Ok(value) if at_end(&ahead) || next_item_follows(&ahead) || ahead.peek(Token![;]) => {
            input.advance_to(&ahead);
            Ok(value)
        }
        _ => {
            let found = to_comma(&input.fork())?;
            let message = explain(&as_written(&found));
            if found.is_empty() {
                return Err(Error::new_spanned(key, message));
            }
            Err(Error::new_spanned(found, message))
        }
    }
}

/// Returns the items between the commas.
pub(crate) fn items(tokens: TokenStream) -> Vec<TokenStream> {
    let parser = |input: ParseStream<'_>| {
        let mut items = Vec::new();
        while !input.is_empty() {
            items.push(to_comma(input)?);
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(items)
    };
    parser.parse2(tokens).unwrap_or_default()
}

/// Returns the tokens before the next comma or the end.
pub(crate) fn to_comma(input: ParseStream<'_>) -> Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !at_end(input) {
        tokens.extend([input.parse::<proc_macro2::TokenTree>()?]);
    }
    Ok(tokens)
}

pub(crate) fn at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// Returns `true` if the next token is a word, which means that a comma is missing.
fn next_item_follows(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any)
}
