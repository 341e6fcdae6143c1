//! The struct `XOutput` with the judge's outputs, and how it is parsed from a reply.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Type;
use syn::ext::IdentExt as _;

use super::context::{Context, docs};
use crate::judge::model::{Field, Output};
use crate::shared::names;
use crate::shared::tokens::ends;
use crate::shared::types::{is_integer, last_segment_is};

/// Returns `true` if an output `reasoning` is added to the user's fields.
pub(super) fn adds_reasoning(cx: &Context<'_>) -> bool {
    cx.judge.reasons() && !cx.judge.has_output("reasoning")
}

pub(super) fn definition(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        private,
        output,
        ..
    } = cx;
    let vis = &judge.item.vis;
    let reasoning = adds_reasoning(cx).then(|| {
        quote_spanned! {*span=>
            /// The judge's reasoning before its answer.
            #vis reasoning: #private::string::String,
        }
    });
    let fields = judge.answered().map(|output| {
        let Field { ident, ty, .. } = &output.field;
        let docs = docs(&output.field);
        quote_spanned!(*span=> #docs #vis #ident: #ty)
    });
    let doc = format!("The outputs of the judge [`{}`].", judge.item.ident);
    let cfgs = cx.cfgs();
    quote_spanned! {*span=>
        #(#cfgs)*
        #[doc = #doc]
        #[allow(dead_code)]
        #vis struct #output { #reasoning #(#fields,)* }
    }
}

/// Returns `true` if a type might be the user's own, which might lack the derives of `#[judge_output]`.
pub(super) fn is_users(ty: &Type) -> bool {
    let names = ["bool", "f32", "f64", "String", "Preference"];
    !is_integer(ty) && !names.iter().any(|name| last_segment_is(ty, name))
}

/// Returns a function of `OutputType`. Through it, rustc reports only once that a type is not an output, without
/// follow-up errors. All tokens have the span of the type.
pub(super) fn of_output(cx: &Context<'_>, ty: &Type, function: &str) -> TokenStream {
    let (start, end) = ends(ty);
    let runtime = names::runtime_at(cx.metric.attrs.krate.as_ref(), start, cx.span);
    let function = Ident::new(function, end);
    let function = quote_spanned!(end=> ::#function);
    quote_spanned!(start=> <#ty as #runtime::judge::OutputType<_>> #function)
}

/// Emits `Debug` and `Clone`.
pub(super) fn impls(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        output,
        ..
    } = cx;
    let name = output.to_string();
    let reasoning = adds_reasoning(cx).then(|| format_ident!("reasoning", span = *span));
    let reasoning = reasoning.map(|ident| (ident.clone(), quote_spanned!(*span=> &self.#ident)));
    let own = judge.answered().map(|output| {
        let Field { ident, ty, .. } = &output.field;
        if !is_users(ty) {
            return (ident.clone(), quote_spanned!(*span=> &self.#ident));
        }
        let by_ref = of_output(cx, ty, "by_ref");
        (
            ident.clone(),
            quote_spanned!(ends(ty).0=> #by_ref(&self.#ident)),
        )
    });
    let (idents, fields): (Vec<_>, Vec<_>) = reasoning.into_iter().chain(own).unzip();
    let names: Vec<_> = idents
        .iter()
        .map(|ident| ident.unraw().to_string())
        .collect();
    let types = judge.answered().map(|output| &output.field.ty);
    let added = idents.len() - types.clone().count();
    let clones = fields.iter().enumerate().map(|(index, field)| {
        let clone = quote_spanned!(*span=> __p::Clone::clone(#field));
        let Some(ty) = index
            .checked_sub(added)
            .and_then(|own| types.clone().nth(own))
        else {
            return clone;
        };
        if !is_users(ty) {
            return clone;
        }
        let clone = quote_spanned!(ends(ty).0=> __p::Clone::clone(#field));
        let back = of_output(cx, ty, "from_itself");
        quote_spanned!(ends(ty).0=> #back(#clone))
    });
    let clones: Vec<_> = clones.collect();
    quote_spanned! {*span=>
        #[automatically_derived]
        impl ::core::fmt::Debug for #output {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#name) #(.field(#names, #fields))* .finish()
            }
        }
        #[automatically_derived]
        impl __p::Clone for #output {
            fn clone(&self) -> Self {
                Self { #(#idents: #clones,)* }
            }
        }
    }
}

/// Emits the `JudgeOutput` impl. It reads every field, to report all errors in a reply together.
pub(super) fn reading(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        runtime,
        private,
        output,
        ..
    } = cx;
    let reasoning = adds_reasoning(cx).then(|| {
        let ident = format_ident!("reasoning", span = *span);
        (
            ident,
            quote_spanned!(*span=> __reply.take::<#private::string::String>("reasoning")),
        )
    });
    let own = judge.answered().map(|output| {
        let ident = &output.field.ident;
        (ident.clone(), read_field(cx, output))
    });
    let (idents, reads): (Vec<_>, Vec<_>) = reasoning.into_iter().chain(own).unzip();
    let values: Vec<_> = (0..idents.len())
        .map(|index| format_ident!("__value_{index}", span = *span))
        .collect();
    quote_spanned! {*span=>
        #[automatically_derived]
        impl #runtime::judge::JudgeOutput for #output {
            fn read(
                __reply: &mut #runtime::judge::Reply<'_>,
            ) -> __p::Option<Self> {
                #(let #values = #reads;)*
                __p::Some(Self { #(#idents: #values?,)* })
            }
        }
    }
}

/// Returns `reply.take::<T>("name")` with the span of the type.
pub(super) fn read_field(cx: &Context<'_>, output: &Output) -> TokenStream {
    let name = output.field.name();
    let read = of_output(cx, &output.field.ty, "take");
    let arguments = quote_spanned!(cx.span=> (__reply, #name));
    quote!(#read #arguments)
}
