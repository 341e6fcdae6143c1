//! The `#[metric]` macro on a function.

mod attr;
mod reads;
mod repeated;

use proc_macro2::TokenStream;
use quote::quote;

use crate::shared::errors::Errors;
use crate::shared::function::item::{Function, without_roles};
use crate::shared::function::model::Model;
use crate::shared::function::{check, expand, fallback};

/// Expands `#[metric(args)] item`, where the item is a function.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(function) = Function::parse(item.clone(), &mut errors) else {
        let (item, errors) = (without_roles(item.clone()), errors.finish());
        return quote!(#item #errors);
    };
    let attrs = attr::parse(args, &mut errors);
    let mut model = Model::new(function, attrs, &mut errors);
    check::check(&model, &mut errors);
    reads::check(&model, &mut errors);
    repeated::check(&model, &mut errors);
    if model.function.is_associated() {
        let (function, errors) = (model.function.stripped(), errors.finish());
        return quote!(#function #errors);
    }
    if errors.is_empty() {
        expand::expand(&model)
    } else {
        repeated::discard(&mut model);
        fallback::expand(&model, errors)
    }
}
