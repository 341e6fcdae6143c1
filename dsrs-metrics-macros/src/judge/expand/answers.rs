//! The `Answers` impl of a judge whose only output might be an enum, for the branches of decision trees.

use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};

use super::context::Context;
use super::output::is_users;
use crate::judge::model::{Output, is_list};

pub(super) fn answers(cx: &Context<'_>) -> Option<TokenStream> {
    let Context {
        span,
        runtime,
        private,
        metric,
        ..
    } = cx;
    let output = only_output(cx)?;
    let (ident, ty, name) = (&metric.names.ident, &output.field.ty, output.field.name());
    // If the impl named the type, the judge could not be more visible than the type.
    let answer = format_ident!("__Answer", span = *span);
    Some(quote_spanned! {*span=>
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl<#answer> #runtime::judge::Answers for #ident
        where
            #ty: #private::Itself<Itself = #answer>,
        {
            type Answer = #answer;

            const OUTPUT: &'static ::core::primitive::str = #name;
        }
    })
}

/// Returns the judge's only output besides its reasoning and feedback. Returns `None` if there are several outputs.
/// Also returns `None` if the judge scores turns or draws several answers, because there is then no single answer for
/// the row.
fn only_output<'a>(cx: &Context<'a>) -> Option<&'a Output> {
    let judge = cx.judge;
    let explains = |output: &&Output| {
        ["reasoning", "feedback"]
            .iter()
            .any(|name| output.field.name() == *name)
    };
    let mut outputs = judge.outputs.iter().filter(|output| !explains(output));
    let draws = judge
        .attrs
        .scoring
        .by
        .as_ref()
        .is_some_and(|scoring| scoring.draws.is_some());
    let has_one = judge.attrs.turns.is_none() && !draws;
    let only = outputs
        .next()
        .filter(|_| outputs.next().is_none() && has_one)?;
    (is_users(&only.field.ty) && !is_list(&only.field.ty)).then_some(only)
}
