//! What a `#[metric]` function means: its parameters by what they are bound to, its rows, its names.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt as _;
use syn::parse::{Parse as _, ParseStream, Parser as _};
use syn::{Attribute, FnArg, Generics, Pat, ReturnType, Signature, Token, Type, Visibility};

use super::attr::MetricAttrs;
use super::bind::{self, Binding};
use super::named;
use super::role::{DefaultValue, Role, RoleAttr};
use super::rows::Rows;
use crate::errors::Errors;
use crate::names;

/// The function as written, its body unread: rustc reports what is wrong in there.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: TokenStream,
}

impl Function {
    pub(crate) fn parse(item: TokenStream, errors: &mut Errors) -> Option<Self> {
        let parser = |input: ParseStream<'_>| {
            let attrs = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            let at = input.fork();
            let sig = Signature::parse(input).map_err(|error| not_a_function(&at, error))?;
            Ok(Self { attrs, vis, sig, body: input.parse()? })
        };
        let mut function: Self = errors.ok(parser.parse2(item))?;
        function.attrs.retain(|attr| {
            let again = attr.path().segments.last().is_some_and(|last| last.ident == "metric");
            if again {
                errors.at(attr, "`#[metric]` is given twice; keep one");
            }
            !again
        });
        Some(function)
    }

    /// Whether it stands in an `impl` or a `trait`, where no metric can stand beside it.
    pub(crate) fn is_associated(&self) -> bool {
        self.sig.receiver().is_some() || !self.has_body()
    }

    pub(crate) fn has_body(&self) -> bool {
        self.body.to_string() != ";"
    }

    /// The function without the attributes that only the macro understands.
    pub(crate) fn stripped(&self) -> TokenStream {
        let Self { attrs, vis, sig, body } = self;
        quote::quote!(#(#attrs)* #vis #sig #body)
    }
}

/// Whether the item is a struct, which makes a composite.
pub(super) fn is_struct(item: &TokenStream) -> bool {
    let parser = |input: ParseStream<'_>| {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let is_struct = input.peek(Token![struct]);
        input.parse::<TokenStream>()?;
        Ok(is_struct)
    };
    parser.parse2(item.clone()).unwrap_or(false)
}

fn not_a_function(at: ParseStream<'_>, error: syn::Error) -> syn::Error {
    let after_qualifiers = at.fork();
    while after_qualifiers.peek(Token![const])
        || after_qualifiers.peek(Token![async])
        || after_qualifiers.peek(Token![unsafe])
    {
        let _ = after_qualifiers.call(Ident::parse_any);
    }
    if after_qualifiers.peek(Token![fn]) || at.peek(Token![extern]) {
        return error;
    }
    let keyword = at.fork().call(Ident::parse_any);
    let what = keyword.map_or("this", |keyword| item_kind(&keyword.to_string()));
    at.error(format!("`#[metric]` goes on a function, not on {what}: write `#[metric] fn name(#[gold] .., #[pred] ..) -> bool`"))
}

fn item_kind(keyword: &str) -> &'static str {
    match keyword {
        "enum" => "an enum",
        "union" => "a union",
        "impl" => "an impl block",
        "trait" => "a trait",
        "mod" => "a module",
        "const" => "a constant",
        "static" => "a static",
        "type" => "a type alias",
        "use" => "an import",
        _ => "this",
    }
}

/// The item without `#[gold]`, `#[pred]` and `#[param]`, which nobody but `#[metric]` understands.
pub(crate) fn without_roles(item: TokenStream) -> TokenStream {
    without_attributes(item, &Role::is_name)
}

/// The item without the attributes whose names are ours, wherever they stand in it.
pub(crate) fn without_attributes(
    item: TokenStream,
    is_ours: &dyn Fn(&Ident) -> bool,
) -> TokenStream {
    let is_attribute = |token: &TokenTree| match token {
        TokenTree::Group(group) => matches!(
            group.stream().into_iter().next(),
            Some(TokenTree::Ident(word)) if is_ours(&word)
        ),
        _ => false,
    };
    let mut kept = TokenStream::new();
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if matches!(&token, TokenTree::Punct(hash) if hash.as_char() == '#')
            && tokens.next_if(is_attribute).is_some()
        {
            continue;
        }
        kept.extend([match token {
            TokenTree::Group(group) => {
                let inner = without_attributes(group.stream(), is_ours);
                let mut stripped = Group::new(group.delimiter(), inner);
                stripped.set_span(group.span());
                stripped.into()
            }
            token => token,
        }]);
    }
    kept
}

/// A `#[metric]` function, understood as far as its mistakes allow.
pub(crate) struct Model {
    pub(crate) function: Function,
    pub(crate) attrs: MetricAttrs,
    pub(crate) names: Names,
    pub(crate) params: Vec<Param>,
    pub(crate) rows: Rows,
    /// The function's generics without its lifetimes, which are rustc's to infer at the call.
    pub(crate) generics: Generics,
    /// What a judge says of its panel in place of a default, by the place among the panel's parameters.
    pub(crate) panel: Vec<(usize, String)>,
}

