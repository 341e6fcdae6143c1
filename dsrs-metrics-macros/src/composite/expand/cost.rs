//! The maximum cost of a composite on one row: the cost of all components, or of the most expensive path through a
//! decision tree.

use proc_macro2::{Literal, TokenStream};
use quote::quote_spanned;

use super::context::Context;

/// Emits the declared maximum cost of one row: the cost of all components, or of the most expensive path through a
/// decision tree.
pub(super) fn declared(cx: &Context<'_>) -> TokenStream {
    let Context { span, compiled, .. } = cx;
    let Some(paths) = &cx.paths else {
        return quote_spanned! {*span=>
            const __COST: __p::u64 = #compiled::total_cost(&__SPECS);
        };
    };
    let paths = paths.iter().map(|path| {
        let path = path.iter().map(|index| Literal::usize_unsuffixed(*index));
        quote_spanned!(*span=> &[#(#path),*])
    });
    let costs = (0..cx.leaves.len()).map(|index| {
        let index = Literal::usize_unsuffixed(index);
        quote_spanned!(*span=> __SPECS[#index].cost_msats)
    });
    quote_spanned! {*span=>
        const __PATHS: &[&[__p::usize]] = &[#(#paths),*];
        const __COST: __p::u64 = #compiled::dearest(&[#(#costs),*], __PATHS);
    }
}
