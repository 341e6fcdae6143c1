//! Names: case, spelling, types as people write them, and the path to the runtime crate.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// `intent_accuracy` to `IntentAccuracy`.
pub(crate) fn upper_camel(snake: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    snake.split('_').filter_map(word).collect()
}

/// Whether a name is `lower_snake_case` and starts with a letter.
pub(crate) fn is_snake(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
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
        let is_joint = c == ' ' && ((glued(last) && !arrow && next != '=') || closes(next));
        if !is_joint || (last == '>' && next.is_alphanumeric()) {
            text.push(c);
        }
    }
    text.trim().to_owned()
}

/// The path to the runtime crate: as the user gave it, or `::dsrs_metrics`.
pub(crate) fn runtime(krate: Option<&syn::Path>) -> TokenStream {
    krate.map_or_else(|| quote!(::dsrs_metrics), ToTokens::to_token_stream)
}

#[cfg(test)]
mod tests {
    use super::{as_written, is_snake, nearest, upper_camel};
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
            "[u8; 4]",
            "&dyn Fn(u8) -> u8",
        ] {
            assert_eq!(as_written(parse_str::<Type>(ty).unwrap()), ty);
        }
    }

    #[test]
    fn snake_case_becomes_camel_case() {
        assert_eq!(upper_camel("intent_accuracy"), "IntentAccuracy");
        assert_eq!(upper_camel("f1"), "F1");
        assert_eq!(upper_camel("_private_"), "Private");
        assert!(is_snake("f1_at_5") && !is_snake("F1") && !is_snake("1st") && !is_snake(""));
    }

    #[test]
    fn only_a_near_word_is_suggested() {
        assert_eq!(nearest("treshold", &["tier", "threshold"]), Some("threshold"));
        assert_eq!(nearest("banana", &["tier", "threshold"]), None);
    }
}
