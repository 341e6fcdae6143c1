//! The struct `XOutput` with the outputs of the judge, and how it is parsed from a reply.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote, quote_spanned};

use super::context::{Context, docs};
use crate::judge::model::{Field, Output};
use crate::shared::names;
use crate::shared::tokens::ends;

/// Whether an output `reasoning` is added to the user's fields.
pub(super) fn adds_reasoning(cx: &Context<'_>) -> bool {
    cx.judge.reasons() && !cx.judge.has_output("reasoning")
}

pub(super) fn definition(cx: &Context<'_>) -> TokenStream {
    let Context { judge, span, private, output, .. } = cx;
    let vis = &judge.item.vis;
    let reasoning = adds_reasoning(cx).then(|| {
        quote_spanned! {*span=>
            /// The reasoning of the judge before its answer.
            #vis reasoning: #private::string::String,
        }
    });
    let fields = judge.outputs.iter().map(|output| {
        let Field { ident, ty, .. } = &output.field;
        let docs = docs(&output.field);
        quote_spanned!(*span=> #docs #vis #ident: #ty)
    });
    let doc = format!("The outputs of the judge [`{}`].", judge.item.ident);
    let cfgs = cx.cfgs();
    quote_spanned! {*span=>
        #(#cfgs)*
        #[doc = #doc]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #[allow(dead_code)]
        #vis struct #output { #reasoning #(#fields,)* }
    }
}

/// Emits the `JudgeOutput` impl. It reads every field, so that all errors of a reply are reported
/// together.
pub(super) fn reading(cx: &Context<'_>) -> TokenStream {
    let Context { judge, span, runtime, private, output, .. } = cx;
    let reasoning = adds_reasoning(cx).then(|| {
        let ident = format_ident!("reasoning", span = *span);
        (ident, quote_spanned!(*span=> __reply.take::<#private::string::String>("reasoning")))
    });
    let own = judge.outputs.iter().map(|output| {
        let ident = &output.field.ident;
        (ident.clone(), read_field(cx, output))
    });
    let (idents, reads): (Vec<_>, Vec<_>) = reasoning.into_iter().chain(own).unzip();
    let values: Vec<_> =
        (0..idents.len()).map(|index| format_ident!("__value_{index}", span = *span)).collect();
    quote_spanned! {*span=>
        #[automatically_derived]
        impl #runtime::judge::JudgeOutput for #output {
            fn read(
                __reply: &mut #runtime::judge::Reply<'_>,
            ) -> ::core::option::Option<Self> {
                #(let #values = #reads;)*
                ::core::option::Option::Some(Self { #(#idents: #values?,)* })
            }
        }
    }
}

/// Returns `reply.take::<T>("name")` with the span of the type.
fn read_field(cx: &Context<'_>, output: &Output) -> TokenStream {
    let Field { ty, .. } = &output.field;
    let name = output.field.name();
    let (start, end) = ends(ty);
    let runtime = names::runtime(cx.metric.attrs.krate.as_ref(), start);
    let read = quote_spanned!(end=> ::take);
    let arguments = quote_spanned!(cx.span=> (__reply, #name));
    let trait_ = quote_spanned!(start=> #runtime::judge::Answer);
    quote!(<#ty as #trait_> #read #arguments).to_token_stream()
}
