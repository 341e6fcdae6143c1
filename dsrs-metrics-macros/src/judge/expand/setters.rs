//! The setters for the panel of models, on the judge's builder and on the judge.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};

use super::context::Context;
use crate::judge::lower::PANEL;
use crate::shared::function::expand;

/// A setter: its name, its argument, its call on the panel, and its documentation.
struct Setter {
    name: &'static str,
    argument: TokenStream,
    call: TokenStream,
    doc: &'static str,
}

pub(super) fn setters(cx: &Context<'_>) -> TokenStream {
    let Context { judge, metric, span, runtime, .. } = cx;
    let vis = &judge.item.vis;
    let ident = &metric.names.ident;
    let builder = format_ident!("{ident}Builder", span = *span);
    let panel = format_ident!("{PANEL}", span = *span);
    let params = expand::builder_params(metric);
    let with_lm = with_lm_method(cx, &panel);
    let of_builder = all(cx).into_iter().map(|Setter { name, argument, call, doc }| {
        let name = format_ident!("{name}", span = *span);
        quote_spanned! {*span=>
            #[doc = #doc]
            #vis fn #name(mut self, #argument) -> Self {
                let panel = self.#panel.take().unwrap_or_default();
                self.#panel = ::core::option::Option::Some(panel #call);
                self
            }
        }
    });
    quote_spanned! {*span=>
        impl<#(#params),*> #builder<#(#params),*> {
            #(#of_builder)*
        }

        impl #ident {
            #with_lm

            /// Returns the number of judges that evaluate a row.
            #[must_use]
            #vis fn num_judges(&self) -> ::core::primitive::usize {
                self.#panel.num_judges(<Self as #runtime::judge::Judge>::signature())
            }
        }
    }
}

/// Emits `with_lm` for a judge that is already built.
fn with_lm_method(cx: &Context<'_>, panel: &Ident) -> TokenStream {
    let (span, vis) = (cx.span, &cx.judge.item.vis);
    let Setter { argument, call, doc, .. } = with_lm(cx);
    quote_spanned! {span=>
        #[doc = #doc]
        #[must_use]
        #vis fn with_lm(mut self, #argument) -> Self {
            self.#panel = self.#panel #call;
            self
        }
    }
}

fn with_lm(cx: &Context<'_>) -> Setter {
    let Context { span, runtime, .. } = cx;
    Setter {
        name: "with_lm",
        argument: quote_spanned!(*span=> lm: impl #runtime::judge::IntoModel),
        call: quote_spanned!(*span=> .with_lm(lm)),
        doc: "Sets the model for every judge of the panel that names none.",
    }
}

fn all(cx: &Context<'_>) -> [Setter; 5] {
    let Context { span, runtime, .. } = cx;
    let model = quote_spanned!(*span=> impl #runtime::judge::IntoModel);
    [
        with_lm(cx),
        Setter {
            name: "models",
            argument: quote_spanned!(*span=> models: impl ::core::iter::IntoIterator<Item = #model>),
            call: quote_spanned!(*span=> .models(models)),
            doc: "Sets the models of the panel. Their scores are aggregated.",
        },
        Setter {
            name: "aggregation",
            argument: quote_spanned!(*span=> aggregation: #runtime::judge::Aggregation),
            call: quote_spanned!(*span=> .aggregation(aggregation)),
            doc: "Sets the aggregation of the scores of several judges.",
        },
        Setter {
            name: "max_concurrent_judges",
            argument: quote_spanned!(*span=> limit: ::core::primitive::usize),
            call: quote_spanned!(*span=> .max_concurrent_judges(limit)),
            doc: "Sets the number of judges that run concurrently, at least one.",
        },
        Setter {
            name: "quorum",
            argument: quote_spanned!(*span=> quorum: ::core::primitive::usize),
            call: quote_spanned!(*span=> .quorum(quorum)),
            doc: "Sets the number of judges that must return a score.",
        },
    ]
}
