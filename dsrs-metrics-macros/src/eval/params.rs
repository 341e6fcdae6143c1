//! The parameters of the program, which are its inputs.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, GenericArgument, LitStr, Meta, Pat, PathArguments, ReturnType, Type};

use super::attr::EvalAttrs;
use crate::shared::errors::Errors;
use crate::shared::function::item::Function;
use crate::shared::tokens::{as_written, is_ident};
use crate::shared::types::{last_segment_is, option_of, ungrouped};

/// What the program receives.
pub(super) enum Params {
    /// Nothing: the function returns rows.
    None,
    /// Each parameter is an input.
    Inputs(Vec<Input>),
    /// One parameter receives the fields of `inputs(..)`.
    Whole { ty: Type },
}

/// An input of the program.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) ty: Type,
}

impl Input {
    pub(super) fn is_optional(&self) -> bool {
        option_of(&self.ty).is_some()
    }
}

/// Removes the macro's attributes from the parameters, and parses them.
pub(super) fn take(function: &mut Function, attrs: &EvalAttrs, errors: &mut Errors) -> Params {
    let mut inputs = Vec::new();
    for param in &mut function.sig.inputs {
        let FnArg::Typed(param) = param else {
            errors.at(
                param,
                "an eval cannot take `self`; move it out of the `impl` block",
            );
            continue;
        };
        let rename = rename(&mut param.attrs, errors);
        let ident = match &*param.pat {
            Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() => Some(&pat.ident),
            _ => None,
        };
        let name = rename
            .as_ref()
            .map(LitStr::value)
            .or_else(|| Some(ident?.unraw().to_string()));
        let Some(name) = name else {
            let found = as_written(&param.pat);
            errors.at(&param.pat, format!("expected the name of an input, found the pattern `{found}`; write `question: String`, or `#[input(\"question\")]` before it"));
            continue;
        };
        let span = rename
            .as_ref()
            .map_or_else(|| param.pat.span(), LitStr::span);
        if attrs.gold().is_some() && !is_ident(&name) {
            errors.at_span(
                span,
                format!("`{name}` is not a field name; write the name of one of the row's fields"),
            );
        }
        let ty = option_of(&param.ty).unwrap_or(&param.ty);
        if last_segment_is(ty, "str") || matches!(ungrouped(ty), Type::Slice(_)) {
            let found = as_written(ty);
            errors.at(ty, format!("`{found}` has no known size; write `&{found}`"));
        }
        inputs.push(Input {
            name,
            span,
            ty: (*param.ty).clone(),
        });
    }
    match &attrs.inputs {
        Some(list) if inputs.len() != 1 => {
            let found = inputs.len();
            errors.at(&list.key, format!("expected one parameter for the fields in `inputs(..)`, found {found}; remove `inputs(..)`, because each parameter already reads the input with its name"));
            Params::Inputs(inputs)
        }
        Some(_) => match inputs.pop() {
            Some(input) => Params::Whole { ty: input.ty },
            None => Params::None,
        },
        None if function.sig.inputs.is_empty() => Params::None,
        None => {
            for input in &inputs {
                let row = match ungrouped(&input.ty) {
                    Type::Reference(reference) => &reference.elem,
                    ty => ty,
                };
                if last_segment_is(row, "Example") && !attrs.has("inputs") {
                    errors.at_span(input.ty.span(), "an `Example` would also contain the expected answer; write `inputs(question)` in `#[eval]` with the fields that the program may read");
                }
            }
            Params::Inputs(inputs)
        }
    }
}

/// Removes `#[input("name")]`, and returns the name.
fn rename(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<LitStr> {
    let mut name = None;
    attrs.retain(|attr| {
        let of_metric = ["gold", "pred", "param"];
        if let Some(role) = of_metric.iter().find(|role| attr.path().is_ident(**role)) {
            let write = match attr.parse_args::<LitStr>() {
                Ok(name) => format!("write `#[input({:?})]`", name.value()),
                Err(_) => format!("remove `#[{role}]`"),
            };
            errors.at(
                attr,
                format!("a program's parameter reads the input with the same name; {write}"),
            );
            return false;
        }
        if !attr.path().is_ident("input") {
            return true;
        }
        match &attr.meta {
            Meta::Path(_) => {}
            Meta::List(list) => match list.parse_args::<LitStr>() {
                Ok(found) if found.value().is_empty() => {
                    errors.at(&found, "empty input name; write `#[input(\"question\")]`");
                }
                Ok(found) if name.is_none() => name = Some(found),
                Ok(found) => errors.at(&found, "duplicate `#[input]`; keep one"),
                Err(_) => errors.at(
                    &list.tokens,
                    "expected the field name as a string; write `#[input(\"question\")]`",
                ),
            },
            Meta::NameValue(pair) => errors.at(
                &pair.value,
                "expected `#[input(..)]`, found `#[input = ..]`; write `#[input(\"question\")]`",
            ),
        }
        false
    });
    name
}

/// Returns the type of the prediction (`None` for the default `Prediction`), and `true` if the return type is a
/// `Result`. The prediction's type is the return type without `Result` and `ProgramOutput`.
pub(super) fn returned(function: &Function) -> (Option<Type>, bool) {
    let ReturnType::Type(_, ty) = &function.sig.output else {
        return (Some(syn::parse_quote!(())), false);
    };
    let (ty, is_result) = match first_argument(ty, |name| name.ends_with("Result")) {
        Some(inner) => (inner, true),
        None => (&**ty, false),
    };
    if last_segment_is(ty, "ProgramOutput") {
        return (None, is_result);
    }
    let ty = first_argument(ty, |name| name == "ProgramOutput").unwrap_or(ty);
    (Some(ty.clone()), is_result)
}

fn first_argument(ty: &Type, is_named: impl Fn(&str) -> bool) -> Option<&Type> {
    let Type::Path(path) = ungrouped(ty) else {
        return None;
    };
    let last = path
        .path
        .segments
        .last()
        .filter(|last| is_named(&last.ident.to_string()))?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(ungrouped(inner)),
        _ => None,
    }
}

/// Returns the name of the test.
pub(super) fn test_name(function: &Function) -> Ident {
    let ident = &function.sig.ident;
    Ident::new(&format!("{}_eval", ident.unraw()), ident.span())
}

/// Returns the tokens for the fields of `inputs(..)`.
pub(super) fn names(inputs: &[&Input]) -> TokenStream {
    let names = inputs.iter().map(|input| &input.name);
    quote::quote!(&[#(#names),*])
}
