//! `#[eval]`: a program as a test with gates: attr -> gate -> check -> expand.

mod attr;
mod check;
mod expand;
mod gate;
mod metrics;
mod params;

use proc_macro2::TokenStream;
use quote::quote;

use crate::shared::errors::Errors;
use crate::shared::function::item::Function;

/// Expands `#[eval(args)] item`.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let attrs = attr::EvalAttrs::parse(args, &mut errors);
    let Some(mut function) = Function::parse_for("eval", item.clone(), &mut errors) else {
        let errors = errors.finish();
        return quote!(#item #errors);
    };
    let params = params::take(&mut function, &attrs, &mut errors);
    check::check(&function, &attrs, &params, &mut errors);
    let stripped = function.stripped();
    if !errors.is_empty() {
        let errors = errors.finish();
        // The program is called by no test.
        return quote!(#[allow(dead_code)] #stripped #errors);
    }
    let test = expand::expand(&function, &attrs, &params);
    quote!(#stripped #test)
}
