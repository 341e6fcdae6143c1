//! `#[metric]` on a function: attr -> model -> check -> expand. On a struct it is `composite/`'s.

pub(crate) mod attr;
pub(crate) mod bind;
mod check;
mod expand;
mod fallback;
mod model;
mod named;
mod role;
mod rows;
mod types;

use proc_macro2::TokenStream;
use quote::quote;

use crate::composite;
use crate::errors::Errors;

pub(crate) use attr::{Key, after_equals, doc_text, is_cfg, key, version};
// What `#[judge]` shares: it is lowered to a model of this module.
pub(crate) use check::{bounds, check, hides_prelude, range_is_closed};
pub(crate) use check::{
    cost_msats, literal, threshold_is_a_number, tier_is_known, version_says_something,
};
pub(crate) use expand::{builder_params, expand_hidden, number};
pub(crate) use fallback::stub;
pub(crate) use model::{Function, Model, without_attributes, without_roles};
pub(crate) use named::text;

/// Expands `#[metric(args)] item`.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    if model::is_struct(item) {
        return composite::expand(args, item);
    }
    let mut errors = Errors::default();
    let Some(function) = model::Function::parse(item.clone(), &mut errors) else {
        let (item, errors) = (model::without_roles(item.clone()), errors.finish());
        return quote!(#item #errors);
    };
    let attrs = attr::MetricAttrs::parse(args, &mut errors);
    let model = model::Model::new(function, attrs, &mut errors);
    check::check(&model, &mut errors);
    if model.function.is_associated() {
        let (function, errors) = (model.function.stripped(), errors.finish());
        return quote!(#function #errors);
    }
    if errors.is_empty() && !check::rustc_refuses(&model) {
        expand::expand(&model)
    } else {
        fallback::expand(&model, errors)
    }
}
