//! Parses a component: a path to a metric, and its configuration.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, Path, Token, parenthesized, token};

use super::expression::Component;
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::names::name_struct;
use crate::shared::tokens::{as_written, is_ident};

impl Component {
    pub(super) fn parse(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let path = Path::parse_mod_style(input).map_err(|_| not_a_part(input))?;
        let mut text = as_written(&path);
        let mut ty = path;
        let Some(span) = ty.segments.last().map(|last| last.ident.span()) else {
            return Err(not_a_part(input));
        };
        name_struct(&mut ty);
        let (mut args, mut configured) = (Vec::new(), String::new());
        if input.peek(token::Paren) {
            let content = content(input)?;
            if content.is_empty() {
                let message = format!("unexpected `()` after `{text}`; write `{text}` alone");
                return Err(Error::new(span, message));
            }
            configured = format!("({})", as_written(&content));
            args = arguments(&text, content, errors);
            text.push_str(&configured);
        }
        Ok(Self {
            text,
            ty,
            args,
            configured,
            span,
        })
    }
}

fn arguments(text: &str, tokens: TokenStream, errors: &mut Errors) -> Vec<(Ident, Expr)> {
    let mut args = Vec::new();
    list::for_each(tokens, errors, |input, found_keys, errors| {
        let named = input.fork();
        let is_named = named.call(Ident::parse_any).is_ok()
            && named.peek(Token![=])
            && !named.peek(Token![==]);
        if !is_named {
            let found = list::to_comma(&input.fork())?;
            let written = as_written(&found);
            return Err(Error::new_spanned(found, unnamed(text, &written)));
        }
        let key = input.call(Ident::parse_any)?;
        input.parse::<Token![=]>()?;
        found_keys.add(&key, errors);
        let value = list::value(&key, input, Expr::parse, |found: &str| {
            if found.is_empty() {
                format!("missing value for `{key}`; write `{text}({key} = 0.9)`")
            } else {
                format!(
                    "expected a value for `{key}`, found `{found}`; write `{text}({key} = 0.9)`"
                )
            }
        })?;
        args.push((key, value));
        Ok(())
    });
    args
}

/// Returns the message for an argument that is not `name = value`.
fn unnamed(text: &str, written: &str) -> String {
    let separators = ["=>", ":", "="];
    let pair = separators.iter().find_map(|separator| {
        let (name, value) = written.split_once(separator)?;
        Some((name.trim().trim_start_matches('.'), value.trim()))
    });
    match pair.filter(|(name, value)| is_ident(name) && !value.is_empty()) {
        Some((name, value)) => format!(
            "expected a named parameter, found `{written}`; write `{text}({name} = {value})`"
        ),
        None if written.parse::<f64>().is_ok() => format!(
            "expected a named parameter, found `{written}`; write `{text} = {written}` for a weight, `{text} >= {written}` for a threshold, or the name before it, such as `{text}(limit = {written})`"
        ),
        None => format!(
            "expected a named parameter, found `{written}`; write its name before it, such as `{text}(limit = {written})`"
        ),
    }
}

/// Parses parentheses and returns their content.
pub(super) fn content(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let content;
    parenthesized!(content in input);
    content.parse()
}

pub(super) fn not_a_part(input: ParseStream<'_>) -> Error {
    input.error(
        "expected the name of a metric's function or struct, or a combinator such as `all(..)`",
    )
}
