//! Expands a checked eval into its rules and its test.
//!
//! The file is long because each key of `#[eval]` becomes part of one generated test.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, LitStr};

use super::attr::{EvalAttrs, milliseconds};
use super::check;
use super::gate::{End, Gate, Kind, Limited};
use super::metrics::{MetricOfEval, SampleOfEval, Value};
use super::params::{self, Input, Params};
use crate::shared::attributes::is_cfg;
use crate::shared::function::item::Function;
use crate::shared::names;
use crate::shared::tokens::as_written;
use crate::shared::types::{Form, last_segment_is};
use crate::shared::values::{cost_msats, number};

pub(super) struct Context<'a> {
    pub(super) function: &'a Function,
    pub(super) attrs: &'a EvalAttrs,
    pub(super) params: &'a Params,
    pub(super) span: Span,
    pub(super) runtime: TokenStream,
    pub(super) private: TokenStream,
    pub(super) evals: TokenStream,
}

pub(super) fn expand(function: &Function, attrs: &EvalAttrs, params: &Params) -> TokenStream {
    let span = function.sig.ident.span();
    let runtime = names::runtime(attrs.settings.krate.as_ref(), span);
    let cx = &Context {
        function,
        attrs,
        params,
        span,
        private: quote_spanned!(span=> #runtime::__private),
        evals: quote_spanned!(span=> __evals),
        runtime,
    };
    let cfgs = function.attrs.iter().filter(|attr| is_cfg(attr));
    let cfgs = quote!(#(#cfgs)*);
    let rules = cx.rules(&cfgs);
    let test = missing_devset(attrs).unwrap_or_else(|| cx.test());
    quote!(#rules #cfgs #test)
}

/// Returns an error instead of the test if its devset does not exist. Without tests, nothing reads the devset.
fn missing_devset(attrs: &EvalAttrs) -> Option<TokenStream> {
    let Some(Expr::Lit(ExprLit {
        lit: Lit::Str(path),
        ..
    })) = &attrs.devset
    else {
        return None;
    };
    let message = check::missing_devset(&path.value())?;
    let error = syn::Error::new_spanned(path, message).into_compile_error();
    Some(quote!(#[cfg(test)] #error))
}

impl Context<'_> {
    pub(super) fn metrics(&self) -> &[MetricOfEval] {
        self.attrs.metrics.as_ref().map_or(&[], |list| &list.items)
    }

    pub(super) fn gates(&self) -> &[Gate] {
        self.attrs.gates.as_ref().map_or(&[], |list| &list.items)
    }

    fn test(&self) -> TokenStream {
        let Self {
            span,
            evals,
            runtime,
            attrs,
            ..
        } = self;
        let (name, function) = (params::test_name(self.function), &self.function.sig.ident);
        let text = function.to_string();
        let text = text.trim_start_matches("r#");
        let ignore = attrs
            .live
            .as_ref()
            .filter(|_| attrs.replay.is_none())
            .map(|live| {
                let what = live
                    .name
                    .as_ref()
                    .map_or("a language model".to_owned(), LitStr::value);
                let reason = format!("calls {what}; run with --ignored");
                quote_spanned!(*span=> #[ignore = #reason])
            });
        let (gold, pred) = self.row_types();
        let (settings, gates, run) = (self.settings(), self.gate_calls(), self.run(&pred));
        let metrics = self.metrics().iter().map(|metric| self.metric_call(metric));
        // At the attribute.
        let line = quote_spanned!(Span::call_site()=> ::core::line!());
        quote_spanned! {*span=>
            #[::core::prelude::v1::test]
            #ignore
            fn #name() {
                use #runtime::evals as #evals;
                #evals::Eval::<#gold, #pred>::new(#evals::Source {
                    name: #text,
                    module: ::core::module_path!(),
                    file: ::core::file!(),
                    line: #line,
                    package: ::core::env!("CARGO_PKG_NAME"),
                    folder: ::core::env!("CARGO_MANIFEST_DIR"),
                })
                #settings
                #(#metrics)*
                #gates
                #run;
            }
        }
    }

    /// Returns the types of gold rows and predictions.
    fn row_types(&self) -> (TokenStream, TokenStream) {
        let Self {
            span,
            runtime,
            attrs,
            ..
        } = self;
        if matches!(self.params, Params::None) {
            return (quote!(_), quote!(_));
        }
        let gold = match attrs.gold() {
            Some(gold) => gold.to_token_stream(),
            None => quote_spanned!(*span=> #runtime::Example),
        };
        let (pred, _) = params::returned(self.function);
        let pred = match pred {
            Some(pred) => pred.to_token_stream(),
            None => quote_spanned!(*span=> #runtime::Prediction),
        };
        (gold, pred)
    }

    /// Returns `.metric(..)`, or `.truth(..)` for a metric that judges a sample.
    fn metric_call(&self, metric: &MetricOfEval) -> TokenStream {
        let value = self.metric(metric);
        let Some(SampleOfEval { rows, by }) = &metric.sample else {
            return quote_spanned!(self.span=> .metric(#value));
        };
        let by = match by.as_ref().map(Ident::to_string) {
            Some(by) => quote!(::core::option::Option::Some(#by)),
            None => quote!(::core::option::Option::None),
        };
        quote_spanned!(self.span=> .truth(#value, #rows, #by))
    }

    fn metric(&self, metric: &MetricOfEval) -> TokenStream {
        let span = metric.span;
        match (&metric.value, &metric.ty) {
            (Value::Expression(expression), _) => expression.to_token_stream(),
            (Value::Default, ty) => {
                let runtime =
                    names::runtime_at(self.attrs.settings.krate.as_ref(), span, self.span);
                quote_spanned!(span=> <#ty as #runtime::Declared>::start().build())
            }
        }
    }

    fn settings(&self) -> TokenStream {
        let (span, attrs) = (self.span, self.attrs);
        let mut calls = TokenStream::new();
        let mut call = |method: &str, argument: Option<TokenStream>| {
            let method = Ident::new(method, span);
            calls.extend(quote_spanned!(span=> .#method(#argument)));
        };
        match &attrs.devset {
            Some(Expr::Lit(ExprLit {
                lit: Lit::Str(path),
                ..
            })) => {
                call("devset_file", Some(path.to_token_stream()));
            }
            Some(rows) => call("devset", Some(rows.to_token_stream())),
            None => {}
        }
        match self.params {
            Params::Inputs(inputs) if attrs.gold().is_none() => {
                let (optional, required): (Vec<&Input>, Vec<&Input>) =
                    inputs.iter().partition(|input| input.is_optional());
                let (required, optional) = (params::names(&required), params::names(&optional));
                call("inputs", Some(quote!(#required, #optional)));
            }
            Params::Whole { .. } => {
                let names = attrs
                    .inputs
                    .iter()
                    .flat_map(|list| &list.items)
                    .map(Ident::to_string);
                call("inputs", Some(quote!(&[#(#names),*], &[])));
            }
            _ => {}
        }
        let numbers = [
            ("repeats", &attrs.repeats),
            ("concurrency", &attrs.concurrency),
            ("seed", &attrs.seed),
        ];
        for (method, number) in numbers {
            if let Some(number) = number {
                call(method, Some(number.to_token_stream()));
            }
        }
        if let Some(budget) = &attrs.settings.budget {
            let msats = cost_msats("budget", &budget.value()).unwrap_or_default();
            call("budget", Some(quote!(#msats)));
        }
        if let Some(timeout) = &attrs.timeout {
            let millis = milliseconds(&timeout.value()).unwrap_or_default();
            call(
                "timeout",
                Some(quote!(::core::time::Duration::from_millis(#millis))),
            );
        }
        if let Some(limit) = &attrs.limit {
            call("limit", Some(limit.to_token_stream()));
        }
        if let Some(score) = &attrs.failure_score {
            call("failure_score", Some(number(score)));
        }
        for (method, text) in [("group", &attrs.group), ("replay", &attrs.replay)] {
            if let Some(text) = text {
                call(method, Some(text.to_token_stream()));
            }
        }
        for (method, named) in [("baseline", &attrs.baseline), ("live", &attrs.live)] {
            if let Some(named) = named {
                let name = match &named.name {
                    Some(name) => quote!(::core::option::Option::Some(#name)),
                    None => quote!(::core::option::Option::None),
                };
                call(method, Some(name));
            }
        }
        if let Some(early) = &attrs.early {
            let alpha = match &early.alpha {
                Some(alpha) => {
                    let alpha = number(alpha);
                    quote!(::core::option::Option::Some(#alpha))
                }
                None => quote!(::core::option::Option::None),
            };
            call("early", Some(alpha));
        }
        if attrs
            .flavor
            .as_ref()
            .is_some_and(|it| it.value() == "current_thread")
        {
            call("current_thread", None);
        }
        // A run that pays for calls keeps what it paid for if its predictions can be stored.
        let is_dynamic = params::returned(self.function)
            .0
            .is_none_or(|it| last_segment_is(&it, "Prediction"));
        let has_store = attrs.store.is_some()
            || attrs.live.is_some()
                && attrs.replay.is_none()
                && is_dynamic
                && attrs.gold().is_none();
        let flags = [
            ("baseline_rows", attrs.baseline_rows.is_some()),
            ("rescore", attrs.rescore.is_some()),
            ("strict", attrs.strict.is_some()),
            ("store", has_store),
        ];
        for (method, is_set) in flags {
            if is_set {
                call(method, None);
            }
        }
        calls
    }

    fn gate_calls(&self) -> TokenStream {
        let gates = self.gates().iter().map(|gate| {
            let (text, condition) = (&gate.text, self.condition(gate));
            quote_spanned!(self.span=> .gate(#text, #condition))
        });
        gates.collect()
    }

    fn condition(&self, gate: &Gate) -> TokenStream {
        let Self { span, evals, .. } = self;
        let condition = quote_spanned!(*span=> #evals::Condition);
        match &gate.kind {
            Kind::Score {
                metric,
                end,
                operator,
                bound,
            } => {
                let (metric, bound) = (metric.to_string(), number(bound));
                let end = match end {
                    End::Lower => "Lower",
                    End::Upper => "Upper",
                    End::Estimate => "Estimate",
                };
                let kind = match operator.is_at_least {
                    true => "AtLeast",
                    false => "AtMost",
                };
                let [end, kind] = [end, kind].map(|name| Ident::new(name, *span));
                let bound = quote_spanned!(*span=> #evals::Bound::#kind(#bound));
                quote_spanned!(*span=> #condition::Score(#metric, #evals::End::#end, #bound))
            }
            Kind::PassedAt {
                metric, k, bound, ..
            } => {
                let bound = number(bound);
                let metric = match metric.as_ref().map(Ident::to_string) {
                    Some(metric) => quote!(::core::option::Option::Some(#metric)),
                    None => quote!(::core::option::Option::None),
                };
                quote_spanned!(*span=> #condition::PassedAt(#metric, #k, #bound))
            }
            Kind::Limited { what, bound, .. } => {
                let variant = match what {
                    Limited::Failed => "Failed",
                    Limited::Abstained => "Abstained",
                    Limited::Latency => "Latency",
                };
                let (variant, bound) = (Ident::new(variant, *span), number(bound));
                quote_spanned!(*span=> #condition::#variant(#bound))
            }
            Kind::NoWorse { metric, by } => {
                let (metric, by) = (metric.to_string(), number(by));
                quote_spanned!(*span=> #condition::NoWorse(#metric, #by))
            }
            Kind::Better { metric } => {
                let metric = metric.to_string();
                quote_spanned!(*span=> #condition::Better(#metric))
            }
            Kind::Each { field, gate } => {
                let inner = self.condition(gate);
                let inner = quote_spanned!(*span=> ::std::boxed::Box::new(#inner));
                quote_spanned!(*span=> #condition::Each(#field, #inner))
            }
        }
    }

    /// Returns the call that runs the eval.
    fn run(&self, pred: &TokenStream) -> TokenStream {
        let Self {
            span,
            evals,
            private,
            runtime,
            ..
        } = self;
        let function = &self.function.sig.ident;
        let awaited = self
            .function
            .sig
            .asyncness
            .is_some()
            .then(|| quote_spanned!(*span=> .await));
        let (_, is_result) = params::returned(self.function);
        let returned = |arguments: TokenStream| quote_spanned!(*span=> #evals::returned::<#pred, _>(#function(#arguments) #awaited));
        let (row, body) = match self.params {
            Params::None => {
                let method = Ident::new(if is_result { "try_score" } else { "score" }, *span);
                return quote_spanned!(*span=> .#method(async { #function() #awaited }));
            }
            Params::Whole { ty } if last_segment_is(ty, "Example") => (
                quote_spanned!(*span=> #runtime::Example),
                returned(quote!(row)),
            ),
            Params::Whole { ty } => {
                let at = ty.span().resolved_at(*span);
                let read = quote_spanned!(at=> #evals::inputs_as::<#ty>(row)?);
                (quote_spanned!(*span=> #runtime::Example), returned(read))
            }
            Params::Inputs(inputs) if self.attrs.gold().is_some() => {
                let gold = self.attrs.gold().to_token_stream();
                let fields = inputs
                    .iter()
                    .map(|input| field(input, *span))
                    .collect::<Vec<_>>();
                (gold, returned(quote!(#(#fields),*)))
            }
            Params::Inputs(inputs) => {
                let locals: Vec<Ident> = (0..inputs.len())
                    .map(|index| format_ident!("__input{index}", span = *span))
                    .collect();
                let reads = inputs.iter().zip(&locals).map(|(input, local)| {
                    let (form, is_option) = Form::of(&input.ty);
                    let ty = form.read_type().map(ToTokens::to_token_stream).unwrap_or_default();
                    let mut form = form.read_as(private, &ty);
                    if is_option {
                        form = quote_spanned!(*span=> #private::Optional<#form>);
                    }
                    let (name, written) = (&input.name, as_written(&input.ty));
                    // The name `row` is that of the closure, even if another macro wrote the type.
                    let at = input.ty.span().resolved_at(*span);
                    quote_spanned!(at=> let #local = #evals::input::<#form>(&row, #name, #written)?;)
                });
                let arguments =
                    inputs
                        .iter()
                        .zip(&locals)
                        .map(|(input, local)| match Form::of(&input.ty) {
                            (Form::Slice(_) | Form::Ref(_), true) => {
                                quote_spanned!(*span=> #local.as_deref())
                            }
                            (Form::Slice(_) | Form::Ref(_), false) => {
                                quote_spanned!(*span=> &#local)
                            }
                            _ => local.to_token_stream(),
                        });
                let returned = returned(quote!(#(#arguments),*));
                (
                    quote_spanned!(*span=> #runtime::Example),
                    quote!(#(#reads)* #returned),
                )
            }
        };
        // A separate block, so that the closure's return type is inferred.
        let mut body = Group::new(Delimiter::Brace, body);
        body.set_span(*span);
        quote_spanned!(*span=> .run(|row: #row| async move #body))
    }
}

/// Returns the field of a typed row as an argument.
fn field(input: &Input, item: Span) -> TokenStream {
    let span = input.span.resolved_at(item);
    // A keyword is a raw identifier.
    let mut name = syn::parse_str::<Ident>(&input.name)
        .unwrap_or_else(|_| Ident::new_raw(&input.name, input.span));
    name.set_span(input.span);
    match Form::of(&input.ty) {
        (Form::Owned(_), _) => quote_spanned!(span=> ::core::clone::Clone::clone(&row.#name)),
        (_, true) => quote_spanned!(span=> row.#name.as_deref()),
        (_, false) => quote_spanned!(span=> &row.#name),
    }
}
