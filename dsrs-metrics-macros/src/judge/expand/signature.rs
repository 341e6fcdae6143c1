//! The `Judge` impl: the signature, the inputs for the prompt, and the score.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;

use super::context::Context;
use super::options::{at, options};
use super::output::{adds_reasoning, is_users, of_output, read_field};
use crate::judge::field::Source;
use crate::judge::lower::PANEL;
use crate::judge::model::{Field, Input, Output, is_abstain, is_conversation, is_list};
use crate::judge::output_attr::From;
use crate::judge::score::checked;
use crate::shared::names;
use crate::shared::tokens::ends;
use crate::shared::types::option_of;
use crate::shared::values::{self, bounds, number};

pub(super) fn judge(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        runtime,
        private,
        input,
        output,
        metric,
        ..
    } = cx;
    let ident = &metric.names.ident;
    let panel = format_ident!("{PANEL}", span = *span);
    let (signature, score) = (signature(cx), score(cx));
    let shown = cx.shown().map(|input| {
        let (field, at) = (&input.field.ident, shows(cx, input));
        quote_spanned!(*span=> #at(&__input.#field))
    });
    let is_shown = |input: &&Input| {
        input
            .attr
            .in_prompt
            .as_ref()
            .is_none_or(syn::LitBool::value)
    };
    let params = cx.configs().filter(is_shown).map(|input| {
        let (field, name, at) = (&input.field.ident, input.field.name(), shows(cx, input));
        quote_spanned!(*span=> (#name, #at(&#runtime::judge::Untrusted::new(&self.#field))))
    });
    let params: Vec<_> = params.collect();
    let (reads_step, conversation) = (reads_step(cx), conversation(cx));
    let check_params = cx.configs().next().map(|_| {
        quote_spanned! {*span=>
            fn check_params(&self) -> ::core::result::Result<(), #private::string::String> {
                use #private::Fallback as _;
                #private::Maybe(self).check_params()
            }
        }
    });
    let configured = (!params.is_empty()).then(|| {
        quote_spanned! {*span=>
            fn configured(
                &self,
            ) -> #private::vec::Vec<(&'static __p::str, #runtime::judge::Content)> {
                ::core::convert::From::from([#(#params),*])
            }
        }
    });
    quote_spanned! {*span=>
        #[automatically_derived]
        impl #runtime::judge::Judge for #ident {
            type Input = #input;
            type Output = #output;

            fn signature() -> &'static #runtime::judge::Signature {
                static SIGNATURE: #private::OnceLock<#runtime::judge::Signature> =
                    #private::OnceLock::new();
                SIGNATURE.get_or_init(|| #signature)
            }

            fn panel(&self) -> &#runtime::judge::Panel {
                &self.#panel
            }

            fn shown(&self, __input: &#input) -> #private::vec::Vec<#runtime::judge::Content> {
                ::core::convert::From::from([#(#shown),*])
            }

            #configured

            #check_params

            #reads_step

            #conversation

            #score
        }
    }
}

/// Returns `<T as Shown>::shown` with the span of the input's type, where rustc reports a type that
/// cannot be put into a prompt.
fn shows(cx: &Context<'_>, input: &Input) -> TokenStream {
    let ty = &input.field.ty;
    let (start, end) = ends(ty);
    let runtime = names::runtime_at(cx.metric.attrs.krate.as_ref(), start, cx.span);
    if input.attr.source == Some(Source::Trace) {
        return quote_spanned!(start=> #runtime::judge::shown_trace::<#ty>);
    }
    let own = option_of(ty).unwrap_or(ty);
    if is_conversation(own) && input.attr.source != Some(Source::Param) {
        let shown = match cx.judge.is_list(&input.field.ident) {
            true => quote_spanned!(start=> shown_calls),
            false => quote_spanned!(start=> shown_conversation),
        };
        return quote_spanned!(start=> #runtime::judge::#shown::<#ty>);
    }
    if cx.judge.is_list(&input.field.ident) {
        return quote_spanned!(start=> #runtime::judge::shown_items::<#ty>);
    }
    let borrow = matches!(input.attr.source, Some(Source::Param)).then(|| quote!(&));
    let trait_ = quote_spanned!(start=> #runtime::judge::Shown);
    let shown = quote_spanned!(end=> ::shown);
    quote!(<#borrow #ty as #trait_> #shown)
}

/// Returns the signature, which is built once.
fn signature(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        runtime,
        ..
    } = cx;
    let instruction = &judge.instruction;
    let inputs = cx.shown().map(|input| {
        let (name, desc) = (input.field.name(), &input.field.desc);
        let trace = (input.attr.source == Some(Source::Trace))
            .then(|| quote_spanned!(*span=> .trace(#name)));
        quote_spanned!(*span=> .input(#name, #desc) #trace)
    });
    let steps = judge.steps.iter().map(|step| self::step(cx, step));
    let reasoning = adds_reasoning(cx).then(|| quote_spanned!(*span=> .reasoning()));
    let own_first =
        |output: &&Output| std::cmp::Reverse(judge.reasons() && output.field.name() == "reasoning");
    let mut outputs: Vec<_> = judge.outputs.iter().collect();
    outputs.sort_by_key(own_first);
    let outputs = outputs.into_iter().map(|output| answer(cx, output));
    let options = options(cx);
    quote_spanned! {*span=>
        #runtime::judge::Signature::new(&__SPEC, #instruction)
            #(#inputs)*
            #(#steps)*
            #reasoning
            #(#outputs)*
            #options
    }
}

/// Returns the positions of fields among the inputs and steps.
pub(super) fn places(cx: &Context<'_>, from: &From) -> Vec<Literal> {
    let place = |name| {
        let fields = cx.shown().map(|input| &input.field.ident);
        let mut fields = fields.chain(cx.judge.steps.iter().map(|step| &step.field.ident));
        Literal::usize_unsuffixed(fields.position(|field| field == name).unwrap_or_default())
    };
    from.names.iter().map(place).collect()
}

/// Returns the call that adds a step to the signature.
fn step(cx: &Context<'_>, step: &Output) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let instruction = crate::shared::attributes::doc_text(&step.field.docs);
    let from = step.attr.from.iter().flat_map(|from| places(cx, from));
    let cost = step
        .attr
        .cost
        .as_ref()
        .and_then(|cost| values::cost_msats("cost", &cost.value()).ok());
    let cost = match cost {
        Some(msats) => quote_spanned!(*span=> __p::Some(#msats)),
        None => quote_spanned!(*span=> __p::None),
    };
    let output = answer(cx, step);
    quote_spanned! {*span=>
        .step(#runtime::judge::Signature::new(&__SPEC, #instruction) #output, &[#(#from),*], #cost)
    }
}

/// Emits how a step's output is read from its reply.
fn reads_step(cx: &Context<'_>) -> Option<TokenStream> {
    let Context {
        judge,
        span,
        runtime,
        ..
    } = cx;
    let reads = judge.steps.iter().enumerate().map(|(index, step)| {
        let (index, read) = (Literal::usize_unsuffixed(index), read_field(cx, step));
        quote_spanned!(*span=> #index => #read.is_some(),)
    });
    let reads: Vec<_> = reads.collect();
    (!reads.is_empty()).then(|| {
        quote_spanned! {*span=>
            fn reads_step(
                &self,
                step: __p::usize,
                __reply: &mut #runtime::judge::Reply<'_>,
            ) -> __p::bool {
                match step {
                    #(#reads)*
                    _ => false,
                }
            }
        }
    })
}

/// Emits the conversation whose turns are judged, and how another one replaces it in the inputs.
fn conversation(cx: &Context<'_>) -> Option<TokenStream> {
    let Context {
        judge,
        span,
        runtime,
        input,
        ..
    } = cx;
    judge.attrs.turns.as_ref()?;
    let name = &judge.conversations().next()?.field.ident;
    let others = cx
        .shown()
        .map(|input| &input.field.ident)
        .filter(|other| *other != name);
    Some(quote_spanned! {*span=>
        fn conversation(
            __input: &#input,
        ) -> __p::Option<#runtime::judge::Conversation<'_, #input>> {
            __p::Some((__input.#name.get(), |__input, turn| #input {
                #name: #runtime::judge::Untrusted::new(turn),
                #(#others: __p::Clone::clone(&__input.#others),)*
            }))
        }
    })
}

fn answer(cx: &Context<'_>, output: &Output) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let Field { ty, desc, .. } = &output.field;
    // The documentation of a step is its instruction.
    let desc = if output.attr.from.is_some() {
        output.attr.desc.as_ref().map(syn::LitStr::value)
    } else {
        Some(desc.clone())
    };
    let desc = desc.unwrap_or_default();
    let name = output.field.name();
    let schema = of_output(cx, ty, "schema");
    let range = output
        .attr
        .range
        .as_ref()
        .and_then(bounds)
        .map(|(min, max)| {
            let (min, max) = (number(min), number(max));
            quote_spanned!(*span=> .in_range(#min, #max))
        });
    let labels = output.attr.labels.as_ref().map(|labels| {
        let texts = &labels.texts;
        quote_spanned!(*span=> .labelled(&[#(#texts),*]))
    });
    let each = output.attr.each.as_ref().map(|list| {
        let list = list.unraw().to_string();
        let empty = match &output.attr.empty {
            Some(score) if !is_abstain(score) => {
                let score = values::score(score);
                quote_spanned!(*span=> #runtime::judge::Empty::Score(#score))
            }
            _ => quote_spanned!(*span=> #runtime::judge::Empty::Abstain),
        };
        quote_spanned!(*span=> .each(#runtime::judge::Each { list: #list, empty: #empty }))
    });
    let cites = output.attr.cites.as_ref().map(|list| {
        let list = list.unraw().to_string();
        quote_spanned!(*span=> .cites(#list))
    });
    let limit =
        (output.attr.from.is_some() && output.attr.each.is_none() && is_list(ty)).then(|| {
            let limit = output.attr.max_items.as_ref();
            let limit = limit.map_or_else(|| quote!(100), ToTokens::to_token_stream);
            quote_spanned!(*span=> .max_items(#limit))
        });
    quote_spanned!(*span=> .output(#runtime::judge::OutputSpec::new(#name, #desc, #schema()) #range #labels #each #cites #limit))
}

/// Emits the score: the user's expression over the outputs and parameters.
fn score(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        span,
        runtime,
        private,
        output,
        ..
    } = cx;
    let Some(score) = &judge.score else {
        return TokenStream::new();
    };
    let outputs = judge.answered().map(|output| &output.field.ident);
    let own = |name: &&Input| {
        !judge
            .answered()
            .any(|output| output.field.ident == name.field.ident)
    };
    let params = cx.configs().filter(own).map(|input| {
        let name = &input.field.ident;
        quote_spanned!(*span=> let #name = __p::Clone::clone(&self.#name);)
    });
    let typed = judge
        .answered()
        .filter(|output| is_users(&output.field.ty))
        .map(|output| {
            let (name, ty) = (&output.field.ident, &output.field.ty);
            let into_itself = of_output(cx, ty, "into_itself");
            let argument = quote_spanned!(ends(ty).1=> (#name));
            quote_spanned!(*span=> let #name = #into_itself #argument;)
        });
    // rustc reports an error at the name of the list if the items have no such field.
    let cites = judge.answered().filter_map(|output| {
        let (name, list) = (&output.field.ident, output.attr.cites.as_ref()?);
        let numbers = quote_spanned!(list.span()=> #private::vec::Vec<__p::u32>);
        Some(quote_spanned! {list.span()=>
            if let __p::Some(__item) = #name.first() {
                let _: &#numbers = &__item.#list;
            }
        })
    });
    let overflow = format_ident!("__overflow", span = *span);
    let expr = &checked(judge, &score.expr, &cx.runtime, &overflow);
    let verdict = format_ident!("__verdict", span = *span);
    let value = if score.is_verdict {
        let (start, _) = ends(expr);
        quote_spanned!(start=> let #verdict: __p::bool = #expr;)
    } else {
        let (start, _) = ends(expr);
        let score = at(
            cx,
            expr,
            |start, runtime| quote_spanned!(start=> #runtime::judge::IntoScore::into_score),
        );
        quote_spanned!(start=> let #verdict: __p::f64 = #score;)
    };
    let as_number = if score.is_verdict {
        quote_spanned!(*span=> __p::f64::from(__p::u8::from(#verdict)))
    } else {
        quote_spanned!(*span=> #verdict)
    };
    quote_spanned! {*span=>
        #[allow(unused_variables, unused_parens)]
        fn score_output(
            &self,
            __output: #output,
            #overflow: &#runtime::judge::Overflow,
        ) -> __p::f64 {
            let #output { #(#outputs,)* .. } = __output;
            #(#typed)*
            #(#cites)*
            #(#params)*
            #value
            #as_number
        }
    }
}
