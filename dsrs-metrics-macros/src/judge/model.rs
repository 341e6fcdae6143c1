//! The model of a `#[judge]` struct: its inputs, its outputs and its score.
//!
//! The file is long because a judge's inputs, outputs and score are read together.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, Fields, ItemStruct, Type};

use super::attr::JudgeAttrs;
use super::field::{FieldAttr, InputAttr, Source};
use super::output_attr::OutputAttr;
use crate::shared::attributes::{doc_text, take_duplicates, without_attributes};
use crate::shared::errors::Errors;
use crate::shared::item_kind::item_kind;
use crate::shared::names;
use crate::shared::types::{is_integer, last_segment_is, option_of, ungrouped, vec_of};

/// A `#[judge]` struct, parsed as completely as its errors allow.
pub(crate) struct Judge {
    /// The struct without the macro's attributes.
    pub(crate) item: ItemStruct,
    pub(crate) attrs: JudgeAttrs,
    pub(crate) inputs: Vec<Input>,
    /// The outputs of the calls before the last one.
    pub(crate) steps: Vec<Output>,
    pub(crate) outputs: Vec<Output>,
    /// The struct's doc comment.
    pub(crate) instruction: String,
    pub(crate) score: Option<Score>,
}

/// A field in the prompt.
pub(crate) struct Input {
    pub(crate) field: Field,
    pub(crate) attr: Box<InputAttr>,
}

/// A field of the reply.
pub(crate) struct Output {
    pub(crate) field: Field,
    pub(crate) attr: Box<OutputAttr>,
}

/// The common part of inputs and outputs.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) docs: Vec<Attribute>,
    /// The field's description in the prompt.
    pub(crate) desc: String,
}

/// The judge's score.
pub(crate) struct Score {
    pub(crate) expr: Expr,
    pub(crate) is_verdict: bool,
}

impl Judge {
    pub(crate) fn parse(
        item: &TokenStream,
        attrs: JudgeAttrs,
        errors: &mut Errors,
    ) -> Option<Self> {
        let parsed = syn::parse2::<ItemStruct>(item.clone());
        let mut item = errors.ok(parsed.map_err(|error| not_a_struct(item, error)))?;
        let Fields::Named(fields) = &mut item.fields else {
            errors.at(&item.ident, "expected a struct with named fields; write `struct Name { #[input(pred)] answer: String, #[output] good: bool }`");
            return None;
        };
        let (mut inputs, mut steps, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for field in &mut fields.named {
            match FieldAttr::take(&mut field.attrs, errors) {
                Some(FieldAttr::Input(attr)) => {
                    inputs.push(Input {
                        field: Field::new(field, attr.desc.as_ref()),
                        attr,
                    });
                }
                Some(FieldAttr::Step(attr)) => {
                    steps.push(Output {
                        field: Field::new(field, attr.desc.as_ref()),
                        attr,
                    });
                }
                Some(FieldAttr::Output(attr)) => {
                    outputs.push(Output {
                        field: Field::new(field, attr.desc.as_ref()),
                        attr,
                    });
                }
                None => {
                    let name = field
                        .ident
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    errors.at(&field.ident, format!("the field `{name}` is neither an input nor an output; write `#[input(gold)]`, `#[input(pred)]`, `#[param]`, `#[step(from(..))]` or `#[output]` before it"));
                }
            }
        }
        take_duplicates(&mut item.attrs, "judge", errors);
        let instruction = doc_text(&item.attrs);
        let score = score(&attrs, &outputs, errors);
        Some(Self {
            item,
            attrs,
            inputs,
            steps,
            outputs,
            instruction,
            score,
        })
    }

    /// Returns the name of the struct with a suffix, such as `SemanticRecallInput`.
    pub(crate) fn part(&self, part: &str) -> Ident {
        quote::format_ident!(
            "{}{part}",
            self.item.ident.unraw(),
            span = self.item.ident.span()
        )
    }

    /// Returns the name of the metric if `struct` does not set one: the name of the struct with the suffix `Judge`, which
    /// is not added twice.
    pub(crate) fn default_metric(&self) -> Ident {
        let is_judge = self.item.ident.unraw().to_string().ends_with("Judge");
        self.part(if is_judge { "" } else { "Judge" })
    }

    /// Returns `true` if the metric has the name of the struct, which is then not emitted alongside it.
    pub(crate) fn is_named_as_metric(&self, metric: &Ident) -> bool {
        self.item.ident == *metric
    }

    pub(crate) fn span(&self) -> Span {
        self.item.ident.span()
    }

    /// Returns `true` if the judge writes its reasoning before its answer.
    pub(crate) fn reasons(&self) -> bool {
        self.attrs
            .reasoning
            .as_ref()
            .is_none_or(syn::LitBool::value)
    }

    /// Returns `true` if a model's answer is a verdict: its score is a `bool`, and not a mean of draws or values.
    pub(crate) fn has_verdicts(&self) -> bool {
        let is_mean = self
            .attrs
            .scoring
            .by
            .as_ref()
            .is_some_and(|scoring| scoring.word != "text");
        !is_mean && self.score.as_ref().is_some_and(|score| score.is_verdict)
    }

    /// Returns the outputs that are not plain strings. If there is only one, `scoring = logprobs` weighs it.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = &Output> {
        self.outputs.iter().filter(|it| {
            it.attr.labels.is_some()
                || !last_segment_is(option_of(&it.field.ty).unwrap_or(&it.field.ty), "String")
        })
    }

