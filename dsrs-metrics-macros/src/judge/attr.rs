//! What stands inside `#[judge(..)]`, with spans and without judgement. Keys that mean the same as in
//! `#[metric(..)]` are read there; the attributes of fields are in `field.rs`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Error, Expr, Ident, Lit, LitBool, LitInt, Path, Token};

use crate::errors::Errors;
use crate::list::{self, Seen};
use crate::metric::attr::{MetricAttrs, after_equals};
use crate::names::{as_written, nearest};

/// The keys that `#[judge]` shares with `#[metric]`.
const SHARED: [&str; 9] = [
    "threshold",
    "cost",
    "range",
    "lower_is_better",
    "strict",
    "name",
    "struct",
    "version",
    "crate",
];

/// The keys of its own, how each is written as a whole, and what its value is.
const OWN: [(&str, &str, &str); 10] = [
    (
        "score",
        "score = harmonic_mean(precision, recall)",
        "a score is an expression over the outputs",
    ),
    ("reasoning", "reasoning = false", "`reasoning` is on or off"),
    ("temperature", "temperature = 0.0", "a temperature is a number"),
    ("max_tokens", "max_tokens = 1024", "a limit of tokens is a whole number"),
    (
        "pairwise",
        "pairwise(first, second)",
        "a pairwise judge names the two inputs that it compares",
    ),
    ("models", "models([\"openai:gpt-5-mini\"; 3])", "the models are a list"),
    ("aggregation", "aggregation = median", "an aggregation is `majority`, `median` or `average`"),
    ("max_concurrent_judges", "max_concurrent_judges = 2", "a number of judges is a whole number"),
    ("quorum", "quorum = 2", "a quorum is a whole number of judges"),
    ("offline", "offline = path::to::function", "an offline judge is a function"),
];

/// `#[judge(..)]` as written.
#[derive(Default)]
pub(crate) struct JudgeAttrs {
    pub(crate) metric: MetricAttrs,
    pub(crate) score: Option<Expr>,
    pub(crate) reasoning: Option<LitBool>,
    pub(crate) temperature: Option<Expr>,
    pub(crate) max_tokens: Option<LitInt>,
    pub(crate) pairwise: Option<Pairwise>,
    pub(crate) models: Option<Models>,
    pub(crate) aggregation: Option<Ident>,
    pub(crate) max_concurrent: Option<LitInt>,
    pub(crate) quorum: Option<LitInt>,
    pub(crate) offline: Option<Path>,
}

/// `pairwise(first, second)`.
pub(crate) struct Pairwise {
    pub(crate) span: Span,
    pub(crate) first: Ident,
    pub(crate) second: Ident,
}

/// `models([a, b])` or `models([a; 3])`.
pub(crate) struct Models {
    pub(crate) span: Span,
    pub(crate) list: Vec<Expr>,
    pub(crate) times: Option<LitInt>,
}

impl Models {
    /// How many judges these are, if that is written out.
    pub(crate) fn count(&self) -> Option<usize> {
        match &self.times {
            Some(times) => times.base10_parse().ok(),
            None => Some(self.list.len()),
        }
    }
}

impl JudgeAttrs {
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
        if SHARED.contains(&name.as_str()) {
            seen.note(&ident, errors);
            return self.metric.shared(&ident, input);
        }
        let Some((key, form, what)) = OWN.iter().find(|(key, ..)| *key == name) else {
            self.metric.unreadable.extend(near_key(&name).map(str::to_owned));
            return Err(Error::new(ident.span(), unknown_key(&name)));
        };
        seen.note(&ident, errors);
        let read = match *key {
            "pairwise" => pairwise(&ident, input).map(|pair| self.pairwise = Some(pair)),
            "models" => models(&ident, input).map(|models| self.models = Some(models)),
            key => after_equals(&ident, form, input)
                .and_then(|()| self.value(key, &ident, input, form, what)),
        };
        if read.is_err() {
            self.metric.unreadable.push(name);
        }
        read
    }

    fn value(
        &mut self,
        key: &str,
        ident: &Ident,
        input: ParseStream<'_>,
        form: &str,
        what: &str,
    ) -> syn::Result<()> {
        let explain = |found: &str| match found {
            "" => format!("`{key}` needs a value: write `{form}`"),
            _ => format!("{what}, not `{found}`: write `{form}`"),
        };
        match key {
            "score" => self.score = Some(list::value(ident, input, Parse::parse, explain)?),
            "reasoning" => self.reasoning = Some(list::value(ident, input, Parse::parse, explain)?),
            "temperature" => {
                self.temperature = Some(list::value(ident, input, Parse::parse, explain)?);
            }
            "max_tokens" => {
                self.max_tokens = Some(list::value(ident, input, Parse::parse, explain)?);
            }
            "aggregation" => {
                self.aggregation = Some(list::value(ident, input, Parse::parse, explain)?);
            }
            "max_concurrent_judges" => {
                self.max_concurrent = Some(list::value(ident, input, Parse::parse, explain)?);
            }
            "quorum" => self.quorum = Some(list::value(ident, input, Parse::parse, explain)?),
            _ => self.offline = Some(list::value(ident, input, Path::parse_mod_style, explain)?),
        }
        Ok(())
    }

    /// Whether something was written for a key, though it could not be read.
    pub(crate) fn is_unreadable(&self, key: &str) -> bool {
        self.metric.unreadable.iter().any(|unreadable| unreadable == key)
    }
}

