//! The setters for the panel of models, on the judge's builder and on the judge.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use super::context::Context;
use crate::judge::lower::PANEL;
use crate::shared::function::expand;

/// A setter: its name, argument, documentation and call on the panel.
struct Setter {
    name: &'static str,
    argument: TokenStream,
    call: TokenStream,
    doc: &'static str,
}

pub(super) fn setters(cx: &Context<'_>) -> TokenStream {
    let Context {
        judge,
        metric,
        span,
        runtime,
        ..
    } = cx;
    let vis = &judge.item.vis;
    let ident = &metric.names.ident;
    let builder = format_ident!("{ident}Builder", span = *span);
    let panel = format_ident!("{PANEL}", span = *span);
    let params = expand::builder_params(metric);
    let with_lm = method(cx, &panel, "with_lm", with_lm(cx));
    let offline = method(cx, &panel, "offline", offline(cx));
    let settings = settings(cx)
        .into_iter()
        .map(|(name, setting)| method(cx, &panel, name, setting));
    let own = settings_of_builder(cx);
    let of_builder = all(cx).into_iter().chain(own).map(
        |Setter {
             name,
             argument,
             call,
             doc,
         }| {
            let name = format_ident!("{name}", span = *span);
            quote_spanned! {*span=>
                #[doc = #doc]
                #vis fn #name(mut self, #argument) -> Self {
                    let panel = self.#panel.take().unwrap_or_default();
                    self.#panel = __p::Some(panel #call);
                    self
                }
            }
        },
    );
    let of_builder = (!metric.has_only_a_panel()).then(|| {
        quote_spanned! {*span=>
            impl<#(#params),*> #builder<#(#params),*> {
                #(#of_builder)*
            }
        }
    });
    quote_spanned! {*span=>
        #of_builder

        impl #ident {
            #with_lm
            #offline
            #(#settings)*

            /// Returns the instruction that is set, or the signature's doc comment.
            #[must_use]
            #vis fn instruction(&self) -> &__p::str {
                self.#panel.instruction_of(<Self as #runtime::judge::Judge>::signature())
            }

            /// Returns the number of judges that evaluate a row.
            #[must_use]
            #vis fn num_judges(&self) -> __p::usize {
                self.#panel.num_judges(<Self as #runtime::judge::Judge>::signature())
            }
        }
    }
}

/// Emits a setter for a judge that is already built.
fn method(cx: &Context<'_>, panel: &Ident, name: &str, setter: Setter) -> TokenStream {
    let (span, vis) = (cx.span, &cx.judge.item.vis);
    let Setter {
        argument,
        call,
        doc,
        ..
    } = setter;
    let name = format_ident!("{name}", span = span);
    // The borrow checker does less work for a new value than for one that is assigned to.
    let others = (!cx.metric.has_only_a_panel()).then(|| quote_spanned!(span=> ..self));
    quote_spanned! {span=>
        #[doc = #doc]
        #[must_use]
        #vis fn #name(self, #argument) -> Self {
            Self { #panel: self.#panel #call, #others }
        }
    }
}

