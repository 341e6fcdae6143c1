//! The inherent method that users call: `score`.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::context::Context;
use super::fields::bounds;
use crate::shared::function::side::Side;

/// `score`, which only a synchronous metric has. `evaluate` is a method of `Metric`.
pub(super) fn entry_point(cx: &Context<'_>) -> TokenStream {
    if cx.model.is_async() { no_score(cx) } else { score(cx) }
}

fn score(cx: &Context<'_>) -> TokenStream {
    let Context { model, span, runtime, private, row, .. } = cx;
    let vis = &model.function.vis;
    let row_params = cx.row_params();
    let (gold, pred) = (cx.row_type(Side::Gold), cx.row_type(Side::Pred));
    let bounds = bounds(cx, false);
    quote_spanned! {*span=>
        /// Scores one pair of rows. The errors are those of `Metric::evaluate`.
        #vis fn score<#row, #row_params>(
            &self,
            gold: &#row #gold,
            pred: &#row #pred,
        ) -> #runtime::Result<#runtime::MetricScore>
        where
            #bounds
        {
            #private::score(self.__run(#runtime::MetricCall::new(gold, pred)))
        }
    }
}

/// `score` of an asynchronous metric, which cannot be called: rustc reports the unmet bound.
fn no_score(cx: &Context<'_>) -> TokenStream {
    let Context { model, span, runtime, .. } = cx;
    let vis = &model.function.vis;
    quote_spanned! {*span=>
        #[doc(hidden)]
        #vis fn score<G, P>(
            &self,
            _: &G,
            _: &P,
        ) -> ::core::result::Result<#runtime::MetricScore, #runtime::MetricError>
        where
            Self: #runtime::ScoredAtOnce<G>,
        {
            ::core::unreachable!()
        }
    }
}
