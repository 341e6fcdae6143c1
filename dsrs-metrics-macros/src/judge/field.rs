//! The attributes of a judge's field: `#[input(..)]` and `#[param(..)]`. `#[output(..)]` and `#[step(..)]` are in `output_attr.rs`.
//!
//! The file is long because each attribute of a field is parsed here.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute as SynAttribute, Error, Ident, LitBool, LitStr, Token};

use super::output_attr::{From, OutputAttr, StepAttr};
use crate::shared::attrs::{self, Argument, Attribute, Key, Kind, Read};
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::names;
use crate::shared::tokens::{as_written, is_ident};

/// The source of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Gold,
    Pred,
    Param,
    Trace,
}

impl Source {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Pred => "pred",
            Self::Param => "param",
            Self::Trace => "trace",
        }
    }
}

/// An input as written.
pub(crate) struct InputAttr {
    pub(crate) span: Span,
    /// `true` for `#[param]`, `false` for `#[input(..)]`.
    is_param: bool,
    pub(crate) source: Option<Source>,
    /// `true` if an error about the source is already reported.
    pub(crate) is_reported: bool,
    pub(crate) rename: Option<LitStr>,
    /// `default` or `default = value`, as written.
    pub(crate) default: Option<TokenStream>,
    /// `true` or `None` if the parameter is in the prompt.
    pub(crate) in_prompt: Option<LitBool>,
    pub(crate) desc: Option<LitStr>,
}

/// The role of a judge's field.
pub(crate) enum FieldAttr {
    Input(Box<InputAttr>),
    Step(Box<OutputAttr>),
    Output(Box<OutputAttr>),
}

const NAMES: [&str; 4] = ["input", "output", "param", "step"];

impl FieldAttr {
    /// Removes the judge's attributes from a field's attributes and parses them.
    pub(crate) fn take(attrs: &mut Vec<SynAttribute>, errors: &mut Errors) -> Option<Self> {
        let mut taken: Option<(&str, Self)> = None;
        attrs.retain(|attr| {
            let Some(name) = name(attr, errors) else {
                let of_metric = of_metric(attr, errors);
                if of_metric.is_none() {
                    return is_kept(attr, errors);
                }
                taken = taken.take().or(of_metric.map(|input| ("input", input)));
                return false;
            };
            match &taken {
                None => taken = Some((name, Self::parse(name, attr, errors))),
                Some((first, _)) if *first == name => {
                    errors.at(attr, format!("duplicate `#[{name}]`; keep one"));
                }
                Some((first, _)) => errors.at(
                    attr,
                    format!("expected either `#[{first}]` or `#[{name}]` on a field, found both; write two fields"),
                ),
            }
            false
        });
        taken.map(|(_, attr)| attr)
    }

    fn parse(name: &str, attr: &SynAttribute, errors: &mut Errors) -> Self {
        let span = attr
            .path()
            .segments
            .first()
            .map_or_else(Span::call_site, |s| s.ident.span());
        let tokens = match &attr.meta {
            syn::Meta::Path(_) => TokenStream::new(),
            syn::Meta::List(list) => list.tokens.clone(),
            syn::Meta::NameValue(pair) => {
                let value = as_written(&pair.value);
                let of_output = match value.starts_with('"') {
                    true => format!(
                        "expected `#[output(..)]`, found `#[output = ..]`; write `#[output(desc = {value})]`"
                    ),
                    false => format!(
                        "expected `#[output(..)]`, found `#[output = ..]`; write `#[output(range = {value})]`"
                    ),
                };
                let message = match name {
                    "output" => &*of_output,
                    "step" => {
                        "expected `#[step(from(..))]`, found `#[step = ..]`; write `#[step(from(answer))]` with the fields that the step reads"
                    }
                    "param" => {
                        "expected `#[param(..)]`, found `#[param = ..]`; write `#[param(default = ..)]`"
                    }
                    _ => {
                        "expected `#[input(..)]`, found `#[input = ..]`; write `#[input(gold)]` or `#[input(pred)]`"
                    }
                };
                errors.at(&pair.value, message);
                TokenStream::new()
            }
        };
        if name == "step" {
            let StepAttr(mut step) = attrs::parse(tokens, errors);
            if !matches!(attr.meta, syn::Meta::NameValue(_)) {
                step.from.get_or_insert_with(|| From {
                    span,
                    names: Vec::new(),
                });
            }
            return Self::Step(Box::new(step));
        }
        if name == "output" {
            return Self::Output(Box::new(attrs::parse(tokens, errors)));
        }
        let is_param = name == "param";
        let mut input = InputAttr {
            is_param,
            source: is_param.then_some(Source::Param),
            is_reported: matches!(attr.meta, syn::Meta::NameValue(_)),
            ..InputAttr::at(span)
        };
        attrs::parse_into(&mut input, tokens, errors);
        Self::Input(Box::new(input))
    }
}

