//! What stands inside `#[judge(..)]`, with spans and without judgement. The attributes of fields are in `field.rs`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, LitBool, LitInt, LitStr, Path, Token};

use crate::shared::attrs::{self, Argument, Attribute, Key, Kind, Read};
use crate::shared::errors::Errors;
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;

/// `#[judge(..)]` as written.
#[derive(Default)]
pub(crate) struct JudgeAttrs {
    pub(crate) metric: Settings,
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

impl AsMut<Settings> for JudgeAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.metric
    }
}

const PAIRWISE: &str = "a pairwise judge names the two inputs that it compares: write `pairwise(first, second)` with the names of two `#[input(..)]` fields";

const MODELS: &str = "the models stand in a list: write `models([\"openai:gpt-5-mini\", \"anthropic:claude-haiku-4-5\"])`, or `models([default; 3])` to ask the configured model three times";

/// A key of the judge's own.
const fn own(
    name: &'static str,
    form: &'static str,
    what: &'static str,
    read: Read<JudgeAttrs>,
) -> Key<JudgeAttrs> {
    Key::new(name, Kind::Other, form, what, read)
}

impl Attribute for JudgeAttrs {
    const NAME: &'static str = "`#[judge]`";
    const KEYS: &'static [Key<Self>] = &[
        own(
            "score",
            "score = f1(precision, recall)",
            "a score is an expression over the outputs",
            |judge, it, _| it.value(&mut judge.score),
        ),
        own("reasoning", "reasoning = false", "`reasoning` is on or off", |judge, it, _| {
            it.value(&mut judge.reasoning)
        }),
        own("temperature", "temperature = 0.0", "a temperature is a number", |judge, it, _| {
            it.value(&mut judge.temperature)
        }),
        own(
            "max_tokens",
            "max_tokens = 1024",
            "a limit of tokens is a whole number",
            |judge, it, _| it.value(&mut judge.max_tokens),
        ),
        own("pairwise", "pairwise(first, second)", PAIRWISE, |judge, it, _| {
            it.parenthesized(&mut judge.pairwise, |inside| pairwise(it.key, inside))
        }),
        own("models", "models([\"openai:gpt-5-mini\"; 3])", MODELS, |judge, it, _| {
            models(judge, it)
        }),
        own(
            "aggregation",
            "aggregation = median",
            "an aggregation is `majority`, `median` or `average`",
            |judge, it, _| it.value(&mut judge.aggregation),
        ),
        own(
            "max_concurrent_judges",
            "max_concurrent_judges = 2",
            "a number of judges is a whole number",
            |judge, it, _| it.value(&mut judge.max_concurrent),
        ),
        own("quorum", "quorum = 2", "a quorum is a whole number of judges", |judge, it, _| {
            it.value(&mut judge.quorum)
        }),
        own(
            "offline",
            "offline = path::to::function",
            "an offline judge is a function",
            |judge, it, _| it.value_with(&mut judge.offline, Path::parse_mod_style),
        ),
        Key::THRESHOLD,
        Key::COST,
        Key::RANGE,
        Key::LOWER_IS_BETTER,
        Key::STRICT,
        Key::NAME,
        Key::STRUCT,
        Key::VERSION,
        Key::CRATE,
    ];

    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        match input.fork().parse::<LitStr>() {
            Ok(text) => Error::new(
                text.span(),
                "a text alone says nothing: the instruction is the struct's doc comment, a name is `name = \"..\"`",
            ),
            Err(_) => attrs::not_a_key::<Self>(input),
        }
    }

    fn unknown(&mut self, word: &Ident, _: Option<&str>, _: ParseStream<'_>) -> Option<String> {
        let name = word.to_string();
        match name.as_str() {
            "tier" => Some("a judge is always `truth`: take `tier` away".to_owned()),
            "instruction" | "instructions" | "prompt" | "doc" | "desc" => Some(format!(
                "the instruction is the struct's doc comment: write `/// ..` above it instead of `{name}`"
            )),
            "model" | "lm" => Some(format!(
                "`#[judge]` has no `{name}`; write `models([\"openai:gpt-5-mini\"])`, or configure one with `DSRS_LM` or `.with_lm(..)`"
            )),
            _ => None,
        }
    }

    fn unreadable(&mut self, key: &'static str) {
        self.metric.unreadable.push(key);
    }
}

impl JudgeAttrs {
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        attrs::parse(args, errors)
    }
}

fn pairwise(key: &Ident, inside: ParseStream<'_>) -> syn::Result<Pairwise> {
    let first = inside.call(Ident::parse_any)?;
    inside.parse::<Token![,]>()?;
    Ok(Pairwise { span: key.span(), first, second: inside.call(Ident::parse_any)? })
}

fn models(judge: &mut JudgeAttrs, argument: &Argument<'_>) -> syn::Result<()> {
    let mut list = None;
    argument.parenthesized(&mut list, Expr::parse)?;
    let span = argument.key.span();
    judge.models = match list {
        Some(Expr::Array(array)) => {
            Some(Models { span, list: array.elems.into_iter().collect(), times: None })
        }
        Some(Expr::Repeat(repeat)) => {
            let times = syn::parse2::<LitInt>(quote::ToTokens::to_token_stream(&repeat.len));
            let times = times.map_err(|_| {
                let written = as_written(&repeat.len);
                Error::new_spanned(&repeat.len, format!("how often a model is asked is written out, not `{written}`: write `models([default; 3])`"))
            })?;
            Some(Models { span, list: vec![*repeat.expr], times: Some(times) })
        }
        other => return Err(Error::new_spanned(other, MODELS)),
    };
    Ok(())
}
