//! Expands a composite that has been checked.
//!
//! The expansion contains the struct as written and one hidden block. The block contains the components, the constants
//! derived from them, the checks on these constants, and the impls.

mod context;
mod contract;
mod cost;
mod leaves;
mod tree;
mod types;

use context::Context;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::attr::CompositeAttrs;
use super::expression::{Expression, parts_of};
use super::item::Item;
use crate::shared::attributes::derived_traits;
use crate::shared::contract::{Paths, hidden, stub, unit_struct};
use crate::shared::errors::Errors;
use crate::shared::names;

pub(super) fn expand(item: &Item, attrs: &CompositeAttrs, root: &Expression) -> TokenStream {
    let cx = &Context::new(item, attrs, root);
    let tree = tree::tree(cx);
    let (types, contract) = (types::declared(cx), contract::contract(cx, &tree));
    let (parts, own) = (&tree.items, unit_impls(item));
    let runtime = names::runtime(attrs.settings.krate.as_ref(), cx.span);
    let items = quote!(#own #parts #types #contract);
    let hidden = hidden(cx.span, &item.cfgs(), &runtime, &items);
    quote!(#item #hidden)
}

/// After an error, expands to the struct, a stub, and the rules checked in constants. One error gives one message, and
/// all errors are reported together.
pub(super) fn after_mistakes(item: &Item, attrs: &CompositeAttrs, errors: Errors) -> TokenStream {
    let errors = errors.finish();
    if !matches!(item.item.fields, syn::Fields::Unit) {
        return quote!(#item #errors);
    }
    let span = item.ident().span();
    let runtime = &names::runtime(attrs.settings.krate.as_ref(), span);
    let private = &quote_spanned!(span=> #runtime::__private);
    let stub = stub(
        &Paths {
            span,
            runtime,
            private,
        },
        item.ident(),
        &names::lower_snake(&item.ident().to_string()),
        &TokenStream::new(),
    );
    let root = attrs.root.as_ref().filter(|root| is_complete(root));
    let rules = root.map(|root| {
        let cx = &Context::new(item, attrs, root);
        let (rules, agree) = (tree::tree(cx).items, types::rows_agree(cx));
        quote!(#rules #agree)
    });
    let own = unit_impls(item);
    let hidden = hidden(span, &item.cfgs(), runtime, &quote!(#own #stub #rules));
    quote!(#item #hidden #errors)
}

/// Returns `true` if no part of the expression was left out because of a mistake.
fn is_complete(expression: &Expression) -> bool {
    let is_complete_itself = match expression {
        Expression::Combination(combination) => combination.is_complete,
        Expression::Decision(decision) => decision.is_complete,
        Expression::Component(_) | Expression::Gate(_) => true,
    };
    is_complete_itself && parts_of(expression).all(|part| is_complete(&part.expression))
}

fn unit_impls(item: &Item) -> TokenStream {
    unit_struct(
        item.ident().span(),
        item.ident(),
        &derived_traits(item.attrs()),
    )
}