const PAIRWISE: &str = "a pairwise judge names the two inputs that it compares: write `pairwise(first, second)` with the names of two `#[input(..)]` fields";

fn pairwise(ident: &Ident, input: ParseStream<'_>) -> syn::Result<Pairwise> {
    let span = ident.span();
    in_parentheses(ident, input, PAIRWISE, |inside| {
        let first = inside.call(Ident::parse_any)?;
        inside.parse::<Token![,]>()?;
        Ok(Pairwise { span, first, second: inside.call(Ident::parse_any)? })
    })
}

/// What stands in parentheses behind a key; `message` if it stands there otherwise.
fn in_parentheses<T>(
    key: &Ident,
    input: ParseStream<'_>,
    message: &str,
    read: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let found = list::to_comma(input)?;
    let whole = |inside: ParseStream<'_>| {
        let value = read(inside)?;
        inside.parse::<Option<Token![,]>>()?;
        if inside.is_empty() { Ok(value) } else { Err(inside.error("")) }
    };
    let group = syn::parse2::<proc_macro2::Group>(found.clone());
    let value = group.and_then(|group| whole.parse2(group.stream()));
    value.map_err(|_| match found.is_empty() {
        true => Error::new(key.span(), message),
        false => Error::new_spanned(&found, message),
    })
}

const MODELS: &str = "the models stand in a list: write `models([\"openai:gpt-5-mini\", \"anthropic:claude-haiku-4-5\"])`, or `models([default; 3])` to ask the configured model three times";

fn models(ident: &Ident, input: ParseStream<'_>) -> syn::Result<Models> {
    let span = ident.span();
    match in_parentheses(ident, input, MODELS, <Expr as Parse>::parse)? {
        Expr::Array(array) => {
            Ok(Models { span, list: array.elems.into_iter().collect(), times: None })
        }
        Expr::Repeat(repeat) => {
            let times = syn::parse2::<LitInt>(quote::ToTokens::to_token_stream(&repeat.len));
            let times = times.map_err(|_| {
                let written = as_written(&repeat.len);
                Error::new_spanned(&repeat.len, format!("how often a model is asked is written out, not `{written}`: write `models([default; 3])`"))
            })?;
            Ok(Models { span, list: vec![*repeat.expr], times: Some(times) })
        }
        other => Err(Error::new_spanned(other, MODELS)),
    }
}

fn not_a_key(input: ParseStream<'_>) -> Error {
    match input.fork().parse::<Lit>() {
        Ok(Lit::Str(text)) => Error::new(
            text.span(),
            "a text alone says nothing: the instruction is the struct's doc comment, a name is `name = \"..\"`",
        ),
        Ok(Lit::Float(number)) => Error::new(
            number.span(),
            format!("a number alone says nothing: write `threshold = {number}`"),
        ),
        _ => input.error("`#[judge]` takes items like `threshold = 0.5`, with commas between them"),
    }
}

fn keys() -> Vec<&'static str> {
    OWN.iter().map(|(key, ..)| *key).chain(SHARED).collect()
}

fn near_key(name: &str) -> Option<&'static str> {
    nearest(name, &keys())
}

fn unknown_key(name: &str) -> String {
    if name == "tier" {
        return "a judge is always `truth`: take `tier` away".to_owned();
    }
    if matches!(name, "instruction" | "instructions" | "prompt" | "doc" | "desc") {
        return format!(
            "the instruction is the struct's doc comment: write `/// ..` above it instead of `{name}`"
        );
    }
    if matches!(name, "model" | "lm") {
        return format!(
            "`#[judge]` has no `{name}`; write `models([\"openai:gpt-5-mini\"])`, or configure one with `DSRS_LM` or `.with_lm(..)`"
        );
    }
    match near_key(name) {
        Some(near) => format!("`#[judge]` has no `{name}`; did you mean `{near}`?"),
        None => format!("`#[judge]` has no `{name}`; it takes `{}`", keys().join("`, `")),
    }
}
