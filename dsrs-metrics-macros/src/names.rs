//! Names: case, spelling, types as people write them, where they stand, and the path to the runtime
//! crate.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt as _;

use crate::errors::Errors;

/// `intent_accuracy` to `IntentAccuracy`.
pub(crate) fn upper_camel(snake: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    snake.split('_').filter_map(word).collect()
}

/// `IntentAccuracy`, `intent accuracy` or `Intent-Accuracy` to `intent_accuracy`.
pub(crate) fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for c in name.chars() {
        let is_new_word = c.is_ascii_uppercase() || !c.is_ascii_alphanumeric();
        if is_new_word && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        if c.is_ascii_alphanumeric() {
            snake.push(c.to_ascii_lowercase());
        }
    }
    let snake = snake.trim_end_matches('_');
    if is_snake(snake) { snake.to_owned() } else { "exact_match".to_owned() }
}

/// `HeritageRag` to `heritage_rag`, `SemanticF1` to `semantic_f1`, `RAGScore` to `rag_score`.
pub(crate) fn lower_snake(camel: &str) -> String {
    let letters: Vec<char> = camel.chars().collect();
    let mut snake = String::with_capacity(camel.len() + 4);
    for (index, c) in letters.iter().enumerate() {
        let after_small =
            index > 0 && !letters[index - 1].is_uppercase() && letters[index - 1] != '_';
        let before_small = letters.get(index + 1).is_some_and(|next| next.is_lowercase());
        let ends_acronym = index > 0 && letters[index - 1].is_uppercase() && before_small;
        if c.is_uppercase() && (after_small || ends_acronym) {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// Whether a name is `lower_snake_case` and starts with a letter.
pub(crate) fn is_snake(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a text could be an identifier, if need be a raw one. Asked before a text is parsed, because
/// rustc reports what it cannot read as tokens.
pub(crate) fn is_ident(text: &str) -> bool {
    let is_word = text.chars().all(|c| c == '_' || c.is_alphanumeric());
    let no_raw = ["", "_", "self", "Self", "super", "crate"].contains(&text);
    is_word && !no_raw && syn::parse::Parser::parse_str(syn::Ident::parse_any, text).is_ok()
}

/// What a text means, if it holds only what stands in paths and types.
pub(crate) fn parsed<T: syn::parse::Parse>(text: &str) -> Option<T> {
    let is_plain = |c: char| c.is_alphanumeric() || "_:<>, &[]()".contains(c);
    text.chars().all(is_plain).then(|| syn::parse_str(text).ok()).flatten()
}

/// The known word that is most like `word`, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |known: &&&str| edit_distance(word, known);
    known.iter().min_by_key(distance).copied().filter(|known| edit_distance(word, known) <= 2)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Tokens as a person writes them: `Vec<String>`, not `Vec < String >`.
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
        let before = text.strip_suffix('-').map(|text| text.trim_end().chars().last());
        let negative = before.is_some_and(|c| c.is_none_or(|c| !c.is_alphanumeric() && c != ')'));
        let opens = range || negative || (glued(last) && !arrow && !matches!(next, '=' | '+'));
        let is_joint = c == ' ' && (opens || closes(next));
        if !is_joint || (last == '>' && next.is_alphanumeric()) {
            text.push(c);
        }
    }
    text.trim().to_owned()
}

/// The path to the runtime crate: as the user gave it, or `::dsrs_metrics`.
pub(crate) fn runtime(krate: Option<&syn::Path>, span: Span) -> TokenStream {
    krate.map_or_else(|| quote_spanned!(span=> ::dsrs_metrics), ToTokens::to_token_stream)
}

/// Notes a mistake if a path to the runtime crate means something else in another module.
pub(crate) fn path_is_absolute(path: &syn::Path, errors: &mut Errors) {
    let first = path.segments.first().map(|first| first.ident.to_string());
    let is_rooted = first.is_some_and(|first| matches!(first.as_str(), "crate" | "$crate"));
    if path.leading_colon.is_none() && !is_rooted {
        let written = as_written(path);
        errors.at(path, format!("the path must hold in every module: write `crate = ::{written}`"));
    }
}

/// The places of the first and of the last token.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::{as_written, is_snake, lower_snake, nearest, snake, upper_camel};
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

    #[test]
    fn snake_case_becomes_camel_case() {
        assert_eq!(upper_camel("intent_accuracy"), "IntentAccuracy");
        assert_eq!(upper_camel("f1"), "F1");
        assert_eq!(upper_camel("_private_"), "Private");
        assert_eq!(snake("IntentAccuracy"), "intent_accuracy");
        for (camel, name) in [
            ("HeritageRag", "heritage_rag"),
            ("SemanticF1", "semantic_f1"),
            ("RAGScore", "rag_score"),
            ("HeritageRAG", "heritage_rag"),
            ("Top_K", "top_k"),
        ] {
            assert_eq!(lower_snake(camel), name);
        }
        assert_eq!(snake("intent accuracy "), "intent_accuracy");
        assert_eq!(snake("точность"), "exact_match");
        assert!(is_snake("f1_at_5") && !is_snake("F1") && !is_snake("1st") && !is_snake(""));
    }

    #[test]
    fn only_a_near_word_is_suggested() {
        assert_eq!(nearest("treshold", &["tier", "threshold"]), Some("threshold"));
        assert_eq!(nearest("banana", &["tier", "threshold"]), None);
    }
}
