//! Fields with a configurable name: `#[pred(named_by = field)] text: &str` with
//! `#[param(default = "answer")] field: &str`. The parameter's default is the default name.

use proc_macro2::Ident;
use syn::{FnArg, Pat, Signature, parse_quote_spanned};

use super::param::{Binding, Param};
use super::side::Side;
use crate::shared::errors::Errors;
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;
use crate::shared::types::{Form, is_string};
use crate::shared::values::text;

/// Sets the name of each such field to its parameter's default.
pub(super) fn resolve(params: &mut [Param], attrs: &Settings, errors: &mut Errors) {
    for index in 0..params.len() {
        let Binding::Field(side, field) = &params[index].binding else {
            continue;
        };
        let Some(by) = &field.named_by else { continue };
        check(*side, &params[index], attrs, errors);
        let Some(default) = default_name(by, params, errors) else {
            continue;
        };
        if let Binding::Field(_, field) = &mut params[index].binding {
            field.name = default;
        }
    }
}

/// Allows the function to ignore a parameter that only names a field.
pub(super) fn allow_unused(sig: &mut Signature, params: &[Param]) {
    let names: Vec<&Ident> = params.iter().filter_map(named_by).collect();
    for input in &mut sig.inputs {
        if let FnArg::Typed(typed) = input
            && let Pat::Ident(pat) = &*typed.pat
            && names.contains(&&pat.ident)
        {
            let span = pat.ident.span();
            typed
                .attrs
                .push(parse_quote_spanned!(span=> #[allow(unused_variables)]));
        }
    }
}

fn named_by(param: &Param) -> Option<&Ident> {
    match &param.binding {
        Binding::Field(_, field) => field.named_by.as_ref(),
        _ => None,
    }
}

/// Returns the default of the parameter `by`.
fn default_name(by: &Ident, params: &[Param], errors: &mut Errors) -> Option<String> {
    let form = format!("`#[param(default = \"answer\")] {by}: &str`");
    let param = params.iter().find(|param| param.ident.as_ref() == Some(by));
    let Some((param, config)) = param.and_then(|param| match &param.binding {
        Binding::Config(config) => Some((param, config)),
        _ => None,
    }) else {
        errors.at(
            by,
            format!("no `#[param]` is named `{by}`; add the parameter {form}"),
        );
        return None;
    };
    if !matches!(Form::of(&param.ty), (Form::Text, false)) && !is_string(&param.ty) {
        let found = as_written(&param.ty);
        errors.at(&param.ty, format!("expected `&str` or `String` for a parameter that names a field, found `{found}`; write {form}"));
        return None;
    }
    match config
        .default
        .as_ref()
        .and_then(|default| default.expr.as_ref())
        .and_then(text)
    {
        Some(name) if !name.value().is_empty() => Some(name.value()),
        _ => {
            errors.at(by, format!("the parameter `{by}` names a field, so it must have a string literal as its default; write {form}"));
            None
        }
    }
}

fn check(side: Side, param: &Param, attrs: &Settings, errors: &mut Errors) {
    let Binding::Field(_, field) = &param.binding else {
        return;
    };
    if field.renamed {
        errors.at_span(field.name_span, "a field with `named_by` takes its name from that parameter's default; remove this name");
    }
    if let Some(default) = &field.default {
        errors.at_span(
            default.span,
            "a field with `named_by` is required; remove `default`",
        );
    }
    if !matches!(Form::of(&param.ty), (Form::Text, false)) {
        let found = as_written(&param.ty);
        errors.at(
            &param.ty,
            format!("expected `&str` for a field with `named_by`, found `{found}`; write `&str`"),
        );
    }
    if side.declared(attrs).is_some() {
        let side = side.name();
        errors.at_span(param.span, format!("`named_by` is not supported with a typed row; remove `{side} = ..`, because the metric still scores every row that derives `Record`"));
    }
}