fn with_lm(cx: &Context<'_>) -> Setter {
    let Context { span, runtime, .. } = cx;
    Setter {
        name: "with_lm",
        argument: quote_spanned!(*span=> lm: impl #runtime::judge::IntoModel),
        call: quote_spanned!(*span=> .with_lm(lm)),
        doc: "Sets the model for every judge in the panel that doesn't name one.",
    }
}

fn offline(cx: &Context<'_>) -> Setter {
    Setter {
        name: "offline",
        argument: TokenStream::new(),
        call: quote_spanned!(cx.span=> .offline()),
        doc: "Uses the judge's offline stand-in, if it has one, instead of a model. Every result is marked.",
    }
}

/// Returns the setters for threshold, strictness, cost and prompt, each with its name on a judge that is already built.
fn settings(cx: &Context<'_>) -> [(&'static str, Setter); 6] {
    let span = cx.span;
    let threshold = Setter {
        name: "threshold",
        argument: quote_spanned!(span=> threshold: __p::f64),
        call: quote_spanned!(span=> .threshold(threshold)),
        doc: "Sets the smallest passing value, or the largest if lower is better.",
    };
    let strict = Setter {
        name: "strict",
        argument: TokenStream::new(),
        call: quote_spanned!(span=> .strict()),
        doc: "Replaces each score with 1 (pass) or 0 (fail). The judge must have a threshold.",
    };
    let cost = Setter {
        name: "cost_msats",
        argument: quote_spanned!(span=> cost_msats: __p::u64),
        call: quote_spanned!(span=> .cost_msats(cost_msats)),
        doc: "Sets the maximum expected cost, in millisatoshis, of one verdict from one model.",
    };
    let [instruction, demos, context] = prompt_settings(cx);
    [
        ("with_threshold", threshold),
        ("strict", strict),
        ("with_cost_msats", cost),
        ("with_instruction", instruction),
        ("with_demos", demos),
        ("with_context", context),
    ]
}

/// Returns the setters for additions to the prompt.
fn prompt_settings(cx: &Context<'_>) -> [Setter; 3] {
    let Context {
        span,
        runtime,
        private,
        ..
    } = cx;
    let text = quote_spanned!(*span=> impl ::core::convert::Into<#private::string::String>);
    [
        Setter {
            name: "instruction",
            argument: quote_spanned!(*span=> instruction: #text),
            call: quote_spanned!(*span=> .instruction(instruction)),
            doc: "Sets the instruction, replacing the signature's doc comment.",
        },
        Setter {
            name: "demos",
            argument: quote_spanned!(*span=> demos: impl ::core::iter::IntoIterator<Item = #runtime::Example>),
            call: quote_spanned!(*span=> .demos(demos)),
            doc: "Sets the demonstrations: examples with the judge's inputs and outputs, by field name.",
        },
        Setter {
            name: "context",
            argument: quote_spanned!(*span=> context: #text),
            call: quote_spanned!(*span=> .context(context)),
            doc: "Sets extra context that follows the instruction and is trusted like it.",
        },
    ]
}

/// Returns the builder's setters for the settings, except those that a parameter with the same name replaces.
fn settings_of_builder(cx: &Context<'_>) -> impl Iterator<Item = Setter> {
    let settings = settings(cx).into_iter().map(|(_, setting)| setting);
    settings.filter(|setting| !cx.judge.has_param(setting.name))
}

fn all(cx: &Context<'_>) -> [Setter; 6] {
    let Context { span, runtime, .. } = cx;
    let model = quote_spanned!(*span=> impl #runtime::judge::IntoModel);
    [
        with_lm(cx),
        offline(cx),
        Setter {
            name: "models",
            argument: quote_spanned!(*span=> models: impl ::core::iter::IntoIterator<Item = #model>),
            call: quote_spanned!(*span=> .models(models)),
            doc: "Sets the panel's models. Their scores are aggregated.",
        },
        Setter {
            name: "aggregation",
            argument: quote_spanned!(*span=> aggregation: #runtime::judge::Aggregation),
            call: quote_spanned!(*span=> .aggregation(aggregation)),
            doc: "Sets how to aggregate the scores of several judges.",
        },
        Setter {
            name: "max_concurrent_judges",
            argument: quote_spanned!(*span=> limit: __p::usize),
            call: quote_spanned!(*span=> .max_concurrent_judges(limit)),
            doc: "Sets how many judges run concurrently; 0 counts as 1.",
        },
        Setter {
            name: "quorum",
            argument: quote_spanned!(*span=> quorum: __p::usize),
            call: quote_spanned!(*span=> .quorum(quorum)),
            doc: "Sets how many judges must return a score.",
        },
    ]
}