/// How the metric and its parts are called.
pub(crate) struct Names {
    /// The metric's name in reports.
    pub(crate) metric: String,
    /// The struct that implements it.
    pub(crate) ident: Ident,
    /// Where rustc should point when it means the metric as a whole.
    pub(crate) span: Span,
    pub(crate) runtime: TokenStream,
    /// The metric's name where a composite names it.
    pub(crate) component: String,
    /// A sentence that says what the metric was made of.
    pub(crate) origin: String,
}

/// A parameter of the function.
pub(crate) struct Param {
    pub(crate) ident: Option<Ident>,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) ty: Type,
    pub(crate) span: Span,
    pub(crate) binding: Binding,
}

/// A field of a row that a parameter reads.
pub(crate) struct FieldParam {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) renamed: bool,
    /// The `#[param]` that says which field it is, whose default is its name here.
    pub(crate) named_by: Option<Ident>,
    pub(crate) default: Option<DefaultValue>,
}

/// A `#[param]`.
pub(crate) struct Config {
    pub(crate) default: Option<DefaultValue>,
}

impl Model {
    pub(crate) fn new(mut function: Function, attrs: MetricAttrs, errors: &mut Errors) -> Self {
        let names = Names::new(&function, &attrs);
        let mut params = params(&mut function.sig, &attrs, errors);
        named::resolve(&mut params, &attrs, errors);
        named::need_not_be_used(&mut function.sig, &params);
        let rows = Rows::of(&params, &attrs);
        let generics = without_lifetimes(&function.sig.generics);
        Self { function, attrs, names, params, rows, generics, panel: Vec::new() }
    }

    pub(crate) fn is_async(&self) -> bool {
        self.function.sig.asyncness.is_some()
    }

    /// What the function returns; of an async one, what it resolves to.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.function.sig.output {
            ReturnType::Type(_, ty) => Some(ty),
            ReturnType::Default => None,
        }
    }

    /// The `#[param]`s with their names.
    pub(crate) fn configs(&self) -> impl Iterator<Item = (&Ident, &Param, &Config)> {
        self.params.iter().filter_map(|param| match &param.binding {
            Binding::Config(config) => Some((param.ident.as_ref()?, param, config)),
            _ => None,
        })
    }
}

impl Names {
    fn new(function: &Function, attrs: &MetricAttrs) -> Self {
        let fn_ident = &function.sig.ident;
        let name = fn_ident.unraw().to_string();
        let derived = || {
            let camel = names::upper_camel(&name);
            let is_ident = names::parsed::<Ident>(&camel).is_some();
            let camel = if is_ident { camel } else { format!("Metric{camel}") };
            format_ident!("{camel}", span = fn_ident.span())
        };
        Self {
            metric: attrs.name.as_ref().map_or(name.clone(), syn::LitStr::value),
            ident: attrs.struct_name.clone().unwrap_or_else(derived),
            span: fn_ident.span(),
            runtime: names::runtime(attrs.krate.as_ref(), fn_ident.span()),
            component: name.clone(),
            origin: format!("The metric of the function [`{fn_ident}`](fn@{fn_ident})."),
        }
    }
}

fn params(sig: &mut Signature, attrs: &MetricAttrs, errors: &mut Errors) -> Vec<Param> {
    let mut params = Vec::new();
    for input in &mut sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let message = "a metric is a free function: take `self` away and bind what it needs with `#[param]`";
                errors.at(receiver.self_token, message);
            }
            FnArg::Typed(typed) => params.push(param(typed, attrs, errors)),
        }
    }
    params
}

fn param(typed: &mut syn::PatType, attrs: &MetricAttrs, errors: &mut Errors) -> Param {
    let role = RoleAttr::take(&mut typed.attrs, errors);
    let docs = typed.attrs.extract_if(.., |attr| attr.path().is_ident("doc")).collect();
    for cfg in typed.attrs.iter().filter(|attr| super::attr::is_cfg(attr)) {
        errors.at(cfg, "a metric's parameters are part of its type, so they cannot come and go with `cfg`; put `cfg` on the function");
    }
    let ident = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        _ => None,
    };
    let ty = bind::ungrouped(&typed.ty).clone();
    let binding = Binding::of(role, ident.as_ref(), typed, attrs, errors);
    let span = ident.as_ref().map_or_else(|| first_span(&typed.pat), Ident::span);
    Param { ident, attrs: docs, ty, span, binding }
}

fn first_span(tokens: &impl ToTokens) -> Span {
    let first = tokens.to_token_stream().into_iter().next();
    first.map_or_else(Span::call_site, |token| token.span())
}

fn without_lifetimes(generics: &Generics) -> Generics {
    let mut kept = generics.clone();
    let params = kept.params.into_iter();
    kept.params = params.filter(|param| !matches!(param, syn::GenericParam::Lifetime(_))).collect();
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
