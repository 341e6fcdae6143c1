//! The groups of keys in `#[judge(..)]`: `panel(..)`, `turns(..)` and `scoring(..)`. Every key belongs in one place: a
//! key outside of its group is reported, and then read as if it were inside.
//!
//! The file is long because each key of a group has its own value and message.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, LitInt};

use super::attr::{JudgeAttrs, Models, models};
use crate::shared::attrs::{self, Attribute, Key, Kind, Read};
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::names::nearest;
use crate::shared::tokens::as_written;

/// `panel(..)`: the models that judge.
#[derive(Default)]
pub(crate) struct PanelAttrs {
    pub(crate) models: Option<Models>,
    pub(crate) aggregation: Option<Ident>,
    pub(crate) max_concurrent: Option<LitInt>,
    pub(crate) quorum: Option<LitInt>,
}

/// `turns(..)`: the messages of a conversation that are judged one by one.
pub(crate) struct TurnsAttrs {
    pub(crate) span: Span,
    /// The role whose messages are judged.
    pub(crate) of: Option<Ident>,
    pub(crate) window: Option<LitInt>,
    pub(crate) max: Option<LitInt>,
    pub(crate) reduce: Option<Ident>,
    is_unreadable: bool,
}

/// `scoring(..)`: how a model's answers become a score.
#[derive(Default)]
pub(crate) struct ScoringAttrs {
    pub(crate) by: Option<Scoring>,
    pub(crate) temperature: Option<Expr>,
    pub(crate) max_tokens: Option<LitInt>,
}

/// `text`, `logprobs` or `draws(20)`.
pub(crate) struct Scoring {
    pub(crate) word: Ident,
    pub(crate) draws: Option<LitInt>,
}

impl Parse for Scoring {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let word = input.call(<Ident as syn::ext::IdentExt>::parse_any)?;
        let draws = match input.peek(syn::token::Paren) {
            true => Some(input.parse::<Group>()?),
            false => None,
        };
        let draws = draws
            .map(|group| syn::parse2::<LitInt>(group.stream()))
            .transpose()?;
        Ok(Self { word, draws })
    }
}

/// Declares a key of a group.
const fn own<A>(
    name: &'static str,
    form: &'static str,
    what: &'static str,
    read: Read<A>,
) -> Key<A> {
    Key::new(name, Kind::Word, form, what, read)
}

/// Returns the error for a value without a key.
fn without_key<A: Attribute>(key: &str, input: ParseStream<'_>) -> Error {
    let found = input
        .fork()
        .parse::<TokenStream>()
        .map(as_written)
        .unwrap_or_default();
    let group = A::NAME;
    input.error(format!(
        "expected `key = value` in {group}, found `{found}`; write `{key} = {found}`"
    ))
}

/// Returns the message for a value that is written like a key.
fn value_as_key(word: &Ident, key: &str, values: &[&str], rest: ParseStream<'_>) -> Option<String> {
    let meant = nearest(&word.to_string(), values)?;
    let arguments = match rest.fork().parse::<Group>() {
        Ok(group) => as_written(group),
        Err(_) => String::new(),
    };
    Some(format!(
        "expected `key = value`, found `{word}`; write `{key} = {meant}{arguments}`"
    ))
}

/// Returns the message for a key that has another name outside of its group.
fn named_as_outside(word: &Ident, group: &str) -> Option<String> {
    let of_group = OUTSIDE.iter().filter(|(_, of, _)| *of == group);
    let names: Vec<&str> = of_group.map(|(name, _, _)| *name).collect();
    let near = nearest(&word.to_string(), &names)?;
    let (_, _, key) = OUTSIDE.iter().find(|(name, _, _)| *name == near)?;
    Some(format!(
        "unknown key `{word}` in `{group}(..)`; did you mean `{key}`?"
    ))
}

