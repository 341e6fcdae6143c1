//! The fingerprint of a metric's code: a hash of its tokens, which changes with the code but not with its layout.
//!
//! The fingerprint covers the kinds and texts of tokens. It skips what does not change a score: spans, whitespace,
//! comments, documentation, lint attributes, trailing commas, and the delimiter-free groups around the arguments of a
//! `macro_rules` macro. It covers neither the functions that the code calls nor which items a `cfg` removes.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Attributes that change no value: documentation, lints, and hints for the compiler.
const SKIPPED: [&str; 11] = [
    "allow",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "rustfmt",
    "warn",
];

/// Returns the fingerprint of tokens.
pub(crate) fn of(tokens: TokenStream) -> u64 {
    let mut hash = Hash::default();
    hash.tokens(tokens);
    hash.0
}

/// Returns the fingerprint of an attribute's arguments, for the keys that `is_code` selects, in any order. `is_key`
/// returns `true` for a key of the attribute, because a comma also separates type arguments within a value.
pub(crate) fn of_arguments(
    args: TokenStream,
    is_key: &dyn Fn(&str) -> bool,
    is_code: &dyn Fn(&str) -> bool,
) -> u64 {
    let mut arguments: Vec<(String, TokenStream)> = Vec::new();
    let mut is_start = true;
    for token in args {
        if let TokenTree::Ident(word) = &token
            && is_start
            && is_key(&word.to_string())
        {
            arguments.push((word.to_string(), TokenStream::new()));
        }
        is_start = matches!(&token, TokenTree::Punct(comma) if comma.as_char() == ',');
        if let Some((_, argument)) = arguments.last_mut() {
            argument.extend([token]);
        }
    }
    arguments.retain(|(key, _)| is_code(key));
    arguments.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut hash = Hash::default();
    for (_, argument) in arguments {
        hash.tokens(argument);
    }
    hash.0
}

/// 64-bit FNV-1a. Fingerprints are stored in manifests and baselines, so neither the function nor its input may change.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// Adds a token. The byte that ends it occurs in no text.
    fn add(&mut self, kind: u8, text: &str) {
        for byte in [kind].into_iter().chain(text.bytes()).chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let tokens = significant(tokens);
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) => self.add(b'i', &word.to_string()),
                TokenTree::Literal(literal) => self.add(b'l', &literal.to_string()),
                TokenTree::Punct(comma)
                    if comma.as_char() == ',' && is_trailing(&tokens, index) => {}
                TokenTree::Punct(mark) => self.add(b'p', mark.as_char().encode_utf8(&mut [0; 4])),
                TokenTree::Group(group) => {
                    self.add(
                        b'(',
                        match group.delimiter() {
                            Delimiter::Parenthesis => "(",
                            Delimiter::Brace => "{",
                            Delimiter::Bracket | Delimiter::None => "[",
                        },
                    );
                    self.tokens(group.stream());
                    self.add(b')', "");
                }
            }
        }
    }
}

/// Returns `true` if the comma at `index` separates nothing: at the end, before `>`, or after the block of a `match` arm.
fn is_trailing(tokens: &[TokenTree], index: usize) -> bool {
    let is_block = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let closes =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '>');
    let follows_block = index
        .checked_sub(1)
        .is_some_and(|before| is_block(&tokens[before]));
    follows_block || tokens.get(index + 1).is_none_or(closes)
}

/// Returns the tokens without skipped attributes, and with delimiter-free groups replaced by their content.
fn significant(tokens: TokenStream) -> Vec<TokenTree> {
    let mut open = Vec::new();
    flatten(tokens, &mut open);
    let mut kept: Vec<TokenTree> = Vec::with_capacity(open.len());
    for token in open {
        if !(is_skipped_attribute(&token) && take_attribute_marks(&mut kept)) {
            kept.push(token);
        }
    }
    kept
}

/// Removes the `#` or `#!` at the end. Returns `true` if there was one.
fn take_attribute_marks(kept: &mut Vec<TokenTree>) -> bool {
    let is_mark = |token: &TokenTree, mark| matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark);
    let marks = match &kept[..] {
        [.., hash] if is_mark(hash, '#') => 1,
        [.., hash, not] if is_mark(hash, '#') && is_mark(not, '!') => 2,
        _ => 0,
    };
    kept.truncate(kept.len() - marks);
    marks > 0
}

