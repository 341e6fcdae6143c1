//! The settings in `#[judge(..)]`, with spans. `check` validates them; the attributes of fields are
//! parsed in `field.rs`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Expr, Ident, LitBool, LitInt, LitStr, Path, Token};

use super::groups::{PanelAttrs, ScoringAttrs, TurnsAttrs, code, nearly_outside, regroup};
use super::output_attr::{From, from};
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
    pub(crate) pairwise: Option<Pairwise>,
    pub(crate) panel: PanelAttrs,
    pub(crate) offline: Option<Path>,
    pub(crate) empty: Option<Expr>,
    pub(crate) turns: Option<TurnsAttrs>,
    pub(crate) scoring: ScoringAttrs,
    /// The inputs and steps that the last call reads.
    pub(crate) from: Option<From>,
    /// The fingerprint of the settings used to compute a score.
    pub(crate) code: u64,
}

/// The settings used to compute a score. The settings of the prompt and the models are compared by value instead.
const CODE: [&str; 9] = [
    "score",
    "pairwise",
    "offline",
    "empty",
    "turns",
    "window",
    "max_turns",
    "reduce",
    "scoring",
];

/// `pairwise(first, second)`.
pub(crate) struct Pairwise {
    pub(crate) span: Span,
    pub(crate) first: Ident,
    pub(crate) second: Ident,
}

/// `models = [a, b]` or `models = [a; 3]`.
pub(crate) struct Models {
    pub(crate) span: Span,
    pub(crate) list: Vec<Expr>,
    pub(crate) times: Option<LitInt>,
}

impl Models {
    /// Returns the number of judges, if it is a literal.
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

const PAIRWISE: &str = "expected the names of two inputs; write `pairwise(first, second)` with the names of two `#[input(..)]` fields";

const FROM: &str = "expected the names of the fields that the last call reads, without quotes; write `from(question, statements)`";

/// Declares a key that only judges have.
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
            "score = harmonic_mean(precision, recall)",
            "an expression over the outputs",
            |judge, it, _| it.value(&mut judge.score),
        ),
        own(
            "reasoning",
            "reasoning = false",
            "`true` or `false`",
            |judge, it, _| it.value(&mut judge.reasoning),
        ),
        own(
            "pairwise",
            "pairwise(first, second)",
            PAIRWISE,
            |judge, it, _| it.parenthesized(&mut judge.pairwise, |inside| pairwise(it.key, inside)),
        ),
        own(
            "panel",
            "panel(models = [default; 3])",
            "the models that judge",
            |judge, it, errors| it.group(&mut judge.panel, errors),
        ),
        own(
            "offline",
            "offline = path::to::function",
            "the path to a function",
            |judge, it, _| it.value_with(&mut judge.offline, Path::parse_mod_style),
        ),
        own(
            "empty",
            "empty = 0.0",
            "a number, `true` or `false`",
            |judge, it, _| it.value(&mut judge.empty),
        ),
        own(
            "turns",
            "turns(of = assistant)",
            "the turns to judge",
            |judge, it, errors| {
                let turns = judge
                    .turns
                    .get_or_insert_with(|| TurnsAttrs::at(it.key.span()));
                it.group(turns, errors)
            },
        ),
        own(
            "scoring",
            "scoring(by = logprobs)",
            "how answers become a score",
            |judge, it, errors| it.group(&mut judge.scoring, errors),
        ),
        own(
            "from",
            "from(question, statements)",
            FROM,
            |judge, it, _| it.parenthesized(&mut judge.from, |inside| from(it.key, inside)),
        ),
        Key::MISSING,
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
                "expected `key = value`, found a string literal; write the instruction as the struct's doc comment, a name as `name = \"..\"`",
            ),
            Err(_) => attrs::not_a_key::<Self>(input),
        }
    }

    fn unknown(
        &mut self,
        word: &Ident,
        near: Option<&str>,
        rest: ParseStream<'_>,
    ) -> Option<String> {
        let name = word.to_string();
        match name.as_str() {
            "tier" => Some("a judge always has the tier `truth`; remove `tier`".to_owned()),
            "cot" | "chain_of_thought" | "explain" | "explanation" | "rationale" => Some(format!(
                "unknown key `{name}` in `#[judge]`; write `reasoning = true` or `reasoning = false`"
            )),
            "samples" | "n_samples" | "num_samples" => Some(format!(
                "unknown key `{name}` in `#[judge]`; write `scoring(by = draws({}))`",
                number_after(rest, "20")
            )),
            "n" | "votes" | "judges" | "num_judges" | "voters" => Some(format!(
                "unknown key `{name}` in `#[judge]`; write `panel(models = [default; {}])`",
                number_after(rest, "3")
            )),
            "min_score" | "pass_threshold" | "passing_score" => Some(format!(
                "unknown key `{name}` in `#[judge]`; write `threshold = {}`",
                number_after(rest, "0.5")
            )),
            "instruction" | "instructions" | "prompt" | "system_prompt" | "criteria" | "rubric"
            | "question" | "task" | "description" | "doc" | "desc" => Some(format!(
                "unknown key `{name}` in `#[judge]`; write the instruction as the struct's doc comment, `/// ..`"
            )),
            "model" | "lm" | "llm" => Some(format!(
                "unknown key `{name}` in `#[judge]`; write `panel(models = [\"openai:gpt-6-luna\"])`, or set the model with `DSRS_LM` or `.with_lm(..)`"
            )),
            _ if near.is_none() => nearly_outside(word, rest),
            _ => None,
        }
    }

    fn unreadable(&mut self, key: &'static str) {
        self.metric.unreadable.push(key);
    }
}