impl Attribute for PanelAttrs {
    const NAME: &'static str = "`panel(..)`";
    const EXAMPLE: &'static str = "models = [default; 3]";
    const KEYS: &'static [Key<Self>] = &[
        Key::new(
            "models",
            Kind::List,
            "models = [default; 3]",
            "a list of models",
            |panel, it, _| models(&mut panel.models, it),
        ),
        own(
            "aggregation",
            "aggregation = median",
            "`majority`, `median` or `average`",
            |panel, it, _| it.value(&mut panel.aggregation),
        ),
        own(
            "max_concurrent",
            "max_concurrent = 2",
            "a whole number",
            |panel, it, _| it.value(&mut panel.max_concurrent),
        ),
        own("quorum", "quorum = 2", "a whole number", |panel, it, _| {
            it.value(&mut panel.quorum)
        }),
    ];

    fn unknown(
        &mut self,
        word: &Ident,
        near: Option<&str>,
        rest: ParseStream<'_>,
    ) -> Option<String> {
        match near {
            Some(_) => None,
            None => value_as_key(
                word,
                "aggregation",
                &["majority", "median", "average"],
                rest,
            )
            .or_else(|| named_as_outside(word, "panel")),
        }
    }

    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        match input.fork().parse::<LitInt>() {
            Ok(times) => input.error(format!(
                "expected `key = value` in `panel(..)`, found `{times}`; write `models = [default; {times}]`"
            )),
            Err(_) => without_key::<Self>("models", input),
        }
    }
}

impl Attribute for TurnsAttrs {
    const NAME: &'static str = "`turns(..)`";
    const EXAMPLE: &'static str = "of = assistant";
    const KEYS: &'static [Key<Self>] = &[
        own(
            "of",
            "of = assistant",
            "`assistant` or `user`",
            |turns, it, _| it.value(&mut turns.of),
        ),
        own("window", "window = 10", "a whole number", |turns, it, _| {
            it.value(&mut turns.window)
        }),
        own("max", "max = 100", "a whole number", |turns, it, _| {
            it.value(&mut turns.max)
        }),
        own(
            "reduce",
            "reduce = mean",
            "`mean`, `min` or `max`",
            |turns, it, _| it.value(&mut turns.reduce),
        ),
    ];

    fn unknown(
        &mut self,
        word: &Ident,
        near: Option<&str>,
        rest: ParseStream<'_>,
    ) -> Option<String> {
        let value = value_as_key(word, "of", &["assistant", "user"], rest);
        self.is_unreadable |= value.is_some();
        match near {
            Some(_) => value,
            None => value.or_else(|| named_as_outside(word, "turns")),
        }
    }

    fn unreadable(&mut self, key: &'static str) {
        self.is_unreadable |= key == "of";
    }
}

impl TurnsAttrs {
    pub(super) const fn at(span: Span) -> Self {
        Self {
            span,
            of: None,
            window: None,
            max: None,
            reduce: None,
            is_unreadable: false,
        }
    }

    /// Returns `true` if the role is missing.
    pub(crate) fn lacks_role(&self) -> bool {
        self.of.is_none() && !self.is_unreadable
    }
}

impl Attribute for ScoringAttrs {
    const NAME: &'static str = "`scoring(..)`";
    const EXAMPLE: &'static str = "by = logprobs";
    const KEYS: &'static [Key<Self>] = &[
        own(
            "by",
            "by = logprobs",
            "`text`, `logprobs` or `draws(20)`",
            |scoring, it, _| it.value(&mut scoring.by),
        ),
        own(
            "temperature",
            "temperature = 0.0",
            "a number",
            |scoring, it, _| it.value(&mut scoring.temperature),
        ),
        own(
            "max_tokens",
            "max_tokens = 1024",
            "a whole number",
            |scoring, it, _| it.value(&mut scoring.max_tokens),
        ),
    ];

    fn unknown(
        &mut self,
        word: &Ident,
        near: Option<&str>,
        rest: ParseStream<'_>,
    ) -> Option<String> {
        match near {
            Some(_) if word != "text" => None,
            _ => value_as_key(word, "by", &["text", "logprobs", "draws"], rest),
        }
    }
}