/// Returns the attribute's name if it is one of the judge's attributes. Reports the plural of a name.
fn name(attr: &SynAttribute, errors: &mut Errors) -> Option<&'static str> {
    let found = attr.path().get_ident()?.to_string();
    let name = NAMES
        .into_iter()
        .find(|name| found.strip_suffix('s').unwrap_or(&found) == *name)?;
    if name != found {
        let arguments = match &attr.meta {
            syn::Meta::List(list) => format!("({})", as_written(&list.tokens)),
            _ => String::new(),
        };
        errors.at(
            attr.path(),
            format!("unknown attribute `#[{found}]`; write `#[{name}{arguments}]`"),
        );
    }
    Some(name)
}

/// Reports `#[gold]` or `#[pred]`, which are attributes of `#[metric]`.
fn of_metric(attr: &SynAttribute, errors: &mut Errors) -> Option<FieldAttr> {
    let source = ["gold", "pred", "trace"]
        .into_iter()
        .find(|source| attr.path().is_ident(source))?;
    errors.at(
        attr.path(),
        format!("expected `#[input({source})]`, found `#[{source}]`; write `#[input({source})]`"),
    );
    let input = InputAttr {
        is_reported: true,
        ..InputAttr::at(Span::call_site())
    };
    Some(FieldAttr::Input(Box::new(input)))
}

/// Returns `true` if an attribute remains on the field. Reports `cfg`.
fn is_kept(attr: &SynAttribute, errors: &mut Errors) -> bool {
    let is_cfg = attr.path().is_ident("cfg");
    if is_cfg {
        errors.at(
            attr,
            "`cfg` is not supported on a judge's fields; write it on the struct",
        );
    }
    !is_cfg
}

impl InputAttr {
    fn at(span: Span) -> Self {
        Self {
            span,
            is_param: false,
            source: None,
            is_reported: false,
            rename: None,
            default: None,
            in_prompt: None,
            desc: None,
        }
    }

    /// Takes the tokens of `default` or `default = value`, which the metric that the judge is lowered to parses.
    fn default(&mut self, argument: &Argument<'_>) -> syn::Result<()> {
        let Argument { key, input, .. } = argument;
        let equals = input.parse::<Option<Token![=]>>()?;
        let value = list::to_comma(input)?;
        if equals.is_some() && value.is_empty() {
            let message =
                "missing value after `default =`; write `default = value`, or `default` alone";
            return Err(Error::new(key.span(), message));
        }
        self.default = Some(quote!(#key #equals #value));
        Ok(())
    }

    /// Takes `in_prompt = false`, which only a parameter can have.
    fn in_prompt(&mut self, argument: &Argument<'_>) -> syn::Result<()> {
        if !self.is_param {
            return Err(Error::new(
                argument.key.span(),
                "`in_prompt` is not supported on an input, which every prompt has; remove it",
            ));
        }
        argument.value(&mut self.in_prompt)
    }

    /// Parses `gold`, `gold = "response"`, `pred`, `pred = ".."` or `param`.
    fn sourced(
        &mut self,
        source: Source,
        argument: &Argument<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let Argument {
            key, input: items, ..
        } = *argument;
        let name = source.name();
        if self.is_param {
            return Err(Error::new(key.span(), not_of_param(name)));
        }
        if let Some(first) = self.source {
            let first = first.name();
            errors.at(key, format!("an input can have only one source, found `{first}` and `{name}`; write two fields, or remove one source"));
        }
        self.source = Some(source);
        if items.peek(syn::token::Paren) {
            let found = list::to_comma(items)?;
            let inside = syn::parse2::<syn::ExprParen>(found.clone()).map(|it| it.expr);
            let field = inside.map_or_else(|_| "\"response\"".to_owned(), as_written);
            let field = field.trim_matches('"');
            let message =
                format!("expected `=` after `{name}`; write `#[input({name} = {field:?})]`");
            errors.at(found, message);
            return Ok(());
        }
        if items.parse::<Option<Token![=]>>()?.is_none() {
            return Ok(());
        }
        let found = list::to_comma(&items.fork())?;
        let without_name = match source {
            Source::Param => {
                Some("the name of a parameter is the name of its field; write `#[input(param)]`")
            }
            Source::Trace => Some("a trace has no field name; write `#[input(trace)]`"),
            Source::Gold | Source::Pred => None,
        };
        if let Some(message) = without_name {
            list::to_comma(items)?;
            errors.at(found, message);
            return Ok(());
        }
        let explain = |found: &str| {
            let word = if is_ident(found) { found } else { "response" };
            format!(
                "expected the field name as a string, found `{found}`; write `#[input({name} = \"{word}\")]`"
            )
        };
        let rename: LitStr = list::value(key, items, syn::parse::Parse::parse, explain)?;
        if rename.value().is_empty() {
            errors.at(&rename, "empty field name; write the name of a field");
        }
        self.rename = Some(rename);
        Ok(())
    }
}

const fn source(source: Source, read: Read<InputAttr>) -> Key<InputAttr> {
    Key::new(source.name(), Kind::Other, "", "", read)
}

impl Attribute for InputAttr {
    const NAME: &'static str = "`#[input]`";
    const KEYS: &'static [Key<Self>] = &[
        source(Source::Gold, |input, it, errors| {
            input.sourced(Source::Gold, it, errors)
        }),
        source(Source::Pred, |input, it, errors| {
            input.sourced(Source::Pred, it, errors)
        }),
        source(Source::Param, |input, it, errors| {
            input.sourced(Source::Param, it, errors)
        }),
        source(Source::Trace, |input, it, errors| {
            input.sourced(Source::Trace, it, errors)
        }),
        Key::new("default", Kind::Other, "default", "", |input, it, _| {
            input.default(it)
        }),
        Key::new(
            "in_prompt",
            Kind::Other,
            "in_prompt = false",
            "`true` or `false`",
            |input, it, _| input.in_prompt(it),
        ),
        desc(|input, it, _| description(it, &mut input.desc)),
    ];

    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        self.is_reported = true;
        let text = input.fork().parse::<LitStr>().map(|text| text.value()).ok();
        let word = text.unwrap_or_else(|| "response".to_owned());
        if ["gold", "pred", "trace", "param"].contains(&&*word) {
            let message = format!(
                "expected the source of the input without quotes, found {word:?}; write `#[input({word})]`"
            );
            return input.error(message);
        }
        input.error(format!("expected the source of the input; write `#[input(gold = {word:?})]` or `#[input(pred = {word:?})]`"))
    }

