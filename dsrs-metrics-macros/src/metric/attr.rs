//! The keys of `#[metric(..)]` on a function.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Ident, LitStr, token};

use crate::shared::attrs::{self, Attribute, Key};
use crate::shared::combinators::is_combinator;
use crate::shared::errors::Errors;
use crate::shared::settings::Settings;

#[derive(Default)]
struct MetricAttrs(Settings);

/// Parses `#[metric(args)]` on a function.
pub(super) fn parse(args: TokenStream, errors: &mut Errors) -> Settings {
    attrs::parse::<MetricAttrs>(args, errors).0
}

impl AsMut<Settings> for MetricAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.0
    }
}

impl Attribute for MetricAttrs {
    const NAME: &'static str = "`#[metric]`";
    const KEYS: &'static [Key<Self>] = &[
        Key::TIER,
        Key::COST,
        Key::THRESHOLD,
        Key::RANGE,
        Key::LOWER_IS_BETTER,
        Key::STRICT,
        Key::CORPUS,
        Key::MISSING,
        Key::NAME,
        Key::STRUCT,
        Key::GOLD,
        Key::PRED,
        Key::EXPLAIN,
        Key::VERSION,
        Key::CRATE,
    ];

    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        match input.fork().parse::<LitStr>() {
            Ok(text) => {
                let message = format!(
                    "expected `key = value`, found a string literal; did you mean `name = {:?}`?",
                    text.value()
                );
                Error::new(text.span(), message)
            }
            Err(_) => attrs::not_a_key::<Self>(input),
        }
    }

    fn unknown(&mut self, word: &Ident, _: Option<&str>, rest: ParseStream<'_>) -> Option<String> {
        let word = word.unraw().to_string();
        (is_combinator(&word) && rest.peek(token::Paren)).then(|| format!(
            "expected a unit struct, because `{word}(..)` defines a composite; write `#[metric({word}(..))] struct Name;`"
        ))
    }

    fn unreadable(&mut self, key: &'static str) {
        self.0.unreadable.push(key);
    }
}
