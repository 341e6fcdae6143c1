//! After a mistake: the struct as written and stubs of what the judge would have been, so that one
//! mistake is one message.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::expand::item;
use super::model::Judge;
use crate::errors::Errors;
use crate::metric::Model;

pub(crate) fn expand(judge: &Judge, metric: &Model, errors: Errors) -> TokenStream {
    let item = item(judge);
    let parts = parts(judge);
    let metric = crate::metric::stub(metric, errors);
    quote!(#item #parts #metric)
}

fn parts(judge: &Judge) -> TokenStream {
    let span = judge.span();
    if !judge.item.generics.params.is_empty() {
        return TokenStream::new();
    }
    let vis = &judge.item.vis;
    let (input, output) = (judge.part("Input"), judge.part("Output"));
    quote_spanned! {span=>
        #[doc = ""]
        #[allow(dead_code)]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #vis struct #input;
        #[doc = ""]
        #[allow(dead_code)]
        #[derive(::core::fmt::Debug, ::core::clone::Clone)]
        #vis struct #output;
    }
}
