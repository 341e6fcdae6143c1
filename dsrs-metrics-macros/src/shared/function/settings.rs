//! The settings in `#[metric(..)]` on a function, with spans. `check` validates them; the attributes of parameters are
//! parsed in `role.rs`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, Lit, LitInt, LitStr, Path, Token, Type};

use crate::shared::combinators::is_combinator;
use crate::shared::errors::Errors;
use crate::shared::list::{self, Seen};
use crate::shared::names::nearest;
use crate::shared::tokens::parsed;

/// A key of `#[metric(..)]`.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What its value is, in a sentence.
    pub(crate) what: &'static str,
    /// The whole item as it is written.
    pub(crate) form: &'static str,
}

pub(crate) const fn key(name: &'static str, form: &'static str, what: &'static str) -> Key {
    Key { name, what, form }
}

const KEYS: [Key; 12] = [
    key("tier", "tier = proxy", "a tier is `proxy` or `truth`"),
    key("cost", "cost = \"100 msat\"", "a cost is text with its unit"),
    key("threshold", "threshold = 0.5", "a threshold is a number"),
    key("range", "range = 0.0..=1.0", "a range goes from one number to another"),
    key("lower_is_better", "lower_is_better", ""),
    key("strict", "strict", ""),
    key("name", "name = \"exact_match\"", "a metric's name is text"),
    key("struct", "struct = ExactMatch", "the struct's name is an identifier"),
    key("gold", "gold = RowType", "the gold row is a type"),
    key("pred", "pred = RowType", "the predicted row is a type"),
    key("version", "version = \"2\"", "a version is text or a whole number"),
    key("crate", "crate = ::dsrs_metrics", "the crate is a path"),
];

/// `#[metric(..)]` as written.
#[derive(Default)]
pub(crate) struct MetricAttrs {
    pub(crate) tier: Option<Ident>,
    pub(crate) cost: Option<LitStr>,
    pub(crate) threshold: Option<Expr>,
    pub(crate) range: Option<Expr>,
    pub(crate) lower_is_better: Option<Span>,
    pub(crate) strict: Option<Span>,
    pub(crate) name: Option<LitStr>,
    pub(crate) struct_name: Option<Ident>,
    pub(crate) gold: Option<Type>,
    pub(crate) pred: Option<Type>,
    pub(crate) version: Option<LitStr>,
    pub(crate) krate: Option<Path>,
    /// The keys whose values could not be read, so that nothing more is said of their absence.
    pub(crate) unreadable: Vec<String>,
}

impl MetricAttrs {
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
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
        let ident = input.call(Ident::parse_any).map_err(|_| not_a_key(input))?;
        let name = ident.to_string();
        if is_combinator(&name) && input.peek(syn::token::Paren) {
            let message = format!(
                "`{name}(..)` makes one metric of several, and stands on a unit struct: write `#[metric({name}(..))] struct Name;`"
            );
            return Err(Error::new(ident.span(), message));
        }
        let Some(key) = KEYS.iter().find(|key| key.name == name) else {
            self.unreadable.extend(near_key(&name).map(str::to_owned));
            return Err(Error::new(ident.span(), unknown_key(&name)));
        };
        seen.note(&ident, errors);
        self.read(key, &ident, input)
    }

    /// Reads what stands after a key that `#[metric]` shares with another attribute.
    pub(crate) fn shared(&mut self, ident: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match KEYS.iter().find(|key| ident == key.name) {
            Some(key) => self.read(key, ident, input),
            None => Err(Error::new(ident.span(), unknown_key(&ident.to_string()))),
        }
    }

    fn read(&mut self, key: &Key, ident: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let read = if key.what.is_empty() {
            self.flag(ident, input)
        } else {
            after_equals(ident, key.form, input).and_then(|()| self.value(key, ident, input))
        };
        if read.is_err() {
            self.unreadable.push(key.name.to_owned());
        }
        read
    }

    fn flag(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let span = Some(key.span());
        *(if key == "strict" { &mut self.strict } else { &mut self.lower_is_better }) = span;
        if input.peek(Token![=]) || input.peek(syn::token::Paren) {
            let value = list::to_comma(&input.fork())?;
            let message = format!("`{key}` takes no value: write `{key}` alone");
            return Err(Error::new_spanned(value, message));
        }
        Ok(())
    }

    fn value(&mut self, key: &Key, ident: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        let explain = |found: &str| key.explain(found);
        match key.name {
            "tier" => self.tier = Some(list::value(ident, input, Parse::parse, explain)?),
            "cost" => self.cost = Some(list::value(ident, input, Parse::parse, explain)?),
            "threshold" => {
                self.threshold = Some(list::value(ident, input, Parse::parse, explain)?);
            }
            "range" => self.range = Some(list::value(ident, input, Parse::parse, explain)?),
            "name" => self.name = Some(list::value(ident, input, Parse::parse, explain)?),
            "struct" => self.struct_name = Some(list::value(ident, input, Parse::parse, explain)?),
            "gold" => self.gold = Some(list::value(ident, input, Parse::parse, explain)?),
            "pred" => self.pred = Some(list::value(ident, input, Parse::parse, explain)?),
            "version" => self.version = Some(list::value(ident, input, version, explain)?),
            _ => self.krate = Some(list::value(ident, input, Path::parse_mod_style, explain)?),
        }
        Ok(())
    }

    /// Whether something was written for a key, readable or not.
    pub(crate) fn mentions_threshold(&self) -> bool {
        self.threshold.is_some() || self.unreadable.iter().any(|key| key == "threshold")
    }
}

