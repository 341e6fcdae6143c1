//! Checks the defaults of parameters: reports a literal that doesn't match the kind of the parameter's type.

use syn::{Expr, Lit, Type};

use crate::shared::errors::Errors;
use crate::shared::function::param::{Binding, Param};
use crate::shared::tokens::as_written;
use crate::shared::types::{is_integer, last_segment_is, list_item, option_of, ungrouped};

/// Reports a literal that cannot be the parameter's default. rustc checks types and values that the tokens do not show.
pub(super) fn check_default(param: &Param, errors: &mut Errors) {
    let (key, default, is_owned) = match &param.binding {
        Binding::Field(_, field) if field.is_counted => ("missing", &field.default, false),
        Binding::Field(_, field) => ("default", &field.default, false),
        Binding::Config(config) => ("default", &config.default, true),
        _ => return,
    };
    let expr = default.as_ref().and_then(|default| default.expr.as_ref());
    let (Some(Expr::Lit(literal)), None) = (expr, option_of(&param.ty)) else {
        return;
    };
    if let Some((kind, instead)) = mismatch(&literal.lit, &param.ty, is_owned) {
        let (found, ty) = (as_written(literal), as_written(&param.ty));
        errors.at(
            literal,
            format!(
                "expected {kind} for the type `{ty}`, found `{found}`; write `{key} = {instead}`"
            ),
        );
    }
}

/// Returns the kind of literal that the type requires and an example, if the literal has a different kind.
fn mismatch(literal: &Lit, ty: &Type, is_owned: bool) -> Option<(&'static str, String)> {
    let text = match literal {
        Lit::Str(text) => Some(text.value()),
        _ => None,
    };
    let value = text.as_deref().map(str::trim);
    if is_integer(ty) && matches!(literal, Lit::Str(_) | Lit::Bool(_)) {
        let number = value.filter(|value| value.parse::<i128>().is_ok());
        return Some(("an integer", number.unwrap_or("0").to_owned()));
    }
    if is_float(ty) && matches!(literal, Lit::Str(_) | Lit::Bool(_)) {
        let number = value
            .and_then(|value| value.parse::<f64>().ok())
            .filter(|it| it.is_finite());
        return Some(("a number", format!("{:?}", number.unwrap_or(0.0))));
    }
    if last_segment_is(ty, "bool") && !matches!(literal, Lit::Bool(_)) {
        let is_true = value == Some("true") || as_written(literal) == "1";
        return Some(("`true` or `false`", is_true.to_string()));
    }
    if is_text(ty) && matches!(literal, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_)) {
        return Some(("a string", format!("\"{}\"", as_written(literal))));
    }
    let item = list_item(ty).filter(|item| is_text(item) || is_integer(item) || is_float(item))?;
    let items: Vec<_> = text?
        .split(',')
        .filter_map(|part| list_entry(part.trim(), item))
        .collect();
    let is_vec = !matches!(ungrouped(ty), Type::Reference(_));
    // The default of a borrowed field is static, so it has no owned strings.
    (is_vec || is_owned).then(|| {
        let list = items.join(", ");
        (
            "a list",
            if is_vec {
                format!("vec![{list}]")
            } else {
                format!("&[{list}]")
            },
        )
    })
}

/// Returns an entry of a list as an expression, or `None` if the string is not one.
fn list_entry(text: &str, item: &Type) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    match item {
        item if last_segment_is(item, "String") => Some(format!("{text:?}.to_owned()")),
        item if is_text(item) => Some(format!("{text:?}")),
        item if is_integer(item) => text.parse::<i128>().ok().map(|number| number.to_string()),
        _ => text.parse::<f64>().ok().map(|number| format!("{number:?}")),
    }
}

fn is_float(ty: &Type) -> bool {
    ["f32", "f64"].iter().any(|name| last_segment_is(ty, name))
}

/// Returns `true` if the type is `String` or `&str`.
fn is_text(ty: &Type) -> bool {
    match ungrouped(ty) {
        Type::Reference(reference) => last_segment_is(&reference.elem, "str"),
        ty => last_segment_is(ty, "String"),
    }
}
