//! What stands inside `#[input(..)]`, `#[param(..)]` and `#[output(..)]` on a field of a judge.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Expr, Ident, LitStr, Token};

use crate::shared::errors::Errors;
use crate::shared::function::settings::after_equals;
use crate::shared::list::{self, Seen};
use crate::shared::names;
use crate::shared::tokens::{as_written, is_ident};

/// Where an input comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Gold,
    Pred,
    Param,
}

impl Source {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gold => "gold",
            Self::Pred => "pred",
            Self::Param => "param",
        }
    }
}

/// An input as written.
pub(crate) struct InputAttr {
    pub(crate) span: Span,
    pub(crate) source: Option<Source>,
    /// Whether what is wrong with the source has been said.
    pub(crate) is_noted: bool,
    pub(crate) rename: Option<LitStr>,
    /// `default` or `default = value`, as it stands.
    pub(crate) default: Option<TokenStream>,
    pub(crate) desc: Option<LitStr>,
}

/// An output as written.
pub(crate) struct OutputAttr {
    pub(crate) range: Option<Expr>,
    pub(crate) labels: Option<Labels>,
    pub(crate) desc: Option<LitStr>,
}

/// `labels = ["good", "bad"]`.
pub(crate) struct Labels {
    pub(crate) span: Span,
    pub(crate) texts: Vec<LitStr>,
    /// How many there are, readable or not.
    pub(crate) count: usize,
}

/// What a field of a judge is.
pub(crate) enum FieldAttr {
    Input(InputAttr),
    Output(OutputAttr),
}

const NAMES: [&str; 3] = ["input", "output", "param"];

impl FieldAttr {
    /// Takes the judge's attributes from a field's and leaves the others.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Self> {
        let mut taken: Option<(&str, Self)> = None;
        attrs.retain(|attr| {
            let Some(name) = NAMES.into_iter().find(|name| attr.path().is_ident(name)) else {
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
                    errors.at(attr, format!("`#[{name}]` is given twice; keep one"));
                }
                Some((first, _)) => errors.at(
                    attr,
                    format!("a field is `#[{first}]` or `#[{name}]`, not both; write two fields"),
                ),
            }
            false
        });
        taken.map(|(_, attr)| attr)
    }

    fn parse(name: &str, attr: &Attribute, errors: &mut Errors) -> Self {
        let span = attr.path().segments.first().map_or_else(Span::call_site, |s| s.ident.span());
        let tokens = match &attr.meta {
            syn::Meta::Path(_) => TokenStream::new(),
            syn::Meta::List(list) => list.tokens.clone(),
            syn::Meta::NameValue(pair) => {
                let message = match name {
                    "output" => {
                        "`#[output]` takes its items in parentheses: write `#[output(desc = \"..\")]`"
                    }
                    "param" => {
                        "`#[param]` takes its default in parentheses: write `#[param(default = ..)]`"
                    }
                    _ => {
                        "`#[input]` takes its source in parentheses: write `#[input(gold)]` or `#[input(pred)]`"
                    }
                };
                errors.at(&pair.value, message);
                TokenStream::new()
            }
        };
        if name == "output" {
            return Self::Output(output(tokens, errors));
        }
        let mut input = InputAttr::at(span);
        input.source = (name == "param").then_some(Source::Param);
        input.is_noted = matches!(attr.meta, syn::Meta::NameValue(_));
        let by_name = name == "param";
        list::for_each(tokens, errors, |items, seen, errors| {
            input.item(by_name, items, seen, errors)
        });
        Self::Input(input)
    }
}

/// `#[gold]` or `#[pred]`, which `#[metric]` has.
fn of_metric(attr: &Attribute, errors: &mut Errors) -> Option<FieldAttr> {
    let source = ["gold", "pred"].into_iter().find(|source| attr.path().is_ident(source))?;
    errors.at(attr.path(), format!("a field of a judge is an input: write `#[input({source})]`"));
    Some(FieldAttr::Input(InputAttr { is_noted: true, ..InputAttr::at(Span::call_site()) }))
}

/// Whether an attribute can stay with the field.
fn is_kept(attr: &Attribute, errors: &mut Errors) -> bool {
    let is_cfg = attr.path().is_ident("cfg");
    if is_cfg {
        errors.at(attr, "a judge's fields are part of its type, so they cannot come and go with `cfg`; put `cfg` on the struct");
    }
    !is_cfg
}

impl InputAttr {
    fn at(span: Span) -> Self {
        Self { span, source: None, is_noted: false, rename: None, default: None, desc: None }
    }

