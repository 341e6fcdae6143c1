//! What only types and constants can show: hidden assertions at the user's own tokens.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::Expr;
use syn::spanned::Spanned as _;

use super::super::bind::Side;
use super::super::check::{bounds, literal};
use super::super::types::in_lifetime;
use super::Context;
use super::fields::{is_looked_up, uses};

pub(super) fn assertions(cx: &Context<'_>) -> TokenStream {
    let fields = fields_can_be_read(cx);
    let constants = constants_make_sense(cx);
    quote::quote!(#fields #constants)
}

/// Each field's type, in a function that nobody calls.
fn fields_can_be_read(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, row, .. } = cx;
    let params = super::fields::trailing(&cx.generics);
    let (_, _, where_clause) = cx.split();
    let sides = Side::BOTH.into_iter().filter(|side| is_looked_up(cx, *side));
    let checks = sides.flat_map(|side| uses(cx, side)).filter_map(|field| {
        let ty = in_lifetime(field.form.read_type()?, row);
        Some(quote_spanned!(field.param.ty.span()=> __readable::<#ty>();))
    });
    let checks: Vec<_> = checks.collect();
    if checks.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {*span=>
        #[allow(dead_code, clippy::extra_unused_type_parameters)]
        fn __fields<#row, #params>() #where_clause {
            fn __readable<'r, T: #private::FieldType<'r>>() {}
            #(#checks)*
        }
    }
}

/// Values that are constants, not literals, are checked where rustc knows them.
fn constants_make_sense(cx: &Context<'_>) -> TokenStream {
    if !cx.generics.params.is_empty() {
        return TokenStream::new();
    }
    let attrs = &cx.model.attrs;
    let mut checks = TokenStream::new();
    if let Some(threshold) = &attrs.threshold {
        checks.extend(check(
            cx,
            threshold,
            "threshold_is_number",
            "a `bool` is its own verdict: take `threshold` away, or return a number",
        ));
        if !all_literal([Some(threshold), None, None])
            || attrs
                .range
                .as_ref()
                .and_then(bounds)
                .is_some_and(|(min, max)| !all_literal([Some(min), Some(max), None]))
        {
            checks.extend(check(
                cx,
                threshold,
                "threshold_is_in_range",
                "the threshold is no finite number inside the metric's range",
            ));
            checks.extend(check(cx, threshold, "threshold_can_fail", "this threshold can never fail: every score of the metric's range is on its passing side"));
        }
    }
    if let Some(range) = &attrs.range
        && let Some((min, max)) = bounds(range)
        && !all_literal([Some(min), Some(max), None])
    {
        checks.extend(check(
            cx,
            range,
            "range_is_not_empty",
            "the range is empty, or its ends are not finite",
        ));
    }
    checks
}

fn all_literal<const N: usize>(values: [Option<&Expr>; N]) -> bool {
    values.into_iter().flatten().all(|value| literal(value).is_some())
}

fn check(cx: &Context<'_>, at: &Expr, rule: &str, message: &str) -> TokenStream {
    let private = &cx.private;
    let ident = cx.ident;
    let span = at.span();
    let rule = proc_macro2::Ident::new(rule, span);
    quote_spanned! {span=>
        const _: () = if !#private::#rule(&#ident::SPEC) { ::core::panic!(#message) };
    }
}
