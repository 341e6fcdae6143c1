//! Parses attributes. An attribute declares a table of keys, and each key parses its value into the attribute's struct.
//! A hook parses items of another form, such as the expression of a composite.
//!
//! The file is long because each kind of value has its own parser and message.

use proc_macro2::{Group, Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Error, Expr, Ident, LitFloat, LitInt, LitStr, Path, Result, Token, Type, token};

use super::errors::Errors;
use super::fingerprint;
use super::list::{self, FoundKeys};
use super::names::nearest;
use super::tokens::{as_written, parsed};
use super::values::meant_range;

/// An attribute with a table of keys.
pub(crate) trait Attribute: Sized + 'static {
    /// The attribute's name in messages.
    const NAME: &'static str;
    const KEYS: &'static [Key<Self>];
    /// An example item of the attribute, for messages.
    const EXAMPLE: &'static str = "threshold = 0.5";

    /// Parses an item that is not `key`, `key = value` or `key(..)`. Returns `None` if the next
    /// item is one of these.
    fn other_item(&mut self, _: ParseStream<'_>, _: &mut Errors) -> Option<Result<()>> {
        None
    }

    /// Returns the message for a word that is not a key, or `None` for the default. `near` is the
    /// key that the default suggests.
    fn unknown(&mut self, _: &Ident, _near: Option<&str>, _: ParseStream<'_>) -> Option<String> {
        None
    }

    /// Returns the error for an item that does not start with a word.
    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        not_a_key::<Self>(input)
    }

    /// Records that a value was written for this key but could not be parsed.
    fn unreadable(&mut self, _: &'static str) {}
}

/// A key of an attribute.
pub(crate) struct Key<A> {
    pub(crate) name: &'static str,
    kind: Kind,
    /// An example of the whole item.
    form: &'static str,
    /// The expected value in messages: `expected a number`.
    what: &'static str,
    read: Read<A>,
}

/// Parses the tokens after a key into the attribute.
pub(crate) type Read<A> = fn(&mut A, &Argument<'_>, &mut Errors) -> Result<()>;

/// The kind of a value, if the message can correct a wrong one.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// `proxy` or `truth`.
    Tier,
    Ident,
    /// A word or number without quotes.
    Word,
    /// A number or a range of numbers.
    Number,
    List,
    Type,
    Path,
    Text,
    Version,
    Cost,
    Other,
}

impl<A> Key<A> {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        form: &'static str,
        what: &'static str,
        read: Read<A>,
    ) -> Self {
        Self {
            name,
            kind,
            form,
            what,
            read,
        }
    }

    /// Returns the key with another example.
    pub(crate) const fn written(self, form: &'static str) -> Self {
        Self { form, ..self }
    }
}

/// Parses the items of an attribute. An invalid item is reported, and the others are still parsed.
pub(crate) fn parse<A: Attribute + Default>(args: TokenStream, errors: &mut Errors) -> A {
    let mut attrs = A::default();
    parse_into(&mut attrs, args, errors);
    attrs
}

/// Returns the fingerprint of the items whose keys are code. `is_other` returns `true` for words that are keys in
/// addition to the attribute's own.
pub(crate) fn code<A: Attribute>(
    args: TokenStream,
    is_code: &dyn Fn(&str) -> bool,
    is_other: &dyn Fn(&str) -> bool,
) -> u64 {
    let is_own = |word: &str| A::KEYS.iter().any(|key| key.name == word);
    let is_key = |word: &str| is_code(word) || is_own(word) || is_other(word);
    fingerprint::of_arguments(args, &is_key, is_code)
}

/// Like [`parse`], into a value that another attribute of the same item may have set.
pub(crate) fn parse_into<A: Attribute>(attrs: &mut A, args: TokenStream, errors: &mut Errors) {
    list::for_each(args, errors, |input, found_keys, errors| {
        item(attrs, input, found_keys, errors)
    });
}

fn item<A: Attribute>(
    attrs: &mut A,
    input: ParseStream<'_>,
    found_keys: &mut FoundKeys,
    errors: &mut Errors,
) -> Result<()> {
    if let Some(parsed) = attrs.other_item(input, errors) {
        return parsed;
    }
    let word = input
        .call(Ident::parse_any)
        .map_err(|_| attrs.not_a_key(input))?;
    let Some(key) = A::KEYS.iter().find(|key| word == key.name) else {
        return Err(Error::new(word.span(), unknown(attrs, &word, input)));
    };
    found_keys.add(&word, errors);
    let Key {
        kind, form, what, ..
    } = *key;
    let read = (key.read)(
        attrs,
        &Argument {
            key: &word,
            kind,
            form,
            what,
            input,
        },
        errors,
    );
    if read.is_err() {
        attrs.unreadable(key.name);
    }
    read
}