    fn item(
        &mut self,
        is_param: bool,
        items: ParseStream<'_>,
        seen: &mut Seen,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let key = items.call(Ident::parse_any).map_err(|_| {
            self.is_noted = true;
            source_missing(items)
        })?;
        let name = key.to_string();
        match (name.as_str(), is_param) {
            ("desc", _) => {
                seen.note(&key, errors);
                self.desc = Some(text(&key, items)?);
            }
            ("default", _) => {
                seen.note(&key, errors);
                let value = items.parse::<Option<Token![=]>>()?;
                let rest = list::to_comma(items)?;
                if value.is_some() && rest.is_empty() {
                    return Err(Error::new(
                        key.span(),
                        "`default` needs a value after `=`: write `default = value`, or `default` alone",
                    ));
                }
                self.default = Some(quote::quote!(#key #value #rest));
            }
            ("gold" | "pred" | "param", false) => return self.sourced(&key, &name, items, errors),
            (_, true) => {
                return Err(Error::new(
                    key.span(),
                    format!(
                        "`#[param]` takes `default`, `default = value` and `desc = \"..\"`, not `{name}`"
                    ),
                ));
            }
            ("range" | "labels", _) => {
                return Err(Error::new(
                    key.span(),
                    format!(
                        "`{name}` says what a judge may answer, so it is an output's: write `#[output({name} = ..)]`, or take it away"
                    ),
                ));
            }
            _ => {
                self.is_noted = true;
                return Err(Error::new(key.span(), unknown_item(&name)));
            }
        }
        Ok(())
    }

    /// `gold`, `gold = "response"`, `pred`, `pred = ".."` or `param`.
    fn sourced(
        &mut self,
        key: &Ident,
        name: &str,
        items: ParseStream<'_>,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let source = match name {
            "gold" => Source::Gold,
            "pred" => Source::Pred,
            _ => Source::Param,
        };
        if let Some(first) = self.source {
            let first = first.name();
            errors.at(key, format!("an input comes from one place, and `{first}` is given already: write two fields, or take `{name}` away"));
        }
        self.source = Some(source);
        if items.parse::<Option<Token![=]>>()?.is_none() {
            return Ok(());
        }
        let found = list::to_comma(&items.fork())?;
        if source == Source::Param {
            list::to_comma(items)?;
            errors.at(found, "a parameter is called like its field: write `#[input(param)]`");
            return Ok(());
        }
        let explain = |found: &str| {
            let word = if is_ident(found) { found } else { "response" };
            format!("a field's name is text: write `#[input({name} = \"{word}\")]`")
        };
        let rename: LitStr = list::value(key, items, Parse::parse, explain)?;
        if rename.value().is_empty() {
            errors.at(&rename, "the field's name is empty");
        }
        self.rename = Some(rename);
        Ok(())
    }
}

fn unknown_item(name: &str) -> String {
    let source = match name {
        "prediction" | "output" | "response" => Some("pred"),
        "example" | "label" | "expected" | "truth" => Some("gold"),
        _ => names::nearest(name, &["gold", "pred", "param"]),
    };
    match source {
        Some(source) => {
            format!("there is no half of a row called `{name}`: write `#[input({source})]`")
        }
        None => format!(
            "`#[input]` takes `gold`, `pred` or `param`, and `default` and `desc = \"..\"`, not `{name}`"
        ),
    }
}

fn source_missing(items: ParseStream<'_>) -> Error {
    let text = items.fork().parse::<LitStr>().map(|text| text.value()).ok();
    let word = text.unwrap_or_else(|| "response".to_owned());
    items.error(format!("an input says where it comes from: write `#[input(gold = {word:?})]` or `#[input(pred = {word:?})]`"))
}

fn text(key: &Ident, items: ParseStream<'_>) -> syn::Result<LitStr> {
    after_equals(key, "desc = \"..\"", items)?;
    let explain = |found: &str| match found {
        "" => "`desc` needs a value: write `desc = \"..\"`".to_owned(),
        _ => format!("a description is text, not `{found}`: write `desc = \"..\"`"),
    };
    let text: LitStr = list::value(key, items, Parse::parse, explain)?;
    if text.value().trim().is_empty() {
        return Err(Error::new(
            text.span(),
            "the description is empty: say what the field means, or take `desc` away",
        ));
    }
    Ok(text)
}

fn output(tokens: TokenStream, errors: &mut Errors) -> OutputAttr {
    let mut output = OutputAttr { range: None, labels: None, desc: None };
    list::for_each(tokens, errors, |items, seen, errors| {
        let key = items.call(Ident::parse_any).map_err(|_| {
            items.error("`#[output]` takes `range = 0.0..=1.0`, `labels = [\"good\", \"bad\"]` and `desc = \"..\"`")
        })?;
        seen.note(&key, errors);
        match key.to_string().as_str() {
            "desc" => output.desc = Some(text(&key, items)?),
            "range" => {
                after_equals(&key, "range = 0.0..=1.0", items)?;
                let explain = |found: &str| match found {
                    "" => "`range` needs a value: write `range = 0.0..=1.0`".to_owned(),
                    _ => format!(
                        "a range goes from one number to another, not `{found}`: write `range = 0.0..=1.0`"
                    ),
                };
                output.range = Some(list::value(&key, items, Parse::parse, explain)?);
            }
            "labels" => {
                after_equals(&key, "labels = [\"good\", \"bad\"]", items)?;
                output.labels = Some(labels(&key, items, errors)?);
            }
            "gold" | "pred" | "param" => {
                return Err(Error::new(
                    key.span(),
                    format!(
                        "an output comes from the model: write `#[input({key})]` for what the model is shown"
                    ),
                ));
            }
            "default" => {
                return Err(Error::new(
                    key.span(),
                    "an answer that is missing is no answer, so an output has no default: make it an `Option` if the model may leave it out",
                ));
            }
            name => {
                return Err(Error::new(
                    key.span(),
                    format!("`#[output]` has no `{name}`; it takes `range`, `labels` and `desc`"),
                ));
            }
        }
        Ok(())
    });
    output
}

fn labels(key: &Ident, items: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Labels> {
    const FORM: &str = "labels are texts in a list: write `labels = [\"good\", \"bad\"]`";
    let explain = |_: &str| FORM;
    let array: syn::ExprArray = list::value(key, items, Parse::parse, explain)?;
    let mut texts = Vec::new();
    for label in &array.elems {
        match syn::parse2::<LitStr>(quote::ToTokens::to_token_stream(label)) {
            Ok(text) => texts.push(text),
            Err(_) => {
                let written = as_written(label);
                let meant = if is_ident(&written) { written } else { "good".to_owned() };
                errors.at(label, format!("a label is text: write `\"{meant}\"`"));
            }
        }
    }
    Ok(Labels { span: array.bracket_token.span.join(), count: array.elems.len(), texts })
}
