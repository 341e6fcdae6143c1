//! The `Module` impl: the judge as a program, from an example with its inputs to a prediction with its outputs.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::Lifetime;

use super::context::Context;
use crate::judge::model::{Field, Input};
use crate::shared::types::{is_plain, is_string};

pub(super) fn module(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        private,
        input,
        metric,
        ..
    } = cx;
    let ident = &metric.names.ident;
    let read = Lifetime::new("'read", *span);
    // With a separate lifetime, an unmet bound is not an error in the judge. Plain types need no bound, and each bound
    // costs compile time.
    let types = cx
        .shown()
        .map(|input| &input.field.ty)
        .filter(|ty| !is_plain(ty));
    let bounds =
        types.map(|ty| quote_spanned!(*span=> for<#read> #ty: #private::Deserialize<#read>,));
    let label = &Lifetime::new("'inputs", *span);
    let fields = cx.shown().map(|input| {
        let (name, value) = (&input.field.ident, read_input(cx, input));
        quote_spanned! {*span=>
            #name: match #value {
                __p::Ok(value) => value,
                __p::Err(error) => break #label __p::Err(error),
            }
        }
    });
    let forward = method(
        cx,
        "forward",
        "Forward",
        &quote_spanned!(*span=> #private::forwarded(self, inputs)),
    );
    let body = quote_spanned! {*span=>
        let read = #label: { __p::Ok(#input { #(#fields,)* }) };
        #private::forward(self, inputs, read, &__SPEC)
    };
    let forward_traced = method(cx, "forward_traced", "ForwardTraced", &body);
    quote_spanned! {*span=>
        #[diagnostic::do_not_recommend]
        impl #private::Module for #ident
        where
            #(#bounds)*
        {
            #forward
            #forward_traced
        }
    }
}

/// Returns an async method of `Module` in the form that `#[async_trait]` expands to.
fn method(cx: &Context<'_>, name: &str, future: &str, body: &TokenStream) -> TokenStream {
    let Context {
        span,
        runtime,
        private,
        ..
    } = cx;
    let (name, future) = (Ident::new(name, *span), Ident::new(future, *span));
    quote_spanned! {*span=>
        fn #name<'life0, 'async_trait>(
            &'life0 self,
            inputs: #runtime::Example,
        ) -> #private::#future<'async_trait>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            #body
        }
    }
}

/// Returns the expression that reads one input.
fn read_input(cx: &Context<'_>, input: &Input) -> TokenStream {
    let Context { span, private, .. } = cx;
    let Field { ty, .. } = &input.field;
    let name = input.field.name();
    let Some(default) = &input.attr.default else {
        return quote_spanned!(*span=> #private::read_input::<#ty>(&inputs, #name));
    };
    // `default`, or `default = expr`.
    let written: TokenStream = default.clone().into_iter().skip(2).collect();
    let value = if is_string(ty) && is_text(&written) {
        quote_spanned!(*span=> #private::string::ToString::to_string(#written))
    } else {
        written
    };
    // In the form of the metric's default, so rustc reports a wrong type once.
    let default = match value.is_empty() {
        true => quote_spanned!(*span=> ::core::default::Default::default),
        false => quote_spanned!(*span=> || { let default: #ty = #value; default }),
    };
    quote_spanned!(*span=> #private::read_input_or::<#ty>(&inputs, #name, #default))
}

/// Returns `true` if an expression is a string literal.
fn is_text(expr: &TokenStream) -> bool {
    let mut tokens = expr.clone().into_iter();
    let first = tokens.next();
    let is_text =
        matches!(&first, Some(TokenTree::Literal(literal)) if literal.to_string().ends_with('"'));
    is_text && tokens.next().is_none()
}
