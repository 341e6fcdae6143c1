//! The rules of `#[metric]` that can be checked on tokens.
//!
//! rustc checks the rules that need types, through the assertions in `expand/assert.rs`.

mod defaults;
mod signature;
mod values;

use syn::Type;

use crate::shared::errors::Errors;
use crate::shared::function::model::Model;
use crate::shared::function::param::Param;
use crate::shared::function::rows::Row;
use crate::shared::function::side::Side;
use crate::shared::names::{self, shadows_prelude};
use crate::shared::tokens::as_written;
use crate::shared::types::ungrouped;

pub(crate) fn check(model: &Model, errors: &mut Errors) {
    values::check_values(&model.attrs, errors);
    check_names(model, errors);
    check_verdict(model, errors);
    check_missing(model, errors);
    check_corpus(model, errors);
    signature::check_signature(&model.function, errors);
    check_params(&model.params, errors);
    check_groups(model, errors);
}

/// Checks each parameter on its own.
pub(crate) fn check_params(params: &[Param], errors: &mut Errors) {
    for param in params {
        signature::check_param(param, errors);
        defaults::check_default(param, errors);
    }
}

/// Reports a struct of parameters that is flattened twice. `assert.rs` rejects two structs that share a parameter name.
fn check_groups(model: &Model, errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for (_, param) in model.groups() {
        let written = as_written(&param.ty).trim_start_matches('&').to_owned();
        if seen.contains(&written) {
            errors.at(&param.ty, format!("`{written}` is flattened twice, so its parameters would have duplicate names; remove one"));
        }
        seen.push(written);
    }
}

fn check_names(model: &Model, errors: &mut Errors) {
    let ident = &model.names.ident;
    let function = &model.function.sig.ident;
    if shadows_prelude(ident) {
        errors.at(ident, format!("the metric's struct `{ident}` would shadow the prelude's `{ident}`; write `#[metric(struct = {ident}Metric)]`"));
    }
    if let Some(name) = model
        .attrs
        .name
        .as_ref()
        .filter(|name| !names::is_snake(&name.value()))
    {
        let snake = names::suggested_snake(&name.value());
        errors.at(
            name,
            names::not_in_snake_case(
                "metric",
                &name.value(),
                &format!("write `name = \"{snake}\"`"),
            ),
        );
    }
    if ident == function {
        let snake = names::suggested_snake(&function.to_string());
        errors.at(function, format!("the metric's struct and its function are both named `{function}`; rename the function to `{snake}`"));
    } else if model.attrs.name.is_none() && !names::is_snake(&model.names.metric) {
        let snake = names::suggested_snake(&model.names.metric);
        let write = format!("rename the function, or write `#[metric(name = \"{snake}\")]`");
        errors.at(
            function,
            names::not_in_snake_case("metric", &model.names.metric, &write),
        );
    }
    if let Some(path) = &model.attrs.krate {
        names::check_crate_path(path, errors);
    }
}

/// Reports settings for row scores, which a corpus metric does not have.
fn check_corpus(model: &Model, errors: &mut Errors) {
    let attrs = &model.attrs;
    if attrs.corpus.is_none() {
        return;
    }
    let message = |key: &str, instead: &str| {
        format!(
            "`{key}` is not supported for a corpus metric, which has no score for a row; {instead}"
        )
    };
    if let Some(threshold) = &attrs.threshold {
        errors.at(
            threshold,
            message("threshold", "remove it, and compare the score of all rows"),
        );
    }
    if let Some(span) = attrs.strict {
        errors.at_span(span, message("strict", "remove it"));
    }
    if let Some(missing) = &attrs.missing {
        errors.at(
            missing,
            message("missing", "write `#[pred(missing = ..)]` on the field"),
        );
    }
    if let Some(explain) = &attrs.explain {
        errors.at(explain, message("explain", "remove it"));
    }
}

fn check_verdict(model: &Model, errors: &mut Errors) {
    let attrs = &model.attrs;
    if attrs.corpus.is_some() {
        return;
    }
    let is_bool = model.output().is_some_and(is_bool);
    if is_bool {
        if let Some(threshold) = &attrs.threshold {
            errors.at(threshold, BOOL_THRESHOLD);
        }
        if let Some(range) = &attrs.range {
            errors.at(range, BOOL_RANGE);
        }
        if let Some(span) = attrs.strict {
            errors.at_span(span, BOOL_STRICT);
        }
        if let Some(span) = attrs.lower_is_better {
            errors.at_span(span, BOOL_DIRECTION);
        }
    } else if let (Some(span), false) = (attrs.strict, attrs.mentions_threshold()) {
        errors.at_span(span, "`strict` requires a threshold; add `threshold = 0.5`");
    }
}

/// Reports a `missing` that has no effect.
fn check_missing(model: &Model, errors: &mut Errors) {
    let Some(missing) = &model.attrs.missing else {
        return;
    };
    if matches!(model.rows.get(Side::Pred), Row::Typed(_)) {
        errors.at(missing, "`missing` is not supported for a typed prediction; remove `pred = ..`, because the metric still scores every row that derives `Record`");
    } else if !model
        .params
        .iter()
        .any(|param| param.is_required(Side::Pred))
    {
        errors.at(missing, "`missing` has no effect, because no field of the prediction is required; remove it, or read a field with `#[pred]`");
    }
}

// Settings that a `bool` metric does not support. They are reported here if the return type is spelled `bool`, and by
// `assert.rs` if it is an alias.
pub(crate) const BOOL_THRESHOLD: &str =
    "`threshold` is not supported for a `bool` metric; remove it, or return a number";
pub(crate) const BOOL_RANGE: &str =
    "`range` is not supported for a `bool` metric; remove it, or return a number";
pub(crate) const BOOL_STRICT: &str = "a `bool` metric is always strict; remove `strict`";
pub(crate) const MISSING: &str = "the score for a missing field must be one that the metric can return; write a number in its range, or `true` or `false` for a `bool` metric";
pub(crate) const BOOL_DIRECTION: &str = "`lower_is_better` is not supported for a `bool` metric, where `true` passes; negate the returned value";

/// Returns `true` if the type is `bool`, possibly inside `Option` or `Result`.
fn is_bool(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else {
        return false;
    };
    if path.path.is_ident("bool") {
        return true;
    }
    let Some(last) = path.path.segments.last() else {
        return false;
    };
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments)
            if last.ident == "Option" || last.ident == "Result" =>
        {
            matches!(arguments.args.first(), Some(syn::GenericArgument::Type(inner)) if is_bool(inner))
        }
        _ => false,
    }
}