impl Key {
    /// What to write instead of `found`.
    pub(crate) fn explain(&self, found: &str) -> String {
        let Self { name, what, form } = self;
        match self.repaired(found) {
            _ if found.is_empty() => format!("`{name}` needs a value: write `{form}`"),
            Some(repaired) => format!("{what}: write `{name} = {repaired}`"),
            None => format!("{what}, not `{found}`: write `{form}`"),
        }
    }

    /// The value that was meant, where only the quotes or the unit are wrong.
    fn repaired(&self, found: &str) -> Option<String> {
        let text = syn::parse_str::<LitStr>(found).ok().map(|literal| literal.value());
        let is = |fits: bool, value: String| fits.then_some(value);
        match (self.name, text) {
            ("tier", Some(text)) => is(text == "proxy" || text == "truth", text),
            ("struct", Some(text)) => is(parsed::<Ident>(&text).is_some(), text),
            ("gold" | "pred", Some(text)) => is(parsed::<Type>(&text).is_some(), text),
            ("crate", Some(text)) => {
                is(parsed::<Path>(&text).is_some(), format!("::{}", text.trim_start_matches("::")))
            }
            ("name", None) => is(parsed::<Ident>(found).is_some(), format!("\"{found}\"")),
            ("version", None) => is(found.parse::<f64>().is_ok(), format!("\"{found}\"")),
            ("cost" | "budget", None) => {
                is(found.parse::<u64>().is_ok(), format!("\"{found} msat\""))
            }
            _ => None,
        }
    }
}

/// Takes the `=` behind a key whose whole item is written like `form`.
pub(crate) fn after_equals(ident: &Ident, form: &str, input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![=]) {
        return input.parse::<Token![=]>().map(|_| ());
    }
    let message = match list::to_comma(&input.fork())?.is_empty() {
        true => format!("`{ident}` needs a value: write `{form}`"),
        false => format!("`{ident}` takes its value after `=`: write `{form}`"),
    };
    Err(Error::new_spanned(ident, message))
}

pub(crate) fn version(input: ParseStream<'_>) -> syn::Result<LitStr> {
    if input.peek(LitInt) {
        let number: LitInt = input.parse()?;
        return Ok(LitStr::new(number.base10_digits(), number.span()));
    }
    input.parse()
}

fn not_a_key(input: ParseStream<'_>) -> Error {
    match input.fork().parse::<Lit>() {
        Ok(Lit::Str(text)) => {
            let message = format!("a text alone says nothing: write `name = {:?}`", text.value());
            Error::new(text.span(), message)
        }
        Ok(Lit::Float(number)) => Error::new(
            number.span(),
            format!("a number alone says nothing: write `threshold = {number}`"),
        ),
        _ => {
            input.error("`#[metric]` takes items like `threshold = 0.5`, with commas between them")
        }
    }
}

fn near_key(name: &str) -> Option<&'static str> {
    nearest(name, &KEYS.map(|key| key.name))
}

fn unknown_key(name: &str) -> String {
    match near_key(name) {
        Some(near) => format!("`#[metric]` has no `{name}`; did you mean `{near}`?"),
        None => {
            let keys = KEYS.map(|key| key.name).join("`, `");
            format!("`#[metric]` has no `{name}`; it takes `{keys}`")
        }
    }
}