fn unknown<A: Attribute>(attrs: &mut A, word: &Ident, rest: ParseStream<'_>) -> String {
    let keys: Vec<&'static str> = A::KEYS.iter().map(|key| key.name).collect();
    // A flag has no value.
    let has_value = rest.peek(Token![=]);
    let fitting = A::KEYS
        .iter()
        .filter(|key| !has_value || !key.what.is_empty());
    let fitting: Vec<&'static str> = fitting.map(|key| key.name).collect();
    let near = nearest(&word.to_string(), &fitting);
    let message = attrs.unknown(word, near, rest);
    if let Some(near) = near {
        attrs.unreadable(near);
    }
    let (attribute, keys) = (A::NAME, one_of(&keys));
    message.unwrap_or_else(|| match near {
        Some(near) => format!("unknown key `{word}` in {attribute}; did you mean `{near}`?"),
        None => format!("unknown key `{word}` in {attribute}; expected {keys}"),
    })
}

/// Returns `a`, or one of `a`, `b`.
fn one_of(words: &[&str]) -> String {
    let list = format!("`{}`", words.join("`, `"));
    if words.len() == 1 {
        list
    } else {
        format!("one of {list}")
    }
}

/// The default of [`Attribute::not_a_key`].
pub(crate) fn not_a_key<A: Attribute>(input: ParseStream<'_>) -> Error {
    if let Ok(number) = input.fork().parse::<LitFloat>() {
        let message =
            format!("expected `key = value`, found a number; did you mean `threshold = {number}`?");
        return Error::new(number.span(), message);
    }
    let found = list::to_comma(&input.fork())
        .map(as_written)
        .unwrap_or_default();
    let (attribute, example) = (A::NAME, A::EXAMPLE);
    input.error(format!(
        "expected `key = value` in {attribute}, found `{found}`; write items such as `{example}`, separated by commas"
    ))
}

/// A key and the input after it.
pub(crate) struct Argument<'a> {
    pub(crate) key: &'a Ident,
    kind: Kind,
    form: &'static str,
    what: &'static str,
    pub(crate) input: ParseStream<'a>,
}

impl Argument<'_> {
    /// Parses `key` alone.
    pub(crate) fn flag(&self, into: &mut Option<Span>) -> Result<()> {
        let Self { key, input, .. } = self;
        *into = Some(key.span());
        if input.peek(Token![=]) || input.peek(token::Paren) || input.peek(Token![:]) {
            let value = list::to_comma(&input.fork())?;
            let message = format!("unexpected value for `{key}`; write `{key}` alone");
            return Err(Error::new_spanned(value, message));
        }
        Ok(())
    }

    /// Parses `key = value`.
    pub(crate) fn value<T: Parse>(&self, into: &mut Option<T>) -> Result<()> {
        self.value_with(into, T::parse)
    }

    /// Parses `key = value`, with `parse` for the value.
    pub(crate) fn value_with<T>(
        &self,
        into: &mut Option<T>,
        parse: impl FnOnce(ParseStream<'_>) -> Result<T>,
    ) -> Result<()> {
        self.equals()?;
        *into = Some(list::value(self.key, self.input, parse, |found| {
            self.explain(found)
        })?);
        Ok(())
    }

    /// Parses `key(..)`, with `read` for the content. Reports anything else, with the key's `what` as the whole
    /// message.
    pub(crate) fn parenthesized<T>(
        &self,
        into: &mut Option<T>,
        read: impl Fn(ParseStream<'_>) -> Result<T>,
    ) -> Result<()> {
        let found = list::to_comma(self.input)?;
        let content = |inside: ParseStream<'_>| {
            let value = read(inside)?;
            inside.parse::<Option<Token![,]>>()?;
            if inside.is_empty() {
                Ok(value)
            } else {
                Err(inside.error(""))
            }
        };
        let group = syn::parse2::<Group>(found.clone());
        let value = group.and_then(|group| content.parse2(group.stream()));
        *into = Some(value.map_err(|_| match found.is_empty() {
            true => Error::new(self.key.span(), self.what),
            false => Error::new_spanned(&found, self.what),
        })?);
        Ok(())
    }

    /// Parses `key(..)`, which contains a group's items.
    pub(crate) fn group<B: Attribute>(&self, into: &mut B, errors: &mut Errors) -> Result<()> {
        let Self {
            key, form, what, ..
        } = self;
        let found = list::to_comma(self.input)?;
        match syn::parse2::<Group>(found.clone()) {
            Ok(group) if !group.stream().is_empty() => {
                parse_into(into, group.stream(), errors);
                Ok(())
            }
            _ if found.is_empty() => {
                let message = format!("missing {what}; write `{form}`");
                Err(Error::new_spanned(key, message))
            }
            Ok(_) => {
                let message = format!("empty `{key}(..)`; write `{form}`, or remove it");
                Err(Error::new_spanned(key, message))
            }
            Err(_) => {
                let written = as_written(&found);
                let message =
                    format!("expected {what} in parentheses, found `{written}`; write `{form}`");
                Err(Error::new_spanned(found, message))
            }
        }
    }

    /// Parses the `=`.
    fn equals(&self) -> Result<()> {
        let Self {
            key, form, input, ..
        } = self;
        if input.peek(Token![=]) {
            return input.parse::<Token![=]>().map(|_| ());
        }
        let found = as_written(list::to_comma(&input.fork())?);
        if found.is_empty() {
            let message = format!("missing value for `{key}`; write `{form}`");
            return Err(Error::new_spanned(key, message));
        }
        let value = found.trim_start_matches([':', '>', ' ']);
        let inside = value.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let value = inside.unwrap_or(value).trim();
        let meant = match self.kind.repaired(value) {
            Some(repaired) => Some(repaired),
            None => self.kind.admits(value).then(|| value.to_owned()),
        };
        let item = meant.map_or_else(|| (*form).to_owned(), |value| format!("{key} = {value}"));
        let message = format!("expected `=` after `{key}`; write `{item}`");
        Err(Error::new_spanned(key, message))
    }

    /// Returns the message that names the expected tokens and `found`.
    fn explain(&self, found: &str) -> String {
        let Self {
            key, what, form, ..
        } = self;
        match self.kind.repaired(found) {
            _ if found.is_empty() => format!("missing value for `{key}`; write `{form}`"),
            Some(repaired) if !what.contains('`') || what.contains(&format!("`{repaired}`")) => {
                format!("expected {what}, found `{found}`; write `{key} = {repaired}`")
            }
            _ => format!("expected {what}, found `{found}`; write `{form}`"),
        }
    }
}

