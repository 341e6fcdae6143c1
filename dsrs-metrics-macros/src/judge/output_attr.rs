//! The attributes `#[output(..)]` and `#[step(..)]` of a judge's field.

use proc_macro2::Span;
use quote::ToTokens as _;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Expr, ExprArray, Ident, LitInt, LitStr, Token};

use super::field::{desc, description};
use crate::shared::attrs::{Argument, Attribute, Key, Kind};
use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::tokens::{as_written, is_ident};

/// An output, or the output of a step, as written.
#[derive(Default)]
pub(crate) struct OutputAttr {
    /// What a step reads; `None` for an output of the last call.
    pub(crate) from: Option<From>,
    pub(crate) cost: Option<LitStr>,
    pub(crate) each: Option<Ident>,
    pub(crate) empty: Option<Expr>,
    /// The list that this output's items refer to by number.
    pub(crate) cites: Option<Ident>,
    pub(crate) max_items: Option<LitInt>,
    pub(crate) range: Option<Expr>,
    pub(crate) labels: Option<Labels>,
    pub(crate) desc: Option<LitStr>,
    /// The keys whose invalid values are already reported.
    unreadable: Vec<&'static str>,
}

impl OutputAttr {
    pub(crate) fn is_unreadable(&self, key: &str) -> bool {
        self.unreadable.contains(&key)
    }
}

/// `from(question, answer)`, or `#[step]` without it.
pub(crate) struct From {
    pub(crate) span: Span,
    pub(crate) names: Vec<Ident>,
}

/// `labels = ["good", "bad"]`.
pub(crate) struct Labels {
    pub(crate) span: Span,
    pub(crate) texts: Vec<LitStr>,
    /// The number of labels, including invalid ones.
    pub(crate) count: usize,
}

impl Attribute for OutputAttr {
    const NAME: &'static str = "`#[output]`";
    const KEYS: &'static [Key<Self>] = &[
        Key::range(|output, it, _| it.value(&mut output.range)),
        Key::new(
            "labels",
            Kind::Other,
            "labels = [\"good\", \"bad\"]",
            LABELS,
            labels,
        ),
        Key::new(
            "each",
            Kind::Ident,
            "each = statements",
            "the name of a list",
            |output, it, _| it.value(&mut output.each),
        ),
        Key::new(
            "empty",
            Kind::Other,
            "empty = 1.0",
            "a number or `abstain`",
            |output, it, _| it.value(&mut output.empty),
        ),
        Key::new(
            "cites",
            Kind::Ident,
            "cites = contexts",
            "the name of a list",
            |output, it, _| it.value(&mut output.cites),
        ),
        desc(|output, it, _| description(it, &mut output.desc)),
    ];

    fn not_a_key(&mut self, input: ParseStream<'_>) -> Error {
        let found = list::to_comma(&input.fork()).unwrap_or_default();
        let written = as_written(&found);
        let key = match syn::parse2::<Expr>(found.clone()) {
            Ok(Expr::Range(_)) => Some("range"),
            Ok(Expr::Array(_)) => Some("labels"),
            Ok(Expr::Lit(_)) if written.starts_with('"') => Some("desc"),
            _ => None,
        };
        match key {
            Some(key) => Error::new_spanned(
                found,
                format!("expected `key = value` in `#[output]`, found `{written}`; write `{key} = {written}`"),
            ),
            None => input.error("expected `range = 0.0..=1.0`, `labels = [\"good\", \"bad\"]` or `desc = \"..\"` in `#[output]`"),
        }
    }

    fn unknown(&mut self, word: &Ident, _: Option<&str>, _: ParseStream<'_>) -> Option<String> {
        match word.to_string().as_str() {
            "gold" | "pred" | "param" => Some(format!(
                "an output comes from the model, not from `{word}`; write `#[input({word})]` for an input"
            )),
            "default" => Some("`default` is not supported on an output; make it an `Option` if the model may omit it".to_owned()),
            "from" => Some("`from` is not supported on an output; write it in `#[judge(from(..))]` for the fields that the last call reads, or remove it".to_owned()),
            "cost" => Some("`cost` is not supported on an output, because the last call takes the rest of the judge's cost; remove it".to_owned()),
            "max_items" => Some("`max_items` is not supported on an output; write it on the `#[step(from(..))]` that answers the list, or remove it".to_owned()),
            _ => None,
        }
    }

    fn unreadable(&mut self, key: &'static str) {
        self.unreadable.push(key);
    }
}

