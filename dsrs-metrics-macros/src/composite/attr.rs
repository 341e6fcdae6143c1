//! What stands inside `#[metric(..)]` on a struct: one combination of metrics, and settings of the whole.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Ident, Token, token};

use super::expression::Expression;
use crate::shared::attrs::{self, Attribute, Key};
use crate::shared::combinators::{is_combinator, nearest_combinator};
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;

/// What a function's `#[metric]` takes and a composite's does not, and what to do instead.
const DERIVED: [(&str, &str); 6] = [
    (
        "cost",
        "a composite costs what its components cost: take `cost` away; for a limit write `budget = \"600 msat\"`",
    ),
    ("range", "a composite's range follows from its components': take `range` away"),
    (
        "lower_is_better",
        "a composite is higher-is-better: take `lower_is_better` away, and write `invert(..)` round what is not",
    ),
    ("struct", "a composite is called what its struct is called: rename the struct"),
    ("gold", "a composite is over the rows of its components: take `gold` away"),
    ("pred", "a composite is over the rows of its components: take `pred` away"),
];

/// `#[metric(..)]` as written.
#[derive(Default)]
pub(super) struct CompositeAttrs {
    pub(super) settings: Settings,
    pub(super) whole: Option<Expression>,
    /// Whether a combination was begun, readable or not.
    pub(super) has_whole: bool,
}

impl AsMut<Settings> for CompositeAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }
}

impl Attribute for CompositeAttrs {
    const NAME: &'static str = "`#[metric]` on a struct";
    const KEYS: &'static [Key<Self>] = &[
        Key::THRESHOLD,
        Key::BUDGET,
        Key::TIER.written("tier = truth"),
        Key::STRICT,
        Key::ON_MISSING,
        Key::NAME,
        Key::VERSION,
        Key::CRATE,
    ];

    fn other_item(
        &mut self,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> Option<syn::Result<()>> {
        let word = input.fork().call(Ident::parse_any).ok()?;
        is_combinator(&word.to_string()).then(|| self.combination(&word, input, errors))
    }

    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        input.error("`#[metric]` on a struct takes a combination of metrics, such as `weighted(..)`, and items like `threshold = 0.5`")
    }

    fn unknown(
        &mut self,
        word: &Ident,
        near: Option<&str>,
        rest: ParseStream<'_>,
    ) -> Option<String> {
        let name = word.to_string();
        if let Some((_, message)) = DERIVED.iter().find(|(key, _)| *key == name) {
            return Some((*message).to_owned());
        }
        if rest.peek(token::Paren) {
            self.has_whole = true;
            if let Some(near) = nearest_combinator(&name) {
                return Some(format!("there is no `{name}(..)`; did you mean `{near}(..)`?"));
            }
        }
        if near.is_some() {
            return None;
        }
        let had_whole = std::mem::replace(&mut self.has_whole, true);
        if !rest.peek(Token![=]) || rest.peek(Token![==]) {
            return Some(format!(
                "a composite puts `{name}` together with others: write `all({name} >= 0.9, ..)` or `weighted({name} = 0.5, ..)`"
            ));
        }
        (!had_whole)
            .then(|| format!("weights stand inside the combination: write `weighted({name} = ..)`"))
    }

    fn unreadable(&mut self, key: &'static str) {
        self.settings.unreadable.push(key);
    }
}

impl CompositeAttrs {
    pub(super) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        attrs::parse(args, errors)
    }

    fn combination(
        &mut self,
        word: &Ident,
        input: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        if self.has_whole {
            let message =
                "one combination makes the whole: put it inside the first, or take one away";
            errors.at(word, message);
        }
        self.has_whole = true;
        let whole = Expression::parse(input, errors)?;
        if input.peek(Token![>=]) {
            let ahead = input.fork();
            ahead.parse::<Token![>=]>()?;
            let bound = as_written(list::to_comma(&ahead)?);
            return Err(input.error(format!(
                "the whole passes at its threshold: write `threshold = {bound}` behind `{word}(..)`"
            )));
        }
        self.whole.get_or_insert(whole);
        Ok(())
    }
}