    /// Returns `true` if two fields have the same name, which rustc reports for the struct.
    pub(crate) fn repeats_a_name(&self) -> bool {
        let names: Vec<_> = self
            .item
            .fields
            .iter()
            .filter_map(|field| field.ident.as_ref())
            .collect();
        names
            .iter()
            .enumerate()
            .any(|(index, name)| names[..index].contains(name))
    }

    /// Iterates over the inputs that are conversations.
    pub(crate) fn conversations(&self) -> impl Iterator<Item = &Input> {
        self.inputs
            .iter()
            .filter(|input| is_conversation(&input.field.ty))
    }

    pub(crate) fn has_param(&self, name: &str) -> bool {
        let mut params = self
            .inputs
            .iter()
            .filter(|i| i.attr.source == Some(Source::Param));
        params.any(|input| input.field.name() == name)
    }

    /// Returns `true` if an output has an item for each item of this field, or refers to its items by number.
    pub(crate) fn is_list(&self, name: &Ident) -> bool {
        let mut lists = self
            .answered()
            .flat_map(|it| [&it.attr.each, &it.attr.cites]);
        lists.any(|list| list.as_ref() == Some(name))
    }

    /// Iterates over everything that the judge answers: steps and outputs.
    pub(crate) fn answered(&self) -> impl Iterator<Item = &Output> + Clone {
        self.steps.iter().chain(&self.outputs)
    }

    pub(crate) fn has_output(&self, name: &str) -> bool {
        self.answered().any(|output| output.field.name() == name)
    }
}

impl Field {
    fn new(field: &syn::Field, desc: Option<&syn::LitStr>) -> Self {
        let docs = field
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("doc"))
            .cloned();
        let docs: Vec<_> = docs.collect();
        let desc = desc.map_or_else(|| doc_text(&docs), |desc| desc.value().trim().to_owned());
        let ident = field
            .ident
            .clone()
            .unwrap_or_else(|| Ident::new("_", Span::call_site()));
        Self {
            ident,
            ty: ungrouped(&field.ty).clone(),
            docs,
            desc,
        }
    }

    /// Returns the name in the prompt and in the reply.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }
}

fn not_a_struct(item: &TokenStream, error: syn::Error) -> syn::Error {
    let Some((keyword, kind)) = item_kind(item).filter(|(keyword, _)| keyword != "struct") else {
        return error;
    };
    let instead = if keyword == "fn" {
        "; write `#[metric]` for a function"
    } else {
        ""
    };
    let message = format!("expected a struct with named fields, found {kind}{instead}");
    syn::Error::new(keyword.span(), message)
}

/// Returns the item without `#[input]`, `#[output]`, `#[param]` and `#[step]`, which rustc does not know.
pub(crate) fn without_roles(item: TokenStream) -> TokenStream {
    without_attributes(item, &|word| {
        ["input", "output", "param", "step"]
            .iter()
            .any(|role| word == role)
    })
}

/// Returns the output that an expression names.
pub(super) fn output_named<'a>(outputs: &'a [Output], expr: &Expr) -> Option<&'a Output> {
    let Expr::Path(path) = expr else {
        return None;
    };
    outputs
        .iter()
        .find(|output| path.path.is_ident(&output.field.ident))
}