/// `#[step(..)]`.
#[derive(Default)]
pub(crate) struct StepAttr(pub(crate) OutputAttr);

impl Attribute for StepAttr {
    const NAME: &'static str = "`#[step]`";
    const EXAMPLE: &'static str = "from(question, answer)";
    const KEYS: &'static [Key<Self>] = &[
        Key::new(
            "from",
            Kind::Other,
            "from(question, answer)",
            FROM,
            |step, it, _| it.parenthesized(&mut step.0.from, |inside| from(it.key, inside)),
        ),
        Key::new(
            "cost",
            Kind::Cost,
            "cost = \"100 msat\"",
            "a string with a unit",
            |step, it, _| it.value(&mut step.0.cost),
        ),
        Key::new(
            "max_items",
            Kind::Other,
            "max_items = 100",
            "a whole number",
            |step, it, _| it.value(&mut step.0.max_items),
        ),
        Key::new(
            "each",
            Kind::Ident,
            "each = statements",
            "the name of a list",
            |step, it, _| it.value(&mut step.0.each),
        ),
        Key::new(
            "empty",
            Kind::Other,
            "empty = 1.0",
            "a number or `abstain`",
            |step, it, _| it.value(&mut step.0.empty),
        ),
        Key::new(
            "cites",
            Kind::Ident,
            "cites = contexts",
            "the name of a list",
            |step, it, _| it.value(&mut step.0.cites),
        ),
        Key::new(
            "labels",
            Kind::Other,
            "labels = [\"good\", \"bad\"]",
            LABELS,
            |step, it, errors| labels(&mut step.0, it, errors),
        ),
        Key::range(|step, it, _| it.value(&mut step.0.range)),
        desc(|step, it, _| description(it, &mut step.0.desc)),
    ];

    fn unknown(&mut self, word: &Ident, _: Option<&str>, _: ParseStream<'_>) -> Option<String> {
        match word.to_string().as_str() {
            "gold" | "pred" | "param" => {
                self.0.unreadable.push("from");
                Some(format!(
                    "a step is answered by the model, not from `{word}`; write `#[input({word})]` for an input, and `#[step(from(..))]` with its name"
                ))
            }
            "default" => Some("`default` is not supported on a step; make it an `Option` if the model may omit it".to_owned()),
            _ => None,
        }
    }

    fn unreadable(&mut self, key: &'static str) {
        self.0.unreadable.push(key);
    }
}

const FROM: &str = "expected the names of the fields that the step reads, without quotes; write `from(question, answer)`";

/// Parses the names in `from(..)`.
pub(super) fn from(key: &Ident, inside: ParseStream<'_>) -> syn::Result<From> {
    let names = inside.parse_terminated(Ident::parse_any, Token![,])?;
    Ok(From {
        span: key.span(),
        names: names.into_iter().collect(),
    })
}

const LABELS: &str = "a list of strings";

fn labels(
    output: &mut OutputAttr,
    argument: &Argument<'_>,
    errors: &mut Errors,
) -> syn::Result<()> {
    let mut array: Option<ExprArray> = None;
    argument.value(&mut array)?;
    let is_word = |label: &Expr| matches!(label, Expr::Path(_) | Expr::Lit(_));
    if let Some(list) = &array
        && list
            .elems
            .iter()
            .any(|label| matches!(label, Expr::Path(_)))
        && list.elems.iter().all(is_word)
    {
        let texts = list
            .elems
            .iter()
            .map(|label| as_written(label).trim_matches('"').to_owned());
        let texts: Vec<String> = texts.collect();
        let message = format!(
            "expected strings, found `{}`; write `labels = {texts:?}`",
            as_written(list)
        );
        return Err(Error::new_spanned(list, message));
    }
    output.labels = array.map(|array| {
        let texts = array
            .elems
            .iter()
            .filter_map(|label| self::label(label, errors))
            .collect();
        Labels {
            span: array.bracket_token.span.join(),
            count: array.elems.len(),
            texts,
        }
    });
    Ok(())
}

fn label(label: &Expr, errors: &mut Errors) -> Option<LitStr> {
    let text = syn::parse2::<LitStr>(label.to_token_stream()).ok();
    if text.is_none() {
        let written = as_written(label);
        let meant = if is_ident(&written) {
            written.as_str()
        } else {
            "good"
        };
        errors.at(
            label,
            format!("expected a string, found `{written}`; write `\"{meant}\"`"),
        );
    }
    text
}