    fn unknown(&mut self, word: &Ident, _: Option<&str>, rest: ParseStream<'_>) -> Option<String> {
        let name = word.to_string();
        if self.is_param {
            return Some(not_of_param(&name));
        }
        if ["name", "rename", "field", "key"].contains(&&*name) {
            let (source, field) = (self.source.map_or("pred", Source::name), text_after(rest));
            return Some(format!(
                "unknown key `{name}` in `#[input]`; write `#[input({source} = {field:?})]`"
            ));
        }
        if ["optional", "option", "nullable", "required"].contains(&&*name) {
            return Some(format!(
                "unknown key `{name}` in `#[input]`; write `Option<..>` as the type for a field that may be missing"
            ));
        }
        if name == "range" || name == "labels" {
            return Some(format!(
                "`{name}` is not supported on an input; write `#[output({name} = ..)]`, or remove it"
            ));
        }
        self.is_reported = true;
        Some(unknown_source(&name))
    }
}

/// Returns the string after `=`.
fn text_after(rest: ParseStream<'_>) -> String {
    let ahead = rest.fork();
    let text = ahead
        .parse::<Token![=]>()
        .and_then(|_| ahead.parse::<LitStr>());
    text.map_or_else(|_| "response".to_owned(), |text| text.value())
}

fn not_of_param(name: &str) -> String {
    if name == "flatten" {
        return "`flatten` is not supported in a judge; write each parameter as a field with `#[param]`".to_owned();
    }
    format!(
        "unknown key `{name}` in `#[param]`; expected `default`, `default = value`, `in_prompt = false` or `desc = \"..\"`"
    )
}

fn unknown_source(name: &str) -> String {
    let source = match name {
        "prediction" | "output" | "response" => Some("pred"),
        "example" | "label" | "expected" | "truth" | "golden" | "reference" => Some("gold"),
        "steps" | "run" | "program" => Some("trace"),
        _ => names::nearest(name, &["gold", "pred", "param", "trace"]),
    };
    match source {
        Some(source) => {
            format!("unknown source `{name}`; write `#[input({source})]`")
        }
        None => format!(
            "unknown key `{name}` in `#[input]`; expected `gold`, `pred`, `trace`, `param`, `default` or `desc = \"..\"`"
        ),
    }
}

/// Returns the key for a field's description in the prompt.
pub(super) const fn desc<A>(read: Read<A>) -> Key<A> {
    Key::new("desc", Kind::Text, "desc = \"..\"", "a string", read)
}

pub(super) fn description(argument: &Argument<'_>, into: &mut Option<LitStr>) -> syn::Result<()> {
    argument.value(into)?;
    match into {
        Some(text) if text.value().trim().is_empty() => Err(Error::new(
            text.span(),
            "empty description; write what the field means, or remove `desc`",
        )),
        _ => Ok(()),
    }
}
