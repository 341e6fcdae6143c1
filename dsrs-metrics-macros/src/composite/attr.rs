//! What stands inside `#[metric(..)]` on a struct: one combination of metrics, and settings of the whole.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, LitStr, Path, Token, token};

use super::expression::Expression;
use crate::shared::combinators::{is_combinator, nearest_combinator};
use crate::shared::errors::Errors;
use crate::shared::function::settings::{Key, after_equals, key, version};
use crate::shared::list::{self, Seen};
use crate::shared::names::nearest;
use crate::shared::tokens::as_written;

const KEYS: [Key; 8] = [
    key("threshold", "threshold = 0.5", "a threshold is a number"),
    key("budget", "budget = \"600 msat\"", "a budget is text with its unit"),
    key("tier", "tier = truth", "a tier is `proxy` or `truth`"),
    key("strict", "strict", ""),
    key("on_missing", "on_missing = skip", "what becomes of a missing component is a word"),
    key("name", "name = \"heritage_rag\"", "a metric's name is text"),
    key("version", "version = \"2\"", "a version is text or a whole number"),
    key("crate", "crate = ::dsrs_metrics", "the crate is a path"),
];

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
    pub(super) whole: Option<Expression>,
    pub(super) threshold: Option<Expr>,
    pub(super) budget: Option<LitStr>,
    pub(super) tier: Option<Ident>,
    pub(super) strict: Option<Span>,
    pub(super) on_missing: Option<Ident>,
    pub(super) name: Option<LitStr>,
    pub(super) version: Option<LitStr>,
    pub(super) krate: Option<Path>,
    /// Whether a combination was begun, readable or not.
    pub(super) has_whole: bool,
    /// The keys whose values could not be read, so that nothing more is said of their absence.
    pub(super) unreadable: Vec<String>,
}

impl CompositeAttrs {
    pub(super) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        list::for_each(args, errors, |input, seen, errors| attrs.item(input, seen, errors));
        attrs
    }

    fn item(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Seen,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let ahead = input.fork();
        let Ok(ident) = ahead.call(Ident::parse_any) else {
            return Err(input.error("`#[metric]` on a struct takes a combination of metrics, such as `weighted(..)`, and items like `threshold = 0.5`"));
        };
        let name = ident.to_string();
        if is_combinator(&name) {
            return self.combination(&ident, input, errors);
        }
        let Some(key) = KEYS.iter().find(|key| key.name == name) else {
            return Err(self.no_key(&ident, &ahead));
        };
        input.call(Ident::parse_any)?;
        seen.note(&ident, errors);
        let read = if key.what.is_empty() {
            self.flag(&ident, input)
        } else {
            after_equals(&ident, key.form, input).and_then(|()| self.value(key, &ident, input))
        };
        if read.is_err() {
            self.unreadable.push(name);
        }
        read
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

    /// What was meant by a word that is no key.
    fn no_key(&mut self, ident: &Ident, ahead: ParseStream<'_>) -> Error {
        let name = ident.to_string();
        let at = |message: String| Error::new(ident.span(), message);
        if let Some((_, message)) = DERIVED.iter().find(|(key, _)| *key == name) {
            return at((*message).to_owned());
        }
        let keys = KEYS.map(|key| key.name);
        if ahead.peek(token::Paren) {
            self.has_whole = true;
            if let Some(near) = nearest_combinator(&name) {
                return at(format!("there is no `{name}(..)`; did you mean `{near}(..)`?"));
            }
        }
        if let Some(near) = nearest(&name, &keys) {
            self.unreadable.push(near.to_owned());
            return at(format!("`#[metric]` on a struct has no `{name}`; did you mean `{near}`?"));
        }
        if ahead.peek(Token![=]) && !ahead.peek(Token![==]) {
            let has_whole = self.has_whole;
            self.has_whole = true;
            return at(if has_whole {
                let keys = keys.join("`, `");
                format!("`#[metric]` on a struct has no `{name}`; it takes `{keys}`")
            } else {
                format!("weights stand inside the combination: write `weighted({name} = ..)`")
            });
        }
        self.has_whole = true;
        at(format!(
            "a composite puts `{name}` together with others: write `all({name} >= 0.9, ..)` or `weighted({name} = 0.5, ..)`"
        ))
    }

    fn flag(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        self.strict = Some(key.span());
        if input.peek(Token![=]) || input.peek(token::Paren) {
            let value = list::to_comma(&input.fork())?;
            let message = format!("`{key}` takes no value: write `{key}` alone");
            return Err(Error::new_spanned(value, message));
        }
        Ok(())
    }

    fn value(&mut self, key: &Key, ident: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let explain = |found: &str| key.explain(found);
        match key.name {
            "threshold" => {
                self.threshold = Some(list::value(ident, input, Parse::parse, explain)?);
            }
            "budget" => self.budget = Some(list::value(ident, input, Parse::parse, explain)?),
            "tier" => self.tier = Some(list::value(ident, input, Parse::parse, explain)?),
            "on_missing" => {
                self.on_missing = Some(list::value(ident, input, Parse::parse, explain)?);
            }
            "name" => self.name = Some(list::value(ident, input, Parse::parse, explain)?),
            "version" => self.version = Some(list::value(ident, input, version, explain)?),
            _ => self.krate = Some(list::value(ident, input, Path::parse_mod_style, explain)?),
        }
        Ok(())
    }

    /// Whether something was written for the threshold, readable or not.
    pub(super) fn mentions_threshold(&self) -> bool {
        self.threshold.is_some() || self.unreadable.iter().any(|key| key == "threshold")
    }
}
