//! The `#[metric]` macro on a unit struct, which defines a composite.
//!
//! The steps are attr -> expression -> check -> expand.

mod attr;
mod check;
mod component;
mod decision;
mod expand;
mod expression;
mod item;
mod parse;

use proc_macro2::TokenStream;

use crate::shared::errors::Errors;

/// Expands `#[metric(args)] item`, where the item is a struct.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let attrs = attr::CompositeAttrs::parse(args, &mut errors);
    let Some(item) = item::Item::parse(item.clone(), attrs.has_root, &mut errors) else {
        let errors = errors.finish();
        return quote::quote!(#item #errors);
    };
    check::check(&item, &attrs, &mut errors);
    match &attrs.root {
        Some(root) if errors.is_empty() => expand::expand(&item, &attrs, root),
        _ => expand::after_mistakes(&item, &attrs, errors),
    }
}
