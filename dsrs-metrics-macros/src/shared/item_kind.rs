//! The kind of item that an attribute is on.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// Returns the keyword that determines the kind of an item, and that kind with its article.
pub(crate) fn item_kind(item: &TokenStream) -> Option<(Ident, &'static str)> {
    let words = item.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let of_function = ["fn", "async", "unsafe", "extern"];
        let is_qualifier = words
            .peek()
            .is_some_and(|next| of_function.iter().any(|word| next == word));
        let kind = match word.to_string().as_str() {
            "fn" => "a function",
            "struct" => "a struct",
            "enum" => "an enum",
            "union" => "a union",
            "impl" => "an impl block",
            "trait" => "a trait",
            "mod" => "a module",
            "const" if !is_qualifier => "a constant",
            "static" => "a static",
            "type" => "a type alias",
            "use" => "an import",
            _ => continue,
        };
        return Some((word, kind));
    }
    None
}

/// Returns `true` if the item is a struct.
pub(crate) fn is_struct(item: &TokenStream) -> bool {
    item_kind(item).is_some_and(|(keyword, _)| keyword == "struct")
}

#[cfg(test)]
mod tests {
    use super::item_kind;

    #[test]
    fn the_first_keyword_that_is_not_a_qualifier_determines_the_kind() {
        for (item, kind) in [
            ("pub(crate) const fn f() {}", "a function"),
            ("pub const unsafe extern \"C\" fn f() {}", "a function"),
            ("#[derive(Debug)] pub struct S;", "a struct"),
            ("const LIMIT: u8 = 1;", "a constant"),
            ("unsafe impl Send for S {}", "an impl block"),
        ] {
            let found = item_kind(&item.parse().unwrap());
            assert_eq!(found.map(|(_, kind)| kind), Some(kind), "{item}");
        }
        assert!(item_kind(&"println!()".parse().unwrap()).is_none());
    }
}