impl JudgeAttrs {
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let args = regroup(args, errors);
        let code = code(args.clone(), &|key| CODE.contains(&key));
        Self {
            code,
            ..attrs::parse(args, errors)
        }
    }
}

/// Returns the number after `=`.
fn number_after(rest: ParseStream<'_>, example: &str) -> String {
    let ahead = rest.fork();
    let number = ahead
        .parse::<Token![=]>()
        .and_then(|_| ahead.parse::<syn::Lit>());
    let number = number.map(as_written).ok();
    let number = number.filter(|number| number.parse::<f64>().is_ok());
    number.unwrap_or_else(|| example.to_owned())
}

fn pairwise(key: &Ident, inside: ParseStream<'_>) -> syn::Result<Pairwise> {
    let first = inside.call(Ident::parse_any)?;
    inside.parse::<Token![,]>()?;
    Ok(Pairwise {
        span: key.span(),
        first,
        second: inside.call(Ident::parse_any)?,
    })
}

/// Parses `models = [a, b]` or `models = [a; 3]`.
pub(super) fn models(into: &mut Option<Models>, argument: &Argument<'_>) -> syn::Result<()> {
    let mut list = None;
    let list_only = |input: ParseStream<'_>| match input.parse()? {
        list @ (Expr::Array(_) | Expr::Repeat(_)) => Ok(list),
        _ => Err(input.error("")),
    };
    argument.value_with(&mut list, list_only)?;
    let span = argument.key.span();
    *into = match list {
        Some(Expr::Repeat(repeat)) => {
            let times = syn::parse2::<LitInt>(quote::ToTokens::to_token_stream(&repeat.len));
            let times = times.map_err(|_| {
                let written = as_written(&repeat.len);
                Error::new_spanned(&repeat.len, format!("expected an integer literal, found `{written}`; write `models = [default; 3]`"))
            })?;
            Some(Models {
                span,
                list: vec![*repeat.expr],
                times: Some(times),
            })
        }
        Some(Expr::Array(array)) => Some(Models {
            span,
            list: array.elems.into_iter().collect(),
            times: None,
        }),
        _ => None,
    };
    Ok(())
}
