//! Lowers a judge to a metric: an asynchronous function over the inputs, with the settings that judges share with
//! `#[metric]`. The function is not emitted; its parameters become the fields of the judge's input.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::LitStr;

use super::attr::Models;
use super::field::Source;
use super::model::{Field, Input, Judge, metric_name};
use crate::shared::attributes::is_cfg;
use crate::shared::errors::Errors;
use crate::shared::function::check;
use crate::shared::function::item::Function;
use crate::shared::function::model::Model;
use crate::shared::names;
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;
use crate::shared::types::option_of;

/// A judge's field for its panel of models.
pub(crate) const PANEL: &str = "panel";

/// The setters of a judge's builder besides its parameters.
pub(crate) const SETTERS: [&str; 6] = [
    "with_lm",
    "offline",
    "models",
    "aggregation",
    "max_concurrent_judges",
    "quorum",
];

/// The setters for a judge's settings. A parameter with the same name replaces a setter.
pub(crate) const SETTINGS: [&str; 6] = [
    "threshold",
    "strict",
    "cost_msats",
    "instruction",
    "demos",
    "context",
];

pub(crate) fn metric(judge: &Judge, errors: &mut Errors) -> Option<Model> {
    let span = judge.span();
    let mut attrs = judge.attrs.metric.clone();
    attrs.tier = Some(proc_macro2::Ident::new("truth", span));
    attrs
        .name
        .get_or_insert_with(|| LitStr::new(&metric_name(judge), span));
    let is_verdict = judge.score.as_ref().is_some_and(|score| score.is_verdict);
    let is_mean = judge.attrs.turns.is_some() || !judge.has_verdicts();
    if is_verdict && is_mean {
        attrs
            .range
            .get_or_insert_with(|| syn::parse_quote_spanned!(span=> 0.0..=1.0));
    }
    attrs
        .struct_name
        .get_or_insert_with(|| judge.default_metric());
    let struct_name = attrs.struct_name.clone()?;
    let function = function(judge, &attrs);
    let function = Function::parse(function, errors)?;
    let mut model = Model::new(function, attrs, errors);
    model.names.component = component(&struct_name.to_string());
    model.names.origin = format!("The judge with the signature [`{}`].", judge.item.ident);
    model.panel = panel(judge);
    model.code = judge.attrs.code;
    model.judged = Some(judge.part("Input"));
    check::check(&model, errors);
    Some(model)
}

/// Returns the judge's name in a composite: in snake case if that resolves to the struct, otherwise the struct's name.
fn component(struct_name: &str) -> String {
    let snake = names::lower_snake(struct_name);
    if names::struct_name(&snake) == struct_name {
        snake
    } else {
        struct_name.to_owned()
    }
}

/// Returns the panel settings in `#[judge(..)]` as written on a command line, each with its index among the panel's
/// parameters.
fn panel(judge: &Judge) -> Vec<(usize, String)> {
    let panel = &judge.attrs.panel;
    let verdict = judge.has_verdicts();
    let by_kind = || if verdict { "majority" } else { "median" }.to_owned();
    let aggregation = panel
        .aggregation
        .as_ref()
        .map_or_else(by_kind, ToString::to_string);
    let values = [
        panel.models.as_ref().map(models),
        Some(aggregation),
        panel.max_concurrent.as_ref().map(ToString::to_string),
        panel.quorum.as_ref().map(ToString::to_string),
    ];
    values
        .into_iter()
        .enumerate()
        .filter_map(|(index, value)| Some((index, value?)))
        .collect()
}

fn models(models: &Models) -> String {
    let times = models
        .times
        .as_ref()
        .and_then(|times| times.base10_parse().ok())
        .unwrap_or(1);
    let names = models.list.iter().map(|model| match model {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => text.value(),
        other => as_written(other),
    });
    vec![names.collect::<Vec<_>>().join(","); times].join(",")
}

fn function(judge: &Judge, attrs: &Settings) -> TokenStream {
    let span = judge.span();
    let runtime = names::runtime(attrs.krate.as_ref(), span);
    let kept = judge.item.attrs.iter().filter(|attr| {
        is_cfg(attr)
            || ["doc", "allow", "deprecated"]
                .iter()
                .any(|name| attr.path().is_ident(name))
    });
    let vis = &judge.item.vis;
    let ident = format_ident!("__judge", span = span);
    let params = judge.inputs.iter().map(|input| param(input, &runtime));
    let panel = format_ident!("{PANEL}", span = span);
    let kind = kind(judge);
    quote_spanned! {span=>
        #(#kept)*
        #vis async fn #ident(
            #(#params,)*
            /// The models that judge, and how their scores are aggregated.
            #[param(default)] #panel: #runtime::judge::Panel,
        ) -> #runtime::judge::Judged<#kind> {}
    }
}

/// Returns the type of the judge's score. If the judge scores turns or means, this is the type of the row's score.
fn kind(judge: &Judge) -> TokenStream {
    let span = judge.span();
    match judge.has_verdicts() && judge.attrs.turns.is_none() {
        true => quote_spanned!(span=> ::core::primitive::bool),
        false => quote_spanned!(span=> ::core::primitive::f64),
    }
}

fn param(input: &Input, runtime: &TokenStream) -> TokenStream {
    let Field {
        ident, ty, docs, ..
    } = &input.field;
    if input.attr.source == Some(Source::Trace) {
        let trace = format_ident!("Trace", span = input.attr.span);
        let trace = quote!(&#runtime::#trace);
        let ty = if option_of(ty).is_some() {
            quote!(::core::option::Option<#trace>)
        } else {
            trace
        };
        return quote!(#(#docs)* #[trace] #ident: #ty);
    }
    let default = &input.attr.default;
    let source = input.attr.source.unwrap_or(Source::Pred);
    let role = format_ident!("{}", source.name(), span = input.attr.span);
    let items = match (&input.attr.rename, default) {
        (Some(rename), Some(default)) => quote!((#rename, #default)),
        (Some(rename), None) => quote!((#rename)),
        (None, Some(default)) => quote!((#default)),
        (None, None) => TokenStream::new(),
    };
    quote!(#(#docs)* #[#role #items] #ident: #ty)
}