/// Keys written outside of their groups, as in earlier versions: the name of the key there, its group, and its name in
/// the group.
const OUTSIDE: [(&str, &str, &str); 14] = [
    ("models", "panel", "models"),
    ("panel", "panel", "models"),
    ("aggregation", "panel", "aggregation"),
    ("max_concurrent_judges", "panel", "max_concurrent"),
    ("max_concurrent", "panel", "max_concurrent"),
    ("quorum", "panel", "quorum"),
    ("turns", "turns", "of"),
    ("window", "turns", "window"),
    ("max_turns", "turns", "max"),
    ("reduce", "turns", "reduce"),
    ("scoring", "scoring", "by"),
    ("draws", "scoring", "by"),
    ("temperature", "scoring", "temperature"),
    ("max_tokens", "scoring", "max_tokens"),
];

/// An item of the attribute whose key belongs in a group.
struct Outside {
    word: Ident,
    group: &'static str,
    key: &'static str,
    inside: TokenStream,
}

impl Outside {
    fn of(item: &[TokenTree]) -> Option<Self> {
        let [TokenTree::Ident(word), rest @ ..] = item else {
            return None;
        };
        let (name, group, key) = *OUTSIDE.iter().find(|(name, _, _)| word == name)?;
        if name == group && matches!(rest, [] | [TokenTree::Group(_)]) {
            return None;
        }
        let ident = Ident::new(key, word.span());
        let inside = match rest {
            [TokenTree::Punct(_), count] if name == "draws" => quote!(#ident = #word(#count)),
            rest if name == "draws" => quote!(#ident = #word #(#rest)*),
            [TokenTree::Group(group)] => {
                let value = group.stream();
                quote!(#ident = #value)
            }
            rest => quote!(#ident #(#rest)*),
        };
        Some(Self {
            word: word.clone(),
            group,
            key,
            inside,
        })
    }
}

/// Returns the tokens of each item.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let items = list::items(tokens).into_iter();
    items.map(|item| item.into_iter().collect()).collect()
}

/// Reports the keys outside of their groups, and moves them into their groups.
pub(super) fn regroup(args: TokenStream, errors: &mut Errors) -> TokenStream {
    let items = split(args.clone());
    let mut outside: Vec<Outside> = items.iter().filter_map(|item| Outside::of(item)).collect();
    if outside.is_empty() {
        return args;
    }
    let mut kept: Vec<TokenStream> = Vec::new();
    let mut groups: Vec<(&str, Vec<TokenStream>)> = Vec::new();
    for item in items.iter().filter(|item| !item.is_empty()) {
        match group(item) {
            Some((name, content)) => groups.push((name, vec![content])),
            None if Outside::of(item).is_none() => kept.push(item.iter().cloned().collect()),
            None => {}
        }
    }
    for name in ["panel", "turns", "scoring"] {
        let (moved, rest): (Vec<_>, Vec<_>) =
            outside.into_iter().partition(|item| item.group == name);
        outside = rest;
        let Some(first) = moved.first().map(|item| item.word.clone()) else {
            continue;
        };
        let written = groups.iter().position(|(group, _)| *group == name);
        let mut content = written.map_or_else(Vec::new, |at| groups.remove(at).1);
        if name == "turns" && written.is_none() && !moved.iter().any(|item| item.key == "of") {
            content.push(quote!(of = assistant));
        }
        content.extend(moved.iter().map(|item| item.inside.clone()));
        let inside = as_written(quote!(#(#content),*));
        let word = |item: &Outside| match item.word == name {
            true => format!("`{} =`", item.word),
            false => format!("`{}`", item.word),
        };
        let words: Vec<_> = moved.iter().map(word).collect();
        let words = words.join(", ");
        errors.at(
            first,
            format!("expected `{name}(..)`, found {words}; write `{name}({inside})`"),
        );
        groups.push((name, content));
    }
    let groups = groups.into_iter().map(|(name, content)| {
        let name = Ident::new(name, Span::call_site());
        quote!(#name(#(#content),*))
    });
    let items = kept.into_iter().chain(groups);
    quote!(#(#items),*)
}

/// Returns the name and content of a group of keys.
fn group(item: &[TokenTree]) -> Option<(&'static str, TokenStream)> {
    let [TokenTree::Ident(word), TokenTree::Group(group)] = item else {
        return None;
    };
    let (name, _, _) = OUTSIDE
        .iter()
        .find(|(name, group, _)| name == group && word == name)?;
    Some((name, group.stream()))
}

/// Returns the items with grouped keys moved outside of their groups, under the names that the fingerprint of a judge's
/// code uses for them.
fn ungrouped(args: TokenStream) -> TokenStream {
    let mut flat: Vec<TokenStream> = Vec::new();
    for item in split(args) {
        let Some((name, content)) = group(&item) else {
            flat.push(item.into_iter().collect());
            continue;
        };
        for inner in split(content) {
            let [TokenTree::Ident(key), rest @ ..] = &inner[..] else {
                continue;
            };
            let is_it = |(_, group, inside): &&(&str, &str, &str)| *group == name && key == inside;
            let flat_name = OUTSIDE
                .iter()
                .find(is_it)
                .map_or_else(|| key.clone(), |(name, _, _)| Ident::new(name, key.span()));
            flat.push(quote!(#flat_name #(#rest)*));
        }
    }
    quote!(#(#flat),*)
}

/// Returns the fingerprint of the settings that `is_code` selects, under the names that they have outside of their
/// groups.
pub(super) fn code(args: TokenStream, is_code: &dyn Fn(&str) -> bool) -> u64 {
    attrs::code::<JudgeAttrs>(ungrouped(args), &|key| is_code(key), &|word| {
        OUTSIDE.iter().any(|(name, _, _)| word == *name)
    })
}

/// Returns what to write for a word that is nearly a key of a group.
pub(super) fn nearly_outside(word: &Ident, rest: ParseStream<'_>) -> Option<String> {
    let names: Vec<&str> = OUTSIDE.iter().map(|(name, _, _)| *name).collect();
    let near = nearest(&word.to_string(), &names)?;
    let meant = Ident::new(near, word.span());
    let value = list::to_comma(&rest.fork()).ok()?;
    let item: Vec<TokenTree> = quote!(#meant #value).into_iter().collect();
    let Outside { group, inside, .. } = Outside::of(&item)?;
    let role = match group == "turns" && near != "turns" {
        true => "of = assistant, ",
        false => "",
    };
    Some(format!(
        "unknown key `{word}` in `#[judge]`; write `{group}({role}{})`",
        as_written(inside)
    ))
}

#[cfg(test)]
mod tests {
    use super::{Errors, code, regroup};
    use crate::shared::fingerprint;

    /// The keys had no groups when the first fingerprints were stored.
    #[test]
    fn groups_change_no_fingerprint() {
        let is_code =
            |key: &str| ["score", "turns", "window", "max_turns", "scoring"].contains(&key);
        let is_key = |key: &str| is_code(key) || key == "quorum" || key == "models";
        let flat = "score = a < b, turns = user, models([x, y]), quorum = 2, window = 3, max_turns = 4, scoring = draws(5)";
        let stored = fingerprint::of_arguments(flat.parse().unwrap(), &is_key, &is_code);
        let grouped = "panel(quorum = 2, models = [x, y]), scoring(by = draws(5)), turns(max = 4, of = user, window = 3), score = a < b";
        assert_eq!(code(grouped.parse().unwrap(), &is_code), stored);
        let mut errors = Errors::default();
        let moved = regroup(flat.parse().unwrap(), &mut errors);
        assert!(!errors.is_empty());
        errors.finish();
        assert_eq!(code(moved, &is_code), stored);
        let other = grouped.replace("window = 3", "window = 4");
        assert_ne!(code(other.parse().unwrap(), &is_code), stored);
    }
}
