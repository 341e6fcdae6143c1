//! The model of a metric function: its parameters with their bindings, its rows and its names.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{FnArg, Generics, Pat, ReturnType, Signature, Type};

use super::configured_fields;
use super::item::Function;
use super::param::{Binding, Config, Param};
use super::role::RoleAttr;
use super::rows::Rows;
use crate::shared::attributes::is_cfg;
use crate::shared::errors::Errors;
use crate::shared::fingerprint;
use crate::shared::names;
use crate::shared::settings::Settings;
use crate::shared::types::ungrouped;

/// A metric function, parsed as completely as its errors allow.
pub(crate) struct Model {
    pub(crate) function: Function,
    pub(crate) attrs: Settings,
    pub(crate) names: Names,
    pub(crate) params: Vec<Param>,
    pub(crate) rows: Rows,
    /// The generics of the function without its lifetimes, which rustc infers at the call.
    pub(crate) generics: Generics,
    /// The defaults that a judge sets for its panel, each with its index among the panel's parameters.
    pub(crate) panel: Vec<(usize, String)>,
    /// The struct with the judge's inputs, if the metric is a judge. The judge is evaluated instead of the function.
    /// The struct has a field for each parameter that is not configuration.
    pub(crate) judged: Option<Ident>,
    /// The fingerprint of the code that computes the score.
    pub(crate) code: u64,
}

/// The names of the metric and its items.
pub(crate) struct Names {
    /// The metric's name in reports.
    pub(crate) metric: String,
    /// The struct that implements the metric.
    pub(crate) ident: Ident,
    /// The span for errors about the metric as a whole.
    pub(crate) span: Span,
    pub(crate) runtime: TokenStream,
    /// The metric's name in a composite.
    pub(crate) component: String,
    /// The documentation line that links to the function or signature.
    pub(crate) origin: String,
}

impl Model {
    pub(crate) fn new(mut function: Function, attrs: Settings, errors: &mut Errors) -> Self {
        let names = Names::new(&function, &attrs);
        let code = fingerprint::of(function.code());
        let mut params = params(&mut function.sig, &attrs, errors);
        configured_fields::resolve(&mut params, &attrs, errors);
        configured_fields::allow_unused(&mut function.sig, &params);
        let rows = Rows::of(&params, &attrs);
        let generics = without_lifetimes(&function.sig.generics);
        let (panel, judged) = (Vec::new(), None);
        Self {
            function,
            attrs,
            names,
            params,
            rows,
            generics,
            panel,
            judged,
            code,
        }
    }

    pub(crate) fn is_async(&self) -> bool {
        self.function.sig.asyncness.is_some()
    }

    /// Returns `true` if the metric is a judge without parameters of its own.
    pub(crate) fn has_only_a_panel(&self) -> bool {
        self.judged.is_some() && self.configs().count() == 1
    }

    /// Returns the return type of the function. For an `async fn`, this is the output of the
    /// future.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.function.sig.output {
            ReturnType::Type(_, ty) => Some(ty),
            ReturnType::Default => None,
        }
    }

    /// Returns the `#[param(flatten)]`s with their names.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&Ident, &Param)> {
        self.configs()
            .filter(|(.., config)| config.is_group)
            .map(|(name, param, _)| (name, param))
    }

    /// Returns the `#[param]`s with their names.
    pub(crate) fn configs(&self) -> impl Iterator<Item = (&Ident, &Param, &Config)> {
        self.params.iter().filter_map(|param| match &param.binding {
            Binding::Config(config) => Some((param.ident.as_ref()?, param, config)),
            _ => None,
        })
    }
}

impl Names {
    fn new(function: &Function, attrs: &Settings) -> Self {
        let fn_ident = &function.sig.ident;
        let name = fn_ident.unraw().to_string();
        let derived = || Ident::new(&names::struct_name(&name), fn_ident.span());
        Self {
            metric: attrs.name.as_ref().map_or(name.clone(), syn::LitStr::value),
            ident: attrs.struct_name.clone().unwrap_or_else(derived),
            span: fn_ident.span(),
            runtime: names::runtime(attrs.krate.as_ref(), fn_ident.span()),
            component: name.clone(),
            origin: format!("The metric that calls the function [`{fn_ident}`](fn@{fn_ident})."),
        }
    }
}

fn params(sig: &mut Signature, attrs: &Settings, errors: &mut Errors) -> Vec<Param> {
    let mut params = Vec::new();
    for input in &mut sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let message = "expected a free function, found a method; remove `self` and write a `#[param]` for what it provides";
                errors.at(receiver.self_token, message);
            }
            FnArg::Typed(typed) => params.push(param(typed, attrs, errors)),
        }
    }
    params
}

pub(crate) fn param(typed: &mut syn::PatType, attrs: &Settings, errors: &mut Errors) -> Param {
    let role = RoleAttr::take(&mut typed.attrs, errors);
    let docs = typed
        .attrs
        .extract_if(.., |attr| attr.path().is_ident("doc"))
        .collect();
    for cfg in typed.attrs.iter().filter(|attr| is_cfg(attr)) {
        errors.at(
            cfg,
            "`cfg` is not supported on a metric's parameters; write it on the function",
        );
    }
    let ident = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        _ => None,
    };
    let ty = ungrouped(&typed.ty).clone();
    let binding = Binding::of(role, ident.as_ref(), typed, attrs, errors);
    let span = ident
        .as_ref()
        .map_or_else(|| first_span(&typed.pat), Ident::span);
    Param {
        ident,
        attrs: docs,
        ty,
        span,
        binding,
    }
}

fn first_span(tokens: &impl ToTokens) -> Span {
    let first = tokens.to_token_stream().into_iter().next();
    first.map_or_else(Span::call_site, |token| token.span())
}

fn without_lifetimes(generics: &Generics) -> Generics {
    let mut kept = generics.clone();
    let params = kept.params.into_iter();
    kept.params = params
        .filter(|param| !matches!(param, syn::GenericParam::Lifetime(_)))
        .collect();
    if kept.params.is_empty() {
        return Generics::default();
    }
    if let Some(clause) = &mut kept.where_clause {
        let predicates = std::mem::take(&mut clause.predicates).into_iter();
        clause.predicates = predicates
            .filter(|predicate| !matches!(predicate, syn::WherePredicate::Lifetime(_)))
            .collect();
    }
    kept
}
