//! The constant `SPEC`, with the fingerprint of the code, and the inherent methods that read from it.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Lifetime};

use super::context::Context;
use super::field_use::FieldUse;
use super::fields::{self, help};
use crate::shared::attributes::doc_text;
use crate::shared::contract::spec_readers;
use crate::shared::function::param::{Binding, Config, Param};
use crate::shared::function::side::Side;
use crate::shared::names;
use crate::shared::tokens::{as_written, ends};
use crate::shared::types::{in_lifetime, is_panel, option_of};
use crate::shared::values::{bounds, cost_msats, literal, number, score};

/// Returns `SPEC` and the methods that read from it.
pub(super) fn readers(cx: &Context<'_>) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let (vis, own) = (&cx.model.function.vis, own(cx));
    let cost = quote_spanned!(*span=> #runtime::__private::Declaration::max_cost(self));
    let spec = match cx.has_static_spec() {
        true => quote_spanned!(*span=> __SPEC),
        false => expression(cx),
    };
    let name = &cx.model.names.metric;
    spec_readers(&cx.paths(), vis, name, &spec, own.as_ref(), &cost)
}

/// Returns the static that holds the spec, unless the metric is generic.
pub(super) fn item(cx: &Context<'_>) -> TokenStream {
    if !cx.has_static_spec() {
        return TokenStream::new();
    }
    let (private, spec) = (&cx.private, expression(cx));
    quote_spanned!(cx.span=> static __SPEC: #private::MetricSpec<'static> = #spec;)
}

/// Returns the parameter that is the panel of a judge.
pub(super) fn panel_field<'a>(cx: &'a Context<'_>) -> Option<&'a Ident> {
    cx.model
        .configs()
        .find(|(_, param, _)| is_panel(&param.ty))
        .map(|(name, ..)| name)
}

/// Returns the spec of one instance, if a parameter names a field or is a panel with a judge's settings.
pub(super) fn own(cx: &Context<'_>) -> Option<TokenStream> {
    let Context { span, private, .. } = cx;
    let names = cx.fields.iter().filter_map(|field| {
        let by = field.named_by()?;
        let place = place(cx, field);
        Some(quote_spanned!(*span=> (#place, &*self.#by)))
    });
    let (names, spec): (Vec<_>, _) = (names.collect(), cx.spec());
    let named = (!names.is_empty())
        .then(|| quote_spanned!(*span=> #private::configured(#spec, &[#(#names),*])));
    let Some(panel) = panel_field(cx) else {
        return named;
    };
    let named = named.unwrap_or(spec);
    Some(quote_spanned!(*span=> self.#panel.shown_spec(#named)))
}

/// Returns a field's side and its index among the fields on that side.
fn place(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let (side, position) = (
        cx.side(field.side),
        Literal::usize_unsuffixed(field.position),
    );
    quote_spanned!(cx.span=> (#side, #position))
}

/// Returns the fields whose name is the value of this parameter.
fn named(cx: &Context<'_>, by: &Ident) -> Vec<TokenStream> {
    let fields = cx
        .fields
        .iter()
        .filter(|field| field.named_by() == Some(by));
    fields.map(|field| place(cx, field)).collect()
}

fn expression(cx: &Context<'_>) -> TokenStream {
    let Context {
        model,
        span,
        private,
        ..
    } = cx;
    let (name, doc) = (&model.names.metric, doc_text(&model.function.attrs));
    let (tier, cost) = (tier(cx), cost(cx));
    let kind = returns(cx, "KIND", &Lifetime::new("'static", *span));
    let is_async = model.is_async();
    let is_async = is_async.then(|| quote_spanned!(*span=> .with_async()));
    let only_fields = reads_only_fields(cx);
    let only_fields = only_fields.then(|| quote_spanned!(*span=> .with_only_fields()));
    let (params, options) = (params_of_spec(cx), options(cx));
    let (gold, pred) = (fields::specs(cx, Side::Gold), fields::specs(cx, Side::Pred));
    let code = Literal::u64_suffixed(model.code);
    quote_spanned! {*span=>
        #private::MetricSpec::new(#name)
            .with_doc(#doc)
            .with_tier(#tier)
            .with_cost_msats(#cost)
            .with_kind(#kind)
            .with_fields(#gold, #pred)
            .with_params(#params)
            .with_code(#code)
            #is_async
            #only_fields
            #options
    }
}

fn tier(cx: &Context<'_>) -> TokenStream {
    let (attrs, private) = (&cx.model.attrs, &cx.private);
    let tier = match attrs.tier.as_ref().is_some_and(|tier| tier == "truth") {
        true => quote_spanned!(cx.span=> Truth),
        false => quote_spanned!(cx.span=> Proxy),
    };
    quote_spanned!(cx.span=> #private::MetricTier::#tier)
}

fn cost(cx: &Context<'_>) -> Literal {
    let cost = cx.model.attrs.cost.as_ref();
    let msats = cost.and_then(|cost| cost_msats("cost", &cost.value()).ok());
    Literal::u64_unsuffixed(msats.unwrap_or_default())
}

fn reads_only_fields(cx: &Context<'_>) -> bool {
    let mut params = cx.model.params.iter();
    !params.any(|param| matches!(param.binding, Binding::Row(_)))
}

/// Returns the builder calls for the settings that rustc must type-check.
fn options(cx: &Context<'_>) -> TokenStream {
    let attrs = &cx.model.attrs;
    let private = &cx.private;
    let mut calls = TokenStream::new();
    if let Some(threshold) = &attrs.threshold {
        let value = constant(cx, threshold, number(threshold));
        calls.extend(quote_spanned!(cx.span=> .with_threshold(#value)));
    }
    if let Some((min, max)) = attrs.range.as_ref().and_then(bounds) {
        let [min, max] = [min, max].map(|bound| constant(cx, bound, number(bound)));
        calls.extend(quote_spanned!(cx.span=> .with_range(#min, #max)));
    }
    if attrs.lower_is_better.is_some() {
        calls.extend(quote_spanned!(cx.span=> .with_direction(#private::Direction::LowerIsBetter)));
    }
    if attrs.strict.is_some() {
        calls.extend(quote_spanned!(cx.span=> .with_strict()));
    }
    if let Some(missing) = &attrs.missing {
        let value = constant(cx, missing, score(missing));
        calls.extend(quote_spanned!(cx.span=> .with_missing(#value)));
    }
    if let Some(version) = &attrs.version {
        calls.extend(quote_spanned!(cx.span=> .with_version(#version)));
    }
    calls
}

/// Returns a value as a constant unless it is a literal. rustc suggests `LazyLock` for what cannot be in a static.
fn constant(cx: &Context<'_>, written: &Expr, value: TokenStream) -> TokenStream {
    match literal(written) {
        Some(_) => value,
        None => quote_spanned!(cx.span=> const { #value }),
    }
}

/// Returns the list of the parameters.
fn params_of_spec(cx: &Context<'_>) -> TokenStream {
    let Context {
        model,
        span,
        private,
        ..
    } = cx;
    if model.has_only_a_panel() {
        let defaults =
            (0..PANEL).map(
                |index| match model.panel.iter().find(|(at, _)| *at == index) {
                    Some((_, default)) => {
                        quote_spanned!(*span=> __p::Some(#default))
                    }
                    None => quote_spanned!(*span=> __p::None),
                },
            );
        return quote_spanned!(*span=> &#private::panel_params([#(#defaults),*]));
    }
    let lists = param_lists(cx);
    match &lists[..] {
        [] => quote_spanned!(*span=> &[]),
        [list] => list.clone(),
        lists => {
            let len = len(cx, model.configs());
            quote_spanned!(*span=> const { &#private::joined::<{ #len }>(&[#(#lists),*]) })
        }
    }
}

/// Returns the parameters as slices: one for each struct of parameters, and one for the parameters between two structs.
fn param_lists(cx: &Context<'_>) -> Vec<TokenStream> {
    let (mut lists, mut own) = (Vec::new(), Vec::new());
    let list = |own: &mut Vec<TokenStream>| {
        let own = std::mem::take(own);
        (!own.is_empty()).then(|| quote_spanned!(cx.span=> &[#(#own),*]))
    };
    for (name, param, config) in cx.model.configs() {
        match is_panel(&param.ty) {
            true => own.extend(panel(cx)),
            false if config.is_group => {
                lists.extend(list(&mut own));
                lists.push(group_item(cx, param, "PARAMS"));
            }
            false => own.push(self::param(cx, name, param, config)),
        }
    }
    lists.extend(list(&mut own));
    lists
}

/// Returns the list of parameters that a struct of parameters adds to a metric.
pub(super) fn params(cx: &Context<'_>) -> TokenStream {
    param_lists(cx).into_iter().collect()
}

/// Returns the index of a `#[param]` among the spec's parameters.
pub(super) fn index(cx: &Context<'_>, name: &Ident) -> TokenStream {
    len(
        cx,
        cx.model.configs().take_while(|(other, ..)| *other != name),
    )
}

/// Returns the number of parameters in the spec for these `#[param]`s.
pub(super) fn len<'a>(
    cx: &Context<'_>,
    configs: impl Iterator<Item = (&'a Ident, &'a Param, &'a Config)>,
) -> TokenStream {
    let (mut own, mut groups) = (0, Vec::new());
    for (_, param, config) in configs {
        match is_panel(&param.ty) {
            true => own += PANEL,
            false if config.is_group => groups.push(group_item(cx, param, "PARAMS")),
            false => own += 1,
        }
    }
    let own = Literal::usize_unsuffixed(own);
    quote_spanned!(cx.span=> #own #(+ #groups.len())*)
}

/// Returns `<Settings as ParamGroup>::item` with the span of the type, so rustc reports a type that is not a struct of
/// parameters once, at that type.
pub(super) fn group_item(cx: &Context<'_>, param: &Param, item: &str) -> TokenStream {
    let owner = cx.owner(param);
    let (start, end) = ends(&owner);
    let runtime = names::runtime_at(cx.model.attrs.krate.as_ref(), start, cx.span);
    let item = Ident::new(item, end);
    let path = quote_spanned!(start=> <#owner as #runtime::ParamGroup>);
    let item = quote_spanned!(end=> ::#item);
    quote!(#path #item)
}

fn param(cx: &Context<'_>, name: &Ident, param: &Param, config: &Config) -> TokenStream {
    let private = &cx.private;
    let names = named(cx, name);
    let name = syn::ext::IdentExt::unraw(name).to_string();
    let ty = as_written(&param.ty);
    let help = help(cx, &param.ty);
    let doc = doc_text(&param.attrs);
    let default = match &config.default {
        Some(default) => default
            .expr
            .as_ref()
            .map_or("default".to_owned(), as_written),
        None => "None".to_owned(),
    };
    let optional = config.default.is_some() || option_of(&param.ty).is_some();
    let default = if optional {
        quote_spanned!(cx.span=> __p::Some(#default))
    } else {
        quote_spanned!(cx.span=> __p::None)
    };
    quote_spanned!(cx.span=> #private::ParamSpec { name: #name, ty: #ty, help: #help, default: #default, doc: #doc, names: &[#(#names),*] })
}

/// The number of command-line parameters of a judge's panel.
pub(super) const PANEL: usize = 4;

/// Returns the parameters of a panel, with the judge's settings as defaults.
fn panel(cx: &Context<'_>) -> Vec<TokenStream> {
    let private = &cx.private;
    let param = |index: usize| {
        let default = cx
            .model
            .panel
            .iter()
            .find(|(at, _)| *at == index)
            .map(|(_, default)| quote_spanned!(cx.span=> default: __p::Some(#default),));
        let index = Literal::usize_unsuffixed(index);
        quote_spanned!(cx.span=> #private::ParamSpec { #default ..#private::PANEL[#index] })
    };
    (0..PANEL).map(param).collect()
}

/// Returns `<Ret as MetricReturn>::item`, or `<Ret as CorpusReturn>::item` for a corpus metric, with the span of the
/// return type, so rustc reports an unsupported type once, at that type.
pub(super) fn returns(cx: &Context<'_>, item: &str, lifetime: &Lifetime) -> TokenStream {
    let Some(ty) = cx.model.output() else {
        return TokenStream::new();
    };
    let (start, end) = ends(ty);
    let ty = in_lifetime(ty, lifetime);
    let runtime = names::runtime_at(cx.model.attrs.krate.as_ref(), start, cx.span);
    let item = Ident::new(item, end);
    let of = if cx.model.attrs.corpus.is_some() {
        "CorpusReturn"
    } else {
        "MetricReturn"
    };
    let of = Ident::new(of, start);
    let path = quote_spanned!(start=> <#ty as #runtime::__private::#of>);
    let item = quote_spanned!(end=> ::#item);
    quote!(#path #item)
}
