//! Names: case conversion, spelling suggestions, reserved names, and the path to the runtime crate.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use strsim::osa_distance;
use syn::Ident;
use syn::ext::IdentExt as _;

use super::errors::Errors;
use super::tokens::{as_written, parsed};

// The crate `heck` gives different results: it lowers acronyms (`RAG_score` to `RagScore`), joins a digit with the
// following capital (`GPT4O` to `gpt4o`) and removes leading underscores. These functions define the names of users'
// structs and metrics.

/// Converts `intent_accuracy` to `IntentAccuracy`.
pub(crate) fn upper_camel(snake: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    snake.split('_').filter_map(word).collect()
}

/// Returns the name of the struct that `#[metric]` generates for a function.
pub(crate) fn struct_name(function: &str) -> String {
    let camel = upper_camel(function);
    if parsed::<Ident>(&camel).is_some() {
        camel
    } else {
        format!("Metric{camel}")
    }
}

/// Converts `IntentAccuracy`, `intent accuracy` or `Intent-Accuracy` to `intent_accuracy`, for a
/// message.
pub(crate) fn suggested_snake(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let snake = words.map(lower_snake).collect::<Vec<_>>().join("_");
    if is_snake(&snake) {
        snake
    } else {
        "exact_match".to_owned()
    }
}

/// Converts `HeritageRag` to `heritage_rag`, `SemanticF1` to `semantic_f1`, `RAGScore` to
/// `rag_score`.
pub(crate) fn lower_snake(camel: &str) -> String {
    let letters: Vec<char> = camel.chars().collect();
    let mut snake = String::with_capacity(camel.len() + 4);
    for (index, c) in letters.iter().enumerate() {
        let after_small =
            index > 0 && !letters[index - 1].is_uppercase() && letters[index - 1] != '_';
        let before_small = letters
            .get(index + 1)
            .is_some_and(|next| next.is_lowercase());
        let ends_acronym = index > 0 && letters[index - 1].is_uppercase() && before_small;
        if c.is_uppercase() && (after_small || ends_acronym) {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// Returns `true` if a name is `lower_snake_case` and starts with a letter.
pub(crate) fn is_snake(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Returns the message for a name that is not in snake case. Such names are used on command lines
/// and in files.
pub(crate) fn not_in_snake_case(of: &str, found: &str, write: &str) -> String {
    format!("expected a {of} name in ASCII snake case, found `{found}`; {write}")
}

/// Returns the known word with the smallest edit distance to `word`, if that is at most 2.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known
        .iter()
        .map(|known| (osa_distance(word, known), *known));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= 2).then_some(nearest)
}

/// Returns the path to the runtime crate: the user's `crate = path`, or `::dsrs_metrics`.
pub(crate) fn runtime(krate: Option<&syn::Path>, span: Span) -> TokenStream {
    krate.map_or_else(
        || quote_spanned!(span=> ::dsrs_metrics),
        ToTokens::to_token_stream,
    )
}

/// Returns [`runtime`] at `span`, with the crate's own name at the item, so rustc reports a missing crate once per
/// item.
pub(crate) fn runtime_at(krate: Option<&syn::Path>, span: Span, item: Span) -> TokenStream {
    let name = Ident::new("dsrs_metrics", item);
    krate.map_or_else(|| quote_spanned!(span=> ::#name), ToTokens::to_token_stream)
}

/// Replaces a metric's function at the end of a path with the metric's struct: `rag::entity_f1` becomes
/// `rag::EntityF1`.
pub(crate) fn name_struct(path: &mut syn::Path) {
    let Some(last) = path
        .segments
        .last_mut()
        .filter(|last| last.arguments.is_empty())
    else {
        return;
    };
    let name = last.ident.unraw().to_string();
    if name.starts_with(|first: char| first.is_lowercase() || first == '_') {
        last.ident = Ident::new(&struct_name(&name), last.ident.span());
    }
}

/// Reports a relative path to the runtime crate, which would not resolve in other modules.
pub(crate) fn check_crate_path(path: &syn::Path, errors: &mut Errors) {
    let first = path.segments.first().map(|first| first.ident.to_string());
    let is_rooted = first.is_some_and(|first| matches!(first.as_str(), "crate" | "$crate"));
    if path.leading_colon.is_none() && !is_rooted {
        let written = as_written(path);
        errors.at(
            path,
            format!("expected an absolute path, found `{written}`; write `crate = ::{written}`"),
        );
    }
}

const PRELUDE: [&str; 53] = [
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Vec",
    "String",
    "Box",
    "Default",
    "Clone",
    "Copy",
    "Send",
    "Sync",
    "Sized",
    "Unpin",
    "Drop",
    "Fn",
    "FnMut",
    "FnOnce",
    "Iterator",
    "IntoIterator",
    "Extend",
    "From",
    "Into",
    "TryFrom",
    "TryInto",
    "AsRef",
    "AsMut",
    "Eq",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "ToOwned",
    "ToString",
    "Debug",
    "Hash",
    "AcceptanceTest",
    "Example",
    "FeedbackEvaluator",
    "FeedbackMetric",
    "Metric",
    "MetricCall",
    "MetricScore",
    "MetricSpec",
    "MetricTier",
    "Outcome",
    "ParamGroup",
    "Prediction",
    "Record",
    "Scores",
    "Trace",
    "Trajectory",
];

/// Returns `true` if a struct with this name would shadow an item in the prelude.
pub(crate) fn shadows_prelude(ident: &Ident) -> bool {
    PRELUDE.iter().any(|name| ident == name)
}

#[cfg(test)]
mod tests {
    use super::{is_snake, lower_snake, nearest, struct_name, suggested_snake, upper_camel};

    #[test]
    fn snake_case_becomes_camel_case() {
        assert_eq!(upper_camel("intent_accuracy"), "IntentAccuracy");
        assert_eq!(upper_camel("f1"), "F1");
        assert_eq!(upper_camel("_private_"), "Private");
        assert_eq!(upper_camel("RAG_score"), "RAGScore");
        assert_eq!(struct_name("_5_hits"), "Metric5Hits");
        assert_eq!(suggested_snake("IntentAccuracy"), "intent_accuracy");
        assert_eq!(suggested_snake("Intent-Accuracy"), "intent_accuracy");
        for (camel, name) in [
            ("HeritageRag", "heritage_rag"),
            ("SemanticF1", "semantic_f1"),
            ("RAGScore", "rag_score"),
            ("HeritageRAG", "heritage_rag"),
            ("Top_K", "top_k"),
            ("GPT4O", "gpt4_o"),
            ("_Hidden", "_hidden"),
        ] {
            assert_eq!(lower_snake(camel), name);
        }
        assert_eq!(suggested_snake("intent accuracy "), "intent_accuracy");
        assert_eq!(suggested_snake("точность"), "exact_match");
        assert!(is_snake("f1_at_5") && !is_snake("F1") && !is_snake("1st") && !is_snake(""));
    }

    #[test]
    fn only_a_near_word_is_suggested() {
        assert_eq!(
            nearest("treshold", &["tier", "threshold"]),
            Some("threshold")
        );
        assert_eq!(nearest("banana", &["tier", "threshold"]), None);
    }
}
