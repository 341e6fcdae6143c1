//! A checked composite becomes code: the struct as written, and one hidden block with the components, what
//! the compiler derives from them, the rules that only constants can hold, and the contract.

mod contract;
mod leaves;
mod tree;
mod types;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::attr::CompositeAttrs;
use super::check::parts_of;
use super::expression::{Component, Expression};
use super::item::Item;
use crate::contract::{Paths, hidden, stub};
use crate::errors::Errors;
use crate::names;

pub(super) fn expand(item: &Item, attrs: &CompositeAttrs, whole: &Expression) -> TokenStream {
    let cx = &Context::new(item, attrs, whole);
    let tree = tree::tree(cx);
    let (types, contract) = (types::declared(cx), contract::contract(cx, &tree));
    let parts = &tree.items;
    let hidden = hidden(cx.span, &item.cfgs(), &quote!(#parts #types #contract));
    quote!(#item #hidden)
}

/// After a mistake: the struct, a stub, so that one mistake is one message, and the rules that constants
/// hold, so that all mistakes are said at once.
pub(super) fn after_mistakes(item: &Item, attrs: &CompositeAttrs, errors: Errors) -> TokenStream {
    let errors = errors.finish();
    if !matches!(item.item.fields, syn::Fields::Unit) {
        return quote!(#item #errors);
    }
    let span = item.ident().span();
    let runtime = &names::runtime(attrs.krate.as_ref(), span);
    let private = &quote_spanned!(span=> #runtime::__private);
    let stub = stub(&Paths { span, runtime, private }, item.ident(), &TokenStream::new());
    let rules = attrs.whole.as_ref().map(|whole| {
        let cx = &Context::new(item, attrs, whole);
        let (rules, agree) = (tree::tree(cx).items, types::rows_agree(cx));
        quote!(#rules #agree)
    });
    let hidden = hidden(span, &item.cfgs(), &quote!(#stub #rules));
    quote!(#item #hidden #errors)
}

/// A composite with the names that its expansion uses throughout.
struct Context<'a> {
    item: &'a Item,
    attrs: &'a CompositeAttrs,
    whole: &'a Expression,
    span: Span,
    ident: &'a Ident,
    runtime: TokenStream,
    private: TokenStream,
    /// What composites in particular use of the runtime crate.
    compiled: TokenStream,
    /// The components, each once, in the order of the expression.
    leaves: Vec<&'a Component>,
}

impl<'a> Context<'a> {
    fn new(item: &'a Item, attrs: &'a CompositeAttrs, whole: &'a Expression) -> Self {
        let span = item.ident().span();
        let runtime = names::runtime(attrs.krate.as_ref(), span);
        Self {
            item,
            attrs,
            whole,
            span,
            ident: item.ident(),
            private: quote_spanned!(span=> #runtime::__private),
            compiled: quote_spanned!(span=> #runtime::__private::compiled),
            runtime,
            leaves: leaves(whole),
        }
    }

    fn paths(&self) -> Paths<'_> {
        Paths { span: self.span, runtime: &self.runtime, private: &self.private }
    }

    /// The number of a component.
    fn index(&self, component: &Component) -> usize {
        self.leaves.iter().position(|leaf| leaf.key() == component.key()).unwrap_or_default()
    }

    /// The alias of a component's type.
    fn alias(&self, index: usize) -> Ident {
        let span = self.leaves.get(index).map_or(self.span, |leaf| leaf.span);
        format_ident!("__Component{index}", span = span.resolved_at(self.span))
    }
}

fn leaves(whole: &Expression) -> Vec<&Component> {
    let mut found = Vec::new();
    collect(whole, &mut found);
    found
}

fn collect<'a>(expression: &'a Expression, found: &mut Vec<&'a Component>) {
    if let Expression::Component(component) = expression
        && !found.iter().any(|known: &&Component| known.key() == component.key())
    {
        found.push(component);
    }
    parts_of(expression).for_each(|part| collect(&part.expression, found));
}