fn flatten(tokens: TokenStream, into: &mut Vec<TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                flatten(group.stream(), into);
            }
            token => into.push(token),
        }
    }
}

/// Returns `true` if a token is `[doc = ".."]` or another attribute that changes no value.
fn is_skipped_attribute(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let mut content = Vec::new();
    if group.delimiter() == Delimiter::Bracket {
        flatten(group.stream(), &mut content);
    }
    matches!(content.first(), Some(TokenTree::Ident(word)) if SKIPPED.iter().any(|name| word == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fingerprint of tokens. `«` and `»` stand for the delimiter-free group around an argument of
    /// `macro_rules`.
    fn code(source: &str) -> u64 {
        fn grouped(tokens: TokenStream) -> TokenStream {
            let open = |token| match token {
                TokenTree::Group(group) => {
                    let inner = grouped(group.stream());
                    let mut words = inner.clone().into_iter();
                    let is_argument = matches!(words.next(), Some(TokenTree::Ident(word)) if word == "argument")
                        && matches!(words.next(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=');
                    match is_argument {
                        true => proc_macro2::Group::new(Delimiter::None, words.collect()).into(),
                        false => proc_macro2::Group::new(group.delimiter(), inner).into(),
                    }
                }
                token => token,
            };
            tokens.into_iter().map(open).collect()
        }
        of(grouped(source.parse().unwrap()))
    }

    /// Stored fingerprints are compared with those of later versions.
    #[test]
    fn the_fingerprint_of_tokens_never_changes() {
        assert_eq!(code(""), 0xcbf2_9ce4_8422_2325);
        let function =
            "fn tidy(#[pred] answer: &str) -> bool { answer.len() < 100 && answer != \"\" }";
        assert_eq!(code(function), 0x797b_b0c9_b7d3_cd4c);
    }

    #[test]
    fn only_what_changes_no_score_is_skipped() {
        let same = [
            (
                "fn a() { f(1, 2) }",
                "fn a() {\n    f(\n        1,\n        2,\n    )\n}",
            ),
            ("f(x)", "/* note */ f( x ) // note"),
            (
                "fn a() {}",
                "/// Text.\n#[doc = \"text\"] #[allow(dead_code)] #[inline] fn a() {}",
            ),
            (
                "fn a() { b }",
                "fn a() { #![allow(unused)] #[expect(x)] b }",
            ),
            ("fn a() {}", "#[(argument = doc = \"text\")] fn a() {}"),
            ("a < 100", "a < (argument = 100)"),
            ("f(a: &str)", "f(a: (argument = &(argument = str)),)"),
            ("Vec<A, B>", "Vec<A, B,>"),
            (
                "match a { B => { c } D => e }",
                "match a { B => { c }, D => e, }",
            ),
        ];
        for (one, other) in same {
            assert_eq!(code(one), code(other), "{one} and {other}");
        }
        let different = [
            ("a < b", "a <= b"),
            ("a < 100", "a < 101"),
            ("100", "1_00"),
            ("\"a\"", "\"b\""),
            ("'a'", "\"a\""),
            ("a", "\"a\""),
            ("(a, b)", "(a b)"),
            ("(a)", "[a]"),
            ("(a) b", "(a b)"),
            ("ab", "a b"),
            ("f(a, b)", "f(b, a)"),
            ("fn a() {}", "#[cfg(test)] fn a() {}"),
            ("vec! []", "vec![allow]"),
            ("x []", "x [inline]"),
        ];
        for (one, other) in different {
            assert_ne!(code(one), code(other), "{one} and {other}");
        }
    }

    #[test]
    fn arguments_that_are_no_code_are_skipped_in_any_order() {
        let is_code = |key: &str| ["score", "empty"].contains(&key);
        let is_key = |key: &str| is_code(key) || ["name", "version"].contains(&key);
        let code = |args: &str| of_arguments(args.parse().unwrap(), &is_key, &is_code);
        let plain = code("score = f::<A, B>(x), empty = 0.0");
        assert_eq!(
            plain,
            code("name = \"n\", empty = 0.0, version = 2, score = f::<A, B>(x),")
        );
        assert_ne!(plain, code("score = f::<A, C>(x), empty = 0.0"));
        assert_ne!(plain, code("score = f::<A, B>(x), empty = 1.0"));
        assert_ne!(plain, code("score = f::<A, B>(x)"));
        assert_eq!(code("name = \"n\""), code(""));
    }
}
