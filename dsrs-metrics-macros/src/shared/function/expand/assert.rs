//! Checks that need types and constants: hidden assertions at the user's tokens.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};

use super::context::Context;
use super::fields;
use super::spec;
use crate::shared::function::check::{
    BOOL_DIRECTION, BOOL_RANGE, BOOL_STRICT, BOOL_THRESHOLD, MISSING,
};
use crate::shared::names;
use crate::shared::tokens::{as_written, ends};
use crate::shared::types::{in_lifetime, is_plain};
use crate::shared::values::{bounds, literal};

pub(super) fn assertions(cx: &Context<'_>) -> TokenStream {
    let fields = fields_can_be_read(cx);
    let values = settings_fit_the_score(cx);
    quote!(#fields #values)
}

/// Emits an unused function that requires each field type to be readable.
fn fields_can_be_read(cx: &Context<'_>) -> TokenStream {
    let Context { span, row, .. } = cx;
    let params = fields::trailing(&cx.generics);
    let (_, _, where_clause) = cx.split();
    let mut checked = Vec::new();
    let checks = cx.looked_up().filter_map(|field| {
        let ty = field.form.read_type()?;
        if is_plain(ty) {
            let name = ty.to_token_stream().to_string();
            if checked.contains(&name) {
                return None;
            }
            checked.push(name);
        }
        let ty = in_lifetime(ty, row);
        let (start, end) = ends(&ty);
        let runtime = names::runtime_at(cx.model.attrs.krate.as_ref(), start, cx.span);
        let read = quote_spanned!(end=> ::read);
        Some(quote_spanned!(start=> let _ = <#ty as #runtime::__private::FieldType<#row>>#read;))
    });
    let checks: Vec<_> = checks.collect();
    if checks.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {*span=>
        #[allow(dead_code, clippy::extra_unused_type_parameters)]
        fn __fields<#row, #params>() #where_clause {
            #(#checks)*
        }
    }
}

/// Checks the settings against the kind of score in constants, where rustc resolves constants and aliases. A generic
/// metric is not checked, because it has no constants before it is used.
fn settings_fit_the_score(cx: &Context<'_>) -> TokenStream {
    if !cx.generics.params.is_empty() {
        return TokenStream::new();
    }
    let attrs = &cx.model.attrs;
    let mut checks = TokenStream::new();
    if let Some(threshold) = &attrs.threshold {
        checks.extend(check(cx, ends(threshold), "is_number", BOOL_THRESHOLD));
    }
    if let Some(range) = &attrs.range {
        checks.extend(check(cx, ends(range), "is_number", BOOL_RANGE));
    }
    if let Some(missing) = &attrs.missing {
        checks.extend(check(cx, ends(missing), "missing_is_a_score", MISSING));
    }
    if let Some(span) = attrs.strict {
        checks.extend(check(cx, (span, span), "is_number", BOOL_STRICT));
    }
    if let Some(span) = attrs.lower_is_better {
        checks.extend(check(cx, (span, span), "is_number", BOOL_DIRECTION));
    }
    checks.extend(check_constants(cx));
    checks.extend(names_differ(cx));
    checks
}

/// Checks that no parameter of a struct has the same name as another parameter of the metric.
fn names_differ(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        ident,
        private,
        ..
    } = cx;
    if cx.model.groups().next().is_none() {
        return TokenStream::new();
    }
    let checks = cx.model.configs().map(|(name, param, config)| {
        let first = spec::index(cx, name);
        let len = spec::len(cx, [(name, param, config)].into_iter());
        let (start, end) = if config.is_group {
            ends(&param.ty)
        } else {
            ends(name)
        };
        let mut message = Group::new(
            Delimiter::Parenthesis,
            quote_spanned!(*span=> "{}", message.as_str()),
        );
        message.set_span(end);
        let panic = quote_spanned!(start=> ::core::panic!);
        quote_spanned! {*span=>
            const _: () = if let ::core::option::Option::Some(message) =
                #private::repeated_param(#ident::SPEC.params, #first, #len)
            {
                #panic #message
            };
        }
    });
    checks.collect()
}

/// Checks thresholds and ranges that are constants rather than literals.
fn check_constants(cx: &Context<'_>) -> TokenStream {
    let attrs = &cx.model.attrs;
    let range = attrs.range.as_ref().and_then(bounds);
    let range_is_literal =
        range.is_none_or(|(min, max)| literal(min).is_some() && literal(max).is_some());
    let mut checks = TokenStream::new();
    if let (Some(range), false) = (&attrs.range, range_is_literal) {
        let message = format!(
            "the range `{}` is empty or not finite; write two finite numbers, the smaller one first",
            as_written(range)
        );
        checks.extend(check(cx, ends(range), "range_is_not_empty", &message));
    }
    let Some(threshold) = &attrs.threshold else {
        return checks;
    };
    if literal(threshold).is_none() {
        let message = format!(
            "the threshold `{}` is not finite; write a finite number",
            as_written(threshold)
        );
        checks.extend(check(cx, ends(threshold), "threshold_is_finite", &message));
    }
    if let Some(range) = &attrs.range
        && !(range_is_literal && literal(threshold).is_some())
    {
        let (threshold_text, range) = (as_written(threshold), as_written(range));
        let outside = format!(
            "the threshold `{threshold_text}` is outside the range `{range}`; write a threshold within it"
        );
        checks.extend(check(
            cx,
            ends(threshold),
            "threshold_is_in_range",
            &outside,
        ));
        let always = format!(
            "every score in the range `{range}` passes the threshold `{threshold_text}`; write another threshold"
        );
        checks.extend(check(cx, ends(threshold), "threshold_can_fail", &always));
    }
    checks
}

/// Emits a constant whose evaluation fails unless the rule accepts the metric's spec.
fn check(cx: &Context<'_>, (start, end): (Span, Span), rule: &str, message: &str) -> TokenStream {
    let Context {
        span,
        private,
        ident,
        ..
    } = cx;
    let rule = Ident::new(rule, *span);
    // Passed as an argument, because an expression in the message may contain braces.
    let mut message = Group::new(
        Delimiter::Parenthesis,
        quote_spanned!(*span=> "{}", #message),
    );
    message.set_span(end);
    let panic = quote_spanned!(start=> ::core::panic!);
    quote_spanned!(*span=> const _: () = if !#private::#rule(&#ident::SPEC) { #panic #message };)
}
