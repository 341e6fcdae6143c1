//! The settings in `#[judge(..)]`, as calls on the builder of the signature.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Expr;

use super::context::Context;
use super::signature::places;
use crate::judge::field::Source;
use crate::shared::names;
use crate::shared::tokens::ends;
use crate::shared::values::{self, number};

/// Returns the builder calls for the settings in `#[judge(..)]`.
pub(super) fn options(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        runtime,
        ..
    } = cx;
    let attrs = &judge.attrs;
    let mut calls = TokenStream::new();
    let scoring = attrs
        .scoring
        .by
        .as_ref()
        .filter(|scoring| scoring.word != "text");
    if let Some(scoring) = scoring {
        let value = match (&scoring.draws, judge.decisions().next()) {
            (Some(draws), _) => quote_spanned!(*span=> Draws(#draws)),
            (None, output) => {
                let name = output.map(|output| output.field.name());
                quote_spanned!(*span=> Logprobs(#name))
            }
        };
        calls.extend(quote_spanned!(*span=> .scoring(#runtime::judge::Scoring::#value)));
        if scoring.draws.is_some() && attrs.scoring.temperature.is_none() {
            calls.extend(quote_spanned!(*span=> .temperature(1.0)));
        }
    }
    if let Some(temperature) = &attrs.scoring.temperature {
        let value = number(temperature);
        calls.extend(quote_spanned!(*span=> .temperature(#value)));
    }
    if let Some(tokens) = &attrs.scoring.max_tokens {
        calls.extend(quote_spanned!(*span=> .max_tokens(#tokens)));
    }
    let panel = panel(cx);
    if !panel.is_empty() {
        calls.extend(quote_spanned!(*span=> .panel(#runtime::judge::Panel::new() #panel)));
    }
    if let Some(pair) = &attrs.pairwise {
        let index = |name: &syn::Ident| {
            let index = cx.shown().position(|input| input.field.ident == *name);
            Literal::usize_unsuffixed(index.unwrap_or_default())
        };
        let (first, second) = (index(&pair.first), index(&pair.second));
        calls.extend(quote_spanned!(*span=> .pairwise(#first, #second)));
    }
    if let Some(from) = &attrs.from {
        let from = places(cx, from);
        calls.extend(quote_spanned!(*span=> .reads(&[#(#from),*])));
    }
    if let Some(turns) = &attrs.turns
        && let Some(role) = &turns.of
    {
        let role = Ident::new(&names::upper_camel(&role.to_string()), *span);
        let reduction = turns
            .reduce
            .as_ref()
            .map_or("Mean".to_owned(), |it| names::upper_camel(&it.to_string()));
        let reduction = Ident::new(&reduction, *span);
        let window = match &turns.window {
            Some(window) => quote_spanned!(*span=> ::core::option::Option::Some(#window)),
            None => quote_spanned!(*span=> ::core::option::Option::None),
        };
        let max = turns
            .max
            .as_ref()
            .map_or_else(|| quote!(100), ToTokens::to_token_stream);
        let is_verdict = judge.has_verdicts();
        calls.extend(quote_spanned! {*span=>
            .turns(#runtime::judge::Turns {
                role: #runtime::trajectory::Role::#role,
                window: #window,
                max: #max,
                reduction: #runtime::judge::Reduction::#reduction,
                is_verdict: #is_verdict,
            })
        });
    }
    if let Some(empty) = &attrs.empty {
        let value = values::score(empty);
        let from_prediction = cx.shown().enumerate();
        let from_prediction = from_prediction
            .filter(|(_, input)| input.attr.source == Some(Source::Pred))
            .map(|(index, _)| Literal::usize_unsuffixed(index));
        calls.extend(quote_spanned!(*span=> .empty(#value, &[#(#from_prediction),*])));
    }
    if let Some(offline) = &attrs.offline {
        let function = at(
            cx,
            offline,
            |start, runtime| quote_spanned!(start=> #runtime::judge::AnswersOffline::offline),
        );
        calls.extend(quote_spanned!(*span=> .offline(#function)));
    }
    calls
}

/// Returns the builder calls for the settings of the panel.
fn panel(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        runtime,
        ..
    } = cx;
    let panel = &judge.attrs.panel;
    let mut calls = TokenStream::new();
    if let Some(models) = &panel.models {
        let list: Vec<_> = models
            .list
            .iter()
            .map(|model| self::model(cx, model))
            .collect();
        calls.extend(match &models.times {
            Some(times) => {
                quote_spanned!(*span=> .models(::core::iter::repeat_n(#(#list)*, #times)))
            }
            None => quote_spanned!(*span=> .models([#(#list),*])),
        });
    }
    if let Some(aggregation) = &panel.aggregation {
        let name = names::upper_camel(&aggregation.to_string());
        let name = format_ident!("{name}", span = aggregation.span());
        calls.extend(quote_spanned!(*span=> .aggregation(#runtime::judge::Aggregation::#name)));
    }
    if let Some(limit) = &panel.max_concurrent {
        calls.extend(quote_spanned!(*span=> .max_concurrent_judges(#limit)));
    }
    if let Some(quorum) = &panel.quorum {
        calls.extend(quote_spanned!(*span=> .quorum(#quorum)));
    }
    calls
}

/// Returns a model in `models = [..]`, with the user's span.
fn model(cx: &Context<'_>, model: &Expr) -> TokenStream {
    let (start, _) = ends(model);
    let runtime = names::runtime_at(cx.metric.attrs.krate.as_ref(), start, cx.span);
    match model {
        Expr::Path(path) if path.path.is_ident("default") => {
            quote_spanned!(start=> #runtime::judge::JudgeModel::Configured)
        }
        model => at(
            cx,
            model,
            |start, runtime| quote_spanned!(start=> #runtime::judge::IntoModel::into_model),
        ),
    }
}

/// Returns the call of a runtime function with the user's tokens as its argument. The call has their span, so rustc
/// reports a type error there.
pub(super) fn at(
    cx: &Context<'_>,
    written: &impl ToTokens,
    function: impl FnOnce(Span, TokenStream) -> TokenStream,
) -> TokenStream {
    let (start, end) = ends(written);
    let runtime = names::runtime_at(cx.metric.attrs.krate.as_ref(), start, cx.span);
    let function = function(start, runtime);
    let mut inside = proc_macro2::Group::new(
        proc_macro2::Delimiter::Parenthesis,
        written.to_token_stream(),
    );
    inside.set_span(end.resolved_at(cx.span));
    quote!(#function #inside)
}