/// Returns the score as written; otherwise the output `score`, the only `bool`, or the only `Preference`.
fn score(attrs: &JudgeAttrs, outputs: &[Output], errors: &mut Errors) -> Option<Score> {
    if let Some(expr) = &attrs.score {
        let (expr, is_verdict) = match expr {
            Expr::Cast(cast) if is_bool(&cast.ty) => (&*cast.expr, true),
            expr => (expr, is_verdict(expr, outputs)),
        };
        return Some(Score {
            expr: expr.clone(),
            is_verdict,
        });
    }
    if attrs.metric.is_unreadable("score") {
        return None;
    }
    let named = outputs.iter().find(|output| output.field.name() == "score");
    let only = |fits: fn(&Type) -> bool| {
        let mut fitting = outputs.iter().filter(|output| fits(&output.field.ty));
        fitting.next().filter(|_| fitting.next().is_none())
    };
    let found = named
        .or_else(|| only(is_bool))
        .or_else(|| only(is_preference));
    let Some(output) = found else {
        no_score(outputs, errors);
        return None;
    };
    let ident = &output.field.ident;
    Some(Score {
        expr: syn::parse_quote!(#ident),
        is_verdict: is_bool(&output.field.ty),
    })
}

fn no_score(outputs: &[Output], errors: &mut Errors) {
    let Some(first) = outputs.first() else {
        return;
    };
    let names: Vec<_> = outputs.iter().map(|output| output.field.name()).collect();
    let list = names.join("`, `");
    let ident = &first.field.ident;
    let label = first
        .attr
        .labels
        .as_ref()
        .and_then(|labels| labels.texts.first());
    let message = match (outputs, label) {
        ([_], Some(label)) => format!(
            "no score is defined for the labels of `{list}`; write `#[judge(score = {list} == {:?})]`, or a `match` with a number for each label",
            label.value()
        ),
        ([output], None) if is_list(&output.field.ty) => format!(
            "no score is defined for the list `{list}`; write `#[judge(score = {})]`",
            share(&output.field)
        ),
        ([_], None) => format!(
            "no score is defined; write `#[judge(score = {list})]`, or rename the output to `score`"
        ),
        _ => format!(
            "no score is defined for the outputs `{list}`; write `#[judge(score = ..)]` with an expression over them, or rename one to `score`"
        ),
    };
    errors.at(ident, message);
}

/// Returns an example of a list's score.
pub(crate) fn share(list: &Field) -> String {
    let is_counted = match vec_of(&list.ty) {
        Some(item) if is_bool(item) => "it",
        Some(item) if last_segment_is(item, "String") => "it == \"good\"",
        Some(item) if is_integer(item) => "it >= 1",
        Some(item)
            if ["f32", "f64"]
                .iter()
                .any(|name| last_segment_is(item, name)) =>
        {
            "it >= 0.5"
        }
        _ => "it.is_good",
    };
    format!("share({}, |it| {is_counted})", list.name())
}

/// Returns `true` if an expression is `abstain`.
pub(crate) fn is_abstain(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("abstain"))
}

/// Returns `true` if a type is a `Vec`.
pub(crate) fn is_list(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Vec"))
}

/// Returns `true` if a type is a `Trajectory`.
pub(crate) fn is_conversation(ty: &Type) -> bool {
    last_segment_is(ty, "Trajectory")
}

pub(crate) fn is_bool(ty: &Type) -> bool {
    last_segment_is(ty, "bool")
}

pub(crate) fn is_preference(ty: &Type) -> bool {
    last_segment_is(ty, "Preference")
}

/// Returns `true` if the form of an expression shows that it is a `bool`.
fn is_verdict(expr: &Expr, outputs: &[Output]) -> bool {
    use syn::BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match expr {
        Expr::Binary(binary) => {
            matches!(
                binary.op,
                And(_) | Or(_) | Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_)
            )
        }
        Expr::Unary(unary) => {
            matches!(unary.op, syn::UnOp::Not(_)) && is_verdict_or_unknown(&unary.expr, outputs)
        }
        Expr::Lit(literal) => matches!(literal.lit, syn::Lit::Bool(_)),
        Expr::Macro(call) => call.mac.path.is_ident("matches"),
        Expr::Paren(paren) => is_verdict(&paren.expr, outputs),
        Expr::Group(group) => is_verdict(&group.expr, outputs),
        expr => output_named(outputs, expr).is_some_and(|output| is_bool(&output.field.ty)),
    }
}

/// Returns `true` if `!x` is a `bool`, which it is unless `x` is an output of another type.
fn is_verdict_or_unknown(expr: &Expr, outputs: &[Output]) -> bool {
    output_named(outputs, expr).is_none_or(|output| is_bool(&output.field.ty))
}

/// Returns the name of the judge in reports.
pub(crate) fn metric_name(judge: &Judge) -> String {
    names::lower_snake(&judge.item.ident.unraw().to_string())
}