impl Kind {
    /// Returns `true` if the tokens can be such a value.
    fn admits(self, found: &str) -> bool {
        let is_text = syn::parse_str::<LitStr>(found).is_ok();
        match self {
            Self::Tier => found == "proxy" || found == "truth",
            Self::Ident | Self::Word => parsed::<Ident>(found).is_some(),
            Self::Number => found.parse::<f64>().is_ok_and(f64::is_finite) || is_range(found),
            Self::Type => parsed::<Type>(found).is_some(),
            Self::Path => parsed::<Path>(found).is_some(),
            Self::Text | Self::Cost => is_text,
            Self::Version => is_text || found.parse::<u64>().is_ok(),
            Self::List => found.starts_with('['),
            Self::Other => syn::parse_str::<Expr>(found).is_ok(),
        }
    }

    /// Returns the intended value, if only quotes or a unit are wrong.
    fn repaired(self, found: &str) -> Option<String> {
        let text = syn::parse_str::<LitStr>(found)
            .ok()
            .map(|literal| literal.value());
        let is = |fits: bool, value: String| fits.then_some(value);
        match (self, text) {
            (Self::Tier, Some(text)) => is(text == "proxy" || text == "truth", text),
            (Self::Tier | Self::Word, None) if found.contains("::") => {
                let last = found.rsplit("::").next().unwrap_or(found);
                is(parsed::<Ident>(last).is_some(), last.to_lowercase())
            }
            (Self::Ident, Some(text)) => is(parsed::<Ident>(&text).is_some(), text),
            (Self::Number, Some(text)) => match text.parse::<f64>().is_ok_and(f64::is_finite) {
                true => Some(text),
                false => meant_range(&text),
            },
            (Self::Number, None) => {
                let percent = found
                    .strip_suffix('%')
                    .and_then(|it| it.trim().parse::<f64>().ok());
                match percent {
                    Some(percent) => Some(format!("{:?}", percent / 100.0)),
                    None => meant_range(found).filter(|meant| meant != found),
                }
            }
            (Self::Word, Some(text)) => is(
                parsed::<Ident>(&text).is_some() || text.parse::<f64>().is_ok(),
                text,
            ),
            (Self::Type, Some(text)) => is(parsed::<Type>(&text).is_some(), text),
            (Self::Path, Some(text)) => is(
                parsed::<Path>(&text).is_some(),
                format!("::{}", text.trim_start_matches("::")),
            ),
            (Self::Text, None) => is(parsed::<Ident>(found).is_some(), format!("\"{found}\"")),
            (Self::Version, None) => is(found.parse::<f64>().is_ok(), format!("\"{found}\"")),
            (Self::Cost, None) if found.parse::<f64>().is_ok() => {
                let unit = if found.contains('.') { "usd" } else { "msat" };
                Some(format!("\"{found} {unit}\""))
            }
            (Self::Word, None) => {
                let whole = found
                    .parse::<f64>()
                    .ok()
                    .filter(|it| it.fract() == 0.0 && *it >= 0.0);
                whole.map(|whole| format!("{whole}"))
            }
            (Self::List, _) if found.parse::<u64>().is_ok() => Some(format!("[default; {found}]")),
            (Self::List, _) => is(!found.starts_with(['[', '=']), format!("[{found}]")),
            _ => None,
        }
    }
}

/// Returns `true` for `0.0..=1.0`.
fn is_range(text: &str) -> bool {
    let ends = text.split_once("..=");
    ends.is_some_and(|(low, high)| {
        [low, high]
            .iter()
            .all(|end| end.trim().parse::<f64>().is_ok())
    })
}

/// Parses a string or a whole number as a string.
pub(crate) fn version(input: ParseStream<'_>) -> Result<LitStr> {
    if input.peek(LitInt) {
        let number: LitInt = input.parse()?;
        return Ok(LitStr::new(number.base10_digits(), number.span()));
    }
    input.parse()
}
