//! Tokens: their text, their spans, and the identifiers in them.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;

/// Returns tokens in the usual spelling: `Vec<String>`, not `Vec < String >`.
pub(crate) fn as_written(tokens: impl ToTokens) -> String {
    let spaced = tokens.to_token_stream().to_string();
    let mut text = String::with_capacity(spaced.len());
    let mut rest = spaced.chars().peekable();
    while let Some(c) = rest.next() {
        let glued = |c: char| matches!(c, '<' | '>' | '&' | ':' | '(' | '[' | '\'');
        let closes =
            |c: char| matches!(c, '<' | '>' | ',' | ':' | ')' | ']' | '(' | ';' | '.' | '?');
        let next = rest.peek().copied().unwrap_or(' ');
        let last = text.chars().last().unwrap_or(' ');
        let arrow = last == '>' && text.ends_with("->");
        let range = text.ends_with("..=") || text.ends_with("..");
        let before = text
            .strip_suffix('-')
            .map(|text| text.trim_end().chars().last());
        let negative = before.is_some_and(|c| c.is_none_or(|c| !c.is_alphanumeric() && c != ')'));
        let opens = range || negative || (glued(last) && !arrow && !matches!(next, '=' | '+'));
        let is_joint = c == ' ' && (opens || closes(next));
        if !is_joint || (last == '>' && next.is_alphanumeric()) {
            text.push(c);
        }
    }
    text.trim().to_owned()
}

/// Returns `true` if a string is an identifier, possibly a raw one. Call this before you parse a string, because rustc
/// reports a string that is not a token stream.
pub(crate) fn is_ident(text: &str) -> bool {
    let is_word = text.chars().all(|c| c == '_' || c.is_alphanumeric());
    let no_raw = ["", "_", "self", "Self", "super", "crate"].contains(&text);
    is_word && !no_raw && syn::parse::Parser::parse_str(syn::Ident::parse_any, text).is_ok()
}

/// Parses a string that contains only characters of paths and types.
pub(crate) fn parsed<T: syn::parse::Parse>(text: &str) -> Option<T> {
    let is_plain = |c: char| c.is_alphanumeric() || "_:<>, &[]()".contains(c);
    text.chars()
        .all(is_plain)
        .then(|| syn::parse_str(text).ok())
        .flatten()
}

/// Returns the spans of the first and last tokens.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens
        .to_token_stream()
        .into_iter()
        .map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// Returns the first identifier selected by `is_meant`.
pub(crate) fn find(tokens: TokenStream, is_meant: &dyn Fn(&Ident) -> bool) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => is_meant(&word).then_some(word),
        TokenTree::Group(group) => find(group.stream(), is_meant),
        _ => None,
    })
}

/// Appends every identifier in the tokens.
pub(crate) fn words(tokens: TokenStream, into: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => into.push(word.to_string()),
            TokenTree::Group(group) => words(group.stream(), into),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::as_written;
    use syn::{Type, parse_str};

    #[test]
    fn types_read_as_they_are_written() {
        for ty in [
            "&str",
            "Vec<String>",
            "Option<&[String]>",
            "&'a [(u8, f64)]",
            "std::collections::HashMap<String, Vec<u8>>",
            "Result<f64, Box<dyn Error + Send>>",
            "fn(&str) -> bool",
            "Box<dyn Future<Output = f64> + Send>",
            "[u8; 4]",
            "&dyn Fn(u8) -> u8",
        ] {
            assert_eq!(as_written(parse_str::<Type>(ty).unwrap()), ty);
        }
        for range in ["0.0..=1.0", "LOW..=HIGH", "-1..=limits::HIGH", "(0.0, 1.0)"] {
            assert_eq!(as_written(parse_str::<syn::Expr>(range).unwrap()), range);
        }
    }
}
