//! The `#[judge]` macro on a struct.
//!
//! The steps are attr -> model -> check -> expand. The judge is lowered to a function, which is expanded like a
//! `#[metric]` function. Rows, spec and checks are therefore the same.

mod attr;
mod check;
mod expand;
mod fallback;
mod field;
mod groups;
mod known_range;
mod lower;
mod model;
mod output_attr;
mod score;

use proc_macro2::TokenStream;
use quote::quote;

use crate::shared::errors::Errors;

/// Expands `#[judge(args)] item`.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let attrs = attr::JudgeAttrs::parse(args, &mut errors);
    let Some(mut judge) = model::Judge::parse(item, attrs, &mut errors) else {
        let (item, errors) = (model::without_roles(item.clone()), errors.finish());
        return quote!(#item #errors);
    };
    check::check(&mut judge, &mut errors);
    let Some(metric) = lower::metric(&judge, &mut errors) else {
        let (item, errors) = (&judge.item, errors.finish());
        return quote!(#item #errors);
    };
    if errors.is_empty() && !judge.repeats_a_name() {
        expand::expand(&judge, &metric)
    } else {
        fallback::expand(&judge, &metric, errors)
    }
}
