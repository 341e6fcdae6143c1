//! Checks of the function's signature: qualifiers, return type, parameter types.

use syn::{GenericArgument, GenericParam, PathArguments, Type};

use crate::shared::errors::Errors;
use crate::shared::function::item::Function;
use crate::shared::function::param::{Binding, Param};
use crate::shared::tokens::as_written;
use crate::shared::types::{Form, borrows_inside, last_segment_is, option_of, owned, ungrouped};

pub(super) fn check_signature(function: &Function, errors: &mut Errors) {
    let sig = &function.sig;
    if let syn::Safety::Unsafe(token) = &sig.safety {
        errors.at(token, "a metric must be a safe function; remove `unsafe`");
    }
    if !function.has_body() {
        errors.at(
            &sig.ident,
            "expected a function with a body; move it out of the trait",
        );
    }
    if let (Some(word), None) = (function.self_type(), sig.receiver()) {
        errors.at(word, "expected a free function, found `Self`; move the function out of the `impl` or `trait`");
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, "a metric must be a Rust function; remove `extern`");
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(
            variadic,
            "variadic parameters are not supported; remove `...`",
        );
    }
    match &sig.output {
        syn::ReturnType::Default => {
            errors.at(
                &sig.ident,
                "missing return type; write `-> bool` or `-> f64` after the parameters",
            );
        }
        syn::ReturnType::Type(_, ty) => check_return_type(ty, errors),
    }
    for param in &sig.generics.params {
        check_bounds(param, errors);
    }
}

/// Rejects return types whose form excludes a score. rustc checks named types, because it resolves aliases.
fn check_return_type(ty: &Type, errors: &mut Errors) {
    let written = as_written(ty);
    match ungrouped(ty) {
        Type::ImplTrait(opaque) => {
            errors.at(opaque.impl_token, "expected a named return type, found `impl Trait`; write `bool`, `f64` or another score type");
        }
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Option" || last.ident == "Result" => {
                if let PathArguments::AngleBracketed(arguments) = &last.arguments
                    && let Some(GenericArgument::Type(inner)) = arguments.args.first()
                {
                    check_return_type(inner, errors);
                }
            }
            Some(last) if last.ident == "Pin" || last.ident == "Box" => {
                errors.at(ty, format!("unsupported return type `{written}`; {SCORES}; for a future, write `async fn`"));
            }
            _ => {}
        },
        Type::Group(_) | Type::Paren(_) | Type::Infer(_) | Type::Macro(_) | Type::Verbatim(_) => {}
        _ => errors.at(ty, format!("unsupported return type `{written}`; {SCORES}")),
    }
}

const SCORES: &str = "return `bool`, `f64`, `f32`, an integer, `MetricScore`, `FeedbackMetric`, `Check`, `Breakdown` or `Scores`, or an `Option` or `Result` of one of these";

fn check_bounds(param: &GenericParam, errors: &mut Errors) {
    let GenericParam::Type(param) = param else {
        return;
    };
    let mut names = Lifetimes::default();
    for bound in &param.bounds {
        syn::visit::Visit::visit_type_param_bound(&mut names, bound);
    }
    if let Some(lifetime) = names
        .0
        .into_iter()
        .find(|lifetime| lifetime.ident != "static")
    {
        errors.at(lifetime, "a bound cannot name the lifetime of a row, because the metric outlives every row; write `for<'a>` before it, or `DeserializeOwned` instead of `Deserialize<'a>`");
    }
}

#[derive(Default)]
struct Lifetimes(Vec<syn::Lifetime>);

impl<'ast> syn::visit::Visit<'ast> for Lifetimes {
    fn visit_trait_bound(&mut self, bound: &'ast syn::TraitBound) {
        if bound.lifetimes.is_none() {
            syn::visit::visit_trait_bound(self, bound);
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        self.0.push(lifetime.clone());
    }
}

pub(super) fn check_param(param: &Param, errors: &mut Errors) {
    match &param.binding {
        Binding::Field(..) | Binding::Config(_) => {}
        _ => return,
    }
    if let Binding::Config(config) = &param.binding
        && let (Some(inner), Some(default)) = (option_of(&param.ty), &config.default)
    {
        let message = "an `Option` is `None` by default; remove `default` or the `Option`";
        match config.is_group {
            true => errors.at(&param.ty, group_in_option(&param.ty, inner)),
            false => errors.at_span(default.span, message),
        }
    }
    if matches!(param.binding, Binding::Config(_))
        && let Some(name) = param.ident.as_ref().filter(|name| *name == "build")
    {
        errors.at(
            name,
            "`build` is reserved for the builder's method; rename the parameter",
        );
    }
    let inner = option_of(&param.ty).unwrap_or(&param.ty);
    if last_segment_is(inner, "str") || matches!(ungrouped(inner), Type::Slice(_)) {
        let found = as_written(inner);
        errors.at(
            inner,
            format!("`{found}` has no known size; write `&{found}`"),
        );
    }
    if matches!(param.binding, Binding::Config(_)) && borrows_inside(inner) {
        let found = as_written(&param.ty);
        let owned = as_written(owned(&param.ty));
        errors.at(
            &param.ty,
            format!("a parameter must own its values, found `{found}`; write `{owned}`"),
        );
        return;
    }
    check_reference(inner, errors);
    if let (Form::Owned(Type::ImplTrait(opaque)) | Form::Ref(Type::ImplTrait(opaque)), _) =
        Form::of(&param.ty)
    {
        errors.at(
            opaque.impl_token,
            "`impl Trait` is not supported for a field; write a concrete type",
        );
    }
    if let (Form::Ref(Type::TraitObject(object)), _) = Form::of(&param.ty) {
        errors.at(
            object,
            "trait objects are not supported for a field; write a concrete type",
        );
    }
}

fn group_in_option(ty: &Type, inner: &Type) -> String {
    let (found, inner) = (as_written(ty), as_written(inner));
    let reference = if inner.starts_with('&') { "" } else { "&" };
    format!(
        "expected a parameter struct for `flatten`, found `{found}`; write `{reference}{inner}`, because each parameter of the struct has a default"
    )
}

fn check_reference(ty: &Type, errors: &mut Errors) {
    let Type::Reference(reference) = ungrouped(ty) else {
        return;
    };
    if let Some(mutability) = &reference.mutability {
        errors.at(mutability, "rows are read-only; remove `mut`");
    }
    if let Some(lifetime) = reference
        .lifetime
        .as_ref()
        .filter(|lifetime| lifetime.ident == "static")
    {
        errors.at(
            lifetime,
            "a row cannot live for `'static`; remove `'static`",
        );
    }
}
