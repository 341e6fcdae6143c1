//! Reports two parameters with the same name: `#[gold] answer: &str, #[pred] answer: &str`.

use syn::{FnArg, Pat};

use crate::shared::errors::Errors;
use crate::shared::function::model::Model;
use crate::shared::function::param::{Binding, Param};
use crate::shared::tokens::as_written;

/// Rejects a parameter that has the same name as another one, because rustc would suggest no solution.
pub(super) fn check(model: &Model, errors: &mut Errors) {
    for (index, param) in model.params.iter().enumerate() {
        let Some(ident) = &param.ident else { continue };
        let before = &model.params[..index];
        if before
            .iter()
            .any(|other| other.ident.as_ref() == Some(ident))
        {
            errors.at(
                ident,
                format!("two parameters are named `{ident}`; {}", write(param)),
            );
        }
    }
}

fn write(param: &Param) -> String {
    match (&param.binding, &param.ident) {
        (Binding::Field(side, field), Some(ident)) => {
            let (side, name, ty) = (side.name(), &field.name, as_written(&param.ty));
            format!("write `#[{side}({name:?})] {side}_{ident}: {ty}`")
        }
        _ => "rename one".to_owned(),
    }
}

/// Renames repeated parameters and discards the body, so rustc reports neither them nor errors that follow from them.
pub(super) fn discard(model: &mut Model) {
    let repeats = |index: usize| {
        let ident = model.params[index].ident.as_ref();
        ident.is_some()
            && model.params[..index]
                .iter()
                .any(|other| other.ident.as_ref() == ident)
    };
    let repeated: Vec<usize> = (0..model.params.len())
        .filter(|index| repeats(*index))
        .collect();
    if repeated.is_empty() {
        return;
    }
    let typed = model
        .function
        .sig
        .inputs
        .iter_mut()
        .filter_map(|input| match input {
            FnArg::Typed(typed) => Some(typed),
            FnArg::Receiver(_) => None,
        });
    for (index, typed) in typed.enumerate() {
        if repeated.contains(&index) {
            *typed.pat = Pat::Wild(syn::PatWild {
                attrs: Vec::new(),
                underscore_token: <syn::Token![_]>::default(),
            });
        }
    }
    model
        .function
        .attrs
        .push(syn::parse_quote!(#[allow(unused_variables)]));
    model.function.body = quote::quote!({ ::core::unreachable!() });
}
